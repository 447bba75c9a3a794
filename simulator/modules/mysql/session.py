"""One connection to MySQL: how rows are sent, and what an error says about them."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.data.block import Block, Coded
from simulator.data.query import Statement
from simulator.data.schema import Table, Type
from simulator.encode.instants import Iso
from simulator.encode.rows import Frame
from simulator.encode.text import SQL, TSV, Text
from simulator.errors import UnstorableError
from simulator.modules.base import BATCH, Failure, Payload, Session
from simulator.modules.mysql.query import TEXT_LENGTHS
from simulator.modules.shared import sql

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import Connection

VALUES = "values"
"""Insert mode: a batch as one INSERT with a list of rows."""
TRANSACTION = "transaction"
"""Insert mode: single rows, committed together."""

LOAD_FORMAT = replace(TSV, style=replace(TSV.style, false=b"0", true=b"1", instants=Iso(zone=b"")))
"""What LOAD DATA reads: tabs and line ends between, a backslash before what is special."""
_SQL = replace(
    SQL,
    style=replace(
        SQL.style,
        instants=Iso(b"'", zone=b""),
        special=b"'\\",
        escape=lambda text: text.replace(b"\\", b"\\\\").replace(b"'", b"''"),
    ),
)

_TRY_AGAIN = frozenset({1040, 1047, 1203, 1205, 1213, 3101})
"""Too many connections, a node that is not ready, locks not granted, deadlocks, conflicts."""
_INTERRUPTED = 1317
_ENDING = frozenset({1053, 1927, 3169, 4031})
"""Shutdown, or the connection was killed; the server closes it then."""
_UNCLEAR = _ENDING | {1105, 1180}
"""An unknown error, an error while committing."""
_DUPLICATE = 1062


class MySqlSession(Session):
    """A connection in autocommit mode."""

    def __init__(
        self,
        connection: "Connection",
        dialect: sql.Dialect,
        *,
        transactional: bool,
        commit_every_s: float,
    ) -> None:
        self.connection = connection
        self._dialect = dialect
        self._transactional = transactional
        self._commit_every_s = commit_every_s
        self._encoders: dict[tuple[str, str], Callable[[Block, int], Sequence[Any]]] = {}
        self._asked = False
        """Whether the last `send` asked for something that stores rows for good."""
        self._stored = False
        """Whether some of its rows may be stored, whatever came then."""
        self._splits = False
        """Whether what it asked for last stores the rows before the one that is refused."""

    def close(self) -> None:
        """Close the connection."""
        self.connection.hang_up()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self.connection.open

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as what `mode` sends, cut into payloads."""
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            encoder = self._encoder(block.table, block.name, mode)
            self._encoders[block.name, mode] = encoder
        _check_lengths(block)
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, data)
            for start, data in zip(starts, encoder(block, rows_per_send), strict=True)
        ]

    def _encoder(self, table: Table, name: str, mode: str) -> Callable[[Block, int], Sequence[Any]]:
        """Return what makes a block of one physical table into what `mode` sends."""
        quoted, columns = self._dialect.name(name), [column.name for column in table.columns]
        into = f"{quoted} ({self._dialect.names(columns)})"
        if mode == BATCH:
            begin = "BEGIN;" if self._transactional else ""
            load = (
                f"{begin}LOAD DATA LOCAL INFILE 'rows' INTO TABLE {quoted} CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY '\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\n' "
                f"({self._dialect.names(columns)})"
            ).encode()
            texts = Text.of(table.columns, table.time_unit, LOAD_FORMAT)
            return lambda block, rows: [(load, text) for text in texts.encode(block, rows)]
        head = Frame(f"INSERT INTO {into} VALUES ".encode(), b",", b"")
        inserts = Text.of(table.columns, table.time_unit, replace(_SQL, payload=head))
        if mode != TRANSACTION:
            return inserts.encode

        def transactions(block: Block, rows: int) -> Sequence[Sequence[bytes]]:
            singles = inserts.encode(block, 1)
            return [singles[start : start + rows] for start in range(0, len(singles), rows)]

        return transactions

    def send(self, payload: Payload) -> None:
        """Send the rows and return once they are committed."""
        from pymysql import Error  # noqa: PLC0415

        self._asked = self._stored = self._splits = False
        try:
            if payload.mode == BATCH:
                self._load(payload)
            elif payload.mode == TRANSACTION:
                self._insert_one_by_one(payload.data)
            else:
                self._asked = self.alive
                self._splits = payload.rows > 1 and not self._transactional
                self.connection.query(payload.data)
        except Error as error:
            if _code(error) in _ENDING:
                self.connection.hang_up()
            self._roll_back()
            raise

    def _load(self, payload: Payload) -> None:
        """Load the rows, and commit if all of them were taken.

        With LOCAL the server cannot stop the client: it leaves out rows that it cannot take, cuts
        texts that are too long, and only counts warnings.
        """
        statements, content = payload.data
        if not self._transactional:
            self._asked = self._splits = self.alive
        stored, warnings = self.connection.load(statements, int(self._transactional), content)
        if stored != payload.rows or warnings:
            self._refuse(payload.rows, stored)
        if self._transactional:
            self._asked = True
            self.connection.query(b"COMMIT")

    def _refuse(self, rows: int, stored: int) -> None:
        """Raise the error that a warning of LOAD DATA stands for; a note is none."""
        from pymysql.err import DataError, IntegrityError  # noqa: PLC0415

        self._splits, self._stored = False, stored > 0 and not self._transactional
        warnings = [told for told in self.connection.fetch("SHOW WARNINGS") if told[0] != "Note"]
        if warnings:
            _, code, words = warnings[0]
            raise (IntegrityError if code == _DUPLICATE else DataError)(code, words)
        if stored != rows:
            raise DataError(0, f"LOAD DATA stored {stored} of {rows} rows, and does not say why")

    def _insert_one_by_one(self, inserts: Sequence[bytes]) -> None:
        """Insert rows between BEGIN and COMMIT, which mean nothing to MyISAM."""
        self.connection.query(b"BEGIN")
        due = time.monotonic() + self._commit_every_s
        for insert in inserts:
            self._asked = not self._transactional
            self.connection.query(insert)
            self._stored = self._stored or not self._transactional
            if self._commit_every_s and time.monotonic() >= due:
                self._stored = True
                self.connection.query(b"COMMIT")
                self.connection.query(b"BEGIN")
                due = time.monotonic() + self._commit_every_s
        self._asked = True
        self.connection.query(b"COMMIT")

    def _roll_back(self) -> None:
        """Leave a transaction that may be open, if the connection lives."""
        from pymysql import Error  # noqa: PLC0415

        if self.alive:
            with suppress(Error):
                self.connection.query(b"ROLLBACK")

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        An error that the server reports has undone the statement, and `send` has undone the
        transaction, so its rows are not stored. Without transactions (MyISAM) only a single row, or
        what is refused before the first one, is certainly not stored: of a batch, the rows before
        the refused one are. When the connection is lost, rows are certainly not stored if nothing
        was asked for that stores them for good.
        """
        code = _code(error)
        if self._stored:
            return Failure.UNKNOWN
        if code is None or code in _UNCLEAR or not self.alive:
            return Failure.UNKNOWN if self._asked else Failure.NOT_APPLIED
        if code in _TRY_AGAIN or (code == _INTERRUPTED and not self._splits):
            return Failure.NOT_APPLIED
        refused_at_once = (getattr(error, "sqlstate", None) or "").startswith("42")
        return Failure.UNKNOWN if self._splits and not refused_at_once else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self.connection.fetch(statement.text)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, as the server sends them."""
        return self.connection.portions(statement.text, rows)


def _code(error: Exception) -> int | None:
    """Return the server's number of an error; None if the error is the driver's or another."""
    code = error.args[0] if error.args else None
    if not isinstance(code, int) or type(error).__name__ == "InterfaceError":
        return None
    return None if 2000 <= code < 3000 else code


def _check_lengths(block: Block) -> None:
    """Refuse tags and keys that are longer than their columns."""
    for column in block.table.columns:
        limit = TEXT_LENGTHS.get(column.role)
        if limit is None or column.type is not Type.TEXT:
            continue
        data = block.data[column.name]
        texts = data.levels if isinstance(data, Coded) else data.array
        if texts.dtype.itemsize <= limit:
            continue  # bytes, of which a character has at least one
        lengths = np.strings.str_len(np.strings.decode(texts, "utf-8"))
        longest = int(lengths.argmax())
        if lengths[longest] > limit:
            text = texts[longest].decode()
            raise UnstorableError(
                f"mysql: column {column.name!r}: a text of {len(text)} characters, where a "
                f"{column.role} has at most {limit}: {text[:40]!r}..."
            )
