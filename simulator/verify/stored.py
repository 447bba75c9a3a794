"""The stored rows of tables, and their statistics, read by windows of time where they are many."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import stored_hashes
from simulator.data.query import (
    EVERYTHING,
    AggregateQuery,
    Answer,
    Function,
    RowsQuery,
    Selection,
    answer,
    outputs,
)
from simulator.data.schema import Table
from simulator.modules.base import Database, Session, Unsupported
from simulator.protocol.messages import Window
from simulator.verify.fingerprint import Fingerprint

STREAM_ROWS = 20_000
WINDOW_ROWS = 500_000
"""Rows of a window at least, as far as their times are evenly spread."""
MOST_WINDOWS = 8
"""Of a table: a database without an index of the time reads the table for each."""


_PIECES, _DEEPEST = 4, 4
"""A part of a table whose statistics take the server too long is divided, four times at most."""
_MERGED: dict[Function, Callable[[list[Any]], Any]] = {
    Function.COUNT: sum,
    Function.SUM: sum,
    Function.MIN: min,
    Function.MAX: max,
}


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a table from a time until another one; None: without a limit."""

    since: int | None
    until: int | None
    first: int
    last: int
    """Its rows are expected between these times; others may be stored beyond them."""

    @property
    def selection(self) -> Selection:
        whole = self.since is None and self.until is None
        return EVERYTHING if whole else Selection(since=self.since, until=self.until)

    def divided(self, number: int) -> list["_Part"]:
        """Return parts of equal length that together are this one; fewer if it is short."""
        length = self.last - self.first
        if not length:
            return [self]
        inner = sorted({self.first + length * part // number for part in range(1, number)})
        limits, edges = [self.since, *inner, self.until], [self.first, *inner, self.last]
        return [
            _Part(since, until, first, last)
            for since, until, first, last in zip(
                limits[:-1], limits[1:], edges[:-1], edges[1:], strict=True
            )
        ]


def _whole(dataset: Dataset, reader: DatasetReader, place: int) -> _Part | None:
    """Return the table at a place; None if its rows are not in the order of time."""
    ranges = [item for item in dataset.ranges if item.table == place and item]
    if not ranges or not reader.time_rises:
        return None
    first = min(reader.time_at(item, 0) for item in ranges)
    last = max(reader.time_at(item, len(item) - 1) for item in ranges)
    return _Part(None, None, first, last)


def windows_of(database: Database, dataset: Dataset) -> Iterator[Window]:
    """Yield windows that together have every row of every table, stored by us or by others."""
    reader = DatasetReader(dataset)
    for place, table in enumerate(reader.tables):
        rows = sum(len(item) for item in dataset.ranges if item.table == place)
        number = min(rows // WINDOW_ROWS, MOST_WINDOWS)
        whole = _whole(dataset, reader, place) if number > 1 else None
        parts = whole.divided(number) if whole and _takes_windows(database, table) else []
        for part in parts:
            yield Window(table=place, since=part.since, until=part.until)
        if not parts:
            yield Window(table=place)


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


class Statistics:
    """Asks for statistics of tables; for parts of one, if the server gives up on the whole."""

    def __init__(self, database: Database, session: Session, dataset: Dataset) -> None:
        self._database = database
        self._session = session
        self._dataset = dataset

    def of(self, query: AggregateQuery) -> Answer:
        """Return the answer about all rows of a table.

        Raises the driver's error, also if the server gives up on the smallest parts.
        """
        reader, columns = DatasetReader(self._dataset), outputs(query)
        whole = _whole(self._dataset, reader, reader.place(query.table))
        raw = self._rows(query, whole or _Part(None, None, 0, 0), 0)
        parts = answer(columns, raw)
        merged = tuple(
            _merged(each.function, values)
            for each, values in zip(query.aggregates, zip(*parts.rows, strict=True), strict=True)
        )
        return Answer(parts.names, (merged,))

    def _rows(self, query: AggregateQuery, part: _Part, depth: int) -> Iterable[Sequence[Any]]:
        statement = self._database.render(replace(query, selection=part.selection))
        try:
            return self._session.run(statement)
        except Exception as error:
            parts = part.divided(_PIECES) if depth < _DEEPEST else []
            if len(parts) < 2 or not self._session.gave_up(error):
                raise
        return [row for each in parts for row in self._rows(query, each, depth + 1)]


def _merged(function: Function, values: Iterable[Any]) -> Any:
    """Return the value for all parts, of which some may have none."""
    known = [value for value in values if value is not None]
    return _MERGED[function](known) if known else None
