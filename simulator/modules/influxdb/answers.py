"""Answers of InfluxDB, which come in parts and series, put together to the rows asked for.

InfluxQL and Flux cannot say everything in one statement: a text has no minimum, a time no sum, a
boolean neither. So a query is rendered into parts, whose answers are folded together here. The
server aggregates numbers; for the extremes of a text and the sum of times all values are fetched.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
)
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Table, Type

TIME = "time"
NEWEST = "newest"
ROWS = "rows"
SECOND_NS = 10**9


class Language(StrEnum):
    """What a part is written in."""

    FLUX = "flux"
    INFLUXQL = "influxql"


class Fold(StrEnum):
    """What a part's answer tells."""

    CELLS = "cells"
    """Aggregates by group, named by their labels."""
    SERIES = "series"
    """How many rows each combination of tags has: the aggregates of the tags."""
    VALUES = "values"
    """Values of one column, the time or a text: its extremes and its sum."""
    NEWEST = "newest"
    """The newest row of each value of a tag."""
    POINTS = "points"
    """The newest value of each field of each series."""
    COUNT = "count"
    """A number of rows."""
    TIMES = "times"
    """The instants of all rows, by tags."""
    ROWS = "rows"
    """Rows, a column each."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a statement; `labels` are the columns of its answer that matter."""

    language: Language
    fold: Fold
    text: str
    labels: tuple[str, ...] = ()
    name: str = ""
    """What its answer is called, among several in Flux."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query and the parts that answer it together."""

    query: Query
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The parts as they are sent."""
        return "\n".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of an answer: columns, and values that all of the rows share. `time` is in ns."""

    count: int
    columns: Mapping[str, Sequence[Any]]
    shared: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Sequence[Any]:
        found = self.columns.get(name)
        return [self.shared.get(name)] * self.count if found is None else found


Rows: TypeAlias = Sequence[Sequence[Any]]
Parts: TypeAlias = Iterable[tuple[Part, Chunk]]


def rows_of(plan: Plan, answers: Parts) -> Rows:
    """Return the rows that the query asks for."""
    query = plan.query
    match query:
        case AggregateQuery():
            return _aggregates(query, answers)
        case NewestQuery():
            return _newest(query, answers)
        case DistinctQuery():
            return [(_distinct(answers),)]
        case RowsQuery():
            return [row for _, chunk in answers for row in plain_rows(query.table, chunk)]


def plain_rows(table: Table, chunk: Chunk) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chunk of whole rows."""
    return zip(*(_column(table, column, chunk) for column in table.columns), strict=True)


def _column(table: Table, column: Column, chunk: Chunk) -> Sequence[Any]:
    if column.role is Role.TIME:
        unit = unit_ns(table)
        return [time // unit for time in chunk[TIME]]
    return tags(column, chunk) if column.role is Role.TAG else chunk[column.name]


def tags(column: Column, chunk: Chunk) -> Sequence[Any]:
    """Return a tag of each row. An empty one is not there; a number is written as text."""
    convert: Callable[[str], Any] = _CONVERT.get(column.type, str)
    known: dict[str | None, Any] = {None: None, "": None}
    found = []
    for value in chunk[column.name]:
        if value not in known:
            known[value] = convert(value)
        found.append(known[value])
    return found


def unit_ns(table: Table) -> int:
    """Return how many nanoseconds the table's unit of time has."""
    return SECOND_NS // table.time_unit.per_second


_CONVERT: dict[Type, Callable[[str], Any]] = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), int),
    **dict.fromkeys(FLOATS, float),
    Type.BOOL: lambda text: text == "t",
}

# --- aggregates ----------------------------------------------------------------------------------

Key: TypeAlias = tuple[Any, ...]
_ADDED = ("count", "sum", "true")


class _Cells:
    """Partial aggregates by group: those of parts, series and measurements add up."""

    def __init__(self, query: AggregateQuery) -> None:
        self.query = query
        self._by = [query.table.column(name) for name in query.by]
        self.groups: dict[Key, dict[str, Any]] = {}
        if not query.by and query.bucket is None:
            self.groups[()] = {}

    def keys(self, chunk: Chunk) -> Sequence[Key]:
        """Return the group of each row, which is there from now on."""
        columns = [tags(column, chunk) for column in self._by]
        if self.query.bucket is not None:
            width = self.query.bucket * unit_ns(self.query.table)
            columns.append([t // width * self.query.bucket for t in chunk[TIME]])
        keys = [*zip(*columns, strict=True)] if columns else [()] * chunk.count
        for key in keys:
            self.groups.setdefault(key, {})
        return keys

    def add(self, key: Key, label: str, value: Any) -> None:
        """Take in an aggregate of some of the group's rows."""
        if value is None:
            return
        cells = self.groups[key]
        if label not in cells:
            cells[label] = value
            return
        function, _, _ = label.partition("_")
        if function in _ADDED:
            cells[label] += value
        elif function == Function.MIN:
            cells[label] = min(cells[label], value)
        elif function == Function.MAX:
            cells[label] = max(cells[label], value)
        else:
            raise ValueError(f"{label} came twice for {key}; a mean of means is none")


def _aggregates(query: AggregateQuery, answers: Parts) -> Rows:
    cells = _Cells(query)
    for part, chunk in answers:
        _FOLDS[part.fold](cells, part, chunk)
    return [
        (*key, *(_value(query, found, a.function, a.column) for a in query.aggregates))
        for key, found in cells.groups.items()
    ]


def _fold_cells(cells: _Cells, part: Part, chunk: Chunk) -> None:
    keys = cells.keys(chunk)
    for label in part.labels:
        for key, value in zip(keys, chunk[label], strict=True):
            cells.add(key, label, value)


def _fold_series(cells: _Cells, part: Part, chunk: Chunk) -> None:
    keys, counts = cells.keys(chunk), chunk[ROWS]
    for name in part.labels:
        column = cells.query.table.column(name)
        for key, count, value in zip(keys, counts, tags(column, chunk), strict=True):
            if value is not None:
                cells.add(key, f"count_{name}", count)
                cells.add(key, f"min_{name}", value)
                cells.add(key, f"max_{name}", value)
                if column.type is not Type.TEXT:
                    cells.add(key, f"sum_{name}", value * count)


def _fold_values(cells: _Cells, part: Part, chunk: Chunk) -> None:
    table, (_, _, name) = cells.query.table, part.labels[0].partition("_")
    keys, values = cells.keys(chunk), _column(table, table.column(name), chunk)
    alike = len(set(keys)) == 1
    for label in part.labels:
        if alike:  # all of them at once, of which there may be millions
            function, _, _ = label.partition("_")
            cells.add(keys[0], label, _OF_VALUES[function](values))
            continue
        for key, value in zip(keys, values, strict=True):
            cells.add(key, label, value)


_OF_VALUES: dict[str, Callable[[Iterable[Any]], Any]] = {"min": min, "max": max, "sum": sum}

_FOLDS = {
    Fold.CELLS: _fold_cells,
    Fold.SERIES: _fold_series,
    Fold.VALUES: _fold_values,
}


def _value(
    query: AggregateQuery, cells: dict[str, Any], function: Function, name: str | None
) -> Any:
    """Return an aggregate of a group, from what the parts said of it."""
    if name is None:
        return cells.get("count", 0)
    column = query.table.column(name)
    count = cells.get("count" if column.role is Role.TIME else f"count_{name}", 0)
    if function is Function.COUNT:
        return count
    if column.type is Type.BOOL and column.role is not Role.TAG:
        return _of_booleans(function, count, cells.get(f"true_{name}", 0))
    if function in (Function.MIN, Function.MAX):
        return cells.get(f"{function}_{name}")
    if f"avg_{name}" in cells and function is Function.AVG:
        return cells[f"avg_{name}"]
    total = cells.get(f"sum_{name}")
    if total is None:
        return None
    if column.type not in FLOATS and column.role not in (Role.TAG, Role.TIME):
        _fits(name, count, cells)
    return total if function is Function.SUM else total / count


def _of_booleans(function: Function, count: int, true: int) -> Any:
    if not count:
        return None
    match function:
        case Function.MIN:
            return int(true == count)
        case Function.MAX:
            return int(true > 0)
        case Function.SUM:
            return true
        case _:
            return true / count


def _fits(name: str, count: int, cells: dict[str, Any]) -> None:
    """Raise OverflowError if a sum may have left 64 bits, of which InfluxDB says nothing."""
    largest = max(abs(cells.get(f"{end}_{name}", 0)) for end in ("min", "max"))
    if count * largest >= 2**63:
        raise OverflowError(
            f"integer overflow: {count} values of {name} up to {largest} may add up to more than"
            " 64 bits"
        )


# --- newest rows and distinct ones ---------------------------------------------------------------


def _newest(query: NewestQuery, answers: Parts) -> Rows:
    table, tag = query.table, query.table.column(query.tag)
    columns = [table.column(name) for name in query.columns]
    newest: dict[Any, tuple[int, Sequence[Any]]] = {}
    points: dict[Key, dict[str, tuple[int, Any]]] = {}
    for part, chunk in answers:
        if part.fold is Fold.POINTS:
            _gather(table, chunk, points)
            continue
        found = zip(*(_column(table, column, chunk) for column in columns), strict=True)
        for value, time, row in zip(tags(tag, chunk), chunk[TIME], found, strict=True):
            if value not in newest or newest[value][0] < time:
                newest[value] = time, row
    place = [column.name for column in table.tags].index(tag.name)
    for (_, *series), fields in points.items():
        value, (time, _) = series[place], fields[NEWEST]
        if value not in newest or newest[value][0] < time:
            point = (_of_point(table, column, series, fields, time) for column in columns)
            newest[value] = time, tuple(point)
    return [(value, *row) for value, (_, row) in newest.items()]


def _gather(table: Table, chunk: Chunk, points: dict[Key, dict[str, tuple[int, Any]]]) -> None:
    """Take in each field's newest value; that of the whole row is the latest of them."""
    columns = [chunk["_measurement"], *(tags(column, chunk) for column in table.tags)]
    series = zip(*columns, strict=True)
    for key, name, time, value in zip(
        series, chunk["_field"], chunk[TIME], chunk[NEWEST], strict=True
    ):
        fields = points.setdefault(key, {})
        fields[name] = time, value
        if NEWEST not in fields or fields[NEWEST][0] < time:
            fields[NEWEST] = time, None


def _of_point(
    table: Table,
    column: Column,
    series: Sequence[Any],
    fields: dict[str, tuple[int, Any]],
    time: int,
) -> Any:
    if column.role is Role.TIME:
        return time // unit_ns(table)
    if column.role is Role.TAG:
        return series[table.tags.index(column)]
    when, value = fields.get(column.name, (None, None))
    return value if when == time else None  # an older value than the row's: there it is NULL


def _distinct(answers: Parts) -> int:
    """Return how many rows, or different instants of the same tags, there are."""
    count, times = 0, dict[Key, list[NDArray[np.int64]]]()
    for part, chunk in answers:
        if part.fold is Fold.COUNT:
            count += sum(chunk[ROWS])
            continue
        found: dict[Key, list[int]] = {}
        columns = [chunk[name] for name in part.labels]
        keys = zip(*columns, strict=True) if columns else [()] * chunk.count
        for key, time in zip(keys, chunk[TIME], strict=True):
            found.setdefault(key, []).append(time)
        for key, instants in found.items():
            times.setdefault(key, []).append(np.array(instants, np.int64))
    return count + sum(len(np.unique(np.concatenate(arrays))) for arrays in times.values())
