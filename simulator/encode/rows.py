"""Rows as bytes: the shares of the columns are laid out and split into payloads."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Rows
from simulator.data.octets import Offsets, copy, side_by_side, view_items


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes before, between and after the elements of a sequence."""

    before: bytes
    between: bytes
    after: bytes


BARE = Frame(b"", b"", b"")


class Share(NamedTuple):
    """The bytes of a column or constant in every row; items are padded to the longest item."""

    arrays: list[Array]
    used: NDArray[np.int64] | None
    """Number of bytes to write of each item; None: all bytes."""

    @property
    def width(self) -> int:
        """Number of bytes of an item, including padding."""
        return sum(array.dtype.itemsize for array in self.arrays)

    def size_bytes(self, rows: int) -> int:
        """Return the number of bytes that are written for all rows."""
        return rows * self.width if self.used is None else int(self.used.sum())

    def take(self, rows: NDArray[np.int64]) -> "Share":
        """Return the share of the rows with these indices; an item that all rows share remains."""
        arrays = [array if len(array) == 1 else array.take(rows) for array in self.arrays]
        return Share(arrays, None if self.used is None else self.used.take(rows))

    @property
    def least(self) -> int:
        """Number of bytes of the shortest item."""
        return self.width if self.used is None else int(self.used.min())


class Spans(NamedTuple):
    """A share of items that lie in one buffer and vary in length."""

    content: NDArray[np.uint8]
    starts: Offsets
    used: NDArray[np.int64]

    @property
    def least(self) -> int:
        """Number of bytes of the shortest item."""
        return int(self.used.min())

    def size_bytes(self, _rows: int) -> int:
        """Return the number of bytes that are written for all rows."""
        return int(self.used.sum())

    def take(self, rows: NDArray[np.int64]) -> "Spans":
        """Return the share of the rows with these indices."""
        return Spans(self.content, self.starts.take(rows), self.used.take(rows))


AnyShare: TypeAlias = Share | Spans
"""The bytes of a column in every row."""


def blank(share: AnyShare, valid: NDArray[np.bool_]) -> AnyShare:
    """Return a share that has no bytes for values that are not valid."""
    if isinstance(share, Spans):
        return share._replace(used=np.where(valid, share.used, 0))
    return share._replace(
        used=np.where(valid, share.width if share.used is None else share.used, 0)
    )


class LaidOut(NamedTuple):
    """Rows one after the other, without padding."""

    content: NDArray[np.uint8]
    ends: Offsets | None
    """End of each row; None if all rows have the same length."""
    rows: int

    def offsets(self, rows: NDArray[np.int64]) -> Offsets:
        """Return the starts of rows; row `self.rows` would start at the end of the last row."""
        if self.ends is None:
            return rows * (len(self.content) // self.rows)
        return np.where(rows == 0, 0, self.ends[rows - 1])

    def edges(self, batch_rows: int) -> list[int]:
        """Return the start of each batch, and the end of the last batch."""
        starts = np.arange(0, self.rows, batch_rows)
        return [*self.offsets(starts).tolist(), len(self.content)]


def lay_out(shares: Sequence[AnyShare], count: int) -> LaidOut:
    """Return `count` rows that consist of these shares.

    If all rows have one length, each share needs a single strided copy. Otherwise each share is
    copied to its place in every row, which takes 10 ns for an item of a share with different
    lengths, including neighbouring shares of one length.
    """
    whole = [share for share in shares if isinstance(share, Share) and share.used is None]
    if len(whole) == len(shares):
        items = side_by_side([array for share in whole for array in share.arrays], count)
        return LaidOut(items.view(np.uint8), None, count)
    pieces = _join_neighbours(shares, count)
    lengths = np.full(count, sum(_find_constant_width(piece) for piece in pieces))
    for piece in pieces:
        if piece.used is not None:
            lengths += piece.used
    ends = lengths.cumsum()
    total = int(ends[-1])
    slack = max((piece.width for piece in pieces if isinstance(piece, Share)), default=0)
    content = np.empty(total + slack, np.uint8)
    places = [ends - lengths]
    for piece in pieces[:-1]:
        places.append(
            places[-1] + (_find_constant_width(piece) if piece.used is None else piece.used)
        )
    _put(pieces, places, content)
    return LaidOut(content[:total], ends, count)


def pack(shares: Sequence[Share], count: int) -> Share:
    """Return the shares as one share with one array.

    `used` is None if all items have the same length.
    """
    if len(shares) == 1 and _is_packed(shares[0], count):
        return shares[0]
    laid = lay_out(shares, count)
    if laid.ends is None:
        return Share([laid.content.view(f"V{len(laid.content) // count}")], None)
    starts = np.concatenate(([0], laid.ends[:-1]))
    lengths = laid.ends - starts
    width = max(int(lengths.max()), 1)
    content = np.concatenate((laid.content, np.zeros(width, np.uint8)))
    items = view_items(content, width)[starts]
    return Share([items], None if lengths.min() == width else lengths)


def _is_packed(share: Share, count: int) -> bool:
    if len(share.arrays) != 1 or len(share.arrays[0]) != count:
        return False
    return share.used is None or share.least < share.used.max()


def _find_constant_width(share: AnyShare) -> int:
    """Return the number of bytes of each item if all items have one length; otherwise 0."""
    return share.width if isinstance(share, Share) and share.used is None else 0


def _join_neighbours(shares: Sequence[AnyShare], count: int) -> list[AnyShare]:
    """Return shares with one array each; neighbours are joined if padding stays at the end.

    The widest run of one length remains separate, because it overwrites the padding before it.
    """
    groups: list[list[Share]] = [[]]
    ends: list[Spans | None] = []
    for share in shares:
        if isinstance(share, Share):
            groups[-1].append(share)
        if share.used is not None:
            ends.append(share if isinstance(share, Spans) else None)
            groups.append([])
    ends.append(None)
    fixed = [sum(map(_find_constant_width, group)) for group in groups]
    widest = fixed.index(max(fixed))
    pieces: list[AnyShare] = []
    for place, (group, end) in enumerate(zip(groups, ends, strict=True)):
        if place == widest and any(groups[1:]) and len(group) > 1 and group[-1].used is not None:
            pieces += [_join(group[:-1], count), _join(group[-1:], count)]
        elif group:
            pieces.append(_join(group, count))
        if end is not None:
            pieces.append(end)
    return pieces


def _join(group: Sequence[Share], count: int) -> Share:
    (first, *_), used = group[0]
    if len(group) == 1 and len(group[0].arrays) == 1 and len(first) == count:
        return Share([np.ascontiguousarray(first).view(f"V{first.dtype.itemsize}")], used)
    items = side_by_side([array for share in group for array in share.arrays], count)
    used = group[-1].used
    if used is not None and len(group) > 1:
        used = used + (items.dtype.itemsize - group[-1].width)
    return Share([items], used)


def _put(pieces: Sequence[AnyShare], places: Sequence[Offsets], content: NDArray[np.uint8]) -> None:
    """Copy the pieces to their places; each one overwrites the padding of the previous piece.

    The order starts after the widest piece of one length and wraps around, because the padding at
    the end of a row lies in the next row. If there is only one piece, it overwrites its own
    padding, row by row. If the pieces that follow are too short, only used bytes are copied.
    """
    fixed = [_find_constant_width(piece) for piece in pieces]
    last = fixed.index(max(fixed))
    room = 0
    rooms = []
    order = [*range(last + 1, len(pieces)), *range(last + 1)]
    for place in reversed(order):
        rooms.append(room)
        room += pieces[place].least
    for place, room in zip(order, reversed(rooms), strict=True):
        piece = pieces[place]
        if isinstance(piece, Spans):
            copy(piece.content, piece.starts, piece.used, content, places[place])
            continue
        (items,), used = piece
        width = items.dtype.itemsize
        if used is None or len(pieces) == 1 or width - piece.least <= room:
            view_items(content, width)[places[place]] = items
        else:
            starts = np.arange(0, len(items) * width, width)
            copy(items.view(np.uint8), starts, used, content, places[place])


def cut(rows: LaidOut, batch_rows: int, frame: Frame = BARE) -> list[bytes]:
    """Return the rows as payloads of `batch_rows` rows; each row must end with `frame.between`."""
    return frame_payloads(rows.content.data, rows.edges(batch_rows), frame)


def frame_payloads(content: memoryview, edges: Sequence[int], frame: Frame) -> list[bytes]:
    """Return the bytes between each two edges as a payload."""
    before, after, dropped = frame.before, frame.after, len(frame.between)
    return [
        b"".join((before, content[start : end - dropped], after)) for start, end in pairwise(edges)
    ]


class RowEncoder(ABC):
    """Encodes blocks row by row; a single buffer contains all rows of a block."""

    frame = BARE
    """Frame of each payload."""

    @abstractmethod
    def lay_out(self, block: Block) -> LaidOut:
        """Return the rows of a block, which must have at least one row."""

    def encode(self, block: Block, batch_rows: int) -> list[bytes]:
        """Return the block as payloads of `batch_rows` rows each (the last may have fewer)."""
        return cut(self.lay_out(block), batch_rows, self.frame) if len(block) else []

    def between(self, block: Block, edges: Rows) -> list[memoryview]:
        """Return the rows between each two edges as parts of one buffer, without a frame."""
        rows = self.lay_out(block)
        content = rows.content.data
        return [content[start:end] for start, end in pairwise(rows.offsets(edges).tolist())]


def finer(edges: Sequence[Rows], most_rows: int) -> tuple[list[Rows], list[int]]:
    """Split batches of several tables into messages of at most `most_rows` rows.

    For each table, return the start of the table's share of each message and the end of the last
    share. Also return the number of messages of each batch. The rows of a batch are in the order of
    the tables.
    """
    places = np.stack(edges)
    starts, counts = places[:, :-1], np.diff(places)
    messages = -(-counts.sum(axis=0) // most_rows)
    of_batch = np.repeat(np.arange(len(messages)), messages)
    number = np.arange(len(of_batch)) - (messages.cumsum() - messages)[of_batch]
    earlier = counts.cumsum(axis=0) - counts
    taken = number * most_rows - earlier[:, of_batch]
    found = starts[:, of_batch] + np.clip(taken, 0, counts[:, of_batch])
    return [*np.column_stack((found, places[:, -1]))], messages.tolist()
