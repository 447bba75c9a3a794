"""The oracle computes the truth: the answers to queries, from the rows themselves.

It folds blocks in any order and division, and folds of parts merge into the fold of the whole. An
answer that another query reads is folded in the same way. The sum of a float column that is not
`exact` depends on the order of its values. The truth of such a sum has a slack of
n * 2**-52 * sum(|x|), which bounds the rounding errors of two summations.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, assert_never

import numpy as np

from simulator.data.answer import Answer, answer, canonical
from simulator.data.block import Block, Values
from simulator.data.derived import ConditionSpells, DerivedTable, innermost
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    outputs,
)
from simulator.data.schema import Column, Table, Type, dtype_of
from simulator.verify.truth.cube import Cube, Shape, View
from simulator.verify.truth.fingerprint import EveryRow, Fingerprint
from simulator.verify.truth.measures import NEWEST, Arrays, ColumnStatistics, Newest
from simulator.verify.truth.plan import CubeQuery, keeps, shape_of, shapes
from simulator.verify.truth.record import Fold, from_bytes, to_bytes
from simulator.verify.truth.rows import RowsFold, satisfies

Row = tuple[Any, ...]
Slack = Sequence[Sequence[float]]


def block_of(table: DerivedTable | ConditionSpells, answer: Answer) -> Block:
    """Return the rows of a table from the true answer to its source."""
    if isinstance(table, DerivedTable):
        return _make_block(table, answer.rows)
    periods = _make_block(table.periods, answer.rows)
    found = _find_spells(table, answer.rows, satisfies(periods, table.holds))
    return _make_block(table, list(found))


def _make_block(table: Table, rows: Sequence[Row]) -> Block:
    columns = zip(*rows, strict=True) if rows else ((),) * len(table.columns)
    pairs = zip(table.columns, columns, strict=True)
    data = {column.name: _convert(column, values) for column, values in pairs}
    return Block(table, 0, np.arange(len(rows)), data)


def _convert(column: Column, values: Sequence[Any]) -> Values:
    valid = np.array([value is not None for value in values], np.bool_)
    if column.type is Type.TEXT:
        return Values(np.array([(value or "").encode() for value in values], np.bytes_), valid)
    return Values(np.array([value or 0 for value in values], dtype_of(column.type)), valid)


def _find_spells(
    table: ConditionSpells, rows: Sequence[Row], holds: Iterable[bool]
) -> Iterable[Row]:
    tags = len(table.periods.tags)
    series: dict[Row, list[tuple[int, bool]]] = {}
    for row, held in zip(rows, holds, strict=True):
        series.setdefault(row[:tags], []).append((row[tags], bool(held)))
    for of, states in series.items():
        states.sort()
        changes = [now for before, now in pairwise(states) if before[1] != now[1]]
        ends = (start for start, _ in (*changes[1:], (None, None)))
        for (start, held), end in zip(changes, ends, strict=False):
            if held:
                yield (*of, start, None if end is None else end - start)


def find_undecided(
    table: DerivedTable, conditions: Iterable[Condition], answer: Answer, slack: Slack
) -> str:
    """Return why a condition is undecided: a sum equals the limit but for rounding errors."""
    names = [column.name for column in table.columns]
    for each in conditions:
        if not slack or each.divisor or table.column(each.column).exact:
            continue
        place = names.index(each.column)
        for row, slacks in zip(answer.rows, slack, strict=True):
            value = row[place]
            if value is not None and abs(value - each.value) <= slacks[place]:
                return (
                    f"{each.column} {each.operator} {each.value:g} depends on the order in which a "
                    f"sum was computed, for {row}"
                )
    return ""


@dataclass(frozen=True, slots=True)
class Truth:
    """The true answer, and the tolerance of each value (0: exact)."""

    answer: Answer
    slack: tuple[tuple[float, ...], ...] = ()
    undecided: str = ""
    """Reason why another answer may also be right; empty if no other answer may be."""

    def verdict(self, found: Answer) -> bool | None:
        """Return whether an answer is right; None if that cannot be decided."""
        return self.agrees(found) or (None if self.undecided else False)

    def agrees(self, found: Answer) -> bool:
        """Return whether an answer agrees with the truth."""
        if found == self.answer:
            return True
        if not self.slack or len(found.rows) != len(self.answer.rows):
            return False
        return all(
            _is_close(true, got, slack)
            for true_row, got_row, slacks in zip(
                self.answer.rows, found.rows, self.slack, strict=True
            )
            for true, got, slack in zip(true_row, got_row, slacks, strict=True)
        )


def _is_close(true: Any, found: Any, slack: float) -> bool:
    return bool(true == found or (slack and found is not None and abs(true - found) <= slack))


class Oracle:
    """Folds blocks into the true answers of queries."""

    def __init__(self, queries: Iterable[Query], *, signless: bool = False) -> None:
        """Prepare a fold; with `signless`, 0.0 and -0.0 are alike in the fingerprint of a table."""
        self._signless = signless
        self._shapes: dict[CubeQuery, Shape] = {}
        self.rows: dict[RowsQuery, RowsFold] = {}
        self.every: dict[RowsQuery, EveryRow] = {}
        """Query for all rows of a table -> fingerprint of the rows."""
        for query in map(innermost, queries):
            if isinstance(query, RowsQuery) and replace(query, hashed=None) == RowsQuery(
                query.table
            ):
                self.every[query] = EveryRow(query, signless=signless)
            elif isinstance(query, RowsQuery):
                self.rows[query] = RowsFold(query)
            else:
                self._shapes[query] = shape_of(query)
        self.cubes = [Cube(shape) for shape in shapes(self._shapes)]

    @property
    def folds(self) -> list[Fold]:
        """All folds, in an order that the queries determine."""
        return [*self.cubes, *self.rows.values(), *self.every.values()]

    def add(self, block: Block) -> None:
        """Fold the rows of a block."""
        for fold in self.folds:
            if len(block) and fold.table.name == block.table.name:
                fold.add(block)

    def empty(self) -> "Oracle":
        """Return an oracle of the same queries that has folded nothing."""
        other = Oracle((), signless=self._signless)
        other._shapes = self._shapes
        other.rows = {query: RowsFold(query) for query in self.rows}
        other.every = {query: EveryRow(query, signless=self._signless) for query in self.every}
        other.cubes = [Cube(cube.shape) for cube in self.cubes]
        return other

    def parts(self) -> list[Arrays]:
        """Return the fold."""
        return [fold.parts() for fold in self.folds]

    def merge(self, parts: Sequence[Arrays]) -> None:
        """Merge the fold of another oracle of the same queries."""
        for fold, part in zip(self.folds, parts, strict=True):
            fold.append(part)

    def to_bytes(self) -> bytes:
        """Return the fold, for `from_bytes` in another process."""
        return to_bytes(self.folds)

    def from_bytes(self, content: bytes) -> list[Arrays]:
        """Return the parts of an oracle of the same queries; ValueError if they are damaged."""
        return from_bytes(self.folds, content)

    def fingerprint(self, table: Table) -> Fingerprint:
        """Return the fingerprint of all rows of a table."""
        return self.every[RowsQuery(table)].found

    def truth(self, query: Query) -> Truth:
        """Return the true answer."""
        table = query.table
        if isinstance(table, DerivedTable | ConditionSpells):
            return self._read(query, table)
        if isinstance(query, RowsQuery) and query.hashed:
            return Truth(answer(outputs(query), [self.every[query].found.total]))
        if isinstance(query, RowsQuery):
            return Truth(answer(outputs(query), self.rows[query].rows()))
        shape = self._shapes[query]
        cube = next(cube for cube in self.cubes if keeps(cube.shape, shape))
        return truth_of(query, cube.view(shape))

    def _read(self, query: Query, table: DerivedTable | ConditionSpells) -> Truth:
        """Return the true answer to a query that reads the answer to another query."""
        conditions: tuple[Condition, ...] = ()
        if isinstance(table, DerivedTable):
            source, conditions = table, query.selection.compared
        else:
            source, conditions = table.periods, (table.holds,)
        below = self.truth(source.source)
        doubt = below.undecided or find_undecided(source, conditions, below.answer, below.slack)
        block = block_of(table, below.answer)
        if isinstance(query, RowsQuery):
            rows = RowsFold(query)
            rows.add(block)
            return Truth(answer(outputs(query), rows.rows()), undecided=doubt)
        cube = Cube(shape_of(query))
        cube.add(block)
        return replace(truth_of(query, cube.view(cube.shape)), undecided=doubt)


def truth_of(query: CubeQuery, view: View | None) -> Truth:
    """Return the true answer to a query from its groups."""
    match query:
        case AggregateQuery():
            return _answer_aggregates(query, view)
        case NewestQuery():
            return Truth(answer(outputs(query), [] if view is None else _list_newest(query, view)))
        case DistinctQuery():
            groups = [] if view is None else view.run.rows.tolist()
            found = sum(groups) if query.counts_rows else len(groups)
            return Truth(answer(outputs(query), [(found,)]))
    assert_never(query)


def _list_newest(query: NewestQuery, view: View) -> Iterable[tuple[Any, ...]]:
    newest, arrays = view.measures[NEWEST]
    assert isinstance(newest, Newest)
    return zip(*view.groups, *(newest.values(c, arrays) for c in query.columns), strict=True)


def _answer_aggregates(query: AggregateQuery, view: View | None) -> Truth:
    columns = outputs(query)
    found: list[tuple[tuple[Any, ...], tuple[float, ...]]] = []
    if view is not None:
        values, slacks = zip(*(_aggregate(a, view) for a in query.aggregates), strict=True)
        exact = [[0.0] * len(view.run)] * len(view.groups)
        rows = zip(*view.groups, *values, strict=True)
        found = [*zip(rows, zip(*exact, *slacks, strict=True), strict=True)]
    elif not query.by and query.bucket is None:
        nothing = tuple(0 if a.function is Function.COUNT else None for a in query.aggregates)
        found = [(nothing, (0.0,) * len(nothing))]
    if query.newest is not None:
        found = sorted(found, key=lambda row: row[0][0], reverse=True)[: query.newest]
    found = [
        (tuple(canonical(c, v) for c, v in zip(columns, values, strict=True)), slack)
        for values, slack in found
    ]
    found.sort(key=lambda row: tuple((value is not None, value) for value in row[0]))
    slack = tuple(slack for _, slack in found)
    true = Answer(tuple(c.name for c in columns), tuple(row for row, _ in found))
    return Truth(true, slack if any(map(any, slack)) else ())


def _aggregate(aggregate: Aggregate, view: View) -> tuple[list[Any], list[float]]:
    if aggregate.column is None:
        return view.run.rows.tolist(), [0.0] * len(view.run)
    statistics, arrays = view.measures[aggregate.column]
    assert isinstance(statistics, ColumnStatistics)
    function = aggregate.function
    return statistics.values(function, arrays), statistics.slack(function, arrays).tolist()
