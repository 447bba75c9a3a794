"""Answers of parts of the tokens put together, and answers worked out of rows."""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.fingerprint import stored_hashes
from simulator.query import AggregateQuery, Function, Output
from simulator.schema import TimeUnit

COUNT = Function.COUNT
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the driver's datetimes are in UTC and do not say so

Row = Sequence[Any]


class Fold(ABC):
    """Takes in rows, in any cut, and gives the answer's rows."""

    @abstractmethod
    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""

    def end_range(self) -> None:  # noqa: B027 - most have nothing to do then
        """Note that all rows of a range of tokens have come, of every physical table."""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """Return the answer."""


class Collected(Fold):
    """The rows as they come."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        self._rows += rows

    def rows(self) -> Sequence[Row]:
        """Return the rows."""
        return self._rows


class Newest(Fold):
    """The newest of the rows (tag, time, columns...) of each tag."""

    def __init__(self) -> None:
        self._newest: dict[Any, Row] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        newest = self._newest
        for row in rows:
            known = newest.get(row[0])
            if known is None or known[1] < row[1]:
                newest[row[0]] = row

    def rows(self) -> Sequence[Row]:
        """Return the newest rows without their time."""
        return [(row[0], *row[2:]) for row in self._newest.values()]


class Different(Fold):
    """How many different rows came, told apart by 64 bits of each, as verification does.

    `apart`: rows of two ranges differ, so those of a range can be forgotten when it ends.
    """

    def __init__(self, columns: Sequence[Output], apart: bool) -> None:  # noqa: FBT001
        self._columns = columns
        self._apart = apart
        self._counted = 0
        self._seen: NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        hashes = stored_hashes(self._columns, rows)
        self._seen = np.unique(np.append(self._seen, hashes))

    def end_range(self) -> None:
        """Forget what cannot come again."""
        if self._apart:
            self._counted += len(self._seen)
            self._seen = self._seen[:0]

    def rows(self) -> Sequence[Row]:
        """Return the number."""
        return [(self._counted + len(self._seen),)]


class Part(NamedTuple):
    """What is needed of a column: its count, sum, minimum or maximum; of no column: of rows."""

    column: str | None
    what: Function


def parts_of(query: AggregateQuery) -> tuple[Part, ...]:
    """Return the parts that the query's aggregates are made of.

    The count of a column's values also tells a sum of nothing, which is NULL, from zero.
    """
    parts: dict[Part, None] = {}
    for aggregate in query.aggregates:
        column, function = aggregate.column, aggregate.function
        if column is None or function is Function.COUNT:
            parts[Part(column, COUNT)] = None
        elif function in (Function.MIN, Function.MAX):
            parts[Part(column, function)] = None
        else:
            parts[Part(column, COUNT)] = None
            parts[Part(column, Function.SUM)] = None
    return tuple(parts)


@dataclass(slots=True)
class _Cell:
    """What is known so far of one part in one group."""

    value: Any = None

    def add(self, what: Function, value: Any) -> None:
        if value is None:
            return
        if self.value is None:
            self.value = value
        elif what is Function.MIN:
            self.value = min(self.value, value)
        elif what is Function.MAX:
            self.value = max(self.value, value)
        elif isinstance(value, float):
            self.value = math.fsum((self.value, value))
        else:
            self.value += value


class Groups(Fold):
    """An AggregateQuery's groups.

    `rows_are_parts`: each row is a group's tags and then its parts, as the server aggregates them;
    else tags, time if there are buckets, and columns, which the client aggregates.
    """

    def __init__(
        self, query: AggregateQuery, parts: Sequence[Part], *, rows_are_parts: bool
    ) -> None:
        self._query = query
        self._parts = parts
        self._rows_are_parts = rows_are_parts
        self._groups: dict[Row, list[_Cell]] = defaultdict(lambda: [_Cell() for _ in parts])

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        tags = len(self._query.by)
        if self._rows_are_parts:
            for row in rows:
                self._merge(row[:tags], row[tags:])
        else:
            for group, members in self._grouped(rows).items():
                self._merge(group, self._aggregated(members))

    def _merge(self, group: Row, values: Iterable[Any]) -> None:
        for part, cell, value in zip(self._parts, self._groups[group], values, strict=True):
            cell.add(part.what, value)

    def _grouped(self, rows: Sequence[Row]) -> dict[Row, list[Row]]:
        query, tags = self._query, len(self._query.by)
        groups: dict[Row, list[Row]] = defaultdict(list)
        if query.bucket is None:
            for row in rows:
                groups[row[:tags]].append(row[tags:])
            return groups
        unit, width = query.table.time_unit, query.bucket
        for row in rows:
            time = _number(row[tags], unit)
            groups[(*row[:tags], time // width * width)].append(row[tags + 1 :])
        return groups

    def _aggregated(self, rows: Sequence[Row]) -> list[Any]:
        names = [*dict.fromkeys(part.column for part in self._parts if part.column)]
        columns = dict(zip(names, zip(*rows, strict=True), strict=False))
        return [
            _aggregate(part.what, columns[part.column]) if part.column else len(rows)
            for part in self._parts
        ]

    def rows(self) -> Sequence[Row]:
        """Return a row for each group; without groups one in any case."""
        if not self._query.by and self._query.bucket is None:
            self._merge((), [None] * len(self._parts))
        return [(*group, *self._results(cells)) for group, cells in self._groups.items()]

    def _results(self, cells: Sequence[_Cell]) -> Iterable[Any]:
        known = {part: cell.value for part, cell in zip(self._parts, cells, strict=True)}
        for aggregate in self._query.aggregates:
            column, function = aggregate.column, aggregate.function
            if function is Function.COUNT:
                yield known[Part(column, COUNT)] or 0
            elif function in (Function.MIN, Function.MAX):
                yield known[Part(column, function)]
            elif not (count := known[Part(column, COUNT)]):
                yield None
            else:
                total = known[Part(column, Function.SUM)]
                yield total if function is Function.SUM else float(total) / count


def _aggregate(what: Function, column: Row) -> Any:
    values = [value for value in column if value is not None]
    if what is Function.COUNT:
        return len(values)
    if not values:
        return None
    if what is Function.SUM:
        return math.fsum(values) if isinstance(values[0], float) else sum(values)
    return min(values) if what is Function.MIN else max(values)


def _number(time: Any, unit: TimeUnit) -> int:
    """Return an instant as a number in the table's unit; a CQL timestamp comes as a datetime."""
    if isinstance(time, datetime):
        return (time - _EPOCH) // timedelta(milliseconds=1) * unit.per_second // 1000
    return int(time)
