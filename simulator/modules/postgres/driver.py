"""Rows through psycopg2: `execute_values`, its fast helper, or COPY of a text that Python writes.

https://www.psycopg.org/docs/extras.html#fast-execution-helpers,
https://www.psycopg.org/docs/usage.html#using-copy-to-and-copy-from
"""

from collections.abc import Sequence
from io import StringIO
from typing import Any

from simulator.data.schema import Table
from simulator.encode.objects import InstantType, Objects
from simulator.modules.contract import DRIVER, DRIVER_COPY, Encoder
from simulator.modules.shared.client.driver import DriverBatch, batches

MODES = {
    DRIVER: "psycopg2's execute_values, one INSERT with a list of rows, which is a transaction",
    DRIVER_COPY: "psycopg2's copy_expert with a text that Python writes: one transaction",
}
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def encoder(table: Table, into: str, mode: str) -> Encoder:
    """Return the encoder of rows as Python objects, with the statement that inserts them."""
    insert = f"INSERT INTO {into.replace('%', '%%')} VALUES %s"
    statement = insert if mode == DRIVER else f"COPY {into} FROM STDIN"
    return batches(statement, Objects(table.columns, table.time_unit, InstantType.AWARE).encode)


def store(cursor: Any, mode: str, batch: DriverBatch) -> None:
    """Send the rows with the driver in one statement."""
    from psycopg2.extras import execute_values  # noqa: PLC0415

    if mode == DRIVER:
        execute_values(cursor, batch.into, batch.rows, page_size=len(batch.rows))
    else:
        cursor.copy_expert(batch.into, _text(batch.rows))


def _text(rows: Sequence[Sequence[Any]]) -> StringIO:
    """Return rows in COPY's text format."""
    return StringIO("".join("\t".join(map(_value, row)) + "\n" for row in rows))


def _value(value: Any) -> str:
    if value is None:
        return r"\N"
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)
