"""The rows of a block that a query selects, and the rows that a RowsQuery returns."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Values
from simulator.data.query import EVERYTHING, Condition, Operator, RowsQuery, Selection
from simulator.data.schema import Table
from simulator.verify.truth.groups import Numbers, to_list
from simulator.verify.truth.measures import Arrays, form_of

_COMPARE: dict[Operator, np.ufunc] = {
    Operator.LESS: np.less,
    Operator.AT_MOST: np.less_equal,
    Operator.EQUAL: np.equal,
    Operator.AT_LEAST: np.greater_equal,
    Operator.MORE: np.greater,
}


def select(selection: Selection, block: Block) -> NDArray[np.int64] | None:
    """Return the indices of the selected rows; None if all rows are selected."""
    found = []
    for one in selection.one_of:
        values = np.array([value.encode() for value in one.values])
        found.append(_match(block.data[one.column], np.isin, values))
    found += [satisfies(block, compared) for compared in selection.compared]
    times = block.data[block.table.time.name].values() if selection.limits else None
    found += [_COMPARE[operator](times, limit) for operator, limit in selection.limits]
    return np.flatnonzero(reduce(np.logical_and, found)) if found else None


def satisfies(block: Block, compared: Condition) -> NDArray[np.bool_]:
    """Return a mask: True for the rows in which a comparison holds."""
    return _match(_find_operand(block, compared), _COMPARE[compared.operator], compared.value)


def _find_operand(block: Block, compared: Condition) -> ColumnData:
    """Return the compared column, or its quotients by another column."""
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


def _match(
    column: ColumnData, matches: Callable[[Array, Any], Array], operand: Any
) -> NDArray[np.bool_]:
    """Return whether each item matches; compare the levels of a coded column if fewer."""
    if isinstance(column, Coded) and len(column.levels) < len(column):
        found = matches(column.levels, operand).take(column.codes)
    else:
        found = matches(column.values(), operand)
    return found if column.valid is None else found & column.valid


_TIME = "time"


class RowsFold:
    """Collects the selected rows, or only the latest ones."""

    def __init__(self, query: RowsQuery) -> None:
        if query.selection == EVERYTHING and query.newest is None:
            raise ValueError("all rows of a table are folded by simulator.verify.truth.fingerprint")
        self.query = query
        self._parts: list[Arrays] = []

    @property
    def table(self) -> Table:
        """The table of the rows."""
        return self.query.table

    def add(self, block: Block) -> None:
        """Collect from a block."""
        chosen = select(self.query.selection, block)
        rows = np.arange(len(block)) if chosen is None else chosen
        arrays: Arrays = {}
        if self.query.newest is not None:
            times = block.data[block.table.time.name].values()[rows]
            latest = self._latest(times)
            arrays, rows = {_TIME: times[latest]}, rows[latest]
        for column in self.query.read:
            data = block.data[column.name].take(rows)
            whole = np.ones(len(rows), np.bool_)
            arrays[f"value {column.name}"] = data.values()
            arrays[f"valid {column.name}"] = whole if data.valid is None else data.valid
        if len(rows):
            self.append(arrays)

    def append(self, parts: Arrays) -> None:
        """Merge the rows of another fold of the same query."""
        if not parts:
            return
        self._parts.append(parts)
        if self.query.newest is not None:
            self.parts()

    def parts(self) -> Arrays:
        """Return values and validity of all rows, and times of the latest; empty without rows."""
        if len(self._parts) > 1:
            parts, self._parts = self._parts, []
            whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            if self.query.newest is not None:
                latest = self._latest(whole[_TIME])
                whole = {name: array[latest] for name, array in whole.items()}
            self._parts = [whole]
        return self._parts[0] if self._parts else {}

    def form(self) -> dict[str, str]:
        """Return the names of the arrays of `parts`, and the kind of NumPy type of each."""
        columns = [column.name for column in self.query.read]
        times = {} if self.query.newest is None else {_TIME: "i"}
        return {**times, **form_of(self.table, columns)}

    def check(self, parts: Arrays) -> None:
        """Raise ValueError unless each row has an item in every array."""
        if len({*map(len, parts.values())}) > 1:
            raise ValueError("the arrays of rows have different lengths")

    def _latest(self, times: Numbers) -> Numbers:
        newest = self.query.newest or len(times)
        if len(times) <= newest:
            return np.arange(len(times))
        return np.argpartition(times, -newest)[-newest:]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the answer, in any order."""
        arrays = self.parts()
        if not arrays:
            return []
        columns = (
            to_list(arrays[f"value {column.name}"], arrays[f"valid {column.name}"])
            for column in self.query.read
        )
        return [*zip(*columns, strict=True)]
