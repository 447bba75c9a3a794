"""SQLite: one file, written by several worker processes, without a server.

https://www.sqlite.org/wal.html: writers take turns; readers and the writer do not wait for each
other. The driver is part of Python.
"""

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, ClassVar, Literal
from zlib import crc32

from pydantic import Field

from simulator.data.query import Statement
from simulator.data.row_hash import TEXT, RemainderHash
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, names_of
from simulator.encode.objects import Objects
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    CORRECT,
    MISSING,
    OWN,
    SINGLE,
    Alike,
    Capabilities,
    Encoder,
    Failure,
    Options,
    Payload,
    QueryPlan,
    RowCountMismatch,
    Server,
    Session,
    expect_rows,
    signature,
)
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import separate_blobs
from simulator.modules.shared.sql import (
    changes as sql_changes,
)
from simulator.modules.shared.sql import (
    hashes as sql_hashes,
)
from simulator.modules.shared.sql import (
    language as sql,
)
from simulator.modules.shared.sql.database import IndexOptions, SqlFile
from simulator.modules.shared.waits import wait_until

_POLL_S = 0.05
_CRC32 = "CASE WHEN {0} IS NOT NULL THEN crc32(CAST({0} AS BLOB)) END"
"""The CRC-32 of a text by zlib's function, which takes only bytes; SQLite has none."""
_HALVES = "|| ' * 2**32 + ' ||"
"""Text in a statement between the sums of the higher and the lower halves of integers."""
_SUMS_OF_HALVES = re.compile(r"(-?\d+) \* 2\*\*32 \+ (\d+)")
_SYNCHRONOUS = ("off", "normal", "full", "extra")
_OWN = re.compile(rf"{OWN}(marks|check_[0-9a-f]{{8}})")
"""Names of the program's own tables, for marks and for `check`."""

_DURABILITY = {
    "off": "survives a crash of the process, and not of the machine: nothing is synced",
    "normal": "survives a crash of the process, and not of the machine: WAL is synced only when "
    "it is copied into the file",
    "full": "survives a crash of the machine: WAL is synced at every commit",
    "extra": "survives a crash of the machine: WAL is synced at every commit",
}
_OTHER_JOURNAL = (
    "is in the file, which keeps its journal mode; it survives a crash of the machine only with"
    " synchronous=extra, which also syncs the folder"
)


class SqliteOptions(IndexOptions):
    """Options of the module `sqlite`."""

    path: str = Field("results/sqlite.db", description="the database file; its folder must exist")
    synchronous: Literal["off", "normal", "full", "extra"] = Field(
        "normal",
        description="when the log is synced to disk (PRAGMA synchronous); normal: an acknowledged "
        "row survives a crash of the process, but not of the machine; full: of both",
    )
    busy_timeout_s: float = Field(
        60, ge=0, description="how long a writer waits for the other writers before it fails"
    )


class SqliteDialect(sql.Dialect):
    """SQLite's types: 64-bit integers, doubles, and UTF-8 texts that are compared by bytes."""

    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "INTEGER",
        Type.INT32: "INTEGER",
        Type.INT64: "INTEGER",
        Type.FLOAT32: "REAL",
        Type.FLOAT64: "REAL",
        Type.BOOL: "INTEGER",
        Type.TEXT: "TEXT",
        Type.TIMESTAMP: "INTEGER",
    }
    ids: ClassVar[Mapping[PrimaryKey, str]] = {
        PrimaryKey.DB: "id INTEGER PRIMARY KEY AUTOINCREMENT"
    }

    kept_apart = " LIMIT -1"

    def as_bigint(self, number: str) -> str:
        return number  # every integer has 64 bits

    def wide_total(self, column: Column, unit: TimeUnit) -> str:
        # The sums of both halves as one text, because a sum beyond 64 bits is an error.
        number = self.number(column, unit)
        return f"sum({number} >> 32) {_HALVES} sum(({number} & {2**32 - 1}){self.misfit(column)})"

    def misfit(self, column: Column) -> str:
        """Return a term that is 1 for a value of another type: a column accepts any type."""
        return f" + (typeof({self.name(column.name)}) <> '{self.types[column.type].lower()}')"

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        return sql_hashes.remainders(self, table, rows, _CRC32.format, misfit=self.misfit)


_DIALECT = SqliteDialect()


def _comment(name: str) -> str:
    """Return the signature as an SQL comment."""
    return f"/* {signature(name).replace('*/', '* /')} */"


class Sqlite(SqlFile["SqliteSession"]):
    """An SQLite file."""

    name = "sqlite"
    dialect = _DIALECT
    urls = ("sqlite:PATH",)
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "BEGIN IMMEDIATE, one prepared INSERT for each row, COMMIT",
        },
        no_import="the library has none; .import of its shell inserts row by row, as a batch does",
        primary_keys={
            PrimaryKey.DB: "INTEGER PRIMARY KEY AUTOINCREMENT",
            PrimaryKey.CLIENT: "TEXT PRIMARY KEY",
            PrimaryKey.NONE: "no key and no id column; a hidden rowid orders the rows",
        },
        acknowledged="committed to the write-ahead log of the file; `synchronous` says whether "
        "it was also synced to disk",
        no_driver="its rows go through the driver anyway",
        changes=sql_changes.CHANGES,
        plans="EXPLAIN QUERY PLAN",
        indices=True,
        embedded=True,
        alike={
            Alike.ZEROS: "SQLite stores a REAL without a fraction as an integer, without a sign",
            Alike.NULLS: "SQLite stores NULL for NaN",
        },
    )
    options_model: ClassVar[type[Options]] = SqliteOptions
    options: SqliteOptions
    catalogue = (
        "SELECT name, type FROM sqlite_master "
        "WHERE type <> 'trigger' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    namesakes_of_indices = (
        "SELECT name, type, iif(type = 'index', tbl_name, NULL) FROM sqlite_master "
        "WHERE type <> 'trigger'"
    )
    comments = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    columns = "SELECT name, type FROM pragma_table_info({name})"
    plain_tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    folds_names = True
    remedies: ClassVar[Mapping[str, str]] = {
        "no such table": MISSING,
        "is locked": "another process writes to the file; stop it, or raise busy_timeout_s",
        "malformed": "something else has written to the file; delete it, or choose another path",
        "disk is full": "free disk space, or choose another path",
        "disk I/O error": "look at the system's log, and at the limit on the size of files "
        "(`ulimit -f`)",
        "unable to open|readonly": "path must be a file in a folder where this user may write",
        "not a database": "path is a file of another kind, which was not changed; choose another",
    }

    row_hash = RemainderHash()
    hash_probe = f"SELECT {_CRC32.format(repr(TEXT))}"

    def connect(self) -> "SqliteSession":
        try:
            # isolation_level=None: the driver begins no transactions itself.
            connection = sqlite3.connect(
                self.options.path, timeout=self.options.busy_timeout_s, isolation_level=None
            )
            try:
                connection.create_function("crc32", 1, crc32, deterministic=True)
                connection.execute(f"PRAGMA synchronous = {self.options.synchronous}")
            except BaseException:  # also Ctrl-C: the connection is closed
                connection.close()
                raise
        except sqlite3.DatabaseError as error:
            raise self.setup_error(error) from error
        return SqliteSession(connection)

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session:
            for statement in ("BEGIN IMMEDIATE", *statements, "COMMIT"):
                session.connection.execute(statement)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        with self.administration() as session:
            # The first tables set the journal mode, which the file keeps.
            if not session.connection.execute(self.catalogue).fetchall():
                session.connection.execute("PRAGMA journal_mode = WAL")
        super().create(tables, batch_rows)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        # SQLite keeps the statement's text, with the signature as a comment.
        (statement,) = super().create_table(table, name, batch_rows)
        begins = f"CREATE TABLE {_DIALECT.name(name)} "
        ends = statement.removeprefix(begins)
        return [f"{begins}{_comment(name)} {ends}" if table.signed else statement]

    def find_signed_in(self, session: Session, names: Collection[str]) -> Mapping[str, bool]:
        texts = {name.lower(): text for name, text in session.run(Statement(self.comments, ()))}
        return {n: _comment(n) in texts[n.lower()] for n in names if n.lower() in texts}

    def sign(self, table: Table, name: str) -> list[str]:
        return []  # CREATE TABLE signs a table

    def drop(self, names: Collection[str]) -> None:
        self._drop(names, signed=False)

    def drop_signed(self, names: Collection[str]) -> None:
        self._drop(names, signed=True)

    def _drop(self, names: Collection[str], *, signed: bool) -> None:
        if not self.path.exists():
            return
        with self.administration() as session:
            execute = session.connection.execute
            execute("BEGIN IMMEDIATE")
            if signed:
                names = [n for n, bears in self.find_signed_in(session, names).items() if bears]
            for statement in (*self.render_drops(names), "COMMIT"):
                execute(statement)
            # VACUUM releases space, but would renumber the rows of other tables.
            if all(_OWN.fullmatch(name) for name, _ in execute(self.catalogue)):
                execute("VACUUM")

    def compact(self, tables: Sequence[Table]) -> None:
        """Collect the planner's statistics, copy the log into the file and empty it."""
        timeout_s = self.options.busy_timeout_s
        with self.administration() as session:
            execute = session.connection.execute

            def empty_log() -> bool:
                ((busy, _, _),) = execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                return not busy

            for name in names_of(tables):
                execute(f"ANALYZE {_DIALECT.name(name)}")
            # SQLite itself waits for writers, but not for another process that empties the log.
            emptied = wait_until(empty_log, timeout_s, _POLL_S)
        if not emptied:
            raise SetupError(
                f"sqlite: {self.options.path}: the log was not emptied within {timeout_s:g} s, "
                "because another process reads or writes the file; stop it, or raise busy_timeout_s"
            )

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the tables and their indices.

        An SQLite built without dbstat reports only the size of the whole file.
        """
        names = names_of(tables)
        known = f"tbl_name COLLATE NOCASE IN ({', '.join('?' * len(names))})"
        owned = f"SELECT name FROM sqlite_master WHERE {known}"
        with self.administration() as session:
            execute = session.connection.execute
            built_in = {option for (option,) in execute("PRAGMA compile_options")}
            if "ENABLE_DBSTAT_VTAB" in built_in:
                pages = f"SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN ({owned})"
                ((size,),) = execute(pages, names)
            else:
                pages = (
                    "SELECT (page_count - freelist_count) * page_size "
                    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
                )
                ((size,),) = execute(pages)
        return int(size or 0)

    def describe(self) -> Server:
        with self.administration() as session:
            ((journal,),) = session.connection.execute("PRAGMA journal_mode")
            ((level,),) = session.connection.execute("PRAGMA synchronous")
            if not session.connection.execute(self.catalogue).fetchall():
                journal = "wal"  # `create` sets it
        synchronous = _SYNCHRONOUS[level]
        meaning = _DURABILITY[synchronous] if journal == "wal" else _OTHER_JOURNAL
        return Server(
            version=f"SQLite {sqlite3.sqlite_version}",
            nodes=1,
            durability=f"an acknowledged row {meaning} "
            f"(journal_mode={journal}, synchronous={synchronous})",
            durable=synchronous == "extra" or (synchronous == "full" and journal == "wal"),
            settings={"journal_mode": journal, "synchronous": synchronous},
        )

    def remedy(self, error: Exception) -> str | None:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_CONSTRAINT_TRIGGER":
            return self.mismatch
        return super().remedy(error)

    def words(self, error: Exception) -> str:
        if isinstance(error, sqlite3.Error):
            return f"{self.options.path}: {error}"
        return super().words(error)


class SqliteSession(sql_changes.ChangingSession):
    """A connection to the file."""

    dialect_of = staticmethod(lambda _table: _DIALECT)
    alive = makes_objects = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def close(self) -> None:
        """Close the connection; the last one to close also removes the log."""
        self.connection.close()

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        marks = ", ".join("?" * len(table.columns))
        insert = f"INSERT INTO {_DIALECT.target(table, name)} VALUES ({marks})"
        if mode == CORRECT:
            insert += sql_changes.on_conflict(_DIALECT, table)
        rows_of = Objects(table.columns, table.time_unit).encode
        return lambda block, rows_per_batch: [
            (insert, rows) for rows in rows_of(block, rows_per_batch)
        ]

    def send(self, payload: Payload) -> None:
        insert, rows = payload.data
        execute = self.connection.execute
        if payload.mode == SINGLE:
            expect_rows(execute(insert, rows[0]).rowcount, 1)
            return
        try:
            # IMMEDIATE waits for other writers at once. A transaction that becomes a writer later
            # would fail if another process has written meanwhile.
            execute("BEGIN IMMEDIATE")
            expect_rows(self.connection.executemany(insert, rows).rowcount, len(rows))
            execute("COMMIT")
        except (sqlite3.Error, RowCountMismatch):
            if self.connection.in_transaction:
                execute("ROLLBACK")
            raise

    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of `send` for its rows.

        A commit that finds the file locked stores nothing. After an error of the disk, only
        reopening the file shows whether the last frame of the log is complete.
        """
        primary_code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if primary_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Failure.NOT_APPLIED
        return Failure.UNKNOWN if primary_code == sqlite3.SQLITE_IOERR else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        found = self.connection.execute(statement.text, statement.parameters).fetchall()
        return [[*map(_add_halves, row)] for row in found] if _HALVES in statement.text else found

    def change(self, statement: str) -> int:
        return self.connection.execute(statement).rowcount

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        asked = f"EXPLAIN QUERY PLAN {statement.text}"
        depths, lines = {0: 0}, list[str]()
        for number, above, _, what in self.connection.execute(asked, statement.parameters):
            lines.append(f"{'  ' * depths[above]}{what}")
            depths[number] = depths[above] + 1
        text = "\n".join(lines)
        yield QueryPlan(statement.text, text, shapes.of_text(text))

    def read_only(self) -> None:
        self.connection.execute("PRAGMA query_only = ON")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        self.connection.text_factory = _TEXTS
        cursor = self.connection.execute(statement.text, statement.parameters)
        with closing(cursor):
            while portion := cursor.fetchmany(rows):
                yield separate_blobs(portion)


_TEXTS = partial(str, encoding="utf-8", errors="surrogateescape")
"""Decodes texts that are not valid UTF-8, so that they equal no valid text."""


def _add_halves(value: Any) -> Any:
    """Return the sum of integers from the sums of their halves, or another value unchanged."""
    if isinstance(value, str) and (found := _SUMS_OF_HALVES.fullmatch(value)):
        return (int(found[1]) << 32) + int(found[2])
    return value
