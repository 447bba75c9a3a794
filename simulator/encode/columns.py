"""The columns of a block as shares of its rows: levels are written once, and then only gathered.

Neighbouring columns with the same codes array, such as the tags of a fleet, are written together:
a row takes one gather for all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.octets import literal, side_by_side
from simulator.encode.levels import Rendered
from simulator.encode.rows import Share, packed


@dataclass(frozen=True, slots=True)
class Writer:
    """How a column is written."""

    name: str
    write: Callable[[Array], list[Share]]
    """Its values as shares."""
    null: bytes
    """Replaces all of its shares where the value is NULL."""


class Columns:
    """Writes the columns of blocks."""

    def __init__(self, writers: Sequence[Writer]) -> None:
        self._writers = writers
        self._written: dict[tuple[int, int], Rendered[Share]] = {}

    def shares(self, block: Block) -> list[Share]:
        """Return the shares of all columns; the block has at least one row."""
        data = [block.data[writer.name] for writer in self._writers]
        shares: list[Share] = []
        for first, stop in _runs(data):
            column = data[first]
            writer, valid = self._writers[first], _nulls(column)
            if isinstance(column, Coded):
                levels = [each.levels for each in data[first:stop] if isinstance(each, Coded)]
                own = [_gathered(self._of_levels(first, stop)(*levels), column.codes)]
            elif valid is None:
                own = writer.write(column.array)
            else:
                # The value in place of a NULL may be one that cannot be written.
                own = writer.write(np.where(valid, column.array, column.array.dtype.type()))
            shares += own if valid is None else [_with_nulls(own, valid, writer.null)]
        return shares

    def _of_levels(self, first: int, stop: int) -> Rendered[Share]:
        """Return the cache of what writers first..stop have made of levels."""
        if (first, stop) not in self._written:
            writers = self._writers[first:stop]
            self._written[first, stop] = Rendered(partial(_together, writers))
        return self._written[first, stop]


def _runs(data: Sequence[ColumnData]) -> Iterator[tuple[int, int]]:
    """Yield the columns as runs first..stop: one column, or neighbours with the same codes."""
    first = 0
    for stop in range(1, len(data) + 1):
        if stop == len(data) or not _alike(data[first], data[stop]):
            yield first, stop
            first = stop


def _alike(one: ColumnData, other: ColumnData) -> bool:
    coded = isinstance(one, Coded) and isinstance(other, Coded) and one.codes is other.codes
    return coded and _nulls(one) is None and _nulls(other) is None


def _nulls(data: ColumnData) -> NDArray[np.bool_] | None:
    """Return which values are not NULL; None: all of them."""
    return None if data.valid is None or data.valid.all() else data.valid


def _together(writers: Sequence[Writer], *levels: Array) -> Share:
    # Columns with the same codes may have levels that no code reaches.
    count = min(map(len, levels))
    shares = [
        share
        for writer, own in zip(writers, levels, strict=True)
        for share in writer.write(own[:count])
    ]
    return packed(shares, count)


def _gathered(levels: Share, codes: NDArray[np.int64]) -> Share:
    """Return the share of rows with these codes."""
    (items,), used = levels
    if len(items) == 1:
        return levels
    return Share([items.take(codes)], None if used is None else used.take(codes))


def _with_nulls(shares: Sequence[Share], valid: NDArray[np.bool_], null: bytes) -> Share:
    (items,), used = packed(shares, len(valid))
    width = max(len(null), items.dtype.itemsize)
    wide = items.astype(f"V{width}")
    wide[~valid] = literal(null.ljust(width, b"\0")) if width else b""
    full = items.dtype.itemsize if used is None else used
    return Share([wide], np.where(valid, full, len(null)))
