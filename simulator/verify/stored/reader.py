"""The stored rows of tables, read by windows of time, several at once where a server answers."""

from collections.abc import Callable, Iterator

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import hash_stored
from simulator.data.query import RowsQuery, Selection
from simulator.data.schema import Table
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.folding import StoredWindow
from simulator.protocol.verdict import Check
from simulator.verify.stored.parts import whole_of
from simulator.verify.truth.fingerprint import Fingerprint

STREAM_ROWS = 20_000
WINDOW_ROWS = 500_000
"""Rows of a window at least, as far as their times are evenly spread."""
MOST_WINDOWS = 8
"""Windows of a table: a database without an index of the time reads the table for each."""


def windows_of(database: Database, dataset: Dataset) -> Iterator[StoredWindow]:
    """Yield windows that together have every row of every table, stored by us or by others."""
    reader = DatasetReader(dataset)
    for place, table in enumerate(reader.tables):
        rows = sum(len(item) for item in dataset.ranges if item.table == place)
        number = min(rows // WINDOW_ROWS, MOST_WINDOWS)
        whole = whole_of(dataset, reader, place) if number > 1 else None
        parts = whole.divide(number) if whole and takes_windows(database, table) else []
        for part in parts:
            yield StoredWindow(table=place, since=part.since, until=part.until)
        if not parts:
            yield StoredWindow(table=place)


def takes_windows(database: Database, table: Table) -> bool:
    """Return whether the database can select rows of a table by their time."""
    try:
        database.render(RowsQuery(table, selection=Selection(since=0, until=1)))
    except Unsupported:
        return False
    return True


def unreadable(error: ValueError) -> Check:
    """Return the check that fails where a stored value is not of its column's type."""
    types = "values of their columns' types"
    return Check(name="stored values", expected=types, found=str(error), ok=False)


class StoredRows:
    """Reads windows, each by a separate connection; for several threads."""

    def __init__(self, database: Database, dataset: Dataset) -> None:
        self._database = database
        self.tables = DatasetReader(dataset).tables

    def fingerprint(self, window: StoredWindow, wanted: Callable[[], bool]) -> Fingerprint | None:
        """Return the fingerprint of the rows of a window; None if it is not wanted any more.

        Raises the driver's error, and ValueError if a value is not of its column's type.
        """
        table = self.tables[window.table]
        chosen = Selection(since=window.since, until=window.until)
        statement = self._database.render(RowsQuery(table, selection=chosen))
        found = Fingerprint()
        with self._database.connect() as session:
            for raw in session.stream(statement, STREAM_ROWS):
                if not wanted():
                    return None
                found.add(hash_stored(statement.outputs, raw))
        return found
