"""A session of CrateDB by HTTP: how rows are sent, and what an error says about them."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.encode.rows import Frame
from simulator.encode.text import Style, Text
from simulator.modules.base import SINGLE, Failure, Payload, Session
from simulator.modules.cratedb.query import CrateDialect, check
from simulator.modules.shared.http import Http, HttpError, Refused, classify

_STORED = b'"rowcount":1}'
_REQUEST_IS_WRONG = range(4000, 5000)


def _escape(text: bytes) -> bytes:
    return json.dumps(text.decode(), ensure_ascii=False)[1:-1].encode()


JSON = Style(
    b"null", b"false", b"true", None, b'"', special=bytes(range(0x20)) + b'"\\', escape=_escape
)


class RowsRefused(HttpError):
    """Rows of a bulk request were not stored; others of it may be."""

    def __init__(self, results: Sequence[dict[str, Any]]) -> None:
        refused = [result for result in results if result.get("rowcount") != 1]
        self.stored = len(results) - len(refused)
        error: dict[str, Any] = next((r["error"] for r in refused if r.get("error")), {})
        self.code = int(error.get("code", 0))
        told = (result.get("error_message") for result in refused)  # the form of older versions
        message = error.get("message") or next(filter(None, told), "the server does not say why")
        super().__init__(f"{len(refused)} of {len(results)} rows were refused: {message}")


class PiecesFailed(HttpError):
    """Some of the requests that a batch was cut into have failed."""

    def __init__(self, failure: Failure, errors: Sequence[Exception], requests: int) -> None:
        self.failure = failure
        super().__init__(f"{len(errors)} of {requests} requests failed; {errors[0]}")


class CratedbSession(Session):
    """One or more connections; a batch's requests go over all of them at once."""

    def __init__(
        self,
        connections: Sequence[Http],
        dialect_of: Callable[[Table], CrateDialect],
        query_timeout_s: float,
    ) -> None:
        self._connections = connections
        self._dialect_of = dialect_of
        self._query_timeout_s = query_timeout_s
        self._encoders: dict[tuple[str, str], Text] = {}
        self._pool = ThreadPoolExecutor(len(connections)) if len(connections) > 1 else None

    def close(self) -> None:
        """Close the connections."""
        with suppress(Exception):
            for connection in self._connections:
                connection.close()
            if self._pool:
                self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def alive(self) -> bool:
        """Whether every connection answered its last request."""
        return all(connection.alive for connection in self._connections)

    # --- rows in ----------------------------------------------------------------------------------

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as bodies of requests, one or more for each send."""
        check(block)
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            encoder = self._encoders[block.name, mode] = self._encoder(block, mode)
        starts = range(0, len(block), rows_per_send)
        sizes = [min(rows_per_send, len(block) - start) for start in starts]
        if self._pool is None:
            bodies = encoder.encode(block, rows_per_send)
            return [Payload(n, mode, [(n, body)]) for n, body in zip(sizes, bodies, strict=True)]
        payloads = []
        for start, size in zip(starts, sizes, strict=True):
            piece = -(-size // len(self._connections))
            counts = [min(piece, size - first) for first in range(0, size, piece)]
            cut = encoder.encode(block.slice(start, start + size), piece)
            payloads.append(Payload(size, mode, [*zip(counts, cut, strict=True)]))
        return payloads

    def _encoder(self, block: Block, mode: str) -> Text:
        dialect = self._dialect_of(block.table)
        names = dialect.inserted()
        into = f"INSERT INTO {CrateDialect.name(dialect, block.name)} ({', '.join(names)})"
        statement = json.dumps(f"{into} VALUES ({', '.join('?' * len(names))})").encode()
        row = dialect.row(
            JSON, Frame(b"[", b",", b"]"), b",", lambda name: json.dumps(name).encode() + b":"
        )
        before, after = b'{"stmt":%b,"bulk_args":[' % statement, b"]}"
        if mode == SINGLE:
            before, after = b'{"stmt":%b,"args":' % statement, b"}"
        return Text(row, Frame(before, b",", after), block.table.time_unit)

    def send(self, payload: Payload) -> None:
        """Send the rows and return once every one is stored."""
        requests: Sequence[tuple[int, bytes]] = payload.data
        if self._pool is None:
            _insert(self._connections[0], *requests[0])
            return
        futures = [
            self._pool.submit(_insert, connection, rows, body)
            for connection, (rows, body) in zip(self._connections, requests, strict=False)
        ]
        outcomes = [future.exception() for future in futures]
        errors = [error for error in outcomes if isinstance(error, Exception)]
        if errors:
            raise PiecesFailed(self._together(errors, len(requests)), errors, len(requests))

    def _together(self, errors: Sequence[Exception], requests: int) -> Failure:
        """Say what the errors of some requests mean for the rows of all of them."""
        found = {self.classify(error) for error in errors}
        if Failure.FATAL in found:
            return Failure.FATAL
        # What is stored in part must not be sent again.
        whole = len(errors) == requests and found == {Failure.NOT_APPLIED}
        return Failure.NOT_APPLIED if whole else Failure.UNKNOWN

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A request is no transaction: what an error of the server's own leaves behind is not known.
        """
        match error:
            case PiecesFailed():
                return error.failure
            case RowsRefused() if error.code in _REQUEST_IS_WRONG:
                return Failure.FATAL
            case RowsRefused():
                return Failure.UNKNOWN if error.stored else Failure.NOT_APPLIED
            case Refused() if error.status >= 500:
                return Failure.UNKNOWN
            case _:
                return classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def ask(self, statement: str) -> Sequence[Sequence[Any]]:
        """Run a statement and return its rows; HttpError if it fails."""
        body = json.dumps({"stmt": statement}).encode()
        reply = self._connections[0].request("POST", "/_sql", body, None, self._query_timeout_s)
        rows: Sequence[Sequence[Any]] = reply.json().get("rows", [])
        return rows

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self.ask(statement.text)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, in the order of time.

        A portion goes on where the one before ended: with the instant of its last row, whose rows
        are left to it, since more of them may follow.
        """
        (time,) = statement.parameters
        place = [output.name for output in statement.outputs].index(time)
        name = '"' + time.replace('"', '""') + '"'
        since, limit = "", max(rows, 2)
        while True:
            found = self.ask(f"{statement.text}{since} ORDER BY {name} LIMIT {limit}")
            if len(found) < limit:
                yield from _portions(found, rows)
                return
            last = found[-1][place]
            complete = [row for row in found if row[place] != last]
            yield from _portions(complete, rows)
            limit = max(rows, 2) if complete else 2 * limit  # more rows of one instant than fit
            since = f" WHERE {name} >= {last}"


def _portions(found: Sequence[Any], rows: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(found), rows):
        yield found[start : start + rows]


def _insert(connection: Http, rows: int, body: bytes) -> None:
    """Send one INSERT; an error unless every row was stored."""
    reply = connection.request("POST", "/_sql", body)
    if reply.body.count(_STORED) == rows:  # so says every result of most replies
        return
    answer = reply.json()
    results = answer.get("results", [answer])
    if len(results) != rows or any(result.get("rowcount") != 1 for result in results):
        raise RowsRefused(results)
