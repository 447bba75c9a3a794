"""Items of different lengths in one buffer, read and written by offset.

NumPy copies items of one width only. In an array with items that start one byte apart any offset is
an index, so fancy indexing copies items from and to any place: about 5 ns for each item of up to 64
bytes, for any length.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array

Offsets = NDArray[np.int64]


def overlapping(content: NDArray[np.uint8], width: int) -> Array:
    """Return a view of all items of `width` bytes in the content; item i starts at byte i."""
    return np.ndarray((len(content) - width + 1,), f"V{width}", content.data, strides=(1,))


def copy(
    source: NDArray[np.uint8],
    starts: Offsets,
    lengths: Offsets,
    target: NDArray[np.uint8],
    places: Offsets,
) -> None:
    """Copy bytes of different lengths, exactly.

    A length from 2**n to 2**(n+1) is two copies of 2**n bytes that overlap: one from the start and
    one up to the end.
    """
    if not len(lengths):
        return
    left, size = int(lengths.max()), 1
    while size <= left:
        fits = np.flatnonzero((lengths >= size) & (lengths < 2 * size))
        if len(fits):
            read, written = overlapping(source, size), overlapping(target, size)
            start, place, rest = starts[fits], places[fits], lengths[fits] - size
            written[place] = read[start]
            if rest.any():
                written[place + rest] = read[start + rest]
        size *= 2
