"""Queries as requests to /api/query, and their replies as rollups.

A statement is the request as text: `POST /api/query?arrays` and, below it, the body. It has a
sub-query for each rollup and physical table, which downsamples the points of each series to one
point, and merges these points without interpolation (zimsum, mimmin, mimmax). Buckets that a range
of time cuts are separate requests.

Spans of time have special rules. An answer omits a bucket that begins before the query's start, and
has the whole bucket that contains its end. An answer without buckets omits a point at the end
itself, unless the query is for points.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from simulator.data.answer import in_units
from simulator.data.query import (
    AggregateQuery,
    OneOf,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Column, Table, TimeUnit
from simulator.modules.contract import Unsupported
from simulator.modules.shared.metrics.points import PointSeries, fields, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, in_pieces, plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/"
FIRST_MS = 10**10
"""The first instant that is read as milliseconds everywhere: ten digits are read as seconds."""
LAST = {1: 4_294_000_000, 1000: 4_294_000_000_000}
"""Number of instants in a second -> the last instant, in 2106: keys of HBase's rows have seconds in
32 bits, which the end of a query must not exceed."""
TABLE_TAG = "table"
"""Tag of points without another tag, because OpenTSDB requires one."""
FLUSHES = ("hbase.rpcs.buffered_flush_interval", "tsd.storage.flush_interval")
"""Settings for the time, in ms, that points wait in the TSD; one for each version."""

_UNLIMITED_BYTES = 8192
"""Length of requests that every server accepts, because they arrive in one chunk."""
_AGGREGATORS = {"count": "zimsum", "sum": "zimsum", "min": "mimmin", "max": "mimmax"}
_PATH = "POST /api/query?arrays"


def metric(prefix: str, table: str, field: str = "") -> str:
    """Return the name of a field's metric, or of the metric that marks a table as existing."""
    return f"{prefix}{table}.{field}" if field else prefix + table


def per_second(table: Table) -> int:
    """Return the unit of sent times: seconds if the table counts seconds, else milliseconds."""
    return 1 if table.time_unit is TimeUnit.SECOND else 1000


def largest_request(config: Mapping[str, str]) -> int:
    """Return the size in bytes of the longest request that a server accepts."""
    if config.get("tsd.http.request.enable_chunked") != "true":
        return _UNLIMITED_BYTES
    return max(int(config.get("tsd.http.request.max_chunk", 0)), _UNLIMITED_BYTES)


def render(prefix: str, query: Query) -> Statement:
    """Return a query as a statement."""
    if isinstance(query, RowsQuery):
        text = _write_statement(points(prefix, query.table, fields(query.table), query.selection))
    else:
        asked, wanted = plan(query)
        text = in_pieces(asked, lambda piece: _write_statement(_aggregates(prefix, piece, wanted)))
    return Statement(text, outputs(query), (query,))


def _write_statement(body: Mapping[str, Any]) -> str:
    return f"{_PATH}\n{json.dumps(body)}"


def body_of(text: str) -> str:
    """Return the body of a statement."""
    return text.removeprefix(_PATH).strip()


def _aggregates(prefix: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> dict[str, Any]:
    table = query.table
    finest = per_second(table)
    down = "0all"
    if query.bucket is not None:
        width, odd = divmod(query.bucket, max(table.time_unit.per_second // finest, 1))
        if odd:
            raise Unsupported("a bucket must be of whole milliseconds")
        down = f"{width}ms" if finest == 1000 else f"{width}s"
    span = _span(table, query.selection)
    if query.bucket is None:
        span["end"] += 1
    asked = [
        {
            "metric": metric(prefix, name, rollup.column),
            "aggregator": _AGGREGATORS.get(rollup.function, "mimmax"),
            "downsample": f"{down}-{rollup.function}",
            "filters": [*map(_filter, rollup.by), *map(_where, query.selection.one_of)],
        }
        for name in table.names
        for rollup in wanted
    ]
    return {**span, "msResolution": finest == 1000, "showQuery": True, "queries": asked}


def _span(table: Table, selection: Selection) -> dict[str, int]:
    since, until = selection.since, selection.until
    finest = per_second(table)
    first, last = (FIRST_MS if finest == 1000 else 1), LAST[finest]
    if since is not None:
        first = max(_round_up(since, table), first)
    if until is not None:
        last = min(_round_up(until, table) - 1, last)
    return {"start": first, "end": last}


def _round_up(instant: int, table: Table) -> int:
    """Return the first instant of points at or after an instant of the table."""
    return -(-instant * per_second(table) // table.time_unit.per_second)


def _filter(tag: str) -> dict[str, Any]:
    return {"type": "wildcard", "tagk": tag, "filter": "*", "groupBy": True}


def _where(one: OneOf) -> dict[str, Any]:
    for value in one.values:
        if value.strip(LETTERS + "."):
            raise Unsupported(f"no tag can be {value!r}")
    wanted = "|".join(one.values)
    return {"type": "literal_or", "tagk": one.column, "filter": wanted, "groupBy": False}


def without(body: dict[str, Any], value: str) -> dict[str, Any] | None:
    """Return a query without a value in its lists; None if a list has no other value."""
    asked = []
    for each in body["queries"]:
        filters = []
        for one in each.get("filters", ()):
            wanted = one["filter"].split("|")
            if wanted == [value]:
                return None
            left = "|".join(item for item in wanted if item != value)
            filters.append({**one, "filter": left})
        asked.append({**each, "filters": filters})
    return {**body, "queries": asked}


def points(
    prefix: str, table: Table, columns: Iterable[Column], selection: Selection
) -> dict[str, Any]:
    """Return the body that queries the selected points of some fields."""
    where = [*map(_where, selection.one_of)]
    asked = [
        {"metric": metric(prefix, name, column.name), "aggregator": "none", "filters": where}
        for name in table.names
        for column in columns
    ]
    span, fine = _span(table, selection), per_second(table) == 1000
    if span["start"] == span["end"]:  # the server refuses it; `series` omits earlier points
        span["start"] -= 1
    return {**span, "msResolution": fine, "showQuery": True, "queries": asked}


def marks(name: str, tags: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the body that counts the points of a metric with any tags, or with these."""
    asked: dict[str, Any] = {"metric": name, "aggregator": "zimsum", "downsample": "0all-count"}
    asked |= {"tags": tags} if tags else {}
    return {"start": 1, "end": LAST[1000], "queries": [asked]}


def deletion(name: str) -> dict[str, Any]:
    """Return the body that deletes a metric's points."""
    return {**marks(name), "delete": True}


# --- replies -------------------------------------------------------------------------------------


def roll_up(query: AggregateQuery, wanted: Sequence[Rollup], reply: Iterable[Any]) -> RolledUp:
    """Yield the rollups of a reply."""
    for item in reply:
        rollup = wanted[item["query"]["index"] % len(wanted)]
        tags = tuple(tag_value(query.table.column(tag), item["tags"][tag]) for tag in rollup.by)
        for instant, value in item["dps"]:
            bucket = () if query.bucket is None else (_read_instant(instant, query.table),)
            yield rollup, (*tags, *bucket), value


def series(
    table: Table, columns: Sequence[Column], reply: Iterable[Any], since: int | None = None
) -> Iterator[PointSeries]:
    """Yield a reply's points from the instant `since` on."""
    for item in reply:
        column = columns[item["query"]["index"] % len(columns)]
        tags = tuple(tag_value(tag, item["tags"][tag.name]) for tag in table.tags)
        points = [(_read_instant(instant, table), value) for instant, value in item["dps"]]
        if since is not None:
            points = [(instant, value) for instant, value in points if instant >= since]
        yield PointSeries(column.name, tags, points)


def _read_instant(instant: int, table: Table) -> int | Decimal:
    return in_units(instant * table.time_unit.per_second, per_second(table))
