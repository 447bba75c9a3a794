"""The rows of a block that a query selects."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block, Coded, ColumnData


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text tag has one of these values; NULL never matches."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows a query reads: those for which all of it holds."""

    one_of: tuple[OneOf, ...] = ()
    since: int | None = None
    until: int | None = None
    """Half-open range of time in the table's time unit."""


EVERYTHING = Selection()


def selected(selection: Selection, block: Block) -> NDArray[np.int64] | None:
    """Return the indices of the rows that are selected; None for all."""
    found = []
    for one in selection.one_of:
        values = np.array([value.encode() for value in one.values])
        found.append(_matching(block.data[one.column], values))
    time = block.data[block.table.time.name]
    if selection.since is not None:
        found.append(time.values() >= selection.since)
    if selection.until is not None:
        found.append(time.values() < selection.until)
    return np.flatnonzero(np.logical_and.reduce(found)) if found else None


def _matching(column: ColumnData, values: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    if isinstance(column, Coded):
        found = np.isin(column.levels, values).take(column.codes)
    else:
        found = np.isin(column.values(), values)
    return found if column.valid is None else found & column.valid
