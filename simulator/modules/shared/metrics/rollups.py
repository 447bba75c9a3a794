"""Aggregates of rows from rollups: one number for each group of points of one field.

Databases of metrics aggregate one field at a time, in doubles. `rollups` returns what to ask for,
`combined` merges the numbers that come back, and `doubtful` names the columns for which doubles may
not have been precise enough.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
)
from simulator.data.schema import FLOAT64_EXACT, FLOATS, Column, Role, Table, Type
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, counted, fields
from simulator.modules.shared.partials import ROWS, Groups, Key, Partial

LAST = "last"
"""The function of a rollup that is the value of the newest point."""
COUNT_ROWS = (Aggregate(Function.COUNT),)


@dataclass(frozen=True, slots=True)
class Rollup:
    """A number that the database computes from one field's points, for each group of `by`."""

    column: str
    function: str
    """An aggregate function, or LAST."""
    by: tuple[str, ...] = ()


RolledUp: TypeAlias = Iterable[tuple[Rollup, Key, Any]]
"""What a database returned: numbers by group, one or several (of series, of tables) for each."""


def rollups(query: AggregateQuery) -> list[Rollup]:
    """Return the rollups that answer a query; Unsupported if none do."""
    table = query.table
    rows = Rollup(_counted(table).name, Function.COUNT, query.by)
    wanted: list[Rollup] = []
    for aggregate in query.aggregates:
        wanted += _rollups_of(query, aggregate, rows)
    # A group whose values are all NULL has no points of those fields, and is a group all the same.
    if (query.by or query.bucket) and all(table.column(r.column).nullable for r in wanted):
        wanted.append(rows)
    return list(dict.fromkeys(wanted))


def _counted(table: Table) -> Column:
    column = counted(table)
    if column is None:
        raise Unsupported(f"{table.name} has no numeric field without NULLs, to count rows by")
    return column


def _rollups_of(query: AggregateQuery, aggregate: Aggregate, rows: Rollup) -> list[Rollup]:
    function = aggregate.function
    column = query.table.column(aggregate.column) if aggregate.column else None
    if column is None or (function is Function.COUNT and not column.nullable):
        return [rows]
    if column.role in (Role.TIME, Role.TAG):
        is_count = column.role is Role.TAG and function is Function.COUNT
        if not is_count and function not in (Function.MIN, Function.MAX):
            raise Unsupported(f"a {column.role} is not a number and has no {function}")
        if column.role is Role.TAG:
            return [Rollup(rows.column, Function.COUNT, (*query.by, column.name))]
        if query != AggregateQuery(query.table, query.aggregates):
            raise Unsupported("the first and the last time are known for all rows only")
        return [rows]
    if column.type is Type.TEXT:
        raise Unsupported("text fields cannot be stored")
    functions = [function]
    if function in (Function.AVG, Function.SUM):
        functions = [Function.SUM, Function.COUNT]
        if column.type not in FLOATS:  # the extremes show whether doubles can hold the sum
            functions += [Function.MIN, Function.MAX]
    # One count of rows: `combined` would add up those of several columns without NULLs.
    shared = () if column.nullable else (Function.COUNT,)
    return [rows if each in shared else Rollup(column.name, each, query.by) for each in functions]


def by_hour(table: Table, by: tuple[str, ...] = ()) -> AggregateQuery:
    """Return the query for the count of rows of each hour."""
    return AggregateQuery(table, COUNT_ROWS, by=by, bucket=3600 * table.time_unit.per_second)


def newest_rollups(query: NewestQuery) -> list[Rollup]:
    """Return the rollups that are the newest rows, if a tag's rows are one series without NULLs."""
    table = query.table
    columns = [table.column(name) for name in query.columns]
    one_series = [tag.name for tag in table.tags] == [*query.tags] and table.parts == 1
    if not one_series or any(c.nullable or c not in fields(table) for c in columns):
        return []
    return [Rollup(column.name, LAST, query.tags) for column in columns]


def is_key(query: DistinctQuery) -> bool:
    """Return whether the columns identify a row: two rows with the same tags and time are one."""
    identity = {c.name for c in query.table.columns if c.role in (Role.TAG, Role.TIME)}
    return identity <= set(query.columns)


def plan(query: Query, *, unique: bool = True) -> tuple[AggregateQuery, list[Rollup]] | None:
    """Return the rollups that a statement asks for, and the query they answer; None for all points.

    Some queries need more: a session then reads the points of the hours that have rows. `unique`:
    the database keeps one point for each series and instant.
    """
    match query:
        case AggregateQuery():
            asked = query
        case NewestQuery(table=table):
            if last := newest_rollups(query):
                return AggregateQuery(table, (), by=query.tags), last
            asked = by_hour(table, query.tags)
        case DistinctQuery(table=table):
            if table.time.name not in query.columns:
                raise Unsupported("only combinations with the time can be counted")
            keys = unique and is_key(query)
            asked = AggregateQuery(table, COUNT_ROWS) if keys else by_hour(table)
        case RowsQuery():
            return None
        case _:
            assert_never(query)
    return asked, rollups(asked)


def combined(query: AggregateQuery, found: RolledUp) -> Groups:
    """Return the query's groups, merged from rollups."""
    groups = Groups(query)
    for rollup, key, value in found:
        if rollup.by == query.by:
            groups.merge(key, *_partial(query.table, rollup, value))
        else:
            _merge_tag(groups, rollup, key, int(value))
    return groups


def _partial(table: Table, rollup: Rollup, value: Any) -> tuple[Partial, Any]:
    function, column = Function(rollup.function), table.column(rollup.column)
    if function is Function.COUNT:
        return (ROWS if column == counted(table) else Partial(function, column.name)), int(value)
    if function is Function.SUM and column.type not in FLOATS:
        value = int(value)
    return Partial(function, column.name), value


def _merge_tag(groups: Groups, rollup: Rollup, key: Key, count: int) -> None:
    """Merge the number of rows that have a tag's value; the tag stands behind the groups' own."""
    place = len(groups.query.by)
    group, value = key[:place] + key[place + 1 :], key[place]
    groups.mention([group])
    if value is not None:
        tag = rollup.by[place]
        groups.merge(group, Partial(Function.COUNT, tag), count)
        groups.merge(group, Partial(Function.MIN, tag), value)
        groups.merge(group, Partial(Function.MAX, tag), value)


def doubtful(groups: Groups) -> list[Column]:
    """Return the columns of integers whose aggregates may exceed what doubles hold exactly."""
    sums = groups.exceeding(FLOAT64_EXACT)
    return [
        column
        for column in fields(groups.query.table)
        if column.type not in FLOATS and (column.name in sums or _has_large(groups, column))
    ]


def _has_large(groups: Groups, column: Column) -> bool:
    ends = (Partial(function, column.name) for function in (Function.MIN, Function.MAX))
    return any(abs(value) >= FLOAT64_EXACT for end in ends for value in groups.values(end))


def merge_points(groups: Groups, column: Column, found: Iterable[Series]) -> None:
    """Add the aggregates of a column, computed here from its points."""
    query, table = groups.query, groups.query.table
    places = {tag.name: place for place, tag in enumerate(table.tags)}
    values: dict[Key, list[Any]] = defaultdict(list)
    for series in found:
        if any(series.tags[places[tag]] != value for tag, value in query.selection.equal):
            continue
        tags = tuple(series.tags[places[tag]] for tag in query.by)
        for instant, value in series.points:
            if query.selection.since is not None and instant < query.selection.since:
                continue
            if query.selection.until is not None and instant >= query.selection.until:
                continue
            bucket = () if not query.bucket else (instant // query.bucket * query.bucket,)
            values[*tags, *bucket].append(value)
    functions = [Function.SUM, Function.MIN, Function.MAX]
    if column != counted(table):  # whose count is that of rows, and has not been dropped
        functions.append(Function.COUNT)
    for key, members in values.items():
        for function in functions:
            groups.merge_values(key, Partial(function, column.name), members)
