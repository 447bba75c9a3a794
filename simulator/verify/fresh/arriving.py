"""Arriving rows: the times of their sending and acknowledgement, by the collector's clock.

If the difference of clocks is partly unknown, a row counts as sent earlier and acknowledged later,
and an answer as begun earlier and ended later, so that no correct answer is called wrong.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block
from simulator.data.dataset import Dataset
from simulator.data.fresh import FreshType
from simulator.data.ranges import LANE_BITS, RowRange, numbers_between, runs_of
from simulator.data.reader import DatasetReader
from simulator.data.schema import FLOATS, Table, Type
from simulator.protocol.arrivals import (
    ANSWER_COLUMNS,
    BATCH_COLUMNS,
    NEVER_NS,
    RUN_COLUMNS,
    FreshAnswers,
    SentBatches,
)
from simulator.protocol.numbers import Columns, unpack

Numbers: TypeAlias = NDArray[np.int64]
BEFORE_NS = -(1 << 62)
"""Time of sending and acknowledgement of rows that were stored before the run."""
_TAIL_ROWS = 64
Key: TypeAlias = tuple[Any, ...]
"""The values of the tags of a group, in canonical form."""


@dataclass(frozen=True, slots=True)
class TimedBatches:
    """The timed batches of all workers."""

    sent_ns: Numbers
    """Earliest possible time at which each batch was sent."""
    acknowledged_ns: Numbers
    """Latest possible time of each acknowledgement; NEVER_NS without one."""
    is_measured: NDArray[np.bool_]
    """True for each batch that was acknowledged in the measured part."""
    runs: Columns
    """RUN_COLUMNS; `batch` is a place in the other arrays."""

    @classmethod
    def of(cls, parts: Iterable[SentBatches], stored: Columns) -> "TimedBatches":
        """Return one batch for `stored`, the rows before the run, and then the batches of workers.

        ValueError if a part is damaged.
        """
        batches, runs = [np.array([[BEFORE_NS], [BEFORE_NS]], np.int64)], [stored]
        measured, count = [np.zeros(1, np.bool_)], 1
        for part in parts:
            own = unpack(part.batches, len(BATCH_COLUMNS)).copy()
            own_runs = unpack(part.runs, len(RUN_COLUMNS)).copy()
            if own_runs.size and not 0 <= own_runs[0].min() <= own_runs[0].max() < own.shape[1]:
                raise ValueError("a run of rows belongs to no batch")
            acknowledged = own[1] != NEVER_NS
            measured.append(acknowledged & (own[1] >= part.measured_ns))
            own[0] += part.ticks.offset_ns - part.ticks.unsure_ns
            own[1][acknowledged] += part.ticks.offset_ns + part.ticks.unsure_ns
            own_runs[0] += count
            count += own.shape[1]
            batches.append(own)
            runs.append(own_runs)
        sent_ns, acknowledged_ns = np.concatenate(batches, axis=1)
        return cls(sent_ns, acknowledged_ns, np.concatenate(measured), np.concatenate(runs, axis=1))


@dataclass(frozen=True, slots=True)
class AnswerLog:
    """A part of the answers of a worker to one query."""

    since_ms: Numbers
    began_ns: Numbers
    """Earliest possible time at which each query began."""
    ended_ns: Numbers
    """Latest possible time at which each query ended."""
    owner: Numbers
    """Place of each row's answer in the arrays above."""
    keys: Sequence[Key]
    key: Numbers
    """Place of each row's key in `keys`."""
    values: Columns
    """The other columns of each row."""

    @classmethod
    def of(cls, part: FreshAnswers, fresh_type: FreshType) -> "AnswerLog":
        """Return the answers in a part of a worker's report; ValueError if it is damaged."""
        since_ms, began_ns, ended_ns, rows = unpack(part.answers, len(ANSWER_COLUMNS))
        columns = 1 + len(fresh_type.outputs) - len(fresh_type.tags)
        values = unpack(part.values, columns)
        if len(rows) != part.count or rows.min(initial=0) < 0 or rows.sum() != values.shape[1]:
            raise ValueError("the rows of the answers are not those of the part")
        if values.size and not 0 <= values[0].min() <= values[0].max() < len(part.keys):
            raise ValueError("a row of an answer has no key")
        ticks = part.ticks
        return cls(
            since_ms,
            began_ns + ticks.offset_ns - ticks.unsure_ns,
            ended_ns + ticks.offset_ns + ticks.unsure_ns,
            np.repeat(np.arange(len(rows)), rows),
            part.keys,
            values[0],
            values[1:],
        )


@dataclass(frozen=True, slots=True)
class ArrivalWindow:
    """The rows since an instant that were sent before another instant."""

    keys: Sequence[Key]
    group: Numbers
    """Place of each row's key in `keys`."""
    times: Numbers
    """Times in the table's unit."""
    values: NDArray[Any]
    """Values of the field that the query reads; zeros without a field."""
    sent_ns: Numbers
    acknowledged_ns: Numbers
    batch: Numbers


def select_stored_since(reader: DatasetReader, dataset: Dataset, since_ms: int) -> Columns:
    """Return the stored rows since an instant, in ms since 1970, as RUN_COLUMNS."""
    found = [np.empty((len(RUN_COLUMNS), 0), np.int64)]
    times = reader.narrow(())
    for item in filter(len, dataset.ranges):
        table = times.tables[item.table]
        since = since_ms * table.time_unit.per_second // 1000
        runs = [(0, item.table, *run) for run in runs_of(_find_last(times, table, item, since))]
        found += [np.array(runs, np.int64).reshape(-1, len(RUN_COLUMNS)).T]
    return np.concatenate(found, axis=1)


def _find_last(reader: DatasetReader, table: Table, item: RowRange, since: int) -> Numbers:
    count, taken = len(item), _TAIL_ROWS
    while True:
        rows = numbers_between([item], max(count - taken, 0), count)
        is_since = reader.draw_rows(table, rows).data[table.time.name].values() >= since
        if taken >= count or not is_since[0]:
            return rows[is_since]
        taken *= 4


class ArrivingRows:
    """The rows of the batches, drawn again when needed."""

    def __init__(self, reader: DatasetReader, sent: TimedBatches) -> None:
        self.sent = sent
        self._reader = reader
        self._last: dict[int, tuple[Numbers, Numbers]] = {}
        """Table -> its runs, and the time of the last row of each run."""

    def rows_of(self, place: int) -> Numbers:
        """Return how many rows of a table each batch has."""
        batch, table, _, count, _ = self.sent.runs
        own = table == place
        return np.bincount(batch[own], count[own], len(self.sent.sent_ns)).astype(np.int64)

    def window(self, fresh_type: FreshType, since_ms: int, ended_ns: int) -> ArrivalWindow:
        """Return the rows since an instant that a query may find until its end."""
        table = fresh_type.query.table
        reader = self._reader.narrow([fresh_type.query])
        since = since_ms * table.time_unit.per_second // 1000
        runs, last = self._find_runs(reader.place(table))
        sent = self.sent
        found = runs[(last >= since) & (sent.sent_ns[sent.runs[0][runs]] <= ended_ns)]
        batch, _, first, count, step = sent.runs[:, found]
        # Places 0, 1, ... of the rows in each run.
        places = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        rows = np.repeat(first, count) + np.repeat(step, count) * places
        of_batch = np.repeat(batch, count)
        parts = [*_divide_by_lane(rows)]
        blocks = [reader.draw_rows(reader.table(table.name), rows[part]) for part in parts]
        order = np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
        times = _join([block.data[table.time.name].values() for block in blocks]).astype(np.int64)
        kept = times >= since
        of_batch = of_batch[order][kept]
        keys, group = _find_keys(blocks, fresh_type)
        field = fresh_type.field
        values = _join([b.data[field.name].values() for b in blocks]) if field else 0 * times
        return ArrivalWindow(
            keys,
            group[kept],
            times[kept],
            values[kept].astype(np.float64 if field and field.type in FLOATS else np.int64),
            sent.sent_ns[of_batch],
            sent.acknowledged_ns[of_batch],
            of_batch,
        )

    def _find_runs(self, place: int) -> tuple[Numbers, Numbers]:
        if place not in self._last:
            _, table, first, count, step = self.sent.runs
            runs = np.flatnonzero(table == place)
            ends = first[runs] + step[runs] * (count[runs] - 1)
            times = np.zeros(len(runs), np.int64)
            own = self._reader.tables[place].only(())
            reader = self._reader.narrow(())
            for of_lane in _divide_by_lane(ends):
                block = reader.draw_rows(own, ends[of_lane])
                times[of_lane] = block.data[own.time.name].values()
            self._last[place] = runs, times
        return self._last[place]


def _divide_by_lane(rows: Numbers) -> Iterator[Numbers]:
    """Yield the places of the rows of each lane, in the order in which a workload draws rows."""
    order = np.argsort(rows, kind="stable")
    lanes = rows[order] >> LANE_BITS
    yield from (each for each in np.split(order, np.flatnonzero(np.diff(lanes)) + 1) if len(each))


def _join(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _find_keys(blocks: Sequence[Block], fresh_type: FreshType) -> tuple[list[Key], Numbers]:
    """Return the different keys of blocks, and the place of each row's key."""
    table, rows = fresh_type.query.table, sum(map(len, blocks))
    if not fresh_type.tags:
        return [()], np.zeros(rows, np.int64)
    group, columns = np.zeros(rows, np.int64), []
    for name in fresh_type.tags:
        column_type = table.column(name).type
        array = _join([block.data[name].values() for block in blocks])
        known, codes = np.unique(array, return_inverse=True)
        found = [_to_canonical(value, column_type) for value in known.tolist()]
        valid = _join([_find_valid(block, name) for block in blocks]).astype(np.bool_)
        codes = np.where(valid, codes.reshape(-1), len(found))
        columns.append(([*found, None], codes))
        group = np.unique(group * (len(found) + 1) + codes, return_inverse=True)[1].reshape(-1)
    _, rows_of, group = np.unique(group, return_index=True, return_inverse=True)
    keys = [tuple(values[codes[row]] for values, codes in columns) for row in rows_of.tolist()]
    return keys, group.reshape(-1).astype(np.int64)


def _find_valid(block: Block, name: str) -> NDArray[np.bool_]:
    valid = block.data[name].valid
    return np.ones(len(block), np.bool_) if valid is None else valid


def _to_canonical(value: Any, column_type: Type) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return bool(value) if column_type is Type.BOOL else value
