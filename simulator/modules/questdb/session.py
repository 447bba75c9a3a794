"""One connection to QuestDB: lines in, SQL out."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.records import RecordFormat
from simulator.data.schema import Table
from simulator.encode.lineprotocol import LineProtocol
from simulator.modules.base import Encoder, Envelope, Payload
from simulator.modules.questdb.query import LINES, stored
from simulator.modules.shared.http import Body, Http, HttpSession, NoAnswer, gzipped

_COMMITTED = 204


class QuestSession(HttpSession):
    """A connection that sends lines as the bytes of requests."""

    def __init__(self, http: Http, query_timeout_s: float, *, gzip: bool) -> None:
        super().__init__(http)
        self._query_timeout_s = query_timeout_s
        self._gzip = gzip
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if gzip:
            self._headers["Content-Encoding"] = "gzip"

    def greet(self) -> None:
        """Run a statement, which shows whether the server accepts the user."""
        self.ask("SELECT 1")

    # --- rows in

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return what encodes blocks as lines, beside the path of the request."""
        lines = LineProtocol(stored(table), name, LINES)
        path = _path(table)

        def encode(block: Block, rows_per_batch: int) -> Sequence[tuple[str, Body]]:
            bodies = lines.encode(block, rows_per_batch)
            return [(path, gzipped(body) if self._gzip else body) for body in bodies]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return what puts lines beside the path of the request."""
        del form
        path = _path(tables[0])
        return lambda body, _rows: (path, gzipped(body) if self._gzip else body)

    def send(self, payload: Payload) -> None:
        """Post the lines and return once they are committed to the write-ahead log.

        The answer has no count, but a request for one table is one transaction: if the server
        refuses a line, it stores none.
        """
        path, body = payload.data
        reply = self.http.request("POST", path, body, self._headers)
        if reply.status != _COMMITTED:
            raise NoAnswer(f"expected 204, got {reply.status}: {reply.body[:200]!r}")

    # --- rows out

    def ask(self, statement: str) -> list[list[Any]]:
        """Run a statement and return its rows; HttpError if it fails.

        A DECIMAL arrives as text and becomes an exact integer.
        """
        path = f"/exec?{urlencode({'query': statement})}"
        with self.waiting():
            found = self.http.request("GET", path, timeout_s=self._query_timeout_s)
        reply = found.json()
        rows: list[list[Any]] = reply.get("dataset", [])
        columns = reply.get("columns", [])
        for place in (n for n, c in enumerate(columns) if c["type"].startswith("DECIMAL")):
            for row in rows:
                row[place] = None if row[place] is None else int(row[place])
        return rows

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        with self.in_client():
            return self.ask(statement.text)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, part by part.

        Access by row number is direct, and the order changes only with inserts.
        """
        if not statement.parameters:
            yield from super().stream(statement, rows)
            return
        for part in statement.parameters:
            start = 0
            while portion := self.ask(f"{part} LIMIT {start}, {start + rows}"):
                yield portion
                start += rows


def _path(table: Table) -> str:
    return f"/write?precision={table.time_unit}"
