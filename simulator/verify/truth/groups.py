"""Groups of rows: tags and instants become dense numbers, which index arrays of statistics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded

Numbers: TypeAlias = NDArray[np.int64]

_KEPT_LEVELS = 64
_LEAST_DENSE = 4096
_MOST_SPARSE = 16
"""Numbers for each row up to which a table of them is faster than sorting the rows."""


class Labels:
    """Numbers the values of one tag in the order in which they appear; NULL is 0."""

    def __init__(self, values: Iterable[Any] = (None,)) -> None:
        self._numbers: dict[Any, int] = {value: number for number, value in enumerate(values)}
        self._by_levels: dict[int, tuple[Array, Numbers]] = {}

    @property
    def values(self) -> list[Any]:
        """The values; a value's index is its number."""
        return [*self._numbers]

    def numbers(self, values: Iterable[Any]) -> Numbers:
        """Return the number of each value; new values get the next ones."""
        known = self._numbers
        return np.array([known.setdefault(value, len(known)) for value in values], np.int64)

    def find_numbers(self, values: Iterable[Any]) -> Numbers:
        """Return the numbers of the known values, each once."""
        found = {self._numbers[value] for value in values if value in self._numbers}
        return np.array(sorted(found), np.int64)

    def numbers_of(self, levels: Array) -> Numbers:
        """Return the number of each level. Levels that were seen before cost nothing."""
        found = self._by_levels.get(id(levels))
        if found is None:
            if len(self._by_levels) == _KEPT_LEVELS:
                self._by_levels.clear()
            # The array is kept too: otherwise another one could get its id.
            found = self._by_levels[id(levels)] = levels, self.numbers(levels.tolist())
        return found[1]


@dataclass(frozen=True, slots=True)
class Dimension:
    """The key of a grouping: a small code per row, and the key for each code."""

    codes: Numbers
    keys: Numbers


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each row, and the keys of each group, an array per dimension.

    A group may have no rows. Two groups may have the same keys.
    """

    members: Numbers
    keys: tuple[Numbers, ...]
    size: int

    @classmethod
    def of(cls, dimensions: Sequence[Dimension], rows: int) -> "Groups":
        """Number the combinations of the dimensions' codes; only those that occur if many could."""
        dense = max(rows, _LEAST_DENSE)
        members, size = np.zeros(rows, np.int64), 1
        keys: tuple[Numbers, ...] = ()
        for dimension in dimensions:
            count = len(dimension.keys)
            one_each = _one_each(members, dimension.codes, size) if size * count > dense else None
            if one_each is None:
                if size == 1:
                    members = dimension.codes
                elif count > 1:
                    members = members * count + dimension.codes
                numbers, members = _number(members, size * count, dense)
            else:
                numbers = np.arange(size) * count + one_each
            keys = (*(key[numbers // count] for key in keys), dimension.keys[numbers % count])
            size = len(numbers)
        return cls(members, keys, size)


def _one_each(members: Numbers, codes: Numbers, groups: int) -> Numbers | None:
    """Return the code of each group; None if a group has several. A host has one rack."""
    found = np.zeros(groups, np.int64)
    found[members] = codes
    return found if (found[members] == codes).all() else None


def _number(members: Numbers, possible: int, dense: int) -> tuple[Numbers, Numbers]:
    """Return the numbers below `possible` that may occur, and the place of each member there."""
    if possible <= dense:
        return np.arange(possible), members
    if possible > _MOST_SPARSE * dense:
        return np.unique(members, return_inverse=True)
    occurs = np.zeros(possible, np.bool_)
    occurs[members] = True
    numbers, places = np.flatnonzero(occurs), np.empty(possible, np.int64)
    places[numbers] = np.arange(len(numbers))
    return numbers, places[members]


def tag_dimension(block: Block, name: str, chosen: Numbers | None, labels: Labels) -> Dimension:
    """Group the chosen rows by a tag; its keys are the labels' numbers."""
    column = block.data[name]
    if isinstance(column, Coded):
        codes, keys = pick(column.codes, chosen), labels.numbers_of(column.levels)
    else:
        distinct, codes = np.unique(pick(column.array, chosen), return_inverse=True)
        keys = labels.numbers(distinct.tolist())
    if column.valid is not None:
        codes = np.where(pick(column.valid, chosen), codes, len(keys))
        keys = np.append(keys, labels.numbers([None]))
    return Dimension(codes, keys)


def number_dimension(numbers: Numbers) -> Dimension:
    """Group by numbers, of which neighbours are near each other as a rule."""
    if not len(numbers):
        return Dimension(numbers, numbers)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > max(len(numbers), _LEAST_DENSE):
        keys, codes = np.unique(numbers, return_inverse=True)
        return Dimension(codes, keys)
    return Dimension(numbers - low, np.arange(low, high + 1))


def pick(values: Array, chosen: Numbers | None) -> Array:
    """Return the values of the chosen rows; None chooses all."""
    return values if chosen is None else values[chosen]
