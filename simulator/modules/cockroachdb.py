"""CockroachDB, a relative of `postgres`, with all batches by COPY or all as values lists.

Written from the vendor's documentation; tested on PostgreSQL where the two agree. Statements that
PostgreSQL cannot parse (SHOW ..., a session's COPY settings) are not tested.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, ClassVar

from simulator.data.block import Block
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, names_of
from simulator.encode.pgcopy import EMPTY
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    Failure,
    Payload,
    Server,
    recognize,
)
from simulator.modules.postgres.database import Postgres
from simulator.modules.postgres.driver import PostgresWire
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.sql.transactions import VALUES

_REPLICA_UNAVAILABLE = "58C"  # a class of codes: the result of the write is unknown
_SYNC = "kv.raft_log.disable_synchronization_unsafe"


class CockroachdbDialect(PostgresDialect):
    """PostgreSQL's SQL, with the column widths of binary COPY, and stricter arithmetic."""

    types: ClassVar[Mapping[Type, str]] = {  # `integer` has eight bytes by default
        **PostgresDialect.types,
        Type.INT16: "int2",
        Type.INT32: "int4",
        Type.INT64: "int8",
    }
    long_names: ClassVar[Mapping[str, str]] = {
        **PostgresDialect.long_names,
        "int2": "smallint",
        "int4": "integer",
        "int8": "bigint",
    }

    def number(self, column: Column, unit: TimeUnit) -> str:
        # extract() returns doubles, which are exact only for parts of an instant.
        if column.type is not Type.TIMESTAMP:
            return super().number(column, unit)
        name, per_second = self.name(column.name), unit.per_second
        minutes = f"CAST(extract(epoch FROM date_trunc('minute', {name})) AS INT8)"
        rest = f"CAST(round(extract(second FROM {name}) * {per_second}) AS INT8)"
        return f"({minutes} * {per_second} + {rest})"

    def mean(self, total: str, count: str) -> str:
        # A double cannot be divided by an integer.
        return f"CAST({total} AS DOUBLE PRECISION) / CAST({count} AS DOUBLE PRECISION)"

    def order_by_bytes(self, column: Column) -> str:
        return self.name(column.name)


class CockroachdbSession(PostgresSession):
    """A connection that sends all batches by COPY, or all as values lists."""

    copy_format: ClassVar[str] = "WITH BINARY"  # which old and new versions accept

    copies = True
    """False if batches are values lists."""

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        mode = VALUES if mode == BATCH and not self.copies else mode
        return super().encode(block, mode, batch_rows)

    def classify(self, error: Exception) -> Failure:
        code: str = getattr(error, "pgcode", None) or ""
        if code.startswith(_REPLICA_UNAVAILABLE) and self.commit_sent:
            return Failure.UNKNOWN
        return super().classify(error)


class Cockroachdb(Postgres):
    """A CockroachDB database."""

    name = "cockroachdb"
    urls = ("cockroachdb://USER@HOST:26257/DATABASE",)
    locks_tables = False
    attachments = ""
    shows_types = False
    capabilities = replace(
        Postgres.capabilities,
        no_import="IMPORT INTO reads files from where every node can reach them",
        modes={
            **{mode: how for mode, how in Postgres.capabilities.modes.items() if mode != IMPORT},
            BATCH: "one binary COPY, which is a transaction; with use_values_lists=true an INSERT "
            "with a list of rows, in prefill too",
        },
        primary_keys={
            **Postgres.capabilities.primary_keys,
            PrimaryKey.DB: "bigserial, which is unique_rowid(): unique, but not consecutive",
            PrimaryKey.NONE: "no key and no id column; a hidden rowid is the key",
        },
        plans="",
        no_plans="this draft could not be tried on a server that explains queries",
        acknowledged="committed by a majority of each range's replicas",
        oldest={},
        by_version={
            "CockroachDB": "from 22.2 copy_from_atomic_enabled; without it use_values_lists=true"
        },
    )
    dialect: ClassVar[PostgresDialect] = CockroachdbDialect()
    remedies: ClassVar[Mapping[str, str]] = {
        "copy_from_atomic_enabled": "set use_values_lists=true: COPY of servers before 22.2 can "
        "store a part of a batch",
        **Postgres.remedies,
    }
    compacting: ClassVar[str] = "ANALYZE"  # the servers compact on their own; there is no VACUUM

    def session_settings(self) -> dict[str, str]:
        settings = super().session_settings()
        if not self.options.use_values_lists:
            settings["copy_from_atomic_enabled"] = "on"  # older servers copy in parts
        return settings

    def open(self, connection: Any) -> PostgresSession:
        session = CockroachdbSession(connection, self.dialect_of)
        session.copies = not self.options.use_values_lists
        return session

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none, and check that the server accepts COPY if it is used.

        CockroachDB refuses the COPY statement of psycopg2's copy_from(), so this is our own.
        """
        super().create(tables, batch_rows)
        if self.options.use_values_lists:
            return
        into = self.dialect.target(tables[0], tables[0].names[0])
        try:
            with self.administration() as session:
                copy = f"COPY {into} FROM STDIN {session.copy_format}"
                session.cursor.copy_expert(copy, BytesIO(EMPTY))
        except SetupError as error:
            self.drop(names_of(tables))
            raise SetupError(f"{error}; use_values_lists=true needs no COPY") from error

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the server's estimate of the size of the tables' ranges, with all replicas."""
        disk = "CAST(span_stats->>'approximate_disk_bytes' AS INT8)"
        size = 0
        for name in map(self.dialect.name, names_of(tables)):
            ranges = f"[SHOW RANGES FROM TABLE {name} WITH DETAILS]"
            ((used,),) = self.fetch(f"SELECT sum({disk}) FROM {ranges}")
            size += int(used or 0)
        return size

    background_work = PostgresWire.background_work  # it has no checkpoints

    def describe(self) -> Server:
        default = "[SHOW ZONE CONFIGURATION FROM RANGE default]"
        with self.administration() as session:
            ((banner,),) = session.ask("SELECT version()")
            ((nodes,),) = session.ask(_NODES)
            ((skips_sync,),) = session.ask(f"SHOW CLUSTER SETTING {_SYNC}")
            ((zone,),) = session.ask(f"SELECT raw_config_sql FROM {default}")
        unsynced = str(skips_sync).lower() in ("true", "on")
        replicas = re.search(r"num_replicas = (\d+)", zone)
        settings = {_SYNC: str(unsynced).lower(), "num_replicas": replicas[1] if replicas else "?"}
        where = "in memory" if unsynced else "on disk"
        shown = ", ".join(f"{name}={value}" for name, value in settings.items())
        durability = (
            f"an acknowledged row is in the log of a majority of replicas, {where} ({shown})"
        )
        return Server(str(recognize(banner)), int(nodes), durability, not unsynced, settings)

    # A zone may give a table other replicas than the server has.
    describe_stored = PostgresWire.describe_stored


_NODES = (
    "SELECT count(DISTINCT replica) FROM "
    "(SELECT unnest(replicas) AS replica FROM [SHOW CLUSTER RANGES]) AS replicas"
)
