"""Queries as requests to /api/query, and their replies as rollups.

A statement is the request as text: `POST /api/query?arrays` and, below it, the body. It has a
sub-query for each rollup and physical table, which downsamples the points of each series to one and
merges these without interpolation (zimsum, mimmin, mimmax).

A span of time has rules of its own: a bucket that begins before the query's start is left out, the
bucket that contains its end is whole; without buckets, a point at the end itself is left out, but
not in a query for points.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.data.query import AggregateQuery, Query, Statement, outputs
from simulator.data.schema import Column, Table, TimeUnit
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, fields, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/"
FIRST_MS = 10**10
"""The first instant that is read as milliseconds everywhere: ten digits are read as seconds."""
LAST = {1: 4_294_000_000, 1000: 4_294_000_000_000}
"""The last instant, in 2106, by the number of instants in a second: the keys of HBase's rows have
seconds in 32 bits, and the end of a query must not exceed them."""
TABLE_TAG = "table"
"""The tag of points without another tag: OpenTSDB requires one."""
FLUSHES = ("hbase.rpcs.buffered_flush_interval", "tsd.storage.flush_interval")
"""Settings for how long points wait in the TSD, in ms; which one applies depends on the version."""

_UNLIMITED_BYTES = 8192
"""Every server accepts requests of this length, which arrive in one chunk."""
_AGGREGATORS = {"count": "zimsum", "sum": "zimsum", "min": "mimmin", "max": "mimmax"}
_PATH = "POST /api/query?arrays"


def metric(prefix: str, table: str, field: str = "") -> str:
    """Return the name of a field's metric, or of the metric that marks a table as existing."""
    return f"{prefix}{table}.{field}" if field else prefix + table


def per_second(table: Table) -> int:
    """Return the unit of times as sent: seconds if the table counts seconds, else milliseconds."""
    return 1 if table.time_unit is TimeUnit.SECOND else 1000


def largest_request(config: Mapping[str, str]) -> int:
    """Return the longest request that this server accepts, in bytes."""
    if config.get("tsd.http.request.enable_chunked") != "true":
        return _UNLIMITED_BYTES
    return max(int(config.get("tsd.http.request.max_chunk", 0)), _UNLIMITED_BYTES)


def render(prefix: str, query: Query) -> Statement:
    """Return a query as a statement."""
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
    since, until = query.selection.since, query.selection.until
    if query.bucket is not None:
        width = _coarser(query.bucket, table)
        down = f"{width}ms" if finest == 1000 else f"{width}s"
        if any(edge is not None and edge % query.bucket for edge in (since, until)):
            raise Unsupported("a range of time must begin and end with a bucket")
    span = _span(table, since, until)
    if query.bucket is None:
        span["end"] += 1
    asked = [
        {
            "metric": metric(prefix, name, rollup.column),
            "aggregator": _AGGREGATORS.get(rollup.function, "mimmax"),
            "downsample": f"{down}-{rollup.function}",
            "filters": [
                *(_filter(tag) for tag in rollup.by),
                *(_where(t, v) for t, v in query.selection.equal),
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
    """Return the first instant of a point at or after this one."""
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
    """Return the body that queries all points of some fields in a span of time."""
    asked = [
        {"metric": metric(prefix, name, column.name), "aggregator": "none"}
        for name in table.names
        for column in columns
    ]
    span = _span(table, since, until)
    fine = per_second(table) == 1000
    return {**span, "msResolution": fine, "showQuery": True, "queries": asked}


def marks(name: str) -> dict[str, Any]:
    """Return the body that queries whether a metric has points."""
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
