"""One connection to VictoriaMetrics: how rows are sent, what can be held, and how to ask."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Query,
    Statement,
)
from simulator.data.schema import FLOATS, Column, Table, Type
from simulator.encode.levels import Rendered
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.series import SeriesLines
from simulator.errors import UnstorableError
from simulator.modules.base import Failure, Payload
from simulator.modules.shared.http import Body, Http, classify, lines
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import Series, fields
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, rollups
from simulator.modules.shared.metrics.session import MetricSession
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics.server import Page

_LIMITS = Limits(
    product="VictoriaMetrics",
    letters=None,
    large_integers=False,
    more_in_tags="",
    told="",
    finer="the workload iot has whole milliseconds",
    null_tags=True,
    longest_tag=4096,
)
"""The length of tags is -maxLabelValueLen, unless the server has another."""
_LONGEST_NAME = 256
_COUNT = (Aggregate(Function.COUNT),)
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.\0"
"""Letters that stand for themselves everywhere; NUL pads texts in an array."""
_FEW_ROWS = 4
"""A send has few rows of a series, if they are fewer than this."""
_STEPS = 10_000
"""Buckets of one request; the server gives up to 30,000 (-search.maxPointsPerTimeseries)."""
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class VictoriaMetricsSession(MetricSession):
    """A kept connection."""

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
        self.render = render
        self.page = Page({})
        """What the server said of itself when the session was opened."""
        self._http = http
        self._prefix = prefix
        self._decimals = decimals
        self._query_timeout_s = query_timeout_s
        self._encoders: dict[str, tuple[Checks, Bodies]] = {}

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self._http.alive

    # --- rows

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as requests: paths, and bodies in the format that is the shorter."""
        if block.name not in self._encoders:
            checks = Checks(block.table, block.name, self._decimals, self.page.span_ms())
            self._encoders[block.name] = checks, Bodies(self._prefix, block.table, block.name)
        checks, bodies = self._encoders[block.name]
        path, encoded = bodies.encode(block, rows_per_send, checks.times(block))
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(starts, encoded, strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Send the points; return once the server has them in memory."""
        path, body = payload.data
        self._http.request("POST", path, body)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows."""
        return classify(error)

    # --- queries

    def call(self, path: str, form: Mapping[str, str] | None = None) -> bytes:
        """Post a form and return the answer."""
        body, wait_s = urlencode(form or {}).encode(), self._query_timeout_s
        return self._http.request("POST", path, body, _FORM, wait_s).body

    def asked(self, head: str, expression: str, **more: str) -> Any:
        """Return the result of an expression, asked as the first line of a statement says."""
        path, _, given = head.partition("?")
        form = {**dict(parse_qsl(given)), **more, "query": expression}
        return json.loads(self.call(path, form))["data"]["result"]

    def now(self, expression: str) -> float | None:
        """Return what an expression over all times gives; None if there are no points."""
        head = f"/api/v1/query?nocache=1&time={queries.iso(queries.LAST_MS)}"
        result = self.asked(head, expression)
        return float(result[0]["value"][1]) if result else None

    def rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and yield the rollups that it asks for."""
        head, *expressions = text.splitlines()
        spans: list[dict[str, str]] = [{}] if query.bucket is None else list(self._steps(query))
        for rollup, expression in zip(wanted, expressions, strict=True):
            for span in spans:
                result = self.asked(head, expression, **span)
                yield from queries.rolled_up(query, rollup, result)

    def _steps(self, query: AggregateQuery) -> Iterator[dict[str, str]]:
        """Yield the first and the last window of each request, which ends where a bucket does."""
        table, width = query.table, queries.width_ms(query)
        (rows,) = rollups(AggregateQuery(table, _COUNT))
        ends = [self.now(text) for text in queries.extent(self._prefix, query, rows)]
        if ends[0] is None or ends[1] is None:
            return
        first, last = (round(end * 1000) for end in (ends[0], ends[1]))
        if query.since is not None:
            first = max(first, queries.ms(table, query.since))
        if query.until is not None:
            last = min(last, queries.ms(table, query.until) - 1)
        for start in range(first // width * width, last + 1, _STEPS * width):
            stop = min(start + (_STEPS - 1) * width, last // width * width)
            yield {
                "start": queries.iso(start + width - 1),
                "end": queries.iso(stop + width - 1),
            }

    def points(
        self, table: Table, columns: Sequence[Column], since: int | None, until: int | None
    ) -> Iterable[Series]:
        """Return the points of these fields in a span of time."""
        first = 0 if since is None else max(queries.ms(table, since), 0)
        last = queries.LAST_MS if until is None else queries.ms(table, until) - 1
        if last < first:
            return iter(())
        form = {
            "match[]": queries.selector(self._prefix, table, columns),
            "start": queries.iso(first),
            "end": queries.iso(last),
        }
        body, wait_s = urlencode(form).encode(), self._query_timeout_s
        pieces = self._http.stream("POST", "/api/v1/export", body, _FORM, wait_s)
        return queries.series(self._prefix, table, lines(pieces))

    def _distinct(self, text: str, query: DistinctQuery) -> Sequence[Sequence[Any]]:
        """Return how many combinations there are, without reading all rows where possible.

        Where the rows of a series all differ in one of the columns, they are all distinct.
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
        """Run the user's own expressions: each fills a column, behind those of the groups.

        A group is a tag that is called as the answer's column is, or the start of a `bucket`,
        which is the instant of its window. The first line may be a path with parameters, as in
        the statements of this module.
        """
        head, *expressions = statement.text.strip().splitlines()
        if not head.startswith("/"):
            last = queries.iso(queries.LAST_MS)
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
        """Ask the server what it says of itself."""
        text = self._http.request("GET", "/metrics", timeout_s=self._query_timeout_s).body
        self.page = Page.parsed(text.decode())
        return self.page

    def flush(self) -> None:
        """Make visible what was sent so far."""
        self.call("/internal/force_flush")

    def mark(self, names: Iterable[str], instant_ms: int) -> None:
        """Note that tables are there."""
        marks = [
            {
                "metric": {"__name__": queries.TABLE_LABEL, queries.TABLE_LABEL: name},
                "values": [1],
                "timestamps": [instant_ms],
            }
            for name in names
        ]
        body = "\n".join(json.dumps(mark, ensure_ascii=False) for mark in marks)
        self._http.request("POST", "/api/v1/import", body.encode())


def series_lines(prefix: str, table: Table, name: str) -> SeriesLines:
    """Return the encoder of a physical table's rows."""
    metrics = {c.name: queries.metric(prefix, name, c.name) for c in fields(table)}
    return SeriesLines(table, metrics, {queries.TABLE_LABEL: prefix + name})


class Bodies:
    """Encodes the rows of a physical table as requests.

    Where a send has many rows of each series, a line of JSON for each is the shortest, and the
    server takes a third less time for it. Where it has but a few, line protocol is: the names stand
    there once for all fields of a row. It is left to plain names and tags, and to times after 0,
    which it cannot tell from none at all.
    """

    def __init__(self, prefix: str, table: Table, name: str) -> None:
        self._table = table
        self._series = series_lines(prefix, table, name)
        self._lines = LineProtocol(table, prefix + name)
        label = urlencode({"extra_label": f"{queries.TABLE_LABEL}={prefix}{name}"})
        self._write = f"/write?precision={table.time_unit}&{label}"
        self._plain_names = all(map(_is_plain, (prefix + name, *(c.name for c in table.columns))))
        self._plain_tags = Rendered(lambda levels: _is_plain(levels.tobytes().decode("latin1")))

    def encode(
        self, block: Block, rows_per_send: int, times: NDArray[np.int64]
    ) -> tuple[str, Sequence[Body]]:
        """Return the path of the requests, and their bodies."""
        if self._in_lines(block, rows_per_send, times):
            return self._write, self._lines.encode(block, rows_per_send)
        return "/api/v1/import", self._series.encode(block, rows_per_send, times)

    def _in_lines(self, block: Block, rows_per_send: int, times: NDArray[np.int64]) -> bool:
        if not len(times) or not self._plain_names or times.min() < 1:
            return False
        series = 1
        for tag in self._table.tags:
            data = block.data[tag.name]
            if tag.type is Type.TEXT and not (
                isinstance(data, Coded) and self._plain_tags(data.levels)
            ):
                return False
            series *= len(data.levels if isinstance(data, Coded) else np.unique(data.array))
        return rows_per_send < _FEW_ROWS * min(series, rows_per_send)


def _is_plain(text: str) -> bool:
    return not text.strip(_PLAIN)


class Checks:
    """Whether the rows of a table can be held, exactly; UnstorableError if they cannot."""

    def __init__(self, table: Table, name: str, decimals: int, span_ms: tuple[int, int]) -> None:
        """Check what does not depend on the rows; `span_ms` is what the server keeps."""
        self._table, self._span_ms = table, span_ms
        self._rows = Checked(_LIMITS, table, name, 1000)
        for tag in table.tags:
            if tag.name in (queries.TABLE_LABEL, "__name__"):
                raise UnstorableError(f"column {tag.name}: the name is taken; use another")
            if len(tag.name.encode()) > _LONGEST_NAME:
                raise UnstorableError(
                    f"column {tag.name}: VictoriaMetrics takes names of {_LONGEST_NAME} bytes"
                )
        self._floats = [
            (column, Inexact(decimals)) for column in fields(table) if column.type in FLOATS
        ]

    def times(self, block: Block) -> NDArray[np.int64]:
        """Return the rows' times in ms, and see that all of the block can be stored."""
        times = self._rows.times(block)
        for column, inexact in self._floats:
            if problem := inexact.problem(block.data[column.name]):
                raise UnstorableError(f"column {column.name}: {problem}")
        if len(times):
            self._check_span(int(times.min()), int(times.max()))
        return times

    def _check_span(self, least: int, most: int) -> None:
        first, last = self._span_ms
        for instant in (least, most):
            if first <= instant <= last:
                continue
            shown = queries.iso(instant) if 0 <= instant <= queries.LAST_MS else f"{instant} ms"
            flag = "-retentionPeriod" if instant < first else "-futureRetention"
            raise UnstorableError(
                f"column {self._table.time.name}: {shown} is outside of what this server keeps, "
                f"{queries.iso(first)} to {queries.iso(min(last, queries.LAST_MS))}, and it would "
                f"drop the row without a word; start it with a longer {flag} (such as 100y), or "
                "give another --start-time"
            )


class Inexact:
    """Says what is wrong with floats that do not come back as they were.

    The server holds the numbers of a series as integers, all times the same power of ten, and finds
    that of a fraction by multiplying it by 100 up to 10**12. What it finds whole before is exact,
    and stays so beside all other numbers like it.
    """

    LIMIT = 9 * 10**11

    def __init__(self, decimals: int) -> None:
        self._decimals = decimals
        self._of_levels = Rendered(self._of)

    def problem(self, data: ColumnData) -> str:
        """Return what is wrong, or nothing."""
        if isinstance(data, Coded):
            return self._of_levels(data.levels)
        return self._of(data.array if data.valid is None else data.array[data.valid])

    def _of(self, values: Array) -> str:
        power = 10.0**self._decimals
        wide = values.astype(np.float64)
        with np.errstate(over="ignore"):
            scaled = np.rint(wide * power)
        wrong = (np.abs(scaled) > self.LIMIT) | (scaled / power != wide)
        if not wrong.any():
            return ""
        return (
            f"{float(wide[wrong][0])!r} is larger than {self.LIMIT / power:g} or has more than "
            f"{self._decimals} digits behind the point, and VictoriaMetrics might round it; see "
            "the option decimals"
        )
