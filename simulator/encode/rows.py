"""Rows as bytes: arrays laid side by side, cut into payloads, squeezed where widths differ.

An array of n items of w bytes is a column's share of n rows; an array of one item is the same in
every row. Laying them side by side is one strided copy each (about 0.5 ns an item), and one for all
that is the same in every row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.batch import Array


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before, between and after the elements of a sequence."""

    before: bytes
    between: bytes
    after: bytes


class Share(NamedTuple):
    """What a column, or a constant, has of every row; items are padded to the longest."""

    arrays: list[Array]
    used: NDArray[np.int64] | None
    """How many bytes of each item are written; None: all of them."""

    @property
    def width(self) -> int:
        """Bytes of an item, with the padding."""
        return sum(array.dtype.itemsize for array in self.arrays)


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


def kept(rows: Array, shares: Sequence[Share]) -> NDArray[np.bool_] | None:
    """Return which bytes of rows that end with these shares are written; None: all of them."""
    if all(share.used is None for share in shares):
        return None
    keep = np.ones((len(rows), rows.dtype.itemsize), np.bool_)
    start = rows.dtype.itemsize - sum(share.width for share in shares)
    for share in shares:
        stop = start + share.width
        if share.used is not None:
            np.less(np.arange(share.width), share.used[:, None], out=keep[:, start:stop])
        start = stop
    return keep


def cut(
    rows: Array, keep: NDArray[np.bool_] | None, rows_per_send: int, frame: Frame
) -> list[bytes]:
    """Return the rows as payloads of `rows_per_send` rows; every row ends with `frame.between`.

    `keep` has a cell for each byte and is false where it is padding. The block is squeezed once
    (0.8 ns a byte), then cut, so that small payloads cost a slice each and no NumPy call.
    """
    content, bounds = _squeezed(rows, keep, rows_per_send)
    before, after, dropped = frame.before, frame.after, len(frame.between)
    return [b"".join((before, content[start : end - dropped], after)) for start, end in bounds]


def windows(rows: Array, keep: NDArray[np.bool_] | None, rows_per_send: int) -> list[memoryview]:
    """Return the rows as payloads without a frame, which are not copied: parts of one buffer."""
    content, bounds = _squeezed(rows, keep, rows_per_send)
    return [content[start:end] for start, end in bounds]


def _squeezed(
    rows: Array, keep: NDArray[np.bool_] | None, rows_per_send: int
) -> tuple[memoryview, Iterable[tuple[int, int]]]:
    """Return what is written of all rows, and where each send of it starts and ends."""
    starts = range(0, len(rows), rows_per_send)
    if keep is None:
        width = rows.dtype.itemsize
        content = rows.view(np.uint8).data
        ends = [min(start + rows_per_send, len(rows)) * width for start in starts]
    else:
        content = octets(rows)[keep].data
        sizes = [np.count_nonzero(keep[start : start + rows_per_send]) for start in starts]
        ends = np.cumsum(sizes).tolist()
    return content, zip([0, *ends], ends, strict=False)
