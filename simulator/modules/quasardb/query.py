"""Queries in QuasarDB's SQL, one statement for each physical table, and answers as columns.

https://doc.quasar.ai/master/queries/: the server returns partial aggregates of each table, and the
session merges them. A mean comes from a sum and a count, which are exact.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from simulator.data.answer import in_units
from simulator.data.block import Array
from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    NewestQuery,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Role, Table, TimeUnit
from simulator.modules.contract import Unsupported
from simulator.modules.shared import names
from simulator.modules.shared.client.partials import Collected, Combiner, Key, Merged, Partial, Row
from simulator.modules.shared.client.planned import Fetch, PlannedQuery
from simulator.modules.shared.metrics.rollups import Rollup, newest_rollups, partial_of, rollups

TIME = "$timestamp"
"""The column of every table: nanoseconds in 64 bits."""
_UNDOCUMENTED = re.compile(r"^[0-9]|[^A-Za-z0-9_]")
_FIRST_NS, _LAST_NS = -(2**63) + 1, 2**63 - 1


def render(query: Query) -> PlannedQuery:
    """Return a query as one statement for each physical table; its parameter is the query."""
    combiner: Callable[[], Combiner] = Collected
    match query:
        case AggregateQuery():
            wanted, combiner = _list_rollups(query), partial(Merged, query)
            read = partial(_read_partials, query, wanted)
            fetches = [Fetch(line, read) for line in _render_aggregates(query, wanted)]
        case NewestQuery(table=table):
            wanted = newest_rollups(query)
            if not wanted:
                raise Unsupported("the newest row is read column by column, of one table and tag")
            groups = AggregateQuery(table, (), by=query.tags, selection=query.selection)
            fetches = [Fetch(line) for line in _render_aggregates(groups, wanted)]
        case RowsQuery():
            fetches = [Fetch(line, partial(_read_rows, query)) for line in _render_rows(query)]
        case DistinctQuery():
            raise Unsupported("distinct_count is of one column")
    return PlannedQuery.of(query, fetches, combiner, parameters=(query,))


def _render_rows(query: RowsQuery) -> Iterator[str]:
    table, newest = query.table, ""
    if query.newest is not None:
        if table.parts > 1:
            raise Unsupported("the newest rows are those of one table")
        newest = f" ORDER BY {TIME} DESC LIMIT {query.newest}"
    columns = ", ".join(TIME if c == table.time else name(c.name) for c in query.read)
    for each in table.names:
        yield f"SELECT {columns} FROM {name(each)}{_select(table, query.selection)}{newest}"


def _list_rollups(query: AggregateQuery) -> list[Rollup]:
    if query.bucket is not None:
        raise Unsupported("where the intervals of GROUP BY begin is not documented")
    table = query.table
    for aggregate in query.aggregates:
        column = table.column(aggregate.column) if aggregate.column else None
        if column and column.role in (Role.TIME, Role.TAG):
            raise Unsupported(f"min and max are of numbers, and {column.name} is a {column.role}")
    return rollups(query)


def _render_aggregates(query: AggregateQuery, wanted: Sequence[Rollup]) -> Iterator[str]:
    by = [name(tag) for tag in query.by]
    columns = ", ".join([*by, *(f"{each.function}({name(each.column)})" for each in wanted)])
    behind = _select(query.table, query.selection) + (f" GROUP BY {', '.join(by)}" if by else "")
    for table in query.table.names:
        yield f"SELECT {columns} FROM {name(table)}{behind}"


def _select(table: Table, selection: Selection) -> str:
    """Return the range of time and the conditions, for the text behind a table's name."""
    conditions = []
    for one in selection.one_of:
        equal = [f"{name(one.column)} = {_quote(value)}" for value in one.values]
        conditions.append(equal[0] if len(equal) == 1 else f"({' OR '.join(equal)})")
    for compared in selection.compared:
        if table.column(compared.column).nullable:
            raise Unsupported("how comparisons treat NULL is not documented")
        conditions.append(f"{name(compared.column)} {compared.operator} {compared.value}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return _range(table, selection) + where


def _range(table: Table, selection: Selection) -> str:
    if not selection.limits:
        return ""
    since, until = (
        end if limit is None else nanoseconds(limit, table.time_unit)
        for limit, end in ((selection.since, _FIRST_NS), (selection.until, _LAST_NS))
    )
    return f" IN RANGE({_format_instant(since)}, {_format_instant(until)})"


def nanoseconds(instant: int, unit: TimeUnit) -> int:
    """Return an instant in nanoseconds, within the range of 64 bits."""
    return min(max(instant * (10**9 // unit.per_second), _FIRST_NS), _LAST_NS)


def _format_instant(instant_ns: int) -> str:
    return f"{np.datetime64(instant_ns, 'ns')}Z"


def name(identifier: str) -> str:
    """Return a quoted name."""
    return f'"{identifier}"'


def check_names(tables: Sequence[Table]) -> None:
    """Raise UnstorableError with every name that the vendor's documentation does not allow."""
    names.check_names("QuasarDB", tables, _UNDOCUMENTED, _UNDOCUMENTED)


def _quote(value: str) -> str:
    if not value.isprintable() or any(mark in value for mark in "'\\"):
        raise Unsupported(f"how to write {value!r} in a statement is not documented")
    return f"'{value}'"


# --- answers -------------------------------------------------------------------------------------


def _read_partials(
    query: AggregateQuery, wanted: Sequence[Rollup], rows: Sequence[Row]
) -> list[tuple[Key, Partial, Any]]:
    keys = len(query.by)
    return [
        (tuple(row[:keys]), *partial_of(query.table, rollup, value))
        for row in rows
        for rollup, value in zip(wanted, row[keys:], strict=True)
        if value is not None
    ]


def _read_rows(query: RowsQuery, columns: Sequence[Array]) -> list[Row]:
    """Return the rows of columns, with their times in the table's unit."""
    factor = 10**9 // query.table.time_unit.per_second
    values = [column.tolist() for column in columns]
    for place, column in enumerate(query.read):
        if column == query.table.time:
            times = columns[place].astype("datetime64[ns]").astype(np.int64).tolist()
            values[place] = [in_units(time, factor) for time in times]
    return list(zip(*values, strict=True))
