"""The rows of a block that a Selection selects."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Values
from simulator.data.query import Condition, Operator, Selection

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
    found += [satisfies(block, compared) for compared in selection.compared]
    if selection.since is not None:
        found.append(_times(block) >= selection.since)
    if selection.until is not None:
        found.append(_times(block) < selection.until)
    return reduce(np.logical_and, found) if found else None


def satisfies(block: Block, compared: Condition) -> NDArray[np.bool_]:
    """Return whether a comparison holds in each row."""
    return _matching(_operand(block, compared), _COMPARE[compared.operator], compared.value)


def select(selection: Selection, block: Block) -> NDArray[np.int64] | None:
    """Return the indices of the rows that are selected; None for all."""
    found = mask(selection, block)
    return None if found is None else np.flatnonzero(found)


def _times(block: Block) -> Array:
    return block.data[block.table.time.name].values()


def _operand(block: Block, compared: Condition) -> ColumnData:
    """Return a column as it is compared: alone, or its quotients by another one."""
    column = block.data[compared.column]
    if compared.divisor is None:
        return column
    divisor = block.data[compared.divisor]
    divisors = divisor.values().astype(np.float64)
    valid = divisors != 0
    for data in (column, divisor):
        valid = valid if data.valid is None else valid & data.valid
    dividends = column.values().astype(np.float64)
    quotients = np.divide(dividends, divisors, out=np.zeros(len(block)), where=valid)
    return Values(quotients, valid)


def _matching(
    column: ColumnData, matches: Callable[[Array, Any], Array], operand: Any
) -> NDArray[np.bool_]:
    """Return whether each item matches; a grid that is smaller than the block is tried once."""
    if isinstance(column, Coded) and len(column.levels) < len(column):
        found = matches(column.levels, operand).take(column.codes)
    else:
        found = matches(column.values(), operand)
    return found if column.valid is None else found & column.valid
