"""Queries as searches of Elasticsearch and OpenSearch, and their replies as rows.

A statement is written as for a console: `POST /index/_search` and, below it, the body. Groups come
from a `composite` aggregation, which is exact and paged; `terms` is approximate and limited. Values
of a reply are found by name: an aggregation has the name of the answer's column, and `stats` named
x gives sum_x, avg_x, min_x, max_x and count_x.

Aggregations calculate in doubles, which hold integers up to 2**53. Where a reply shows that this
was not enough, `correct` runs an exact search: extremes by sorting, sums by finer groups.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never
from urllib.parse import quote

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
from simulator.data.schema import FLOAT64_EXACT, FLOATS, ID, Column, Role, Table, TimeUnit, Type
from simulator.errors import RunError
from simulator.modules.base import Unsupported
from simulator.modules.shared.names import storable

Body: TypeAlias = dict[str, Any]
Known: TypeAlias = dict[str, Any]
"""One group of a reply: name -> value."""
Row: TypeAlias = tuple[Any, ...]
Ask: TypeAlias = Callable[[str], list[Known]]

PAGE = 10_000
"""Groups or rows per reply; the maximum of both servers."""

_PARTS = 4096
_NULL = (None,)
_SEARCH = "request_cache=false&allow_partial_search_results=false"
"""The second run of a query must not be cached, and a partial answer is an error."""

KEEP = "5m"
"""How long the server keeps a snapshot between two portions."""
ROWS = "filter_path=error,_scroll_id,hits.hits._id,hits.hits.fields"


def index_name(table: str) -> str:
    """Return the index of a physical table."""
    return storable(table, "a-z0-9_.-", "-_.", lower=True)


def indices(tables: Iterable[str]) -> str:
    """Return the part of a path that names the indices of physical tables."""
    return ",".join(quote(index_name(table)) for table in tables)


def is_date(column: Column, unit: TimeUnit) -> bool:
    """Whether a column is a `date`, which has milliseconds; instants of other units are longs."""
    return column.type is Type.TIMESTAMP and unit is TimeUnit.MILLISECOND


def is_key(column: Column) -> bool:
    """Whether a column is the client's key, which becomes the _id and no field."""
    return column == ID


def render(query: Query) -> Statement:
    """Return a query as a statement, which carries the query for `correct`."""
    return Statement(_text(query), outputs(query), (query,))


def _text(query: Query) -> str:
    match query:
        case AggregateQuery():
            aggregations = _aggregations(query.table, query.aggregates)
            counts = any(a.column is None for a in query.aggregates)
            return _search(query, _grouped(query, aggregations), count=counts)
        case NewestQuery(table=table):
            _refuse_key(table, *query.tags, *query.columns)
            newest = {"newest": _top(table.time, "desc", query.columns)}
            return _search(query, _composite([_terms(table.column(c)) for c in query.tags], newest))
        case DistinctQuery(table=table):
            _refuse_key(table, *query.columns)
            # The instant first: a page then starts in the order of an index, where the one before
            # ended, without reading the rows before that.
            columns = sorted(
                map(table.column, query.columns), key=lambda c: c.role is not Role.TIME
            )
            found = "filter_path=error,aggregations.*.after_key,aggregations.*.buckets.doc_count"
            return _search(query, _composite([_terms(c) for c in columns], {}), found)
        case RowsQuery(table=table):
            fields = [column.name for column in table.columns if not is_key(column)]
            body: Body = {"size": PAGE, "sort": ["_doc"], "docvalue_fields": fields}
            if len(fields) == len(table.columns):
                body["stored_fields"] = "_none_"  # neither _source nor _id, which are compressed
            else:
                body["_source"] = False
            scroll = f"scroll={KEEP}&allow_partial_search_results=false&{ROWS}"
            return _post(table.names, scroll, body)
        case _:
            assert_never(query)


def _post(names: Sequence[str], parameters: str, body: Body) -> str:
    return f"POST /{indices(names)}/_search?{parameters}\n{json.dumps(body, ensure_ascii=False)}"


def _search(
    query: AggregateQuery | NewestQuery | DistinctQuery,
    aggregations: Body,
    parameters: str = "",
    *,
    count: bool = False,
) -> str:
    body: Body = {"size": 0, "track_total_hits": count}
    filters = _filters(query) if isinstance(query, AggregateQuery) else []
    if filters:
        body["query"] = {"bool": {"filter": filters}}
    if aggregations:
        body["aggs"] = aggregations
    return _post(query.table.names, "&".join(filter(None, (_SEARCH, parameters))), body)


def _filters(query: AggregateQuery) -> list[Body]:
    _refuse_key(query.table, *(tag for tag, _ in query.selection.equal))
    found: list[Body] = [{"term": {tag: value}} for tag, value in query.selection.equal]
    limits = {"gte": query.selection.since, "lt": query.selection.until}
    if set(limits.values()) != {None}:
        limits = {name: limit for name, limit in limits.items() if limit is not None}
        found.append({"range": {query.table.time.name: limits}})
    return found


def _refuse_key(table: Table, *columns: str) -> None:
    if any(is_key(table.column(name)) for name in columns):
        raise Unsupported("the client's key is the _id, which searches can only return")


# --- aggregations ---------------------------------------------------------------------------------


def _called(name: str) -> str:
    """Return a name, with the characters escaped that an aggregation's name cannot have."""
    return re.sub(r"[\[\]>%]", lambda mark: quote(mark[0]), name)


def _aggregations(table: Table, aggregates: Sequence[Aggregate], *, exact: bool = False) -> Body:
    """Return the aggregations for these aggregates, named by their labels.

    A minimum or maximum alone reads the ends of an index, where `stats` reads every value.
    """
    _refuse_key(table, *(a.column for a in aggregates if a.column))
    wanted: Body = {}
    summed = {a.column for a in aggregates if a.function in (Function.SUM, Function.AVG)}
    for aggregate in aggregates:
        if aggregate.column is None:
            continue
        column, name = table.column(aggregate.column), _called(aggregate.label)
        field = {"field": column.name}
        sorts = exact or column.type is Type.TEXT
        if aggregate.function in (Function.MIN, Function.MAX) and sorts:
            order = "asc" if aggregate.function is Function.MIN else "desc"
            wanted[name] = _top(column, order, [column.name])
            if column.nullable:  # a missing value sorts as the largest integer
                there = {"exists": field}
                wanted[name] = {"filter": there, "aggs": {name: wanted[name]}}
        elif column.name in summed:
            wanted[_called(column.name)] = {"stats": field}
        elif aggregate.function is Function.COUNT:
            wanted[name] = {"value_count": field}
        else:
            wanted[name] = {aggregate.function.value: field}
    return wanted


def _top(column: Column, order: str, fields: Sequence[str]) -> Body:
    """Return the aggregation that returns fields of the first row in an order, NULL last."""
    sort = [{column.name: {"order": order, "missing": "_last"}}]
    shown = {"size": 1, "sort": sort, "_source": False, "docvalue_fields": [*fields]}
    return {"top_hits": shown}


def _grouped(query: AggregateQuery, aggregations: Body, *finer: Body) -> Body:
    """Return the aggregations in the query's groups, or in finer ones."""
    _refuse_key(query.table, *query.by)
    sources = [_terms(query.table.column(tag)) for tag in query.by]
    if query.bucket is not None:
        if query.table.time_unit is TimeUnit.NANOSECOND:
            raise Unsupported("histograms calculate in doubles, which do not hold nanoseconds")
        histogram = {"field": query.table.time.name, "interval": query.bucket}
        sources.append({"bucket": {"histogram": histogram}})
    sources += finer
    return _composite(sources, aggregations) if sources else aggregations


def _terms(column: Column) -> Body:
    return {
        _called(column.name): {"terms": {"field": column.name, "missing_bucket": column.nullable}}
    }


def _composite(sources: Sequence[Body], aggregations: Body) -> Body:
    groups: Body = {"composite": {"size": PAGE, "sources": [*sources]}}
    if aggregations:
        groups["aggs"] = aggregations
    return {"groups": groups}


# --- replies --------------------------------------------------------------------------------------


def next_page(body: Body, reply: Mapping[str, Any]) -> Body | None:
    """Return the body that fetches the next groups; None after the last."""
    for name, found in reply.get("aggregations", {}).items():
        if "after_key" in found:
            asked = body["aggs"][name]
            composite = {**asked["composite"], "after": found["after_key"]}
            if len(found["buckets"]) < composite.get("size", 10):
                return None
            return {**body, "aggs": {**body["aggs"], name: {**asked, "composite": composite}}}
    return None


def groups_of(reply: Mapping[str, Any]) -> list[Known]:
    """Return a reply's groups; without aggregations, each hit is one."""
    hits = reply.get("hits", {})
    if hits.get("hits"):
        return [_hit(hit) for hit in hits["hits"]]
    known = {"count": hits["total"]["value"]} if "total" in hits else {}
    return _groups(reply.get("aggregations", {}), known)


def _groups(aggregations: Mapping[str, Any], known: Known) -> list[Known]:
    nested: list[Known] | None = None
    known = dict(known)
    for name, found in aggregations.items():
        if "buckets" in found:
            nested = [_bucket(name, bucket) for bucket in found["buckets"]]
        elif "doc_count" in found:
            known |= _groups(_inside(found), {})[0]
        elif "value" in found:
            known[name] = found["value"]
        elif "hits" in found:
            first = _hit(found["hits"]["hits"][0]) if found["hits"]["hits"] else {}
            known |= first
            known[name] = next(iter(first.values())) if len(first) == 1 else None
        else:
            known |= _stats(name, found)
    if nested is None:
        return [known]
    return [
        group for bucket in nested for group in _groups(bucket["inside"], known | bucket["key"])
    ]


def _bucket(name: str, bucket: Mapping[str, Any]) -> dict[str, Known]:
    key = bucket["key"]
    named = key if isinstance(key, dict) else {name: key}
    return {"key": {"count": bucket["doc_count"], **named}, "inside": _inside(bucket)}


def _inside(bucket: Mapping[str, Any]) -> Known:
    """Return the aggregations of a bucket."""
    return {k: v for k, v in bucket.items() if isinstance(v, dict) and k != "key"}


def _stats(name: str, found: Mapping[str, Any]) -> Known:
    empty = found.get("count") == 0  # its sum is 0 here and NULL in an answer
    return {f"{k}_{name}": None if empty and k != "count" else v for k, v in found.items()}


def _hit(hit: Mapping[str, Any]) -> Known:
    fields = {_called(name): values[0] for name, values in hit.get("fields", {}).items()}
    return {_called(k): v for k, v in hit.get("_source", {}).items()} | fields


def rows_of(groups: Iterable[Known], columns: Sequence[Output]) -> list[Row]:
    """Return groups as rows."""
    names = [(_called(column.name), column.type is Type.TEXT) for column in columns]
    return [
        tuple(
            int(value) if isinstance(value := group.get(name), str) and not is_text else value
            for name, is_text in names  # a date is digits in quotes
        )
        for group in groups
    ]


def fields_of(hits: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[Row]:
    """Return hits as rows: the fields of each, or the _id that is its key."""
    found = [hit.get("fields", {}) for hit in hits]
    listed: list[list[Any]] = []
    for column in columns:
        if is_key(column):
            listed.append([hit["_id"] for hit in hits])
            continue
        values = [fields.get(column.name, _NULL)[0] for fields in found]
        if column.type is Type.TIMESTAMP:  # a date is digits in quotes
            values = [None if value is None else int(value) for value in values]
        listed.append(values)
    return list(zip(*listed, strict=True))


# --- exactness ------------------------------------------------------------------------------------


def correct(query: AggregateQuery, groups: list[Known], ask: Ask) -> None:
    """Replace values that doubles do not hold by exact ones, from further searches."""
    if query.bucket is not None and any(abs(int(g["bucket"])) >= FLOAT64_EXACT for g in groups):
        raise RunError("histograms calculate in doubles, which do not hold instants beyond 2**53")
    integers = [a for a in query.aggregates if a.column and _is_integer(query.table, a)]
    extremes = [
        a
        for a in integers
        if a.function in (Function.MIN, Function.MAX)
        and any(abs(int(g[_called(a.label)] or 0)) >= FLOAT64_EXACT for g in groups)
    ]
    if extremes:
        aggregations = _aggregations(query.table, extremes, exact=True)
        exact = {_key(query, g): g for g in ask(_search(query, _grouped(query, aggregations)))}
        for group in groups:
            found = exact[_key(query, group)]
            group.update({_called(a.label): found[_called(a.label)] for a in extremes})
    summed = {a.column for a in integers if a.function in (Function.SUM, Function.AVG)}
    for column in summed:
        if column and not all(_sum_is_exact(g, column) for g in groups):
            _correct_sums(query, query.table.column(column), groups, ask)


def _is_integer(table: Table, aggregate: Aggregate) -> bool:
    assert aggregate.column
    return table.column(aggregate.column).type not in (*FLOATS, Type.TEXT)


def _key(query: AggregateQuery, group: Known) -> tuple[Any, ...]:
    names = [*map(_called, query.by), *(["bucket"] if query.bucket is not None else [])]
    return tuple(group[name] for name in names)


def _sum_is_exact(group: Known, column: str) -> bool:
    """Whether a double holds every partial sum, in any order."""
    count, total, low, high = (
        group[f"{f}_{_called(column)}"] for f in ("count", "sum", "min", "max")
    )
    if not count:
        return True
    if low >= 0 or high <= 0:
        return bool(abs(total) < FLOAT64_EXACT)
    return bool(count * max(-low, high) < FLOAT64_EXACT)


def _correct_sums(query: AggregateQuery, column: Column, groups: list[Known], ask: Ask) -> None:
    """Sum a column over parts small enough to be exact, or else over its distinct values."""
    name = _called(column.name)
    low = min(group[f"min_{name}"] for group in groups if group[f"count_{name}"])
    high = max(group[f"max_{name}"] for group in groups if group[f"count_{name}"])
    parts: list[Known] | None = None
    if max(-low, high) < FLOAT64_EXACT:
        width = max(int(high - low) // _PARTS, 1)
        finer = {"part": {"histogram": {"field": column.name, "interval": width}}}
        stats = {name: {"stats": {"field": column.name}}}
        parts = ask(_search(query, _grouped(query, stats, finer)))
        if not all(_sum_is_exact(part, column.name) for part in parts):
            parts = None
    if parts is None:
        finer = {"part": {"terms": {"field": column.name}}}
        parts = ask(_search(query, _grouped(query, {}, finer)))
        for part in parts:
            part[f"sum_{name}"] = int(part["part"]) * part["count"]
    sums: dict[tuple[Any, ...], int] = {}
    for part in parts:
        key = _key(query, part)
        sums[key] = sums.get(key, 0) + int(part[f"sum_{name}"])
    for group in groups:
        if group[f"count_{name}"]:
            total = sums[_key(query, group)]
            group[f"sum_{name}"] = total
            group[f"avg_{name}"] = float(total) / group[f"count_{name}"]
