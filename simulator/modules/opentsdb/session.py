"""One connection to OpenTSDB: how rows are sent, what an error says about them, and how to ask."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from simulator.data.block import Block
from simulator.data.query import AggregateQuery, Query, Statement
from simulator.data.schema import Column, Table
from simulator.encode.points import Piece, Point, Points, as_text
from simulator.encode.rows import Frame
from simulator.errors import UnstorableError
from simulator.modules.base import Failure, Payload
from simulator.modules.opentsdb import query as queries
from simulator.modules.shared.http import Http, Refused, classify
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import Series, fields
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup
from simulator.modules.shared.metrics.session import MetricSession

_LIMITS = Limits(
    product="OpenTSDB",
    letters=queries.LETTERS,
    large_integers=True,
    more_in_tags=".",
    told="ASCII letters, digits and - _ . /, names without the dot",
    finer="the workload iot has whole milliseconds",
)
_REFUSED = ("Invalid ", "Unable to parse", "Unknown metric", "Too many tags", "Missing ")
"""What the server finds wrong with a point; all else is about storing it."""
_UNKNOWN_TAG = "No such name for 'tagv'"
_BAD_REQUEST = 400


def checked(table: Table, name: str) -> Checked:
    """Return what checks the rows of a physical table; UnstorableError if no row can be stored."""
    return Checked(_LIMITS, table, name, queries.per_second(table))


class PutError(Exception):
    """The server did not store every point of a request."""

    def __init__(self, reply: Any) -> None:
        errors = [str(item.get("error")) for item in reply.get("errors", ())]
        told = next(iter(errors), "no reason was given")
        super().__init__(f"{reply['failed']} points were not stored: {told}")
        self.refused = bool(errors) and all(each.startswith(_REFUSED) for each in errors)
        """Whether sending them again cannot help."""


class OpenTsdbSession(MetricSession):
    """A kept connection."""

    finest = 1000

    def __init__(  # noqa: PLR0913
        self,
        http: Http,
        render: Callable[[Query], Statement],
        *,
        prefix: str,
        sync: bool,
        request_points: int | None,
        query_timeout_s: float,
    ) -> None:
        self.limit_bytes: int | None = None
        """How long the server lets a request be."""
        self.flush_s = 1.0
        """How long points and deletions may wait in the TSD for others."""
        self.render = render
        self._http = http
        self._prefix = prefix
        self._request_points = request_points
        self._query_timeout_s = query_timeout_s
        self._put = f"/api/put?details{'&sync' if sync else ''}"
        self._encoders: dict[str, tuple[Checked, Points]] = {}

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self._http.alive

    # --- rows

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as the bodies of requests."""
        if block.name not in self._encoders:
            encoder = (
                checked(block.table, block.name),
                json_points(self._prefix, block.table, block.name),
            )
            self._encoders[block.name] = encoder
        check, points = self._encoders[block.name]
        times = check.times(block)
        _check_span(block.table, times)
        limit = self._request_points
        sends = points.encode(
            block,
            rows_per_send,
            instead={block.table.time.name: times},
            limit_bytes=self.limit_bytes,
            limit_rows=None if limit is None else max(limit // len(fields(block.table)), 1),
        )
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, bodies)
            for start, bodies in zip(starts, sends, strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Send the points; return once the server has stored them all."""
        for body in payload.data:
            self._store(body)

    def _store(self, body: bytes) -> None:
        try:
            reply = self._http.request("POST", self._put, body)
        except Refused as refused:
            if refused.status == _BAD_REQUEST and (found := _counted(refused.reply.body)):
                raise PutError(found) from refused
            raise
        found = reply.json()
        if found["failed"]:
            raise PutError(found)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        Of a request that was refused in part some points are stored; sent again, they would be
        the same points. Yet only what the server finds wrong with a point is certain to stay so.
        """
        if isinstance(error, PutError):
            return Failure.FATAL if error.refused else Failure.UNKNOWN
        return classify(error)

    # --- queries

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request and return the JSON that it is answered by."""
        content = None if body is None else json.dumps(body).encode()
        timeout_s = self._query_timeout_s
        return self._http.request(method, path, content, timeout_s=timeout_s).json()

    def ask(self, body: Any) -> Any:
        """Ask a query; a metric or tag that nobody has used yet has no points."""
        return self._asked(json.dumps(body), "No such name for")

    def _asked(self, body: str, nothing: str = _UNKNOWN_TAG) -> Any:
        path, timeout_s = "/api/query?arrays", self._query_timeout_s
        try:
            return self._http.request("POST", path, body.encode(), timeout_s=timeout_s).json()
        except Refused as refused:
            if nothing in refused.words:
                return []
            raise

    def rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and return the rollups that it asks for."""
        return queries.rolled_up(query, wanted, self._asked(queries.body_of(text)))

    def points(
        self, table: Table, columns: Sequence[Column], since: int | None, until: int | None
    ) -> Iterable[Series]:
        """Return the points of these fields in a span of time."""
        body = queries.points(self._prefix, table, columns, since, until)
        return queries.series(table, columns, self._asked(json.dumps(body)))

    def tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run the user's own body: each sub-query fills a column, behind those of the groups.

        A group is a tag that is called as the answer's column is, or the start of a `bucket`.
        """
        body = json.loads(queries.body_of(statement.text))
        names = [output.name for output in statement.outputs]
        keys, values = names[: -len(body["queries"])], names[-len(body["queries"]) :]
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for item in self._asked(json.dumps({**body, "showQuery": True})):
            for instant, value in item["dps"]:
                known = {**item["tags"], "bucket": instant}
                key = tuple(known.get(name) for name in keys)
                rows.setdefault(key, [None] * len(values))[item["query"]["index"]] = value
        return [(*key, *found) for key, found in rows.items()]

    # --- names

    def assign(self, metrics: Sequence[str], tags: Sequence[str]) -> None:
        """See that names have numbers, so that they can be asked for before they have points."""
        body = {"metric": metrics, "tagk": tags or [queries.TABLE_TAG]}
        try:
            self.call("POST", "/api/uid/assign", body)
        except Refused as refused:  # which it also is if some have numbers already
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

    def known(self, beginning: str, limit: int) -> list[str]:
        """Return the metrics whose names begin like this."""
        path = f"/api/suggest?type=metrics&q={beginning}&max={limit}"
        return [str(name) for name in self.call("GET", path)]


def json_points(prefix: str, table: Table, name: str) -> Points:
    """Return the encoder of a physical table's rows as the body of /api/put."""
    pieces = {c.name: Piece(c.name, as_text(c.type)) for c in table.columns}
    tags: list[bytes | Piece] = [b"}},"]
    for tag in reversed(table.tags):
        between = b"" if tag is table.tags[0] else b","
        tags = [between + b'"%s":"' % tag.name.encode(), pieces[tag.name], b'"', *tags]
    if not table.tags:
        tags = [b'"%s":"%s"}},' % (queries.TABLE_TAG.encode(), name.encode())]
    points = []
    for field in fields(table):
        metric = queries.metric(prefix, name, field.name).encode()
        begin = b'{"metric":"%s","timestamp":' % metric
        time, value = pieces[table.time.name], pieces[field.name]
        points.append(Point(field, [begin, time, b',"value":', value, b',"tags":{', *tags]))
    return Points(points, Frame(b"[", b",", b"]"))


def _counted(body: bytes) -> Any:
    """Return what a refusal says of the points, if it is about single ones."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "failed" in found else None


def _check_span(table: Table, times: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    if not len(times):
        return
    finest = queries.per_second(table)
    first, last = (1 if finest == 1 else queries.FIRST_MS), queries.LAST[finest]
    for instant in (int(times.min()), int(times.max())):
        if not first <= instant <= last:
            raise UnstorableError(
                f"column {table.time.name}: {instant} {'s' if finest == 1 else 'ms'} since 1970 is "
                f"outside of what OpenTSDB can hold, {first} to {last}; give another --start-time"
            )
