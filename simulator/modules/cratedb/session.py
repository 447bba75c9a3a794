"""One or more HTTP connections to CrateDB, which send rows, and the meaning of errors."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.encode.ndjson import JSON
from simulator.encode.rows import Frame
from simulator.encode.text import TextEncoder
from simulator.modules.contract import SINGLE, Encoder, Failure, Payload
from simulator.modules.cratedb.query import CrateDialect, check_values
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import portions
from simulator.modules.shared.http.client import Http, HttpError, Refused, classify
from simulator.modules.shared.http.database import HttpSqlSession
from simulator.modules.shared.sql.language import quote

_STORED = b'"rowcount":1}'
UNKNOWN_RELATION = (4041, 4045)
"""Table or schema unknown; for some seconds after a restart, the error also hits existing ones."""
_TOO_MANY_REQUESTS = 4290
_FIGURES = re.compile(r"\s*\(rows=[^)]*\)")


def shape_of_plan(text: str) -> str:
    """Return the operators of a plan, with conditions and columns."""
    return shapes.of_text(text, lambda line: _FIGURES.sub("", line))


class CrateRowsRefused(HttpError):
    """Some rows of a request were refused; the other rows may be stored."""

    def __init__(self, results: Sequence[dict[str, Any]]) -> None:
        refused = [result for result in results if result.get("rowcount") != 1]
        self.stored = len(results) - len(refused)
        error: dict[str, Any] = next((r["error"] for r in refused if r.get("error")), {})
        self.code = int(error.get("code", 0))
        old = (result.get("error_message") for result in refused)  # in older versions
        message = error.get("message") or next(filter(None, old), "the server gives no reason")
        super().__init__(f"{len(refused)} of {len(results)} rows were refused: {message}")


class RequestsFailed(HttpError):
    """Some of the requests of a batch failed."""

    def __init__(self, failure: Failure, errors: Sequence[Exception], requests: int) -> None:
        self.failure = failure
        super().__init__(f"{len(errors)} of {requests} requests failed; {errors[0]}")


class CratedbSession(HttpSqlSession):
    """One or more connections; the requests of a batch use all of them concurrently."""

    shape_of = staticmethod(shape_of_plan)

    def __init__(
        self, connections: Sequence[Http], dialect_of: Callable[[Table], CrateDialect]
    ) -> None:
        super().__init__(connections[0])
        self._connections = connections
        self._dialect_of = dialect_of
        self._pool = ThreadPoolExecutor(len(connections)) if len(connections) > 1 else None

    def close(self) -> None:
        with suppress(Exception):
            for connection in self._connections:
                connection.close()
            if self._pool:
                self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def alive(self) -> bool:
        return all(connection.alive for connection in self._connections)

    # --- rows in ----------------------------------------------------------------------------------

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of the requests of each batch: number of rows, and body."""
        bodies = self._make_encoder(table, name, mode)

        def encode(block: Block, rows_per_batch: int) -> Sequence[list[tuple[int, bytes]]]:
            check_values(block)
            starts = range(0, len(block), rows_per_batch)
            sizes = [min(rows_per_batch, len(block) - start) for start in starts]
            if len(self._connections) == 1:
                encoded = bodies.encode(block, rows_per_batch)
                return [[pair] for pair in zip(sizes, encoded, strict=True)]
            batches = []
            for start, size in zip(starts, sizes, strict=True):
                rows = -(-size // len(self._connections))
                counts = [min(rows, size - first) for first in range(0, size, rows)]
                encoded = bodies.encode(block.slice(start, start + size), rows)
                batches.append([*zip(counts, encoded, strict=True)])
            return batches

        return encode

    def _make_encoder(self, table: Table, name: str, mode: str) -> TextEncoder:
        dialect = self._dialect_of(table)
        names = dialect.find_inserted()
        into = f"INSERT INTO {quote(name)} ({', '.join(names)})"
        statement = json.dumps(f"{into} VALUES ({', '.join('?' * len(names))})").encode()
        row = dialect.row(
            JSON, Frame(b"[", b",", b"]"), b",", lambda name: json.dumps(name).encode() + b":"
        )
        before, after = b'{"stmt":%b,"bulk_args":[' % statement, b"]}"
        if mode == SINGLE:
            before, after = b'{"stmt":%b,"args":' % statement, b"}"
        return TextEncoder(row, Frame(before, b",", after), table.time_unit)

    def send(self, payload: Payload) -> None:
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
            failure = self._classify_all(errors, len(requests))
            raise RequestsFailed(failure, errors, len(requests))

    def _classify_all(self, errors: Sequence[Exception], requests: int) -> Failure:
        """Return the meaning of errors of some requests for the rows of all requests."""
        found = {self.classify(error) for error in errors}
        if Failure.FATAL in found:
            return Failure.FATAL
        # A batch that is partly stored must not be sent again.
        whole = len(errors) == requests and found == {Failure.NOT_APPLIED}
        return Failure.NOT_APPLIED if whole else Failure.UNKNOWN

    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of `send` for its rows.

        A request is not a transaction: after an internal error of the server, any row may be
        stored.
        """
        match error:
            case RequestsFailed():
                return error.failure
            case CrateRowsRefused():
                # The request is wrong, or the table is blocked: the error will occur again.
                is_final = str(error.code).startswith("4") and error.code != _TOO_MANY_REQUESTS
                if is_final and error.code not in UNKNOWN_RELATION:
                    return Failure.FATAL
                return Failure.UNKNOWN if error.stored else Failure.NOT_APPLIED
            case Refused() if error.status >= 500:
                return Failure.UNKNOWN
            case Refused(status=404) if _read_code(error) in UNKNOWN_RELATION:
                return Failure.NOT_APPLIED
            case _:
                return classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def ask(self, statement: str) -> Sequence[Sequence[Any]]:
        body = json.dumps({"stmt": statement}).encode()
        with self.waiting():
            reply = self.http.query("POST", "/_sql", body)
        rows: Sequence[Sequence[Any]] = reply.json().get("rows", [])
        return rows

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, in the order of time.

        A portion leaves out the rows of its last instant, because more of them may follow. The next
        portion begins with that instant.
        """
        if not statement.parameters:
            yield from super().stream(statement, rows)
            return
        (time,) = statement.parameters
        place = [output.name for output in statement.outputs].index(time)
        name = quote(time)
        since, limit = "", max(rows, 2)
        while True:
            found = self.ask(f"{statement.text}{since} ORDER BY {name} LIMIT {limit}")
            if len(found) < limit:
                yield from portions(found, rows)
                return
            last = found[-1][place]
            complete = [row for row in found if row[place] != last]
            yield from portions(complete, rows)
            limit = max(rows, 2) if complete else 2 * limit  # one instant has more rows than fit
            since = f" WHERE {name} >= {last}"


def _read_code(error: Refused) -> int:
    """Return CrateDB's error number; 0 if the answer has none."""
    try:
        return int(json.loads(error.reply.body)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return 0


def _insert(connection: Http, rows: int, body: bytes) -> None:
    """Send one INSERT; CrateRowsRefused unless every row was stored."""
    reply = connection.request("POST", "/_sql", body)
    if reply.body.count(_STORED) == rows:  # counted without parsing, which is slower
        return
    answer = reply.json()
    results = answer.get("results", [answer])
    if len(results) != rows or any(result.get("rowcount") != 1 for result in results):
        raise CrateRowsRefused(results)
