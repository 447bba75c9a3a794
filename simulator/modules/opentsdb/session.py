"""A session with OpenTSDB: it sends rows as points, and asks queries as JSON."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from simulator.data.block import Array, Block, Rows
from simulator.data.query import AggregateQuery, Query, Selection, Statement
from simulator.data.schema import Column, Table
from simulator.encode.points import MixedPoints, PointFormat, PointPiece, Points, as_text
from simulator.encode.rows import Frame
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    BATCH,
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
    expect_rows,
)
from simulator.modules.opentsdb import query as queries
from simulator.modules.shared.http.client import Http, HttpError, Refused, classify
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import PointSeries, fields
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, of_pieces
from simulator.modules.shared.metrics.session import MetricSession
from simulator.protocol.records import RecordFormat

_LIMITS = Limits(
    product="OpenTSDB",
    letters=queries.LETTERS,
    large_integers=True,
    more_in_tags=".",
    allowed="ASCII letters, digits and - _ . /, names without the dot",
    finer="the workload iot has whole milliseconds",
)
_REFUSED = ("Invalid ", "Unable to parse", "Unknown metric", "Too many tags", "Missing ")
"""Beginnings of errors about a point itself; other errors are about storing it."""
_THROTTLED = re.compile(r"Please throttle|\d+ RPCs waiting on .* to come back online", re.DOTALL)
"""Errors of points that HBase's client refuses while a region moves or splits."""
_UNKNOWN_TAG = "No such name for 'tagv'"
_UNKNOWN_VALUE = re.compile(r"No such name for 'tagv': '([^']+)'")
_BAD_REQUEST = 400
_PUT = Frame(b"[", b",", b"]")
_POINT = b'{"metric":'
"""The start of a point, which no tag can contain."""
_TAGS = 8
"""Tags that a server allows by default."""


def make_checks(table: Table, name: str) -> Checked:
    """Return the checks of a physical table's rows; UnstorableError if it cannot be stored."""
    return Checked(_LIMITS, table, name, queries.per_second(table))


class PutError(HttpError):
    """The server did not store every point of a request."""

    def __init__(self, reply: Any) -> None:
        errors = [str(item.get("error")) for item in reply.get("errors", ())]
        reason = next(iter(errors), "the server gave no reason")
        super().__init__(f"{reply['failed']} points were not stored: {reason}")
        wrong = bool(errors) and all(each.startswith(_REFUSED) for each in errors)
        self.refused = wrong and not reply.get("success")
        """True if all points are wrong and none was stored: a retry cannot succeed."""
        self.throttled = bool(errors) and all(map(_THROTTLED.search, errors))
        """True if a retry can store all points; a point replaces another of its time."""


class OpenTsdbSession(MetricSession):
    """A kept connection."""

    correcting: ClassVar[str] = BATCH

    finest = 1000

    def __init__(
        self,
        http: Http,
        render: Callable[[Query], Statement],
        *,
        prefix: str,
        sync: bool,
        request_points: int | None,
    ) -> None:
        super().__init__(http, render)
        self.limit_bytes: int | None = None
        """The longest request that the server accepts."""
        self.flush_s = 1.0
        """How long the TSD may buffer points and deletions."""
        self.max_tags = 0
        """The largest number of tags of a point that the server accepts."""
        self._prefix = prefix
        self._request_points = request_points
        self._put = f"/api/put?details{'&sync' if sync else ''}"

    def greet(self) -> None:
        config = self.call("GET", "/api/config")
        self.limit_bytes = queries.largest_request(config)
        self.max_tags = int(config.get("tsd.storage.max_tags", _TAGS))
        self.flush_s = max(int(config.get(name, "1000")) for name in queries.FLUSHES) / 1000

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        check, points = make_checks(table, name), json_points(self._prefix, table, name)
        limit_rows = self._limit_rows([table])

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            return points.encode(
                block,
                rows_per_batch,
                instead=_instants(check, block),
                limit_bytes=self.limit_bytes,
                limit_rows=limit_rows,
            )

        return encode

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        checks = [make_checks(table, table.name) for table in tables]
        mixed = MixedPoints([json_points(self._prefix, each, each.name) for each in tables], _PUT)
        limit_rows = self._limit_rows(tables)

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[Any]:
            return mixed.encode(
                blocks,
                edges,
                instead=list(map(_instants, checks, blocks)),
                limit_bytes=self.limit_bytes,
                limit_rows=limit_rows,
            )

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope that adds the prefix and cuts lines into accepted bodies."""
        begin = _POINT + b'"'
        named = begin + self._prefix.encode()
        return lambda lines, _rows: list(self._cut(lines.replace(begin, named)))

    def _cut(self, lines: bytes) -> Iterator[bytes]:
        most_bytes = self.limit_bytes or len(lines) + len(_PUT.between)
        most_points = self._request_points or len(lines)
        begin = stop = points = 0
        while stop < len(lines):
            end = lines.index(b"\n", stop) + 1
            if points == most_points or (points and end - begin >= most_bytes):
                yield _wrap(lines[begin:stop])
                begin, points = stop, 0
            stop, points = end, points + 1
        yield _wrap(lines[begin:])

    def _limit_rows(self, tables: Sequence[Table]) -> int | None:
        """Return the largest number of rows of these tables in a request."""
        limit = self._request_points
        return None if limit is None else max(limit // max(len(fields(t)) for t in tables), 1)

    def send(self, payload: Payload) -> None:
        """Send the points; return once the server reports all of them as stored."""
        for body in payload.data:
            self._store(body)

    def _store(self, body: bytes) -> None:
        try:
            reply = self.http.request("POST", self._put, body)
        except Refused as refused:
            if refused.status == _BAD_REQUEST and (found := _parse_counts(refused.reply.body)):
                raise PutError(found) from refused
            raise
        found = reply.json()
        if found["failed"]:
            raise PutError(found)
        expect_rows(found["success"], body.count(_POINT), what="points")

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        The server may store some points of a request and refuse others. Only errors about the
        points themselves are certain to occur again.
        """
        if not isinstance(error, PutError):
            return classify(error)
        if error.throttled:
            return Failure.NOT_APPLIED
        return Failure.FATAL if error.refused else Failure.UNKNOWN

    # --- queries

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request and return the JSON of the answer."""
        content = None if body is None else json.dumps(body).encode()
        return self.http.query(method, path, content).json()

    def ask(self, body: Any) -> Any:
        """Run a query; an unknown metric or tag has no points."""
        return self._ask(json.dumps(body), "No such name for")

    def _ask(self, body: str, nothing: str = _UNKNOWN_TAG) -> Any:
        try:
            with self.waiting():
                reply = self.http.query("POST", "/api/query?arrays", body.encode())
            return reply.json()
        except Refused as refused:
            if nothing not in refused.words:
                raise
            # An unknown value fails the query, although others in its list may have points.
            unknown, asked = _UNKNOWN_VALUE.search(refused.words), json.loads(body)
            left = queries.without(asked, unknown[1]) if unknown else None
            return [] if left in (None, asked) else self._ask(json.dumps(left), nothing)

    def roll_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        def piece(own: str, query: AggregateQuery) -> RolledUp:
            return queries.roll_up(query, wanted, self._ask(queries.body_of(own)))

        return of_pieces(text, query, piece)

    def points(
        self, table: Table, columns: Sequence[Column], selection: Selection
    ) -> Iterable[PointSeries]:
        body = queries.points(self._prefix, table, columns, selection)
        if body["start"] > body["end"]:
            return ()
        reply = self._ask(json.dumps(body))
        return queries.series(table, columns, reply, selection.since)

    def run_tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a body from config.yaml; each sub-query fills a column behind the groups.

        A group is a tag with the name of the column, or the start of a `bucket`.
        """
        body = json.loads(queries.body_of(statement.text))
        names = [output.name for output in statement.outputs]
        keys, values = names[: -len(body["queries"])], names[-len(body["queries"]) :]
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for item in self._ask(json.dumps({**body, "showQuery": True})):
            for instant, value in item["dps"]:
                known = {**item["tags"], "bucket": instant}
                key = tuple(known.get(name) for name in keys)
                rows.setdefault(key, [None] * len(values))[item["query"]["index"]] = value
        return [(*key, *found) for key, found in rows.items()]

    # --- names

    def assign(self, metrics: Sequence[str], tags: Sequence[str]) -> None:
        """Assign UIDs to names, so that they can be queried before they have points."""
        body = {"metric": metrics, "tagk": tags or [queries.TABLE_TAG]}
        try:
            self.call("POST", "/api/uid/assign", body)
        except Refused as refused:  # also if a name has a UID already
            found = refused.reply.json()
            problems = {**found.get("metric_errors", {}), **found.get("tagk_errors", {})}
            if "error" in found or any("already exists" not in p for p in problems.values()):
                raise

    def mark(self, metrics: Iterable[str], instant: int) -> None:
        """Give metrics a point each."""
        tags = {queries.TABLE_TAG: "created"}
        marks = [
            {"metric": name, "timestamp": instant, "value": 1, "tags": tags} for name in metrics
        ]
        reply = self.call("POST", "/api/put?details&sync", marks)
        if reply["failed"]:
            raise PutError(reply)

    def list_metrics(self, beginning: str, limit: int) -> list[str]:
        """Return the metrics with names that begin like this."""
        path = f"/api/suggest?type=metrics&q={beginning}&max={limit}"
        return [str(name) for name in self.call("GET", path)]


def json_points(prefix: str, table: Table, name: str, payload: Frame = _PUT) -> Points:
    """Return the encoder of a physical table's rows as the body of /api/put."""
    pieces = {c.name: PointPiece(c.name, as_text(c.type)) for c in table.columns}
    end = b"}}" + payload.between
    tags: list[bytes | PointPiece] = [end]
    for tag in reversed(table.tags):
        between = b"" if tag is table.tags[0] else b","
        tags = [between + b'"%s":"' % tag.name.encode(), pieces[tag.name], b'"', *tags]
    if not table.tags:
        tags = [b'"%s":"%s"%s' % (queries.TABLE_TAG.encode(), name.encode(), end)]
    points = []
    for field in fields(table):
        metric = queries.metric(prefix, name, field.name).encode()
        begin = b'{"metric":"%s","timestamp":' % metric
        time, value = pieces[table.time.name], pieces[field.name]
        points.append(PointFormat(field, [begin, time, b',"value":', value, b',"tags":{', *tags]))
    return Points(points, payload)


def _wrap(lines: bytes) -> bytes:
    return _PUT.before + lines[:-1].replace(b"\n", _PUT.between) + _PUT.after


def _instants(check: Checked, block: Block) -> dict[str, Array]:
    """Return the times of rows as OpenTSDB stores them; UnstorableError if it cannot."""
    times = check.times(block)
    check_span(block.table, times)
    return {block.table.time.name: times}


def _parse_counts(body: bytes) -> Any:
    """Return the counts of stored and failed points in a refusal, or None."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "failed" in found else None


def check_tags(table: Table, allowed: int) -> None:
    """Raise UnstorableError for a table with more tags than the server allows."""
    tags = len(table.tags)
    if tags > allowed:
        raise UnstorableError(
            f"a row has {tags} tags, and this server allows {allowed}; set tsd.storage.max_tags on "
            f"the server, and max_tags of the target, to {tags} or more"
        )


def check_span(table: Table, times: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Raise UnstorableError for instants that OpenTSDB cannot store."""
    if not len(times):
        return
    finest = queries.per_second(table)
    first, last = (1 if finest == 1 else queries.FIRST_MS), queries.LAST[finest]
    for instant in (int(times.min()), int(times.max())):
        if not first <= instant <= last:
            raise UnstorableError(
                f"column {table.time.name}: {instant} {'s' if finest == 1 else 'ms'} since 1970 is "
                f"outside the range of OpenTSDB, {first} to {last}; use another --start-time"
            )
