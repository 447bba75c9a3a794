"""One connection to QuestDB: lines in, SQL out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.encode.lineprotocol import LineProtocol
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.questdb.query import LINES, stored
from simulator.modules.shared.http import Body, Http, NoAnswer, classify, gzipped

_COMMITTED = 204


class QuestSession(Session):
    """A connection, over which lines go out as bytes."""

    def __init__(self, http: Http, query_timeout_s: float, *, gzip: bool) -> None:
        self.http = http
        self._query_timeout_s = query_timeout_s
        self._gzip = gzip
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if gzip:
            self._headers["Content-Encoding"] = "gzip"
        self._encoders: dict[str, tuple[str, LineProtocol]] = {}

    def close(self) -> None:
        """Close the connection."""
        self.http.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self.http.alive

    # --- rows in

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as lines beside the path to post them to."""
        if block.name not in self._encoders:
            encoder = LineProtocol(stored(block.table), block.name, LINES)
            path = f"/write?precision={block.table.time_unit}"
            self._encoders[block.name] = path, encoder
        path, encoder = self._encoders[block.name]
        bodies: Iterable[Body] = encoder.encode(block, rows_per_send)
        if self._gzip:
            bodies = map(gzipped, bodies)
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(starts, bodies, strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Post the lines and return once they are committed to the write-ahead log.

        A request about one table is one transaction: if a line is refused, none is stored.
        """
        path, body = payload.data
        reply = self.http.request("POST", path, body, self._headers)
        if reply.status != _COMMITTED:
            raise NoAnswer(f"expected 204, got {reply.status}: {reply.body[:200]!r}")

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows."""
        return classify(error)

    # --- rows out

    def ask(self, statement: str) -> list[list[Any]]:
        """Run a statement and return its rows; HttpError if it fails.

        What is DECIMAL comes as a text, whose integer is exact.
        """
        path = f"/exec?{urlencode({'query': statement})}"
        told = self.http.request("GET", path, timeout_s=self._query_timeout_s).json()
        rows: list[list[Any]] = told.get("dataset", [])
        columns = told.get("columns", [])
        for place in (n for n, c in enumerate(columns) if c["type"].startswith("DECIMAL")):
            for row in rows:
                row[place] = None if row[place] is None else int(row[place])
        return rows

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self.ask(statement.text)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, part by part.

        A row is found by its number at once, and what is not written to keeps its order.
        """
        if not statement.parameters:
            yield from super().stream(statement, rows)
            return
        for part in statement.parameters:
            start = 0
            while portion := self.ask(f"{part} LIMIT {start}, {start + rows}"):
                yield portion
                start += rows
