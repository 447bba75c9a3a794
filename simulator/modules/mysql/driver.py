"""Rows through PyMySQL's `executemany`, which makes one INSERT of many rows.

It cuts rows of more than a megabyte into several INSERTs, so BEGIN and COMMIT enclose them.
https://pymysql.readthedocs.io/en/latest/modules/cursors.html
"""

from typing import TYPE_CHECKING

from simulator.data.schema import Table
from simulator.encode.objects import InstantType, Objects
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.shared.client.driver import DriverBatch, batches

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import WireConnection

MODES = {DRIVER: "PyMySQL's executemany, INSERTs of many rows between BEGIN and COMMIT"}


def encoder(table: Table, into: str) -> Encoder:
    """Return the encoder of rows as Python objects, with the statement that inserts them."""
    values = ", ".join(["%s"] * len(table.columns))
    insert = f"INSERT INTO {into.replace('%', '%%')} VALUES ({values})"
    return batches(insert, Objects(table.columns, table.time_unit, InstantType.NAIVE).encode)


def insert(connection: "WireConnection", batch: DriverBatch) -> int:
    """Send the rows with the driver; return how many the server has stored."""
    with connection.cursor() as cursor:
        return int(cursor.executemany(batch.into, batch.rows) or 0)
