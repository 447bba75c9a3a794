"""A dataset: a workload with its parameters, a seed, and ranges of rows.

`Dataset` is the plain record (sent to the workers, kept in the manifest). `DatasetReader` draws
blocks of rows from it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from simulator.data.block import Block, Rows, Values
from simulator.data.query import Query, Selection
from simulator.data.schema import ID, PrimaryKey, Table
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import LANE_BITS, LANE_ROWS, client_key
from simulator.errors import ConfigError

BLOCK_ROWS = 8192
"""Rows drawn and encoded at once: enough to amortise the overhead of NumPy calls."""


_ROWS = 1 << 62
"""The number of a row fits into 64 bits, with room for arithmetic."""


class RowRange(BaseModel):
    """Rows start..stop of one lane, half open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: int
    stop: int

    @model_validator(mode="after")
    def _in_one_lane(self) -> "RowRange":
        lane = self.start >> LANE_BITS
        if not 0 <= self.start <= self.stop <= (lane + 1) * LANE_ROWS <= _ROWS:
            raise ValueError(f"not a range of rows: {self.start}..{self.stop}")
        return self

    def __len__(self) -> int:
        return self.stop - self.start


def lane_range(lane: int, start: int, rows: int) -> RowRange:
    """Return `rows` rows of a lane from sequence number `start` on."""
    first = lane * LANE_ROWS + start
    return RowRange(start=first, stop=first + rows)


def share(total: int, parts: int) -> list[int]:
    """Split `total` into `parts` shares that differ by one at most and add up to it."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def merged(ranges: Iterable[RowRange]) -> tuple[RowRange, ...]:
    """Return the same rows in as few ranges as possible, without empty ones."""
    out: list[RowRange] = []
    for item in sorted((r for r in ranges if len(r)), key=lambda r: r.start):
        if (
            out
            and out[-1].stop >= item.start
            and out[-1].start >> LANE_BITS == (item.start >> LANE_BITS)
        ):
            out[-1] = RowRange(start=out[-1].start, stop=max(out[-1].stop, item.stop))
        else:
            out.append(item)
    return tuple(out)


class Dataset(BaseModel):
    """The rows that a target's tables hold, or are to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: str
    workload_version: int
    params: dict[str, Any]
    seed: int = Field(ge=-_ROWS * 2, lt=_ROWS * 2)
    start_ms: int = Field(ge=-_ROWS, le=_ROWS)
    primary_key: PrimaryKey
    parts: int = Field(ge=1, le=1000)
    ranges: tuple[RowRange, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows in the ranges."""
        return sum(len(item) for item in self.ranges)

    def with_ranges(self, ranges: Iterable[RowRange]) -> "Dataset":
        """Return the dataset with these ranges, merged."""
        return self.model_copy(update={"ranges": merged(ranges)})

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of these rows are in the ranges."""
        ranges = merged(self.ranges)
        stops = np.array([-1, *(item.stop for item in ranges)])
        place = np.searchsorted([item.start for item in ranges], rows, "right")
        inside: NDArray[np.bool_] = rows < stops[place]
        return inside

    def next_sequences(self) -> dict[int, int]:
        """Return lane -> the first sequence number after all of its rows."""
        ends: dict[int, int] = {}
        for rows in self.ranges:
            lane = rows.start >> LANE_BITS
            ends[lane] = max(ends.get(lane, 0), rows.stop - lane * LANE_ROWS)
        return ends


class DatasetReader:
    """Draws the rows of a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        """Open the dataset; ConfigError if this version of the workload draws other rows."""
        cls = workload_class(dataset.workload)
        if cls.version != dataset.workload_version:
            raise ConfigError(
                f"workload {cls.name}: the dataset was made by version {dataset.workload_version}"
                f" and this is version {cls.version}, whose rows differ; run insert again"
            )
        try:
            params = cls.params_model(**dataset.params)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ConfigError(
                f"workload {cls.name}: invalid parameters: {place}: {first['msg']}"
            ) from error
        self._workload = cls(params, dataset.seed, dataset.start_ms)
        self._parts = dataset.parts
        self.tables = tuple(
            t.stored(dataset.primary_key, dataset.parts) for t in self._workload.tables
        )

    @property
    def rows(self) -> int | None:
        """Number of rows, all in lane 0; None: every lane is endless."""
        return self._workload.rows

    def queries(self) -> dict[str, Query]:
        """Return the workload's named queries over the stored tables."""
        return self._workload.queries(self.tables)

    def table(self, name: str) -> Table:
        """Return the stored table of that name."""
        return next(table for table in self.tables if table.name == name)

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        """Return the rows of a table that a selection can match; None if that is not known."""
        return self._workload.candidates(self._declared(table), selection)

    def drawn(self, table: Table, rows: Rows) -> Block:
        """Return these rows of a table as a block, whichever parts they belong to."""
        return self._stored(table, 0, rows)

    def _declared(self, stored: Table) -> Table:
        return next(table for table in self._workload.tables if table.name == stored.name)

    def blocks(self, rows: RowRange, block_rows: int = BLOCK_ROWS) -> Iterator[list[Block]]:
        """Yield the rows in order, a turn at a time: one block for each physical table.

        Row r belongs to table r mod tables and to part (r / tables) mod parts, so with one table
        to part r mod parts. Each block has `block_rows` rows; only the last ones have fewer.
        """
        streams = len(self.tables) * self._parts
        for low in range(rows.start, rows.stop, streams * block_rows):
            high = min(low + streams * block_rows, rows.stop)
            yield [self._block(row, high, streams) for row in range(low, min(low + streams, high))]

    def _block(self, first: int, stop: int, stride: int) -> Block:
        which = first % len(self.tables)
        part = first // len(self.tables) % self._parts
        return self._stored(self.tables[which], part, np.arange(first, stop, stride))

    def _stored(self, stored: Table, part: int, numbers: Rows) -> Block:
        data = self._workload.draw(self._declared(stored), numbers)
        if stored.primary_key is PrimaryKey.CLIENT:
            data = {ID.name: Values(client_key(stored, data)), **data}
        return Block(stored, part, numbers, data)
