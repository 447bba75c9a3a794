"""Rows of a dataset in a database, and statements that change them behind the program's back."""

import sqlite3
from contextlib import closing
from itertools import chain
from typing import Any

from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.modules.contract import BATCH, Database
from simulator.modules.sqlite import Sqlite


def store(database: Database, stored: Dataset, *ranges: RowRange, batch_rows: int = 10) -> None:
    """Create the tables of a dataset, and write its rows, or those of the given ranges."""
    database.create(DatasetReader(stored).tables, batch_rows)
    write(database, stored, *(ranges or stored.ranges), batch_rows=batch_rows)


def write(database: Database, stored: Dataset, *ranges: RowRange, batch_rows: int = 10) -> None:
    """Write ranges of rows."""
    reader = DatasetReader(stored)
    with database.connect() as session:
        for block in chain.from_iterable(turn for rows in ranges for turn in reader.blocks([rows])):
            for payload in session.encode(block, BATCH, batch_rows):
                session.send(payload)
    database.visible(reader.tables)


def execute(database: Sqlite, *statements: str) -> list[tuple[Any, ...]]:
    """Execute statements on the file; return the rows of the last one."""
    found: list[tuple[Any, ...]] = []
    with closing(sqlite3.connect(database.options.path)) as connection, connection:
        for statement in statements:
            found = connection.execute(statement).fetchall()
    return found
