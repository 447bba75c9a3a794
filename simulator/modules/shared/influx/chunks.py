"""Queries to InfluxDB 1 or 2 as several statements, with answers that are read chunk by chunk.

Neither InfluxQL nor Flux can express every query in one statement: texts have no minimum, times no
sum, booleans neither. The server aggregates numbers; for extremes of texts and sums of times, all
values are fetched.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from simulator.data.answer import in_units
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    Output,
    RowsQuery,
)
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Table, Type
from simulator.modules.shared.client.partials import (
    Combiner,
    Key,
    Merged,
    Partial,
    Row,
    aggregate_of,
)
from simulator.modules.shared.client.planned import Fetch, PlannedQuery

TIME = "time"
NEWEST = "newest"
ROWS = "rows"
SECOND_NS = 10**9


class Language(StrEnum):
    """The language of a statement."""

    FLUX = "flux"
    INFLUXQL = "influxql"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of an answer: columns, and values shared by all rows; `time` is in nanoseconds."""

    count: int
    columns: Mapping[str, Sequence[Any]]
    shared: Mapping[str, Any] = field(default_factory=dict)
    measurement: str = ""
    """Name of the measurement, if all rows are of one."""

    def __getitem__(self, name: str) -> Sequence[Any]:
        found = self.columns.get(name)
        return [self.shared.get(name)] * self.count if found is None else found


Read: TypeAlias = Callable[[Chunk], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Subquery(Fetch):
    """A statement in one of the two languages."""

    language: Language = Language.INFLUXQL
    name: str = ""
    """Name of the answer, if a Flux script yields several."""


def label(partial: Partial) -> str:
    """Return the name of a partial aggregate's column in an answer."""
    return Aggregate(*partial).label


def unit_ns(table: Table) -> int:
    """Return the table's unit of time in nanoseconds."""
    return SECOND_NS // table.time_unit.per_second


# --- rows ----------------------------------------------------------------------------------------


def columns_of(table: Table, columns: Sequence[Column]) -> Read:
    """Return the reader of columns of the table."""

    def read(chunk: Chunk) -> Sequence[Row]:
        if not chunk.count:
            return []
        return [*zip(*(_read_column(table, column, chunk) for column in columns), strict=True)]

    return read


def latest_rows(query: RowsQuery) -> Read:
    """Return the reader of rows, each preceded by its time."""
    rows = columns_of(query.table, query.read)
    return lambda chunk: [(time, *row) for time, row in zip(chunk[TIME], rows(chunk), strict=True)]


def newest_rows(query: NewestQuery) -> Read:
    """Return the reader of rows for `partials.NewestRows`."""
    table = query.table
    names = (*query.tags, table.time.name, *query.columns)
    return columns_of(table, [table.column(name) for name in names])


def read_named_columns(query_outputs: Sequence[Output]) -> Read:
    """Return the reader of columns with the names of the query's outputs."""
    names = [output.name for output in query_outputs]

    def read(chunk: Chunk) -> Sequence[Row]:
        known = {*chunk.columns, *chunk.shared}
        if missing := [name for name in names if name not in known]:
            raise ValueError(f"expected columns {', '.join(names)}; {missing[0]} is missing")
        return [*zip(*(chunk[name] for name in names), strict=True)]

    return read


def _read_column(table: Table, column: Column, chunk: Chunk) -> Sequence[Any]:
    if column.role is Role.TIME:
        unit = unit_ns(table)
        return [in_units(time, unit) for time in chunk[TIME]]
    return _read_tags(column, chunk) if column.role is Role.TAG else chunk[column.name]


def _read_tags(column: Column, chunk: Chunk) -> Sequence[Any]:
    """Return a tag's value in each row; an empty text is NULL, and numbers are stored as text."""
    convert: Callable[[str], Any] = _CONVERT.get(column.type, str)
    known: dict[str | None, Any] = {None: None, "": None}
    found = []
    for value in chunk[column.name]:
        if value not in known:
            known[value] = convert(value)
        found.append(known[value])
    return found


_CONVERT: dict[Type, Callable[[str], Any]] = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), int),
    **dict.fromkeys(FLOATS, float),
    Type.BOOL: lambda text: text == "t",
}

# --- aggregates: rows for `partials.Merged` ------------------------------------------------------

_Merges: TypeAlias = Iterator[tuple[Key, Partial, Any]]


def plan_aggregates(query: AggregateQuery, fetches: Sequence[Subquery]) -> PlannedQuery:
    """Return the plan of an aggregate query."""
    return PlannedQuery.of(query, fetches, lambda: Merged(query))


def partials_read(query: AggregateQuery, wanted: Sequence[Partial]) -> Read:
    """Return the reader of aggregates by group, one column each."""

    def read(chunk: Chunk) -> _Merges:
        keys = _read_keys(query, chunk)
        for partial in wanted:
            for key, value in zip(keys, chunk[label(partial)], strict=True):
                yield key, partial, value

    return lambda chunk: [*read(chunk)]


def series_read(query: AggregateQuery, tags: Sequence[Column]) -> Read:
    """Return the reader that aggregates tags from the number of rows with each combination."""

    def read(chunk: Chunk) -> _Merges:
        keys = _read_keys(query, chunk)
        for column in tags:
            name = column.name
            for key, rows, value in zip(keys, chunk[ROWS], _read_tags(column, chunk), strict=True):
                # A group exists even if this tag is NULL in all of its rows.
                yield key, Partial(Function.COUNT, name), None if value is None else rows
                yield key, Partial(Function.MIN, name), value
                yield key, Partial(Function.MAX, name), value
                if column.type is not Type.TEXT and value is not None:
                    yield key, Partial(Function.SUM, name), value * rows

    return lambda chunk: [*read(chunk)]


def ends_read(query: AggregateQuery, end: Partial) -> Read:
    """Return the reader of first or last values of groups, with their times."""
    table = query.table
    column = table.column(str(end.column))
    is_field = column.role not in (Role.TIME, Role.TAG)

    def read(chunk: Chunk) -> Sequence[Row]:
        values = chunk[label(end)] if is_field else _read_column(table, column, chunk)
        found = zip(_read_keys(query, chunk), chunk[TIME], values, strict=True)
        return [(key, end, None if value is None else (time, value)) for key, time, value in found]

    return read


def values_read(query: AggregateQuery, column: Column, functions: Sequence[Function]) -> Read:
    """Return the reader that aggregates the values of a column, the time or a text."""

    def read(chunk: Chunk) -> Sequence[Row]:
        by_key: dict[Key, list[Any]] = defaultdict(list)
        values = _read_column(query.table, column, chunk)
        for key, value in zip(_read_keys(query, chunk), values, strict=True):
            by_key[key].append(value)
        return [
            (key, Partial(function, column.name), aggregate_of(function, members))
            for key, members in by_key.items()
            for function in functions
        ]

    return read


def _read_keys(query: AggregateQuery, chunk: Chunk) -> Sequence[Key]:
    """Return the group of each row of an answer."""
    columns = [_read_tags(query.table.column(name), chunk) for name in query.by]
    if query.bucket is not None:
        width = query.bucket * unit_ns(query.table)
        columns.append([time // width * query.bucket for time in chunk[TIME]])
    return [*zip(*columns, strict=True)] if columns else [()] * chunk.count


# --- the newest points of Flux -------------------------------------------------------------------


def points_read(table: Table) -> Read:
    """Return the reader of the newest value of each field of each series, for `NewestPoints`."""

    def read(chunk: Chunk) -> Sequence[Row]:
        columns = [chunk["_measurement"], *(_read_tags(column, chunk) for column in table.tags)]
        series = zip(*columns, strict=True)
        return [*zip(series, chunk["_field"], chunk[TIME], chunk[NEWEST], strict=True)]

    return read


class NewestPoints(Combiner):
    """The newest rows, assembled from the newest value of each field of each series."""

    def __init__(self, query: NewestQuery, newest: Combiner) -> None:
        """Store the combiner of the newest rows of several series."""
        table = self._table = query.table
        names = (*query.tags, table.time.name, *query.columns)
        self._columns = [table.column(name) for name in names]
        self._newest = newest
        self._points: dict[Key, dict[str, tuple[int, Any]]] = {}
        """Series -> field -> newest time and value; NEWEST -> the time of the newest row."""

    def add(self, rows: Sequence[Row]) -> None:
        for key, name, time, value in rows:
            fields = self._points.setdefault(key, {})
            fields[name] = time, value
            if NEWEST not in fields or fields[NEWEST][0] < time:
                fields[NEWEST] = time, None

    def rows(self) -> Sequence[Row]:
        for (_, *series), fields in self._points.items():
            time, _ = fields[NEWEST]
            row = [self._read_cell(column, series, fields, time) for column in self._columns]
            self._newest.add([row])
        return self._newest.rows()

    def _read_cell(
        self,
        column: Column,
        series: Sequence[Any],
        fields: Mapping[str, tuple[int, Any]],
        time: int,
    ) -> Any:
        if column.role is Role.TIME:
            return in_units(time, unit_ns(self._table))
        if column.role is Role.TAG:
            return series[self._table.tags.index(column)]
        when, value = fields.get(column.name, (None, None))
        return value if when == time else None  # NULL: the newest row is later than this value
