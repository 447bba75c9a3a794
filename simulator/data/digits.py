"""Integers as decimal digits, four at a time from a table of 10,000 entries."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.octets import find_unpadded, literal, octets, side_by_side, view_items

_POWERS = tuple(10**exponent for exponent in range(1, 20))


@cache
def table(count: int) -> Array:
    """Return the numbers below 10**count as `count` digits each; 40 kB for four."""
    numbers = np.arange(10**count)[:, None]
    shown = numbers // 10 ** np.arange(count - 1, -1, -1) % 10 + ord("0")
    return shown.astype(np.uint8).view(f"V{count}")[:, 0]


def digits(values: NDArray[np.uint64], count: int) -> list[Array]:
    """Return values below 10**count as exactly `count` digits, in arrays to be joined side by side.

    Leading digits that all values share, as the times of a block do, are rendered once. 13 digits
    of rising values take about 4 ns.
    """
    return _render(values, int(values.min()), int(values.max()), count)


def _render(values: NDArray[np.uint64], least: int, most: int, count: int) -> list[Array]:
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


def integers(values: Array) -> tuple[list[Array], NDArray[np.int64] | None]:
    """Return signed integers as digits padded with NUL, and their lengths; None: no padding."""
    # abs() of the smallest int64 wraps to itself; viewed as uint64 it is the right magnitude.
    magnitudes = np.abs(values.astype(np.int64)).view(np.uint64)
    least, most = int(magnitudes.min()), int(magnitudes.max())
    shortest, width = len(str(least)), len(str(most))
    arrays = _render(magnitudes, least, most, width)
    negative = values < 0 if values.min() < 0 else None
    if negative is None and shortest == width:
        return arrays, None
    lengths = np.full(len(values), width)
    if shortest < width:
        lengths = 1 + np.searchsorted(np.array(_POWERS, np.uint64), magnitudes, side="right")
    if negative is None:
        return [_shift(arrays, width - lengths, width)], lengths
    # The byte before the first digit is a leading zero, or the one put in front.
    items = side_by_side([literal(b"0"), *arrays], len(values))
    octets(items)[negative, (width - lengths)[negative]] = ord("-")
    lengths += negative
    fixed = lengths.min() == width + 1
    return [_shift([items], width + 1 - lengths, width + 1)], None if fixed else lengths


def _shift(arrays: list[Array], leading: NDArray[np.int64], width: int) -> Array:
    """Return items of `width` bytes without the first `leading` bytes, with NULs at the end."""
    items = side_by_side([*arrays, literal(bytes(width))], len(leading))
    starts = np.arange(0, 2 * width * len(leading), 2 * width)
    shifted: Array = view_items(items.view(np.uint8), width)[starts + leading]
    return shifted


def join(columns: Sequence[Array]) -> Array:
    """Return the concatenated texts and integers of each row, as an 'S' array.

    Rows without padding are not copied. A device, an instant and a number take about 20 ns per row.
    """
    rows = len(columns[0])
    pieces: list[Array] = []
    for values in columns:
        is_text = values.dtype.kind == "S"
        pieces += [values.view(f"V{values.dtype.itemsize}")] if is_text else integers(values)[0]
    side = side_by_side(pieces, rows)
    letters, written = octets(side), find_unpadded(side)
    if written is not None:
        # Shift the bytes that are not padding to the left; trailing NUL ends a text.
        shifted = np.zeros_like(letters)
        shifted[np.arange(letters.shape[1]) < written.sum(axis=1)[:, None]] = letters[written]
        letters = shifted
    return letters.reshape(-1).view(f"S{letters.shape[1]}")
