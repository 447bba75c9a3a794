"""A connection to PostgreSQL: it sends rows and classifies errors."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO, StringIO
from mmap import mmap
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.encode.objects import InstantType, Objects
from simulator.encode.pgcopy import STREAM, PgCopy
from simulator.encode.rows import Frame
from simulator.encode.text import CSV, SQL, TextEncoder
from simulator.modules.contract import (
    BATCH,
    CORRECT,
    DRIVER,
    DRIVER_COPY,
    IMPORT,
    Encoder,
    Envelope,
    Failure,
    Payload,
    QueryPlan,
    RowCountMismatch,
    expect_rows,
)
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import contents
from simulator.modules.shared.client.driver import batches
from simulator.modules.shared.sql import changes as sql_changes
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.transactions import PREPARED, TRANSACTION, group_rows
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from psycopg2.extensions import connection as Connection  # noqa: N812  # it is a class

COPIED = {
    RecordFormat.CSV: "WITH CSV",
    RecordFormat.TSV: "",
    RecordFormat.PGCOPY: "",
    RecordFormat.PGCOPY_BINARY: "WITH BINARY",
}
"""File format -> options of COPY, in a form that all versions and relatives accept."""
_COPY_CHUNK_BYTES = 1 << 20

_COMPLETION_UNKNOWN = "40003"
_MAY_HAVE_COMMITTED = frozenset({_COMPLETION_UNKNOWN, "57P01", "57P02"})  # admin, crash shutdown
_TRY_AGAIN = frozenset({"53300", "55P03", "57P03"})  # too many connections, locked, starting up


class PostgresSession(sql_changes.ChangingSession):
    """A connection in autocommit mode."""

    copy_format: ClassVar[str] = "(FORMAT binary)"
    explains: ClassVar[str] = "EXPLAIN (ANALYZE, BUFFERS)"

    def __init__(
        self, connection: "Connection", dialect_of: Callable[[Table], sql.Dialect]
    ) -> None:
        self.connection = connection
        self.cursor = connection.cursor()
        self.sent = False
        """True if the last `send` reached the server."""
        self.commit_sent = False
        """True if the last `send` asked the server to commit."""
        self.commit_every_s = 0.0
        """Seconds after which a transaction of single rows commits before its end; 0: never."""
        self._stored = False
        """True if the last `send` committed some of its rows, or tried to, before the end."""
        self._prepared: set[bytes] = set()
        self.dialect_of = dialect_of

    def close(self) -> None:
        with suppress(Exception):
            self.connection.close()

    @property
    def alive(self) -> bool:
        return not self.connection.closed

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        into = self.dialect_of(table).target(table, name)
        if mode == BATCH:
            copy = f"COPY {into} FROM STDIN {self.copy_format}"
            streams = PgCopy(table.columns, table.time_unit)
            return lambda block, rows: [(copy, stream) for stream in streams.encode(block, rows)]
        if mode == IMPORT:
            load = f"COPY {into} FROM STDIN {COPIED[RecordFormat.CSV]}"
            lines = TextEncoder.of(table.columns, table.time_unit, CSV)
            return lambda block, rows: [(load, text) for text in lines.encode(block, rows)]
        if mode in (DRIVER, DRIVER_COPY):
            values = f"INSERT INTO {into.replace('%', '%%')} VALUES %s"
            statement = values if mode == DRIVER else f"COPY {into} FROM STDIN"
            objects = Objects(table.columns, table.time_unit, InstantType.AWARE)
            return batches(statement, objects.encode)
        if mode == PREPARED:
            return self._prepare_encoder(table, name, into)
        frame = Frame(f"INSERT INTO {into} VALUES ".encode(), b",", b"")
        if mode == CORRECT:
            frame = sql_changes.upserts(self.dialect_of(table), table, name)
        insert = replace(SQL, payload=frame)
        inserts = TextEncoder.of(table.columns, table.time_unit, insert).encode
        return group_rows(inserts) if mode == TRANSACTION else inserts

    def _prepare_encoder(self, table: Table, name: str, into: str) -> Encoder:
        """Return the encoder for PREPARE and EXECUTE of a statement with the table's name.

        These are SQL statements, because psycopg2 does not use the protocol's prepared statements.
        """
        statement = self.dialect_of(table).name(name)
        values = ", ".join(f"${number}" for number in range(1, len(table.columns) + 1))
        prepare = f"PREPARE {statement} AS INSERT INTO {into} VALUES ({values})".encode()
        execute = replace(SQL, payload=Frame(f"EXECUTE {statement} ".encode(), b"", b""))
        by_batch = group_rows(TextEncoder.of(table.columns, table.time_unit, execute).encode)
        return lambda block, rows: [(prepare, batch) for batch in by_batch(block, rows)]

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        (table,) = tables
        into = self.dialect_of(table).target(table, table.name)
        copy = f"COPY {into} FROM STDIN {COPIED[form]}"
        if form is not RecordFormat.PGCOPY_BINARY:
            return lambda rows, _count: (copy, rows)
        return lambda rows, _count: (copy, b"".join((STREAM.before, rows, STREAM.after)))

    def send(self, payload: Payload) -> None:
        self.sent = not self.connection.closed
        self.commit_sent = self.sent and payload.mode not in (TRANSACTION, PREPARED)
        self._stored = False
        try:
            self._store(payload)
        except Exception:  # of the driver, or for missing rows
            self._roll_back()
            raise

    def _store(self, payload: Payload) -> None:
        cursor = self.cursor
        if payload.mode in (BATCH, IMPORT):
            copy, source = payload.data
            with contents(source) as content:
                stream = content if isinstance(content, mmap) else BytesIO(content)
                cursor.copy_expert(copy, stream, _COPY_CHUNK_BYTES)
        elif payload.mode == TRANSACTION:
            self._insert_one_by_one(payload.data)
            return
        elif payload.mode == PREPARED:
            self._insert_prepared(*payload.data)
            return
        elif payload.mode == DRIVER:
            from psycopg2.extras import execute_values

            into, rows = payload.data.into, payload.data.rows
            execute_values(cursor, into, rows, page_size=len(rows))
        elif payload.mode == DRIVER_COPY:
            cursor.copy_expert(payload.data.into, _write_copy_text(payload.data.rows))
        else:
            cursor.execute(payload.data)
        expect_rows(cursor.rowcount, payload.rows)

    def _insert_one_by_one(self, inserts: Sequence[bytes]) -> None:
        cursor = self.cursor
        cursor.execute("BEGIN")
        due_s = time.monotonic() + self.commit_every_s
        for insert in inserts:
            cursor.execute(insert)
            expect_rows(cursor.rowcount, 1)
            if self.commit_every_s and time.monotonic() >= due_s:
                self._stored = True
                cursor.execute("COMMIT")
                cursor.execute("BEGIN")
                due_s = time.monotonic() + self.commit_every_s
        self.commit_sent = True
        cursor.execute("COMMIT")

    def _insert_prepared(self, prepare: bytes, executes: Sequence[bytes]) -> None:
        """Insert rows by a prepared statement; a single row is committed on its own."""
        if prepare not in self._prepared:
            self.cursor.execute(prepare)
            self._prepared.add(prepare)
        if len(executes) > 1:
            self._insert_one_by_one(executes)
            return
        self.commit_sent = not self.connection.closed
        self.cursor.execute(executes[0])
        expect_rows(self.cursor.rowcount, 1)

    def _roll_back(self) -> None:
        """End an open or failed transaction, if the connection works."""
        from psycopg2 import Error, extensions

        inside = (extensions.TRANSACTION_STATUS_INTRANS, extensions.TRANSACTION_STATUS_INERROR)
        if self.connection.get_transaction_status() in inside:
            with suppress(Error):
                self.cursor.execute("ROLLBACK")

    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of `send` for its rows.

        An error that the server reports has rolled back the transaction. A server that ends the
        connection may have committed before: even an orderly shutdown (57P01) can come between a
        commit and its acknowledgement, while the commit waits for a standby. Rows are then not
        stored for certain only if no commit was requested. After a commit in the middle of a
        batch, some of its rows are stored.
        """
        if self._stored:
            return Failure.UNKNOWN
        if isinstance(error, RowCountMismatch):
            return Failure.UNKNOWN if self.commit_sent and error.stored else Failure.FATAL
        code: str | None = getattr(error, "pgcode", None)
        if code in _TRY_AGAIN or (code and code.startswith("40") and code != _COMPLETION_UNKNOWN):
            return Failure.NOT_APPLIED
        if (
            code is None
            or code in _MAY_HAVE_COMMITTED
            or code[:2] == "08"
            or self.connection.closed
        ):
            return Failure.UNKNOWN if self.commit_sent else Failure.NOT_APPLIED
        return Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        return self.ask(statement.text, *statement.parameters)

    def ask(self, text: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows, if it returns any."""
        self.cursor.execute(text, parameters or None)
        return self.cursor.fetchall() if self.cursor.description else []

    def change(self, statement: str) -> int:
        self.cursor.execute(statement)
        return self.cursor.rowcount

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        plan = self.ask(f"{self.explains} {statement.text}", *statement.parameters)
        text = "\n".join(str(line) for (line,) in plan)
        yield QueryPlan(statement.text, text, self.shape_of(text))

    def shape_of(self, plan: str) -> str:
        """Return the shape of a plan."""
        return shape_of_plan(plan)

    def read_only(self) -> None:
        self.cursor.execute("SET default_transaction_read_only = on")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        from psycopg2 import extensions

        moments = extensions.new_type((_TIMESTAMPTZ,), "MOMENT", _moment)
        extensions.register_type(moments, self.cursor)
        declare = f"BEGIN READ ONLY; DECLARE portions NO SCROLL CURSOR FOR {statement.text}"
        try:
            self.cursor.execute(declare, statement.parameters or None)
            yield from self.fetch_portions(rows)
        finally:
            self._roll_back()

    def fetch_portions(self, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield the rows of the server's open cursor `portions`."""
        while portion := self.ask(f"FETCH {rows} FROM portions"):
            yield portion


def _moment(text: str | bytes | None, cursor: Any) -> Any:
    """Return an instant, or the server's text for infinity and years that Python lacks."""
    from psycopg2.extensions import PYDATETIMETZ

    try:
        return text if text in _INFINITE else PYDATETIMETZ(text, cursor)
    except (ValueError, OverflowError):
        return text


_TIMESTAMPTZ = 1184
_INFINITE = (None, "infinity", "-infinity")


# --- rows through psycopg2
# https://www.psycopg.org/docs/extras.html#fast-execution-helpers

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def _write_copy_text(rows: Sequence[Sequence[Any]]) -> StringIO:
    """Return rows in COPY's text format, written by Python as an application does."""

    def write(value: Any) -> str:
        if value is None:
            return r"\N"
        return value.translate(_ESCAPES) if isinstance(value, str) else str(value)

    return StringIO("".join("\t".join(map(write, row)) + "\n" for row in rows))


# --- query plans

_FIGURES = re.compile(r"\s*\((?:cost=|actual |never executed)[^()]*\)")
"""Figures of a node."""
_CONDITIONS = re.compile(
    r"(?:InitPlan|SubPlan|CTE) "
    r"|(?!Rows )[\w -]*\b(?:Cond|Condition|Filter|Keys?|Order|Order By|Sets):"
)
"""Lines below a node that belong to the plan; other lines, such as buffers, belong to the run."""
_CHUNK = re.compile(r"_hyper_\d+_\d+")
"""TimescaleDB numbers the chunks of a table."""


def shape_of_plan(text: str) -> str:
    """Return the nodes of a plan, with their conditions and keys."""

    def keep(line: str) -> str:
        bare, found = _FIGURES.subn("", line)
        return _CHUNK.sub("_hyper_?_?", bare) if found or _CONDITIONS.match(bare) else ""

    return shapes.of_text(text, keep)
