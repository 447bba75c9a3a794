"""`capacity`: find the highest rate at which a target keeps an objective."""

from contextlib import ExitStack
from typing import Annotated, Any, ClassVar, TypeVar

import click

from iotbench.comparison.thresholds import Scope, parse
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.parameters import option_of
from iotbench.config.input.values import Count, Number, Seconds
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, TargetRun, target_options
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import Target
from iotbench.execution.capacity import RateMeasuring, search_capacity
from iotbench.execution.stored import find_inserted, open_stored
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements import kind_named
from iotbench.measurements.insert.checks import generator_params, target_problems
from iotbench.measurements.insert.kind import DrawnRows
from iotbench.measurements.insert.options import InsertOptions, Naming, Replacing, RowOptions
from iotbench.measurements.query.options import MixedOptions, OwnQueries, QueryOptions, Types
from iotbench.measurements.shared.options import (
    MOST_WORKERS,
    Connecting,
    OfInsert,
    Sending,
    Verification,
)
from iotbench.plans.capacity import Of, format_record
from iotbench.results import result_files
from iotbench.results.result import Manifest
from iotbench.results.result_files import ResultFile
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py capacity --target sqlite --slo 'p99_ms < 20' --duration 5s --repeats 3
  python run.py capacity -t postgresql --slo 'p99_ms < 50' --workers 8 --batch 1000
  python run.py capacity -t postgresql --of queries --slo 'p99_ms < 20' --types newest-per-device
  python run.py capacity -t postgresql --of queries --slo 'p99_ms < 20' --queries queries.yaml
"""


_Model = TypeVar("_Model", bound=Options)


class _Search(Options):
    """The rate to search for, and the precision."""

    GROUP: ClassVar[str] = "Search"

    of: Of = Of.INSERTS
    """The operations that the rate counts: rows inserted into empty tables, or queries about rows
    that an insert has stored, during inserts with --insert-workers.
    """
    slo: Annotated[tuple[str, ...], Opt(metavar="THRESHOLD", repeats=True)]
    """Condition for every repeat, such as 'p99_ms < 50', on a figure of --fail-if; may be given
    several times. Latency counts from when a batch or a query is due.
    """
    duration_s: Seconds = 10.0
    """Duration of each repeat."""
    repeats: Count = 3
    """Number of measurements of each rate; a rate holds if most of its repeats hold."""
    tolerance: Annotated[Number, Opt(least=0.005, most=0.5)] = 0.05
    """Stop when the lowest rate that fails exceeds the highest that holds by this share."""


class _Beside(Options):
    """Rows to insert while queries are asked."""

    GROUP: ClassVar[str] = "Load"

    insert_workers: Annotated[Count, Opt(least=0, most=MOST_WORKERS)] = 0
    """Workers that insert rows during the queries, as in `mixed`, with --of queries; the queries
    are then asked in turn.
    """
    insert_rate: Number = 0.0
    """Rows/s of all insert workers together. 0: no limit."""


class _Options(
    Verification, RowOptions, Replacing, Naming, Connecting, Sending, OfInsert, OwnQueries, Types,
    _Beside, _Search,
):  # fmt: skip
    """The options of `capacity`."""

    GROUP: ClassVar[str] = "Load"

    workers: Annotated[Count, Opt("-w")] = 4
    """Number of workers that insert, or that ask."""
    batch: Count = 1000

    @property
    def kind(self) -> str:
        """Kind of the measurements of a rate."""
        if self.of is Of.INSERTS:
            return "insert"
        return "mixed" if self.insert_workers else "query"

    def choose_options(self, target: Target | None) -> Options:
        """Return the options of the measurements of a rate."""
        if self.kind == "insert":
            capabilities = target.open().capabilities if target else None
            own = {"workers": (self.workers,), "runs": self.repeats}
            return self._like(InsertOptions, **own).decide(capabilities, result_files.now_ms())
        if self.kind == "mixed":
            return self._like(MixedOptions, query_workers=self.workers, runs=self.repeats)
        return self._like(QueryOptions, workers=(self.workers,), seed=None)

    def _like(self, model: type[_Model], **own: Any) -> _Model:
        """Return the options of another command: `own`, and the values of shared options."""
        shared = ({*model.model_fields} & {*type(self).model_fields}) - {*own, "dataset"}
        return model(**{name: getattr(self, name) for name in shared}, **own)


_OF_ROWS, _OF_QUERIES = (RowOptions, Naming, Replacing), (OfInsert, OwnQueries, Types, _Beside)


@click.command(cls=Command, epilog=_EXAMPLES)
@target_options(writes=True)
@options_of(TargetRun, "run")
@options_of(_Options)
def capacity(*, choice: Choice, run: TargetRun, options: _Options) -> None:
    """Find the highest sustained rate of inserts or queries.

    The search first measures the rate that the target reaches without a schedule. It then measures
    lower rates, each on a schedule that does not wait for the database: latency counts from the
    time at which a batch or a query is due. Finally it bisects between the highest rate that holds
    and the next one. Every row and every answer is verified. The output is the curve of rate
    against latency, the capacity, and what bounds it: the database, the client, or the objective.

    With --of queries each type is asked by itself, and the slowest decides; run `insert` first.
    """
    problems: list[str] = []
    kind, is_insert = kind_named(options.kind), options.of is Of.INSERTS
    scope = Scope((kind.subjects[0],), workers=(options.workers,) if is_insert else None)
    objectives = parse(options.slo, scope, problems, "--slo")
    target = choice.resolve(problems)
    measured = options.choose_options(target)
    problems += [*_problems(options), *kind.problems(measured)]
    rows = _draw(measured, target, run, problems) if isinstance(measured, InsertOptions) else None
    if problems or not target:
        raise ConfigError([*dict.fromkeys(problems)])
    with ExitStack() as stack:
        if isinstance(measured, InsertOptions) and rows:
            stored = Manifest.of(rows.empty(measured), complete=True)
        else:
            found = find_inserted(run, target, choice.reach, options.dataset)
            stored = stack.enter_context(open_stored(found, run))
        task = RateMeasuring(
            kind.name, target, run, choice.reach, objectives, options.repeats,
            measured, stored, rows,
        )  # fmt: skip
        if run.dry_run:
            print_out(f"{task.about()}\n")
            return
        if not run.quiet:
            say(task.about(), err=True)
        result_files.prepare_folder(run.output)
        with catch_interrupts() as interrupts:
            record = search_capacity(task, options.tolerance, interrupts)
    file = ResultFile(run.output / f"capacity-{target.name}-{record.sweep_id}.json")
    file.write(record)
    kept = file.show(record, run.form, format_record)
    click.get_current_context().exit(record.exit_code or int(not kept))


def _problems(options: _Options) -> list[str]:
    problems = options.problems()
    if not options.duration_s:
        problems.append("--duration: each repeat must end; expected a time such as 10s, got 0")
    is_insert = options.of is Of.INSERTS
    models: tuple[type[Options], ...] = _OF_QUERIES if is_insert else _OF_ROWS
    wrong = {each.names[0] for model in models for each in model.declare().values()}
    problems += [
        f"{name}: is about {'queries' if is_insert else 'the rows of an insert'}; "
        + ("give --of queries as well" if is_insert else "give it to `insert`, which comes first")
        for name in options.given
        if name in wrong or (not is_insert and name in map(option_of, options.params))
    ]
    if options.insert_rate and not options.insert_workers:
        problems.append("--insert-rate: give --insert-workers as well")
    return problems


def _draw(
    options: InsertOptions, target: Target | None, run: TargetRun, problems: list[str]
) -> DrawnRows | None:
    """Return the rows of the inserts; add problems with the options to `problems`."""
    if target:
        problems += target_problems(options, target, force=run.force)
    try:
        return DrawnRows(generator_params(options))
    except ConfigError as error:
        problems += error.problems
        return None
