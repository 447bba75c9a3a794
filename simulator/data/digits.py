"""Integers as decimal digits, four at a time from a table of 10,000 entries."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.octets import literal, octets, side_by_side

_POWERS = tuple(10**exponent for exponent in range(1, 20))


@cache
def table(count: int) -> Array:
    """Return the numbers below 10**count as `count` digits each; 40 kB for four."""
    numbers = np.arange(10**count)[:, None]
    shown = numbers // 10 ** np.arange(count - 1, -1, -1) % 10 + ord("0")
    return shown.astype(np.uint8).view(f"V{count}")[:, 0]


def digits(values: NDArray[np.uint64], count: int) -> list[Array]:
    """Return values below 10**count as exactly `count` digits, in arrays to be joined side by side.

    Leading digits that all values share, such as those of the times in a block, are rendered once.
    13 digits of rising values take about 4 ns.
    """
    return _between(values, int(values.min()), int(values.max()), count)


def _between(values: NDArray[np.uint64], least: int, most: int, count: int) -> list[Array]:
    arrays: list[Array] = []
    while count > 4 and least != most:
        rest = values // np.uint64(10_000)
        low = (values - rest * np.uint64(10_000)).view(np.int64)
        arrays.append(table(4).take(low))
        values, least, most, count = rest, least // 10_000, most // 10_000, count - 4
    if least == most:
        arrays.append(literal(b"%0*d" % (count, least)))
    else:
        arrays.append(table(count).take(values.view(np.int64)))
    return arrays[::-1]


def integers(values: Array) -> list[Array]:
    """Return signed integers of any width, padded with NUL to the longest."""
    # abs() of the smallest int64 wraps to itself; viewed as uint64 it is the right magnitude.
    magnitudes = np.abs(values.astype(np.int64)).view(np.uint64)
    least, most = int(magnitudes.min()), int(magnitudes.max())
    shortest, width = len(str(least)), len(str(most))
    arrays = _between(magnitudes, least, most, width)
    if shortest < width:
        arrays = [_without_leading_zeros(side_by_side(arrays, len(values)), magnitudes)]
    if values.min() < 0:
        signs = np.frombuffer(b"\0-", "V1")
        arrays.insert(0, signs.take(values < 0))
    return arrays


def _without_leading_zeros(items: Array, magnitudes: NDArray[np.uint64]) -> Array:
    width = items.dtype.itemsize
    lengths = 1 + np.searchsorted(np.array(_POWERS, np.uint64), magnitudes, side="right")
    return (octets(items) * _tails(width).take(lengths, axis=0)).view(f"V{width}")[:, 0]


@cache
def _tails(width: int) -> NDArray[np.uint8]:
    """Return rows of `width` factors; the last `i` in row i are 1 and the others 0."""
    return np.tri(width + 1, width, -1, dtype=np.uint8)[:, ::-1].copy()
