"""Modules without a real server, tested on PostgreSQL.

Each derives from the real module and leaves out statements that PostgreSQL cannot parse. The tests
of the module, such as test_cockroachdb.py, compare these with the vendor's documentation, as text.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from simulator.data.schema import Table
from simulator.modules.cockroachdb import CURSORS, Cockroachdb, CockroachdbSession
from simulator.modules.contract import Server
from simulator.modules.cratedb_pg import CratedbPg
from simulator.modules.postgres.database import Postgres
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.yugabyte_sql import YugabyteSql
from tests.servers import Postgres as PostgresServer

YB_SERVERS = (
    "CREATE FUNCTION yb_servers() RETURNS SETOF text LANGUAGE sql AS $$ VALUES ('a'), ('b') $$"
)


def sorts_by_bytes(server: PostgresServer, database: str) -> None:
    """Create the empty database again; most of PostgreSQL's relatives sort texts by their bytes."""
    server.execute(
        f"DROP DATABASE {database}",
        f"CREATE DATABASE {database} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'",
    )


class CockroachdbOnPostgres(Cockroachdb):
    """Without SHOW as a source of rows, and the session's settings for COPY."""

    release = (23, 2)
    capabilities = replace(Cockroachdb.capabilities, plans="", no_plans="PostgreSQL has others")

    def open(self, connection: Any) -> PostgresSession:
        session = CockroachdbSession(connection, self.dialect_of)
        session.copies, session.has_cursors = self.copies, self.release >= CURSORS
        return session

    def identify(self) -> str:
        return ""

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        return Postgres.size_bytes(self, tables)

    def describe(self) -> Server:
        return Postgres.describe(self)


class YugabyteSqlOnPostgres(YugabyteSql):
    """Without YugabyteDB's own settings; the test's database has a function yb_servers()."""

    def identify(self) -> str:
        return ""

    def session_settings(self) -> dict[str, str]:
        settings = super().session_settings()
        return {name: value for name, value in settings.items() if not name.startswith("yb_")}


class CratedbPgOnPostgres(CratedbPg):
    """Without shards, REFRESH and the tables sys...; the test's database generates text UUIDs."""

    def identify(self) -> str:
        return ""

    def _await_master(self) -> None:
        pass

    def storage(self) -> str:
        return ""

    def visible(self, tables: Sequence[Table]) -> None:
        pass

    def compact(self, tables: Sequence[Table]) -> None:
        pass

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        names = [f'"{name}"' for table in tables for name in table.names]
        sizes = ", ".join(f"pg_total_relation_size('{name}')" for name in names)
        (sizes,) = self.ask([f"SELECT {sizes}"])
        return sum(sizes[0])

    def describe(self) -> Server:
        (((version,),),) = self.ask(["SELECT version()"])
        return Server(version, 1, "an acknowledged row is stored by PostgreSQL", durable=True)
