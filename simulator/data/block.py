"""A block: rows of one physical table, stored by column in NumPy arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.schema import Table

Array: TypeAlias = NDArray[Any]
Rows: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Values:
    """A column with one item per row. `valid` is false where the value is NULL; None: no NULLs."""

    array: Array
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.array)

    def slice(self, start: int, stop: int) -> "Values":
        """Return rows start..stop as views."""
        valid = None if self.valid is None else self.valid[start:stop]
        return Values(self.array[start:stop], valid)

    def take(self, rows: Rows) -> "Values":
        """Return these rows, by their index."""
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

    `levels` is the same array object for as long as its contents are the same (the grid of a field,
    the names of a worker's devices), so that an encoder renders it once and then only gathers. It
    is never written to. Codes are valid indices even where the value is NULL.
    """

    codes: NDArray[np.int64]
    levels: Array
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def slice(self, start: int, stop: int) -> "Coded":
        """Return rows start..stop as views."""
        valid = None if self.valid is None else self.valid[start:stop]
        return Coded(self.codes[start:stop], self.levels, valid)

    def take(self, rows: Rows) -> "Coded":
        """Return these rows, by their index."""
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


ColumnData: TypeAlias = Values | Coded


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one physical table. `data` has every column of `table`, in table order."""

    table: Table
    part: int
    rows: Rows
    """The rows' numbers in the dataset."""
    data: Mapping[str, ColumnData]

    @property
    def size_bytes(self) -> int:
        """Size of the values, each as wide as the widest of its column."""
        columns = (d.levels if isinstance(d, Coded) else d.array for d in self.data.values())
        return len(self) * sum(column.dtype.itemsize for column in columns)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """Name of the physical table."""
        return self.table.names[self.part]

    def slice(self, start: int, stop: int) -> "Block":
        """Return rows start..stop of this block as views."""
        data = {name: column.slice(start, stop) for name, column in self.data.items()}
        return Block(self.table, self.part, self.rows[start:stop], data)

    def take(self, rows: Rows) -> "Block":
        """Return these rows of the block, by their index in it."""
        data = {name: column.take(rows) for name, column in self.data.items()}
        return Block(self.table, self.part, self.rows[rows], data)
