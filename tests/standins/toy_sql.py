"""ToyDB, a complete module for a relational database as CONTRIBUTING describes one.

Its server is Python's sqlite3; its SQL has backticks around names and its own types.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.query import Statement
from simulator.data.schema import PrimaryKey, Table, Type, names_of
from simulator.encode.objects import Objects
from simulator.modules import contract
from simulator.modules.contract import MISSING, expect_rows
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.database import IndexOptions, SqlDatabase


class Options(IndexOptions):
    path: str = Field(description="the database file")


class Dialect(sql.Dialect):
    types: ClassVar[Mapping[Type, str]] = {
        **dict.fromkeys((Type.INT16, Type.INT32, Type.INT64, Type.TIMESTAMP), "BIGINT"),
        **dict.fromkeys((Type.FLOAT32, Type.FLOAT64), "DOUBLE"),
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "TEXT",
    }
    ids: ClassVar[Mapping[PrimaryKey, str]] = {PrimaryKey.DB: "`id` INTEGER PRIMARY KEY"}

    def name(self, identifier: str) -> str:
        return "`" + identifier.replace("`", "``") + "`"


class Toy(SqlDatabase["Session"]):
    name = "toy"
    catalogue = "SELECT name, type FROM sqlite_master"
    capabilities = contract.Capabilities(
        modes={contract.SINGLE: "one INSERT", contract.BATCH: "one transaction"},
        primary_keys={PrimaryKey.DB: "INTEGER PRIMARY KEY", PrimaryKey.CLIENT: "TEXT PRIMARY KEY"},
        acknowledged="committed to the file",
        indices=True,
        embedded=True,
        no_wide_sums="a sum has 64 bits",
    )
    options_model = Options
    remedies: ClassVar[Mapping[str, str]] = {"no such table": MISSING}

    def dialect_of(self, table: Table) -> Dialect:
        return Dialect()

    def connect(self) -> "Session":
        return Session(sqlite3.connect(self.options.path))

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session, session.connection as connection:
            for statement in statements:
                connection.execute(statement)

    def compact(self, tables: Sequence[Table]) -> None:
        self.change([f"ANALYZE {Dialect().name(name)}" for name in names_of(tables)])

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        return None

    def describe(self) -> contract.Server:
        return contract.Server(
            f"Toy {sqlite3.sqlite_version}", 1, "an acknowledged row stays", None
        )


class Session(contract.Session):
    alive = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def close(self) -> None:
        self.connection.close()

    def encoder(self, table: Table, name: str, mode: str) -> contract.Encoder:
        marks = ", ".join("?" * len(table.columns))
        insert = f"INSERT INTO {Dialect().target(table, name)} VALUES ({marks})"
        rows_of = Objects(table.columns, table.time_unit).encode
        return lambda block, rows: [(insert, batch) for batch in rows_of(block, rows)]

    def send(self, payload: contract.Payload) -> None:
        with self.connection:  # commits, or rolls back after an error
            expect_rows(self.connection.executemany(*payload.data).rowcount, payload.rows)

    def classify(self, error: Exception) -> contract.Failure:
        locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
        return contract.Failure.NOT_APPLIED if locked else contract.Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        return self.connection.execute(statement.text).fetchall()
