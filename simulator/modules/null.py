"""A database that keeps nothing: what is measured with it is the client alone.

With the option `encode` it encodes as a real module would and throws the payloads away, which gives
the ceiling that the client sets for such a module on this machine.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.block import Block
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.objects import Objects
from simulator.encode.pgcopy import PgCopy
from simulator.encode.text import CSV, SQL, TSV, Text
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
    Unsupported,
)


class Encoding(StrEnum):
    """How batches are encoded before they are thrown away."""

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
        description="encode as a module would that takes this: binary COPY, text (InfluxDB's lines "
        "too), or Python rows",
    )


class Null(Database):
    """Accepts everything and keeps nothing."""

    name = "null"
    capabilities = Capabilities(
        modes={SINGLE: "a row is dropped", BATCH: "a batch is dropped"},
        primary_keys=dict.fromkeys(PrimaryKey, "nobody makes one; a client's is encoded"),
        acknowledged="nothing: rows are dropped",
        stores=False,
    )
    options_model: ClassVar[type[Options]] = NullOptions
    options: NullOptions

    def connect(self) -> Session:
        """Return a session; there is no connection."""
        return NullSession(self.options.encode)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Do nothing."""

    def drop(self, tables: Sequence[Table]) -> None:
        """Do nothing."""

    def settle(self, tables: Sequence[Table]) -> None:
        """Do nothing."""

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: there is nothing to measure."""
        return None

    def describe(self) -> Server:
        """Say that there is no server."""
        return Server(version="null", nodes=0, durability="no row is kept", durable=False)

    def render(self, query: Query) -> Statement:
        """Refuse: there is nothing to ask."""
        raise Unsupported("null keeps no rows that could be asked for")


class NullSession(Session):
    """Encodes, and drops what it is to send."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._encoders: dict[str, Callable[[Block, int], Sequence[Any]]] = {}

    def close(self) -> None:
        """Do nothing."""

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return True

    @property
    def makes_objects(self) -> bool:
        """Whether it encodes as a module would that takes Python rows."""
        return self._encoding is Encoding.OBJECTS

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block encoded as the options say, cut into payloads."""
        encoder = self._encoders.get(block.name)
        if encoder is None:
            encoder = self._encoders[block.name] = _encoder(self._encoding, block.table)
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, data)
            for start, data in zip(starts, encoder(block, rows_per_send), strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Drop the payload."""

    def classify(self, error: Exception) -> Failure:
        """Never asked: `send` does not fail."""
        return Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Refuse: there is nothing to ask."""
        raise Unsupported("null keeps no rows that could be asked for")


def _encoder(encoding: Encoding, table: Table) -> Callable[[Block, int], Sequence[Any]]:
    match encoding:
        case Encoding.NONE:
            return _nothing
        case Encoding.PGCOPY:
            return PgCopy(table.columns, table.time_unit).encode
        case Encoding.LINES:
            return LineProtocol(table, table.name).encode
        case Encoding.OBJECTS:
            return Objects(table.columns, table.time_unit).encode
        case _:
            formats = {Encoding.CSV: CSV, Encoding.TSV: TSV, Encoding.SQL: SQL}
            return Text.of(table.columns, table.time_unit, formats[encoding]).encode


def _nothing(block: Block, rows_per_send: int) -> Sequence[None]:
    return [None] * -(-len(block) // rows_per_send)
