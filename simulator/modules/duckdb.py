"""DuckDB: one file, written by the one worker's process, without a server.

https://duckdb.org/docs/stable/connect/concurrency: one process at a time may write; its threads may
do so at once. Rows go in as Arrow batches, which the engine reads where they lie.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, assert_never

import numpy as np
from pydantic import Field

from simulator.data.block import Block
from simulator.data.query import Query, Statement
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, former_names
from simulator.encode.arrow import Arrow
from simulator.encode.objects import Objects
from simulator.errors import SetupError, UnstorableError
from simulator.modules.base import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Failure,
    Options,
    Payload,
    Server,
    Session,
    with_remedy,
)
from simulator.modules.shared import sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_INSTALL = "it needs the package duckdb: pip install -r requirements-embedded.txt"


class DuckDbOptions(Options):
    """Options of the module `duckdb`."""

    path: str = Field("results/duckdb.db", description="the database's file; its folder must exist")
    fsync: Literal["standard", "none"] = Field(
        "standard",
        description="whether a commit syncs the log to disk (fsync_mode); none: an acknowledged "
        "row survives a crash of the process, but not of the machine",
    )
    create_indices: bool = Field(
        default=False, description="make indices on (tags, time, first field) and (first field)"
    )


# Words that DuckDB 2.0 takes for no name, and PostgreSQL and SQLite do; a test asks the engine.
_RESERVED = frozenset(
    """
    anti asof at by columns describe generated glob lambda map pivot pivot_longer pivot_wider
    positional qualify semi show struct summarize try_cast tuple unpack unpivot
    """.split()
)


class DuckDbDialect(sql.Dialect):
    """DuckDB's types; sums of integers are made in 128 bits, texts are compared by their bytes."""

    reserved: ClassVar[frozenset[str]] = sql.RESERVED | _RESERVED
    types: ClassVar[dict[Type, str]] = {
        Type.INT16: "SMALLINT",
        Type.INT32: "INTEGER",
        Type.INT64: "BIGINT",
        Type.FLOAT32: "FLOAT",
        Type.FLOAT64: "DOUBLE",
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "VARCHAR",
        Type.TIMESTAMP: "TIMESTAMP",
    }

    def __init__(self, unit: TimeUnit) -> None:
        """Take the table's unit of time."""
        self.unit = unit

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return f"make_timestamp({value * 10**6 // unit.per_second})"

    def read(self, column: Column, expression: str = "") -> str:
        """Return instants as numbers in the table's unit; a datetime would count microseconds."""
        read = super().read(column, expression)
        if column.type is not Type.TIMESTAMP:
            return read
        return f"epoch_us({read}) // {10**6 // self.unit.per_second}"

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return any column but a text as a number whose sum is exact."""
        is_instant = column.type is Type.TIMESTAMP
        return self.read(column) if is_instant else super().number(column, unit)


class NanosecondDialect(DuckDbDialect):
    """Instants in nanoseconds have a type of their own."""

    types: ClassVar[dict[Type, str]] = {**DuckDbDialect.types, Type.TIMESTAMP: "TIMESTAMP_NS"}

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


class DuckDb(Database):
    """A file."""

    name = "duckdb"
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT of one row, committed on its own",
            BATCH: "INSERT ... SELECT from an Arrow batch in memory, which is a transaction",
        },
        primary_keys={
            PrimaryKey.DB: "BIGINT DEFAULT nextval(...) PRIMARY KEY",
            PrimaryKey.CLIENT: "VARCHAR PRIMARY KEY, sent by the client",
            PrimaryKey.UUID: "UUID DEFAULT uuid() PRIMARY KEY",
            PrimaryKey.NONE: "no key and no id column",
        },
        acknowledged="committed to the write-ahead log of the file; `fsync` says whether it was "
        "also synced to disk",
        indices=True,
        embedded=True,
        max_workers=1,
        limits=("one process at a time has the file open: one worker",),
    )
    options_model: ClassVar[type[Options]] = DuckDbOptions
    options: DuckDbOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if self.options.path in ("", ":memory:"):
            found.append("path: must be a file, since collector and worker open it in turns")
        return found

    def connect(self) -> "DuckDbSession":
        """Open the file, which is made if it is not there; connections of a process share it."""
        return DuckDbSession(self._open())

    def _open(self) -> "Connection":
        try:
            import duckdb  # noqa: PLC0415  # a driver is imported only when its module connects
            import pyarrow as pa  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise SetupError(f"duckdb: {_INSTALL}") from error
        # The first array loads pandas, where there is one; in the first block, that second would
        # count as encoding.
        pa.array(np.empty(0))
        try:
            connection = duckdb.connect(self.options.path)
            try:
                connection.execute(f"SET fsync_mode = '{self.options.fsync}'")
            except BaseException:
                connection.close()
                raise
        except duckdb.Error as error:
            raise self._setup_error(error) from error
        return connection

    @contextmanager
    def _opened(self) -> "Iterator[Connection]":
        """Open the file for something other than a run; closing rolls back what is unfinished."""
        with self._open() as connection:
            import duckdb  # noqa: PLC0415

            try:
                yield connection
            except duckdb.Error as error:
                raise self._setup_error(error) from error

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"duckdb: {self.options.path}: {self.explain(error)}")

    def _change(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction."""
        with self._opened() as connection:
            connection.execute("BEGIN")
            for statement in statements:
                connection.execute(statement)
            connection.execute("COMMIT")

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        statements = []
        for table in tables:
            dialect = _dialect(table)
            for name in table.names:
                if table.primary_key is PrimaryKey.DB:
                    statements.append(f"CREATE SEQUENCE {_sequence(dialect, name)}")
                key = _key(dialect, table, name)
                statements.append(sql.create_table(dialect, table, name, *key))
            if self.options.create_indices:
                statements += sql.create_indices(dialect, [table])
        self._change(statements)

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables and give their space back, so that every run starts with a small file."""
        if not Path(self.options.path).exists():
            return
        dialect = DuckDbDialect(TimeUnit.MICROSECOND)
        names = former_names(tables)
        statements = [f"DROP TABLE IF EXISTS {dialect.name(name)}" for name in names]
        statements += [f"DROP SEQUENCE IF EXISTS {_sequence(dialect, name)}" for name in names]
        self._change(statements)
        with self._opened() as connection:
            connection.execute("CHECKPOINT")

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that are not there yet."""
        self._change([s for table in tables for s in sql.create_indices(_dialect(table), [table])])

    def settle(self, tables: Sequence[Table]) -> None:
        """Copy the log into the file, and gather the planner's statistics."""
        with self._opened() as connection:
            connection.execute("CHECKPOINT")
            for table in tables:
                for name in table.names:
                    connection.execute(f"ANALYZE {_dialect(table).name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return what is in use of the whole file, with all tables that are in it, and its log."""
        with self._opened() as connection:
            rows = connection.execute("SELECT block_size, used_blocks FROM pragma_database_size()")
            ((block_size, used),) = rows.fetchall()
        log = Path(f"{self.options.path}.wal")
        return int(block_size * used) + (log.stat().st_size if log.exists() else 0)

    def describe(self) -> Server:
        """Return the version and the settings as a connection has them."""
        names = ("fsync_mode", "checkpoint_threshold", "threads")
        shown = ", ".join(f"current_setting('{name}')" for name in names)
        with self._opened() as connection:
            ((version, *values),) = connection.execute(f"SELECT version(), {shown}").fetchall()
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

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(_dialect(query.table), query)

    def explain(self, error: Exception) -> str:
        """Return an error in DuckDB's words, with a remedy where one is known."""
        words = " ".join(str(error).split("\nLINE ")[0].split())
        folder = Path(self.options.path).parent
        if not folder.is_dir():
            return f"{words}; make the folder: mkdir -p {folder}"
        return with_remedy(words or type(error).__name__, _REMEDIES)


_REMEDIES = {
    "already exists": "drop it, or run with --clean",
    "does not exist": "run an insert first",
    "Could not set lock": "another process has the file open; stop it",
    "Cannot CHECKPOINT": "another connection writes to the file; stop it",
    "uplicate key": "rows like these are stored already; run with --clean, or use another "
    "--primary-key",
    "not a valid DuckDB database file": "path names a file of another kind; choose another, "
    "nothing was changed",
    "Permission denied": "path must be a file in a folder where this user may write",
    "No space left": "make room, or choose another path",
}


def _sequence(dialect: sql.Dialect, name: str) -> str:
    return dialect.name(f"{name}_id")


def _key(dialect: sql.Dialect, table: Table, name: str) -> tuple[str | None, str | None]:
    """Return what makes the table's primary key: the definition of a column, a constraint."""
    match table.primary_key:
        case PrimaryKey.DB:
            sequence = dialect.text(_sequence(dialect, name))
            return f"id BIGINT DEFAULT nextval({sequence}) PRIMARY KEY", None
        case PrimaryKey.UUID:
            return "id UUID DEFAULT uuid() PRIMARY KEY", None
        case PrimaryKey.CLIENT:
            return None, "PRIMARY KEY (id)"
        case PrimaryKey.NONE:
            return None, None
        case PrimaryKey.SQL:
            raise SetupError(f"duckdb has no {table.primary_key} key; see --primary-key")
        case _:
            assert_never(table.primary_key)


class DuckDbSession(Session):
    """A connection to the file."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._encoders: dict[tuple[str, str], Callable[[Block, int], list[Any]]] = {}
        self._inserts: dict[tuple[str, str], str] = {}
        self._broken = False

    def close(self) -> None:
        """Close the connection; the last one to close lets go of the file."""
        with suppress(Exception):
            self._connection.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used; after a fatal error none of the process can."""
        return not self._broken

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as Arrow tables, or as Python rows, beside the statement."""
        key = block.name, mode
        if key not in self._encoders:
            table, dialect = block.table, _dialect(block.table)
            into = f"INSERT INTO {dialect.name(block.name)} "
            into += f"({dialect.names([column.name for column in table.columns])})"
            if mode == SINGLE:
                marks = [_mark(column, table.time_unit) for column in table.columns]
                self._inserts[key] = f"{into} VALUES ({', '.join(marks)})"
                self._encoders[key] = Objects(table.columns, table.time_unit).encode
            else:
                # The engine finds the table by the name of a variable, see `send`.
                self._inserts[key] = f"{into} SELECT * FROM arrow_rows"
                self._encoders[key] = Arrow(table.columns, table.time_unit).encode
        _expect_instants(block)
        insert = self._inserts[key]
        return [
            Payload(len(rows), mode, (insert, rows))
            for rows in self._encoders[key](block, rows_per_send)
        ]

    def send(self, payload: Payload) -> None:
        """Insert the rows and return once they are committed."""
        insert, rows = payload.data
        if payload.mode == SINGLE:
            self._connection.execute(insert, rows[0])
            return
        arrow_rows = rows  # noqa: F841  # the statement names it
        self._connection.execute(insert)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A statement that fails is undone. Only when the disk fails under a commit, or the engine
        gives up altogether, it shows when the file is opened again whether it is there.
        """
        import duckdb  # noqa: PLC0415

        if isinstance(error, duckdb.FatalException | duckdb.InternalException):
            self._broken = True
        if isinstance(error, duckdb.TransactionException):
            return Failure.NOT_APPLIED
        unsure = duckdb.IOException | duckdb.FatalException | duckdb.InternalException
        return Failure.UNKNOWN if isinstance(error, unsure) else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self._connection.execute(statement.text, statement.parameters).fetchall()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, which the engine makes one by one."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement.text, statement.parameters)
            while portion := cursor.fetchmany(rows):
                yield portion


def _mark(column: Column, unit: TimeUnit) -> str:
    """Return what stands for a value of one row; instants are sent as numbers."""
    if column.type is not Type.TIMESTAMP:
        return "?"
    if unit is TimeUnit.NANOSECOND:
        return "make_timestamp_ns(CAST(? AS BIGINT))"
    return f"make_timestamp(CAST(? AS BIGINT) * {10**6 // unit.per_second})"


_MOST = {TimeUnit.NANOSECOND: 9_223_286_400 * 10**9}
_MOST_US = 9_223_372_022_400 * 10**6


def _expect_instants(block: Block) -> None:
    """Refuse instants that DuckDB has no number for, or takes for infinity."""
    unit = block.table.time_unit
    most = _MOST.get(unit, _MOST_US // (10**6 // min(unit.per_second, 10**6)))
    for column in block.table.columns:
        if column.type is not Type.TIMESTAMP:
            continue
        data = block.data[column.name]
        values = data.values() if data.valid is None else data.values()[data.valid]
        outside = values[(values < -most) | (values > most)]
        if len(outside):
            raise UnstorableError(
                f"column {column.name}: {outside[0]} {unit} from 1970 is beyond DuckDB's limit of "
                f"{most} {unit}"
            )
