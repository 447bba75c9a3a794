"""SQLite: one file, written by several worker processes, without a server.

https://www.sqlite.org/wal.html: writers take turns; readers and the writer do not wait for each
other. The driver is Python's own.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, assert_never

from pydantic import Field

from simulator.data.block import Block
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, Type, former_names
from simulator.encode.objects import Objects
from simulator.errors import SetupError
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

_SYNCHRONOUS = ("off", "normal", "full", "extra")

_DURABILITY = {
    "off": "survives a crash of the process, and not of the machine: nothing is synced",
    "normal": "survives a crash of the process, and not of the machine: WAL is synced only when "
    "it is copied into the file",
    "full": "survives a crash of the machine: WAL is synced at every commit",
    "extra": "survives a crash of the machine: WAL is synced at every commit",
}


class SqliteOptions(Options):
    """Options of the module `sqlite`."""

    path: str = Field("results/sqlite.db", description="the database's file; its folder must exist")
    synchronous: Literal["off", "normal", "full", "extra"] = Field(
        "normal",
        description="when the log is synced to disk (PRAGMA synchronous); normal: an acknowledged "
        "row survives a crash of the process, but not of the machine; full: of both",
    )
    busy_timeout_s: float = Field(
        60, ge=0, description="how long a writer waits for the others before it gives up"
    )
    create_indices: bool = Field(
        default=False, description="make indices on (tags, time, first field) and (first field)"
    )


class SqliteDialect(sql.Dialect):
    """SQLite stores integers of 64 bits, doubles and UTF-8, and compares text by its bytes."""

    types: ClassVar[dict[Type, str]] = {
        Type.INT16: "INTEGER",
        Type.INT32: "INTEGER",
        Type.INT64: "INTEGER",
        Type.FLOAT32: "REAL",
        Type.FLOAT64: "REAL",
        Type.BOOL: "INTEGER",
        Type.TEXT: "TEXT",
        Type.TIMESTAMP: "INTEGER",
    }


_DIALECT = SqliteDialect()


class Sqlite(Database):
    """A file."""

    name = "sqlite"
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "BEGIN IMMEDIATE, one prepared INSERT for each row, COMMIT",
        },
        primary_keys={
            PrimaryKey.DB: "INTEGER PRIMARY KEY AUTOINCREMENT",
            PrimaryKey.CLIENT: "TEXT PRIMARY KEY",
            PrimaryKey.NONE: "no key and no id column; a hidden rowid orders the rows",
        },
        acknowledged="committed to the write-ahead log of the file; `synchronous` says whether "
        "it was also synced to disk",
        indices=True,
        embedded=True,
    )
    options_model: ClassVar[type[Options]] = SqliteOptions
    options: SqliteOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if self.options.path in ("", ":memory:"):
            found.append("path: must be a file, since several processes open it")
        return found

    def connect(self) -> "SqliteSession":
        """Open the file, which is made if it is not there."""
        try:
            return SqliteSession(self._open())
        except sqlite3.DatabaseError as error:
            raise self._setup_error(error) from error

    def _open(self) -> sqlite3.Connection:
        # isolation_level=None: the driver opens no transactions of its own.
        connection = sqlite3.connect(
            self.options.path, timeout=self.options.busy_timeout_s, isolation_level=None
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self.options.synchronous}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file for something other than a run; closing rolls back what is unfinished."""
        try:
            with closing(self._open()) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise self._setup_error(error) from error

    def _setup_error(self, error: sqlite3.DatabaseError) -> SetupError:
        return SetupError(f"sqlite: {self.options.path}: {self.explain(error)}")

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        statements = [
            sql.create_table(_DIALECT, table, name, *_key(table))
            for table in tables
            for name in table.names
        ]
        if self.options.create_indices:
            statements += sql.create_indices(_DIALECT, tables)
        self._change(statements)

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables and give their space back, so that every run starts with a small file."""
        if not Path(self.options.path).exists():
            return
        names = former_names(tables)
        self._change([f"DROP TABLE IF EXISTS {_DIALECT.name(name)}" for name in names])
        with self._opened() as connection:
            connection.execute("VACUUM")

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that are not there yet."""
        self._change(sql.create_indices(_DIALECT, tables))

    def _change(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements:
                connection.execute(statement)
            connection.execute("COMMIT")

    def settle(self, tables: Sequence[Table]) -> None:
        """Gather the planner's statistics, copy the log into the file and empty it."""
        with self._opened() as connection:
            for table in tables:
                for name in table.names:
                    connection.execute(f"ANALYZE {_DIALECT.name(name)}")
            ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise SetupError(
                f"sqlite: {self.options.path}: the log could not be emptied within "
                f"{self.options.busy_timeout_s:g} s, because another process reads or writes the "
                "file; stop it, or raise busy_timeout_s"
            )

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the pages of the tables and their indices, or of the whole file.

        Not every SQLite is built with dbstat, which knows the pages of each.
        """
        names = [name for table in tables for name in table.names]
        owned = f"SELECT name FROM sqlite_master WHERE tbl_name IN ({', '.join('?' * len(names))})"
        with self._opened() as connection:
            built_in = {option for (option,) in connection.execute("PRAGMA compile_options")}
            if "ENABLE_DBSTAT_VTAB" in built_in:
                pages = f"SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN ({owned})"
                ((size,),) = connection.execute(pages, names)
            else:
                pages = (
                    "SELECT (page_count - freelist_count) * page_size "
                    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
                )
                ((size,),) = connection.execute(pages)
        return int(size or 0)

    def describe(self) -> Server:
        """Return the version and the settings as the file and a connection have them."""
        with self._opened() as connection:
            ((journal,),) = connection.execute("PRAGMA journal_mode")
            ((level,),) = connection.execute("PRAGMA synchronous")
        synchronous = _SYNCHRONOUS[level]
        return Server(
            version=f"SQLite {sqlite3.sqlite_version}",
            nodes=1,
            durability=f"an acknowledged row {_DURABILITY[synchronous]} "
            f"(journal_mode={journal}, synchronous={synchronous})",
            durable=synchronous in ("full", "extra"),
            settings={"journal_mode": journal, "synchronous": synchronous},
        )

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(_DIALECT, query)

    def explain(self, error: Exception) -> str:
        """Return an error in SQLite's words, with a remedy where one is known."""
        if not isinstance(error, sqlite3.Error):
            return super().explain(error)
        folder = Path(self.options.path).parent
        if not folder.is_dir():
            return f"{error}; make the folder: mkdir -p {folder}"
        return with_remedy(str(error), _REMEDIES)


class SqliteSession(Session):
    """A connection to the file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._encoders: dict[str, tuple[str, Objects]] = {}

    def close(self) -> None:
        """Close the connection; the last one to close also removes the log."""
        self._connection.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return True

    @property
    def makes_objects(self) -> bool:
        """Python rows."""
        return True

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as Python rows beside the statement that takes one."""
        if block.name not in self._encoders:
            columns = block.table.columns
            names, marks = _DIALECT.names([c.name for c in columns]), ", ".join("?" * len(columns))
            insert = f"INSERT INTO {_DIALECT.name(block.name)} ({names}) VALUES ({marks})"
            self._encoders[block.name] = insert, Objects(columns, block.table.time_unit)
        insert, encoder = self._encoders[block.name]
        return [
            Payload(len(rows), mode, (insert, rows))
            for rows in encoder.encode(block, rows_per_send)
        ]

    def send(self, payload: Payload) -> None:
        """Insert the rows and return once they are committed."""
        insert, rows = payload.data
        if payload.mode == SINGLE:
            self._connection.execute(insert, rows[0])
            return
        try:
            # IMMEDIATE waits for its turn at once; a transaction that becomes a writer only later
            # would fail when another has written in between.
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(insert, rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A commit that finds the file locked has not happened. One that the disk failed under may
        have: whether the log's last frame is whole shows only when the file is opened again.
        """
        primary_code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if primary_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Failure.NOT_APPLIED
        return Failure.UNKNOWN if primary_code == sqlite3.SQLITE_IOERR else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return self._connection.execute(statement.text, statement.parameters).fetchall()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions."""
        cursor = self._connection.execute(statement.text, statement.parameters)
        with closing(cursor):
            while portion := cursor.fetchmany(rows):
                yield portion


_REMEDIES = {
    "already exists": "drop it, or run with --clean",
    "no such table": "run an insert first",
    "is locked": "another process writes to the file; stop it, or raise busy_timeout_s",
    "disk is full": "make room, or choose another path",
    "unable to open": "path must be a file in a folder where this user may write",
    "readonly": "path must be a file in a folder where this user may write",
    "not a database": "path names a file of another kind; choose another, nothing was changed",
}


def _key(table: Table) -> tuple[str | None, str | None]:
    """Return what makes the table's primary key: the definition of a column, a constraint."""
    match table.primary_key:
        case PrimaryKey.DB:
            return "id INTEGER PRIMARY KEY AUTOINCREMENT", None
        case PrimaryKey.CLIENT:
            return None, "PRIMARY KEY (id)"
        case PrimaryKey.NONE:
            return None, None
        case PrimaryKey.SQL | PrimaryKey.UUID:
            raise SetupError(f"sqlite has no {table.primary_key} key; see --primary-key")
        case _:
            assert_never(table.primary_key)
