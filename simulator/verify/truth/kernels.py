"""Folds of arrays by group: one pass of NumPy over the values, no Python per group.

`members` has the group of each value. `ufunc.at` and `bincount` take 1 to 2 ns per value, whatever
the number of groups; sorting the values by group takes 50.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.data.block import Array
from simulator.verify.truth.groups import Numbers

_HALF = 32
_LOW_HALF = (1 << _HALF) - 1


def count_groups(members: Numbers, groups: int) -> Numbers:
    """Return the number of values of each group."""
    if groups == 1:
        return np.array([len(members)])
    return np.bincount(members, minlength=groups)


def whole_counts(counts: Numbers, members: Numbers, groups: int) -> Numbers:
    """Add up numbers of values."""
    return _add(counts, members, groups)


def float_sums(values: Array, members: Numbers, groups: int) -> Array:
    """Return the sum of each group as doubles."""
    if groups == 1:
        return values.sum(dtype=np.float64, keepdims=True)  # type: ignore[no-any-return]
    return np.bincount(members, values, groups)


def whole_sums(values: Numbers, members: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """Return the sum of each group as high * 2**32 + low, exact for up to 2**32 values."""
    bound = max(-int(values.min(initial=0)), int(values.max(initial=0))) * len(values)
    if bound < 1 << 63:
        sums = _add(values, members, groups)
        return sums >> _HALF, sums & _LOW_HALF
    high = _add(values >> _HALF, members, groups)
    low = _add(values & _LOW_HALF, members, groups)
    return carry(high, low)


def add_sums(high: Numbers, low: Numbers, members: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """Add up sums that `whole_sums` returned."""
    return carry(_add(high, members, groups), _add(low, members, groups))


def carry(high: Numbers, low: Numbers) -> tuple[Numbers, Numbers]:
    """Return the same sums with 0 <= low < 2**32."""
    return high + (low >> _HALF), low & _LOW_HALF


def _add(values: Numbers, members: Numbers, groups: int) -> Numbers:
    if groups == 1:
        return values.sum(keepdims=True)  # type: ignore[no-any-return]
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, members, values)
    return sums


def extremes(ufunc: np.ufunc, values: Array, members: Numbers, groups: int) -> Array:
    """Return the least (np.minimum) or greatest (np.maximum) number of each group.

    A group without values has the value that changes no other.
    """
    start = _neutral(ufunc, values.dtype)
    if groups == 1:
        return np.array([ufunc.reduce(values, initial=start)], values.dtype)
    found = np.full(groups, start, values.dtype)
    ufunc.at(found, members, values)
    return found


def _neutral(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return np.inf if ufunc is np.minimum else -np.inf
    bounds = np.iinfo(dtype)
    return bounds.max if ufunc is np.minimum else bounds.min


def rows_of_extremes(
    ufunc: np.ufunc, parts: Sequence[Array], members: Numbers, groups: int
) -> Numbers:
    """Return the index of the least or greatest item of each group; -1 if the group has none.

    Items are compared part by part, as the digits of a number.
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
    """Return values, None for those that are NULL."""
    pairs = zip(values.tolist(), valid.tolist(), strict=True)
    return [value if is_valid else None for value, is_valid in pairs]
