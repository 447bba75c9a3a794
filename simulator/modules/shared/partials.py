"""Answers that come in portions, of parts and of physical tables, put together by the client."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.hashes import stored_hashes
from simulator.data.query import Output

Row: TypeAlias = Sequence[Any]

_MANY = 1_000_000
"""Rows that may wait to be compared with the others."""


class Fold(ABC):
    """Takes in rows, in any cut, and gives the answer's rows."""

    @abstractmethod
    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""

    def end_part(self) -> None:  # noqa: B027 - most have nothing to do then
        """Note that all rows of a part, such as a range of tokens, have come, of every table."""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """Return the answer."""


class Collected(Fold):
    """The rows as they come."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        self._rows += rows

    def rows(self) -> Sequence[Row]:
        """Return the rows."""
        return self._rows


class Newest(Fold):
    """The newest of the rows (tag, time, columns...) of each tag."""

    def __init__(self) -> None:
        self._newest: dict[Any, Row] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows."""
        newest = self._newest
        for row in rows:
            known = newest.get(row[0])
            if known is None or known[1] < row[1]:
                newest[row[0]] = row

    def rows(self) -> Sequence[Row]:
        """Return the newest rows without their time."""
        return [(row[0], *row[2:]) for row in self._newest.values()]


class Different(Fold):
    """How many different rows came, told apart by 64 bits of each, as verification does.

    `apart`: rows of two parts differ, so those of a part can be forgotten when it ends.
    """

    def __init__(self, columns: Sequence[Output], *, apart: bool = False) -> None:
        self._columns = columns
        self._apart = apart
        self._counted = 0
        self._seen: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._new: list[NDArray[np.uint64]] = []
        self._waiting = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Take in rows; sorting them in now and then keeps the cost of a row the same."""
        self._new.append(stored_hashes(self._columns, rows))
        self._waiting += len(rows)
        if self._waiting > max(len(self._seen), _MANY):
            self._sort()

    def _sort(self) -> None:
        self._seen = np.unique(np.concatenate([self._seen, *self._new]))
        self._new, self._waiting = [], 0

    def end_part(self) -> None:
        """Forget what cannot come again."""
        if self._apart:
            self._sort()
            self._counted += len(self._seen)
            self._seen = self._seen[:0]

    def rows(self) -> Sequence[Row]:
        """Return the number."""
        self._sort()
        return [(self._counted + len(self._seen),)]
