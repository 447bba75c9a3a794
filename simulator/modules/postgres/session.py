"""One connection to PostgreSQL: how rows are sent, and what an error says about them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.encode.pgcopy import PgCopy
from simulator.encode.rows import Frame
from simulator.encode.text import SQL, Text
from simulator.modules.base import BATCH, Failure, Payload, Session
from simulator.modules.shared import sql

if TYPE_CHECKING:
    from psycopg2.extensions import connection as Connection  # noqa: N812  # it is a class

VALUES = "values"
"""Insert mode: a batch as one INSERT with a list of rows."""
TRANSACTION = "transaction"
"""Insert mode: single rows, committed together."""

_COPY_CHUNK_BYTES = 1 << 20

_COMPLETION_UNKNOWN = "40003"
_MAY_HAVE_COMMITTED = frozenset({_COMPLETION_UNKNOWN, "57P01", "57P02"})  # admin, crash shutdown
_TRY_AGAIN = frozenset({"53300", "55P03", "57P03"})  # too many connections, locked, starting up


class PostgresSession(Session):
    """A connection in autocommit mode."""

    copy_format: ClassVar[str] = "(FORMAT binary)"

    def __init__(self, connection: "Connection", dialect: sql.Dialect) -> None:
        self.connection = connection
        self._cursor = connection.cursor()
        self._dialect = dialect
        self._encoders: dict[tuple[str, str], Callable[[Block, int], Sequence[Any]]] = {}
        self._sent = False
        self._commit_sent = False

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self.connection.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return not self.connection.closed

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as what `mode` sends, cut into payloads."""
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            encoder = self._encoder(block.table, block.name, mode)
            self._encoders[block.name, mode] = encoder
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, data)
            for start, data in zip(starts, encoder(block, rows_per_send), strict=True)
        ]

    def _encoder(self, table: Table, name: str, mode: str) -> Callable[[Block, int], Sequence[Any]]:
        """Return what makes a block of one physical table into what `mode` sends."""
        columns = self._dialect.names([column.name for column in table.columns])
        into = f"{self._dialect.name(name)} ({columns})"
        if mode == BATCH:
            copy = f"COPY {into} FROM STDIN {self.copy_format}"
            streams = PgCopy(table.columns, table.time_unit)
            return lambda block, rows: [(copy, stream) for stream in streams.encode(block, rows)]
        insert = replace(SQL, payload=Frame(f"INSERT INTO {into} VALUES ".encode(), b",", b""))
        inserts = Text.of(table.columns, table.time_unit, insert)
        if mode != TRANSACTION:
            return inserts.encode

        def transactions(block: Block, rows: int) -> Sequence[Sequence[bytes]]:
            singles = inserts.encode(block, 1)
            return [singles[start : start + rows] for start in range(0, len(singles), rows)]

        return transactions

    def send(self, payload: Payload) -> None:
        """Send the rows and return once they are committed."""
        self._sent = not self.connection.closed
        self._commit_sent = self._sent and payload.mode != TRANSACTION
        try:
            if payload.mode == BATCH:
                copy, stream = payload.data
                self._cursor.copy_expert(copy, BytesIO(stream), _COPY_CHUNK_BYTES)
            elif payload.mode == TRANSACTION:
                self._cursor.execute("BEGIN")
                for insert in payload.data:
                    self._cursor.execute(insert)
                self._commit_sent = True
                self._cursor.execute("COMMIT")
            else:
                self._cursor.execute(payload.data)
        except Exception:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """Leave a transaction that is open or has failed, if the connection lives."""
        from psycopg2 import Error, extensions  # noqa: PLC0415

        inside = (extensions.TRANSACTION_STATUS_INTRANS, extensions.TRANSACTION_STATUS_INERROR)
        if self.connection.get_transaction_status() in inside:
            with suppress(Error):
                self._cursor.execute("ROLLBACK")

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        An error that the server reports has undone the transaction, so its rows are not stored. A
        server that ends the connection, or is gone, may have committed before: even an orderly
        shutdown (57P01) can come between a commit and its acknowledgement, while the commit waits
        for a standby. Only rows whose commit was never asked for are then certainly not stored.
        """
        code: str | None = getattr(error, "pgcode", None)
        if code in _TRY_AGAIN or (code and code.startswith("40") and code != _COMPLETION_UNKNOWN):
            return Failure.NOT_APPLIED
        if (
            code is None
            or code in _MAY_HAVE_COMMITTED
            or code[:2] == "08"
            or self.connection.closed
        ):
            return Failure.UNKNOWN if self._commit_sent else Failure.NOT_APPLIED
        return Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        self._cursor.execute(statement.text, statement.parameters or None)
        return self._cursor.fetchall()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, which a cursor on the server holds."""
        declare = f"BEGIN READ ONLY; DECLARE portions NO SCROLL CURSOR FOR {statement.text}"
        try:
            self._cursor.execute(declare, statement.parameters or None)
            while True:
                self._cursor.execute(f"FETCH {rows} FROM portions")
                portion = self._cursor.fetchall()
                if not portion:
                    break
                yield portion
        finally:
            self._roll_back()
