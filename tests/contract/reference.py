"""The right answers, computed row by row in plain Python, independent of the product code."""

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from simulator.data.block import Block
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Answer,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    outputs,
)


def rows_of(batches: Iterable[Block]) -> list[dict[str, Any]]:
    """The rows as Python values: int, float, str, bool or None."""
    rows = []
    for batch in batches:
        columns = [
            [_plain(data, index) for index in range(len(batch))] for data in batch.data.values()
        ]
        rows += [dict(zip(batch.data, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def _plain(data: Any, index: int) -> Any:
    if data.valid is not None and not data.valid[index]:
        return None
    value = data.values()[index].item()
    return value.decode() if isinstance(value, bytes) else value


def answer_of(query: Query, rows: list[dict[str, Any]]) -> Answer:
    match query:
        case RowsQuery():
            names = query.columns or tuple(column.name for column in query.table.columns)
            latest = sorted(_selected(query, rows), key=itemgetter(query.table.time.name))
            latest = latest[-query.newest :] if query.newest else latest
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


def _aggregated(query: AggregateQuery, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    time = query.table.time.name
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    if not query.by and query.bucket is None:
        groups[()] = []
    for row in sorted(_selected(query, rows), key=itemgetter(time)):
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
    time, chosen = query.table.time.name, query.selection
    since = -math.inf if chosen.since is None else chosen.since
    until = math.inf if chosen.until is None else chosen.until
    return [
        row
        for row in rows
        if since <= row[time] < until
        and all(row[one.column] in one.values for one in chosen.one_of)
        and all(
            row[c.column] is not None and _COMPARE[c.operator](row[c.column], c.value)
            for c in chosen.compared
        )
    ]


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
            return total / len(values)
        case Function.MIN:
            return min(values)
        case Function.MAX:
            return max(values)
