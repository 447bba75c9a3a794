"""The command of a kind of measurement on rows that an insert has stored."""

from typing import Any

import click

from iotbench.commands.several import ask_several
from iotbench.comparison.thresholds import Scope
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, TargetRun, target_options
from iotbench.config.options.declared import options_of
from iotbench.execution.launch import conclude, sweep_of
from iotbench.execution.stored import find_inserted, open_stored
from iotbench.machine.program import SCRIPT
from iotbench.measurements.query.options import QueryOptions
from iotbench.measurements.shared.kind import Kind
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from simulator.errors import ConfigError


def command_of(kind: Kind[Any]) -> click.Command:
    """Return the command that measures a kind, with its options, help and examples."""

    def measure(
        *,
        choice: Choice,
        run: TargetRun,
        options: Any,
        gates: Gates | None = None,
        outputs: Outputs | None = None,
    ) -> None:
        gates, outputs = gates or Gates(), outputs or Outputs()
        if len(choice.targets) > 1 and isinstance(options, QueryOptions):
            ask_several(choice, run, gates, options, outputs)
            return
        problems: list[str] = []
        target = choice.resolve(problems)
        problems += kind.problems(options)
        rows = Scope((kind.subject(dict(options)),), workers=kind.active(options))
        gates.parse(rows, problems)
        outputs.check(problems)
        if problems or not target:
            raise ConfigError(problems)
        kind.expect(options, target)
        with open_stored(find_inserted(run, target, choice.reach, options.dataset), run) as stored:
            sweep = sweep_of(kind, target, run, options, stored, quiet=run.quiet)
            conclude(sweep, choice.reach, run, gates, outputs)

    command: Any = options_of(kind.options)(measure)
    if kind.is_measured:
        command = options_of(Gates, "gates")(options_of(Outputs, "outputs")(command))
    several = kind.asks and not kind.writes
    command = options_of(TargetRun, "run")(command)
    command = target_options(several=several, writes=kind.writes)(command)
    lines = (f"  python {SCRIPT} {example}" for example in kind.examples)
    return click.command(
        kind.name, cls=Command, help=kind.help, epilog="\n".join(["\b", "Examples:", *lines])
    )(command)
