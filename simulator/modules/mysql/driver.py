"""Rows through PyMySQL's `executemany`, which makes one INSERT of many rows.

It cuts rows of more than a megabyte into several INSERTs, so they stand between BEGIN and COMMIT.
https://pymysql.readthedocs.io/en/latest/modules/cursors.html
"""

from typing import TYPE_CHECKING

from simulator.data.schema import Table
from simulator.encode.objects import Instant, Objects
from simulator.modules.base import DRIVER, Encoder
from simulator.modules.shared.driver import DriverBatch, batches

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import Connection

MODES = {DRIVER: "PyMySQL's executemany, INSERTs of many rows between BEGIN and COMMIT"}


def encoder(table: Table, into: str) -> Encoder:
    """Return what makes rows of Python objects, beside the statement that takes them."""
    values = ", ".join(["%s"] * len(table.columns))
    insert = f"INSERT INTO {into.replace('%', '%%')} VALUES ({values})"
    return batches(insert, Objects(table.columns, table.time_unit, Instant.NAIVE).encode)


def insert(connection: "Connection", batch: DriverBatch) -> int:
    """Have the driver send the rows; return how many the server has taken."""
    with connection.cursor() as cursor:
        return int(cursor.executemany(batch.into, batch.rows) or 0)
