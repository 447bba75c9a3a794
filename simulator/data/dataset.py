"""A dataset: a workload with its parameters, a seed, and ranges of rows.

`Dataset` is the plain record (sent to the workers, kept in the manifest). `DatasetReader` draws
blocks of rows from it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulator.data.block import Block, Rows, Values
from simulator.data.query import Query, Selection
from simulator.data.query_type import QueryType
from simulator.data.ranges import LANE_BITS, LANE_ROWS, MOST_ROWS, RowRange, merged
from simulator.data.schema import ID, PrimaryKey, Table
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import client_key
from simulator.errors import ConfigError

BLOCK_ROWS = 8192
"""Rows drawn and encoded at once: enough to amortise the overhead of NumPy calls."""


class Dataset(BaseModel):
    """The rows that a target's tables hold, or are to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: str
    workload_version: int
    params: dict[str, Any]
    seed: int = Field(ge=-MOST_ROWS * 2, lt=MOST_ROWS * 2)
    start_ms: int = Field(ge=-MOST_ROWS, le=MOST_ROWS)
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

    def holds(self, table: int, rows: Rows) -> NDArray[np.bool_]:
        """Return which of these rows of a table (its place) are in the ranges."""
        inside = np.zeros(len(rows), np.bool_)
        for item in self.ranges:
            if item.table == table:
                inside |= item.holds(rows)
        return inside

    def ends(self) -> dict[tuple[int, int], int]:
        """Return (table, lane) -> the first sequence number after all of its rows."""
        ends: dict[tuple[int, int], int] = {}
        for rows in self.ranges:
            lane = rows.start >> LANE_BITS
            key = rows.table, lane
            ends[key] = max(ends.get(key, 0), rows.stop - lane * LANE_ROWS)
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
        self.parts = dataset.parts
        self.tables = tuple(
            t.stored(dataset.primary_key, dataset.parts) for t in self._workload.tables
        )

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Number of rows of each table, all in lane 0; None: every lane is endless."""
        sizes = [self._workload.size(table) for table in self._workload.tables]
        return None if None in sizes else tuple(size for size in sizes if size is not None)

    def series(self, table: int) -> int:
        """Return after how many rows of a table (its place) its series repeat."""
        return self._workload.series(self._workload.tables[table])

    def queries(self) -> dict[str, Query]:
        """Return the workload's named queries over the stored tables."""
        return self._workload.queries(self.tables)

    def query_types(self, *, aligned: bool = False) -> dict[str, QueryType]:
        """Return the workload's query types over the stored tables."""
        return self._workload.query_types(self.tables, aligned=aligned)

    def table(self, name: str) -> Table:
        """Return the stored table of that name."""
        return next(table for table in self.tables if table.name == name)

    def place(self, table: Table) -> int:
        """Return the place of a stored table in the workload."""
        return [own.name for own in self.tables].index(table.name)

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        """Return the rows of a table that a selection can match; None if that is not known."""
        return self._workload.candidates(self._workload.tables[self.place(table)], selection)

    def drawn(self, table: Table, rows: Rows) -> Block:
        """Return these rows of a table as a block, whichever parts they belong to."""
        return self._block(self.place(table), 0, rows)

    def blocks(
        self, ranges: Iterable[RowRange], block_rows: int = BLOCK_ROWS, batch_rows: int = 1
    ) -> Iterator[list[Block]]:
        """Yield the rows of ranges, which are of one lane, a turn at a time.

        A turn has a block for each physical table with rows left. The blocks of the largest table
        have `block_rows` rows; smaller tables take part in proportion, by whole batches. Only the
        last blocks of a table may end within a batch.
        """
        by_table: dict[int, list[RowRange]] = defaultdict(list)
        for item in ranges:
            by_table[item.table].append(item)
        streams = [_Stream(items) for items in by_table.values() if sum(map(len, items))]
        largest = max((len(stream) for stream in streams), default=0)
        step, unit = block_rows * self.parts, batch_rows * self.parts
        for stop in range(step, largest + step, step):
            turn: list[Block] = []
            for stream in streams:
                units = -(-stop * len(stream) // (largest * unit))
                turn += self._blocks(stream.table, stream.until(units * unit))
            yield turn

    def _blocks(self, table: int, numbers: Rows) -> Iterator[Block]:
        """Yield the rows of one table by their parts: row r belongs to part r mod parts."""
        if not len(numbers):
            return
        if self.parts == 1:
            yield self._block(table, 0, numbers)
            return
        parts = numbers % self.parts
        for part in range(self.parts):
            mine = numbers[parts == part]
            if len(mine):
                yield self._block(table, part, mine)

    def _block(self, table: int, part: int, numbers: Rows) -> Block:
        stored = self.tables[table]
        data = self._workload.draw(self._workload.tables[table], numbers)
        if stored.primary_key is PrimaryKey.CLIENT:
            data = {ID.name: Values(client_key(stored, data)), **data}
        return Block(stored, part, numbers, data)


class _Stream:
    """The row numbers of one table, in the order of its ranges."""

    def __init__(self, ranges: Sequence[RowRange]) -> None:
        self.table = ranges[0].table
        self._ranges = ranges
        self._rows = sum(map(len, ranges))
        self._taken = 0

    def __len__(self) -> int:
        return self._rows

    def until(self, count: int) -> Rows:
        """Return the next numbers, so that `count` of them have been taken."""
        low, high = self._taken, max(min(count, self._rows), self._taken)
        self._taken = high
        found = []
        for item in self._ranges:
            rows = len(item)
            if low < rows and high > 0:
                found.append(item.numbers(max(low, 0), min(high, rows)))
            low, high = low - rows, high - rows
        return found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.int64), *found])
