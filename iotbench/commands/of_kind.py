"""The command of a kind of measurement on rows that an insert has stored."""

from collections.abc import Callable
from typing import Any

import click

from iotbench.commands.several import ask_several
from iotbench.comparison.thresholds import Scope
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import (
    Choice,
    TargetRun,
    asking_options,
    common_options,
    writing_options,
)
from iotbench.config.options.declared import options_of
from iotbench.execution.launch import conclude, sweep_of
from iotbench.execution.stored import find_inserted
from iotbench.machine.program import SCRIPT
from iotbench.measurements.query.options import QueryOptions
from iotbench.measurements.shared.kind import Kind
from iotbench.measurements.shared.options import ResourceOptions
from iotbench.measurements.shared.plan import StoredBefore
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from iotbench.rows.files.prepare import reopen
from simulator.errors import ConfigError


def _add_common(kind: Kind[Any]) -> Callable[[Any], Any]:
    """Return what adds the options that all commands with a target have to a kind's command."""
    if kind.writes:
        return writing_options
    return asking_options if kind.asks else common_options


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
        if len(choice.targets) > 1 and isinstance(options, QueryOptions) and gates and outputs:
            ask_several(
                choice, run, gates, options, choice.environment,
                others=[*outputs.given],
            )  # fmt: skip
            return
        problems: list[str] = []
        extra = choice.extra_options(problems)
        problems += kind.conflicts(options)
        options = kind.decide(options, run.timeout_s, extra)
        target = choice.resolve(extra, problems)
        problems += kind.problems(options)
        if gates and outputs:
            subject = kind.subject(dict(options))
            gates.parse(Scope((subject,), workers=kind.active(options)), problems)
            outputs.check(problems)
        if problems or not target:
            raise ConfigError(problems)
        kind.expect(options, target)
        stored = find_inserted(run, target, choice, options.dataset)
        with reopen(stored.dataset, quiet=run.quiet) as asked:
            sweep = sweep_of(
                kind, target, run.output, options, StoredBefore(asked, stored.complete),
                force=run.force, quiet=run.quiet,
            )  # fmt: skip
            conclude(
                sweep.on(options, choice.environment), choice.cluster, run,
                measured=isinstance(options, ResourceOptions) and options.resources,
                gates=gates, outputs=outputs,
            )  # fmt: skip

    command: Any = options_of(kind.options)(measure)
    if kind.is_measured:
        command = options_of(Gates, "gates")(options_of(Outputs, "outputs")(command))
    lines = (f"  python {SCRIPT} {example}" for example in kind.examples)
    return click.command(
        kind.name, cls=Command, help=kind.help, epilog="\n".join(["\b", "Examples:", *lines])
    )(_add_common(kind)(command))
