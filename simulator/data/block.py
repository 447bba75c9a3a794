"""A block: rows of one physical table, stored by column in NumPy arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.schema import Table

Array: TypeAlias = NDArray[Any]
Rows: TypeAlias = NDArray[np.int64]
Chosen: TypeAlias = Rows | slice
"""Indices of rows, or a slice, which selects the rows as a view."""


@dataclass(frozen=True, slots=True)
class Values:
    """A column with one item per row. `valid` is false where the value is NULL; None: no NULLs."""

    array: Array
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Chosen) -> "Values":
        """Return these rows."""
        valid = None if self.valid is None else self.valid[rows]
        return Values(self.array[rows], valid)

    def values(self) -> Array:
        """Return the values, one per row (undefined where NULL)."""
        return self.array

    def present(self) -> Array:
        """Return the values that are not NULL."""
        return self.array if self.valid is None else self.array[self.valid]


@dataclass(frozen=True, slots=True)
class Coded:
    """A column on a finite grid: row i holds levels[codes[i]].

    `levels` is the same array object as long as its contents are the same (the grid of a field, the
    names of a worker's devices), so that an encoder renders the levels once and then only looks
    them up. The array is never modified. Codes are valid indices even where the value is NULL.
    """

    codes: NDArray[np.int64]
    levels: Array
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Chosen) -> "Coded":
        """Return these rows."""
        valid = None if self.valid is None else self.valid[rows]
        return Coded(self.codes[rows], self.levels, valid)

    def values(self) -> Array:
        """Return the values, one per row (undefined where NULL)."""
        taken: Array = self.levels.take(self.codes)
        return taken

    def present(self) -> Array:
        """Return the values that are not NULL."""
        codes = self.codes if self.valid is None else self.codes[self.valid]
        taken: Array = self.levels.take(codes)
        return taken


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts in one buffer, so that a long text does not widen the other texts.

    Text i is the `lengths[i]` bytes of `content` from `starts[i]`; undefined where NULL.
    """

    content: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, rows: Chosen) -> "Texts":
        """Return these rows."""
        valid = None if self.valid is None else self.valid[rows]
        return Texts(self.content, self.starts[rows], self.lengths[rows], valid)

    def to_list(self) -> list[bytes]:
        """Return the texts, one per row; a NULL becomes an empty text."""
        content = self.content.data
        lengths = self.lengths if self.valid is None else np.where(self.valid, self.lengths, 0)
        ends = (self.starts + lengths).tolist()
        return [bytes(content[a:b]) for a, b in zip(self.starts.tolist(), ends, strict=True)]

    @property
    def array(self) -> Array:
        """The texts as an 'S' array with items as wide as the longest text."""
        return np.array(self.to_list(), f"S{self.lengths.max(initial=1)}")

    def values(self) -> Array:
        """Return the texts as an 'S' array, one per row."""
        return self.array

    def present(self) -> Array:
        """Return the texts that are not NULL, as an 'S' array."""
        return (self if self.valid is None else self.take(np.flatnonzero(self.valid))).array


ColumnData: TypeAlias = Values | Coded | Texts


def replace(column: ColumnData, rows: Rows, new: ColumnData) -> ColumnData:
    """Return a column in which these rows, given by index, have the values of `new`."""
    if len(rows) == len(column):
        return new
    valid = None
    if column.valid is not None or new.valid is not None:
        valid = np.ones(len(column), np.bool_) if column.valid is None else column.valid.copy()
        valid[rows] = True if new.valid is None else new.valid
    if isinstance(column, Texts) and isinstance(new, Texts):
        starts, lengths = column.starts.copy(), column.lengths.copy()
        starts[rows], lengths[rows] = new.starts + len(column.content), new.lengths
        return Texts(np.concatenate([column.content, new.content]), starts, lengths, valid)
    if isinstance(column, Coded) and isinstance(new, Coded):
        codes = column.codes.copy()
        codes[rows] = new.codes + len(column.levels)
        return Coded(codes, np.concatenate([column.levels, new.levels]), valid)
    old, values = column.values(), new.values()
    found = old.astype(np.result_type(old, values))
    found[rows] = values
    return Values(found, valid)


def rename(
    column: ColumnData, by: ColumnData, names: Mapping[bytes, bytes]
) -> tuple[Rows, ColumnData] | None:
    """Return the indices of the rows in which `names` renames the value of `by`, and the new names.

    Return None if there is no such row. The new names are coded if `column` is.
    """
    levels, codes = np.unique(by.values(), return_inverse=True)
    known = np.array([level in names for level in levels.tolist()], np.bool_)
    at = known[codes] if by.valid is None else known[codes] & by.valid
    rows = np.flatnonzero(at)
    if not len(rows):
        return None
    new = np.array([names.get(level, b"") for level in levels.tolist()])
    found = Coded(codes[rows].astype(np.int64), new)
    return rows, found if isinstance(column, Coded) else Values(found.values())


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one physical table. `data` has every column of `table`, in table order."""

    table: Table
    part: int
    rows: Rows
    """Numbers of the rows in the dataset."""
    data: Mapping[str, ColumnData]

    @property
    def size_bytes(self) -> int:
        """Size of the values; each value of an array counts as much as the widest value."""
        return sum(_size_bytes(column) for column in self.data.values())

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """Name of the physical table."""
        return self.table.names[self.part]

    def slice(self, start: int, stop: int) -> "Block":
        """Return rows start..stop of the block as views."""
        return self.take(slice(start, stop))

    def take(self, rows: Chosen) -> "Block":
        """Return these rows of the block; columns continue to share their codes."""
        data, shared = dict[str, ColumnData](), dict[int, Rows]()
        for name, column in self.data.items():
            data[name] = own = column.take(rows)
            if isinstance(column, Coded) and isinstance(own, Coded):
                codes = shared.setdefault(id(column.codes), own.codes)
                data[name] = Coded(codes, own.levels, own.valid)
        return Block(self.table, self.part, self.rows[rows], data)


def _size_bytes(column: ColumnData) -> int:
    if isinstance(column, Texts):
        return int(column.lengths.sum())
    values = column.levels if isinstance(column, Coded) else column.array
    return len(column) * values.dtype.itemsize


def edges(blocks: Sequence[Block], batch_rows: int) -> list[Rows]:
    """Return, for each block, the row at which its share of each batch begins, and the end.

    The rows of each block are in the order of time. A batch has `batch_rows` rows; the last one may
    have fewer. Rows with the same time are in the order of the blocks.
    """
    times = [block.data[block.table.time.name].values() for block in blocks]
    merged = np.sort(np.concatenate(times), kind="stable")  # merges what is sorted
    starts = np.arange(0, len(merged), batch_rows)
    first = merged[starts]
    found, left = [], starts.copy()
    earlier = [np.searchsorted(each, first, "left") for each in times]
    left -= np.sum(earlier, axis=0)
    for each, before in zip(times, earlier, strict=True):
        same = np.searchsorted(each, first, "right") - before
        taken = np.minimum(left, same)
        left -= taken
        found.append(np.append(before + taken, len(each)))
    return found
