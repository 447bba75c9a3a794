"""The groups of an aggregate, put together from parts of the tokens or worked out of rows."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from simulator.data.query import AggregateQuery, Function
from simulator.data.schema import TimeUnit
from simulator.modules.shared.partials import Combiner, Row

COUNT = Function.COUNT
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the driver's datetimes are in UTC and do not say so


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


class Groups(Combiner):
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
