"""The stored rows of tables, read by windows of time, several at once where a server answers."""

from collections.abc import Callable, Iterator

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import stored_hashes
from simulator.data.query import EVERYTHING, RowsQuery, Selection
from simulator.data.schema import Table
from simulator.modules.base import Database, Unsupported
from simulator.protocol.messages import Window
from simulator.verify.fingerprint import Fingerprint

STREAM_ROWS = 20_000
WINDOW_ROWS = 500_000
"""Rows of a window at least, as far as their times are evenly spread."""
MOST_WINDOWS = 8
"""Of a table: a database without an index of the time reads the table for each."""


def windows_of(database: Database, dataset: Dataset) -> Iterator[Window]:
    """Yield windows that together have every row of every table, stored by us or by others."""
    reader = DatasetReader(dataset)
    for place, table in enumerate(reader.tables):
        yield from _windows(database, dataset, reader, place, table)


def _windows(
    database: Database, dataset: Dataset, reader: DatasetReader, place: int, table: Table
) -> Iterator[Window]:
    ranges = [item for item in dataset.ranges if item.table == place and item]
    number = min(sum(map(len, ranges)) // WINDOW_ROWS, MOST_WINDOWS)
    if number < 2 or not reader.time_rises or not _takes_windows(database, table):
        yield Window(table=place)
        return
    first = min(reader.time_at(item, 0) for item in ranges)
    last = max(reader.time_at(item, len(item) - 1) for item in ranges)
    inner = sorted({first + (last - first) * part // number for part in range(1, number)})
    for since, until in zip([None, *inner], [*inner, None], strict=True):
        yield Window(table=place, since=since, until=until)


def _takes_windows(database: Database, table: Table) -> bool:
    try:
        database.render(RowsQuery(table, selection=Selection(since=0, until=1)))
    except Unsupported:
        return False
    return True


class StoredRows:
    """Reads windows, each by a connection of its own; for several threads."""

    def __init__(self, database: Database, dataset: Dataset) -> None:
        self._database = database
        self.tables = DatasetReader(dataset).tables

    def fingerprint(self, window: Window, wanted: Callable[[], bool]) -> Fingerprint | None:
        """Return that of the rows of a window; None if it is not wanted any more.

        Raises the driver's error, and ValueError if a value is not of its column's type.
        """
        table = self.tables[window.table]
        whole = window.since is None and window.until is None
        chosen = EVERYTHING if whole else Selection(since=window.since, until=window.until)
        statement = self._database.render(RowsQuery(table, selection=chosen))
        found = Fingerprint()
        with self._database.connect() as session:
            for raw in session.stream(statement, STREAM_ROWS):
                if not wanted():
                    return None
                found.add(stored_hashes(statement.outputs, raw))
        return found
