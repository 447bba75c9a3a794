"""Rows as bytes: the shares of their columns, laid out and split into payloads."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.octets import octets, side_by_side
from simulator.data.ragged import Offsets, copy, overlapping


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

    def size_bytes(self, rows: int) -> int:
        """Return how many bytes are written in all rows."""
        return rows * self.width if self.used is None else int(self.used.sum())

    def take(self, rows: NDArray[np.int64]) -> "Share":
        """Return the share of these rows, by their index; items that all rows share remain."""
        arrays = [array if len(array) == 1 else array.take(rows) for array in self.arrays]
        return Share(arrays, None if self.used is None else self.used.take(rows))

    @property
    def least(self) -> int:
        """Bytes of the shortest item."""
        return self.width if self.used is None else int(self.used.min())


class Rows(NamedTuple):
    """Rows one after the other, without padding."""

    content: NDArray[np.uint8]
    ends: Offsets | None
    """Where each row ends; None: all rows are equally long."""
    count: int

    def offsets(self, rows: NDArray[np.int64]) -> Offsets:
        """Return where these rows start; row `count` starts where the last one ends."""
        if self.ends is None:
            return rows * (len(self.content) // self.count)
        return np.where(rows == 0, 0, self.ends[rows - 1])

    def edges(self, rows_per_batch: int) -> list[int]:
        """Return where each batch starts, and where the last one ends."""
        starts = np.arange(0, self.count, rows_per_batch)
        return [*self.offsets(starts).tolist(), len(self.content)]


def laid_out(shares: Sequence[Share], count: int) -> Rows:
    """Return `count` rows made of these shares.

    Rows of one length take one strided copy per share. Otherwise each share is copied to its place
    in every row: 10 ns for a share whose items differ in length, and those of one length in between
    are copied with it.
    """
    if all(share.used is None for share in shares):
        items = side_by_side([array for share in shares for array in share.arrays], count)
        return Rows(items.view(np.uint8), None, count)
    pieces = _pieces(shares, count)
    lengths = sum(
        (piece.used for piece in pieces if piece.used is not None), start=np.zeros(count, np.int64)
    )
    lengths += sum(piece.width for piece in pieces if piece.used is None)
    ends = lengths.cumsum()
    total = int(ends[-1])
    content = np.empty(total + max(piece.width for piece in pieces), np.uint8)
    places = [ends - lengths]
    for piece in pieces[:-1]:
        places.append(places[-1] + (piece.width if piece.used is None else piece.used))
    _put(pieces, places, content)
    return Rows(content[:total], ends, count)


def packed(shares: Sequence[Share], count: int) -> Share:
    """Return the shares as one, which has a single array."""
    if len(shares) == 1 and len(shares[0].arrays) == 1:
        return shares[0]
    rows = laid_out(shares, count)
    if rows.ends is None:
        return Share([rows.content.view(f"V{len(rows.content) // count}")], None)
    starts = np.concatenate(([0], rows.ends[:-1]))
    lengths = rows.ends - starts
    width = int(lengths.max())
    content = np.concatenate((rows.content, np.zeros(width, np.uint8)))
    return Share([overlapping(content, width)[starts]], lengths)


def _pieces(shares: Sequence[Share], count: int) -> list[Share]:
    """Return shares of one array each: neighbours are joined where that keeps padding at the end.

    The widest share of one length stays alone: it overwrites the padding before it.
    """
    groups: list[list[Share]] = [[]]
    for share in shares:
        groups[-1].append(share)
        if share.used is not None:
            groups.append([])
    fixed = [sum(share.width for share in group if share.used is None) for group in groups]
    widest = fixed.index(max(fixed))
    pieces = []
    for place, group in enumerate(groups):
        if place == widest and len(group) > 1 and group[-1].used is not None:
            pieces += [_piece(group[:-1], count), _piece(group[-1:], count)]
        elif group:
            pieces.append(_piece(group, count))
    return pieces


def _piece(group: Sequence[Share], count: int) -> Share:
    if len(group) == 1 and len(group[0].arrays) == 1 and len(group[0].arrays[0]) == count:
        return group[0]
    items = side_by_side([array for share in group for array in share.arrays], count)
    used = group[-1].used
    if used is not None and len(group) > 1:
        used = used + (items.dtype.itemsize - group[-1].width)
    return Share([items], used)


def _put(pieces: Sequence[Share], places: Sequence[Offsets], content: NDArray[np.uint8]) -> None:
    """Copy the pieces to their places in such an order that each overwrites the padding before it.

    The order starts after the widest piece of one length and goes round, as the padding at the end
    of a row lies in the next one. Where the pieces that follow are too short, only the bytes
    that are used are copied.
    """
    last = max(range(len(pieces)), key=lambda p: pieces[p].width * (pieces[p].used is None))
    order = [*range(last + 1, len(pieces)), *range(last + 1)]
    room = 0
    rooms = []
    for place in reversed(order):
        rooms.append(room)
        room += pieces[place].least
    for place, room in zip(order, reversed(rooms), strict=True):
        piece = pieces[place]
        (items,) = piece.arrays
        width = piece.width
        if piece.used is None or width - piece.least <= room:
            overlapping(content, width)[places[place]] = items
        else:
            starts = np.arange(0, len(items) * width, width)
            copy(items.view(np.uint8), starts, piece.used, content, places[place])


def cut(rows: Rows, rows_per_batch: int, frame: Frame) -> list[bytes]:
    """Return the rows as payloads of `rows_per_batch` rows; every row ends with `frame.between`."""
    return framed(rows.content.data, rows.edges(rows_per_batch), frame)


def framed(content: memoryview, edges: Sequence[int], frame: Frame) -> list[bytes]:
    """Return what lies between the edges as payloads."""
    before, after, dropped = frame.before, frame.after, len(frame.between)
    return [
        b"".join((before, content[start : end - dropped], after)) for start, end in pairwise(edges)
    ]


def windows(rows: Rows, rows_per_batch: int) -> list[memoryview]:
    """Return the rows as payloads without a frame, as parts of one buffer, without a copy."""
    content = rows.content.data
    return [content[start:end] for start, end in pairwise(rows.edges(rows_per_batch))]
