"""Rows through cassandra-driver: a prepared INSERT for each row, many at once.

https://docs.datastax.com/en/developer/python-driver/latest/api/cassandra/concurrent/
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from cassandra.cluster import Session
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.query import UNSET_VALUE, PreparedStatement

from simulator.data.block import Block
from simulator.data.schema import PrimaryKey, Table, Type
from simulator.encode.objects import InstantType, Objects
from simulator.modules.cassandra.query import type_name
from simulator.modules.contract import Encoder
from simulator.modules.shared.client.driver import DriverBatch, batches

_AT_ONCE = 100
"""Requests in flight: the driver's default."""


class PreparedInsert(NamedTuple):
    """A prepared INSERT."""

    statement: PreparedStatement
    repeatable: bool
    """True if a row that is sent again replaces itself."""


def encoder(table: Table, statement: PreparedStatement) -> Encoder:
    """Return the encoder of parameters; a NULL stays unset, because it would delete a value."""
    kinds = {type_name(column, table.time_unit) for column in table.columns
             if column.type is Type.TIMESTAMP}  # fmt: skip
    instant = InstantType.NAIVE if "timestamp" in kinds else InstantType.INTEGER
    objects = Objects(table.columns, table.time_unit, instant)
    nullable = any(column.nullable for column in table.columns)

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        found = objects.encode(block, rows_per_batch)
        if not nullable:
            return found
        return [
            [[UNSET_VALUE if value is None else value for value in row] for row in rows]
            for rows in found
        ]

    return batches(PreparedInsert(statement, table.primary_key is not PrimaryKey.UUID), encode)


def insert(session: Session, batch: DriverBatch) -> list[Exception]:
    """Insert the rows with the driver; return the errors of rows that failed."""
    outcomes = execute_concurrent_with_args(
        session, batch.into.statement, batch.rows, concurrency=_AT_ONCE, raise_on_first_error=False
    )
    return [found for success, found in outcomes if not success]
