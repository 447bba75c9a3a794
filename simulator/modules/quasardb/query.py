"""Queries in QuasarDB's SQL, one statement for each physical table, and answers as columns.

https://doc.quasar.ai/master/queries/: the server returns partial aggregates of each table, which
the session merges; a mean is a sum and a count, which are exact.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    NewestQuery,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import Role, Table, TimeUnit
from simulator.errors import RunError
from simulator.modules.base import Unsupported
from simulator.modules.shared import sql
from simulator.modules.shared.metrics.rollups import Rollup, combined, newest_rollups, rollups

TIME = "$timestamp"
"""The column of every table: nanoseconds in 64 bits."""
_UNDOCUMENTED = re.compile(r"^[0-9]|[^A-Za-z0-9_]")
_FIRST_NS, _LAST_NS = -(2**63) + 1, 2**63 - 1


def render(query: Query) -> Statement:
    """Return a query as one statement per line; the parameter is the query itself."""
    match query:
        case AggregateQuery():
            partial, wanted = query, aggregate_parts(query)
        case NewestQuery(table=table):
            wanted = newest_rollups(query)
            if not wanted:
                raise Unsupported("the newest row is read column by column, of one table and tag")
            partial = AggregateQuery(table, (), by=query.tags)
        case RowsQuery(table=table):
            columns = ", ".join(TIME if c is table.time else name(c.name) for c in table.columns)
            lines = [f"SELECT {columns} FROM {name(each)}" for each in table.names]
            return Statement("\n".join(lines), outputs(query), (query,))
        case DistinctQuery():
            raise Unsupported("distinct_count is of one column")
    lines = [_aggregates(partial, wanted, each) for each in query.table.names]
    return Statement("\n".join(lines), outputs(query), (query,))


def aggregate_parts(query: AggregateQuery) -> list[Rollup]:
    """Return the partial aggregates that a query needs."""
    if query.bucket is not None:
        raise Unsupported("where the intervals of GROUP BY begin is not documented")
    table = query.table
    for aggregate in query.aggregates:
        column = table.column(aggregate.column) if aggregate.column else None
        if column and column.role in (Role.TIME, Role.TAG):
            raise Unsupported(f"min and max are of numbers, and {column.name} is a {column.role}")
    return rollups(query)


def _aggregates(query: AggregateQuery, wanted: Sequence[Rollup], table: str) -> str:
    by = [name(tag) for tag in query.by]
    columns = ", ".join([*by, *(f"{each.function}({name(each.column)})" for each in wanted)])
    text = f"SELECT {columns} FROM {name(table)}{_range(query)}"
    if query.selection.equal:
        conditions = (f"{name(t)} = {_text(v)}" for t, v in query.selection.equal)
        text += f" WHERE {' AND '.join(conditions)}"
    return f"{text} GROUP BY {', '.join(by)}" if by else text


def _range(query: AggregateQuery) -> str:
    if query.selection.since is None and query.selection.until is None:
        return ""
    unit = query.table.time_unit
    since = _FIRST_NS if query.selection.since is None else nanoseconds(query.selection.since, unit)
    until = _LAST_NS if query.selection.until is None else nanoseconds(query.selection.until, unit)
    return f" IN RANGE({_instant(since)}, {_instant(until)})"


def nanoseconds(instant: int, unit: TimeUnit) -> int:
    """Return an instant in nanoseconds, within the range of 64 bits."""
    return min(max(instant * (10**9 // unit.per_second), _FIRST_NS), _LAST_NS)


def _instant(instant_ns: int) -> str:
    return f"{np.datetime64(instant_ns, 'ns')}Z"


def name(identifier: str) -> str:
    """Return a quoted name."""
    return f'"{identifier}"'


def check_names(tables: Sequence[Table]) -> None:
    """Raise UnstorableError with every name that is not of the form that the vendor documents."""
    sql.check_names("QuasarDB", tables, _UNDOCUMENTED, _UNDOCUMENTED)


def _text(value: str) -> str:
    if not value.isprintable() or any(mark in value for mark in "'\\"):
        raise Unsupported(f"how to write {value!r} in a statement is not documented")
    return f"'{value}'"


# --- answers -------------------------------------------------------------------------------------


def answered(
    query: AggregateQuery, wanted: Sequence[Rollup], rows: Iterable[Sequence[Any]]
) -> Sequence[Sequence[Any]]:
    """Return the answer from the rows of all statements; RunError if a sum may have overflowed."""
    keys = len(query.by)
    groups = combined(
        query,
        (
            (rollup, tuple(row[:keys]), value)
            for row in rows
            for rollup, value in zip(wanted, row[keys:], strict=True)
            if value is not None
        ),
    )
    for column in groups.exceeding(2**63):
        raise RunError(f"quasardb: sum({column}) may overflow 64 bits; query fewer rows")
    return groups.rows()


def instants(table: Table, values: Iterable[int]) -> list[int]:
    """Return nanoseconds in the table's unit."""
    factor = 10**9 // table.time_unit.per_second
    return [value // factor for value in values]
