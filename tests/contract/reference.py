"""The right answers, computed row by row in plain Python, independent of the product code."""

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from simulator.data.answer import Answer
from simulator.data.block import Block
from simulator.data.derived import ConditionSpells, DerivedTable
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    outputs,
)
from simulator.data.schema import Role, Table


def rows_of(batches: Iterable[Block]) -> list[dict[str, Any]]:
    """The rows as Python values: int, float, str, bool or None."""
    rows = []
    for batch in batches:
        columns = map(_plain, batch.data.values())
        rows += [dict(zip(batch.data, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def _plain(data: Any) -> list[Any]:
    values = data.values().tolist()
    valid = [True] * len(values) if data.valid is None else data.valid
    return [
        (each.decode() if isinstance(each, bytes) else each) if is_valid else None
        for each, is_valid in zip(values, valid, strict=True)
    ]


def answer_of(query: Query, rows: list[dict[str, Any]]) -> Answer:
    """`rows` are those of the stored table."""
    rows = _read(query.table, rows)
    match query:
        case RowsQuery():
            names = query.columns or tuple(column.name for column in query.table.columns)
            latest = _selected(query, rows)
            if query.newest:
                latest.sort(key=itemgetter(query.table.time.name))
                latest = latest[-query.newest :]
            found = [tuple(row[name] for name in names) for row in latest]
        case DistinctQuery():
            found = [(len({tuple(row[c] for c in query.columns) for row in rows}),)]
        case NewestQuery():
            newest = {
                tuple(row[tag] for tag in query.tags): tuple(row[c] for c in query.columns)
                for row in sorted(_selected(query, rows), key=itemgetter(query.table.time.name))
            }
            found = [(*tags, *row) for tags, row in newest.items()]
        case AggregateQuery():
            found = _aggregated(query, rows)
    names = tuple(output.name for output in outputs(query))
    found.sort(key=lambda row: [(value is not None, value) for value in row])
    return Answer(names, tuple(found))


def _read(table: Table, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table: the stored ones, or those of an answer."""
    if isinstance(table, ConditionSpells):
        return _spells(table, _read(table.periods, rows))
    if not isinstance(table, DerivedTable):
        return rows
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in answer_of(table.source, rows).rows]


def _spells(table: ConditionSpells, periods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tags, time = [tag.name for tag in table.periods.tags], table.periods.time.name
    last: dict[tuple[Any, ...], bool] = {}
    running: dict[tuple[Any, ...], dict[str, Any]] = {}
    found = []
    for period in sorted(periods, key=itemgetter(time)):
        series = tuple(period[tag] for tag in tags)
        holds = _matches(table.holds, period)
        if holds and last.get(series) is False:
            running[series] = {**{c: period[c] for c in (*tags, time)}, table.length: None}
            found.append(running[series])
        elif not holds and series in running:
            spell = running.pop(series)
            spell[table.length] = period[time] - spell[time]
        last[series] = holds
    return found


def _aggregated(query: AggregateQuery, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    timed = query.table.with_role(Role.TIME)
    time = timed[0].name if timed else ""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    if not query.by and query.bucket is None:
        groups[()] = []
    for row in sorted(_selected(query, rows), key=lambda row: row.get(time, 0)):
        start = () if query.bucket is None else (row[time] // query.bucket * query.bucket,)
        groups[*(row[tag] for tag in query.by), *start].append(row)
    if query.newest:
        groups = {group: groups[group] for group in sorted(groups)[-query.newest :]}
    return [
        (*group, *(_aggregate(aggregate, members) for aggregate in query.aggregates))
        for group, members in groups.items()
    ]


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


def _selected(
    query: AggregateQuery | NewestQuery | RowsQuery, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    chosen = query.selection
    since = -math.inf if chosen.since is None else chosen.since
    timed = chosen.since is not None or chosen.until is not None
    until = math.inf if chosen.until is None else chosen.until
    return [
        row
        for row in rows
        if (not timed or since <= row[query.table.time.name] < until)
        and all(row[one.column] in one.values for one in chosen.one_of)
        and all(_matches(compared, row) for compared in chosen.compared)
    ]


def _matches(compared: Condition, row: dict[str, Any]) -> bool:
    value = row[compared.column]
    if compared.divisor and value is not None:
        value = value / row[compared.divisor] if row[compared.divisor] else None
    return value is not None and _COMPARE[compared.operator](value, compared.value)


def _aggregate(aggregate: Aggregate, rows: list[dict[str, Any]]) -> Any:
    if aggregate.column is None:
        return len(rows)
    values = [row[aggregate.column] for row in rows if row[aggregate.column] is not None]
    if aggregate.function is Function.COUNT:
        return len(values)
    if not values:
        return None
    if aggregate.function in ENDS:
        return values[0 if aggregate.function is Function.FIRST else -1]
    if isinstance(values[0], str):
        return (min if aggregate.function is Function.MIN else max)(values, key=str.encode)
    total = math.fsum(values) if isinstance(values[0], float) else sum(values)
    match aggregate.function:
        case Function.SUM:
            return total
        case Function.AVG:
            return float(total) / len(values)  # a sum of integers is rounded first
        case Function.MIN:
            return min(values)
        case Function.MAX:
            return max(values)
