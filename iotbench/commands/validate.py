"""`validate`: ask several targets the same queries, and compare their answers."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated, ClassVar

import click

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count, Names
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import (
    Choice,
    Reach,
    RunOptions,
    reach_options,
    resolve_several,
)
from iotbench.config.options.declared import options_of
from iotbench.execution.launch import carry_out, sweep_of
from iotbench.execution.stored import expect_same_rows, find_inserted, open_stored
from iotbench.execution.sweep import Sweep
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements import kind_named
from iotbench.measurements.query.options import (
    MOST_SHOWN,
    AnswerOptions,
    OwnQueries,
    QueryOptions,
    Types,
)
from iotbench.output.terminal.agreements import format_validated
from iotbench.results.agreement import compare_answers, exit_code
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py validate --targets sqlite,postgresql
  python run.py validate --targets influxdb,timescaledb --types '*-host-1-hr' --count 100
"""


class _Targets(Options):
    """The targets to compare."""

    GROUP: ClassVar[str] = "Target"

    targets: Names
    """Names of targets in the configuration."""


class _Options(AnswerOptions, OwnQueries, Types):
    """The queries to ask, and the number of times."""

    GROUP: ClassVar[str] = "Queries"

    count: Annotated[Count, Opt(least=1, most=MOST_SHOWN)] = 10
    """Number of times to ask each query, each time with other random parameters if it has any."""
    print_answers: Count = 0
    """Number of answers to each query to print side by side, 20 rows of each; up to five wrong
    answers are always printed.
    """


@click.command(cls=Command, epilog=_EXAMPLES)
@options_of(_Targets, "named")
@reach_options
@options_of(RunOptions, "run")
@options_of(_Options)
def validate(*, named: _Targets, reach: Reach, run: RunOptions, options: _Options) -> None:
    """Compare the answers of several databases and the truth.

    Insert the same rows into each target first: the same workload, seed and start. One worker asks
    each target the same instances, as `query` does, and each answer is compared with the truth.
    Answers count as rounded if only their last digits differ, as in a mean, and each equals the
    truth. Exit code 3: an answer is wrong, or answers differ. Answers to --queries have no truth;
    they are compared only with each other.
    """
    targets = named.targets
    kind, asking = kind_named("query"), QueryOptions(**dict(options), digests=True)
    problems = [*options.problems(), *kind.problems(asking)]
    if len({*targets}) < max(len(targets), 2):
        problems.append(
            f"--targets: expected two targets or more, each once, got {','.join(targets)}"
        )
    found = resolve_several([Choice(name, reach) for name in targets], problems)
    if problems:
        raise ConfigError([*dict.fromkeys(problems)])
    stored = {
        name: find_inserted(run, target, reach, None)
        for name, target in zip(targets, found, strict=True)
    }
    expect_same_rows(stored, "--targets")
    with ExitStack() as files:
        planned: list[Sweep] = []
        for target, known in zip(found, stored.values(), strict=True):
            try:
                before = files.enter_context(open_stored(known, run))
                quiet = run.quiet or bool(planned)
                planned.append(sweep_of(kind, target, run, asking, before, quiet=quiet))
            except ConfigError as error:
                problems += [each for each in error.problems if each not in problems]
        if problems:
            raise ConfigError(problems)
        click.get_current_context().exit(_compare(planned, reach, run))


def _compare(planned: Sequence[Sweep], reach: Reach, run: RunOptions) -> int:
    """Ask each target until one fails, compare the answers, and return the exit code."""
    done, as_json = [], run.form == "json"
    with catch_interrupts() as interrupts:
        for sweep in planned:
            with carry_out(sweep, reach, interrupts, quiet=run.quiet, as_json=as_json):
                done.append(sweep)
            if sweep.file.trouble:
                say(f"error: {sweep.file.trouble}", err=True)
            if sweep.result.status != "done":
                break
    results = [sweep.result for sweep in done]
    found = compare_answers(results) if len(done) == len(planned) else []
    print_out(format_validated(results, found, [sweep.file.path for sweep in done], run.form))
    return exit_code(results, found)
