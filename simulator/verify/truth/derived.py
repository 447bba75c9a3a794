"""The truth of queries that read answers: the true answer below becomes the rows of a table."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from simulator.data.block import Block, Values
from simulator.data.derived import ConditionSpells, DerivedTable
from simulator.data.query import Answer, Condition
from simulator.data.schema import Column, Table, Type, dtype_of
from simulator.verify.truth.selection import satisfies

Row = tuple[Any, ...]
Slack = Sequence[Sequence[float]]


def block_of(table: DerivedTable | ConditionSpells, answer: Answer) -> Block:
    """Return the rows of a table from the true answer of its source."""
    if isinstance(table, DerivedTable):
        return _block(table, answer.rows)
    periods = _block(table.periods, answer.rows)
    return _block(table, list(_spells(table, answer.rows, satisfies(periods, table.holds))))


def _block(table: Table, rows: Sequence[Row]) -> Block:
    columns = zip(*rows, strict=True) if rows else ((),) * len(table.columns)
    data = {c.name: _values(c, values) for c, values in zip(table.columns, columns, strict=True)}
    return Block(table, 0, np.arange(len(rows)), data)


def _values(column: Column, values: Sequence[Any]) -> Values:
    valid = np.array([value is not None for value in values], np.bool_)
    if column.type is Type.TEXT:
        return Values(np.array([(value or "").encode() for value in values], np.bytes_), valid)
    return Values(np.array([value or 0 for value in values], dtype_of(column.type)), valid)


def _spells(table: ConditionSpells, rows: Sequence[Row], holds: Iterable[bool]) -> Iterable[Row]:
    """Yield the tags, the beginning and the length of each spell."""
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


def undecided(
    table: DerivedTable, conditions: Iterable[Condition], answer: Answer, slack: Slack
) -> str:
    """Return why a condition cannot be decided: a sum is as near to the limit as its rounding."""
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
