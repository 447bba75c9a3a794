"""A connection to MySQL: it sends rows and classifies errors."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.data.block import Block, Coded
from simulator.data.query import Statement
from simulator.data.schema import Table, Type
from simulator.encode.numbers import Iso
from simulator.encode.objects import InstantType, Objects
from simulator.encode.parameters import Parameters
from simulator.encode.rows import Frame
from simulator.encode.text import SQL, TSV, TextEncoder
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    BATCH,
    CORRECT,
    DRIVER,
    IMPORT,
    Encoder,
    Failure,
    Payload,
    QueryPlan,
    RowCountMismatch,
    expect_rows,
)
from simulator.modules.mysql.query import varchar_length
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import contents
from simulator.modules.shared.client.driver import DriverBatch, batches
from simulator.modules.shared.sql import changes as sql_changes
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.transactions import PREPARED, TRANSACTION, group_rows

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import WireConnection

LOAD_FORMAT = replace(TSV, style=replace(TSV.style, false=b"0", true=b"1", instants=Iso(zone=b"")))
"""The format of LOAD DATA: tabs, line ends, and a backslash before special characters."""
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
"""Too many connections, node not ready, lock not granted, deadlock, conflict."""
_INTERRUPTED = 1317
_ENDING = frozenset({1053, 1927, 3169, 4031})
"""Shutdown or killed connection; the server then closes the connection."""
_UNCLEAR = _ENDING | {1105, 1180}
"""Unknown errors, errors of a commit, and ends of the connection."""
_DUPLICATE = 1062


class MySqlSession(sql_changes.ChangingSession):
    """A connection in autocommit mode."""

    def __init__(
        self,
        connection: "WireConnection",
        dialect: sql.Dialect,
        *,
        transactional: bool,
        commit_every_s: float,
    ) -> None:
        self.connection = connection
        self._dialect = dialect
        self.dialect_of = lambda _table: dialect
        self._transactional = transactional
        self._commit_every_s = commit_every_s
        self._asked = False
        """True if the last `send` requested a statement that stores rows permanently."""
        self._stored = False
        """True if the last `send` may have stored some of its rows before it failed."""
        self._splits = False
        """True if the last request stores the rows that precede a refused row."""
        self._prepared: dict[bytes, int] = {}
        """Prepared statement -> its number on this connection."""

    def close(self) -> None:
        self.connection.hang_up()

    @property
    def alive(self) -> bool:
        return self.connection.open

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        encode = self._encoder(table, name, mode)

        def check(block: Block, rows_per_batch: int) -> Sequence[Any]:
            _check_lengths(block)
            return encode(block, rows_per_batch)

        return check

    def _encoder(self, table: Table, name: str, mode: str) -> Encoder:
        dialect = self._dialect
        if mode in (BATCH, IMPORT):
            begin = "BEGIN;" if self._transactional else ""
            columns = dialect.names([column.name for column in table.columns])
            load = (
                f"{begin}LOAD DATA LOCAL INFILE 'rows' INTO TABLE {dialect.name(name)} CHARACTER "
                "SET utf8mb4 FIELDS TERMINATED BY '\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\n' "
                f"({columns})"
            ).encode()
            texts = TextEncoder.of(table.columns, table.time_unit, LOAD_FORMAT)
            return lambda block, rows: [(load, text) for text in texts.encode(block, rows)]
        into = dialect.target(table, name)
        if mode == DRIVER:
            values = ", ".join(["%s"] * len(table.columns))
            insert = f"INSERT INTO {into.replace('%', '%%')} VALUES ({values})"
            objects = Objects(table.columns, table.time_unit, InstantType.NAIVE)
            return batches(insert, objects.encode)
        head = f"INSERT INTO {into} VALUES ".encode()
        if mode == PREPARED:
            prepare = head + f"({', '.join('?' * len(table.columns))})".encode()
            parameters = Parameters(table.columns, table.time_unit).encode
            by_batch = group_rows(parameters)
            return lambda block, rows: [(prepare, batch) for batch in by_batch(block, rows)]
        fields = [dialect.name(column.name) for column in table.fields]
        new = ", ".join(f"{field} = VALUES({field})" for field in fields)
        tail = f" ON DUPLICATE KEY UPDATE {new}" if mode == CORRECT else ""
        statement = replace(_SQL, payload=Frame(head, b",", tail.encode()))
        inserts = TextEncoder.of(table.columns, table.time_unit, statement).encode
        return group_rows(inserts) if mode == TRANSACTION else inserts

    def send(self, payload: Payload) -> None:
        from pymysql import Error

        self._asked = self._stored = self._splits = False
        try:
            if payload.mode in (BATCH, IMPORT):
                self._load(payload)
            elif payload.mode == TRANSACTION:
                self._insert_one_by_one(payload.data, self.connection.query)
            elif payload.mode == PREPARED:
                self._insert_prepared(*payload.data)
            elif payload.mode == DRIVER:
                self._insert_by_driver(payload)
            elif payload.mode == CORRECT:  # MySQL counts 2 for each changed row
                self.connection.query(payload.data)
            else:
                self._asked = self.alive
                self._splits = payload.rows > 1 and not self._transactional
                expect_rows(self.connection.query(payload.data), payload.rows)
        except (Error, RowCountMismatch) as error:
            if _code(error) in _ENDING:
                self.connection.hang_up()
            self._roll_back()
            raise

    def _load(self, payload: Payload) -> None:
        """Load the rows, and commit if the server stored all of them.

        With LOCAL, the server skips rows that it cannot store, truncates long texts, and reports
        only the number of warnings.
        """
        statements, source = payload.data
        if not self._transactional:
            self._asked = self._splits = self.alive
        with contents(source) as content:
            stored, warnings = self.connection.load(statements, int(self._transactional), content)
        if stored != payload.rows or warnings:
            self._refuse(payload.rows, stored)
        if self._transactional:
            self._asked = True
            self.connection.query(b"COMMIT")

    def _refuse(self, rows: int, stored: int) -> None:
        """Raise the first warning of LOAD DATA as an error, without regard to notes."""
        from pymysql.err import DataError, IntegrityError

        self._splits, self._stored = False, stored > 0 and not self._transactional
        warnings = [each for each in self.connection.fetch("SHOW WARNINGS") if each[0] != "Note"]
        if warnings:
            _, code, words = warnings[0]
            raise (IntegrityError if code == _DUPLICATE else DataError)(code, words)
        if stored != rows:
            raise DataError(0, f"LOAD DATA stored {stored} of {rows} rows and reported no error")

    def _insert_prepared(self, prepare: bytes, rows: Sequence[bytes]) -> None:
        """Insert rows by a prepared statement; a single row is committed on its own."""
        number = self._prepared.get(prepare)
        if number is None:
            number = self._prepared[prepare] = self.connection.prepare(prepare)
        insert = partial(self.connection.execute, number)
        if len(rows) > 1:
            self._insert_one_by_one(rows, insert)
            return
        self._asked = self.alive
        expect_rows(insert(rows[0]), 1)

    def _insert_by_driver(self, payload: Payload) -> None:
        """Insert the rows through the driver between BEGIN and COMMIT, which MyISAM ignores.

        `executemany` splits more than a megabyte of rows into several INSERTs.
        """
        batch: DriverBatch = payload.data
        self._asked = self.alive and not self._transactional
        self._splits = self._asked and payload.rows > 1
        self.connection.begin()
        with self.connection.cursor() as cursor:
            expect_rows(cursor.executemany(batch.into, batch.rows) or 0, payload.rows)
        self._asked = True
        self.connection.commit()

    def _insert_one_by_one(self, inserts: Sequence[bytes], run: Callable[[bytes], int]) -> None:
        """Insert rows between BEGIN and COMMIT, which MyISAM ignores."""
        self.connection.query(b"BEGIN")
        due = time.monotonic() + self._commit_every_s
        for insert in inserts:
            self._asked = not self._transactional
            expect_rows(run(insert), 1)
            self._stored = self._stored or not self._transactional
            if self._commit_every_s and time.monotonic() >= due:
                self._stored = True
                self.connection.query(b"COMMIT")
                self.connection.query(b"BEGIN")
                due = time.monotonic() + self._commit_every_s
        self._asked = True
        self.connection.query(b"COMMIT")

    def _roll_back(self) -> None:
        """End an open transaction, if the connection works."""
        from pymysql import Error

        if self.alive:
            with suppress(Error):
                self.connection.query(b"ROLLBACK")

    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of `send` for its rows.

        The server has rolled back the failed statement, and `send` the transaction. Without
        transactions (MyISAM), only a single row, or a batch that is refused before its first row,
        is certainly not stored. After a lost connection, rows are certainly not stored if no
        request stores them permanently.
        """
        code = _code(error)
        if self._stored:
            return Failure.UNKNOWN
        if isinstance(error, RowCountMismatch):
            return Failure.UNKNOWN if error.stored else Failure.FATAL
        if code is None or code in _UNCLEAR or not self.alive:
            return Failure.UNKNOWN if self._asked else Failure.NOT_APPLIED
        if code in _TRY_AGAIN or (code == _INTERRUPTED and not self._splits):
            return Failure.NOT_APPLIED
        refused_at_once = (getattr(error, "sqlstate", None) or "").startswith("42")
        return Failure.UNKNOWN if self._splits and not refused_at_once else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        return self.connection.fetch(statement.text)

    def change(self, statement: str) -> int:
        return self.connection.query(statement)

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        in_json = "MariaDB" in self.connection.server_version
        asked = ANALYZE_JSON if in_json else ANALYZE
        ((text,),) = self.connection.fetch(f"{asked} {statement.text}")
        yield QueryPlan(statement.text, text, shape_of_plan(text))

    def read_only(self) -> None:
        self.connection.query("SET SESSION TRANSACTION READ ONLY")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        return self.connection.portions(statement.text, rows)


def _code(error: Exception) -> int | None:
    """Return the server's error number; None for the driver's own errors."""
    code = error.args[0] if error.args else None
    if not isinstance(code, int) or type(error).__name__ == "InterfaceError":
        return None
    return None if 2000 <= code < 3000 else code


def _check_lengths(block: Block) -> None:
    """Raise UnstorableError for tags and keys that are longer than their columns."""
    for column in block.table.columns:
        limit = varchar_length(column) if column.type is Type.TEXT else None
        if limit is None:
            continue
        data = block.data[column.name]
        texts = data.levels if isinstance(data, Coded) else data.array
        if texts.dtype.itemsize <= limit:
            continue  # a character has at least one byte
        lengths = np.strings.str_len(np.strings.decode(texts, "utf-8"))
        longest = int(lengths.argmax())
        if lengths[longest] > limit:
            text = texts[longest].decode()
            raise UnstorableError(
                f"mysql: column {column.name!r}: expected at most {limit} characters in a "
                f"{column.role}, found {len(text)}: {text[:40]!r}..."
            )


# --- query plans

ANALYZE, ANALYZE_JSON = "EXPLAIN ANALYZE", "ANALYZE FORMAT=JSON"
"""The statements for plans of MySQL and MariaDB."""
_FIGURES = re.compile(r"\s*\((?:cost=|rows=|actual |never executed)[^()]*\)")
"""Figures of a node."""
_KEY = re.compile(r'"(\w+)": ?(.*)')
_OF_A_RUN = re.compile(
    r"r_.*|pages_.*|.*cost.*|rows|filtered|loops|select_id|possible_keys|key_length|buffer_size"
    r"|query_optimization|subqueries_cache.*|expression_cache.*"
)
"""Keys of JSON that belong to the run, not to the plan."""


def shape_of_plan(text: str) -> str:
    """Return the shape of a plan as a tree or as JSON."""
    in_json = text.startswith("{")
    return shapes.of_text(text, _keep_key if in_json else lambda line: _FIGURES.sub("", line))


def _keep_key(line: str) -> str:
    """Return the part of a line of JSON, which is not parsed: MariaDB does not escape quotes."""
    found = _KEY.match(line)
    if not found or _OF_A_RUN.fullmatch(found[1]):
        return ""
    return f"{found[1]}: {found[2].strip(',{[ ')}"
