"""Plans: from a command's options to the runs of a sweep. Pure; reports all problems at once."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import ValidationError

from cli.config import Target
from cli.deal import Load, Split, worker_plans
from cli.host.capacity import too_many
from cli.parameters import option_of, parameters, written
from cli.quantities import LONGEST_S
from cli.validation import problems_of
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import Params, Workload, Written
from simulator.errors import ConfigError, UnverifiableError, counted, nearest
from simulator.modules.base import Database, Unsupported
from simulator.protocol.spec import Kind, RunSpec, WorkerPlan
from simulator.protocol.verdict import VerifyMode

PARTS = {"single": 1, "multiple": 4}
DEFAULT_RUNS = 3
DEFAULT_ROWS = 10_000
_FASTEST_ROWS_PER_S = 20_000_000
"""More than one worker can draw."""
MOST_WORKERS = 10_000
MOST_RUNS = 10_000
"""Of one sweep; the result file holds each of them."""
MOST_STARTS = 100_000
"""Workers of all runs of a sweep together."""
MOST_REPEATS = 100_000
"""Of one query by one worker, which keeps each duration."""
LARGEST_BATCH_ROWS = 10_000_000
SLOWEST_RATE, FASTEST_RATE = 0.001, 1e9
_YEAR_10000_MS = 253_402_300_800_000


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a sweep, ready to be started."""

    spec: RunSpec
    run: int
    level: int


@dataclass(frozen=True, slots=True)
class InsertOptions:
    """The options of `insert` as they were given."""

    workers: tuple[int, ...]
    runs: int | None
    primary_key: PrimaryKey
    tables: str
    num_inserts: int | None
    """None: as many as a worker can within the duration, or the default."""
    batch: int
    prefill: int
    steps: int
    clean: bool
    timeout_s: float
    workload: str
    seed: int
    start_ms: int
    params: Mapping[str, Any]
    """The workload's own options, those that were given."""
    rate: float
    limit: int | None
    duration_s: float
    split: Split
    verify: VerifyMode | None

    @property
    def rows_each(self) -> int:
        """Timed rows of each worker, of a workload without an end."""
        if self.num_inserts is not None:
            return self.num_inserts
        if self.duration_s:
            return min(int(self.duration_s * _FASTEST_ROWS_PER_S) + 1, LANE_ROWS)
        return DEFAULT_ROWS


def describe(options: InsertOptions, *, has_end: bool) -> dict[str, Any]:
    """Return the options as plain data; None: means nothing for this workload."""
    plain = dataclasses.asdict(options)
    del plain["params"]
    plain["num_inserts"] = None if has_end or options.duration_s else options.rows_each
    plain["split"] = plain["split"] if has_end else None
    return {key: value.value if isinstance(value, Enum) else value for key, value in plain.items()}


def option_problems(options: InsertOptions) -> list[str]:
    """Return everything that cannot work on any target, a sentence each."""
    problems = []
    if not options.workers or any(count < 1 for count in options.workers):
        counts = ",".join(map(str, options.workers)) or "none"
        problems.append(f"--workers: expected counts of at least 1, got {counts}")
    runs = DEFAULT_RUNS if options.runs is None else options.runs
    problems += _outside(
        ("--workers", max(options.workers or (1,)), 1, MOST_WORKERS),
        ("--num-inserts", options.rows_each, 1, LANE_ROWS),
        ("--batch", options.batch, 0, LARGEST_BATCH_ROWS),
        ("--prefill", options.prefill, 0, LANE_ROWS),
        ("--steps", options.steps, 0, MOST_RUNS),
        ("--timeout", options.timeout_s, 0, LONGEST_S),
        ("--runs", runs, 1, MOST_RUNS),
        ("--limit", options.limit or 1, 1, LANE_ROWS),
        ("--duration", options.duration_s, 0, LONGEST_S),
    )
    if options.rate and not SLOWEST_RATE <= options.rate <= FASTEST_RATE:
        problems.append(
            f"--rate: expected 0 for no limit, or {SLOWEST_RATE:g} to {FASTEST_RATE:,.0f} rows/s,"
            f" got {options.rate:g}"
        )
    sizes = [] if problems else _size_problems(options, options.steps or runs)
    return [*problems, *sizes, *_step_problems(options)]


def _outside(*limits: tuple[str, float, float, float]) -> list[str]:
    """Return a sentence for each (option, value, least, most) whose value is outside."""
    found = []
    for name, value, least, most in limits:
        if not value >= least:  # a NaN is not, either
            found.append(f"{name}: must be at least {least:,}, got {value:,}")
        elif value > most:
            found.append(f"{name}: must be at most {most:,.0f}, got {value:,}")
    return found


def _size_problems(options: InsertOptions, repeats: int) -> list[str]:
    """Return why a sweep is too large to be planned, or its rows to be drawn."""
    problems = []
    runs, starts = len(options.workers) * repeats, sum(options.workers) * repeats
    if runs > MOST_RUNS or starts > MOST_STARTS:
        problems.append(
            f"--workers, --runs, --steps: a sweep has at most {MOST_RUNS:,} runs, which start at"
            f" most {MOST_STARTS:,} workers; got {counted(runs, 'run')} with"
            f" {counted(starts, 'worker')}"
        )
    most = options.prefill + options.rows_each * max(options.steps, 1)
    if most > LANE_ROWS:
        problems.append(
            f"--num-inserts, --prefill: a worker can insert {LANE_ROWS:,} rows, got {most:,}"
        )
    return problems


def _step_problems(options: InsertOptions) -> list[str]:
    problems = []
    if options.steps:
        if len(options.workers) != 1:
            counts = ",".join(map(str, options.workers))
            problems.append(f"--steps: needs exactly one worker count, got --workers {counts}")
        if options.runs not in (None, 1):
            problems.append(f"--steps: takes one run, got --runs {options.runs}; leave it out")
        if options.duration_s:
            problems.append("--steps: counts rows; leave --duration out, or use --runs")
        if options.prefill:
            problems.append("--steps: fills the tables by itself; leave --prefill out")
    elif options.duration_s and not options.clean and options.runs != 1:
        problems.append("--duration: with --no-clean it takes one run; use --runs 1")
    return problems


def target_problems(options: InsertOptions, target: Target, *, force: bool) -> list[str]:
    """Return what this target or this machine cannot do, a sentence each."""
    database = target.open()
    found = database.problems(options.primary_key, PARTS[options.tables], options.batch)
    workers = max(options.workers, default=0)
    return found + worker_problems(workers, options.batch, target, force=force)


def worker_problems(workers: int, batch_rows: int, target: Target, *, force: bool) -> list[str]:
    """Return why the database or, for the local runner, this machine cannot take the workers."""
    most = target.open().capabilities.max_workers
    if most is not None and workers > most:
        return [
            f"--workers: {target.module} takes at most {most}, got {workers}; use --workers {most}"
        ]
    if target.runner != "local" or force:
        return []
    return too_many(workers, batch_rows)


def generator_params(options: InsertOptions) -> Params:
    """Return the parameters of the workload that draws the rows; ConfigError if they are wrong."""
    cls = workload_class(options.workload)
    fields = cls.params_model.model_fields
    values = {name: _counted(name, value, options) for name, value in options.params.items()}
    problems = [
        f"{option_of(name)}: is an option of workload {', '.join(parameters()[name][1])}; leave it"
        f" out with --workload {cls.name}"
        for name in values
        if name not in fields
    ]
    try:
        params = cls.params_model(**{name: v for name, v in values.items() if name in fields})
        workload = cls(params, options.seed, options.start_ms)
    except ValidationError as error:
        found = problems_of(error, fields, values)
        raise ConfigError(
            [*problems, *(f"{option_of(key)}: {sentence}" for _, key, sentence in found)]
        ) from error
    problems += _workload_problems(options, workload)
    if problems:
        raise ConfigError(problems)
    return params


def _counted(field: str, value: Any, options: InsertOptions) -> Any:
    """Return the value of a parameter, given as its option has it."""
    is_end = written(parameters()[field][0]) is Written.END
    return value - options.start_ms if is_end else value


def _workload_problems(options: InsertOptions, workload: Workload) -> list[str]:
    """Return what cannot be done with this workload, a sentence each."""
    problems = []
    rows = options.prefill + options.rows_each * max(options.steps, 1)
    if rows <= LANE_ROWS and workload.last_ms(rows) >= _YEAR_10000_MS:
        problems.append(
            "--start-time, --num-inserts: the last rows would be after the year 9999; insert fewer"
            " rows, or begin earlier"
        )
    has_end = workload.size(workload.tables[0]) is not None
    if has_end and options.num_inserts is not None:
        problems.append(
            f"--num-inserts: the rows of workload {workload.name} have an end and are shared by the"
            " workers; use --limit"
        )
    if options.split is Split.SERIES:
        if not has_end:
            problems.append(
                f"--split series: the workers of workload {workload.name} write series of their own"
                " anyway; leave it out"
            )
        elif any(workload.series(table) % PARTS[options.tables] for table in workload.tables):
            problems.append(
                f"--split series: {PARTS[options.tables]} tables cannot share the series evenly;"
                " use another --scale, or --tables single"
            )
    return problems


def empty_dataset(options: InsertOptions, params: Params) -> Dataset:
    """Return the dataset of an insert, still without rows."""
    cls = workload_class(options.workload)
    return Dataset(
        workload=cls.name,
        workload_version=cls.version,
        params=params.model_dump(mode="json"),
        seed=options.seed,
        start_ms=options.start_ms,
        primary_key=options.primary_key,
        parts=PARTS[options.tables],
    )


def continued(found: Dataset, wanted: Dataset) -> Dataset:
    """Return the stored dataset, to be continued (--no-clean); ConfigError where options differ."""
    kept = found.model_copy(update={"ranges": ()})
    asked = wanted.model_copy(update={"start_ms": found.start_ms})
    if kept == asked:
        return found
    problems = [
        f"--no-clean: the tables were made with {name} = {getattr(kept, name)}, and now it is"
        f" {getattr(asked, name)}; use the same, or --clean"
        for name in Dataset.model_fields
        if getattr(kept, name) != getattr(asked, name)
    ]
    raise ConfigError(problems)


def verification(options: InsertOptions, database: Database) -> VerifyMode:
    """Return the level to verify at; UnverifiableError if asked of what stores nothing."""
    if database.capabilities.stores:
        return options.verify or VerifyMode.COUNTS
    if options.verify in (None, VerifyMode.NONE):
        return VerifyMode.NONE
    raise UnverifiableError(
        f"--verify {options.verify}: {database.name} stores nothing; use --verify none"
    )


def insert_runs(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    options: InsertOptions,
    stored: Dataset,
    level: VerifyMode,
    *,
    complete: bool = True,
    by: str = "",
) -> Iterator[PlannedRun]:
    """Yield the runs of a sweep in order; each knows what the ones before it leave behind.

    `complete` is False if the insert of `stored` did not end; `by` names user and machine.
    """
    empty = stored.model_copy(update={"ranges": ()})
    reader = DatasetReader(empty)
    before = stored
    repeats = options.steps or options.runs or DEFAULT_RUNS
    for workers in options.workers:
        for run in range(1, repeats + 1):
            keeps = not options.clean or (options.steps and run > 1)
            before = before if keeps else empty
            load = Load(
                workers=workers,
                prefill=options.prefill,
                rows_each=options.rows_each,
                limit=options.limit,
                batch_rows=options.batch,
                split=options.split,
                steps_left=options.steps - run + 1 if options.steps else 1,
            )
            spec = RunSpec(
                sweep_id=sweep_id,
                run_id=f"{sweep_id}-{workers}-{run}",
                by=by,
                kind=Kind.INSERT,
                target=target.name,
                module=target.module,
                options=_options_of(target),
                dataset=before,
                complete=complete or before is not stored,
                workers=worker_plans(reader, before, load),
                batch_rows=options.batch,
                rate_rows_per_s=options.rate,
                duration_s=options.duration_s,
                clean=not keeps,
                verify=level,
                timeout_s=options.timeout_s,
            )
            yield PlannedRun(spec, run, before.rows + options.prefill)
            before = spec.after


def _options_of(target: Target) -> dict[str, Any]:
    """Return the target's options as they travel in the specification: without credentials."""
    secret = target.options.secrets()
    plain = target.options.model_dump(mode="json")
    return {key: value for key, value in plain.items() if key not in secret}


def collector_run(kind: Kind, sweep_id: str, target: Target) -> RunSpec:
    """Return a run of the collector alone, on no rows: of Kind.CHECK or Kind.MARKS."""
    cls = workload_class("iot")
    nothing = Dataset(
        workload=cls.name,
        workload_version=cls.version,
        params={},
        seed=0,
        start_ms=0,
        primary_key=PrimaryKey.NONE,
        parts=1,
    )
    return RunSpec(
        sweep_id=sweep_id,
        run_id=f"{sweep_id}-0-1",
        kind=kind,
        target=target.name,
        module=target.module,
        options=_options_of(target),
        dataset=nothing,
        workers=(),
    )


def expect_stored(target: Target, mode: str) -> None:
    """Raise UnverifiableError for a target that stores nothing."""
    if not target.open().capabilities.stores:
        raise UnverifiableError(f"--verify {mode}: {target.module} stores nothing to verify")


def verify_run(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    dataset: Dataset,
    *,
    complete: bool = True,
    mode: VerifyMode,
    timeout_s: float,
) -> PlannedRun:
    """Return the run that compares what is stored with a dataset: no workers."""
    if problems := _outside(("--timeout", timeout_s, 0, LONGEST_S)):
        raise ConfigError(problems)
    spec = RunSpec(
        sweep_id=sweep_id,
        run_id=f"{sweep_id}-v",
        kind=Kind.VERIFY,
        target=target.name,
        module=target.module,
        options=_options_of(target),
        dataset=dataset,
        complete=complete,
        workers=(),
        clean=False,
        verify=mode,
        timeout_s=timeout_s,
    )
    return PlannedRun(spec, 1, dataset.rows)


def query_run(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    dataset: Dataset,
    *,
    complete: bool = True,
    workers: int,
    runs: int,
    timeout_s: float,
    names: Sequence[str],
    force: bool,
) -> PlannedRun:
    """Return the one run of a query sweep: every worker asks every query `runs` times."""
    problems = _outside(
        ("--workers", workers, 1, MOST_WORKERS),
        ("--runs", runs, 1, MOST_REPEATS),
        ("--timeout", timeout_s, 0, LONGEST_S),
    )
    known = DatasetReader(dataset).queries()
    problems += [
        f"--queries: {name!r} is no query of workload {dataset.workload} ({nearest(name, known)})"
        for name in names
        if name not in known
    ]
    problems += [
        f"targets.{target.name}.queries: {name!r} is no query of workload {dataset.workload}"
        f" ({nearest(name, known)})"
        for name in target.tuned
        if name not in known
    ]
    database = target.open()
    if not database.capabilities.stores:
        problems.append(f"--target: {target.name} stores nothing that can be queried")
    problems += worker_problems(workers, 0, target, force=force)
    if problems:
        raise ConfigError(problems)
    chosen = tuple(names) or tuple(known)
    if all(not target.tuned.get(name) and not _renders(database, known[name]) for name in chosen):
        raise ConfigError(f"--queries: {database.name} can express none of {', '.join(chosen)}")
    spec = RunSpec(
        sweep_id=sweep_id,
        run_id=f"{sweep_id}-q",
        kind=Kind.QUERY,
        target=target.name,
        module=target.module,
        options=_options_of(target),
        dataset=dataset,
        complete=complete,
        workers=(WorkerPlan(),) * workers,
        clean=False,
        timeout_s=timeout_s,
        queries={name: target.tuned.get(name, "") for name in chosen},
        repeats=runs,
    )
    return PlannedRun(spec, 1, dataset.rows)


def _renders(database: Database, query: Any) -> bool:
    try:
        database.render(query)
    except Unsupported:
        return False
    return True
