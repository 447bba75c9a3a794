"""The statistics of stored tables, in windows of time where a server gives up on the whole."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.query import (
    AggregateQuery,
    Answer,
    DistinctQuery,
    Function,
    answer,
    outputs,
)
from simulator.errors import MismatchError
from simulator.modules.contract import Database, Session
from simulator.verify.stored.reader import TimeWindow, whole_of

_PIECES, _DEEPEST = 4, 4
"""A window that is too large for the server is divided, four times at most."""
_MERGED: dict[Function, Callable[[list[Any]], Any]] = {
    Function.COUNT: sum,
    Function.SUM: sum,
    Function.MIN: min,
    Function.MAX: max,
}


def one_row(query: AggregateQuery | DistinctQuery, rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the one row that answers a query without groups; MismatchError if there are others."""
    if len(rows) != 1:
        asked = ", ".join(each.name for each in outputs(query))
        raise MismatchError(
            f"{query.table.name}: {asked}: expected an answer of one row, got {len(rows)} rows"
        )
    return rows[0]


class TableStatistics:
    """Asks for statistics of tables; by windows of time if the server gives up on a whole one."""

    def __init__(self, database: Database, session: Session, dataset: Dataset) -> None:
        self._database = database
        self._session = session
        self._dataset = dataset

    def of(self, query: AggregateQuery) -> Answer:
        """Return the answer about all rows of a table.

        Raises the driver's error, also if the server gives up on the smallest windows.
        """
        windows = answer(self._database.render(query).outputs, self._rows(query))
        merged = tuple(
            _merge(each.function, values)
            for each, values in zip(query.aggregates, zip(*windows.rows, strict=True), strict=True)
        )
        return Answer(windows.names, (merged,))

    def _rows(
        self, query: AggregateQuery, window: TimeWindow | None = None, depth: int = 0
    ) -> Sequence[Sequence[Any]]:
        """Return a row for each answered window of this one; None: the whole table."""
        asked = replace(query, selection=window.selection) if window else query
        try:
            return [one_row(query, self._session.run(self._database.render(asked)))]
        except Exception as error:
            if depth == _DEEPEST or not self._session.gave_up(error):
                raise
            windows = self._divide(query, window)
            if len(windows) < 2:
                raise
        return [row for each in windows for row in self._rows(query, each, depth + 1)]

    def _divide(self, query: AggregateQuery, window: TimeWindow | None) -> list[TimeWindow]:
        if window is None:
            reader = DatasetReader(self._dataset)
            window = whole_of(self._dataset, reader, reader.place(query.table))
        return window.divide(_PIECES) if window else []


def _merge(function: Function, values: Iterable[Any]) -> Any:
    """Return the value for all windows, some of which may have none."""
    known = [value for value in values if value is not None]
    return _MERGED[function](known) if known else None
