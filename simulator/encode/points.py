"""Blocks as points, because metrics databases store each field of a row separately.

A point has the field's value with the tags and the time of the row. A row becomes one point for
each field that is not NULL, one after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Rows
from simulator.data.digits import integers
from simulator.data.octets import find_unpadded, literal, octets, side_by_side
from simulator.data.schema import FLOATS, Column, Type
from simulator.encode.columns import LevelCache, fill
from simulator.encode.numbers import doubles
from simulator.encode.rows import Frame, finer, frame_payloads
from simulator.errors import UnstorableError

Written: TypeAlias = tuple[Array, Array | None]
"""Values as items of bytes, and a matrix with 1 for each byte to write.

The matrix is None if all bytes are to be written."""
Writer: TypeAlias = Callable[[Array], Written]


@dataclass(frozen=True, slots=True)
class PointPiece:
    """The place of a column's value in a point."""

    column: str
    write: Writer


@dataclass(frozen=True, slots=True)
class PointFormat:
    """The format of a field's points: literals alternate with pieces."""

    field: Column
    pieces: Sequence[bytes | PointPiece]


class Points:
    """Encodes blocks as points.

    Measured on one core (tests/perf/encode.py, four IoT columns, two points a row), in batches of
    1,000: 20 million rows/s as JSON for OpenTSDB; 2 million if each block needs new memory from the
    system; 12 to 23 million as lines for Graphite. Batches of one: 1 million.
    """

    def __init__(self, points: Sequence[PointFormat], payload: Frame) -> None:
        self._points = points
        self._payload = payload
        self._written: dict[PointPiece, FieldWriter] = {}

    def encode(
        self,
        block: Block,
        batch_rows: int,
        *,
        instead: Mapping[str, Array],
        limit_bytes: int | None = None,
        limit_rows: int | None = None,
    ) -> list[list[bytes]]:
        """Return the block as payloads of `batch_rows` rows each (the last may have fewer).

        Payloads are split into messages within `limit_bytes` and `limit_rows`. `instead` contains
        values that replace values of the block, such as times in another unit.
        """
        count = len(block)
        if not count:
            return []
        rows, kept = self.rows(block, instead)
        fitting = limit_rows or batch_rows
        if limit_bytes is not None:
            fitting = min(fitting, self.count_fitting(block.name, rows, limit_bytes))
        if fitting >= batch_rows:
            return [[whole] for whole in _cut(rows, kept, batch_rows, self._payload)]
        payloads = []
        for start in range(0, count, batch_rows):
            share = slice(start, start + batch_rows)
            share_kept = None if kept is None else kept[share]
            payloads.append(_cut(rows[share], share_kept, fitting, self._payload))
        return payloads

    def rows(
        self, block: Block, instead: Mapping[str, Array]
    ) -> tuple[Array, NDArray[np.bool_] | None]:
        """Return the points of each row, and a mask of the bytes to write (None: all bytes)."""
        known: dict[PointPiece, Written] = {}
        written = [self._write_point(point, block, instead, known) for point in self._points]
        rows, keep = _join(written, len(block))
        return rows, None if keep is None else keep.view(np.bool_)

    def count_fitting(self, name: str, rows: Array, limit_bytes: int) -> int:
        """Return the number of a table's rows that fit into a message; UnstorableError if none."""
        width = rows.dtype.itemsize
        found = (limit_bytes - len(self._payload.before) - len(self._payload.after)) // width
        if found < 1:
            raise UnstorableError(
                f"{name}: a row takes up to {width} bytes, and the server takes messages of "
                f"{limit_bytes}"
            )
        return found

    def _write_point(
        self,
        point: PointFormat,
        block: Block,
        instead: Mapping[str, Array],
        known: dict[PointPiece, Written],
    ) -> Written:
        """Return the points of one field; no byte of a NULL is written."""
        count = len(block)
        pieces: list[Written] = []
        for piece in point.pieces:
            if isinstance(piece, bytes):
                pieces.append((literal(piece), None))
                continue
            if piece not in known:
                known[piece] = self._write_piece(piece, block, instead)
            pieces.append(known[piece])
        rows, keep = _join(pieces, count)
        valid = block.data[point.field.name].valid
        if valid is not None and not valid.all():
            if keep is None:
                keep = np.ones((count, rows.dtype.itemsize), np.uint8)
            keep[~valid] = 0
        return rows, keep

    def _write_piece(
        self, piece: PointPiece, block: Block, instead: Mapping[str, Array]
    ) -> Written:
        if piece.column in instead:
            return piece.write(instead[piece.column])
        if piece not in self._written:
            self._written[piece] = FieldWriter(piece.write)
        return self._written[piece].write(block.data[piece.column])


class FieldWriter:
    """Writes the values of a column; each level is written only once."""

    def __init__(self, write: Writer) -> None:
        self._write, self._levels = write, LevelCache(write)

    def write(self, data: ColumnData) -> Written:
        """Return the written values; the bytes for a NULL are arbitrary."""
        if not isinstance(data, Coded):
            return self._write(fill(data))
        items, keep = self._levels(data.levels)
        return items.take(data.codes), None if keep is None else keep.take(data.codes, axis=0)


class MixedPoints:
    """Encodes blocks of several tables as payloads that contain points of all tables."""

    def __init__(self, tables: Sequence[Points], payload: Frame) -> None:
        """Store the encoder of each table, and the frame that all payloads have."""
        self._tables = tables
        self._payload = payload

    def encode(
        self,
        blocks: Sequence[Block],
        edges: Sequence[Rows],
        *,
        instead: Sequence[Mapping[str, Array]],
        limit_bytes: int | None = None,
        limit_rows: int | None = None,
    ) -> list[list[bytes]]:
        """Return payloads with the rows of each block between two of the block's edges.

        `Points.encode` describes the limits and `instead`.
        """
        fitting = limit_rows or sum(map(len, blocks))
        written = []
        for points, block, own in zip(self._tables, blocks, instead, strict=True):
            rows, kept = points.rows(block, own)
            written.append((rows, kept))
            if limit_bytes is not None:
                fitting = min(fitting, points.count_fitting(block.name, rows, limit_bytes))
        places, messages = finer(edges, fitting)
        shares = [_split(*each, own) for each, own in zip(written, places, strict=True)]
        bodies = (self._join_body(parts) for parts in zip(*shares, strict=True))
        return [list(islice(bodies, count)) for count in messages]

    def _join_body(self, parts: Sequence[memoryview]) -> bytes:
        filled = [part for part in parts if len(part)]
        filled[-1] = filled[-1][: len(filled[-1]) - len(self._payload.between)]
        return b"".join((self._payload.before, *filled, self._payload.after))


def _split(rows: Array, keep: NDArray[np.bool_] | None, edges: Rows) -> list[memoryview]:
    """Return the bytes to write between each two edges; the first edge is 0."""
    if keep is None:
        content, ends = rows.view(np.uint8).data, edges * rows.dtype.itemsize
    else:
        content = octets(rows)[keep].data
        counts = [int(np.count_nonzero(keep[a:b])) for a, b in pairwise(edges.tolist())]
        ends = np.array([0, *accumulate(counts)])
    return [content[start:end] for start, end in pairwise(ends.tolist())]


def _join(parts: Sequence[Written], count: int) -> Written:
    """Return items side by side, and the matrix of the bytes to write."""
    rows = side_by_side([array for array, _ in parts], count)
    if all(keep is None for _, keep in parts):
        return rows, None
    keeps = [
        literal(b"\1" * array.dtype.itemsize) if keep is None else _view_rows(keep)
        for array, keep in parts
    ]
    return rows, octets(side_by_side(keeps, count))


def _cut(rows: Array, keep: NDArray[np.bool_] | None, batch_rows: int, frame: Frame) -> list[bytes]:
    starts = range(0, len(rows), batch_rows)
    if keep is None:
        width = rows.dtype.itemsize
        sizes = [min(batch_rows, len(rows) - start) * width for start in starts]
        return frame_payloads(rows.view(np.uint8).data, [0, *accumulate(sizes)], frame)
    sizes = [int(np.count_nonzero(keep[start : start + batch_rows])) for start in starts]
    return frame_payloads(octets(rows)[keep].data, [0, *accumulate(sizes)], frame)


def _view_rows(keep: Array) -> Array:
    """Return a matrix of bytes as an array with one item for each row."""
    return np.ascontiguousarray(keep).view(f"V{keep.shape[1]}")[:, 0]


def as_text(kind: Type, after: bytes = b"") -> Writer:
    """Return a function that writes values of a type as text: digits, or 0 and 1 for booleans.

    `after` follows each value.
    """
    return partial(_write_text, kind, after)


def _write_text(kind: Type, after: bytes, values: Array) -> Written:
    """Return the texts of values as items of one width, padded with NUL."""
    if kind is Type.TEXT:
        arrays: list[Array] = [values.view(f"V{values.dtype.itemsize}")]
    elif kind is Type.BOOL:
        arrays = [np.array([b"0", b"1"]).take(values)]
    elif kind in FLOATS:
        arrays = [doubles(values)]
    else:
        arrays, _ = integers(values)
    items = side_by_side([*arrays, literal(after)] if after else arrays, len(values))
    written = find_unpadded(items)
    return items, None if written is None else written.view(np.uint8)
