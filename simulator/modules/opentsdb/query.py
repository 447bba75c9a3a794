"""Queries in OpenTSDB's words: requests to /api/query, and their replies as partial aggregates.

A statement is what one would type: `POST /api/query?arrays` and, below it, the body. A query's
parts are its sub-queries, one a physical table each; points are downsampled to one a series, and
those added up without interpolation (zimsum, mimmin, mimmax).

Spans of time have their own rules: buckets that begin before the query's start are left out, those
that its end lies in are whole; without buckets a point at the end itself is left out, but not of a
query for points.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.data.query import AggregateQuery, Query, Statement, outputs
from simulator.data.schema import Column, Table, TimeUnit
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, fields, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup
from simulator.modules.shared.metrics.session import plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/"
FIRST_MS = 10**10
"""The first instant that everything takes for milliseconds: numbers of ten digits are seconds."""
LAST = {1: 4_294_000_000, 1000: 4_294_000_000_000}
"""The last instant, in 2106, by how many make a second: HBase's rows begin with seconds in 32 bits,
beyond which not even the end of a query may lie."""
TABLE_TAG = "table"
"""A tag of points that have no other, since one is needed."""

_UNLIMITED_BYTES = 8192
"""Requests as long as this are taken by every server (they come in one chunk)."""
_AGGREGATORS = {"count": "zimsum", "sum": "zimsum", "min": "mimmin", "max": "mimmax"}
_PATH = "POST /api/query?arrays"


def metric(prefix: str, table: str, field: str = "") -> str:
    """Return the name of a field's metric, or of the one that says the table is there."""
    return f"{prefix}{table}.{field}" if field else prefix + table


def per_second(table: Table) -> int:
    """Return the unit in which a table's times are sent: seconds if it has no finer."""
    return 1 if table.time_unit is TimeUnit.SECOND else 1000


def largest_request(config: Mapping[str, str]) -> int:
    """Return how many bytes a request to this server may have."""
    if config.get("tsd.http.request.enable_chunked") != "true":
        return _UNLIMITED_BYTES
    return max(int(config.get("tsd.http.request.max_chunk", 0)), _UNLIMITED_BYTES)


def render(prefix: str, query: Query) -> Statement:
    """Return a query as a statement, which carries the query."""
    planned = plan(query)
    if planned is None:
        text = _text(points(prefix, query.table, fields(query.table), None, None))
    else:
        text = _text(_aggregates(prefix, *planned))
    return Statement(text, outputs(query), (query,))


def _text(body: dict[str, Any]) -> str:
    return f"{_PATH}\n{json.dumps(body)}"


def body_of(text: str) -> str:
    """Return the body of a statement."""
    return text.removeprefix(_PATH).strip()


def _aggregates(prefix: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> dict[str, Any]:
    table = query.table
    finest = per_second(table)
    down = "0all"
    if query.bucket is not None:
        width = _coarser(query.bucket, table)
        down = f"{width}ms" if finest == 1000 else f"{width}s"
        if any(edge is not None and edge % query.bucket for edge in (query.since, query.until)):
            raise Unsupported("a range of time must begin and end with a bucket")
    span = _span(table, query.since, query.until)
    if query.bucket is None:
        span["end"] += 1
    asked = [
        {
            "metric": metric(prefix, name, rollup.column),
            "aggregator": _AGGREGATORS.get(rollup.function, "mimmax"),
            "downsample": f"{down}-{rollup.function}",
            "filters": [
                *(_filter(tag) for tag in rollup.by),
                *(_where(t, v) for t, v in query.where),
            ],
        }
        for name in table.names
        for rollup in wanted
    ]
    return {**span, "msResolution": finest == 1000, "showQuery": True, "queries": asked}


def _coarser(bucket: int, table: Table) -> int:
    """Return a bucket's width in the unit of the points."""
    factor = max(table.time_unit.per_second // per_second(table), 1)
    if bucket % factor:
        raise Unsupported("a bucket must be of whole milliseconds")
    return bucket // factor


def _span(table: Table, since: int | None, until: int | None) -> dict[str, int]:
    finest = per_second(table)
    first, last = (FIRST_MS if finest == 1000 else 1), LAST[finest]
    if since is not None:
        first = max(_up(since, table), first)
    if until is not None:
        last = min(_up(until, table) - 1, last)
    return {"start": first, "end": last}


def _up(instant: int, table: Table) -> int:
    """Return the first instant of a point that is not before this one."""
    return -(-instant * per_second(table) // table.time_unit.per_second)


def _filter(tag: str) -> dict[str, Any]:
    return {"type": "wildcard", "tagk": tag, "filter": "*", "groupBy": True}


def _where(tag: str, value: str) -> dict[str, Any]:
    if value.strip(LETTERS + "."):
        raise Unsupported(f"no tag can be {value!r}")
    return {"type": "literal_or", "tagk": tag, "filter": value, "groupBy": False}


def points(
    prefix: str, table: Table, columns: Iterable[Column], since: int | None, until: int | None
) -> dict[str, Any]:
    """Return the body that asks for all points of some fields in a span of time."""
    asked = [
        {"metric": metric(prefix, name, column.name), "aggregator": "none"}
        for name in table.names
        for column in columns
    ]
    span = _span(table, since, until)
    fine = per_second(table) == 1000
    return {**span, "msResolution": fine, "showQuery": True, "queries": asked}


def marks(name: str) -> dict[str, Any]:
    """Return the body that asks whether a metric has any points."""
    asked = {"metric": name, "aggregator": "zimsum", "downsample": "0all-count"}
    return {"start": 1, "end": LAST[1000], "queries": [asked]}


def deletion(name: str) -> dict[str, Any]:
    """Return the body that deletes a metric's points."""
    return {**marks(name), "delete": True}


# --- replies -------------------------------------------------------------------------------------


def rolled_up(query: AggregateQuery, wanted: Sequence[Rollup], reply: Iterable[Any]) -> RolledUp:
    """Yield the rollups of a reply."""
    for item in reply:
        rollup = wanted[item["query"]["index"] % len(wanted)]
        tags = tuple(tag_value(query.table.column(tag), item["tags"][tag]) for tag in rollup.by)
        for instant, value in item["dps"]:
            bucket = () if query.bucket is None else (_back(instant, query.table),)
            yield rollup, (*tags, *bucket), value


def series(table: Table, columns: Sequence[Column], reply: Iterable[Any]) -> Iterator[Series]:
    """Yield a reply's points."""
    for item in reply:
        column = columns[item["query"]["index"] % len(columns)]
        tags = tuple(tag_value(tag, item["tags"][tag.name]) for tag in table.tags)
        dps = ((_back(instant, table), value) for instant, value in item["dps"])
        yield Series(column.name, tags, dps)


def _back(instant: int, table: Table) -> int:
    """Return a point's instant in the table's unit."""
    return instant * table.time_unit.per_second // per_second(table)
