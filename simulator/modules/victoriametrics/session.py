"""A session with VictoriaMetrics: rows are posted, queries are asked in MetricsQL."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from simulator.data.block import Block, Rows
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Query,
    Selection,
    Statement,
)
from simulator.data.records import RecordFormat
from simulator.data.schema import Column, Table
from simulator.errors import UnstorableError
from simulator.modules.base import Encoder, Envelope, MixedEncoder, Payload
from simulator.modules.shared.http import Http, HttpError, NoAnswer, lines
from simulator.modules.shared.metrics.points import Series, fields
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, of_pieces, rollups
from simulator.modules.shared.metrics.session import MetricSession
from simulator.modules.shared.prometheus import Metrics
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics import wire
from simulator.modules.victoriametrics.wire import Bodies, Checks, MixedBodies

_COUNT = (Aggregate(Function.COUNT),)
_STEPS = 10_000
"""Buckets of one request; the server returns up to 30,000 (-search.maxPointsPerTimeseries)."""
_STORED = 204
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


_DAY_S = 86_400
_UNITS_S = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": _DAY_S,
    "w": 7 * _DAY_S,
    "M": 31 * _DAY_S,
    "y": 365 * _DAY_S,
}
_MARGIN_S = 3600
"""Rows nearer than this to the end of the retention might be dropped before verification."""
_DROPPED = {"vm_rows_ignored_total": "reason", "vm_rows_invalid_total": "type"}
"""Counters of rows that are dropped although the request succeeds, and the label that says why."""


class Page(Metrics):
    """The page /metrics: sizes, counters and the flags that the server was started with."""

    @property
    def is_victoriametrics(self) -> bool:
        """Whether it is the page of a server that stores rows."""
        return "vm_app_version" in self and bool(self.flag("retentionPeriod"))

    @property
    def version(self) -> str:
        """The version; packages of some distributions do not report it."""
        (sample,) = self.of("vm_app_version")
        short = sample.labels.get("short_version", "").removeprefix("v")
        return f"VictoriaMetrics {short}" if short else "VictoriaMetrics (built without a version)"

    def flag(self, name: str) -> str:
        """Return a setting; empty if there is none of that name."""
        found = (s.labels["value"] for s in self.of("flag") if s.labels.get("name") == name)
        return next(found, "")

    def dropped(self) -> dict[str, float]:
        """Return how many rows the server has dropped, by reason."""
        return {
            f"{name}: {sample.labels.get(label, '')}": sample.value
            for name, label in _DROPPED.items()
            for sample in self.of(name)
        }

    def span_ms(self) -> tuple[int, int]:
        """Return the first and the last instant of rows that the server keeps."""
        now = time.time()
        first = max(now - seconds(self.flag("retentionPeriod")) + _MARGIN_S, 0)
        last = now + seconds(self.flag("futureRetention") or "2d") - _MARGIN_S
        return int(first * 1000), int(last * 1000)


def seconds(duration: str) -> float:
    """Return a duration such as 1M, 2d or 1h30m in seconds; a bare number counts months."""
    if duration.replace(".", "", 1).isdigit():
        return float(duration) * _UNITS_S["M"]
    found = re.findall(r"([\d.]+)(ms|[smhdwMy])", duration)
    return sum(float(number) * _UNITS_S[unit] for number, unit in found)


class VictoriaMetricsSession(MetricSession):
    """One connection."""

    finest = 1000
    unique = False

    def __init__(
        self,
        http: Http,
        render: Callable[[Query], Statement],
        *,
        prefix: str,
        decimals: int,
        query_timeout_s: float,
    ) -> None:
        super().__init__(http, render)
        self.page = Page({})
        """The page /metrics when the session was opened."""
        self._prefix = prefix
        self._decimals = decimals
        self._query_timeout_s = query_timeout_s

    def greet(self) -> None:
        """Read the server's settings; HttpError if it is not a single-node VictoriaMetrics."""
        if not self.learn().is_victoriametrics:
            raise HttpError("/metrics is not that of a single-node VictoriaMetrics", "check url")

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return what makes a block into requests: paths, and bodies in the shorter format."""
        del mode
        checks = Checks(table, name, self._decimals, self.page.span_ms())
        bodies = Bodies(self._prefix, table, name)

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            path, encoded = bodies.encode(block, rows_per_batch, checks.times(block))
            return [(path, body) for body in encoded]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return what puts lines of one table beside the path of the request."""
        del form
        if self._prefix:
            raise UnstorableError(
                f"--extra-option prefix={self._prefix}: the lines of a file name tables without it;"
                " leave it out"
            )
        path = wire.lines_path(self._prefix, tables[0], tables[0].name)
        return lambda body, _rows: (path, body)

    def mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return what makes blocks into requests with rows of several tables."""
        span_ms = self.page.span_ms()
        checks = [Checks(table, table.name, self._decimals, span_ms) for table in tables]
        bodies = MixedBodies(self._prefix, tables)

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[Any]:
            times = [check.times(block) for check, block in zip(checks, blocks, strict=True)]
            path, encoded = bodies.encode(blocks, edges, times)
            return [(path, body) for body in encoded]

        return encode

    def send(self, payload: Payload) -> None:
        """Send the points; return once the server has them in memory.

        The answer has no count: `compact` compares the counters of dropped rows.
        """
        path, body = payload.data
        reply = self.http.request("POST", path, body)
        if reply.status != _STORED:
            raise NoAnswer(f"expected status 204, got {reply.status}: {reply.body[:200]!r}")

    # --- queries

    def call(self, path: str, form: Mapping[str, str] | None = None) -> bytes:
        """Post a form and return the answer."""
        body, wait_s = urlencode(form or {}).encode(), self._query_timeout_s
        with self.waiting():
            return self.http.request("POST", path, body, _FORM, wait_s).body

    def asked(self, head: str, expression: str, **more: str) -> Any:
        """Return the result of an expression, with the path and parameters of a statement."""
        path, _, given = head.partition("?")
        form = {**dict(parse_qsl(given)), **more, "query": expression}
        return json.loads(self.call(path, form))["data"]["result"]

    def now(self, expression: str) -> float | None:
        """Return the value of an expression over all times; None if there are no points."""
        head = f"/api/v1/query?nocache=1&time={wire.iso(wire.LAST_MS)}"
        result = self.asked(head, expression)
        return float(result[0]["value"][1]) if result else None

    def tables(self) -> set[str]:
        """Return the tables that have series, with the prefix."""
        return self._values(wire.TABLE_LABEL, queries.EVERY_SERIES)

    def foreign_metrics(self, names: Collection[str] = ()) -> set[str]:
        """Return which of these metrics, or of all, have series of no table."""
        return self._values("__name__", queries.of_no_table([*names]))

    def _values(self, label: str, chosen: str) -> set[str]:
        since_ms = 1000  # the server takes a start of 0 for none at all
        form = {"match[]": chosen, "start": wire.iso(since_ms), "end": wire.iso(wire.LAST_MS)}
        return set(json.loads(self.call(f"/api/v1/label/{label}/values", form))["data"])

    def rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and yield the rollups that it asks for."""
        return of_pieces(text, query, lambda own, piece: self._rolled_up(own, piece, wanted))

    def _rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        head, *expressions = text.splitlines()
        spans: list[dict[str, str]] = [{}] if query.bucket is None else list(self._steps(query))
        for rollup, expression in zip(wanted, expressions, strict=True):
            for span in spans:
                result = self.asked(head, expression, **span)
                yield from queries.rolled_up(query, rollup, result)

    def _steps(self, query: AggregateQuery) -> Iterator[dict[str, str]]:
        """Yield the first and the last window of each request; windows end where buckets do."""
        width = queries.width_ms(query)
        first, last = self._ends(query, width)
        for start in range(first // width * width, last + 1, _STEPS * width):
            stop = min(start + (_STEPS - 1) * width, last // width * width)
            yield {
                "start": wire.iso(start + width - 1),
                "end": wire.iso(stop + width - 1),
            }

    def _ends(self, query: AggregateQuery, width: int) -> tuple[int, int]:
        """Return the first and the last instant of a query's range that may have points."""
        table, since, until = query.table, query.selection.since, query.selection.until
        first = None if since is None else max(wire.ms(table, since), 0)
        last = None if until is None else wire.ms(table, until) - 1
        if first is not None and last is not None and last - first < _STEPS * width:
            return first, last
        (rows,) = rollups(AggregateQuery(table, _COUNT))
        ends = [self.now(text) for text in queries.extent(self._prefix, query, rows)]
        if ends[0] is None or ends[1] is None:
            return 0, -1
        found = round(ends[0] * 1000), round(ends[1] * 1000)
        return (
            found[0] if first is None else max(found[0], first),
            found[1] if last is None else min(found[1], last),
        )

    def points(
        self, table: Table, columns: Sequence[Column], selection: Selection
    ) -> Iterable[Series]:
        """Return the points of these fields that are selected by tags and time."""
        since, until = selection.since, selection.until
        first = 0 if since is None else max(wire.ms(table, since), 0)
        last = wire.LAST_MS if until is None else wire.ms(table, until) - 1
        if last < first:
            return iter(())
        form = {
            "match[]": queries.selector(self._prefix, table, columns, selection.one_of),
            "start": wire.iso(first),
            "end": wire.iso(last),
        }
        body, wait_s = urlencode(form).encode(), self._query_timeout_s
        pieces = self.http.stream("POST", "/api/v1/export", body, _FORM, wait_s)
        return queries.series(self._prefix, table, lines(self.awaited(pieces)))

    def _distinct(self, text: str, query: DistinctQuery) -> Sequence[Sequence[Any]]:
        """Return how many combinations there are, without reading all rows where possible.

        Rows of a series that all differ in one of the columns are all distinct.
        """
        table = query.table
        columns = [c for c in fields(table) if c.name in query.columns and not c.nullable]
        identity = {*(tag.name for tag in table.tags), table.time.name}
        if columns and identity <= set(query.columns):
            rows = AggregateQuery(table, _COUNT)
            ((count,),) = self.run(self.render(rows))
            for column in columns:
                different = self.now(queries.distinct(self._prefix, rows, column))
                if count == int(different or 0):
                    return [(count,)]
        return super()._distinct(text, query)

    def tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run expressions from config.yaml: each fills a column, after those of the groups.

        A group is a tag with the name of the answer's column, or the start of a `bucket`, which is
        the instant of its window. The first line may be a path with parameters, as in the
        statements of this module.
        """
        head, *expressions = statement.text.strip().splitlines()
        if not head.startswith("/"):
            last = wire.iso(wire.LAST_MS)
            head, expressions = f"/api/v1/query?nocache=1&time={last}", [head, *expressions]
        names = [output.name for output in statement.outputs]
        keys = names[: len(names) - len(expressions)]
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for place, expression in enumerate(expressions):
            for item in self.asked(head, expression):
                for instant, value in item.get("values") or [item["value"]]:
                    known = {**item["metric"], "bucket": round(float(instant) * 1000)}
                    key = tuple(known.get(name) for name in keys)
                    rows.setdefault(key, [None] * len(expressions))[place] = float(value)
        return [(*key, *found) for key, found in rows.items()]

    # --- the server

    def learn(self) -> Page:
        """Read the page /metrics."""
        text = self.http.request("GET", "/metrics", timeout_s=self._query_timeout_s).body
        self.page = Page.parsed(text.decode())
        return self.page

    def flush(self) -> None:
        """Make all rows sent so far visible to queries."""
        self.call("/internal/force_flush")

    def mark(self, names: Iterable[str], instant_ms: int) -> None:
        """Mark tables as existing."""
        marks = [
            {
                "metric": {"__name__": wire.TABLE_LABEL, wire.TABLE_LABEL: name},
                "values": [1],
                "timestamps": [instant_ms],
            }
            for name in names
        ]
        body = "\n".join(json.dumps(mark, ensure_ascii=False) for mark in marks)
        self.http.request("POST", "/api/v1/import", body.encode())
