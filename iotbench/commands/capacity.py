"""`capacity`: find the highest rate at which a target keeps an objective."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

import click

from iotbench.comparison.thresholds import Scope, Threshold, parse
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.parameters import option_of
from iotbench.config.input.values import Count, Number, Seconds
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, TargetRun, writing_options
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import Target
from iotbench.execution.capacity import RateMeasuring, search_capacity
from iotbench.execution.stored import find_inserted
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out, width_of
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.insert.figures import WORKERS
from iotbench.measurements.insert.kind import DrawnRows
from iotbench.measurements.insert.options import InsertOptions, Naming, Replacing, RowOptions
from iotbench.measurements.mixed.figures import LOAD
from iotbench.measurements.mixed.plan import option_problems
from iotbench.measurements.query.figures import QUERY
from iotbench.measurements.query.options import MixedOptions, OwnQueries, QueryOptions, Types
from iotbench.measurements.shared.options import (
    MOST_WORKERS,
    Connecting,
    OfInsert,
    Sending,
    Verification,
)
from iotbench.measurements.shared.plan import StoredBefore
from iotbench.plans.capacity import Of, format_record
from iotbench.results import result_files
from iotbench.results.result_files import ResultFile
from iotbench.rows.files.prepare import reopen
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py capacity --target postgresql --slo 'p99_ms < 50' --workers 8 --batch 1000
  python run.py capacity -t sqlite --slo 'p99_ms < 20' --duration 5s --repeats 3
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
    """Condition for every repeat, such as 'p99_ms < 50': the time from when a batch or a query is
    due until it is acknowledged or answered, or another figure of --fail-if; may be given several
    times.
    """
    duration_s: Seconds = 10.0
    """Duration of each repeat."""
    repeats: Count = 3
    """Number of measurements of each rate; a rate holds if most of its repeats do."""
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

    def insert(self) -> InsertOptions:
        """Return the options of the inserts that measure a rate."""
        return self._like(InsertOptions, workers=(self.workers,), runs=self.repeats)

    def query(self, timeout_s: float) -> QueryOptions:
        """Return the options of the queries that measure a rate."""
        own = {"workers": (self.workers,), "seed": None, "timeout_s": timeout_s}
        return self._like(QueryOptions, **own)

    def mixed(self, timeout_s: float) -> MixedOptions:
        """Return the options of queries during inserts."""
        return self._like(MixedOptions, query_workers=self.workers, timeout_s=timeout_s)

    def _like(self, model: type[_Model], **own: Any) -> _Model:
        """Return options of another command: the values of the same names, and further ones."""
        shared = ({*model.model_fields} & {*type(self).model_fields}) - {*own, "dataset"}
        return model(**{name: getattr(self, name) for name in shared}, **own)


def _names(*several: type[Options]) -> set[str]:
    return {each.names[0] for one in several for each in one.declare().values()}


_OF_ROWS, _OF_QUERIES = (RowOptions, Naming, Replacing), (OfInsert, OwnQueries, Types, _Beside)


@click.command(cls=Command, epilog=_EXAMPLES)
@writing_options
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
    subject = WORKERS if options.of is Of.INSERTS else LOAD if options.insert_workers else QUERY
    counts = (options.workers,) if options.of is Of.INSERTS else None
    wanted = parse(options.slo, Scope((subject,), workers=counts), problems, "--slo")
    target = choice.resolve(choice.extra_options(problems), problems)
    problems += _problems(options)
    with ExitStack() as stack:
        make = _of_inserts if options.of is Of.INSERTS else _of_queries
        task = make(_Given(choice, run, options, wanted, stack), target, problems)
        if problems or not task:
            raise ConfigError([*dict.fromkeys(problems)])
        if run.dry_run:
            print_out(f"{task.about()}\n")
            return
        result_files.prepare_folder(run.output)
        with catch_interrupts() as interrupts:
            found = search_capacity(task, options.tolerance, interrupts)
    path = run.output / f"capacity-{task.target.name}-{found.sweep_id}.json"
    file = ResultFile(path)
    file.write(found)
    kept = file.show(found, run.form, width_of(sys.stdout), format_record)
    click.get_current_context().exit(found.exit_code or int(not kept))


def _problems(options: _Options) -> list[str]:
    problems = options.problems()
    if not options.duration_s:
        problems.append("--duration: each repeat must end; expected a time such as 10s, got 0")
    is_insert = options.of is Of.INSERTS
    wrong = _names(*(_OF_QUERIES if is_insert else _OF_ROWS))
    problems += [
        f"{name}: is about {'queries' if is_insert else 'the rows of an insert'}; "
        + ("give --of queries as well" if is_insert else "give it to `insert`, which comes first")
        for name in options.given
        if name in wrong or (not is_insert and name in map(option_of, options.params))
    ]
    if options.insert_rate and not options.insert_workers:
        problems.append("--insert-rate: give --insert-workers as well")
    return problems


@dataclass(frozen=True, slots=True)
class _Given:
    """The user's input."""

    choice: Choice
    run: TargetRun
    options: _Options
    objectives: tuple[Threshold, ...]
    stack: ExitStack
    """Resources that are open while rates are measured."""

    def common(self, target: Target) -> dict[str, Any]:
        """Return the arguments of every measurement."""
        return {
            "target": target, "objectives": self.objectives, "repeats": self.options.repeats,
            "output": self.run.output, "cluster": self.choice.cluster, "quiet": self.run.quiet,
        }  # fmt: skip


def _of_inserts(given: _Given, target: Target | None, problems: list[str]) -> RateMeasuring | None:
    """Return the measurement of inserts; add what is wrong to `problems`."""
    capabilities = target.open().capabilities if target else None
    timeout_s = given.run.timeout_s
    insert = given.options.insert().decide(capabilities, result_files.now_ms(), timeout_s)
    problems += insert_options.option_problems(insert)
    if target:
        problems += insert_options.target_problems(insert, target, force=given.run.force)
    try:
        rows = DrawnRows(insert_options.generator_params(insert))
        stored = StoredBefore(rows.empty(insert), complete=True)
    except ConfigError as error:
        problems += error.problems
        return None
    if not target:
        return None
    return RateMeasuring("insert", **given.common(target), options=insert, stored=stored, rows=rows)


def _of_queries(given: _Given, target: Target | None, problems: list[str]) -> RateMeasuring | None:
    """Return the measurement of queries about stored rows, alone or during inserts."""
    options, run = given.options, given.run
    if problems or not target:
        return None
    stored = find_inserted(run, target, given.choice, options.dataset)
    asked = given.stack.enter_context(reopen(stored.dataset, quiet=run.quiet))
    more: dict[str, Any] = {"stored": StoredBefore(asked, stored.complete), "force": run.force}
    if options.insert_workers:
        mixed = options.mixed(run.timeout_s)
        problems += option_problems(mixed)
        mixed = mixed.model_copy(update={"runs": options.repeats})
        return RateMeasuring("mixed", **given.common(target), options=mixed, **more)
    asked_alone = options.query(run.timeout_s)
    return RateMeasuring("query", **given.common(target), options=asked_alone, **more)
