"""One connection to Graphite: points to carbon, which never answers; questions to graphite-web."""

import re
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block
from simulator.data.query import AggregateQuery, Query, Statement
from simulator.data.schema import Column, Table, Type
from simulator.encode.points import Piece, Point, Points, Written, as_text
from simulator.encode.rows import Frame
from simulator.errors import SetupError, UnstorableError
from simulator.modules.base import Failure, Payload
from simulator.modules.graphite import query as queries
from simulator.modules.shared.http import Http
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import Series, fields
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup
from simulator.modules.shared.metrics.session import MetricSession
from simulator.modules.shared.tls import CONNECT_S, socket_options

PICKLE = "pickle"
"""Insert mode: messages of many points in carbon's binary protocol."""

_LIMITS = Limits(
    product="Graphite",
    letters=queries.LETTERS,
    large_integers=False,
    more_in_tags="",
    told="ASCII letters, digits, - and _",
    finer="--tick-ms 1000 and a --start-time give whole seconds",
)
_MESSAGE_BYTES = 1 << 20
"""As much as carbon takes in one pickle."""
_LENGTH = "length of the path"
_BUFFER_BYTES = 1 << 17
_CHUNK = 1 << 16


def checked(table: Table, name: str) -> Checked:
    """Return what checks the rows of a physical table; UnstorableError if no row can be stored."""
    return Checked(_LIMITS, table, name, 1)


class CarbonError(Exception):
    """A send that failed; the text says how."""


class NotConnected(CarbonError):
    """There was no connection, so nothing was sent."""


class Carbon:
    """A connection to one of carbon's ports."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self.where = f"{host}:{port}"
        self.alive = True
        try:
            self._socket = socket.create_connection((host, port), CONNECT_S)
        except OSError as error:
            reason = error.strerror or str(error)
            raise NotConnected(f"{self.where}: {reason}") from error
        for level, name, value in socket_options():
            self._socket.setsockopt(level, name, value)
        # What waits here counts as sent, so it is not to be much.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        self._socket.settimeout(timeout_s)

    def send(self, content: bytes) -> None:
        """Return once the kernel has taken the bytes, which is all that there is to know."""
        if not self.alive or self._is_closed():
            self.alive = False
            raise NotConnected(f"{self.where}: carbon has closed the connection")
        try:
            self._socket.sendall(content)
        except OSError as error:
            self.alive = False
            raise CarbonError(f"{self.where}: the connection was lost: {error}") from error

    def _is_closed(self) -> bool:
        """Whether the other end has hung up: it never says anything else."""
        readable, _, _ = select.select([self._socket], [], [], 0)
        return bool(readable)

    def close(self) -> None:
        """Say that no more is to come, and wait until carbon has read everything."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(_CHUNK):
                pass
        with suppress(OSError):
            self._socket.close()


class OpenCarbon(Protocol):
    """Opens a connection to carbon."""

    def __call__(self, *, pickle: bool) -> Carbon:
        """Open the port for pickles, or for lines."""


class GraphiteSession(MetricSession):
    """A kept connection to carbon, made by the first send, and one to graphite-web."""

    finest = 1

    def __init__(  # noqa: PLR0913
        self,
        web: Http,
        open_carbon: OpenCarbon,
        render: Callable[[Query], Statement],
        *,
        prefix: str,
        retention_s: int,
        query_timeout_s: float,
    ) -> None:
        self.render = render
        self._web = web
        self._prefix = prefix
        self._retention_s = retention_s
        self._query_timeout_s = query_timeout_s
        self._open_carbon = open_carbon
        self._carbon: Carbon | None = None
        self._marked: dict[str, dict[str, int]] = {queries.CREATED: {}, queries.DROPPED: {}}
        """The newest generation of each table that was created, and dropped."""
        self._encoders: dict[tuple[str, str], tuple[Checked, Points]] = {}

    def close(self) -> None:
        """Close both connections; carbon has then read what was sent."""
        if self._carbon:
            self._carbon.close()
        self._web.close()

    @property
    def alive(self) -> bool:
        """Whether the connections can still be used."""
        return self._web.alive and (self._carbon is None or self._carbon.alive)

    # --- rows

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as lines or pickles."""
        table, name = block.table, block.name
        if (name, mode) not in self._encoders:
            check, generation = checked(table, name), self.generation(name)
            make = pickles if mode == PICKLE else lines
            begin = queries.path(self._prefix, name, generation)
            self._encoders[name, mode] = check, make(table, begin)
        check, points = self._encoders[name, mode]
        times = check.times(block)
        self._check_span(table, times)
        instead: dict[str, Array] = {table.time.name: times}
        limit_bytes = None
        if mode == PICKLE:
            instead[_LENGTH] = _lengths(block)
            limit_bytes = _MESSAGE_BYTES
        sends = points.encode(block, rows_per_send, instead=instead, limit_bytes=limit_bytes)
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, _message(mode, messages))
            for start, messages in zip(starts, sends, strict=True)
        ]

    def _check_span(self, table: Table, times: NDArray[np.int64]) -> None:
        if not len(times):
            return
        now, least, most = int(time.time()), int(times.min()), int(times.max())
        column, keeps = table.time.name, self._retention_s
        if most > now:
            raise UnstorableError(
                f"column {column}: {_shown(most)} lies in the future, which Graphite does not tell;"
                " give a --start-time so long ago that all rows are of the past"
            )
        if least <= now - keeps:
            raise UnstorableError(
                f"column {column}: {_shown(least)} is longer ago than retention_s={keeps}, for "
                "which the server keeps points of a second; give a later --start-time"
            )

    def send(self, payload: Payload) -> None:
        """Send the points; return once the kernel has taken them."""
        if self._carbon is None:
            self._carbon = self._open_carbon(pickle=payload.mode == PICKLE)
        self._carbon.send(payload.data)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows."""
        return Failure.NOT_APPLIED if isinstance(error, NotConnected) else Failure.UNKNOWN

    # --- queries

    def rendered(self, span: str, targets: Sequence[str]) -> list[tuple[int, Any]]:
        """Return series without their gaps, each with the number of its target."""
        named = [f'alias({target},"{n}")' for n, target in enumerate(map(self._resolved, targets))]
        return [(int(item["target"]), item) for item in self._render(span, named)]

    def _render(self, span: str, targets: Sequence[str]) -> Any:
        asked = [("target", target) for target in targets]
        asked += [(key, value) for key, _, value in (w.partition("=") for w in span.split())]
        asked += [("format", "json"), ("noNullPoints", "true"), ("noCache", "true")]
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        timeout_s = self._query_timeout_s
        body = urlencode(asked).encode()
        return self._web.request("POST", "/render", body, headers, timeout_s).json()

    def _resolved(self, target: str) -> str:
        """Return a target with the generation of its table in it."""
        pattern = rf"{re.escape(self._prefix)}([\w-]+)\.{queries.GENERATION}\b"
        begin = self._prefix
        return re.sub(pattern, lambda m: queries.path(begin, m[1], self.generation(m[1])), target)

    def rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and return the rollups that it asks for."""
        span, *targets = text.splitlines()
        reply = self.rendered(span, targets)
        return queries.rolled_up(self._prefix, query, wanted, reply)

    def points(
        self, table: Table, columns: Sequence[Column], since: int | None, until: int | None
    ) -> Iterable[Series]:
        """Return the points of these fields in a span of time."""
        prefix = self._prefix
        span = queries.span_of(table, self._retention_s, since, until)
        targets = [
            target
            for name in table.names
            for target in queries.series_targets(prefix, table, name, columns)
        ]
        return queries.series(prefix, table, columns, self.rendered(span, targets))

    def tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run the user's own targets: each fills a column of the answer.

        If there is one column more, it is what the series are called (`aliasByNode`).
        """
        span, *targets = statement.text.splitlines()
        grouped = len(statement.outputs) > len(targets)
        rows: dict[tuple[Any, ...], list[Any]] = {}
        for place, target in enumerate(targets):
            for item in self._render(span, [self._resolved(target)]):
                key = (item["target"],) if grouped else ()
                for value, _ in item["datapoints"]:
                    rows.setdefault(key, [None] * len(targets))[place] = value
        return [(*key, *values) for key, values in rows.items()]

    # --- generations

    def learn(self) -> set[str]:
        """Ask which generations of which tables there are; return the paths that say so."""
        begin = self._prefix
        kinds = f"{{{queries.CREATED},{queries.DROPPED}}}"
        asked = urlencode({"query": f"{begin}*.{kinds}.*", "leavesOnly": 1})
        reply = self._web.request("GET", f"/metrics/expand?{asked}").json()
        paths = {str(path) for path in reply["results"]}
        for path in paths:
            name, kind, generation = queries.generation_of(path.removeprefix(begin))
            newest = self._marked[kind]
            newest[name] = max(newest.get(name, 0), generation)
        return paths

    def newest(self, name: str) -> int:
        """Return the newest generation of a physical table; 0 if there was none."""
        return self._marked[queries.CREATED].get(name, 0)

    def is_there(self, name: str) -> bool:
        """Whether a physical table was created and not dropped since."""
        return self.newest(name) > self._marked[queries.DROPPED].get(name, 0)

    def generation(self, name: str) -> int:
        """Return the generation of a table that is there; SetupError if it is not."""
        if not self.is_there(name):
            self.learn()  # it may have been made since
        if not self.is_there(name):
            raise SetupError(f"graphite: there is no table {name}; run an insert first")
        return self.newest(name)

    def version(self) -> str:
        """Return the version of graphite-web."""
        return self._web.request("GET", "/version").body.decode().strip()

    def mark(self, paths: Iterable[str]) -> None:
        """Send points that mark generations."""
        now = int(time.time())
        marks = "".join(f"{path} 1 {now}\n" for path in paths)
        carbon = self._open_carbon(pickle=False)
        carbon.send(marks.encode())
        carbon.close()


def _shown(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def lines(table: Table, begin: str) -> Points:
    """Return the encoder of `path value time` lines."""
    pieces = {c.name: Piece(c.name, as_text(c.type)) for c in table.columns}
    time_piece = pieces[table.time.name]
    points = [
        Point(
            field,
            [
                *_path(table, begin, field, pieces),
                b" ",
                pieces[field.name],
                b" ",
                time_piece,
                b"\n",
            ],
        )
        for field in fields(table)
    ]
    return Points(points, Frame(b"", b"", b""))


def _path(
    table: Table, begin: str, field: Column, pieces: Mapping[str, Piece]
) -> Iterator[bytes | Piece]:
    lead = begin.encode() + b"."
    for tag in table.tags:
        yield lead
        yield pieces[tag.name]
        lead = b"."
    yield lead + field.name.encode()


def pickles(table: Table, begin: str) -> Points:
    """Return the encoder of lists of (path, (time, value)), in opcodes of pickle's protocol 2.

    https://docs.python.org/3/library/pickletools.html: X a text after its length, J an integer of
    4 bytes, G a double, and the byte 134 a tuple of two.
    """
    pieces = {c.name: Piece(c.name, as_text(c.type)) for c in table.columns}
    when = Piece(table.time.name, _binary("<i4"))
    doubles = {kind: _binary(">f8") for kind in Type}
    points = []
    for field in fields(table):
        path = list(_path(table, begin, field, pieces))
        known = sum(len(piece) for piece in path if isinstance(piece, bytes))
        length = Piece(_LENGTH, _binary("<u4", known))
        value = Piece(field.name, doubles[field.type])
        points.append(Point(field, [b"X", length, *path, b"J", when, b"G", value, b"\x86\x86"]))
    return Points(points, Frame(b"\x80\x02](", b"", b"e."))


def _binary(dtype: str, more: int = 0) -> Callable[[Array], Written]:
    def write(values: Array) -> Written:
        wide = values.astype(np.float64) if dtype == ">f8" else values + more
        return wide.astype(dtype).view(f"V{np.dtype(dtype).itemsize}"), None

    return write


def _lengths(block: Block) -> NDArray[np.int64]:
    """Return how many bytes the tags of each row take in a path."""
    total = np.zeros(len(block), np.int64)
    for tag in block.table.tags:
        values = block.data[tag.name].values()
        texts = values if tag.type is Type.TEXT else values.astype(np.bytes_)
        total += np.strings.str_len(texts)
    return total


def _message(mode: str, messages: Sequence[bytes]) -> bytes:
    if mode != PICKLE:
        return messages[0]
    return b"".join(struct.pack("!L", len(message)) + message for message in messages)
