"""The right answers, computed row by row in plain Python, independent of the product code."""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from simulator.data.block import Block
from simulator.data.query import (
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
            found = [tuple(row[c.name] for c in query.table.columns) for row in rows]
        case DistinctQuery():
            found = [(len({tuple(row[c] for c in query.columns) for row in rows}),)]
        case NewestQuery():
            newest: dict[Any, dict[str, Any]] = {}
            for row in sorted(rows, key=lambda row: row[query.table.time.name]):
                newest[row[query.tag]] = row
            found = [tuple(row[c] for c in (query.tag, *query.columns)) for row in newest.values()]
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
    for row in rows:
        if any(row[tag] != value for tag, value in query.where):
            continue
        if query.since is not None and row[time] < query.since:
            continue
        if query.until is not None and row[time] >= query.until:
            continue
        start = () if query.bucket is None else (row[time] // query.bucket * query.bucket,)
        groups[*(row[tag] for tag in query.by), *start].append(row)
    return [
        (*group, *(_aggregate(aggregate, members) for aggregate in query.aggregates))
        for group, members in groups.items()
    ]


def _aggregate(aggregate: Aggregate, rows: list[dict[str, Any]]) -> Any:
    if aggregate.column is None:
        return len(rows)
    values = [row[aggregate.column] for row in rows if row[aggregate.column] is not None]
    if aggregate.function is Function.COUNT:
        return len(values)
    if not values:
        return None
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
