"""DuckDB: one file without a server, which a single worker writes.

https://duckdb.org/docs/stable/connect/concurrency: one process at a time may write, with several
threads. Rows are inserted from Arrow batches, which the engine reads in place.
"""

import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from simulator.data.row_hash import DuckDbHash
from simulator.data.schema import PrimaryKey, Table, TimeUnit
from simulator.errors import InUseError
from simulator.host import describe_process
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    MISSING,
    SINGLE,
    Capabilities,
    Contents,
    Existing,
    Options,
    Server,
    signature,
)
from simulator.modules.duckdb.query import DuckDbDialect, NanosecondDialect, dialect_of
from simulator.modules.duckdb.session import DuckDbSession
from simulator.modules.shared.sql import changes as sql_changes
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql.database import STANDARD_COLUMNS, IndexOptions, SqlFile

_HOLDER = re.compile(r"Conflicting lock is held .*PID (\d+)")
_OPENING = threading.Lock()
"""Serializes opening: otherwise a connection might not find the driver's functions."""
_HERE = "schema_name = current_schema() AND database_name = current_database()"
"""Condition that selects the current schema."""


class DuckDbOptions(IndexOptions):
    """Options of the module `duckdb`."""

    path: str = Field("results/duckdb.db", description="the database file; its folder must exist")
    fsync: Literal["standard", "none"] = Field(
        "standard",
        description="whether a commit syncs the log to disk (fsync_mode); none: an acknowledged "
        "row survives a crash of the process, but not of the machine",
    )


class DuckDb(SqlFile["DuckDbSession"]):
    """A DuckDB file."""

    name = "duckdb"
    urls = ("duckdb:PATH",)
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT of one row, committed on its own",
            BATCH: "INSERT ... SELECT from an Arrow batch in memory, which is a transaction",
            IMPORT: "COPY of a CSV file, which the engine reads: one transaction",
        },
        primary_keys={
            PrimaryKey.DB: "BIGINT DEFAULT nextval(...) PRIMARY KEY",
            PrimaryKey.CLIENT: "VARCHAR PRIMARY KEY, sent by the client",
            PrimaryKey.UUID: "UUID DEFAULT uuid() PRIMARY KEY",
            PrimaryKey.NONE: "no key and no id column",
        },
        acknowledged="committed to the write-ahead log of the file; `fsync` says whether it was "
        "also synced to disk",
        changes=sql_changes.CHANGES,
        plans="EXPLAIN ANALYZE",
        indices=True,
        embedded=True,
        max_workers=1,
        limits=("one process at a time has the file open: one worker",),
    )
    options_model: ClassVar[type[Options]] = DuckDbOptions
    options: DuckDbOptions
    catalogue = (
        f"SELECT sequence_name, 'sequence' FROM duckdb_sequences() WHERE {_HERE} "
        f"UNION ALL SELECT table_name, 'table' FROM duckdb_tables() WHERE {_HERE} "
        f"UNION ALL SELECT view_name, 'view' FROM duckdb_views() WHERE {_HERE} AND NOT internal"
    )
    namesakes_of_indices = (
        f"SELECT index_name, 'index', table_name FROM duckdb_indexes() WHERE {_HERE}"
    )
    attachments = (
        "SELECT DISTINCT 'foreign key of table ' || table_name FROM duckdb_constraints() "
        f"WHERE {_HERE} AND constraint_type = 'FOREIGN KEY' "
        "AND referenced_table IN ({names}) AND table_name NOT IN ({names}) UNION "
        "SELECT 'default of column ' || column_name || ' of table ' || table_name "
        f"FROM duckdb_columns() WHERE {_HERE} AND table_name NOT IN ({{names}}) "
        "AND regexp_extract(column_default, '^nextval\\(.(.*).\\)$', 1) IN ({names}) ORDER BY 1"
    )
    folds_names = True
    kinds = frozenset({"table", "sequence"})
    columns = STANDARD_COLUMNS
    plain_tables = f"SELECT table_name FROM duckdb_tables() WHERE {_HERE} AND NOT temporary"
    comments = (
        f"SELECT table_name, comment FROM duckdb_tables() WHERE {_HERE} "
        f"UNION ALL SELECT sequence_name, comment FROM duckdb_sequences() WHERE {_HERE}"
    )
    remedies: ClassVar[Mapping[str, str]] = {
        "does not exist": MISSING,
        "Cannot CHECKPOINT": "another connection writes to the file; stop it",
        "uplicate key": "rows with these keys are already stored; run with --clean, or use another "
        "--primary-key",
        "not a valid DuckDB database file": "path is a file of another kind, which was not "
        "changed; choose another",
        "Permission denied|not permitted|Read-only file system|Is a directory": "path must be a "
        "file in a folder where this user may write",
        "Corrupt|Could not read enough bytes": "something else has written to the file; delete it, "
        "or choose another path",
        "No space left": "free disk space, or choose another path",
        "File too large": "raise the limit on the size of files (`ulimit -f`), or choose a path on "
        "another file system",
    }

    row_hash = DuckDbHash(ticks_per_second=10**6)
    hash_probe = sql_hashes.DUCKDB_PROBE

    def dialect_of(self, table: Table) -> DuckDbDialect:
        return dialect_of(table)

    def connect(self) -> "DuckDbSession":
        import duckdb
        import pyarrow as pa

        # The first array loads pandas, if installed: a second that would count as encoding.
        pa.array(np.empty(0))
        try:
            with _OPENING:
                connection = duckdb.connect(self.options.path)
            try:
                connection.execute(f"SET fsync_mode = '{self.options.fsync}'")
            except BaseException:  # also Ctrl-C: the connection is closed
                connection.close()
                raise
        except duckdb.Error as error:
            if holder := _HOLDER.search(str(error)):
                where = f"{self.name}: {self.options.path}"
                raise InUseError(where, describe_process(int(holder[1]))) from error
            raise self.setup_error(error) from error
        return DuckDbSession(connection)

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session:
            for statement in ("BEGIN", *statements, "COMMIT"):
                session.connection.execute(statement)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        statements = super().create_table(table, name, batch_rows)
        if table.primary_key is PrimaryKey.DB:
            statements.insert(0, f"CREATE SEQUENCE {dialect_of(table).sequence(name)}")
        return statements

    def sign(self, table: Table, name: str) -> list[str]:
        statements = super().sign(table, name)
        if table.primary_key is PrimaryKey.DB:
            dialect, text = dialect_of(table), dialect_of(table).text(signature(f"{name}_id"))
            statements.append(f"COMMENT ON SEQUENCE {dialect.sequence(name)} IS {text}")
        return statements

    def objects(self, table: Table) -> list[str]:
        generated = table.primary_key is PrimaryKey.DB
        return [*table.names, *(f"{name}_id" for name in table.names if generated)]

    def contents(self, name: str, found: Existing) -> Contents:
        return replace(super().contents(name, found), size_bytes=None)  # known only for the file

    def drop(self, names: Collection[str]) -> None:
        found = self.find_existing(names)
        order = sorted(found, key=lambda name: found[name].kind != "table")
        quote = NanosecondDialect(TimeUnit.NANOSECOND).name
        if found:
            self.change([f"DROP {found[name].kind} IF EXISTS {quote(name)}" for name in order])
            with self.administration() as session:
                session.connection.execute("CHECKPOINT")

    def compact(self, tables: Sequence[Table]) -> None:
        """Copy the log into the file, and collect the planner's statistics."""
        with self.administration() as session:
            session.connection.execute("CHECKPOINT")
            for table in tables:
                for name in table.names:
                    session.connection.execute(f"ANALYZE {dialect_of(table).name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of all tables in the file, and of its log."""
        blocks = "SELECT block_size, used_blocks FROM pragma_database_size()"
        with self.administration() as session:
            ((block_size, used),) = session.connection.execute(blocks).fetchall()
        log = self.path.with_name(f"{self.path.name}.wal")
        return int(block_size * used) + (log.stat().st_size if log.exists() else 0)

    def describe(self) -> Server:
        names = ("fsync_mode", "checkpoint_threshold", "threads")
        shown = ", ".join(f"current_setting('{name}')" for name in names)
        with self.administration() as session:
            asked = session.connection.execute(f"SELECT version(), {shown}")
            ((version, *values),) = asked.fetchall()
        settings = dict(zip(names, map(str, values), strict=True))
        durable = settings["fsync_mode"].upper() != "NONE"
        survives = "survives a crash of the machine: the log is synced at every commit"
        if not durable:
            survives = "survives a crash of the process, and not of the machine: nothing is synced"
        return Server(
            version=f"DuckDB {version.removeprefix('v')}",
            nodes=1,
            durability=f"an acknowledged row {survives} (fsync_mode={settings['fsync_mode']})",
            durable=durable,
            settings=settings,
        )

    def words(self, error: Exception) -> str:
        message = " ".join(str(error).split("\nLINE ")[0].split())
        return f"{self.options.path}: {message or type(error).__name__}"
