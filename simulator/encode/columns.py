"""The columns of a block as shares of its rows; levels are written once and then gathered.

Neighbouring columns with the same array of codes, such as the tags of a fleet, are gathered
together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Texts, Values
from simulator.data.octets import literal
from simulator.encode.rows import AnyShare, Share, blank, pack

T = TypeVar("T")

LIMIT = 16
"""Maximum number of results in a cache; a run needs one or two for each column."""


class LevelCache(Generic[T]):
    """Caches `render(*levels)` by the identity of each argument; keeps the `LIMIT` most recent.

    The cache also keeps the levels, so that no other object gets the same identity.
    """

    def __init__(self, render: Callable[..., T]) -> None:
        self._render = render
        self._kept: dict[tuple[int, ...], tuple[tuple[Any, ...], T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, *levels: Any) -> T:
        """Return `render(*levels)`, either computed now or from the cache."""
        key = tuple(map(id, levels))
        entry = self._kept.pop(key, None) or (levels, self._render(*levels))
        self._kept[key] = entry
        if len(self._kept) > LIMIT:
            del self._kept[next(iter(self._kept))]
        return entry[1]


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """The encoder of a column."""

    name: str
    write: Callable[[Array | Texts], Sequence[AnyShare]]
    """Function that returns the values of a column as shares."""
    null: bytes
    """Bytes to write instead of the shares of a NULL."""


class Columns:
    """Writes the columns of blocks."""

    def __init__(self, writers: Sequence[ColumnEncoder]) -> None:
        self._writers = writers
        self._levels: dict[tuple[int, int], LevelCache[Share]] = {}

    def shares(self, block: Block) -> list[AnyShare]:
        """Return the shares of all columns of a block, which must have at least one row."""
        data = [block.data[writer.name] for writer in self._writers]
        shares: list[AnyShare] = []
        for first, stop in _find_runs(data):
            column, writer = data[first], self._writers[first]
            own: Sequence[AnyShare]
            if isinstance(column, Coded):
                levels = [each.levels for each in data[first:stop] if isinstance(each, Coded)]
                own = [_gather(self._find_cache(first, stop)(*levels), column.codes)]
            else:
                own = writer.write(_fill_nulls(column))
            if column.valid is not None and not column.valid.all():
                own = _put_nulls(own, column.valid, writer.null)
            shares += own
        return shares

    def _find_cache(self, first: int, stop: int) -> LevelCache[Share]:
        """Return the cache for the shares of levels that the writers first..stop have written."""
        if (first, stop) not in self._levels:
            writers = self._writers[first:stop]
            self._levels[first, stop] = LevelCache(partial(_write_together, writers))
        return self._levels[first, stop]


def _find_runs(data: Sequence[ColumnData]) -> Iterator[tuple[int, int]]:
    """Yield each run first..stop of columns: one column, or neighbours with the same codes."""
    first = 0
    for stop in range(1, len(data) + 1):
        if stop == len(data) or not _share_codes(data[stop - 1], data[stop]):
            yield first, stop
            first = stop


def _share_codes(one: ColumnData, other: ColumnData) -> bool:
    if not isinstance(one, Coded) or not isinstance(other, Coded):
        return False
    return one.codes is other.codes and one.valid is None and other.valid is None


def _fill_nulls(column: Values | Texts) -> Array | Texts:
    """Return the values; each NULL is replaced by a value that can be written."""
    if isinstance(column, Values):
        return fill(column)
    if column.valid is None:
        return column
    longest = int(np.where(column.valid, column.lengths, -1).argmax())
    return column.take(np.where(column.valid, np.arange(len(column)), longest))


def fill(column: Values | Texts) -> Array:
    """Return the values; each NULL is replaced by 0 or an empty text."""
    values = column.array
    if column.valid is None or column.valid.all():
        return values
    return np.where(column.valid, values, values.dtype.type())


def _write_together(writers: Sequence[ColumnEncoder], *levels: Array) -> Share:
    # Columns with the same codes may have levels that no code reaches.
    count = min(map(len, levels))
    shares = [
        share
        for writer, own in zip(writers, levels, strict=True)
        for share in writer.write(own[:count])
        if isinstance(share, Share)
    ]
    return pack(shares, count)


def _gather(levels: Share, codes: NDArray[np.int64]) -> Share:
    return levels if len(levels.arrays[0]) == 1 else levels.take(codes)


def _put_nulls(
    shares: Sequence[AnyShare], valid: NDArray[np.bool_], null: bytes
) -> Sequence[AnyShare]:
    """Return the shares; each invalid value is replaced by `null`."""
    padded = [share for share in shares if isinstance(share, Share)]
    if len(padded) < len(shares):
        instead = [Share([literal(null)], np.where(valid, 0, len(null)))] if null else []
        return [*(blank(share, valid) for share in shares), *instead]
    (items,), used = pack(padded, len(valid))
    width = max(len(null), items.dtype.itemsize)
    wide = items.astype(f"V{width}")
    wide[~valid] = literal(null.ljust(width, b"\0"))
    full = items.dtype.itemsize if used is None else used
    return [Share([wide], np.where(valid, full, len(null)))]
