"""A session with VictoriaMetrics: it posts rows, and asks queries in MetricsQL."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.data.block import Block, Rows
from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    NewestQuery,
    Query,
    Selection,
    Statement,
)
from simulator.data.schema import Column, Table
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    Encoder,
    Envelope,
    MixedEncoder,
    Payload,
    QueryPlan,
    Unsupported,
)
from simulator.modules.shared import shapes
from simulator.modules.shared.http.client import Http, HttpError, NoAnswer, Refused, lines
from simulator.modules.shared.metrics.points import PointSeries, fields
from simulator.modules.shared.metrics.rollups import (
    COUNT_ROWS,
    RolledUp,
    Rollup,
    of_pieces,
    plan,
    rollups,
    with_pieces,
)
from simulator.modules.shared.metrics.session import MetricSession
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics import wire
from simulator.modules.victoriametrics.server import NOW, Api
from simulator.modules.victoriametrics.wire import Bodies, Checks, MixedBodies
from simulator.protocol.records import RecordFormat

_STEPS = 10_000
"""Buckets of one request, of at most 30,000 (-search.maxPointsPerTimeseries)."""
_STORED = 204
_UNPROCESSABLE = 422
_LIMITS = ("-search.maxSamplesPerSeries", "-search.maxSamplesPerQuery")


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
    ) -> None:
        super().__init__(http, render)
        self.api = Api(http, self.waiting)
        self._prefix = prefix
        self._decimals = decimals

    def greet(self) -> None:
        """Read the server's settings; HttpError if it is not a single-node VictoriaMetrics."""
        if not self.api.learn().is_victoriametrics:
            raise HttpError(
                "/metrics is not that of a single-node VictoriaMetrics", "check the URL"
            )

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        checks = Checks(table, name, self._decimals, self.api.page.span_ms())
        bodies = Bodies(self._prefix, table, name)

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            path, encoded = bodies.encode(block, rows_per_batch, checks.times(block))
            return [(path, body) for body in encoded]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        if self._prefix:
            raise UnstorableError(
                f"--extra-option prefix={self._prefix}: the lines of a file name tables without it;"
                " leave it out"
            )
        path = wire.lines_path(self._prefix, tables[0], tables[0].name)
        return lambda body, _rows: (path, body)

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        span_ms = self.api.page.span_ms()
        checks = [Checks(table, table.name, self._decimals, span_ms) for table in tables]
        bodies = MixedBodies(self._prefix, tables)

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[Any]:
            times = [check.times(block) for check, block in zip(checks, blocks, strict=True)]
            path, encoded = bodies.encode(blocks, edges, times)
            return [(path, body) for body in encoded]

        return encode

    def send(self, payload: Payload) -> None:
        """Send the points; return once the server has them in memory.

        The answer has no count, so `compact` compares the counters of dropped rows.
        """
        path, body = payload.data
        reply = self.http.request("POST", path, body)
        if reply.status != _STORED:
            raise NoAnswer(f"expected status 204, got {reply.status}: {reply.body[:200]!r}")

    # --- queries

    def gave_up(self, error: Exception) -> bool:
        """Return whether a limit ended a query, such as 30 million points of a series."""
        return (
            isinstance(error, Refused)
            and error.status == _UNPROCESSABLE
            and any(limit in str(error) for limit in _LIMITS)
        )

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the trace of each expression of a statement."""
        for span, text in self._list_traceable(statement):
            head, *expressions = text.strip().splitlines()
            if not head.startswith("/"):
                head, expressions = NOW, [head, *expressions]
            if not head.startswith("/api/v1/query"):
                raise Unsupported("the server traces queries only, and this exports points")
            for expression in expressions:
                trace = "\n".join(_format_trace(self.api.trace(head, expression, **span)))
                yield QueryPlan(expression, trace, shape_of_plan(trace))

    def _list_traceable(self, statement: Statement) -> Iterator[tuple[dict[str, str], str]]:
        """Yield each part of a statement, with the first span of time of its requests."""
        query = statement.parameters[0] if statement.parameters else None
        if not isinstance(query, AggregateQuery | NewestQuery | DistinctQuery):
            yield {}, statement.text
            return
        asked, _ = plan(query, unique=False)
        for piece, text in with_pieces(statement.text, asked):
            spans = iter([{}]) if piece.query.bucket is None else self._list_steps(piece.query)
            if (span := next(spans, None)) is not None:
                yield span, text

    def roll_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        return of_pieces(text, query, lambda own, piece: self._roll_up(own, piece, wanted))

    def _roll_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        head, *expressions = text.splitlines()
        spans: list[dict[str, str]] = (
            [{}] if query.bucket is None else list(self._list_steps(query))
        )
        for rollup, expression in zip(wanted, expressions, strict=True):
            for span in spans:
                result = self.api.ask(head, expression, **span)
                yield from queries.roll_up(query, rollup, result)

    def _list_steps(self, query: AggregateQuery) -> Iterator[dict[str, str]]:
        """Yield the first and the last window of each request; a window ends with its bucket."""
        width = queries.width_ms(query)
        first, last = self._find_ends(query, width)
        for start in range(first // width * width, last + 1, _STEPS * width):
            stop = min(start + (_STEPS - 1) * width, last // width * width)
            yield {"start": wire.iso(start + width - 1), "end": wire.iso(stop + width - 1)}

    def _find_ends(self, query: AggregateQuery, width: int) -> tuple[int, int]:
        """Return the first and the last instant with points in a query's range, or around them."""
        table, selection = query.table, query.selection
        first, last = wire.span_ms(table, selection)
        if last - first < _STEPS * width:
            return first, last
        (rows,) = rollups(AggregateQuery(table, COUNT_ROWS))
        head, texts = queries.extent(self._prefix, query, rows)
        ends = [self.api.number(head, text) for text in texts]
        if ends[0] is None or ends[1] is None:
            return 0, -1
        return max(round(ends[0] * 1000), first), min(round(ends[1] * 1000), last)

    def points(
        self, table: Table, columns: Sequence[Column], selection: Selection
    ) -> Iterable[PointSeries]:
        first, last = wire.span_ms(table, selection)
        if last < first:
            return iter(())
        chosen = queries.selector(self._prefix, table, columns, selection.one_of)
        pieces = self.api.export(chosen, first, last)
        return queries.series(self._prefix, table, lines(self.await_parts(pieces)))

    def _distinct(self, text: str, query: DistinctQuery) -> Sequence[Sequence[Any]]:
        """Return the number of distinct combinations, without reading all rows where possible.

        Rows of a series are distinct if they all differ in one of the columns.
        """
        table = query.table
        columns = [c for c in fields(table) if c.name in query.columns and not c.nullable]
        identity = {*(tag.name for tag in table.tags), table.time.name}
        if columns and identity <= set(query.columns):
            rows = AggregateQuery(table, COUNT_ROWS)
            ((count,),) = self.run(self.render(rows))
            for column in columns:
                different = self.api.now(queries.distinct(self._prefix, rows, column))
                if count == int(different or 0):
                    return [(count,)]
        return super()._distinct(text, query)

    def run_tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run expressions from config.yaml; each fills a column behind the columns of the groups.

        A group is a tag with the name of the column, or a `bucket`, the instant of its window. The
        first line may be a path with parameters, as in the statements of this module.
        """
        head, *expressions = statement.text.strip().splitlines()
        if not head.startswith("/"):
            head, expressions = NOW, [head, *expressions]
        names = [output.name for output in statement.outputs]
        keys = names[: len(names) - len(expressions)]
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for place, expression in enumerate(expressions):
            for item in self.api.ask(head, expression):
                for instant, value in item.get("values") or [item["value"]]:
                    known = {**item["metric"], "bucket": round(float(instant) * 1000)}
                    key = tuple(known.get(name) for name in keys)
                    rows.setdefault(key, [None] * len(expressions))[place] = float(value)
        return [(*key, *values) for key, values in rows.items()]


# --- query plans

_EVALUATED = re.compile(
    r"[\d.]+ ms: ((?:eval|aggregate|transform|(?:instant )?rollup|subquery)\b.*)"
)
"""Evaluation steps in a trace. Steps that search for series vary with the caches."""


def shape_of_plan(text: str) -> str:
    """Return the steps of the expression in a trace."""
    return shapes.of_text(text, lambda line: found[1] if (found := _EVALUATED.match(line)) else "")


def _format_trace(trace: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    yield f"{'  ' * depth}{trace['duration_msec']:g} ms: {trace['message']}"
    for each in trace.get("children") or ():
        yield from _format_trace(each, depth + 1)
