"""A database of your own that is reached by HTTP and understands SQL: the whole module."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from simulator.data.schema import PrimaryKey, Table, Type
from simulator.encode.ndjson import JSON
from simulator.encode.rows import Frame
from simulator.encode.text import TextEncoder, TextFormat
from simulator.modules.contract import (
    BATCH,
    SINGLE,
    Alike,
    Capabilities,
    Encoder,
    Payload,
    Server,
    expect_rows,
)
from simulator.modules.shared.http.client import Http, HttpOptions
from simulator.modules.shared.http.database import HttpDatabase, HttpSession
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.database import SqlDatabase

ROWS = TextFormat(JSON, row=Frame(b"[", b",", b"]"), payload=Frame(b"[", b",", b"]"))


class ToySql(sql.Dialect):
    types = {**dict.fromkeys(Type, "INTEGER"), Type.TEXT: "TEXT"} | dict.fromkeys(
        (Type.FLOAT32, Type.FLOAT64), "REAL"
    )


class ToySession(HttpSession):
    def greet(self) -> None:
        self.ask("SELECT 1")

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        text = TextEncoder.of(table.columns, table.time_unit, ROWS)
        return lambda block, rows: [
            (f"/rows/{quote(name)}", body) for body in text.encode(block, rows)
        ]

    def send(self, payload: Payload) -> None:
        path, body = payload.data
        expect_rows(self.http.request("POST", path, body).json()["stored"], payload.rows)

    def ask(self, *statements: str) -> Any:
        reply = self.http.request("POST", "/sql", ";\n".join(statements).encode())
        with self.in_client():
            return reply.json()

    def run(self, statement: Any) -> Sequence[Sequence[Any]]:
        return self.ask(statement.text)


class Toy(HttpDatabase[ToySession], SqlDatabase[ToySession]):
    name = "toy"
    capabilities = Capabilities(
        modes={SINGLE: "a request with one row", BATCH: "a request with many rows"},
        primary_keys={PrimaryKey.NONE: "no key", PrimaryKey.CLIENT: "sent by the client"},
        acknowledged="in the memory of the server",
        in_client="decodes JSON",
        no_wide_sums="a sum has 64 bits",
        alike={Alike.ZEROS: "SQLite stores 0.0 for -0.0"},
    )
    options_model = HttpOptions
    options: HttpOptions
    catalogue = "SELECT name, type FROM sqlite_master"

    def open(self) -> ToySession:
        return ToySession(Http(self.options))

    def dialect_of(self, table: Table) -> sql.Dialect:
        return ToySql()

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session:
            session.ask("BEGIN", *statements, "COMMIT")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        with self.administration() as session:
            ((size,),) = session.ask("SELECT sum(pgsize) FROM dbstat")
        return int(size)

    def describe(self) -> Server:
        with self.administration() as session:
            ((version,),) = session.ask("SELECT sqlite_version()")
        return Server(f"Toy {version}", 1, "an acknowledged row is in memory", durable=False)
