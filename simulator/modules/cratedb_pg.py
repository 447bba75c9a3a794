"""CrateDB through PostgreSQL's protocol: values lists, because CrateDB has no COPY FROM STDIN."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from simulator.data.block import Block
from simulator.data.derived import below
from simulator.data.query import Query, RowsQuery, Statement
from simulator.data.schema import Table
from simulator.encode.rows import Frame
from simulator.encode.text import SQL, TextEncoder
from simulator.modules.contract import (
    BATCH,
    SINGLE,
    Capabilities,
    Encoder,
    Failure,
    Options,
    Payload,
    RowCountMismatch,
    expect_rows,
)
from simulator.modules.cratedb.database import (
    ACKNOWLEDGED,
    LIMITS,
    PRIMARY_KEYS,
    REMEDIES,
    CrateOptions,
    CrateTables,
)
from simulator.modules.cratedb.query import CrateDialect, check_values
from simulator.modules.cratedb.session import shape_of_plan
from simulator.modules.postgres.driver import PostgresWire, WireOptions
from simulator.modules.postgres.session import PostgresSession

_REQUEST_IS_WRONG = ("0A", "22", "23", "42")
_TRY_AGAIN = ("53300", "42P01", "3F000")
"""Too many connections; unknown tables and schemas, for some seconds after a restart of all."""
_BLOCKED = re.compile(r"blocked by: \[|doesn't support or allow \w+ operations")
_VALUES = replace(SQL.style, instants=None)


class CratedbPgOptions(WireOptions, CrateOptions):
    """Options of the module `cratedb_pg`; dbname in connection_string is the schema."""


class CratedbPgSession(PostgresSession):
    """A connection that speaks PostgreSQL's protocol, without transactions."""

    explains: ClassVar[str] = "EXPLAIN"

    dialect_of: Callable[[Table], CrateDialect]

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        dialect = self.dialect_of(table)
        into = f"INSERT INTO {dialect.name(name)} ({', '.join(dialect.find_inserted())}) VALUES "
        row = dialect.row(
            _VALUES,
            Frame(b"(", b",", b")"),
            b",",
            lambda name: b'"' + name.replace('"', '""').encode() + b'" = ',
        )
        inserts = TextEncoder(row, Frame(into.encode(), b",", b""), table.time_unit)

        def encode(block: Block, rows_per_batch: int) -> Sequence[bytes]:
            check_values(block)
            return inserts.encode(block, rows_per_batch)

        return encode

    def send(self, payload: Payload) -> None:
        """Send the rows and return once all are stored.

        If CrateDB refuses some rows of an INSERT, it returns a smaller count and reports no error.
        """
        self.sent = not self.connection.closed
        self.cursor.execute(payload.data)
        expect_rows(self.cursor.rowcount, payload.rows)

    def classify(self, error: Exception) -> Failure:
        # An INSERT is not a transaction, so some rows may be stored.
        code: str = getattr(error, "pgcode", None) or ""
        if isinstance(error, RowCountMismatch):
            return Failure.UNKNOWN if error.stored else Failure.NOT_APPLIED
        if not self.sent or code in _TRY_AGAIN:
            return Failure.NOT_APPLIED
        if code.startswith(_REQUEST_IS_WRONG) or _BLOCKED.search(str(error)):
            return Failure.FATAL
        return Failure.UNKNOWN

    def read_only(self) -> None:
        """Do nothing: CrateDB has no read-only transactions."""

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        rows, width = super().run(statement), len(statement.outputs)
        longer = 0 < width < len(rows[0]) if rows and not statement.own else False
        return [row[:width] for row in rows] if longer else rows

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        self.cursor.execute(f"DECLARE portions NO SCROLL CURSOR WITH HOLD FOR {statement.text}")
        try:
            yield from self.fetch_portions(rows)
        finally:
            if self.alive:
                self.cursor.execute("CLOSE portions")

    def shape_of(self, plan: str) -> str:
        return shape_of_plan(plan)


class CratedbPg(CrateTables[PostgresSession], PostgresWire):
    """A CrateDB cluster, through PostgreSQL's protocol."""

    name = "cratedb_pg"
    urls = ("cratedb+postgresql://USER@HOST:5432/SCHEMA",)
    relative = "cratedb"
    capabilities = Capabilities(
        shortens_float32=True,
        modes={
            SINGLE: "an INSERT of one row",
            BATCH: "an INSERT with a list of rows, each on its own: it is not a transaction",
        },
        primary_keys=PRIMARY_KEYS,
        acknowledged=ACKNOWLEDGED,
        late="a query sees rows after the next refresh (refresh_interval)",
        plans=CratedbPgSession.explains,
        limits=LIMITS,
    )
    options_model: ClassVar[type[Options]] = CratedbPgOptions
    options: CratedbPgOptions
    remedies: ClassVar[Mapping[str, str]] = {**REMEDIES, **PostgresWire.remedies}
    mismatch = "use the module cratedb: through HTTP CrateDB reports why it refuses a row"

    def session_settings(self) -> dict[str, str]:
        # CrateDB needs none of the settings and refuses some.
        return {}

    def open(self, connection: Any) -> PostgresSession:
        return CratedbPgSession(connection, self.dialect_of)

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL.

        If CrateDB 6.3 orders filtered rows of several tables by a column that is not selected, it
        sends the column anyway, which its protocol refuses. So the column is selected here.
        """
        statement = super().translate(query)
        if not isinstance(query, RowsQuery) or query.newest is None or below(query.table):
            return statement
        read, time = [column.name for column in query.read], query.table.time.name
        if query.table.parts == 1 or time in read:
            return statement
        asked = super().translate(replace(query, columns=(*read, time)))
        return Statement(asked.text, statement.outputs)
