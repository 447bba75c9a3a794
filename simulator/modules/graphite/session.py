"""A session with Graphite: it sends points to carbon, and queries to graphite-web."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Rows
from simulator.data.query import AggregateQuery, Function, Query, Selection, Statement
from simulator.data.schema import Column, Table
from simulator.encode.points import MixedPoints
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import (
    BATCH,
    MISSING,
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
)
from simulator.modules.graphite import query as queries
from simulator.modules.graphite.wire import (
    ESCAPED,
    LENGTH,
    LINES,
    MESSAGE_BYTES,
    Carbon,
    NothingSent,
    frame,
    lines,
    path_lengths,
    pickles,
)
from simulator.modules.shared.http.client import Http
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import PointSeries
from simulator.modules.shared.metrics.rollups import Combined, RolledUp, Rollup
from simulator.modules.shared.metrics.session import MetricSession
from simulator.protocol.records import RecordFormat

PICKLE = "pickle"
"""Insert mode: messages of many points in carbon's binary protocol."""

_LIMITS = Limits(
    product="Graphite",
    letters=queries.LETTERS,
    large_integers=False,
    more_in_tags=ESCAPED,
    allowed="ASCII letters, digits, - and _, and . and / in tags",
    finer="--tick-ms 1000 and a --start-time give whole seconds",
)


def make_checks(table: Table, name: str) -> Checked:
    """Return the checks of a physical table's rows; UnstorableError if it cannot be stored."""
    return Checked(_LIMITS, table, name, 1)


def check_span(table: Table, times: NDArray[np.int64], retention_s: int) -> None:
    """Raise UnstorableError for seconds that the server does not keep or return."""
    if not len(times):
        return
    now, least, most = int(time.time()), int(times.min()), int(times.max())  # noqa: TID251
    column = table.time.name
    if most > now:
        raise UnstorableError(
            f"column {column}: {_format(most)} is in the future, which Graphite does not return;"
            " use a --start-time so long ago that all rows are in the past"
        )
    if least <= now - retention_s:
        raise UnstorableError(
            f"column {column}: {_format(least)} is longer ago than retention_s={retention_s}, for "
            "which the server keeps points of one second; use a later --start-time"
        )


class Generations:
    """The generations of all tables with a prefix, as graphite-web last listed their markers."""

    def __init__(self, ask: Callable[[str], Any], prefix: str) -> None:
        """Store the function that returns graphite-web's answer to a path."""
        self._ask = ask
        self._prefix = prefix
        self._marked: dict[str, dict[str, int]] = {queries.CREATED: {}, queries.DROPPED: {}}
        """Kind of marker -> table -> its newest generation."""

    def learn(self) -> set[str]:
        """Read the generations of all tables; return the paths of their markers."""
        kinds = f"{{{queries.CREATED},{queries.DROPPED}}}"
        asked = urlencode({"query": f"{self._prefix}*.{kinds}.*", "leavesOnly": 1})
        paths = {str(path) for path in self._ask(f"/metrics/expand?{asked}")["results"]}
        for path in paths:
            name, kind, generation = path.removeprefix(self._prefix).split(".")
            newest = self._marked[kind]
            newest[name] = max(newest.get(name, 0), int(generation))
        return paths

    def newest(self, name: str) -> int:
        """Return the newest generation of a physical table; 0 if it was never created."""
        return self._marked[queries.CREATED].get(name, 0)

    def exists(self, name: str) -> bool:
        """Return whether a physical table was created and not dropped afterwards."""
        return self.newest(name) > self._marked[queries.DROPPED].get(name, 0)

    def of(self, name: str) -> int:
        """Return the generation of a table; SetupError if the table does not exist."""
        if not self.exists(name):
            self.learn()  # the table may be new
        if not self.exists(name):
            raise SetupError(f"graphite: table {name} does not exist; {MISSING}")
        return self.newest(name)

    def has_path(self, name: str) -> bool:
        """Return whether a metric, or a folder of metrics, has the path of a table."""
        return bool(self._find_nodes(f"{self._prefix}{name}"))

    def paths_below(self, name: str) -> int:
        """Return the number of nodes below the path of a table or of other metrics."""
        generation = [str(self.newest(name))] if self.newest(name) else []
        return len(self._find_nodes(".".join([f"{self._prefix}{name}", *generation, "*"])))

    def _find_nodes(self, path: str) -> list[Any]:
        return list(self._ask(f"/metrics/find?{urlencode({'query': path})}"))


class GraphiteSession(MetricSession):
    """A connection to carbon, opened by the first send, and one to graphite-web."""

    correcting: ClassVar[str] = BATCH

    finest = 1

    def __init__(
        self,
        web: Http,
        open_carbon: Callable[[str], Carbon],
        render: Callable[[Query], Statement],
        *,
        prefix: str,
        retention_s: int,
    ) -> None:
        """Store, as `open_carbon`, the function that opens carbon's port for an insert mode."""
        super().__init__(web, render)
        self._prefix = prefix
        self._retention_s = retention_s
        self._open_carbon = open_carbon
        self._carbon: Carbon | None = None
        self.generations = Generations(self._get, prefix)

    def greet(self) -> None:
        self.generations.learn()

    def _get(self, path: str) -> Any:
        with self.waiting():
            return self.http.request("GET", path).json()

    def close(self) -> None:
        if self._carbon:
            self._carbon.close()
        super().close()

    @property
    def alive(self) -> bool:
        return self.http.alive and (self._carbon is None or self._carbon.alive)

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        check = make_checks(table, name)
        path = self._name_path(name)
        in_pickles = mode == PICKLE
        points = pickles(table, path) if in_pickles else lines(table, path)

        def encode(block: Block, rows_per_batch: int) -> Sequence[bytes]:
            instead = self._read_seconds(check, block)
            if not in_pickles:
                return [line for (line,) in points.encode(block, rows_per_batch, instead=instead)]
            instead[LENGTH] = path_lengths(block)
            batches = points.encode(
                block, rows_per_batch, instead=instead, limit_bytes=MESSAGE_BYTES
            )
            return [frame(messages) for messages in batches]

        return encode

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        checks = [make_checks(table, table.name) for table in tables]
        mixed = MixedPoints([lines(table, self._name_path(table.name)) for table in tables], LINES)

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[bytes]:
            instead = list(map(self._read_seconds, checks, blocks))
            return [line for (line,) in mixed.encode(blocks, edges, instead=instead)]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope that adds prefix and generation of its table to each path."""
        paths = {table.name.encode(): self._name_path(table.name).encode() for table in tables}
        names = b"|".join(map(re.escape, paths))
        begins = re.compile(rb"^(?:%s)(?=\.)" % names, re.MULTILINE)
        return lambda lines, _rows: begins.sub(lambda name: paths[name[0]], lines)

    def _name_path(self, name: str) -> str:
        return queries.path(self._prefix, name, self.generations.of(name))

    def _read_seconds(self, check: Checked, block: Block) -> dict[str, Array]:
        """Return the times of rows in seconds; UnstorableError for rows that it cannot store."""
        times = check.times(block)
        check_span(block.table, times, self._retention_s)
        return {block.table.time.name: times}

    def send(self, payload: Payload) -> None:
        """Send the points; return once the kernel has taken them."""
        if self._carbon is None:
            self._carbon = self._open_carbon(payload.mode)
        self._carbon.send(payload.data)

    def classify(self, error: Exception) -> Failure:
        return Failure.NOT_APPLIED if isinstance(error, NothingSent) else Failure.UNKNOWN

    # --- queries

    def render_series(self, span: str, targets: Sequence[str]) -> list[tuple[int, Any]]:
        """Return series without their gaps, each with the number of its target."""
        named = [f'alias({target},"{n}")' for n, target in enumerate(map(self._resolve, targets))]
        return [(int(item["target"]), item) for item in self._render(span, named)]

    def _render(self, span: str, targets: Sequence[str]) -> Any:
        asked = [("target", target) for target in targets]
        asked += [(key, value) for key, _, value in (w.partition("=") for w in span.split())]
        asked += [("format", "json"), ("noNullPoints", "true"), ("noCache", "true")]
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(asked).encode()
        with self.waiting():
            reply = self.http.query("POST", "/render", body, headers)
        return reply.json()

    def _resolve(self, target: str) -> str:
        """Return a target with the generation of its table instead of the placeholder."""
        pattern = rf"{re.escape(self._prefix)}([\w-]+)\.{queries.GENERATION}\b"
        begin = self._prefix
        return re.sub(
            pattern, lambda m: queries.path(begin, m[1], self.generations.of(m[1])), target
        )

    def roll_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        span, *targets = text.splitlines()
        reply = self.render_series(span, targets) if targets else []
        return queries.roll_up(self._prefix, query, wanted, reply)

    def find_undecided(self, groups: Combined) -> list[Column]:
        """Return the columns with aggregates that only the points show, such as first values."""
        first = {a.column for a in groups.query.aggregates if a.function is Function.FIRST}
        table, doubtful = groups.query.table, super().find_undecided(groups)
        return doubtful + [c for c in table.columns if c.name in first and c not in doubtful]

    def points(
        self, table: Table, columns: Sequence[Column], selection: Selection
    ) -> Iterable[PointSeries]:
        prefix = self._prefix
        span = queries.span_of(table, self._retention_s, selection)
        targets = [
            target
            for name in table.names
            for target in queries.series_targets(prefix, table, name, columns, selection.one_of)
        ]
        return queries.series(prefix, table, columns, self.render_series(span, targets))

    def run_tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run targets from config.yaml; each fills a column of the answer.

        An additional first column is the name of the series (`aliasByNode`).
        """
        span, *targets = statement.text.splitlines()
        grouped = len(statement.outputs) > len(targets)
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for place, target in enumerate(targets):
            for item in self._render(span, [self._resolve(target)]):
                key = (item["target"],) if grouped else ()
                for value, _ in item["datapoints"]:
                    rows.setdefault(key, [None] * len(targets))[place] = value
        return [(*key, *values) for key, values in rows.items()]

    # --- the server

    def mark(self, paths: Iterable[str]) -> None:
        """Send points that mark generations."""
        now = int(time.time())  # noqa: TID251
        marks = "".join(f"{path} 1 {now}\n" for path in paths)
        carbon = self._open_carbon(BATCH)
        carbon.send(marks.encode())
        carbon.close()


def _format(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
