"""Compares the statistics of stored tables, as far as a database calculates them, with the truth.

A server that gives up on a whole table is asked about windows of time.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.data.answer import Answer, answer
from simulator.data.dataset import Dataset
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Query,
    count_rows,
    outputs,
)
from simulator.data.reader import DatasetReader
from simulator.data.schema import INTEGERS, Role, Table, Type
from simulator.errors import MismatchError
from simulator.modules.contract import Database, Session, Unsupported
from simulator.protocol.verdict import Check
from simulator.verify.stored.checks import compare_value, outline
from simulator.verify.stored.reader import TimeWindow, whole_of
from simulator.verify.truth.needed import statistics_of
from simulator.verify.truth.oracle import Truth

_PIECES, _DEEPEST = 4, 4
"""Number of parts of a divided window, and maximum number of successive divisions.

Windows that are too large for the server are divided.
"""
_MERGED: dict[Function, Callable[[list[Any]], Any]] = {
    Function.COUNT: sum,
    Function.SUM: sum,
    Function.MIN: min,
    Function.MAX: max,
}


def one_row(query: AggregateQuery | DistinctQuery, rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the one row that answers a query without groups; MismatchError unless there is one."""
    if len(rows) != 1:
        asked = ", ".join(each.name for each in outputs(query))
        raise MismatchError(
            f"{query.table.name}: {asked}: expected an answer of one row, got {len(rows)} rows"
        )
    return rows[0]


class TableStatistics:
    """Asks for statistics of tables, by windows of time if the server gives up on a whole table."""

    def __init__(self, database: Database, session: Session, dataset: Dataset) -> None:
        self._database = database
        self._session = session
        self._dataset = dataset

    def of(self, query: AggregateQuery) -> Answer:
        """Return the answer about all rows of a table.

        Raises the driver's error, also if the server gives up on the smallest windows.
        """
        windows = answer(self._database.render(query).outputs, self._ask(query))
        merged = tuple(
            _merge(each.function, values)
            for each, values in zip(query.aggregates, zip(*windows.rows, strict=True), strict=True)
        )
        return Answer(windows.names, (merged,))

    def _ask(
        self, query: AggregateQuery, window: TimeWindow | None = None, depth: int = 0
    ) -> Sequence[Sequence[Any]]:
        """Return a row for the window, or for each part of it; None: the whole table."""
        asked = replace(query, selection=window.selection) if window else query
        try:
            return [one_row(query, self._session.run(self._database.render(asked)))]
        except Exception as error:
            if depth == _DEEPEST or not self._session.gave_up(error):
                raise
            if window is None:
                reader = DatasetReader(self._dataset)
                window = whole_of(self._dataset, reader, reader.place(query.table))
            windows = window.divide(_PIECES) if window else []
            if len(windows) < 2:
                raise
        return [row for each in windows for row in self._ask(query, each, depth + 1)]


def _merge(function: Function, values: Iterable[Any]) -> Any:
    """Merge the values of windows; some values may be NULL."""
    known = [value for value in values if value is not None]
    return _MERGED[function](known) if known else None


_MOST_DISTINCT = 2_000_000
"""Maximum number of distinct keys to count.

Counting takes a database ten times as long as everything else, and sums of fields also show a row
that is stored twice in place of another.
"""
_AGAIN_AFTER_S = 0.5
"""Pause before a query with a wrong answer is repeated: a server may miscount for a while."""


class StoredCounts:
    """Count, sums, extremes and distinct keys of the stored tables."""

    def __init__(self, database: Database, session: Session, dataset: Dataset) -> None:
        self._database = database
        self._session = session
        self._statistics = TableStatistics(database, session, dataset)
        self.not_compared: list[str] = []
        """Comparisons that were left out, with reasons: often the database cannot answer."""
        self.left_out: list[str] = []
        """Sums that the database does not calculate, with reasons."""

    def check_number(self, table: Table, least: int, most: int) -> tuple[int, Check]:
        """Return the number of stored rows, and the check that it lies between two numbers."""
        ((found,),) = self._statistics.of(count_rows(table)).rows
        ok = least <= found <= most
        name = f"{table.name}: count"
        return int(found), Check(name=name, expected=str(most), found=str(found), ok=ok)

    def compare(self, table: Table, truth: Truth) -> list[Check]:
        """Compare count, sums, extremes and distinct keys of a table."""
        query = statistics_of(table)
        expected = dict(zip(truth.answer.names, truth.answer.rows[0], strict=True))
        slack = dict(zip(truth.answer.names, truth.slack[0] if truth.slack else (), strict=False))
        asked = self._narrow(query, expected)
        found = self._statistics.of(asked)
        checks = [
            compare_value(table, label, expected[label], value, slack.get(label, 0.0))
            for label, value in zip(found.names, found.rows[0], strict=True)
        ]
        distinct = DistinctQuery(table, table.key)
        label = f"distinct ({', '.join(table.key)})"
        is_shown = expected["count"] > _MOST_DISTINCT and sums_fields(asked)
        if table.key and not is_shown and self._can(distinct, label):
            checks += self._compare_distinct(distinct, label, int(found.rows[0][0]))
        return checks

    def _compare_distinct(self, query: DistinctQuery, label: str, rows: int) -> list[Check]:
        """Compare the number of distinct keys with the rows, if the server counts them."""
        try:
            (keys,) = one_row(query, self._session.run(self._database.render(query)))
        except Exception as error:
            if not self._session.gave_up(error):
                raise
            self._leave_out(query.table, label, f"is too much for the server: {error}")
            return []
        return [compare_value(query.table, label, rows, int(keys))]

    def _leave_out(self, table: Table, label: str, why: str) -> None:
        reason = f"{table.name}: {label}: {why}"
        if reason not in self.not_compared:
            self.not_compared.append(reason)

    def _narrow(self, query: AggregateQuery, expected: dict[str, Any]) -> AggregateQuery:
        """Return the query without the aggregates that the database cannot answer."""
        table = query.table
        count, *others = (replace(a, wide=is_wide(table, a, expected)) for a in query.aggregates)
        others = [a for a in others if self._adds_up(table, a)]
        others = [a for a in others if self._can(AggregateQuery(table, (a,)), a.label)]
        return AggregateQuery(table, (count, *others))

    def _adds_up(self, table: Table, aggregate: Aggregate) -> bool:
        """Return whether the database calculates an aggregate; False for an unsupported sum."""
        can, why = self._database.capabilities, ""
        if aggregate.function is Function.SUM and aggregate.column is not None:
            is_time = table.column(aggregate.column).type is Type.TIMESTAMP
            why = (is_time and can.no_time_sums) or (aggregate.wide and can.no_wide_sums) or ""
        reason = f"{table.name}: {aggregate.label}: {why}"
        if why and reason not in self.left_out:
            self.left_out.append(reason)
        return not why

    def _can(self, query: Query, label: str) -> bool:
        try:
            self._database.render(query)
        except Unsupported as error:
            self._leave_out(query.table, label, str(error))
            return False
        return True

    def compare_twice(self, table: Table, truth: Truth, checks: list[Check]) -> Exception | None:
        """Add the checks of a table, after a failed check if wrong answers change.

        Returns an error that a stored value may have caused.
        """
        try:
            first = self.compare(table, truth)
        except Exception as error:
            if self.may_be_of_values(error):
                return error
            raise
        place = len(checks)
        checks += first
        if all(check.ok for check in first):
            return None
        time.sleep(_AGAIN_AFTER_S)
        later = self.compare(table, truth)
        if outline(later) == outline(first):
            return None
        is_right = all(check.ok for check in later)
        others = ", ".join(f"{check.name} {check.found}" for check in later if not check.ok)
        again = Check(
            name=f"{table.name}: the same questions a moment later",
            expected="the same answers, since this program wrote nothing",
            found="the right answers" if is_right else f"others, of which are wrong: {others}",
            ok=False,
        )
        checks.insert(place, again)
        return None

    def may_be_of_values(self, error: Exception) -> bool:
        """Return whether a stored value may have caused an error of the server."""
        if isinstance(error, Unsupported | MismatchError):
            return False
        return self._session.alive and not self._session.gave_up(error)


def sums_fields(query: AggregateQuery) -> bool:
    """Return whether a query asks for the sum of a column outside the natural key."""
    fields = {column.name for column in query.table.with_role(Role.FIELD)}
    summed = {each.column for each in query.aggregates if each.function is Function.SUM}
    return bool(summed & (fields - {*query.table.key}))


def is_wide(table: Table, aggregate: Aggregate, expected: dict[str, Any]) -> bool:
    """Return whether the expected sum of integers or times may exceed 64 bits."""
    if aggregate.function is not Function.SUM or aggregate.column is None:
        return False
    if table.column(aggregate.column).type not in INTEGERS | {Type.TIMESTAMP}:
        return False
    low, high = expected[f"min_{aggregate.column}"], expected[f"max_{aggregate.column}"]
    return low is not None and expected["count"] * max(abs(low), abs(high)) >= 2**62
