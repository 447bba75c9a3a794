"""The logical queries as aggregation pipelines, in the words of the command `aggregate`.

https://www.mongodb.com/docs/manual/reference/operator/aggregation/. What keeps them exact: an
integer is summed as one ($sum of int64 stays int64 until it overflows, which the session finds);
floats on a grid add up without rounding; a mean is that sum by the count, as $avg has it.
"""

import json
from collections.abc import Sequence
from typing import Any, assert_never

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Output,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import Table, Type
from simulator.modules.mongodb.documents import Documents, Format

Stage = dict[str, Any]


def render(query: Query, layout: Format) -> Statement:
    """Return a query as the command that answers it."""
    table, documents = query.table, Documents(query.table, layout)
    conditions: list[Stage] = []
    if isinstance(query, AggregateQuery):
        conditions = [*documents.where(query.where), *documents.between(query.since, query.until)]
    pipeline = [*_rows_of(table, conditions), *_stages(query, documents)]
    command = {"aggregate": table.names[0], "pipeline": pipeline, "allowDiskUse": True}
    return Statement(json.dumps(command, ensure_ascii=False), outputs(query))


def names_of(columns: Sequence[Output]) -> list[str]:
    """Return the fields of an answer's documents: the columns' names, each made unique."""
    names: list[str] = []
    for column in columns:
        name = column.name
        while name in names:
            name += "_"
        names.append(name)
    return names


def _rows_of(table: Table, conditions: Sequence[Stage]) -> list[Stage]:
    """Return what selects the rows, out of all parts of the table."""
    match: list[Stage] = [{"$match": {"$and": list(conditions)}}] if conditions else []
    others = ({"coll": name, "pipeline": match} for name in table.names[1:])
    return [*match, *({"$unionWith": other} for other in others)]


def _stages(query: Query, documents: Documents) -> list[Stage]:
    match query:
        case AggregateQuery():
            return _aggregates(query, documents)
        case NewestQuery(tag=tag, columns=columns):
            tag_name, *names = names_of(outputs(query))
            newest = dict(zip(names, map(documents.value, columns), strict=True))
            top = {"sortBy": {query.table.time.name: -1}, "output": newest}
            group = {"_id": documents.value(tag), "newest": {"$top": top}}
            shown = {name: f"$newest.{name}" for name in names}
            return [{"$group": group}, {"$project": {"_id": 0, tag_name: "$_id", **shown}}]
        case DistinctQuery(columns=columns):
            combination = {name: documents.value(name) for name in columns}
            return [{"$group": {"_id": combination}}, {"$count": "count"}]
        case RowsQuery(table=table):
            shown = {column.name: documents.value(column.name) for column in table.columns}
            return [{"$project": {"_id": 0, **shown}}]
        case _:
            assert_never(query)


def _aggregates(query: AggregateQuery, documents: Documents) -> list[Stage]:
    table, names = query.table, names_of(outputs(query))
    groups: dict[str, Any] = {tag: documents.value(tag) for tag in query.by}
    if query.bucket is not None:
        groups["bucket"] = _bucket(documents.value(table.time.name), query.bucket)
    keys, results = names[: len(groups)], names[len(groups) :]
    groups = dict(zip(keys, groups.values(), strict=True))
    accumulated: dict[str, Any] = {}
    shown: dict[str, Any] = {name: f"$_id.{name}" for name in keys}
    for name, aggregate in zip(results, query.aggregates, strict=True):
        accumulated[name] = _accumulator(aggregate, table, documents)
        shown[name] = 1
        if aggregate.function is Function.SUM and table.column(str(aggregate.column)).nullable:
            # $sum of nothing is 0, where an answer has NULL.
            counted = f"{name} counted"
            count = Aggregate(Function.COUNT, aggregate.column)
            accumulated[counted] = _accumulator(count, table, documents)
            shown[name] = {"$cond": [{"$eq": [f"${counted}", 0]}, None, f"${name}"]}
    group = {"_id": groups or None, **accumulated}
    return [{"$group": group}, {"$project": {"_id": 0, **shown}}]


def _bucket(time: Any, width: int) -> Any:
    """Return the bucket's start. $mod has the sign of the dividend."""
    positive = {"$mod": [{"$add": [{"$mod": [time, width]}, width]}, width]}
    return {"$subtract": [time, positive]}


def _accumulator(aggregate: Aggregate, table: Table, documents: Documents) -> Any:
    if aggregate.column is None:
        return {"$sum": 1}
    column = table.column(aggregate.column)
    value = documents.value(column.name)
    match aggregate.function:
        case Function.COUNT:
            # Null, and a field that is missing, come before every value.
            return {"$sum": {"$cond": [{"$gt": [value, None]}, 1, 0]} if column.nullable else 1}
        case Function.SUM | Function.AVG:
            number = {"$toInt": value} if column.type is Type.BOOL else value
            return {f"${aggregate.function}": number}
        case Function.MIN | Function.MAX:
            return {f"${aggregate.function}": value}
    assert_never(aggregate.function)
