"""Measures: the facts that a cube keeps about the rows of each group, in parallel arrays."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np

from simulator.data.block import Array, Block, Coded, ColumnData, Values
from simulator.data.query import Function
from simulator.data.schema import FLOATS, Column, Table, Type, dtype_of
from simulator.verify.truth.groups import (
    Dimension,
    Groups,
    Numbers,
    add_sums,
    add_up,
    count_groups,
    extremes,
    float_sums,
    rows_of_extremes,
    text_extremes,
    to_list,
    whole_sums,
)

Arrays: TypeAlias = dict[str, Array]
NEWEST = ""
_EXTREMES = {Function.MIN: np.minimum, Function.MAX: np.maximum}
_ENDS = {Function.FIRST: np.minimum, Function.LAST: np.maximum}


class Measure(ABC):
    """Folds rows into arrays with an item per group, and merges such arrays."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """Name of the subject; a cube has one measure of each subject."""

    @abstractmethod
    def join_with(self, other: Any) -> "Measure":
        """Return a measure of the same subject that keeps the facts of both."""

    @abstractmethod
    def fold(self, block: Block, chosen: Numbers | None, groups: Groups, rows: Numbers) -> Arrays:
        """Fold the chosen rows of a block; `rows` is the number of rows of each group."""

    @abstractmethod
    def merge(self, arrays: Arrays, groups: Groups) -> Arrays:
        """Merge arrays; `groups` has the new group of each item."""

    @abstractmethod
    def form(self, table: Table) -> dict[str, str]:
        """Return the names of the arrays, and the kind of NumPy type of each."""


@dataclass(frozen=True)
class ColumnStatistics(Measure):
    """The number of values of one column, without NULLs, and functions of these values."""

    column: Column
    time: str
    """The column of time, for FIRST and LAST."""
    functions: tuple[Function, ...]
    """Some of SUM, MIN, MAX, FIRST and LAST; an average is a sum and a count."""

    @property
    def subject(self) -> str:
        """Name of the column."""
        return self.column.name

    def join_with(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the measure with the functions of both."""
        functions = sorted({*self.functions, *other.functions})
        return ColumnStatistics(self.column, self.time, tuple(functions))

    def fold(self, block: Block, chosen: Numbers | None, groups: Groups, rows: Numbers) -> Arrays:
        """Fold the chosen rows of a block."""
        column, present = _take(block.data[self.subject], chosen), None
        members, size = groups.members, groups.size
        if column.valid is not None:
            present = np.flatnonzero(column.valid)
            column, members = column.take(present), members[present]
            rows = count_groups(members, size)
        arrays: Arrays = {"count": rows}
        if self._of(Function.SUM, *_EXTREMES):
            values, of = _comparable(column, members, size)
            arrays |= self._extremes(dict.fromkeys(_EXTREMES, values), of, size)
            if self._of(Function.SUM):
                arrays |= self._sums(values, of, size)
        for function in self._of(*_ENDS):
            time = _take(_take(block.data[self.time], chosen), present)
            found = rows_of_extremes(_ENDS[function], (time.values(),), members, size)
            arrays[function.value] = _items(column, found)
            arrays[f"{function} time"] = _items(time, found)
        return arrays

    def _of(self, *functions: Function) -> list[Function]:
        return [function for function in functions if function in self.functions]

    def _sums(self, values: Array, members: Numbers, size: int) -> Arrays:
        if self.column.type not in FLOATS:
            high, low = whole_sums(values, members, size)
            return {"sum high": high, "sum low": low}
        arrays = {"sum": float_sums(values, members, size)}
        if not self.column.exact:
            arrays["magnitude"] = float_sums(np.abs(values), members, size)
        return arrays

    def _extremes(self, values: dict[Function, Array], members: Numbers, size: int) -> Arrays:
        extreme = text_extremes if self.column.type is Type.TEXT else extremes
        return {
            function.value: extreme(_EXTREMES[function], values[function], members, size)
            for function in self._of(*_EXTREMES)
        }

    def merge(self, arrays: Arrays, groups: Groups) -> Arrays:
        """Fold the arrays of several parts."""
        members, size = groups.members, groups.size
        merged: Arrays = {"count": add_up(arrays["count"], members, size)}
        for name in ("sum", "magnitude"):
            if name in arrays:
                merged[name] = float_sums(arrays[name], members, size)
        if "sum high" in arrays:
            sums = add_sums(arrays["sum high"], arrays["sum low"], members, size)
            merged["sum high"], merged["sum low"] = sums
        present = np.flatnonzero(arrays["count"])
        members = members[present]
        kept = {function: arrays[function.value][present] for function in self._of(*_EXTREMES)}
        merged |= self._extremes(kept, members, size)
        for function in self._of(*_ENDS):
            times = arrays[f"{function} time"][present]
            found = rows_of_extremes(_ENDS[function], (times,), members, size)
            merged[function.value] = _items(Values(arrays[function.value][present]), found)
            merged[f"{function} time"] = _items(Values(times), found)
        return merged

    def form(self, table: Table) -> dict[str, str]:
        """Return the names and kinds of the arrays."""
        kind, real = dtype_of(self.column.type).kind, self.column.type in FLOATS
        form = {"count": "i"}
        if self._of(Function.SUM):
            form |= {"sum": "f"} if real else {"sum high": "i", "sum low": "i"}
            form |= {"magnitude": "f"} if real and not self.column.exact else {}
        form |= {function.value: kind.replace("b", "i") for function in self._of(*_EXTREMES)}
        for function in self._of(*_ENDS):
            form |= {function.value: kind, f"{function} time": "i"}
        return form

    def values(self, function: Function, arrays: Arrays) -> list[Any]:
        """Return an aggregate of each group; a group without values has NULL, or 0 for a count."""
        counts: list[int] = arrays["count"].tolist()
        match function:
            case Function.COUNT:
                return counts
            case Function.SUM:
                found = self._totals(arrays)
            case Function.AVG:
                totals = zip(self._totals(arrays), counts, strict=True)
                found = [float(total) / max(count, 1) for total, count in totals]
            case Function.MIN | Function.MAX | Function.FIRST | Function.LAST:
                found = arrays[function.value].tolist()
            case _:
                assert_never(function)
        return [value if count else None for value, count in zip(found, counts, strict=True)]

    def _totals(self, arrays: Arrays) -> list[Any]:
        if self.column.type in FLOATS:
            return [*arrays["sum"].tolist()]
        halves = zip(arrays["sum high"].tolist(), arrays["sum low"].tolist(), strict=True)
        return [(high << 32) + low for high, low in halves]

    def slack(self, function: Function, arrays: Arrays) -> Array:
        """Return the tolerance of each aggregate: the rounding errors of sums in another order.

        A mean may differ by 2**-51 of its value: InfluxDB combines means of blocks.
        """
        count = arrays["count"]
        if function not in (Function.SUM, Function.AVG):
            return np.zeros(len(count))
        exact = "magnitude" not in arrays
        of_sum = np.zeros(len(count)) if exact else count * 2.0**-52 * arrays["magnitude"]
        if function is Function.SUM:
            return of_sum
        if "sum" not in arrays:  # of integers
            return of_sum
        some = np.maximum(count, 1)
        return of_sum / some + np.abs(arrays["sum"] / some) * 2.0**-51


def form_of(table: Table, columns: Iterable[str]) -> dict[str, str]:
    """Return the names and kinds of the arrays that hold values of columns."""
    form = dict[str, str]()
    for name in columns:
        form |= {f"value {name}": dtype_of(table.column(name).type).kind, f"valid {name}": "b"}
    return form


def _take(column: ColumnData, chosen: Numbers | None) -> ColumnData:
    return column if chosen is None else column.take(chosen)


def _items(column: ColumnData, rows: Numbers) -> Array:
    """Return the item at each place; zeros if the column is empty."""
    if not len(column):
        return np.zeros(len(rows), column.values().dtype)
    return column.take(rows).values()


def _comparable(column: ColumnData, members: Numbers, size: int) -> tuple[Array, Numbers]:
    """Return comparable values and their groups; a level of coded texts occurs once in a group."""
    if isinstance(column, Coded) and column.levels.dtype.kind == "S" and len(column):
        levels = np.arange(len(column.levels))
        of = (Dimension(members, np.arange(size)), Dimension(column.codes, levels))
        pairs = Groups.of(of, len(column))
        occurring = np.flatnonzero(count_groups(pairs.members, pairs.size))
        of_pairs, codes = (key[occurring] for key in pairs.keys)
        return column.levels[codes], of_pairs
    values = column.values()
    return (values.astype(np.int64, copy=False) if values.dtype.kind in "ib" else values), members


@dataclass(frozen=True)
class Newest(Measure):
    """The values of columns in the row with the greatest time; this time is unique."""

    time: str
    columns: tuple[str, ...]

    @property
    def subject(self) -> str:
        """Empty string, which is not a column's name."""
        return NEWEST

    def join_with(self, other: "Newest") -> "Newest":
        """Return the measure with the columns of both."""
        return Newest(self.time, tuple(dict.fromkeys((*self.columns, *other.columns))))

    def fold(self, block: Block, chosen: Numbers | None, groups: Groups, rows: Numbers) -> Arrays:
        """Fold the chosen rows of a block."""
        del rows
        times = _take(block.data[self.time], chosen).values()
        newest = rows_of_extremes(np.maximum, (times,), groups.members, groups.size)
        arrays: Arrays = {"time": times[newest]}
        newest = newest if chosen is None else chosen[newest]
        for name in self.columns:
            column = block.data[name].take(newest)
            whole = np.ones(groups.size, np.bool_)
            arrays[f"value {name}"] = column.values()
            arrays[f"valid {name}"] = whole if column.valid is None else column.valid
        return arrays

    def merge(self, arrays: Arrays, groups: Groups) -> Arrays:
        """Keep the newest row of each group."""
        newest = rows_of_extremes(np.maximum, (arrays["time"],), groups.members, groups.size)
        return {name: array[newest] for name, array in arrays.items()}

    def form(self, table: Table) -> dict[str, str]:
        """Return the names and kinds of the arrays."""
        return {"time": "i", **form_of(table, self.columns)}

    def values(self, name: str, arrays: Arrays) -> list[Any]:
        """Return the value of a column in each group."""
        return to_list(arrays[f"value {name}"], arrays[f"valid {name}"])
