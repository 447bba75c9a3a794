"""Rows as bytes: split into payloads, without the padding of values that differ in width."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.octets import octets


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes before, between and after the elements of a sequence."""

    before: bytes
    between: bytes
    after: bytes


class Share(NamedTuple):
    """The bytes of a column, or of a constant, in every row; items are padded to the longest."""

    arrays: list[Array]
    used: NDArray[np.int64] | None
    """The number of bytes of each item that are written; None: all of them."""

    @property
    def width(self) -> int:
        """Bytes of an item, padding included."""
        return sum(array.dtype.itemsize for array in self.arrays)


def kept(rows: Array, shares: Sequence[Share]) -> NDArray[np.bool_] | None:
    """Return which bytes of rows that end with these shares to write; None: all of them."""
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
    rows: Array, keep: NDArray[np.bool_] | None, rows_per_batch: int, frame: Frame
) -> list[bytes]:
    """Return the rows as payloads of `rows_per_batch` rows; every row ends with `frame.between`.

    `keep` has an element for each byte, false for padding. Padding is removed from the whole block
    (0.8 ns/byte) before it is split, so that a small payload costs a slice and no NumPy call.
    """
    content, bounds = _squeezed(rows, keep, rows_per_batch)
    before, after, dropped = frame.before, frame.after, len(frame.between)
    return [b"".join((before, content[start : end - dropped], after)) for start, end in bounds]


def windows(rows: Array, keep: NDArray[np.bool_] | None, rows_per_batch: int) -> list[memoryview]:
    """Return the rows as payloads without a frame, as parts of one buffer, without a copy."""
    content, bounds = _squeezed(rows, keep, rows_per_batch)
    return [content[start:end] for start, end in bounds]


def _squeezed(
    rows: Array, keep: NDArray[np.bool_] | None, rows_per_batch: int
) -> tuple[memoryview, Iterable[tuple[int, int]]]:
    """Return the bytes of all rows without padding, and where each batch starts and ends."""
    starts = range(0, len(rows), rows_per_batch)
    if keep is None:
        width = rows.dtype.itemsize
        content = rows.view(np.uint8).data
        ends = [min(start + rows_per_batch, len(rows)) * width for start in starts]
    else:
        content = octets(rows)[keep].data
        sizes = [np.count_nonzero(keep[start : start + rows_per_batch]) for start in starts]
        ends = np.cumsum(sizes).tolist()
    return content, zip([0, *ends], ends, strict=False)
