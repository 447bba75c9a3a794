"""Sessions of DuckDB, which insert Arrow batches."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Column, Table, TimeUnit, Type
from simulator.encode.arrow import Arrow
from simulator.encode.numbers import Iso
from simulator.encode.objects import Objects
from simulator.encode.text import CSV, TextEncoder
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    CORRECT,
    IMPORT,
    SINGLE,
    Encoder,
    Failure,
    Payload,
    QueryPlan,
    RowCountMismatch,
    expect_rows,
)
from simulator.modules.duckdb.query import dialect_of
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import separate_blobs
from simulator.modules.shared.sql import changes as sql_changes

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection


_CSV = replace(CSV, style=replace(CSV.style, instants=Iso(zone=b"", decimals=9)))
_READING = (
    "FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', ESCAPE '\"',"
    " NULLSTR '', ALLOW_QUOTED_NULLS false, NEW_LINE '\\n'"
)
"""Options for reading the file; automatic detection would depend on the first rows."""


_ESTIMATES = re.compile(r"Estimated \w+")


class DuckDbSession(sql_changes.ChangingSession):
    """A connection to the file."""

    dialect_of = staticmethod(dialect_of)
    alive = True

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection

    def close(self) -> None:
        """Close the connection; the last one to close releases the file."""
        with suppress(Exception):
            self.connection.close()

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        into = dialect_of(table).target(table, name)
        insert = f"INSERT INTO {into}"
        if mode == IMPORT:
            insert = f"COPY {into}"
            rows_of: Encoder = TextEncoder.of(table.columns, table.time_unit, _CSV).encode
        elif mode == SINGLE:
            marks = ", ".join(_mark(column, table.time_unit) for column in table.columns)
            insert += f" VALUES ({marks})"
            rows_of = Objects(table.columns, table.time_unit).encode
        else:
            # The engine finds the Arrow table by the name of the variable in `send`.
            insert += " SELECT * FROM arrow_rows"
            if mode == CORRECT:
                insert += sql_changes.on_conflict(dialect_of(table), table)
            rows_of = Arrow(table.columns, table.time_unit).encode

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            _expect_instants(block)
            return [(insert, rows) for rows in rows_of(block, rows_per_batch)]

        return encode

    def send(self, payload: Payload) -> None:
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
        """Return the meaning of an error of `send` for its rows.

        A failed statement is rolled back. If the disk fails during a commit, or the engine aborts,
        only reopening the file shows whether the commit took place.
        """
        import duckdb

        if isinstance(error, duckdb.FatalException | duckdb.InternalException):
            self.alive = False  # no connection of the process works
        if isinstance(error, RowCountMismatch):
            return Failure.UNKNOWN if error.stored else Failure.FATAL
        if isinstance(error, duckdb.TransactionException):
            return Failure.NOT_APPLIED
        unsure = duckdb.IOException | duckdb.FatalException | duckdb.InternalException
        return Failure.UNKNOWN if isinstance(error, unsure) else Failure.FATAL

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        rows = self.connection.execute(statement.text, statement.parameters).fetchall()
        return separate_blobs(rows)

    def change(self, statement: str) -> int:
        ((rows,),) = self.connection.execute(statement).fetchall()
        return int(rows)

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        # The shape is taken from JSON: the drawing breaks lines after figures.
        drawn = self._explain("EXPLAIN ANALYZE", statement)
        plan = self._explain("EXPLAIN (FORMAT json)", statement)
        yield QueryPlan(statement.text, drawn, shapes.of_json(json.loads(plan), _ESTIMATES))

    def _explain(self, how: str, statement: Statement) -> str:
        found = self.connection.execute(f"{how} {statement.text}", statement.parameters)
        return "\n".join(text for _, text in found.fetchall())

    def read_only(self) -> None:
        self.connection.execute("BEGIN TRANSACTION READ ONLY")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement.text, statement.parameters)
            while portion := cursor.fetchmany(rows):
                yield separate_blobs(portion)


def _mark(column: Column, unit: TimeUnit) -> str:
    """Return the placeholder of a value; instants are numbers."""
    if column.type is not Type.TIMESTAMP:
        return "?"
    if unit is TimeUnit.NANOSECOND:
        return "make_timestamp_ns(CAST(? AS BIGINT))"
    return f"make_timestamp(CAST(? AS BIGINT) * {10**6 // unit.per_second})"


_MOST = {TimeUnit.NANOSECOND: 9_223_286_400 * 10**9}
_MOST_US = 9_223_372_022_400 * 10**6


def _expect_instants(block: Block) -> None:
    """Raise UnstorableError for instants that DuckDB cannot store or reads as infinity."""
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
