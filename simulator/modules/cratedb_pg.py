"""CrateDB by PostgreSQL's protocol: values lists, as it has no COPY of that protocol.

Written by the vendor's documentation and tested on PostgreSQL as far as that reaches; not yet run
against the real server.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.encode.rows import Frame
from simulator.encode.text import SQL, Style, Text
from simulator.modules.base import BATCH, SINGLE, Capabilities, Failure, Options, Payload
from simulator.modules.cratedb.query import (
    ACKNOWLEDGED,
    LIMITS,
    PRIMARY_KEYS,
    CrateDialect,
    CrateOptions,
    CrateTables,
    check,
)
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.postgres.wire import PostgresWire, WireOptions
from simulator.modules.shared import sql

_REQUEST_IS_WRONG = ("0A", "22", "23", "42")
_TRY_AGAIN = "53300"
_VALUES = Style(
    SQL.style.null, SQL.style.false, SQL.style.true, None, SQL.style.quote,
    SQL.style.special, SQL.style.escape,
)  # fmt: skip


class CratedbPgOptions(WireOptions, CrateOptions):
    """Options of the module `cratedb_pg`; dbname in connection_string is the schema."""


class RowsRefused(Exception):
    """Rows of an INSERT were not stored; others of it are."""


class CratedbPgSession(PostgresSession):
    """A connection by PostgreSQL's protocol, without transactions."""

    def __init__(self, connection: Any, dialect_of: Callable[[Table], CrateDialect]) -> None:
        self._dialect_of = dialect_of
        super().__init__(connection, sql.Dialect())

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as INSERTs with lists of rows."""
        check(block)
        return super().encode(block, mode, rows_per_send)

    def _encoder(self, table: Table, name: str, mode: str) -> Callable[[Block, int], Sequence[Any]]:
        dialect = self._dialect_of(table)
        into = f"INSERT INTO {dialect.name(name)} ({', '.join(dialect.inserted())}) VALUES "
        row = dialect.row(
            _VALUES,
            Frame(b"(", b",", b")"),
            b",",
            lambda name: b'"' + name.replace('"', '""').encode() + b'" = ',
        )
        return Text(row, Frame(into.encode(), b",", b""), table.time_unit).encode

    def send(self, payload: Payload) -> None:
        """Send the rows and return once every one is stored."""
        self._sent = not self.connection.closed
        self._cursor.execute(payload.data)
        stored = self._cursor.rowcount
        if stored != payload.rows:
            raise RowsRefused(f"of {payload.rows} rows only {stored} were stored")

    def classify(self, error: Exception) -> Failure:
        """Say what an error means: an INSERT is no transaction, so a part of it may be stored."""
        code: str = getattr(error, "pgcode", None) or ""
        if not self._sent or code == _TRY_AGAIN:
            return Failure.NOT_APPLIED
        return Failure.FATAL if code.startswith(_REQUEST_IS_WRONG) else Failure.UNKNOWN

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, which a cursor on the server holds."""
        self._cursor.execute(f"DECLARE portions NO SCROLL CURSOR WITH HOLD FOR {statement.text}")
        try:
            while True:
                self._cursor.execute(f"FETCH {rows} FROM portions")
                portion = self._cursor.fetchall()
                if not portion:
                    break
                yield portion
        finally:
            if self.alive:
                self._cursor.execute("CLOSE portions")


class CratedbPg(CrateTables, PostgresWire):
    """A CrateDB cluster, by PostgreSQL's protocol."""

    name = "cratedb_pg"
    capabilities = Capabilities(
        modes={
            SINGLE: "an INSERT of one row",
            BATCH: "an INSERT with a list of rows, each on its own: it is no transaction",
        },
        primary_keys=PRIMARY_KEYS,
        acknowledged=ACKNOWLEDGED,
        limits=LIMITS,
    )
    options_model: ClassVar[type[Options]] = CratedbPgOptions
    options: CratedbPgOptions

    def _session_settings(self) -> dict[str, str]:
        return {}  # CrateDB is always in UTC, standard and exact in these, and refuses some

    def _session(self, connection: Any) -> PostgresSession:
        return CratedbPgSession(connection, self.dialect_of)

    def _ask(self, statements: Sequence[str]) -> list[Sequence[Sequence[Any]]]:
        answers: list[Sequence[Sequence[Any]]] = []
        with self._cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                answers.append(cursor.fetchall() if cursor.description else [])
        return answers
