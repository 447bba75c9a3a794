"""The rows of each worker: a lane of the worker, or a share of tables with an end. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, distribute, lane_range, share
from simulator.data.reader import DatasetReader
from simulator.protocol.spec import InsertTask

YEAR_10000_MS = 253_402_300_800_000


class Split(StrEnum):
    """Distribution of the rows of tables with an end to workers (`--split`)."""

    BATCH = "batch"
    """Workers take batches in turn, so that all workers write rows of about the same time."""
    SERIES = "series"
    """Each worker writes its own series."""


@dataclass(frozen=True, slots=True)
class RunLoad:
    """The load of one run."""

    workers: int
    prefill: int
    """Number of rows that all workers together insert before the timed part."""
    rows_each: int
    """Number of timed rows of each worker, if lanes have no end."""
    limit: int | None
    """Maximum number of timed rows of all workers together; None: no limit."""
    batch_rows: int
    split: Split
    after_all: bool = False
    """True if new rows come after the stored rows of all lanes."""
    steps_left: int = 1
    """Number of runs that share the remaining rows, if tables have an end."""


def worker_plans(reader: DatasetReader, before: Dataset, load: RunLoad) -> tuple[InsertTask, ...]:
    """Return the rows of each worker, which follow the stored rows."""
    if reader.sizes is None:
        return _plan_lanes(before, load)
    prefill = _distribute(reader, before, load, load.prefill)
    filled = before.with_ranges([*before.ranges, *(r for each in prefill for r in each)])
    left = sum(rows_left(reader, filled))
    rows = left // load.steps_left if load.limit is None else min(load.limit, left)
    timed = _distribute(reader, filled, load, rows)
    pairs = zip(prefill, timed, strict=True)
    return tuple(InsertTask(prefill=filling, timed=writing) for filling, writing in pairs)


def _plan_lanes(before: Dataset, load: RunLoad) -> tuple[InsertTask, ...]:
    plans = []
    ends = before.ends()
    each = [load.rows_each] * load.workers
    timed = each if load.limit is None else share(load.limit, load.workers)
    last = max(ends.values(), default=0)
    for lane, (filled, rows) in enumerate(
        zip(share(load.prefill, load.workers), timed, strict=True)
    ):
        start = last if load.after_all else ends.get((0, lane), 0)
        filling = (lane_range(lane, start, filled),) if filled else ()
        plans.append(InsertTask(prefill=filling, timed=(lane_range(lane, start + filled, rows),)))
    return tuple(plans)


def lane_rows_left(reader: DatasetReader, before: Dataset) -> int:
    """Return the number of rows left in each endless lane, up to the year 9999."""
    return max(reader.rows_before(YEAR_10000_MS) - max(before.ends().values(), default=0), 0)


def rows_left(reader: DatasetReader, before: Dataset) -> list[int]:
    """Return the number of rows left in each table; all tables have an end."""
    assert reader.sizes is not None
    ends = before.ends()
    return [size - ends.get((place, 0), 0) for place, size in enumerate(reader.sizes)]


def _distribute(
    reader: DatasetReader, before: Dataset, load: RunLoad, rows: int
) -> list[tuple[RowRange, ...]]:
    """Distribute the next rows of all tables, in proportion to the rows left in each table."""
    found: list[list[RowRange]] = [[] for _ in range(load.workers)]
    ends, left = before.ends(), rows_left(reader, before)
    for place, count in enumerate(_divide(left, min(rows, sum(left)))):
        start = ends.get((place, 0), 0)
        series = reader.series(place) if load.split is Split.SERIES else 1
        whole = count - count % series
        takes = _count_turns(reader.parts, load, series, whole)
        for worker, item in enumerate(distribute(start, start + whole, takes, place)):
            if len(item):
                found[worker].append(item)
    return [tuple(each) for each in found]


def _divide(left: Sequence[int], rows: int) -> list[int]:
    """Divide `rows` in proportion to the rows left in each table."""
    counts = [here * rows // max(sum(left), 1) for here in left]
    for place, here in enumerate(left):
        if sum(counts) < rows and counts[place] < here:
            counts[place] += 1
    return counts


def _count_turns(parts: int, load: RunLoad, series: int, count: int) -> Sequence[int]:
    """Return the number of rows of each worker's turn, a multiple of the number of parts."""
    if load.split is Split.SERIES:
        units = share(-(-series // parts), load.workers)
        return [unit * parts for unit in units]
    batch = load.batch_rows * parts
    fair = max(-(-count // load.workers), 1)
    return [min(batch, -(-fair // parts) * parts)] * load.workers
