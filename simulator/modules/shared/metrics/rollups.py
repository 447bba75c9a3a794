"""Aggregates of rows from rollups: one number for each group of points of one field.

Databases of metrics aggregate one field at a time, in doubles. `rollups` returns what to ask for,
`combined` merges the numbers that come back, and `doubtful` names the columns for which doubles may
not have been precise enough.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.schema import FLOAT64_EXACT, FLOATS, Column, Role, Table, Type
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, counted, fields
from simulator.modules.shared.partials import ROWS, Groups, Key, Partial

LAST = "last"
"""The function of a rollup that is the value of the newest point."""


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
        return (Partial(function, column.name) if column.nullable else ROWS), int(value)
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
        if any(series.tags[places[tag]] != value for tag, value in query.where):
            continue
        tags = tuple(series.tags[places[tag]] for tag in query.by)
        for instant, value in series.points:
            if query.since is not None and instant < query.since:
                continue
            if query.until is not None and instant >= query.until:
                continue
            bucket = () if not query.bucket else (instant // query.bucket * query.bucket,)
            values[*tags, *bucket].append(value)
    functions = [Function.SUM, Function.MIN, Function.MAX]
    if column.nullable:  # else rows are counted, and not by this column alone
        functions.append(Function.COUNT)
    for key, members in values.items():
        for function in functions:
            groups.merge_values(key, Partial(function, column.name), members)
