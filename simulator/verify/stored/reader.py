"""Reads the stored rows of tables by windows of time, several at once from a server."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.data.dataset import Dataset
from simulator.data.hashes import hash_stored
from simulator.data.mixer import Hashes
from simulator.data.query import RowsQuery, Selection, Statement
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.modules.contract import Database, Session, Unsupported
from simulator.protocol.folding import StoredWindow
from simulator.verify.truth.fingerprint import Fingerprint


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The rows of a table in a half-open range of time; None: without a limit."""

    since: int | None
    until: int | None
    first: int
    last: int
    """First and last time of expected rows; other rows may lie outside."""

    @property
    def selection(self) -> Selection:
        """The selection of these rows."""
        return Selection(since=self.since, until=self.until)

    def divide(self, number: int) -> list["TimeWindow"]:
        """Divide the window into this number of equal windows; fewer if it is short."""
        length = self.last - self.first
        if not length:
            return [self]
        inner = sorted({self.first + length * place // number for place in range(1, number)})
        limits, edges = [self.since, *inner, self.until], [self.first, *inner, self.last]
        return [
            TimeWindow(since, until, first, last)
            for since, until, first, last in zip(
                limits[:-1], limits[1:], edges[:-1], edges[1:], strict=True
            )
        ]


def whole_of(dataset: Dataset, reader: DatasetReader, place: int) -> TimeWindow | None:
    """Return the window of a whole table; None if its rows are not in the order of time."""
    ranges = [item for item in dataset.ranges if item.table == place and item]
    if not ranges or not reader.time_rises:
        return None
    first = min(reader.time_at(item, 0) for item in ranges)
    last = max(reader.time_at(item, len(item) - 1) for item in ranges)
    return TimeWindow(None, None, first, last)


_STREAM_ROWS = 20_000
WINDOW_ROWS = 500_000
"""Minimum number of rows in a window, if times are evenly spread."""
MOST_WINDOWS = 8
"""Maximum number of windows: without an index on the time, each reads the whole table."""


def windows_of(database: Database, dataset: Dataset) -> Iterator[StoredWindow]:
    """Yield windows that together have every stored row of every table, even foreign ones."""
    reader = DatasetReader(dataset)
    for place, table in enumerate(reader.tables):
        rows = sum(len(item) for item in dataset.ranges if item.table == place)
        number = min(rows // WINDOW_ROWS, MOST_WINDOWS)
        whole = whole_of(dataset, reader, place) if number > 1 else None
        windows = whole.divide(number) if whole and takes_windows(database, table) else []
        for window in windows:
            yield StoredWindow(table=place, since=window.since, until=window.until)
        if not windows:
            yield StoredWindow(table=place)


def takes_windows(database: Database, table: Table) -> bool:
    """Return whether the database can select rows of a table by their time."""
    try:
        database.render(RowsQuery(table, selection=Selection(since=0, until=1)))
    except Unsupported:
        return False
    return True


def stream_hashes(
    session: Session, statement: Statement
) -> Iterator[tuple[Hashes, Sequence[Sequence[Any]]]]:
    """Yield the rows of a statement in portions: their hashes, and the rows."""
    for raw in session.stream(statement, _STREAM_ROWS):
        yield hash_stored(statement.outputs, raw), raw


class StoredRows:
    """Reads windows, each over a separate connection; several threads may use it."""

    def __init__(self, database: Database, dataset: Dataset) -> None:
        self._database = database
        self.tables = DatasetReader(dataset).tables

    def fingerprint(self, window: StoredWindow, wanted: Callable[[], bool]) -> Fingerprint | None:
        """Return the fingerprint of the rows of a window; None once `wanted` returns False.

        Raises the driver's error, and ValueError if a value is not of its column's type.
        """
        table = self.tables[window.table]
        chosen = Selection(since=window.since, until=window.until)
        statement = self._database.render(RowsQuery(table, selection=chosen))
        found = Fingerprint()
        with self._database.connect() as session:
            for hashes, _ in stream_hashes(session, statement):
                if not wanted():
                    return None
                found.add(hashes)
        return found
