"""Plans of inserts: the runs of a sweep, which may continue an earlier insert. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from iotbench.config.input.parameters import format_parameter, instant, option_of
from iotbench.config.targets.config import Target
from iotbench.measurements.insert.options import InsertOptions, format_late
from iotbench.measurements.insert.workload_file import class_of
from iotbench.measurements.shared.distribution import RunLoad, lane_rows_left, worker_plans
from iotbench.measurements.shared.plan import PlannedRun, Recorded, Wanted
from simulator.control.database.marks import TABLE as MARKS
from simulator.control.database.refusal import list_reserved
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, parts_between
from simulator.data.reader import DatasetReader
from simulator.data.workloads import GENERATORS, workload_class
from simulator.data.workloads.base import Params
from simulator.data.workloads.declared import Declared
from simulator.errors import ConfigError, UnstorableError, UnverifiableError, counted, nearest
from simulator.modules.contract import BATCH, IMPORT, Database
from simulator.protocol.spec import InsertTask, Work
from simulator.protocol.verdict import VerifyMode

_IMPORTED_ROWS = 10_000
"""Number of rows that each worker of an import takes in turn, like a thread of a loader."""
_CHECKED_ROWS = 1000
"""Number of rows of each table that are checked before a sweep starts."""


def empty_dataset(options: InsertOptions, params: Params) -> Dataset:
    """Return the dataset of an insert, still without rows; ConfigError if rows cannot be late."""
    cls = class_of(options.workload)
    found = Dataset(
        workload=cls.name,
        workload_version=cls.version,
        params=params.model_dump(mode="json"),
        seed=options.seed,
        start_ms=options.begin_ms,
        primary_key=options.key,
        parts=options.tables,
        parts_by=options.tables_by,
        table_prefix=options.table_prefix,
        late=options.out_of_order,
    )
    if problems := list(DatasetReader(found).late_problems()) if found.late else []:
        raise ConfigError([f"--out-of-order: {problem}" for problem in problems])
    return found


def verification(options: InsertOptions, database: Database) -> VerifyMode:
    """Return the verification level; UnverifiableError if the database stores nothing."""
    if database.capabilities.stores:
        return options.verify or (VerifyMode.FULL if options.fault else VerifyMode.COUNTS)
    if options.verify in (None, VerifyMode.NONE):
        return VerifyMode.NONE
    raise UnverifiableError(
        f"--verify {options.verify}: {database.name} stores nothing; use --verify none"
    )


def mixes_tables(database: Database, reader: DatasetReader, mode: str) -> bool | None:
    """Return whether a batch has rows of several tables; None with one table or without batches."""
    if len(reader.tables) == 1 or database.insert_mode(mode) != BATCH:
        return None
    return database.capabilities.mixes_tables and reader.one_group


def insert_runs(
    wanted: Wanted[InsertOptions], level: VerifyMode, recorded: Recorded | None = None
) -> Iterator[PlannedRun]:
    """Yield the runs of a sweep in order; each starts with the rows that earlier runs leave.

    `recorded` has the rows if the workers do not draw them.
    """
    options, stored = wanted.options, wanted.stored.dataset
    empty = stored.model_copy(update={"ranges": ()})
    reader = DatasetReader(empty)
    before = stored
    clean = recorded is None or recorded.clean
    mode = BATCH  # of the records of a file
    if not recorded:
        mode = IMPORT if options.imports else wanted.target.open().insert_mode(options.mode)
    clocking = wanted.clocking(
        duration_s=options.timed_s or options.at_most_s,
        rows_per_s=options.rate,
    )
    for workers in options.workers:
        for run in range(1, options.repeats + 1):
            keeps = not options.clean or (options.steps and run > 1)
            before = before if keeps else empty
            spec = wanted.spec(
                Work.INSERT,
                f"{workers}-{run}",
                before,
                complete=wanted.stored.complete or before is not stored,
                workers=recorded.share(workers)
                if recorded
                else _draw_shares(reader, before, options, workers, run),
                records=recorded.file if recorded else None,
                mode=mode,
                clocking=clocking,
                fault=options.plan_fault(options.duration_s),
                clean=clean and not keeps,
                replace_tables=options.replace_tables,
                setup=options.setup.statements if options.setup else (),
                teardown=options.teardown.statements if options.teardown else (),
                verify=level,
            )
            yield PlannedRun(spec, run, before.rows + options.prefill)
            before, clean = spec.after, True


def _draw_shares(
    reader: DatasetReader, before: Dataset, options: InsertOptions, workers: int, run: int
) -> tuple[InsertTask, ...]:
    """Return the rows that each worker of a run draws."""
    rows_each = options.rows_each
    if options.timed_s and reader.sizes is None:
        left = lane_rows_left(reader, before) - options.prefill
        rows_each = min(rows_each, max(left, 0))
    load = RunLoad(
        workers=workers,
        prefill=options.prefill,
        rows_each=rows_each,
        limit=options.limit,
        batch_rows=_IMPORTED_ROWS if options.imports else options.batch_rows,
        split=options.split,
        steps_left=options.steps - run + 1 if options.steps else 1,
    )
    return worker_plans(reader, before, load)


def expect_rows(planned: Sequence[PlannedRun]) -> None:
    """Raise ConfigError if a run has no row to insert, or more rows than the workload."""
    last = planned[-1].spec.after
    reader, most = DatasetReader(last), max(last.ends().values(), default=0)
    if reader.sizes is None and most > reader.lane_rows:
        raise ConfigError(
            f"--workload {last.workload}: with these options it has {reader.lane_rows:,} rows for"
            f" each worker, and this sweep goes up to row {most:,}; insert fewer rows"
        )
    if last.late and all(
        stop <= order.begins
        for (place, _), stop in last.ends().items()
        if (order := reader.orders[place])
    ):
        raise ConfigError(
            "--out-of-order: these rows end before the first late one would be sent; insert more"
            " rows, or choose a shorter time"
        )
    for number, each in enumerate(planned, 1):
        spec = each.spec
        if any(map(len, (rows for task in spec.inserts for rows in task.timed))):
            continue
        name, sizes = spec.dataset.workload, DatasetReader(spec.dataset).sizes or ()
        stored, whole = spec.after.rows, counted(sum(sizes), "row")
        if spec.dataset.rows == sum(sizes) and number == 1:
            raise ConfigError(
                f"--no-clean: the tables already hold all {whole} of workload {name}, so nothing is"
                " left to insert; use --clean"
            )
        raise ConfigError(
            f"run {number} of {len(planned)} has nothing to insert: of the {whole} of workload"
            f" {name}, {stored:,} are stored before its timed part; lower --runs, --steps or"
            " --prefill, or set --limit"
        )


def list_needed_names(dataset: Dataset, database: Database) -> list[str]:
    """Return the names that an insert of a dataset needs in the database."""
    needed = [n for table in DatasetReader(dataset).tables for n in database.objects(table)]
    return [*dict.fromkeys(needed), *database.for_own_tables().objects(MARKS)]


def expect_needed(names: Sequence[str], dataset: Dataset, database: Database) -> None:
    """Raise ConfigError for tables with reserved names, and for needless --replace-table."""
    needed = list_needed_names(dataset, database)
    problems = list_reserved(DatasetReader(dataset).tables)
    problems += [
        f"--replace-table {name}: this insert needs no such name ({nearest(name, needed)})"
        for name in names
        if name not in needed
    ]
    if problems:
        raise ConfigError(problems)


def expect_storable(planned: Sequence[PlannedRun], target: Target, *, to_end: bool = False) -> None:
    """Raise ConfigError if the module of the target cannot store the first rows.

    `to_end`: check the last rows as well, because rows sent without encoding are not checked later.
    """
    spec, database = planned[0].spec, target.open()
    _expect_separate_rows(spec.dataset, database)
    if not database.capabilities.checks_rows or spec.dataset.volume_claim:
        return  # rows in a volume claim are checked as they are encoded
    found: dict[str, list[str]] = {}
    tasks = [task for task in spec.inserts if task.prefill or task.timed] or [InsertTask()]
    reader, checked = DatasetReader(spec.dataset), [*tasks[0].prefill, *tasks[0].timed]
    blocks = next(reader.blocks(checked, _CHECKED_ROWS), [])
    if to_end:
        blocks += next(reader.blocks(_select_last_rows(tasks[-1].timed), _CHECKED_ROWS), [])
    for block in blocks:
        try:
            database.check_rows(block)
        except UnstorableError as error:
            of_tables = found.setdefault(str(error), [])
            of_tables += [block.name] * (block.name not in of_tables)
    if found:
        problems = ((", ".join(names), problem) for problem, names in found.items())
        raise ConfigError([f"--target {target.name}: {t}: {problem}" for t, problem in problems])


def _select_last_rows(ranges: Sequence[RowRange]) -> list[RowRange]:
    found: list[RowRange] = []
    for table in {item.table for item in ranges}:
        own = [item for item in ranges if item.table == table]
        rows = sum(map(len, own))
        found += parts_between(own, rows - _CHECKED_ROWS, rows)
    return found


def _expect_separate_rows(dataset: Dataset, database: Database) -> None:
    """Raise ConfigError if the database would merge drawn rows that have no key."""
    can, tables = database.capabilities, DatasetReader(dataset).tables
    alike = [table for table in tables if not table.key]
    what = "a row replaces another one with the same tags and time"
    if not can.replaces_rows:
        alike = [table for table in alike if len(table.fields) > 1 and can.separates_fields]
        what = "each field is stored apart: such rows mix their values"
    if alike and dataset.workload in GENERATORS:
        raise ConfigError(
            f"--workload {dataset.workload}: several rows of"
            f" {', '.join(table.name for table in alike)} have the same time, and in"
            f" {database.name} {what}; use another workload or target"
        )


_SAME = "--no-clean continues it: give the same, or use --clean"
_COMPARED: tuple[tuple[str, str, Callable[[Any], object]], ...] = (
    ("--seed", "seed", int),
    ("--start-time", "start_ms", instant),
    ("--primary-key", "primary_key", str),
    ("--table-prefix", "table_prefix", lambda prefix: prefix or "none"),
    ("--tables", "parts", int),
    ("--tables-by", "parts_by", str),
    ("--out-of-order", "late", lambda late: format_late(late) if late else "none"),
)
"""Option, field of a dataset, and conversion of the field's value to the user's notation."""


def continue_dataset(found: Dataset, wanted: Dataset, *, starts: bool) -> Dataset:
    """Return the stored dataset to continue; ConfigError names every option that differs.

    `starts` is True if the user gave the time of the first row; otherwise the stored time applies.
    """
    if not starts:
        wanted = wanted.model_copy(update={"start_ms": found.start_ms})
    if found.workload != wanted.workload:
        raise ConfigError(_format_difference("--workload", found.workload, wanted.workload))
    DatasetReader(found)  # refuses rows of another version of the workload
    if problems := list(_differences(found, wanted)):
        raise ConfigError(problems)
    return found


def _differences(found: Dataset, wanted: Dataset) -> Iterator[str]:
    """Yield a sentence for each option that differs, with both values."""
    for option, field, write in _COMPARED:
        before, now = getattr(found, field), getattr(wanted, field)
        if before != now:
            yield _format_difference(option, write(before), write(now))
    model = workload_class(wanted.workload).params_model
    stored, given = (model(**data.params).model_dump(mode="json") for data in (found, wanted))
    if wanted.workload == Declared.name:
        if stored != given:
            yield f"--workload: the file declares other tables than the stored ones; {_SAME}"
        return
    for field, value in given.items():
        if stored[field] != value:
            before = format_parameter(field, stored[field], found.start_ms)
            now = format_parameter(field, value, wanted.start_ms)
            yield _format_difference(option_of(field), before, now)


def _format_difference(option: str, before: object, now: object) -> str:
    return f"{option}: the last insert has {before}, got {now}; {_SAME}"
