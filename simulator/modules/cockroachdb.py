"""CockroachDB, a relative of `postgres`: COPY or values lists, one or the other for all batches.

Written by the vendor's documentation and tested on PostgreSQL as far as that reaches: what
PostgreSQL cannot parse (SHOW ..., a session's COPY settings) has been read, and not run.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, ClassVar

from simulator.data.block import Block
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type
from simulator.encode.pgcopy import EMPTY
from simulator.errors import SetupError
from simulator.modules.base import BATCH, Failure, Payload, Server
from simulator.modules.postgres.database import Postgres, PostgresDialect
from simulator.modules.postgres.session import VALUES, PostgresSession
from simulator.modules.shared import sql

_REPLICA_UNAVAILABLE = "58C"  # and the like: whether a write got through is not known
_SYNC = "kv.raft_log.disable_synchronization_unsafe"


class CockroachdbDialect(PostgresDialect):
    """PostgreSQL's SQL, with types of the widths that binary COPY has, and stricter arithmetic."""

    types: ClassVar[dict[Type, str]] = {  # `integer` has eight bytes, unless the server is told
        **PostgresDialect.types,
        Type.INT16: "int2",
        Type.INT32: "int4",
        Type.INT64: "int8",
    }

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column as a number whose sum is exact: extract() gives doubles here."""
        if column.type is not Type.TIMESTAMP:
            return super().number(column, unit)
        name, per_second = self.name(column.name), unit.per_second
        minutes = f"CAST(extract(epoch FROM date_trunc('minute', {name})) AS INT8)"
        rest = f"CAST(round(extract(second FROM {name}) * {per_second}) AS INT8)"
        return f"({minutes} * {per_second} + {rest})"

    def mean(self, total: str, count: str) -> str:
        """Return a quotient of doubles; a double is not divided by an integer here."""
        return f"CAST({total} AS DOUBLE PRECISION) / CAST({count} AS DOUBLE PRECISION)"

    def ordered(self, column: Column) -> str:
        """Return a text as it is: its order is that of its bytes."""
        return self.name(column.name)


class CockroachdbSession(PostgresSession):
    """A connection that sends batches by COPY or, all of them, as values lists."""

    copy_format: ClassVar[str] = "WITH BINARY"  # what old and new versions understand

    def __init__(self, connection: Any, dialect: sql.Dialect, *, copies: bool) -> None:
        super().__init__(connection, dialect)
        self._copies = copies

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as what `mode` sends; a prefill's batch is as a batch is to be."""
        mode = VALUES if mode == BATCH and not self._copies else mode
        return super().encode(block, mode, rows_per_send)

    def classify(self, error: Exception) -> Failure:
        """Say what an error means; 40001, which asks for a retry, is NOT_APPLIED as elsewhere."""
        code: str = getattr(error, "pgcode", None) or ""
        if code.startswith(_REPLICA_UNAVAILABLE) and self._commit_sent:
            return Failure.UNKNOWN
        return super().classify(error)


class Cockroachdb(Postgres):
    """A CockroachDB database."""

    name = "cockroachdb"
    capabilities = replace(
        Postgres.capabilities,
        modes={
            **Postgres.capabilities.modes,
            BATCH: "one binary COPY, which is a transaction; with use_values_lists=true an INSERT "
            "with a list of rows, in prefill too",
        },
        primary_keys={
            **Postgres.capabilities.primary_keys,
            PrimaryKey.DB: "bigserial, which is unique_rowid() here: unique, not counted",
            PrimaryKey.NONE: "no key and no id column; a hidden rowid is the key",
        },
        acknowledged="committed by a majority of each range's replicas",
    )
    dialect: ClassVar[PostgresDialect] = CockroachdbDialect()
    _settling: ClassVar[str] = "ANALYZE"  # compaction is the servers' own; there is no VACUUM

    def _session_settings(self) -> dict[str, str]:
        settings = super()._session_settings()
        if not self.options.use_values_lists:
            settings["copy_from_atomic_enabled"] = "on"  # unknown to those that copy in pieces
        return settings

    def _session(self, connection: Any) -> PostgresSession:
        copies = not self.options.use_values_lists
        return CockroachdbSession(connection, self.dialect, copies=copies)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none, and see that the server takes COPY if it is to be used.

        psycopg2's own copy_from() is refused by CockroachDB's parser; the statement is ours.
        """
        super().create(tables, batch_rows)
        if self.options.use_values_lists:
            return
        (name, *_), columns = tables[0].names, [c.name for c in tables[0].columns]
        into = f"{self.dialect.name(name)} ({self.dialect.names(columns)})"
        try:
            with self._cursor() as cursor:
                copy = f"COPY {into} FROM STDIN {CockroachdbSession.copy_format}"
                cursor.copy_expert(copy, BytesIO(EMPTY))
        except SetupError as error:
            self.drop(tables)
            raise SetupError(f"{error}; use_values_lists=true needs no COPY") from error

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return what the tables' ranges take on disk with all replicas, as the server guesses."""
        size = 0
        with self._cursor() as cursor:
            for table in tables:
                for name in table.names:
                    cursor.execute(_size_of(self.dialect.name(name)))
                    ((ranges,),) = cursor.fetchall()
                    size += int(ranges or 0)
        return size

    def describe(self) -> Server:
        """Return the version, how many stores hold replicas, and whether the log is synced."""
        with self._cursor() as cursor:

            def asked(statement: str) -> Any:
                cursor.execute(statement)
                return cursor.fetchall()[0][0]

            version = _version(str(asked("SELECT version()")))
            nodes = int(asked(_NODES))
            unsynced = str(asked(f"SHOW CLUSTER SETTING {_SYNC}")).lower() in ("true", "on")
            zone = str(asked("SELECT raw_config_sql FROM [SHOW ZONE CONFIGURATION FROM RANGE "
                             "default]"))  # fmt: skip
        replicas = re.search(r"num_replicas = (\d+)", zone)
        settings = {_SYNC: str(unsynced).lower(), "num_replicas": replicas[1] if replicas else "?"}
        where = "in memory" if unsynced else "on disk"
        told = ", ".join(f"{name}={value}" for name, value in settings.items())
        durability = (
            f"an acknowledged row is in the log of a majority of replicas, {where} ({told})"
        )
        return Server(version, nodes, durability, not unsynced, settings)

    def _remedy(self, code: str | None, words: str) -> str | None:
        if "copy_from_atomic_enabled" in words:
            return "COPY of servers before 22.2 stores a part of a batch: use_values_lists=true"
        return super()._remedy(code, words)


_NODES = (
    "SELECT count(DISTINCT replica) FROM "
    "(SELECT unnest(replicas) AS replica FROM [SHOW CLUSTER RANGES]) AS replicas"
)


def _size_of(name: str) -> str:
    disk = "span_stats->>'approximate_disk_bytes'"
    return f"SELECT sum(CAST({disk} AS INT8)) FROM [SHOW RANGES FROM TABLE {name} WITH DETAILS]"


def _version(told: str) -> str:
    """Return `CockroachDB 26.2.1` of `CockroachDB CCL v26.2.1 (x86_64-pc-linux-gnu, built ...)`."""
    found = re.search(r"CockroachDB.* v(\S+)", told)
    return f"CockroachDB {found[1]}" if found else told
