"""The run that changes stored rows: some workers correct and delete, others insert. Pure.

Deletions spare all corrected rows, and inserted rows are later than all stored rows. The remaining
rows therefore do not depend on the order of the changes.
"""

from collections.abc import Iterator
from itertools import accumulate

from iotbench.config.input.parameters import instant
from iotbench.config.targets.config import Target
from iotbench.measurements.change.options import ChangeOptions
from iotbench.measurements.insert.checks import worker_problems
from iotbench.measurements.mixed.plan import find_settled_until, insert_tasks
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.measurements.shared.stages import rate_problems
from simulator.data.changes import Deleting, portion, retags_of, since
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, parts_between, share
from simulator.data.reader import DatasetReader
from simulator.data.schema import Role
from simulator.data.workloads import GENERATORS
from simulator.errors import ConfigError
from simulator.modules.contract import Database
from simulator.protocol.spec import ChangeTask, InsertTask, Work


def option_problems(options: ChangeOptions) -> list[str]:
    """Return a sentence for each option that cannot work on any target."""
    problems = options.problems()
    rate = options.insert_rate
    if not options.correct and not options.retag and not options.deletes:
        problems.append(
            "nothing is changed: give --correct, --retag, --delete-oldest or --delete-before"
        )
    if options.retag and options.correct:
        problems.append(
            "--retag: changes rows that --correct changes at the same time, and each may wait for"
            " the other; use one after the other"
        )
    if options.delete_oldest and options.delete_before_ms is not None:
        problems.append(
            "--delete-oldest, --delete-before: both select rows to delete; leave one out"
        )
    if not options.deletes and options.delete_steps > 1:
        problems.append("--delete-steps: nothing is deleted; give --delete-oldest as well")
    if options.insert_workers and not options.duration_s:
        problems.append("--insert-workers: for how long? give --duration as well, such as 30s")
    given = {"--insert-rate": rate, "--duration": options.duration_s, "--at": options.at_s}
    problems += [
        f"{name}: applies to inserts during the changes; give --insert-workers as well"
        for name, value in given.items()
        if value and not options.insert_workers
    ]
    if options.insert_workers and options.at_s > options.duration_s > 0:
        problems.append("--at: the inserts have ended by then; give a longer --duration")
    return [*problems, *rate_problems({"--insert-rate": rate})]


def change_run(wanted: Wanted[ChangeOptions]) -> PlannedRun:
    """Return the run; ConfigError names everything that is wrong."""
    options, stored, database = wanted.options, wanted.stored.dataset, wanted.target.open()
    problems = [*target_problems(wanted.target, options, force=wanted.force)]
    problems += _row_problems(database, options, stored)
    if problems:
        raise ConfigError(problems)
    until_ms = _find_end_ms(stored, options, database) if options.deletes else None
    left = stored if until_ms is None else since(stored, until_ms)
    writers = _plan_writers(stored, options)
    changes = _plan_changes(stored, left, until_ms, options, database)
    spec = wanted.spec(
        Work.CHANGE,
        f"{len(writers) + len(changes)}-c1",
        stored,
        workers=(*writers, *changes),
        clocking=wanted.clocking(rows_per_s=options.insert_rate),
        clean=False,
        verify=options.level,
    )
    return PlannedRun(spec, 1, stored.rows)


def target_problems(target: Target, options: ChangeOptions, *, force: bool) -> Iterator[str]:
    """Yield why this target or this machine cannot make the changes, whatever rows it has."""
    database = target.open()
    changes = database.changes
    if not database.capabilities.stores:
        yield f"--target: {target.name} stores nothing that can be changed"
        return
    workers = options.insert_workers + (options.correct_workers if options.correct else 1)
    option = "--insert-workers, --correct-workers" if options.correct else "--insert-workers"
    yield from worker_problems(workers, options.batch_rows, target, force=force, option=option)
    if options.deletes and not changes.how(options.delete_by):
        others = [by for by in Deleting if changes.how(by)]
        other = f"; use --delete-by {others[0]}" if others else ""
        why = changes.why_not(options.delete_by)
        yield f"--delete-by {options.delete_by}: {database.name}: {why}{other}"
    if options.correct and not changes.corrects:
        yield f"--correct: {database.name}: {changes.no_corrections}"
    if options.retag and not changes.retags:
        yield f"--retag: {database.name}: {changes.no_retags}"


def _row_problems(database: Database, options: ChangeOptions, stored: Dataset) -> Iterator[str]:
    """Yield why the stored rows cannot be changed."""
    changes, reader = database.changes, DatasetReader(stored)
    if options.deletes and not reader.time_rises:
        yield (
            f"the rows of workload {stored.workload}, as they were inserted, are not in the order"
            " of time, so the rows that a deletion leaves are unknown; insert another workload"
        )
    if options.correct and changes.corrects:
        yield from _correction_problems(database, stored, reader)
    if options.retag and changes.retags and not retags_of(stored, options.retag):
        yield (
            f"--retag: no table of workload {stored.workload} has a tag of several values besides"
            " the one that names the series; insert another, such as cpu with several hosts"
        )


def _correction_problems(
    database: Database, stored: Dataset, reader: DatasetReader
) -> Iterator[str]:
    changes = database.changes
    if stored.primary_key not in changes.keys:
        keys = " or ".join(sorted(changes.keys))
        yield (
            f"--correct: {database.name} replaces a row by its key ({changes.corrects}), and these"
            f" have none that the client knows; run insert with --primary-key {keys} first"
        )
    nullable = [f"{t.name}.{c.name}" for t in reader.tables for c in t.fields if c.nullable]
    if changes.merges and nullable:
        yield (
            f"--correct: {database.name} keeps a stored value where the new one is NULL, and"
            f" {nullable[0]} may be NULL; insert another workload"
        )
    if stored.workload not in GENERATORS:
        yield f"--correct: workload {stored.workload} is a file, whose rows are as they are"
    fields = {column.name for table in reader.tables for column in table.with_role(Role.FIELD)}
    if fields & {name for table in reader.tables for name in table.key}:
        yield f"--correct: the keys of workload {stored.workload} have fields; insert another"


def _find_end_ms(stored: Dataset, options: ChangeOptions, database: Database) -> int:
    """Return the time before which rows are deleted; ConfigError if no row is that old."""
    begin_ms, end_ms = _find_span_ms(stored)
    wanted_ms = options.delete_before_ms
    if wanted_ms is None:
        wanted_ms = begin_ms + round(options.delete_oldest * (end_ms + 1 - begin_ms))
    until_ms = wanted_ms
    if options.delete_by is Deleting.RETENTION:
        until_ms = database.drops_until(wanted_ms)
    if since(stored, until_ms).rows < stored.rows:
        return until_ms
    name = "--delete-before" if options.delete_before_ms is not None else "--delete-oldest"
    span = f"the rows are from {instant(begin_ms)} to {instant(end_ms)}"
    if until_ms < wanted_ms:
        raise ConfigError(
            f"{name}: {database.name} can drop rows up to {instant(until_ms)} only, where its"
            f" chunk or partition ends, and {span}; make these shorter, use --delete-by statement,"
            " or insert rows of a longer time"
        )
    raise ConfigError(f"{name}: no row is before {instant(until_ms)}: {span}")


def _find_span_ms(stored: Dataset) -> tuple[int, int]:
    """Return the times of the first and the last row, in ms."""
    reader = DatasetReader(stored)

    def time_ms(item: RowRange, place: int) -> int:
        unit = reader.tables[item.table].time_unit
        return reader.time_at(item, place) * 1000 // unit.per_second

    held = [item for item in stored.ranges if len(item)]
    firsts, lasts = (time_ms(i, 0) for i in held), (time_ms(i, len(i) - 1) for i in held)
    return min(firsts, default=0), max(lasts, default=0)


def _plan_writers(stored: Dataset, options: ChangeOptions) -> tuple[InsertTask, ...]:
    if not options.insert_workers:
        return ()
    tasks = insert_tasks(
        stored, options.insert_workers, options.batch_rows, options.insert_rate, options.duration_s
    )
    find_settled_until(stored, tasks)
    return tasks


def _plan_changes(
    stored: Dataset, left: Dataset, until_ms: int | None, options: ChangeOptions, database: Database
) -> tuple[ChangeTask, ...]:
    """Return the tasks of the workers: the first worker deletes and retags, all workers correct."""
    rows = portion(left.ranges, options.correct) if options.correct else []
    workers = options.correct_workers if rows else 1
    sizes = share(sum(map(len, rows)), workers)
    steps = () if until_ms is None else tuple(_plan_steps(stored, until_ms, options, database))
    return tuple(
        ChangeTask(
            retags=() if number or not options.retag else tuple(retags_of(stored, options.retag)),
            correct=tuple(parts_between(rows, low, low + size)),
            delete_ms=steps if not number else (),
            by=options.delete_by,
            at_s=options.at_s,
        )
        for number, (size, low) in enumerate(zip(sizes, accumulate(sizes, initial=0), strict=False))
    )


def _plan_steps(
    stored: Dataset, until_ms: int, options: ChangeOptions, database: Database
) -> list[int]:
    """Return the times up to which rows are deleted, in order."""
    begin_ms, count = _find_span_ms(stored)[0], options.delete_steps
    times = [begin_ms + (until_ms - begin_ms) * step // count for step in range(1, count + 1)]
    if options.delete_by is Deleting.RETENTION:
        times = [database.drops_until(each) for each in times]
    return [each for each in dict.fromkeys((*times, until_ms)) if each > begin_ms]
