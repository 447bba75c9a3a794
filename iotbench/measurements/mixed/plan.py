"""The run of a mixed load: some workers write rows while others ask queries. Pure.

The queries ask about rows stored before the run. Their answers are known exactly, because new rows
are later than the time range of every query.

With `--fresh` the queries ask about the new rows. An answer must then contain every row
acknowledged before the query began, and no row sent after the query ended.
"""

from dataclasses import replace
from functools import partial
from math import ceil

from iotbench.config.input.parameters import instant
from iotbench.config.targets.config import Target
from iotbench.measurements.insert.checks import failing_problems, worker_problems
from iotbench.measurements.insert.options import FASTEST_ROWS_PER_S
from iotbench.measurements.query.options import MixedOptions
from iotbench.measurements.query.own import find_own_problems
from iotbench.measurements.query.plan import (
    TYPES,
    choose_types,
    expect_expressible,
    type_problems,
    weights_of,
)
from iotbench.measurements.shared.distribution import RunLoad, Split, lane_rows_left, worker_plans
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.measurements.shared.stages import rate_problems
from iotbench.results.result import Manifest
from simulator.data.dataset import Dataset
from simulator.data.fresh import fresh_types
from simulator.data.query_type import QueryType
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, counted
from simulator.protocol.spec import Ask, InsertTask, QueryLoad, RunSpec, Work

_SHORTEST_S = 0.001
MOST_INSTANCES = 1000
"""Maximum number of timed instances of a query type; all are rendered before the clock starts."""


def option_problems(options: MixedOptions) -> list[str]:
    """Return a sentence for each option that cannot work on any target."""
    problems = options.problems() + options.fault_problems(options.duration_s)
    rates = {
        "--insert-rate": options.insert_rate,
        "--query-rate": options.query_rate,
        "--rate": options.rate,
    }
    problems += rate_problems(rates)
    if 0 < options.fresh_s < _SHORTEST_S:
        problems.append(f"--fresh: expected 1ms at least, got {options.fresh_s:g}s")
    if options.fresh_s and options.own:
        problems.append("--queries: are about stored rows; leave them out with --fresh")
    both = [name for name in ("--insert-rate", "--query-rate") if rates[name]]
    if options.mix and not options.rate:
        problems.append("--mix: divides the operations/s of --rate; give --rate as well")
    if options.rate and not options.mix:
        problems.append(
            "--rate: is of inserts and queries together; give --mix as well, such as"
            " insert=80,query=20, or use --insert-rate and --query-rate"
        )
    if (options.mix or options.rate) and both:
        problems.append(f"{', '.join(both)}: follows from --rate and --mix; leave it out")
    return problems


def find_settled_until(stored: Dataset, tasks: tuple[InsertTask, ...]) -> int:
    """Return the earliest time of the rows that tasks insert; ConfigError if it is unknown."""
    found = DatasetReader(stored).begin_ms(item for task in tasks for item in task.timed)
    if found is None:
        raise ConfigError(
            f"the rows of workload {stored.workload}, as they were inserted, are not in the order"
            " of time, so every query would also ask about rows added during the run; insert"
            f" {'them without --out-of-order' if stored.late else 'another workload'}"
        )
    return found


def list_mixed_types(stored: Dataset, options: MixedOptions, until_ms: int) -> dict[str, QueryType]:
    """Return query types about rows before `until_ms` or, with --fresh, about rows after it."""
    reader = DatasetReader(stored)
    if not options.fresh_s:
        return reader.query_types(aligned=options.aligned, until_ms=until_ms)
    types = fresh_types(reader)
    return {name: each.make_type(until_ms) for name, each in types.items()}


def plan_mixed_runs(wanted: Wanted[MixedOptions]) -> list[PlannedRun]:
    """Return the runs of a mixed load; ConfigError names everything that is wrong.

    Each run continues after the rows of the previous run. The number of these rows is known only
    when the previous run has ended, so every later run is then planned `again`.
    """
    options = wanted.options
    if problems := target_problems(wanted.target, options, force=wanted.force):
        raise ConfigError(problems)

    def plan(number: int, left: Manifest) -> PlannedRun:
        spec = _specify(replace(wanted, stored=left), number)
        return PlannedRun(spec, number, left.dataset.rows)

    first = plan(1, wanted.stored)
    prefix = first.spec.run_id.removesuffix("1")
    others = (
        PlannedRun(
            first.spec.model_copy(update={"run_id": f"{prefix}{number}"}),
            number,
            first.level,
            partial(plan, number),
        )
        for number in range(2, options.runs + 1)
    )
    return [first, *others]


def target_problems(target: Target, options: MixedOptions, *, force: bool) -> list[str]:
    """Return a sentence for each option that this target or this machine cannot take."""
    option = "--insert-workers, --query-workers"
    problems = worker_problems(
        options.workers, options.batch_rows, target, force=force,
        connections=options.connections, option=option,
    )  # fmt: skip
    database = target.open()
    if not database.capabilities.stores:
        problems.append(f"--target: {target.name} stores nothing that can be queried")
    problems += failing_problems(options, target)
    if options.fresh_s and options.aligned and not database.interval_s:
        problems.append(
            f"--align: {target.name} keeps no aggregates with which windows of fresh rows could"
            " begin; leave it out, or set aggregate_intervals_s where the module has it"
        )
    return problems


def _specify(wanted: Wanted[MixedOptions], number: int) -> RunSpec:
    target, stored, options = wanted.target, wanted.stored.dataset, wanted.options
    database = target.open()
    lasts_s = options.warmup_s + options.duration_s
    tasks = insert_tasks(
        stored, options.insert_workers, options.batch_rows, options.rows_per_s, lasts_s
    )
    until_ms = find_settled_until(stored, tasks)
    if options.fresh_s and options.aligned:
        until_ms -= until_ms % (1000 * database.interval_s)
    types = list_mixed_types(stored, options, until_ms)
    problems = type_problems(TYPES, options.named, types, stored.workload)
    chosen = choose_types(options.asked, types)
    problems += [
        f"targets.{target.name}.queries: {name} has its own text, which also asks about rows that"
        f" are added during the run; choose others with {TYPES}"
        for name in chosen
        if name in target.tuned
    ]
    problems += find_own_problems(options.own, target, stored, types)
    if problems:
        raise ConfigError(problems)
    load = QueryLoad(
        queries=dict.fromkeys((*chosen, *options.own), ""),
        own=dict(options.own),
        weights=weights_of(options, types),
        until_ms=until_ms,
        fresh_ms=round(options.fresh_s * 1000),
        aligned=options.aligned,
    )
    within = f" with {'a begin' if options.fresh_s else 'an end'} of time, {instant(until_ms)}"
    expect_expressible(database, load, types, stored, within)
    asking = options.query_workers
    asks = tuple(
        Ask(place=place, every=asking, runs=0, most=max(MOST_INSTANCES, asking))
        for place in range(asking)
    )
    return wanted.spec(
        Work.MIXED,
        f"{options.workers}-m{number}",
        stored,
        workers=(*tasks, *asks),
        clocking=wanted.clocking(),
        fault=options.plan_fault(options.duration_s),
        clean=False,
        verify=options.level,
        load=load,
    )


def insert_tasks(
    stored: Dataset, workers: int, batch_rows: int, rows_per_s: float, lasts_s: float
) -> tuple[InsertTask, ...]:
    """Return the tasks of workers that insert rows after all stored rows, for a given time."""
    reader, rows_each = DatasetReader(stored), 0
    if reader.sizes is None:
        rate = min(rows_per_s or FASTEST_ROWS_PER_S, FASTEST_ROWS_PER_S)
        most = lane_rows_left(reader, stored)
        rows_each = min(ceil(rate * lasts_s) + batch_rows, most)
    load = RunLoad(
        workers=workers,
        prefill=0,
        rows_each=rows_each,
        limit=None,
        batch_rows=batch_rows,
        split=Split.BATCH,
        after_all=True,
    )
    tasks = worker_plans(reader, stored, load)
    if not any(map(len, (item for task in tasks for item in task.timed))):
        raise ConfigError(
            f"the tables already hold all {counted(stored.rows, 'row')} of workload"
            f" {stored.workload}, so nothing is left to insert; run insert with --limit first"
        )
    return tasks
