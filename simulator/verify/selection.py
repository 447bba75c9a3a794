"""The rows of a block that a Selection selects."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.query import Operator, Selection

_COMPARE: dict[Operator, np.ufunc] = {
    Operator.LESS: np.less,
    Operator.AT_MOST: np.less_equal,
    Operator.EQUAL: np.equal,
    Operator.AT_LEAST: np.greater_equal,
    Operator.MORE: np.greater,
}


def mask(selection: Selection, block: Block) -> NDArray[np.bool_] | None:
    """Return whether each row is selected; None if every row is."""
    found = []
    for one in selection.one_of:
        values = np.array([value.encode() for value in one.values])
        found.append(_matching(block.data[one.column], np.isin, values))
    for compared in selection.compared:
        compare = _COMPARE[compared.operator]
        found.append(_matching(block.data[compared.column], compare, compared.value))
    time = block.data[block.table.time.name]
    if selection.since is not None:
        found.append(time.values() >= selection.since)
    if selection.until is not None:
        found.append(time.values() < selection.until)
    return reduce(np.logical_and, found) if found else None


def selected(selection: Selection, block: Block) -> NDArray[np.int64] | None:
    """Return the indices of the rows that are selected; None for all."""
    found = mask(selection, block)
    return None if found is None else np.flatnonzero(found)


def _matching(
    column: ColumnData, matches: Callable[[Array, Any], Array], operand: Any
) -> NDArray[np.bool_]:
    """Return whether each item matches; a grid that is smaller than the block is tried once."""
    if isinstance(column, Coded) and len(column.levels) < len(column):
        found = matches(column.levels, operand).take(column.codes)
    else:
        found = matches(column.values(), operand)
    return found if column.valid is None else found & column.valid
