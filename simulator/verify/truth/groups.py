"""Groups rows, and folds arrays by group, in one pass of NumPy without Python code per group.

Tags and instants become dense numbers, which index arrays of statistics. `members` has the group of
each value. `ufunc.at` and `bincount` take 1 to 2 ns per value, for any number of groups; sorting
the values by group would take 50 ns.
"""

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
"""Maximum number of possible groups per row for which a table is faster than sorting."""


class Labels:
    """Numbers the values of one tag in the order of their appearance; NULL is 0."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {None: 0}
        self._by_levels: dict[int, tuple[Array, Numbers]] = {}

    @property
    def values(self) -> list[Any]:
        """The values; a value's index is its number."""
        return [*self._numbers]

    def numbers(self, values: Iterable[Any]) -> Numbers:
        """Return the number of each value; new values get the next numbers."""
        known = self._numbers
        return np.array([known.setdefault(value, len(known)) for value in values], np.int64)

    def find_numbers(self, values: Iterable[Any]) -> Numbers:
        """Return the numbers of the known values, each once."""
        found = {self._numbers[value] for value in values if value in self._numbers}
        return np.array(sorted(found), np.int64)

    def numbers_of(self, levels: Array) -> Numbers:
        """Return the number of each level; the numbers of known levels are cached."""
        found = self._by_levels.get(id(levels))
        if found is None:
            if len(self._by_levels) == _KEPT_LEVELS:
                self._by_levels.clear()
            # Keep the array too: otherwise another array could get its id.
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
        """Number the combinations of the dimensions' codes; if there are many, only used ones."""
        dense = max(rows, _LEAST_DENSE)
        members, size = np.zeros(rows, np.int64), 1
        keys: tuple[Numbers, ...] = ()
        for dimension in dimensions:
            count = len(dimension.keys)
            sparse = size * count > dense
            one_each = _find_code_of_each(members, dimension.codes, size) if sparse else None
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


def _find_code_of_each(members: Numbers, codes: Numbers, groups: int) -> Numbers | None:
    """Return the code of each group, such as a host's rack; None if a group has several."""
    found = np.zeros(groups, np.int64)
    found[members] = codes
    return found if (found[members] == codes).all() else None


def _number(members: Numbers, possible: int, dense: int) -> tuple[Numbers, Numbers]:
    """Return the numbers below `possible` that may occur, and the place of each member in them."""
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
    """Group the chosen rows by a tag; the keys are the numbers of its labels."""
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
    """Group by numbers, which are usually close to each other."""
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


_HALF = 32
_LOW_HALF = (1 << _HALF) - 1


def count_groups(members: Numbers, groups: int) -> Numbers:
    """Return the number of values of each group."""
    if groups == 1:
        return np.array([len(members)])
    return np.bincount(members, minlength=groups)


def float_sums(values: Array, members: Numbers, groups: int) -> Array:
    """Return the sum of each group as doubles."""
    if groups == 1:
        return values.sum(dtype=np.float64, keepdims=True)  # type: ignore[no-any-return]
    return np.bincount(members, values, groups)


def whole_sums(values: Numbers, members: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """Return the sum of each group as high * 2**32 + low, exact for up to 2**32 values."""
    bound = max(-int(values.min(initial=0)), int(values.max(initial=0))) * len(values)
    if bound < 1 << 63:
        sums = add_up(values, members, groups)
        return sums >> _HALF, sums & _LOW_HALF
    high = add_up(values >> _HALF, members, groups)
    low = add_up(values & _LOW_HALF, members, groups)
    return carry(high, low)


def add_sums(high: Numbers, low: Numbers, members: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """Add up sums that `whole_sums` returned."""
    return carry(add_up(high, members, groups), add_up(low, members, groups))


def carry(high: Numbers, low: Numbers) -> tuple[Numbers, Numbers]:
    """Return the same sums with 0 <= low < 2**32."""
    return high + (low >> _HALF), low & _LOW_HALF


def add_up(values: Numbers, members: Numbers, groups: int) -> Numbers:
    """Return the sum of each group, in 64 bits."""
    if groups == 1:
        return values.sum(keepdims=True)  # type: ignore[no-any-return]
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, members, values)
    return sums


def extremes(ufunc: np.ufunc, values: Array, members: Numbers, groups: int) -> Array:
    """Return the least (np.minimum) or greatest (np.maximum) number of each group.

    A group without values has the neutral value.
    """
    start = _find_neutral(ufunc, values.dtype)
    if groups == 1:
        return np.array([ufunc.reduce(values, initial=start)], values.dtype)
    found = np.full(groups, start, values.dtype)
    ufunc.at(found, members, values)
    return found


def _find_neutral(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return np.inf if ufunc is np.minimum else -np.inf
    bounds = np.iinfo(dtype)
    return bounds.max if ufunc is np.minimum else bounds.min


def rows_of_extremes(
    ufunc: np.ufunc, parts: Sequence[Array], members: Numbers, groups: int
) -> Numbers:
    """Return the index of the least or greatest item of each group; -1 if the group has none.

    Items are compared part by part, like the digits of a number.
    """
    rows: Numbers | None = None
    for part in parts:
        values, of = (part, members) if rows is None else (part[rows], members[rows])
        best = extremes(ufunc, values, of, groups)
        equal = np.flatnonzero(values == (best if groups == 1 else best[of]))
        rows = equal if rows is None else rows[equal]
    found = np.full(groups, -1)
    if rows is not None:
        found[members[rows]] = rows
    return found


def text_extremes(ufunc: np.ufunc, texts: Array, members: Numbers, groups: int) -> Array:
    """Return the least or greatest text of each group, by its bytes; undefined if it has none."""
    if not len(texts):
        return np.zeros(groups, texts.dtype)
    words = -(-texts.dtype.itemsize // 8)
    padded = np.ascontiguousarray(texts, f"S{8 * words}")
    matrix = padded.view(">u8").reshape(len(texts), words)
    parts = [matrix[:, place].astype(np.uint64) for place in range(words)]
    return texts[rows_of_extremes(ufunc, parts, members, groups)]


def to_list(values: Array, valid: Array) -> list[Any]:
    """Return values, with None for NULL."""
    pairs = zip(values.tolist(), valid.tolist(), strict=True)
    return [value if is_valid else None for value, is_valid in pairs]
