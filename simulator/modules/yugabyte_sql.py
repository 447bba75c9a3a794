"""YugabyteDB's YSQL, a relative of `postgres` with tablets and session options.

Written from the vendor's documentation; tested on PostgreSQL, of which it is a fork. SPLIT INTO,
HASH and the settings yb_... are not tested.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, names_of
from simulator.modules.contract import Failure, Server, recognize
from simulator.modules.postgres.database import Postgres, PostgresOptions
from simulator.modules.postgres.driver import PostgresWire
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import PostgresSession

_SESSION_OPTIONS = (
    "yb_enable_expression_pushdown",
    "yb_enable_upsert_mode",
    "yb_disable_transactional_writes",
)
_COPY_ROWS = "yb_default_copy_from_rows_per_transaction"


class YugabyteSqlDialect(PostgresDialect):
    """PostgreSQL's SQL, with means that the storage layer can compute."""

    def average(self, column: Column) -> str:
        # The storage layer computes sums, but not avg(). The sum of a real is only a real.
        if column.type is not Type.FLOAT64:
            return super().average(column)
        return f"{self.total(column, TimeUnit.SECOND)} / {self.count_values(column)}"


class YugabyteSqlOptions(PostgresOptions):
    """Options of the module `yugabyte_sql`."""

    primary_key_constraint: str = Field(
        "PRIMARY KEY (id)",
        description="the constraint of the primary key, which also decides the sharding: the "
        "first column is hashed unless it has ASC or DESC, such as "
        "PRIMARY KEY (device_id HASH, timestamp ASC, sequence_number ASC)",
    )
    tablets: int | None = Field(
        None,
        ge=1,
        description="the number of tablets that a table is created with; its key must be hashed. "
        "Default: the server's choice",
    )
    yb_enable_expression_pushdown: bool | None = Field(
        None, description="let the storage layer evaluate expressions; default: the server's choice"
    )
    yb_enable_upsert_mode: bool | None = Field(
        None,
        description="do not check whether a key exists: a row with the same key is replaced. "
        "Default: the server's choice",
    )
    yb_disable_transactional_writes: bool | None = Field(
        None,
        description="write each row separately: a batch that fails may be stored in part, and "
        "counts as uncertain. Default: the server's choice",
    )


class YugabyteSqlSession(PostgresSession):
    """A connection on which a batch is not necessarily a transaction."""

    atomic = True
    """False if a batch is not a transaction."""

    def classify(self, error: Exception) -> Failure:
        failure = super().classify(error)
        if failure is Failure.NOT_APPLIED and self.sent and not self.atomic:
            return Failure.UNKNOWN
        return failure


class YugabyteSql(Postgres):
    """A YugabyteDB database, through its YSQL interface."""

    name = "yugabyte_sql"
    urls = ("ysql://USER@HOST:5433/DATABASE",)
    locks_tables = False
    attachments = ""
    capabilities = replace(
        Postgres.capabilities,
        plans="",
        no_plans="this draft could not be tried on a server that explains queries",
        oldest={},
        by_version={},
        acknowledged="committed by a majority of each tablet's replicas; the server's "
        "durable_wal_write decides whether it is also on disk",
        limits=(
            "Means of doubles are queried as sum/count, which the storage layer can compute.",
            "For means of reals and sums of bigint the server reads every row.",
        ),
    )
    options_model = YugabyteSqlOptions
    options: YugabyteSqlOptions
    dialect: ClassVar[PostgresDialect] = YugabyteSqlDialect()
    compacting: ClassVar[str] = "ANALYZE"  # the servers compact on their own; VACUUM does nothing
    shown_settings: ClassVar[tuple[str, ...]] = (*_SESSION_OPTIONS, _COPY_ROWS)

    def session_settings(self) -> dict[str, str]:
        # Without _COPY_ROWS, COPY commits every 20,000 rows.
        given = {name: getattr(self.options, name) for name in _SESSION_OPTIONS}
        chosen = {name: "on" if on else "off" for name, on in given.items() if on is not None}
        return {**super().session_settings(), **chosen, _COPY_ROWS: "0"}

    def open(self, connection: Any) -> PostgresSession:
        session = YugabyteSqlSession(connection, self.dialect_of)
        setting = "SELECT current_setting('yb_disable_transactional_writes', true)"
        ((disabled,),) = session.ask(setting)
        session.atomic = disabled != "on"
        return session

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        if self.options.yb_enable_upsert_mode and self.options.create_indices:
            found.append(
                "yb_enable_upsert_mode leaves wrong entries in indices; choose one of "
                "yb_enable_upsert_mode and create_indices"
            )
        return found

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        (statement,) = super().create_table(table, name, batch_rows)
        tablets = self.options.tablets
        return [f"{statement} SPLIT INTO {tablets} TABLETS" if tablets else statement]

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        # A primary key is the table itself.
        names = [self.dialect.name(name) for name in names_of(tables)]
        ((size,),) = self.fetch(
            "SELECT sum(pg_table_size(part)) FROM ("
            "SELECT name::regclass AS part FROM unnest(%s) AS name UNION ALL "
            "SELECT indexrelid::regclass FROM pg_index, unnest(%s) AS name "
            "WHERE indrelid = name::regclass AND NOT indisprimary) AS parts",
            names,
            names,
        )
        return None if size is None else int(size)

    background_work = PostgresWire.background_work  # its checkpoints do not write its tables

    def describe(self) -> Server:
        server = super().describe()
        ((nodes,),) = self.fetch("SELECT count(*) FROM yb_servers()")
        durability = (
            "an acknowledged row is in the log of a majority of replicas; on disk within a second, "
            "unless the servers' durable_wal_write, which SQL does not report, is true"
        )
        return Server(str(recognize(server.version)), nodes, durability, None, server.settings)
