"""Arrays of bytes: joined side by side, or items of different lengths in one buffer.

An array of n items of w bytes holds w bytes for each of n rows; an array of one item holds bytes
that all rows share. Joining takes a strided copy per array (about 0.5 ns per item), and one copy
for all shared bytes.

NumPy copies items of one width. If items start one byte apart, any offset is an index, and fancy
indexing copies items of any length between any places: about 5 ns per item of up to 64 bytes.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array


def literal(content: bytes) -> Array:
    """Return an array with one item: the content, which must not be empty."""
    return np.frombuffer(content, f"V{len(content)}")


def side_by_side(arrays: Sequence[Array], count: int) -> Array:
    """Return `count` void items, each made of one item of every array."""
    dtype = _structure(tuple(array.dtype for array in arrays))
    rows = np.empty(count, dtype)
    whole = rows.view(f"V{dtype.itemsize}")
    constant = [len(array) == 1 for array in arrays]
    if together := sum(constant) > 1:
        row = b"".join(
            array.tobytes() if same else bytes(array.dtype.itemsize)
            for array, same in zip(arrays, constant, strict=True)
        )
        whole[:] = literal(row)
    for place, array in enumerate(arrays):
        if not (together and constant[place]):
            rows[f"f{place}"] = array
    return whole


@cache
def _structure(dtypes: tuple[np.dtype[np.generic], ...]) -> np.dtype[np.void]:
    return np.dtype([(f"f{place}", dtype) for place, dtype in enumerate(dtypes)])


def octets(items: Array) -> NDArray[np.uint8]:
    """Return contiguous items as a matrix of bytes, one row per item."""
    return items.view(np.uint8).reshape(len(items), items.dtype.itemsize)


def find_unpadded(items: Array) -> NDArray[np.bool_] | None:
    """Return a mask of the bytes that are not padding (NUL); None: no padding."""
    letters = octets(items)
    return None if letters.min(initial=1) else letters != 0


Offsets = NDArray[np.int64]


def view_items(content: NDArray[np.uint8], width: int) -> Array:
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

    An item of 2**n to 2**(n+1) bytes takes two overlapping copies of 2**n bytes: one from its start
    and one up to its end.
    """
    if not len(lengths):
        return
    left, size = int(lengths.max()), 1
    while size <= left:
        fits = np.flatnonzero((lengths >= size) & (lengths < 2 * size))
        if len(fits):
            read, written = view_items(source, size), view_items(target, size)
            start, place, rest = starts[fits], places[fits], lengths[fits] - size
            written[place] = read[start]
            if rest.any():
                written[place + rest] = read[start + rest]
        size *= 2
