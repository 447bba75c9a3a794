"""Logical queries as SQL in any dialect. Pure."""

from dataclasses import replace
from typing import assert_never

from simulator.data.derived import ConditionSpells, DerivedTable, below
from simulator.data.query import (
    ENDS,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Table, Type
from simulator.modules.shared.sql.language import Dialect, Select


def render(dialect: Dialect, query: Query) -> Statement:
    """Return a query as SQL, in the dialect of the stored table that it reads."""
    ticks = dialect.ticks_per_unit
    columns = (
        replace(each, ticks=ticks) if each.type is Type.TIMESTAMP else each
        for each in outputs(query)
    )
    return Statement(_select(dialect, query).text(), tuple(columns))


def _select(stored: Dialect, query: Query) -> Select:
    """Return a query over a table or over the answer to another query."""
    table, rows = query.table, from_operand(stored, query.table)
    dialect = stored if below(table) is None else stored.of_answers()
    if isinstance(query, DistinctQuery):
        combinations = f"SELECT DISTINCT {dialect.names(query.columns)} FROM {rows}"
        return Select(("count(*)",), f"({combinations}) AS combinations")
    chosen = conditions(dialect, table, query.selection)
    rows += f" WHERE {' AND '.join(chosen)}" if chosen else ""
    match query:
        case AggregateQuery():
            return _select_aggregates(dialect, query, rows)
        case NewestQuery():
            return dialect.newest(query, rows)
        case RowsQuery() if query.hashed:
            return dialect.hash_rows(table, rows)
        case RowsQuery():
            if query.newest is not None:
                rows += f" ORDER BY {dialect.name(table.time.name)} DESC LIMIT {query.newest}"
            return Select(tuple(map(dialect.read, query.read)), rows)
        case _:
            assert_never(query)


def from_operand(dialect: Dialect, table: Table) -> str:
    """Return the operand of FROM: the table, the union of its parts, or another query."""
    match table:
        case DerivedTable():
            return f"({_render_source(dialect, table)}) AS {dialect.name(table.name)}"
        case ConditionSpells():
            return f"({_render_spells(dialect, table)}) AS {dialect.name(table.name)}"
    if table.parts == 1:
        return dialect.name(table.name)
    parts = " UNION ALL ".join(f"SELECT * FROM {dialect.name(name)}" for name in table.names)
    return f"({parts}) AS {dialect.name(table.name)}"


def _render_source(stored: Dialect, table: DerivedTable) -> str:
    """Return the query that yields the rows of a table, with the table's names of columns."""
    names = map(stored.of_answers().name, (column.name for column in table.columns))
    return _select(stored.of_units(), table.source).text([*names])


def _render_spells(stored: Dialect, table: ConditionSpells) -> str:
    """Return the query for the spells of a condition: from each change of its state to the next."""
    periods, dialect = table.periods, stored.of_answers()
    tags, start = [dialect.name(tag.name) for tag in periods.tags], dialect.name(periods.time.name)
    state, earlier, end = (
        dialect.name(table.find_unused(alias)) for alias in ("state", "earlier", "following")
    )
    (condition,) = conditions(dialect, periods, Selection(compared=(table.holds,)))
    columns = ", ".join((*tags, start))
    window = f"PARTITION BY {', '.join(tags)} ORDER BY {start}" if tags else f"ORDER BY {start}"
    states = (
        f"SELECT {columns}, CASE WHEN {condition} THEN 1 ELSE 0 END AS {state} "
        f"FROM {from_operand(stored, periods)}"
    )
    compared = f"{dialect.beside(state, window, following=False)} AS {earlier}"
    # One of two states is 1 where it changes. To QuestDB, every number also differs from NULL.
    changes = (
        f"SELECT {columns}, {state}, {dialect.beside(start, window, following=True)} AS {end} "
        f"FROM (SELECT {columns}, {state}, {compared} FROM ({states}) AS states) AS compared "
        f"WHERE {state} + {earlier} = 1"
    )
    length = dialect.name(table.length)
    return (
        f"SELECT {columns}, {end} - {start} AS {length} FROM ({changes}) AS changes "
        f"WHERE {state} = 1"
    )


def conditions(dialect: Dialect, table: Table, selection: Selection) -> list[str]:
    """Return the conditions of a selection."""
    found = []
    for one in selection.one_of:
        name, values = dialect.name(one.column), ", ".join(map(dialect.text, one.values))
        found.append(f"{name} IN ({values})" if len(one.values) > 1 else f"{name} = {values}")
    found += [
        f"{_operand(dialect, table, compared)} {compared.operator} {compared.value}"
        for compared in selection.compared
    ]
    for operator, limit in selection.limits:
        is_instant = table.time.type is Type.TIMESTAMP
        literal = dialect.instant(limit, table.time_unit) if is_instant else str(limit)
        found.append(f"{dialect.name(table.time.name)} {operator} {literal}")
    return found


def _operand(dialect: Dialect, table: Table, compared: Condition) -> str:
    """Return the expression to compare: a column, or its quotient by another one."""
    column = table.column(compared.column)
    if compared.divisor is None:
        return dialect.operand(column, compared.value)
    divisor = f"nullif({dialect.name(compared.divisor)}, 0)"
    return dialect.mean(dialect.name(column.name), divisor)


def _select_aggregates(dialect: Dialect, query: AggregateQuery, rows: str) -> Select:
    table = query.table
    chosen = [dialect.name(tag) for tag in query.by]
    groups = list(chosen)
    rows = _add_ends(dialect, query, rows)
    if query.bucket is not None:
        start = dialect.bucket(table, query.bucket)
        chosen.append(start)
        groups.append(dialect.group(len(chosen), start))
    chosen += [dialect.aggregate(table, aggregate) for aggregate in query.aggregates]
    if groups:
        rows += f" GROUP BY {', '.join(groups)}"
    if query.newest is not None:
        rows += f" ORDER BY {groups[0]} DESC LIMIT {query.newest}"
    return Select(tuple(chosen), rows)


def _add_ends(dialect: Dialect, query: AggregateQuery, rows: str) -> str:
    """Return the rows, each with the first and last values of its group.

    Only values that the dialect cannot aggregate are added.
    """
    table = query.table
    ends = [a for a in dict.fromkeys(query.aggregates) if a.function in ENDS and a.column]
    if not ends:
        return rows
    time = dialect.name(table.time.name)
    groups = [dialect.name(tag) for tag in query.by]
    if query.bucket is not None:
        groups.append(dialect.bucket(table, query.bucket))
    partition = f"PARTITION BY {', '.join(groups)} " if groups else ""
    windows = []
    for end in ends:
        column, last = table.column(end.column or ""), end.function is Function.LAST
        if dialect.end(column, time, last=last) is None:
            name, order = dialect.name(column.name), f"{time} DESC" if last else time
            window = f"({partition}ORDER BY {name} IS NULL, {order})"
            windows.append(f"first_value({name}) OVER {window} AS {dialect.name_end(table, end)}")
    if not windows:
        return dialect.chronological(rows, table)
    return f"(SELECT *, {', '.join(windows)} FROM {rows}) AS ends"
