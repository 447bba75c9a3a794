"""Draws the rows of a dataset, block by block, and finds rows by their time."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from simulator.data.block import Block, ColumnData, Rows, Values, rename, replace
from simulator.data.dataset import Correction, Dataset, PartsBy
from simulator.data.derived import innermost
from simulator.data.late import LateOrder
from simulator.data.query import Query, Selection, columns_of
from simulator.data.query_type import QueryType, before
from simulator.data.ranges import LANE_BITS, MOST_ROWS, RowRange, find_held, numbers_between
from simulator.data.schema import ID, Role, Table
from simulator.data.walks import Precision
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import Workload, client_key
from simulator.errors import ConfigError, counted
from simulator.frozen import first_problem

BLOCK_ROWS = 8192
"""Number of rows drawn and encoded at once, to amortise the overhead of NumPy calls."""


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
            raise ConfigError(
                f"workload {cls.name}: invalid parameters: {first_problem(error)}"
            ) from error
        self._workload = cls(params, dataset.seed, dataset.start_ms)
        self._seed = dataset.seed
        self._corrected = [
            (each.ranges, cls(params, _derive_seed(dataset, each), dataset.start_ms))
            for each in dataset.corrections
        ]
        self._retags = dataset.retags
        self._late = dataset.late
        self.parts = dataset.parts
        self.parts_by = dataset.parts_by
        self.tables = tuple(
            t.stored(dataset.primary_key, dataset.parts, dataset.table_prefix)
            for t in self._workload.tables
        )

    def narrow(self, queries: Iterable[Query]) -> "DatasetReader":
        """Return a reader of tables with the time and the columns that these queries read."""
        names: dict[str, set[str]] = defaultdict(set)
        for query in map(innermost, queries):
            names[query.table.name] |= columns_of(query)
        reader = copy(self)
        reader.tables = tuple(table.only(names[table.name]) for table in self.tables)
        return reader

    @property
    def one_group(self) -> bool:
        """True if a payload may mix rows of all tables: one group, one unit of time, no parts."""
        alike = {(table.group, table.time_unit) for table in self.tables}
        several = len(self.tables) > 1 and self.parts == 1 and not self._late
        return several and len(alike) == 1 and bool(self.tables[0].group)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Number of rows of each table, all in lane 0; None: lanes have no end."""
        sizes = [self._workload.size(table) for table in self._workload.tables]
        return None if None in sizes else tuple(size for size in sizes if size is not None)

    @property
    def lane_rows(self) -> int:
        """Number of rows of each lane in a workload without an end."""
        return self._workload.lane_rows

    def rows_before(self, until_ms: int) -> int:
        """Return how many rows of each lane are before an instant, in a workload without an end."""
        counts = range(self.lane_rows + 1)
        return max(bisect_left(counts, until_ms, key=self._workload.last_ms) - 1, 0)

    @property
    def lane_parts(self) -> int:
        """Number of parts of each table that the rows of a lane are spread across."""
        return self.parts if self.parts_by is PartsBy.ROW else 1

    @property
    def precision(self) -> Precision | None:
        """Precision of numbers with a fraction; None: none are drawn."""
        return self._workload.precision

    def values(
        self, ranges: Sequence[RowRange], roles: Collection[Role] = tuple(Role)
    ) -> int | None:
        """Return how many values other than NULL these rows have when stored; None: unknown.

        Only columns with these roles count. A key counts if the client generates it.
        """
        found = 0
        for place, table in enumerate(self.tables):
            rows = [item for item in ranges if item.table == place]
            columns = [column for column in table.columns if column.role in roles]
            found += sum(map(len, rows)) * len(columns)
            if nullable := {column.name for column in columns if column.nullable}:
                nulls = self._workload.nulls(self._workload.tables[place].only(nullable), rows)
                if nulls is None or self._corrected or self._late:
                    return None
                found -= nulls
        return found

    def series(self, table: int) -> int:
        """Return the number of rows after which the series of a table (its place) repeat."""
        return self._workload.series(self._workload.tables[table])

    def queries(self) -> dict[str, Query]:
        """Return the workload's named queries over the stored tables."""
        return self._workload.queries(self.tables)

    def query_types(
        self, *, aligned: bool = False, until_ms: int | None = None
    ) -> dict[str, QueryType]:
        """Return the workload's query types, over all stored rows or rows before a time."""
        types = self._workload.query_types(self.tables, aligned=aligned, until_ms=until_ms)
        if until_ms is None:
            return types
        return {name: before(each, until_ms) for name, each in types.items()}

    @property
    def time_rises(self) -> bool:
        """True if no row has an earlier time than the rows of its table and lane before it."""
        return self._workload.time_rises and not self._late

    @cached_property
    def orders(self) -> tuple[LateOrder | None, ...]:
        """Order in which the rows of each table are sent; None: by number."""
        return tuple(map(self._make_order, range(len(self.tables))))

    def _make_order(self, place: int) -> LateOrder | None:
        if not self._late:
            return None
        table, sizes = self._workload.tables[place], self.sizes
        rows = RowRange(start=0, stop=sizes[place] if sizes else self.lane_rows, table=place)
        reader = copy(self)
        reader.orders = (None,) * len(self.tables)
        by = self._late.by_ms * table.time_unit.per_second // 1000
        first = reader.time_at(rows, 0) if len(rows) else 0
        (count,) = reader.places_at(rows, [first + by])
        return LateOrder.fit(self._late, len(rows), int(count), self._seed, table.name)

    def late_problems(self) -> Iterator[str]:
        """Yield reasons why rows of this workload cannot be late by the given time."""
        if not self._workload.time_rises:
            name = self._workload.name
            yield f"workload {name} has its rows in another order than that of time; leave it out"
            return
        unfit = [
            (table.name, order)
            for order, table in zip(self.orders, self.tables, strict=True)
            if order and order.problem
        ]
        for name, order in unfit[:1]:
            others = f" and {counted(len(unfit) - 1, 'other table')}" if unfit[1:] else ""
            longer = "a shorter" if order.strata else "a longer"
            yield f"table {name}{others}: {order.problem}; choose {longer} time, or more series"

    def time_at(self, rows: RowRange, place: int) -> int:
        """Return the time of the row at a place of a range, in the unit of its table."""
        return int(self._draw_times(rows.table, np.array([rows.number(place)]))[0])

    def places_at(self, rows: RowRange, times: Sequence[int]) -> Rows:
        """Return how many rows of a range with rising times are before each of these times."""
        sought = np.array(times)
        low, high = np.zeros(len(sought), np.int64), np.full(len(sought), len(rows))
        while (open_ := low < high).any():
            middle = (low + high) // 2
            before = np.zeros(len(sought), np.bool_)
            before[open_] = (
                self._draw_times(rows.table, rows.numbers_at(middle[open_])) < sought[open_]
            )
            low, high = np.where(before, middle + 1, low), np.where(open_ & ~before, middle, high)
        return low

    def _draw_times(self, place: int, numbers: Rows) -> NDArray[Any]:
        table = self._workload.tables[place].only(())
        return self._draw(self._workload, table, place, numbers)[table.time.name].values()

    def begin_ms(self, ranges: Iterable[RowRange]) -> int | None:
        """Return a time in ms since 1970 that is not after any row; None if times may fall."""
        times: list[int] = []
        for item in ranges if self.time_rises else ():
            begins = self.time_at(item, 0)
            times.append(begins * 1000 // self.tables[item.table].time_unit.per_second)
        return min(times, default=None)

    def table(self, name: str) -> Table:
        """Return the stored table with this name."""
        return next(table for table in self.tables if table.name == name)

    def place(self, table: Table) -> int:
        """Return the place of a stored table in the workload."""
        return [own.name for own in self.tables].index(table.name)

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        """Return the rows of a table that a selection can match; None: unknown."""
        place = self.place(table)
        changed = {each.tag for each in self._retags if each.table == place}
        if changed & {one.column for one in selection.one_of}:
            return None
        rows = self._workload.candidates(self._workload.tables[place], selection)
        order = self.orders[place]
        return rows if rows is None or order is None else np.sort(order.places_of(rows))

    def _draw(
        self, workload: Workload, table: Table, place: int, numbers: Rows
    ) -> dict[str, ColumnData]:
        """Return columns of the table at this place for rows numbered in the order of sending."""
        order = self.orders[place]
        if order is None or not len(numbers):
            return workload.draw(table, numbers)
        lane = int(numbers[0]) >> LANE_BITS << LANE_BITS
        rows = order.rows_at(numbers - lane) + lane
        rising = np.argsort(rows)
        back = np.empty_like(rising)
        back[rising] = np.arange(len(rows))
        drawn = workload.draw(table, rows[rising])
        return {name: column.take(back) for name, column in drawn.items()}

    def draw_rows(self, table: Table, rows: Rows) -> Block:
        """Return these rows of a table as a block, from all of its parts."""
        return self._draw_block(self.place(table), 0, rows)

    def blocks(
        self,
        ranges: Iterable[RowRange],
        block_rows: int = BLOCK_ROWS,
        batch_rows: int = 1,
        *,
        place: int = 0,
        every: int = 1,
    ) -> Iterator[list[Block]]:
        """Yield the rows of ranges of one lane, turn by turn.

        A turn has a block for each physical table with rows left. The blocks of the largest table
        have `block_rows` rows; smaller tables take part in proportion, by whole batches. Only the
        last blocks of a table may end within a batch. Only turn `place` of each `every` turns is
        drawn.
        """
        by_table: dict[int, list[RowRange]] = defaultdict(list)
        for item in ranges:
            by_table[item.table].append(item)
        streams = [_Stream(items) for items in by_table.values() if sum(map(len, items))]
        largest = max((len(stream) for stream in streams), default=0)
        step, unit = block_rows * self.lane_parts, batch_rows * self.lane_parts
        for number, stop in enumerate(range(step, largest + step, step)):
            turn: list[Block] = []
            for stream in streams:
                units = -(-stop * len(stream) // (largest * unit))
                rows = stream.until(units * unit)
                if number % every == place:
                    turn += self._split_by_part(stream.table, rows)
            if number % every == place:
                yield turn

    def _split_by_part(self, table: int, numbers: Rows) -> Iterator[Block]:
        if not len(numbers):
            return
        if self.lane_parts == 1:
            yield self._draw_block(table, (int(numbers[0]) >> LANE_BITS) % self.parts, numbers)
            return
        parts = numbers % self.parts
        for part in range(self.parts):
            mine = numbers[parts == part]
            if len(mine):
                yield self._draw_block(table, part, mine)

    def _draw_block(self, table: int, part: int, numbers: Rows) -> Block:
        stored = self.tables[table]
        names = {column.name for column in stored.columns}
        retags = [each for each in self._retags if each.table == table and each.tag in names]
        own = self._workload.tables[table].only(names | {each.by for each in retags})
        data = self._draw(self._workload, own, table, numbers)
        for each in retags:
            if found := rename(data[each.tag], data[each.by], each.names):
                data = {**data, each.tag: replace(data[each.tag], *found)}
        for ranges, workload in self._corrected:
            at = np.flatnonzero(find_held(ranges, table, numbers))
            if len(at) and own.fields:
                fields = own.only({column.name for column in own.fields})
                drawn = self._draw(workload, fields, table, numbers[at])
                new = {column.name: drawn[column.name] for column in own.fields}
                data = {**data, **{n: replace(data[n], at, each) for n, each in new.items()}}
        if len(own.columns) > len(names - {ID.name}):
            data = {name: column for name, column in data.items() if name in names}
        if ID in stored.columns:
            data = {ID.name: Values(client_key(stored, data)), **data}
        return Block(stored, part, numbers, data)


def _derive_seed(dataset: Dataset, correction: Correction) -> int:
    """Return the seed of corrected fields: a number that no user is likely to choose."""
    mixed = dataset.seed + correction.number * 0x9E37_79B9_7F4A_7C15
    return (mixed + MOST_ROWS * 2) % (MOST_ROWS * 4) - MOST_ROWS * 2


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
        return numbers_between(self._ranges, low, high)
