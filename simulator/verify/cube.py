"""The cube of an AggregateQuery: statistics of each column in each group of rows.

Folding is vectorised over a block. Cells merge: the fold of a whole equals the merged folds of its
parts, however it is divided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded
from simulator.data.query import ENDS, AggregateQuery, Function
from simulator.data.schema import FLOATS, Type
from simulator.verify.selection import selected

Group: TypeAlias = tuple[Any, ...]


@dataclass(slots=True)
class Cell:
    """Statistics of one column in one group of rows, without NULLs."""

    count: int = 0
    sum: Any = 0
    low: Any = None
    high: Any = None
    magnitude: float = 0.0
    """Sum of |x|, for floats that are not exact."""
    first: tuple[int, Any] | None = None
    last: tuple[int, Any] | None = None
    """Time and value at both ends, if the query asks for them."""

    def add(self, other: "Cell") -> None:
        """Merge another cell."""
        if other.count:
            self.low = other.low if self.low is None else min(self.low, other.low)
            self.high = other.high if self.high is None else max(self.high, other.high)
        self.count += other.count
        self.sum += other.sum
        self.magnitude += other.magnitude
        ends = [cell.first for cell in (self, other) if cell.first is not None]
        self.first = min(ends, key=_time_of, default=None)
        ends = [cell.last for cell in (self, other) if cell.last is not None]
        self.last = max(ends, key=_time_of, default=None)

    @property
    def slack(self) -> float:
        """The largest difference of a sum in another order from `sum`."""
        return self.count * 2.0**-52 * self.magnitude


def _time_of(end: tuple[int, Any]) -> int:
    return end[0]


class Cube:
    """A cell for each group and column, and one for the rows of the group."""

    def __init__(self, query: AggregateQuery) -> None:
        self._query = query
        self._columns = tuple(dict.fromkeys(a.column for a in query.aggregates if a.column))
        self._ends = {a.column for a in query.aggregates if a.function in ENDS}
        self.groups: dict[Group, list[Cell]] = {}

    def add(self, block: Block) -> None:
        """Fold the rows of a block."""
        chosen = selected(self._query.selection, block)
        groups, members = grouped(block, self._query.by, chosen)
        if self._query.bucket is not None and groups:
            time = _chosen(block.data[block.table.time.name].values(), chosen)
            starts = time // self._query.bucket * self._query.bucket
            starts, codes = np.unique(starts, return_inverse=True)
            groups, members = _refined(groups, members, codes, starts.tolist())
        if not groups:
            return
        parts = [
            _rows_cells(members, len(groups)),
            *(_column_cells(block, c, chosen, members, len(groups)) for c in self._columns),
        ]
        for name, cells in zip(self._columns, parts[1:], strict=True):
            if name in self._ends:
                _add_ends(cells, block, name, chosen, members)
        for index, group in enumerate(groups):
            self._merge_group(group, [part[index] for part in parts])

    def merge(self, other: "Cube") -> None:
        """Merge another cube of the same query."""
        for group, cells in other.groups.items():
            self._merge_group(group, cells)

    def _merge_group(self, group: Group, cells: Sequence[Cell]) -> None:
        mine = self.groups.get(group)
        if mine is None:
            mine = self.groups[group] = [Cell() for _ in range(len(self._columns) + 1)]
        for cell, other in zip(mine, cells, strict=True):
            cell.add(other)

    def results(self) -> list[tuple[Group, tuple[float, ...]]]:
        """Return the raw rows of the answer, and the slack of each value."""
        groups = self.groups
        if not groups and not self._query.by and self._query.bucket is None:
            groups = {(): [Cell() for _ in range(len(self._columns) + 1)]}
        if self._query.newest is not None:
            groups = dict(sorted(groups.items(), reverse=True)[: self._query.newest])
        rows = []
        for group, cells in groups.items():
            by_name = dict(zip((None, *self._columns), cells, strict=True))
            found = [_result(a.function, by_name[a.column]) for a in self._query.aggregates]
            values = (*group, *(value for value, _ in found))
            rows.append((values, (*(0.0 for _ in group), *(slack for _, slack in found))))
        return rows


def _result(function: Function, cell: Cell) -> tuple[Any, float]:
    """Return the value and slack of an aggregate; NULL of no values, except for counts."""
    if function is Function.COUNT:
        return cell.count, 0.0
    if not cell.count:
        return None, 0.0
    match function:
        case Function.SUM:
            return cell.sum, cell.slack
        case Function.AVG:
            mean = float(cell.sum) / cell.count
            return mean, cell.slack / cell.count + abs(mean) * 2.0**-52 * bool(cell.slack)
        case Function.MIN:
            return cell.low, 0.0
        case Function.MAX:
            return cell.high, 0.0
        case Function.FIRST | Function.LAST:
            end = cell.first if function is Function.FIRST else cell.last
            return end and end[1], 0.0
    assert_never(function)


def grouped(
    block: Block, by: Sequence[str], chosen: NDArray[np.int64] | None
) -> tuple[list[Group], NDArray[np.int64]]:
    """Return the combinations of some columns, and the index of that of each chosen row."""
    rows = len(block) if chosen is None else len(chosen)
    members = np.zeros(rows, np.int64)
    groups: list[Group] = [()] if rows else []
    for name in by:
        codes, labels = labels_of(block, name, chosen)
        groups, members = _refined(groups, members, codes, labels)
    return groups, members


def _refined(
    groups: list[Group], members: NDArray[np.int64], codes: NDArray[np.int64], labels: list[Any]
) -> tuple[list[Group], NDArray[np.int64]]:
    pairs, refined = np.unique(members * max(len(labels), 1) + codes, return_inverse=True)
    split = [divmod(pair, len(labels)) for pair in pairs.tolist()]
    return [(*groups[group], labels[code]) for group, code in split], refined


def labels_of(
    block: Block, name: str, chosen: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], list[Any]]:
    """Return a code for each chosen row, and the values of the codes; the last is NULL."""
    column = block.data[name]
    if isinstance(column, Coded):
        used, codes = np.unique(_chosen(column.codes, chosen), return_inverse=True)
        labels = column.levels[used].tolist()
    else:
        distinct, codes = np.unique(_chosen(column.array, chosen), return_inverse=True)
        labels = distinct.tolist()
    if column.valid is not None:
        codes = np.where(_chosen(column.valid, chosen), codes, len(labels))
    return codes, [*labels, None]


def _chosen(values: Array, chosen: NDArray[np.int64] | None) -> Array:
    return values if chosen is None else values[chosen]


def _rows_cells(members: NDArray[np.int64], groups: int) -> list[Cell]:
    return [Cell(count) for count in np.bincount(members, minlength=groups).tolist()]


def _column_cells(
    block: Block,
    name: str,
    chosen: NDArray[np.int64] | None,
    members: NDArray[np.int64],
    groups: int,
) -> list[Cell]:
    """Return the cell of one column for each group."""
    column = block.data[name]
    values = _chosen(column.values(), chosen)
    if column.valid is not None:
        valid = _chosen(column.valid, chosen)
        values, members = values[valid], members[valid]
    declared = block.table.column(name)
    cell_of: Callable[[Array], Cell] = _number_cell
    if declared.type is Type.TEXT:
        cell_of = _text_cell
    elif declared.type in FLOATS:
        cell_of = _exact_float_cell if declared.exact else _float_cell
    if groups == 1:
        return [cell_of(values)]
    ordered = values[np.argsort(members, kind="stable")]
    ends = np.cumsum(np.bincount(members, minlength=groups)).tolist()
    starts = [0, *ends[:-1]]
    return [cell_of(ordered[start:end]) for start, end in zip(starts, ends, strict=True)]


def _add_ends(
    cells: Sequence[Cell],
    block: Block,
    name: str,
    chosen: NDArray[np.int64] | None,
    members: NDArray[np.int64],
) -> None:
    """Add the first and the last value of each group, with their times."""
    column, time = block.data[name], block.data[block.table.time.name]
    values, times = _chosen(column.values(), chosen), _chosen(time.values(), chosen)
    if column.valid is not None:
        valid = _chosen(column.valid, chosen)
        values, times, members = values[valid], times[valid], members[valid]
    order = np.lexsort((times, members))
    ends = np.flatnonzero(np.append(np.diff(members[order]) != 0, True)) if len(order) else order
    starts = np.append(0, ends[:-1] + 1) if len(order) else order
    for start, end in zip(order[starts].tolist(), order[ends].tolist(), strict=True):
        cell = cells[members[start]]
        cell.first = int(times[start]), values[start].item()
        cell.last = int(times[end]), values[end].item()


def _number_cell(values: Array) -> Cell:
    """Fold integers, booleans and instants; sums the halves separately to avoid overflow."""
    if not len(values):
        return Cell()
    wide = values.astype(np.int64, copy=False)
    high, low = int((wide >> 32).sum()), int((wide & 0xFFFFFFFF).sum())
    return Cell(len(wide), (high << 32) + low, int(wide.min()), int(wide.max()))


def _exact_float_cell(values: Array) -> Cell:
    if not len(values):
        return Cell()
    total = float(values.sum(dtype=np.float64))
    return Cell(len(values), total, float(values.min()), float(values.max()))


def _float_cell(values: Array) -> Cell:
    cell = _exact_float_cell(values)
    cell.magnitude = float(np.abs(values).sum(dtype=np.float64))
    return cell


def _text_cell(values: Array) -> Cell:
    """Fold text, ordered by its UTF-8 bytes."""
    if not len(values):
        return Cell()
    distinct = np.unique(values)
    return Cell(len(values), 0, distinct[0].item(), distinct[-1].item())
