"""Arrays of bytes: laid side by side, viewed as a matrix of bytes.

An array of n items of w bytes is a column's part of n rows; an array of one item is the same in
every row. Laying them side by side is one strided copy each (about 0.5 ns an item), and one for all
that is the same in every row.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array


def literal(content: bytes) -> Array:
    """Return an array of one item, the content; it must not be empty."""
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
    """Return contiguous items as a matrix of bytes, a row each."""
    return items.view(np.uint8).reshape(len(items), items.dtype.itemsize)


def unpadded(items: Array) -> NDArray[np.bool_] | None:
    """Return which bytes of items are written, where NUL stands for padding; None: all of them."""
    letters = octets(items)
    return None if letters.min(initial=1) else letters != 0
