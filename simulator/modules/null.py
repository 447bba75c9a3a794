"""A database that stores nothing, so that a run measures the client alone.

With the option `encode` it encodes rows as a real module does and drops the payloads. This shows
the client's highest rate for that module on this machine.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.objects import Objects
from simulator.encode.pgcopy import PgCopy
from simulator.encode.text import CSV, SQL, TSV, TextEncoder
from simulator.modules.contract import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Encoder,
    Envelope,
    Existing,
    Failure,
    Options,
    Payload,
    Server,
    Session,
    Unsupported,
)
from simulator.protocol.records import RecordFormat


class Encoding(StrEnum):
    """The encoding of batches before they are dropped."""

    NONE = "none"
    PGCOPY = "pgcopy"
    CSV = "csv"
    TSV = "tsv"
    SQL = "sql"
    LINES = "lines"
    OBJECTS = "objects"


class NullOptions(Options):
    """Options of the module `null`."""

    encode: Encoding = Field(
        Encoding.NONE,
        description="encode as a module does that sends binary COPY, text (InfluxDB's lines "
        "included), or Python rows",
    )


class Null(Database):
    """A database that accepts all rows and stores none."""

    name = "null"
    urls = ("null:",)
    capabilities = Capabilities(
        modes={SINGLE: "a row is dropped", BATCH: "a batch is dropped"},
        primary_keys=dict.fromkeys(PrimaryKey, "not generated; a key from the client is encoded"),
        no_plans="null stores nothing",
        acknowledged="nothing: rows are dropped",
        formats=frozenset(RecordFormat),
        stores=False,
    )
    options_model: ClassVar[type[Options]] = NullOptions
    options: NullOptions

    def connect(self) -> Session:
        return NullSession(self.options.encode)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Do nothing."""

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        return {}

    def drop(self, names: Collection[str]) -> None:
        """Do nothing."""

    def describe(self) -> Server:
        return Server(version="null", nodes=0, durability="no row is stored", durable=False)

    def translate(self, query: Query) -> Statement:
        raise Unsupported("null stores no rows, so it cannot answer queries")


class NullSession(Session):
    """A session that encodes rows and drops the payloads."""

    alive = True

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self.makes_objects = encoding is Encoding.OBJECTS

    def close(self) -> None:
        """Do nothing."""

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        match self._encoding:
            case Encoding.NONE:
                return lambda block, rows_per_batch: [None] * -(-len(block) // rows_per_batch)
            case Encoding.PGCOPY:
                return PgCopy(table.columns, table.time_unit).encode
            case Encoding.LINES:
                return LineProtocol(table, table.name).encode
            case Encoding.OBJECTS:
                return Objects(table.columns, table.time_unit).encode
            case _:
                formats = {Encoding.CSV: CSV, Encoding.TSV: TSV, Encoding.SQL: SQL}
                text = formats[self._encoding]
                return TextEncoder.of(table.columns, table.time_unit, text).encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        return lambda rows, _count: rows

    def send(self, payload: Payload) -> None:
        """Drop the payload."""

    def classify(self, error: Exception) -> Failure:
        return Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        raise Unsupported("null stores no rows, so it cannot answer queries")
