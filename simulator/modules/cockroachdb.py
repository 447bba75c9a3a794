"""CockroachDB, a relative of `postgres`, with all batches by COPY or all as values lists.

Tested on version 21.1. What later versions add is written from the vendor's documentation: cursors,
and COPY that is a transaction, are tested on PostgreSQL, SHOW CLUSTER RANGES and span_stats not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from typing import Any, ClassVar

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, names_of
from simulator.encode.pgcopy import EMPTY
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    DRIVER_COPY,
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
from simulator.modules.shared import shapes
from simulator.modules.shared.sql.transactions import VALUES
from simulator.modules.shared.waits import wait_until

_REPLICA_UNAVAILABLE = "58C"  # a class of codes: the result of the write is unknown
_SYNC = "kv.raft_log.disable_synchronization_unsafe"
CURSORS = (22, 1)
_ATOMIC = (22, 2)
"""First release in which one COPY, or one message of several statements, is a transaction."""
_SPAN_STATS = (23, 2)
"""First release with SHOW CLUSTER RANGES and span_stats as default."""
_SPLIT_S = 10
"""Wait for the ranges that the server splits off for new tables."""


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
        # extract() returns doubles, which are exact only for parts of an instant. Before 1678 and
        # after 2262, servers of 21.1 return a wrong epoch.
        if column.type is not Type.TIMESTAMP:
            return super().number(column, unit)
        name, per_second = self.name(column.name), unit.per_second
        days = f"(CAST({name} AS DATE) - DATE '1970-01-01')"
        rest = f"extract(epoch FROM CAST({name} AS TIME))"
        return f"({days} * {86_400 * per_second} + CAST(round({rest} * {per_second}) AS INT8))"

    def mean(self, total: str, count: str) -> str:
        # A double cannot be divided by an integer.
        return f"CAST({total} AS DOUBLE PRECISION) / CAST({count} AS DOUBLE PRECISION)"

    def order_by_bytes(self, column: Column) -> str:
        return self.name(column.name)


class CockroachdbSession(PostgresSession):
    """A connection that sends all batches by COPY, or all as values lists."""

    copy_format: ClassVar[str] = "WITH BINARY"  # which old and new versions accept
    explains: ClassVar[str] = "EXPLAIN ANALYZE"

    copies = True
    """False if batches are values lists."""
    has_cursors = True
    """False if an answer can only be read as a whole."""

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        mode = VALUES if mode == BATCH and not self.copies else mode
        return super().encode(block, mode, batch_rows)

    def classify(self, error: Exception) -> Failure:
        code: str = getattr(error, "pgcode", None) or ""
        if code.startswith(_REPLICA_UNAVAILABLE) and self.commit_sent:
            return Failure.UNKNOWN
        return super().classify(error)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        if self.has_cursors:
            yield from super().stream(statement, rows)
            return
        self.cursor.execute(statement.text, statement.parameters or None)
        while portion := self.cursor.fetchmany(rows):
            yield portion

    def shape_of(self, plan: str) -> str:
        return shape_of_plan(plan)


class Cockroachdb(Postgres):
    """A CockroachDB database."""

    name = "cockroachdb"
    urls = ("cockroachdb://USER@HOST:26257/DATABASE",)
    locks_tables = False
    attachments = ""
    shows_types = False
    row_hash = None
    no_row_hash = "CockroachDB has none of PostgreSQL's hash functions with a seed"
    capabilities = replace(
        Postgres.capabilities,
        no_import="IMPORT INTO reads files from where every node can reach them",
        modes={
            **{mode: how for mode, how in Postgres.capabilities.modes.items() if mode != IMPORT},
            BATCH: "one binary COPY, which is a transaction; before 22.2, or with "
            "use_values_lists=true, an INSERT with a list of rows, in prefill too",
        },
        primary_keys={
            **Postgres.capabilities.primary_keys,
            PrimaryKey.DB: "bigserial, which is unique_rowid(): unique, but not consecutive",
            PrimaryKey.NONE: "no key and no id column; a hidden rowid is the key",
        },
        plans=CockroachdbSession.explains,
        acknowledged="committed by a majority of each range's replicas",
        oldest={},
        by_version={
            "CockroachDB": "from 21.1 plans in the answer of EXPLAIN ANALYZE; from 21.2 identity "
            "columns (--primary-key sql); from 22.1 cursors; from 22.2 copy_from_atomic_enabled, "
            "without which batches are values lists; from 23.2 SHOW CLUSTER RANGES and span_stats"
        },
    )
    dialect: ClassVar[PostgresDialect] = CockroachdbDialect()
    remedies: ClassVar[Mapping[str, str]] = {
        "^42501 only users with the admin role": "GRANT admin TO the user: the server's settings "
        "and sizes require it",
        '^42601 at or near "(always|identity)"': "use another --primary-key: servers before 21.2 "
        "have no identity columns",
        **Postgres.remedies,
    }
    compacting: ClassVar[str] = "ANALYZE"  # the servers compact on their own; there is no VACUUM

    @cached_property
    def release(self) -> tuple[int, ...]:
        """Year and number of the server's release."""
        return tuple(map(int, recognize(self.identify()).version.split(".")[:2]))

    def connect(self) -> PostgresSession:
        session = super().connect()
        if self.options.sends_by == DRIVER_COPY and self.release < _ATOMIC:
            session.close()
            why = "COPY of servers before 22.2 can store a part of a batch"
            raise SetupError(f"{self.name}: client={DRIVER_COPY}: {why}; use client={DRIVER}")
        return session

    def open(self, connection: Any) -> PostgresSession:
        session = CockroachdbSession(connection, self.dialect_of)
        session.has_cursors = self.release >= CURSORS
        session.copies = self.copies
        if self.release >= _ATOMIC:
            session.ask("SET copy_from_atomic_enabled = on")
        return session

    @property
    def copies(self) -> bool:
        """True if batches go by COPY."""
        return not self.options.use_values_lists and self.release >= _ATOMIC

    def change(self, statements: Sequence[str]) -> None:
        # Before 22.2 each statement of a message is a transaction. Some, such as SET CLUSTER
        # SETTING, cannot be between BEGIN and COMMIT.
        several = len(statements) > 1
        super().change(["BEGIN", *statements, "COMMIT"] if several else statements)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none, and check that the server accepts COPY if it is used.

        CockroachDB refuses the COPY statement of psycopg2's copy_from(), so this is our own.
        """
        super().create(tables, batch_rows)
        if not self.copies:
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
        """Return the server's estimate of the size of the tables' ranges, with all replicas.

        Before 23.2 it is the size of keys and values. A range that other tables share counts whole.
        """
        names, statement = names_of(tables), _SPAN_SIZES
        if self.release < _SPAN_STATS:
            statement = _RANGE_SIZES
            wait_until(lambda: self.fetch(_SPLIT, [*names]) == [(len(names),)], _SPLIT_S, 0.2)
        sizes: dict[int, int] = {}
        for name in names:
            quoted = {"name": self.dialect.name(name), "text": self.dialect.text(name)}
            sizes |= {number: int(size) for number, size in self.fetch(statement.format(**quoted))}
        return sum(sizes.values())

    background_work = PostgresWire.background_work  # it has no checkpoints

    def describe(self) -> Server:
        default = "[SHOW ZONE CONFIGURATION FROM RANGE default]"
        with self.administration() as session:
            ((banner,),) = session.ask("SELECT version()")
            known = self.release >= _SPAN_STATS
            ranges = "[SHOW CLUSTER RANGES]" if known else "crdb_internal.ranges_no_leases"
            ((nodes,),) = session.ask(_NODES.format(ranges))
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


_SPAN_SIZES = (
    "SELECT range_id, CAST(span_stats->>'approximate_disk_bytes' AS INT8) "
    "FROM [SHOW RANGES FROM TABLE {name} WITH DETAILS]"
)
# In these versions SHOW RANGES returns no ranges of secondary indices.
_RANGE_SIZES = (
    "SELECT range_id, range_size * array_length(replicas, 1) FROM crdb_internal.ranges "
    "WHERE (database_name = current_database() AND table_name = {text}) "
    "OR range_id IN (SELECT range_id FROM [SHOW RANGES FROM TABLE {name}])"
)
_SPLIT = (
    "SELECT count(DISTINCT table_name) FROM crdb_internal.ranges_no_leases "
    "WHERE database_name = current_database() AND table_name = ANY(%s)"
)
"""Counts the tables that share no range with earlier ones."""
_NODES = (
    "SELECT count(DISTINCT replica) FROM (SELECT unnest(replicas) AS replica FROM {}) AS replicas"
)


_CONDITIONS = re.compile(
    "• |(?:already ordered|distinct on|equality|filter|group by|key columns|lookup condition|"
    "order|pred|spans|table):"
)
"""Lines of a plan that belong to its shape; other lines, such as row counts, belong to the run."""


def shape_of_plan(text: str) -> str:
    """Return the nodes of a plan, with their conditions and keys."""
    return shapes.of_text(text, lambda line: line if _CONDITIONS.match(line) else "")
