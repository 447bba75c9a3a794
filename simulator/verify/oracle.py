"""The oracle computes the truth: the answers of queries from the rows themselves.

It folds blocks in any order and division; folds of parts merge into the fold of the whole. The sum
of a float column that is not `exact` depends on the order of its values. The truth of such a sum
has a slack of n * 2**-52 * sum(|x|), which bounds the rounding errors of two summations.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block
from simulator.data.query import (
    EVERYTHING,
    AggregateQuery,
    Answer,
    DistinctQuery,
    NewestQuery,
    Query,
    RowsQuery,
    answer,
    canonical,
    outputs,
)
from simulator.verify.cube import Cube, Group, grouped
from simulator.verify.selection import selected


@dataclass(frozen=True, slots=True)
class Truth:
    """The true answer, and the tolerance of each value (0: exact)."""

    answer: Answer
    slack: tuple[tuple[float, ...], ...] = ()

    def agrees(self, found: Answer) -> bool:
        """Whether an answer agrees with the truth."""
        if found == self.answer:
            return True
        if not self.slack or len(found.rows) != len(self.answer.rows):
            return False
        return all(
            _close(true, got, slack)
            for true_row, got_row, slacks in zip(
                self.answer.rows, found.rows, self.slack, strict=True
            )
            for true, got, slack in zip(true_row, got_row, slacks, strict=True)
        )


def _close(true: Any, found: Any, slack: float) -> bool:
    return bool(true == found or (slack and found is not None and abs(true - found) <= slack))


class _NewestFold:
    """The newest row of each combination of tags, whose rows have distinct times."""

    def __init__(self, query: NewestQuery) -> None:
        self._query = query
        self.newest: dict[Group, tuple[int, Group]] = {}

    def add(self, block: Block) -> None:
        chosen = selected(self._query.selection, block)
        groups, members = grouped(block, self._query.tags, chosen)
        if not groups:
            return
        rows = np.arange(len(block)) if chosen is None else chosen
        time = block.data[block.table.time.name].values()
        order = np.lexsort((time[rows], members))
        last = order[np.flatnonzero(np.append(np.diff(members[order]) != 0, True))]
        columns = [_items(block, name, rows[last]) for name in self._query.columns]
        for index, row in enumerate(last.tolist()):
            found = tuple(column[index] for column in columns)
            self._take(groups[members[row]], int(time[rows[row]]), found)

    def merge(self, other: "_NewestFold") -> None:
        for group, (time, row) in other.newest.items():
            self._take(group, time, row)

    def _take(self, group: Group, time: int, row: Group) -> None:
        if group not in self.newest or self.newest[group][0] < time:
            self.newest[group] = (time, row)

    def truth(self) -> Truth:
        rows = [(*group, *row) for group, (_, row) in self.newest.items()]
        return Truth(answer(outputs(self._query), rows))


class _RowsFold:
    """The selected rows, or the latest of them."""

    def __init__(self, query: RowsQuery) -> None:
        if query.selection == EVERYTHING and query.newest is None:
            raise ValueError("rows are compared by simulator.verify.fingerprint, not by the oracle")
        self._query = query
        self.rows: list[tuple[int, Group]] = []

    def add(self, block: Block) -> None:
        chosen = selected(self._query.selection, block)
        rows = np.arange(len(block)) if chosen is None else chosen
        times = block.data[block.table.time.name].values()[rows]
        if self._query.newest is not None and len(rows) > self._query.newest:
            latest = np.argpartition(times, -self._query.newest)[-self._query.newest :]
            rows, times = rows[latest], times[latest]
        columns = [_items(block, column.name, rows) for column in self._query.read]
        self._take(list(zip(times.tolist(), zip(*columns, strict=True), strict=True)))

    def merge(self, other: "_RowsFold") -> None:
        self._take(other.rows)

    def _take(self, rows: Sequence[tuple[int, Group]]) -> None:
        self.rows += rows
        if self._query.newest is not None:
            self.rows = heapq.nlargest(self._query.newest, self.rows, key=lambda row: row[0])

    def truth(self) -> Truth:
        return Truth(answer(outputs(self._query), [row for _, row in self.rows]))


def _items(block: Block, name: str, rows: NDArray[np.int64]) -> list[Any]:
    column = block.data[name]
    items: list[Any] = column.values()[rows].tolist()
    if column.valid is None:
        return items
    valid = column.valid[rows].tolist()
    return [item if is_valid else None for item, is_valid in zip(items, valid, strict=True)]


class _DistinctFold:
    """The number of distinct combinations; for a natural key, the number of rows."""

    def __init__(self, query: DistinctQuery) -> None:
        if not query.table.key or not set(query.table.key) <= set(query.columns):
            raise ValueError(f"{query.columns} does not contain the natural key {query.table.key}")
        self._query = query
        self.rows = 0

    def add(self, block: Block) -> None:
        self.rows += len(block)

    def merge(self, other: "_DistinctFold") -> None:
        self.rows += other.rows

    def truth(self) -> Truth:
        return Truth(answer(outputs(self._query), [(self.rows,)]))


_Fold: TypeAlias = Cube | _NewestFold | _DistinctFold | _RowsFold


def _fold(query: Query) -> _Fold:
    match query:
        case AggregateQuery():
            return Cube(query)
        case NewestQuery():
            return _NewestFold(query)
        case DistinctQuery():
            return _DistinctFold(query)
        case RowsQuery():
            return _RowsFold(query)
    assert_never(query)


class Oracle:
    """Folds blocks into the true answers of queries."""

    def __init__(self, queries: Iterable[Query]) -> None:
        self.folds: dict[Query, _Fold] = {query: _fold(query) for query in queries}

    def add(self, block: Block) -> None:
        """Fold the rows of a block."""
        for query, fold in self.folds.items():
            if len(block) and query.table.name == block.table.name:
                fold.add(block)

    def merge(self, other: "Oracle") -> None:
        """Merge another oracle of the same queries."""
        for query, fold in self.folds.items():
            fold.merge(other.folds[query])  # type: ignore[arg-type]

    def truth(self, query: Query) -> Truth:
        """Return the true answer."""
        fold = self.folds[query]
        return _cube_truth(query, fold) if isinstance(fold, Cube) else fold.truth()


def _cube_truth(query: Query, cube: Cube) -> Truth:
    columns = outputs(query)
    rows = [
        (tuple(canonical(c, v) for c, v in zip(columns, values, strict=True)), slack)
        for values, slack in cube.results()
    ]
    rows.sort(key=lambda row: tuple((value is not None, value) for value in row[0]))
    slack = tuple(slack for _, slack in rows)
    found = Answer(tuple(c.name for c in columns), tuple(row for row, _ in rows))
    return Truth(found, slack if any(map(any, slack)) else ())
