"""Rows through apache-iotdb's TableSession: a Tablet of Python values for each batch.

https://iotdb.apache.org/UserGuide/latest-Table/API/Programming-Python-Native-API_apache.html. This
file imports the driver; session.py imports it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from iotdb.table_session import TableSession
from iotdb.utils.exception import IoTDBConnectionException, StatementExecutionException
from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.Tablet import ColumnType, Tablet

from simulator.data.block import Array, Block
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.objects import Objects
from simulator.modules.contract import Encoder
from simulator.modules.iotdb.wire import ServerError, ServerStatus, Unanswered
from simulator.modules.shared.client.driver import DriverBatch


class Into(NamedTuple):
    """A physical table, as the driver's tablets describe it."""

    name: str
    names: Sequence[str]
    types: Sequence[int]
    categories: Sequence[int]


class BatchRows(NamedTuple):
    """The rows of a batch, in the order of time, as the driver wants them."""

    times: list[int]
    values: list[list[Any]]


def encoder(
    table: Table, columns: Sequence[Column], into: Into, times: Callable[[Array], Array]
) -> Encoder:
    """Return what makes values of each row, without the time, which `times` converts."""
    objects = Objects(columns, table.time_unit)
    numbers = [
        place
        for place, column in enumerate(columns)
        if column.role is Role.TAG and column.type is not Type.TEXT
    ]

    def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
        instants = times(block.data[table.time.name].values()).tolist()
        found, start = [], 0
        for rows in objects.encode(block, rows_per_batch):
            own = instants[start : start + len(rows)]
            start += len(rows)
            # The driver sorts by time and then by the values, of which None cannot be compared.
            order = sorted(range(len(rows)), key=own.__getitem__)
            values = [list(rows[place]) for place in order]
            for row in values if numbers else ():
                for place in numbers:
                    row[place] = None if row[place] is None else str(row[place])
            found.append(DriverBatch(into, BatchRows([own[place] for place in order], values)))
        return found

    return encode


def store(session: TableSession, batch: DriverBatch) -> None:
    """Send the rows with the driver; translate its errors to errors of the wire.

    It connects again by itself, and sends the rows again: the same rows replace themselves.
    """
    into: Into = batch.into
    times, values = batch.rows
    tablet = Tablet(
        into.name,
        list(into.names),
        [TSDataType(each) for each in into.types],
        values,
        times,
        [ColumnType(each) for each in into.categories],
    )
    try:
        session.insert(tablet)
    except StatementExecutionException as error:
        code = re.match(r"(\d+): ", str(error))
        status = ServerStatus(int(code[1]) if code else ServerError.SEVERAL, str(error))
        raise ServerError("", (status,)) from error
    except IoTDBConnectionException as error:
        raise Unanswered(f"apache-iotdb lost the connection: {error}") from error
