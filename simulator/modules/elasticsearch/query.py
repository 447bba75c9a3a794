"""Queries as searches of Elasticsearch and OpenSearch, and their replies as rows.

A statement has the form of a console's: `POST /index/_search` and, below it, the body. Groups come
from a `composite` aggregation, which is exact and paged; `terms` is approximate and limited. An
aggregation has the name of the answer's column; `stats` named x gives sum_x, avg_x, min_x, max_x
and count_x.

Aggregations calculate in doubles, which hold integers up to 2**53. Where a reply shows larger
integers, `correct` runs an exact search: extremes by sorting, sums by finer groups.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never
from urllib.parse import quote

from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Operator,
    Output,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import FLOAT64_EXACT, FLOATS, ID, Column, Role, Table, TimeUnit, Type
from simulator.errors import RunError
from simulator.modules.contract import Unsupported
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
SEARCH = "request_cache=false&allow_partial_search_results=false"
"""The second run of a query must not be cached, and a partial answer is an error."""

KEEP = "5m"
"""Time for which the server keeps a snapshot between two portions."""
ROWS = "filter_path=error,_scroll_id,hits.hits._id,hits.hits.fields"


def index_name(table: str) -> str:
    """Return the index of a physical table."""
    return storable(table, "a-z0-9_.-", "-_.", lower=True)


def indices(tables: Iterable[str]) -> str:
    """Return the indices of physical tables as a part of a path."""
    return ",".join(quote(index_name(table)) for table in tables)


def is_date(column: Column, unit: TimeUnit) -> bool:
    """Return whether a column is a `date`, in milliseconds; other instants are longs."""
    return column.type is Type.TIMESTAMP and unit is TimeUnit.MILLISECOND


def is_key(column: Column) -> bool:
    """Return whether a column is the client's key, which is the _id instead of a field."""
    return column == ID


def render(query: Query) -> Statement:
    """Return a query as a statement, which carries the query for `correct`."""
    return Statement(_render_text(query), outputs(query), (query,))


def _render_text(query: Query) -> str:
    match query:
        case AggregateQuery():
            aggregations = _aggregations(query.table, query.aggregates)
            counts = any(a.column is None for a in query.aggregates)
            groups = _group(query, aggregations, most=query.newest)
            return _search(query, groups, count=counts)
        case NewestQuery(table=table):
            _refuse_key(table, *query.tags, *query.columns)
            newest = {"newest": _top(table.time, "desc", query.columns)}
            sources = [_terms(table.column(tag)) for tag in query.tags]
            return _search(query, _composite(sources, newest))
        case DistinctQuery(table=table):
            _refuse_key(table, *query.columns)
            # The instant comes first: each page then starts within the order of an index, and does
            # not read the rows of earlier pages.
            columns = sorted(
                map(table.column, query.columns), key=lambda c: c.role is not Role.TIME
            )
            found = "filter_path=error,aggregations.*.after_key,aggregations.*.buckets.doc_count"
            return _search(query, _composite([_terms(c) for c in columns], {}), found)
        case RowsQuery():
            return _render_rows(query)
        case _:
            assert_never(query)


def _render_rows(query: RowsQuery) -> str:
    """Return a scroll over the rows, or one search for few newest rows."""
    fields = [column.name for column in query.read if not is_key(column)]
    body: Body = {"size": PAGE, "sort": ["_doc"], "docvalue_fields": fields}
    if len(fields) == len(query.read):
        body["stored_fields"] = "_none_"  # neither _source nor _id, which are compressed
        if all(column.nullable for column in query.read):  # filter_path drops empty hits
            body["docvalue_fields"] = [*fields, query.table.time.name]
    else:
        body["_source"] = False
    parameters = f"scroll={KEEP}&allow_partial_search_results=false&{ROWS}"
    if query.newest is not None:
        body["sort"] = [{query.table.time.name: {"order": "desc"}}]
        if query.newest <= PAGE:
            body["size"] = query.newest
            parameters = f"{SEARCH}&{ROWS}"
    if filters := _filters(query):
        body["query"] = {"bool": {"filter": filters}}
    return post(query.table.names, parameters, body)


def post(names: Sequence[str], parameters: str, body: Body) -> str:
    """Return a search in the indices of physical tables as a statement."""
    return f"POST /{indices(names)}/_search?{parameters}\n{json.dumps(body, ensure_ascii=False)}"


def _search(
    query: AggregateQuery | NewestQuery | DistinctQuery,
    aggregations: Body,
    parameters: str = "",
    *,
    count: bool = False,
) -> str:
    body: Body = {"size": 0, "track_total_hits": count}
    if filters := _filters(query):
        body["query"] = {"bool": {"filter": filters}}
    if aggregations:
        body["aggs"] = aggregations
    return post(query.table.names, "&".join(filter(None, (SEARCH, parameters))), body)


def _filters(query: Query) -> list[Body]:
    selection = query.selection
    found: list[Body] = [
        {"terms": {one.column: [*one.values]}}
        if len(one.values) > 1
        else {"term": {one.column: one.values[0]}}
        for one in selection.one_of
    ]
    for compared in selection.compared:
        name, value = compared.column, compared.value
        if compared.operator is Operator.EQUAL:
            found.append({"term": {name: value}})
        else:
            found.append({"range": {name: {_RANGES[compared.operator]: value}}})
    if selection.limits:
        limits = {_RANGES[operator]: limit for operator, limit in selection.limits}
        found.append({"range": {query.table.time.name: limits}})
    return found


_RANGES = {
    Operator.LESS: "lt",
    Operator.AT_MOST: "lte",
    Operator.AT_LEAST: "gte",
    Operator.MORE: "gt",
}


def _refuse_key(table: Table, *columns: str) -> None:
    if any(is_key(table.column(name)) for name in columns):
        raise Unsupported("the client's key is the _id, which searches can only return")


# --- aggregations ---------------------------------------------------------------------------------


def escape_name(name: str) -> str:
    """Escape characters that the name of an aggregation cannot have."""
    return re.sub(r"[\[\]>%]", lambda mark: quote(mark[0]), name)


def _aggregations(table: Table, aggregates: Sequence[Aggregate], *, exact: bool = False) -> Body:
    """Return the aggregations for these aggregates, named by their labels.

    A minimum or maximum alone reads the ends of an index; `stats` reads every value.
    """
    _refuse_key(table, *(a.column for a in aggregates if a.column))
    wanted: Body = {}
    summed = {a.column for a in aggregates if a.function in (Function.SUM, Function.AVG)}
    for aggregate in aggregates:
        if aggregate.column is None:
            continue
        column, name = table.column(aggregate.column), escape_name(aggregate.label)
        field = {"field": column.name}
        sorts = exact or column.type is Type.TEXT
        if aggregate.function in ENDS or (aggregate.function in _EXTREMES and sorts):
            order = "asc" if aggregate.function in (Function.MIN, Function.FIRST) else "desc"
            by = table.time if aggregate.function in ENDS else column
            wanted[name] = _top(by, order, [column.name])
            if column.nullable:  # a missing value sorts as the largest integer
                wanted[name] = {"filter": {"exists": field}, "aggs": {name: wanted[name]}}
        elif column.name in summed:
            wanted[escape_name(column.name)] = {"stats": field}
        elif aggregate.function is Function.COUNT:
            wanted[name] = {"value_count": field}
        else:
            wanted[name] = {aggregate.function.value: field}
    return wanted


_EXTREMES = (Function.MIN, Function.MAX)


def _top(column: Column, order: str, fields: Sequence[str]) -> Body:
    """Return the aggregation for fields of the first row in an order, with NULL last."""
    sort = [{column.name: {"order": order, "missing": "_last"}}]
    shown = {"size": 1, "sort": sort, "_source": False, "docvalue_fields": [*fields]}
    return {"top_hits": shown}


def _group(
    query: AggregateQuery, aggregations: Body, *finer: Body, most: int | None = None
) -> Body:
    """Return the aggregations in the query's groups, or in finer ones."""
    _refuse_key(query.table, *query.by)
    sources = [_terms(query.table.column(tag)) for tag in query.by]
    if query.bucket is not None:
        if query.table.time_unit is TimeUnit.NANOSECOND:
            raise Unsupported("histograms calculate in doubles, which do not hold nanoseconds")
        histogram = {"field": query.table.time.name, "interval": query.bucket}
        if query.newest is not None:
            histogram["order"] = "desc"
        sources.append({"bucket": {"histogram": histogram}})
    sources += finer
    return _composite(sources, aggregations, most) if sources else aggregations


def _terms(column: Column) -> Body:
    return {
        escape_name(column.name): {
            "terms": {"field": column.name, "missing_bucket": column.nullable}
        }
    }


def _composite(sources: Sequence[Body], aggregations: Body, most: int | None = None) -> Body:
    size = PAGE if most is None else min(most, PAGE)
    groups: Body = {"composite": {"size": size, "sources": [*sources]}}
    if aggregations:
        groups["aggs"] = aggregations
    return {"groups": groups}


# --- replies --------------------------------------------------------------------------------------


def next_page(body: Body, reply: Mapping[str, Any]) -> Body | None:
    """Return the body that fetches the next groups; None after the last group."""
    for name, found in reply.get("aggregations", {}).items():
        if "after_key" in found:
            asked = body["aggs"][name]
            composite = {**asked["composite"], "after": found["after_key"]}
            if len(found["buckets"]) < composite.get("size", 10):
                return None
            return {**body, "aggs": {**body["aggs"], name: {**asked, "composite": composite}}}
    return None


def read_groups(reply: Mapping[str, Any]) -> list[Known]:
    """Return a reply's groups; without aggregations, each hit is one."""
    hits = reply.get("hits", {})
    if hits.get("hits"):
        return [read_hit(hit) for hit in hits["hits"]]
    total = hits.get("total", {"relation": "gte"})
    known = {} if total.get("relation") == "gte" else {"count": total["value"]}  # gte: at least
    return _groups(reply.get("aggregations", {}), known)


def _groups(aggregations: Mapping[str, Any], known: Known) -> list[Known]:
    nested: list[tuple[Known, Known]] | None = None
    known = dict(known)
    for name, found in aggregations.items():
        if "buckets" in found:
            if nested is not None:
                raise RunError(f"{name} has buckets beside others; rows need one inside the other")
            nested = _read_buckets(name, found["buckets"])
        elif "doc_count" in found:
            known |= {name: found["doc_count"]} | _groups(_inside(found), {})[0]
        elif isinstance(found.get("values"), dict):
            known |= _stats(name, found["values"])
        elif "value" in found:
            known[name] = found["value"]
        elif "hits" in found:
            first = read_hit(found["hits"]["hits"][0]) if found["hits"]["hits"] else {}
            known |= first
            known[name] = next(iter(first.values())) if len(first) == 1 else None
        else:
            known |= _stats(name, found)
    if nested is None:
        return [known]
    return [group for key, inside in nested for group in _groups(inside, known | key)]


def _read_buckets(name: str, buckets: Any) -> list[tuple[Known, Known]]:
    """Return the key and the aggregations of each bucket; an object has a key for each bucket."""
    found = []
    for outside, bucket in buckets.items() if isinstance(buckets, dict) else enumerate(buckets):
        key = bucket.get("key", outside)
        named = key if isinstance(key, dict) else {name: key}
        found.append(({"count": bucket["doc_count"], **named}, _inside(bucket)))
    return found


def _inside(bucket: Mapping[str, Any]) -> Known:
    return {k: v for k, v in bucket.items() if isinstance(v, dict) and k != "key"}


def _stats(name: str, found: Mapping[str, Any]) -> Known:
    empty = found.get("count") == 0  # its sum is 0 here and NULL in an answer
    return {f"{k}_{name}": None if empty and k != "count" else v for k, v in found.items()}


def read_hit(hit: Mapping[str, Any]) -> Known:
    """Return the fields of a hit, and its _source."""
    fields = {escape_name(name): values[0] for name, values in hit.get("fields", {}).items()}
    return {escape_name(k): v for k, v in hit.get("_source", {}).items()} | fields


def rows_from_groups(groups: Iterable[Known], columns: Sequence[Output]) -> list[Row]:
    """Return groups as rows."""
    names = [(escape_name(column.name), column.type is Type.TEXT) for column in columns]
    return [
        tuple(
            group.get(name) if is_text else _convert_date(group.get(name))
            for name, is_text in names
        )
        for group in groups
    ]


def _convert_date(value: Any) -> Any:
    """Convert a date, which is digits in quotes, to a number; return other values unchanged."""
    is_date = isinstance(value, str) and value.removeprefix("-").isdecimal()
    return int(value) if is_date else value


def read_fields(hits: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[Row]:
    """Return hits as rows; the client's key is the _id."""
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
    """Replace values that doubles do not hold by exact values of further searches."""
    if query.bucket is not None and any(abs(int(g["bucket"])) >= FLOAT64_EXACT for g in groups):
        raise RunError("histograms calculate in doubles, which do not hold instants beyond 2**53")
    table = query.table
    integers = [
        a
        for a in query.aggregates
        if a.column and table.column(a.column).type not in (*FLOATS, Type.TEXT)
    ]
    extremes = [
        a
        for a in integers
        if a.function in _EXTREMES
        and any(abs(int(g[escape_name(a.label)] or 0)) >= FLOAT64_EXACT for g in groups)
    ]
    if extremes:
        aggregations = _aggregations(table, extremes, exact=True)
        exact = {_key(query, g): g for g in ask(_search(query, _group(query, aggregations)))}
        for group in groups:
            found = exact[_key(query, group)]
            group.update({escape_name(a.label): found[escape_name(a.label)] for a in extremes})
    summed = {a.column for a in integers if a.function in (Function.SUM, Function.AVG)}
    for column in summed:
        if column and not all(_sum_is_exact(g, column) for g in groups):
            _correct_sums(query, table.column(column), groups, ask)


def _key(query: AggregateQuery, group: Known) -> tuple[Any, ...]:
    names = [*map(escape_name, query.by), *(["bucket"] if query.bucket is not None else [])]
    return tuple(group[name] for name in names)


def _sum_is_exact(group: Known, column: str) -> bool:
    """Return whether a double holds every partial sum, in any order."""
    count, total, low, high = (
        group[f"{f}_{escape_name(column)}"] for f in ("count", "sum", "min", "max")
    )
    if not count:
        return True
    if low >= 0 or high <= 0:
        return bool(abs(total) < FLOAT64_EXACT)
    return bool(count * max(-low, high) < FLOAT64_EXACT)


def _correct_sums(query: AggregateQuery, column: Column, groups: list[Known], ask: Ask) -> None:
    """Sum a column over parts that are small enough to be exact, or over its distinct values."""
    name = escape_name(column.name)
    low = min(group[f"min_{name}"] for group in groups if group[f"count_{name}"])
    high = max(group[f"max_{name}"] for group in groups if group[f"count_{name}"])
    parts: list[Known] | None = None
    if max(-low, high) < FLOAT64_EXACT:
        width = max(int(high - low) // _PARTS, 1)
        finer = {"part": {"histogram": {"field": column.name, "interval": width}}}
        stats = {name: {"stats": {"field": column.name}}}
        parts = ask(_search(query, _group(query, stats, finer)))
        if not all(_sum_is_exact(part, column.name) for part in parts):
            parts = None
    if parts is None:
        finer = {"part": {"terms": {"field": column.name}}}
        parts = ask(_search(query, _group(query, {}, finer)))
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
