"""DuckDB: one file, written by the process of the only worker, without a server.

https://duckdb.org/docs/stable/connect/concurrency: one process at a time may write; its threads may
write at the same time. Rows are inserted from Arrow batches, which the engine reads in place.
"""

import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simulator.data.block import Block
from simulator.data.dataset import Retag
from simulator.data.query import Statement
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type
from simulator.encode.arrow import Arrow
from simulator.encode.instants import Iso
from simulator.encode.objects import Objects
from simulator.encode.text import CSV, Text
from simulator.errors import SetupError, UnstorableError
from simulator.modules.base import (
    BATCH,
    IMPORT,
    SINGLE,
    Capabilities,
    Encoder,
    Failure,
    Payload,
    Server,
    Session,
)
from simulator.modules.changes import CORRECT
from simulator.modules.existing import Contents, Existing
from simulator.modules.options import Options
from simulator.modules.query_plans import QueryPlan
from simulator.modules.shared import shapes, sql, sql_changes
from simulator.modules.shared.acknowledged import RowCountMismatch, expect_rows
from simulator.modules.shared.sql_database import STANDARD_COLUMNS, SqlFile, SqlOptions
from simulator.modules.signature import signature

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_OPENING = threading.Lock()
"""Of connections opened at the same moment, some would not find the driver's own functions."""
_CSV = replace(CSV, style=replace(CSV.style, instants=Iso(zone=b"", decimals=9)))
_READING = (
    "FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', ESCAPE '\"',"
    " NULLSTR '', ALLOW_QUOTED_NULLS false, NEW_LINE '\\n'"
)
"""How the engine reads such a file; what it detects by itself depends on the first rows."""
_HERE = "schema_name = current_schema() AND database_name = current_database()"
"""Where statements that name no schema create."""
_INSTALL = "it needs the package duckdb: pip install -r requirements-embedded.txt"


class DuckDbOptions(SqlOptions):
    """Options of the module `duckdb`."""

    path: str = Field("results/duckdb.db", description="the database file; its folder must exist")
    fsync: Literal["standard", "none"] = Field(
        "standard",
        description="whether a commit syncs the log to disk (fsync_mode); none: an acknowledged "
        "row survives a crash of the process, but not of the machine",
    )


# Words that DuckDB 2.0 accepts as a name only in quotes, unlike PostgreSQL and SQLite.
_RESERVED = frozenset(
    """
    anti asof at by columns describe generated glob lambda map pivot pivot_longer pivot_wider
    positional qualify semi show struct summarize try_cast tuple unpack unpivot
    """.split()
)


class DuckDbDialect(sql.Dialect):
    """DuckDB's types; it sums integers in 128 bits and compares texts by their bytes."""

    reserved: ClassVar[frozenset[str]] = sql.RESERVED | _RESERVED
    finest: TimeUnit | None = TimeUnit.MICROSECOND
    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "SMALLINT",
        Type.INT32: "INTEGER",
        Type.INT64: "BIGINT",
        Type.FLOAT32: "FLOAT",
        Type.FLOAT64: "DOUBLE",
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "VARCHAR",
        Type.TIMESTAMP: "TIMESTAMP",
    }
    ids: ClassVar[Mapping[PrimaryKey, str]] = {
        PrimaryKey.UUID: "id UUID DEFAULT uuid() PRIMARY KEY"
    }

    def __init__(self, unit: TimeUnit) -> None:
        """Take the table's time unit."""
        self.unit = unit
        self.ticks_per_unit = 1 if unit is TimeUnit.NANOSECOND else 10**6 // unit.per_second

    def sequence(self, name: str) -> str:
        """Return the name of the sequence that generates a table's primary key."""
        return self.name(f"{name}_id")

    def key(self, table: Table, name: str) -> tuple[str | None, str | None]:
        """Return the definition of the column that the database fills, and a table constraint."""
        if table.primary_key is PrimaryKey.DB:
            sequence = self.text(self.sequence(name))
            return f"id BIGINT DEFAULT nextval({sequence}) PRIMARY KEY", None
        return super().key(table, name)

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return f"make_timestamp({value * 10**6 // unit.per_second})"

    def read(self, column: Column, expression: str = "") -> str:
        """Return instants as numbers, as fine as they are stored."""
        read = super().read(column, expression)
        if column.type is not Type.TIMESTAMP:
            return read
        return f"epoch_us({read}){f' // {self.ticks_per_unit}' if self.in_units else ''}"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        """Return the first or last value of a group; both functions ignore NULLs."""
        return f"{'arg_max' if last else 'arg_min'}({self.name(column.name)}, {time})"

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column other than text as a number whose sum is exact."""
        if column.type is not Type.TIMESTAMP:
            return super().number(column, unit)
        if unit is self.finest:
            return f"epoch_{unit}({self.name(column.name)})"
        return self.of_units().read(column)


class NanosecondDialect(DuckDbDialect):
    """DuckDB's own type for instants in nanoseconds."""

    finest: TimeUnit | None = TimeUnit.NANOSECOND
    types: ClassVar[Mapping[Type, str]] = {**DuckDbDialect.types, Type.TIMESTAMP: "TIMESTAMP_NS"}

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return f"make_timestamp_ns({value})"

    def read(self, column: Column, expression: str = "") -> str:
        """Return instants as numbers."""
        read = expression or self.name(column.name)
        return f"epoch_ns({read})" if column.type is Type.TIMESTAMP else read


def _dialect(table: Table) -> DuckDbDialect:
    is_finest = table.time_unit is TimeUnit.NANOSECOND
    return (NanosecondDialect if is_finest else DuckDbDialect)(table.time_unit)


class DuckDb(SqlFile["DuckDbSession"]):
    """A DuckDB file."""

    name = "duckdb"
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
    folds_names = True
    kinds = frozenset({"table", "sequence"})
    columns = STANDARD_COLUMNS
    comments = (
        "SELECT table_name, comment FROM duckdb_tables() "
        "UNION ALL SELECT sequence_name, comment FROM duckdb_sequences()"
    )
    remedies: ClassVar[Mapping[str, str]] = {
        "does not exist": "run an insert first",
        "Could not set lock": "another process has the file open; stop it",
        "Cannot CHECKPOINT": "another connection writes to the file; stop it",
        "uplicate key": "rows with these keys are already stored; run with --clean, or use another "
        "--primary-key",
        "not a valid DuckDB database file": "path is a file of another kind, which was not "
        "changed; choose another",
        "Permission denied": "path must be a file in a folder where this user may write",
        "No space left": "free disk space, or choose another path",
    }

    def dialect_of(self, table: Table) -> DuckDbDialect:
        """Return the dialect for the table's time unit."""
        return _dialect(table)

    def connect(self) -> "DuckDbSession":
        """Open the file; DuckDB creates it if it does not exist. One process shares it."""
        try:
            import duckdb  # noqa: PLC0415  # a driver is imported only when its module connects
            import pyarrow as pa  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise SetupError(f"duckdb: {_INSTALL}") from error
        # The first array loads pandas, if it is installed: a second that would count as encoding.
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
            raise self.setup_error(error) from error
        return DuckDbSession(connection)

    def change(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction."""
        with self.administration() as session:
            for statement in ("BEGIN", *statements, "COMMIT"):
                session.connection.execute(statement)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        """Return the statements that create one physical table."""
        statements = super().create_table(table, name, batch_rows)
        if table.primary_key is PrimaryKey.DB:
            statements.insert(0, f"CREATE SEQUENCE {_dialect(table).sequence(name)}")
        return statements

    def sign(self, table: Table, name: str) -> list[str]:
        """Return the statements that sign a table and its sequence."""
        statements = super().sign(table, name)
        if table.primary_key is PrimaryKey.DB:
            dialect, text = _dialect(table), _dialect(table).text(signature(f"{name}_id"))
            statements.append(f"COMMENT ON SEQUENCE {dialect.sequence(name)} IS {text}")
        return statements

    def objects(self, table: Table) -> list[str]:
        """Return the names of the tables, and of the sequences that generate their keys."""
        generated = table.primary_key is PrimaryKey.DB
        return [*table.names, *(f"{name}_id" for name in table.names if generated)]

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of rows; the size of one table is unknown."""
        counted = super().contents(name, found)
        return replace(counted, size_bytes=None)

    def drop(self, names: Collection[str]) -> None:
        """Drop tables, then sequences, and release their space in the file."""
        found = self.existing(names)
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
                    session.connection.execute(f"ANALYZE {_dialect(table).name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the used blocks of the whole file, of all its tables, and the size of its log."""
        blocks = "SELECT block_size, used_blocks FROM pragma_database_size()"
        with self.administration() as session:
            ((block_size, used),) = session.connection.execute(blocks).fetchall()
        log = self.path.with_name(f"{self.path.name}.wal")
        return int(block_size * used) + (log.stat().st_size if log.exists() else 0)

    def describe(self) -> Server:
        """Return the version, and the settings of a connection."""
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
        """Return DuckDB's message on one line, after the name of the file."""
        message = " ".join(str(error).split("\nLINE ")[0].split())
        return f"{self.options.path}: {message or type(error).__name__}"


_ESTIMATES = re.compile(r"Estimated \w+")


class DuckDbSession(Session):
    """A connection to the file."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self._broken = False

    def close(self) -> None:
        """Close the connection; the last one to close releases the file."""
        with suppress(Exception):
            self.connection.close()

    @property
    def alive(self) -> bool:
        """Whether the connection works; a fatal error breaks all connections of the process."""
        return not self._broken

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return what encodes blocks as Arrow tables, or as Python rows, beside the statement."""
        into = sql.target(_dialect(table), table, name)
        insert = f"INSERT INTO {into}"
        if mode == IMPORT:
            insert = f"COPY {into}"
            rows_of: Encoder = Text.of(table.columns, table.time_unit, _CSV).encode
        elif mode == SINGLE:
            marks = ", ".join(_mark(column, table.time_unit) for column in table.columns)
            insert += f" VALUES ({marks})"
            rows_of = Objects(table.columns, table.time_unit).encode
        else:
            # The engine finds the Arrow table by the name of a variable in `send`.
            insert += " SELECT * FROM arrow_rows"
            if mode == CORRECT:
                insert += sql_changes.on_conflict(_dialect(table), table)
            rows_of = Arrow(table.columns, table.time_unit).encode

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            _expect_instants(block)
            return [(insert, rows) for rows in rows_of(block, rows_per_batch)]

        return encode

    def send(self, payload: Payload) -> None:
        """Insert the rows and return once they are committed."""
        insert, rows = payload.data
        if payload.mode == SINGLE:
            done = self.connection.execute(insert, rows[0])
        elif payload.mode == IMPORT:
            file = str(rows).replace("'", "''")
            done = self.connection.execute(f"{insert} FROM '{file}' ({_READING})")
        else:
            arrow_rows = rows  # noqa: F841  # the statement refers to it by name
            done = self.connection.execute(insert)
        ((stored,),) = done.fetchall()
        expect_rows(stored, payload.rows)

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        A statement that fails is rolled back. If the disk fails during a commit, or the engine
        aborts, whether the commit took place shows only when the file is reopened.
        """
        import duckdb  # noqa: PLC0415

        if isinstance(error, duckdb.FatalException | duckdb.InternalException):
            self._broken = True
        if isinstance(error, RowCountMismatch):
            return Failure.UNKNOWN if error.stored else Failure.FATAL
        if isinstance(error, duckdb.TransactionException):
            return Failure.NOT_APPLIED
        unsure = duckdb.IOException | duckdb.FatalException | duckdb.InternalException
        return Failure.UNKNOWN if isinstance(error, unsure) else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self.connection.execute(statement.text, statement.parameters).fetchall()

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Update a tag of one series; return how many rows it has."""
        updates = sql_changes.updates(_dialect(table), table, retag, name)
        found = (self.connection.execute(statement).fetchall() for statement in updates)
        return sum(int(rows) for ((rows,),) in found)

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the rows before a time."""
        for statement in sql_changes.deletions(_dialect(table), table, until):
            self.connection.execute(statement)

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of a statement, carried out; the shape is that of the plan as JSON.

        The drawing breaks its lines where figures end.
        """
        drawn = self._explained("EXPLAIN ANALYZE", statement)
        plan = self._explained("EXPLAIN (FORMAT json)", statement)
        yield QueryPlan(statement.text, drawn, shapes.of_json(json.loads(plan), _ESTIMATES))

    def _explained(self, how: str, statement: Statement) -> str:
        found = self.connection.execute(f"{how} {statement.text}", statement.parameters)
        return "\n".join(text for _, text in found.fetchall())

    def read_only(self) -> None:
        """Begin a transaction that refuses what writes; it ends with the connection."""
        self.connection.execute("BEGIN TRANSACTION READ ONLY")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, which the engine computes one by one."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement.text, statement.parameters)
            while portion := cursor.fetchmany(rows):
                yield portion


def _mark(column: Column, unit: TimeUnit) -> str:
    """Return the placeholder of a value; instants are sent as numbers."""
    if column.type is not Type.TIMESTAMP:
        return "?"
    if unit is TimeUnit.NANOSECOND:
        return "make_timestamp_ns(CAST(? AS BIGINT))"
    return f"make_timestamp(CAST(? AS BIGINT) * {10**6 // unit.per_second})"


_MOST = {TimeUnit.NANOSECOND: 9_223_286_400 * 10**9}
_MOST_US = 9_223_372_022_400 * 10**6


def _expect_instants(block: Block) -> None:
    """Raise UnstorableError for instants that DuckDB cannot hold or takes for infinity."""
    unit = block.table.time_unit
    most = _MOST.get(unit, _MOST_US // (10**6 // min(unit.per_second, 10**6)))
    for column in block.table.columns:
        if column.type is not Type.TIMESTAMP:
            continue
        values = block.data[column.name].present()
        outside = values[(values < -most) | (values > most)]
        if len(outside):
            raise UnstorableError(
                f"column {column.name}: {outside[0]} {unit} from 1970 is outside of DuckDB's "
                f"range, -{most} to {most} {unit}"
            )
