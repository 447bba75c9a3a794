"""The statistics of stored tables, of parts of their time where a server gives up on the whole."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Answer,
    DistinctQuery,
    Function,
    answer,
    outputs,
)
from simulator.data.schema import INTEGERS, Role, Table, Type
from simulator.errors import MismatchError
from simulator.modules.contract import Database, Session
from simulator.verify.stored.reader import Part, whole_of

_PIECES, _DEEPEST = 4, 4
"""A part of a table with statistics too large for the server is divided, four times at most."""
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


def sums_fields(query: AggregateQuery) -> bool:
    """Return whether the sum of a column is asked that is no part of the natural key."""
    fields = {column.name for column in query.table.with_role(Role.FIELD)}
    summed = {each.column for each in query.aggregates if each.function is Function.SUM}
    return bool(summed & (fields - {*query.table.key}))


def is_wide(table: Table, aggregate: Aggregate, expected: dict[str, Any]) -> bool:
    """Return whether a sum of integers or times may exceed 64 bits, if values are as expected."""
    if aggregate.function is not Function.SUM or aggregate.column is None:
        return False
    if table.column(aggregate.column).type not in INTEGERS | {Type.TIMESTAMP}:
        return False
    low, high = expected[f"min_{aggregate.column}"], expected[f"max_{aggregate.column}"]
    return low is not None and expected["count"] * max(abs(low), abs(high)) >= 2**62


class TableStatistics:
    """Asks for statistics of tables; for parts of one, if the server gives up on the whole."""

    def __init__(self, database: Database, session: Session, dataset: Dataset) -> None:
        self._database = database
        self._session = session
        self._dataset = dataset

    def of(self, query: AggregateQuery) -> Answer:
        """Return the answer about all rows of a table.

        Raises the driver's error, also if the server gives up on the smallest parts.
        """
        parts = answer(self._database.render(query).outputs, self._rows(query))
        merged = tuple(
            _merge(each.function, values)
            for each, values in zip(query.aggregates, zip(*parts.rows, strict=True), strict=True)
        )
        return Answer(parts.names, (merged,))

    def _rows(
        self, query: AggregateQuery, part: Part | None = None, depth: int = 0
    ) -> Sequence[Sequence[Any]]:
        """Return a row for each part of a part that is answered; None: the whole table."""
        asked = replace(query, selection=part.selection) if part else query
        try:
            return [one_row(query, self._session.run(self._database.render(asked)))]
        except Exception as error:
            if depth == _DEEPEST or not self._session.gave_up(error):
                raise
            parts = self._divide(query, part)
            if len(parts) < 2:
                raise
        return [row for each in parts for row in self._rows(query, each, depth + 1)]

    def _divide(self, query: AggregateQuery, part: Part | None) -> list[Part]:
        if part is None:
            reader = DatasetReader(self._dataset)
            part = whole_of(self._dataset, reader, reader.place(query.table))
        return part.divide(_PIECES) if part else []


def _merge(function: Function, values: Iterable[Any]) -> Any:
    """Return the value for all parts, of which some may have none."""
    known = [value for value in values if value is not None]
    return _MERGED[function](known) if known else None
