"""A query as several subqueries of InfluxDB 1 or 2, and the rows that follow from their answers.

Neither InfluxQL nor Flux can express every query in one statement: a text has no minimum, a time no
sum, a boolean neither. A query is therefore rendered as subqueries, whose answers are combined
here. The server aggregates numbers; for the extremes of a text and the sum of times, all values are
fetched.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    outputs,
)
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Table, Type
from simulator.errors import RunError
from simulator.modules.shared.partials import Distinct, Groups, Key, Newest, Partial

TIME = "time"
NEWEST = "newest"
ROWS = "rows"
SECOND_NS = 10**9


class Language(StrEnum):
    """The language of a subquery."""

    FLUX = "flux"
    INFLUXQL = "influxql"


class Shape(StrEnum):
    """What the rows of a subquery's answer are."""

    PARTIALS = "partials"
    """Aggregates by group, a column for each."""
    SERIES = "series"
    """The number of rows of each combination of tags, from which tags are aggregated."""
    VALUES = "values"
    """Values of one column, the time or a text, from which it is aggregated."""
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
class Subquery:
    """One of the queries that answer a query together."""

    language: Language
    shape: Shape
    text: str
    partials: tuple[Partial, ...] = ()
    """The aggregates that follow from its answer."""
    name: str = ""
    """The name of its answer among several in Flux."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query and the subqueries that answer it together."""

    query: Query
    subqueries: tuple[Subquery, ...]

    @property
    def text(self) -> str:
        """The subqueries as they are sent."""
        return "\n".join(each.text for each in self.subqueries)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of an answer: columns, and values that all rows share; `time` is in nanoseconds."""

    count: int
    columns: Mapping[str, Sequence[Any]]
    shared: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Sequence[Any]:
        found = self.columns.get(name)
        return [self.shared.get(name)] * self.count if found is None else found


Rows: TypeAlias = Sequence[Sequence[Any]]
Answers: TypeAlias = Iterable[tuple[Subquery, Chunk]]


def label(partial: Partial) -> str:
    """Return the column of an answer that has a partial aggregate."""
    return Aggregate(*partial).label


def rows_of(plan: Plan, answers: Answers) -> Rows:
    """Return the rows that the query asks for."""
    query = plan.query
    match query:
        case AggregateQuery():
            return _aggregates(query, answers)
        case NewestQuery():
            return _newest(query, answers)
        case DistinctQuery():
            return _distinct(query, answers)
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
    """Return a tag's value in each row; an empty one is NULL, a number is stored as text."""
    convert: Callable[[str], Any] = _CONVERT.get(column.type, str)
    known: dict[str | None, Any] = {None: None, "": None}
    found = []
    for value in chunk[column.name]:
        if value not in known:
            known[value] = convert(value)
        found.append(known[value])
    return found


def unit_ns(table: Table) -> int:
    """Return the nanoseconds of the table's unit of time."""
    return SECOND_NS // table.time_unit.per_second


_CONVERT: dict[Type, Callable[[str], Any]] = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), int),
    **dict.fromkeys(FLOATS, float),
    Type.BOOL: lambda text: text == "t",
}

# --- aggregates ----------------------------------------------------------------------------------


def _aggregates(query: AggregateQuery, answers: Answers) -> Rows:
    groups = Groups(query)
    for subquery, chunk in answers:
        keys = _keys(query, chunk)
        groups.mention(keys)
        match subquery.shape:
            case Shape.PARTIALS:
                _add_partials(groups, subquery, keys, chunk)
            case Shape.SERIES:
                _add_series(groups, subquery, keys, chunk)
            case _:
                _add_values(groups, subquery, keys, chunk)
    table = query.table
    for name in groups.exceeding(2**63):
        if table.column(name).role not in (Role.TAG, Role.TIME):  # those are added up here
            raise RunError(f"integer overflow: the sum of {name} may exceed 64 bits")
    return groups.rows()


def _keys(query: AggregateQuery, chunk: Chunk) -> Sequence[Key]:
    """Return the group of each row of an answer."""
    columns = [tags(query.table.column(name), chunk) for name in query.by]
    if query.bucket is not None:
        width = query.bucket * unit_ns(query.table)
        columns.append([time // width * query.bucket for time in chunk[TIME]])
    return [*zip(*columns, strict=True)] if columns else [()] * chunk.count


def _add_partials(groups: Groups, subquery: Subquery, keys: Sequence[Key], chunk: Chunk) -> None:
    for partial in subquery.partials:
        for key, value in zip(keys, chunk[label(partial)], strict=True):
            groups.merge(key, partial, value)


def _add_series(groups: Groups, subquery: Subquery, keys: Sequence[Key], chunk: Chunk) -> None:
    """Add the aggregates of tags: each row is the count of the rows with these tags."""
    for name in dict.fromkeys(partial.column for partial in subquery.partials if partial.column):
        column = groups.query.table.column(name)
        for key, count, value in zip(keys, chunk[ROWS], tags(column, chunk), strict=True):
            if value is not None:
                groups.merge(key, Partial(Function.COUNT, name), count)
                groups.merge(key, Partial(Function.MIN, name), value)
                groups.merge(key, Partial(Function.MAX, name), value)
                if column.type is not Type.TEXT:
                    groups.merge(key, Partial(Function.SUM, name), value * count)


def _add_values(groups: Groups, subquery: Subquery, keys: Sequence[Key], chunk: Chunk) -> None:
    table = groups.query.table
    by_key: dict[Key, list[Any]] = defaultdict(list)
    for partial in subquery.partials:
        if partial.column is None:
            continue
        values = _column(table, table.column(partial.column), chunk)
        if not by_key and keys:
            for key, value in zip(keys, values, strict=True):
                by_key[key].append(value)
        for key, members in by_key.items():
            groups.merge_values(key, partial, members)


# --- newest rows and distinct rows ---------------------------------------------------------------


def _newest(query: NewestQuery, answers: Answers) -> Rows:
    table = query.table
    columns = [table.column(name) for name in (*query.tags, table.time.name, *query.columns)]
    newest = Newest()
    points: dict[Key, dict[str, tuple[int, Any]]] = {}
    for subquery, chunk in answers:
        if subquery.shape is Shape.POINTS:
            _add_points(table, chunk, points)
        else:
            newest.add(zip(*(_column(table, column, chunk) for column in columns), strict=True))
    for (_, *series), fields in points.items():
        time, _ = fields[NEWEST]
        newest.add([[_of_point(table, column, series, fields, time) for column in columns]])
    return newest.rows()


def _add_points(table: Table, chunk: Chunk, points: dict[Key, dict[str, tuple[int, Any]]]) -> None:
    """Add the newest value of each field; that of the whole row is the latest of them."""
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
    return value if when == time else None  # the newest row is later than this value: NULL


def _distinct(query: DistinctQuery, answers: Answers) -> Rows:
    """Return the number of rows, or of distinct instants and tags."""
    table = query.table
    every = {output.name: output for output in outputs(RowsQuery(table))}
    distinct = Distinct([every[name] for name in query.columns])
    count = 0
    for subquery, chunk in answers:
        if subquery.shape is Shape.COUNT:
            count += sum(chunk[ROWS])
        elif chunk.count:
            columns = [_column(table, table.column(name), chunk) for name in query.columns]
            distinct.add([*zip(*columns, strict=True)])
    ((different,),) = distinct.rows()
    return [(count + different,)]
