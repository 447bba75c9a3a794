"""Blocks as the tablets of Apache IoTDB's session protocol: columns of big-endian values.

https://iotdb.apache.org/UserGuide/latest-Table/API/Programming-Python-Native-API_apache.html: a
tablet consists of the times of the rows, then of their values, column by column. A text consists of
its length and its bytes. If there are NULLs, a flag and a bitmap for each column follow.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.octets import octets, side_by_side
from simulator.data.schema import Column, Role, Type
from simulator.encode.columns import LevelCache
from simulator.encode.pgcopy import text_share
from simulator.encode.rows import Share, cut, lay_out

_WIRE: dict[Type, np.dtype[Any]] = {
    Type.INT16: np.dtype(">i4"),
    Type.INT32: np.dtype(">i4"),
    Type.INT64: np.dtype(">i8"),
    Type.TIMESTAMP: np.dtype(">i8"),
    Type.FLOAT32: np.dtype(">f4"),
    Type.FLOAT64: np.dtype(">f8"),
    Type.BOOL: np.dtype(np.uint8),
}
_TIME = np.dtype(">i8")
_LENGTH_BYTES = 4

_Pieces: TypeAlias = Sequence[bytes | memoryview]
"""Parts of each tablet that belong to one column."""


class Tablet(NamedTuple):
    """The rows of one request."""

    rows: int
    times: bytes
    values: bytes


class Tablets:
    """Encodes blocks as tablets, sorted by device and time as in the vendor's clients.

    The server splits a tablet by device and by period of time, and is faster if there are fewer
    pieces. tests/perf/encode.py measures the speed of the encoder.
    """

    def __init__(self, columns: Sequence[Column], times: Callable[[Array], Array]) -> None:
        """Store the columns without the time, and the function that converts times for a server."""
        self._columns = [_TabletColumn(column) for column in columns]
        self._tags = [column.name for column in columns if column.role is Role.TAG]
        self._times = times

    def encode(self, block: Block, batch_rows: int) -> list[Tablet]:
        """Return the block as tablets of `batch_rows` rows each (the last may have fewer)."""
        if not len(block):
            return []
        times = self._times(block.data[block.table.time.name].values())
        order = _sort_rows([block.data[name] for name in self._tags], times, batch_rows)
        data = block.data
        if order is not None:
            times = times.take(order)
            data = {column.name: block.data[column.name].take(order) for column in self._columns}
        columns = [column.pieces(data[column.name], batch_rows) for column in self._columns]
        valid = [data[column.name].valid for column in self._columns]
        nulls = [None if v is None or v.all() else _make_bitmaps(~v, batch_rows) for v in valid]
        if any(bitmaps is not None for bitmaps in nulls):
            none = [b"\0"] * len(columns[0])
            columns += [none if bitmaps is None else bitmaps for bitmaps in nulls]
        instants = _slice(times.astype(_TIME), batch_rows)
        return [
            Tablet(len(own) // _TIME.itemsize, bytes(own), b"".join(parts))
            for own, *parts in zip(instants, *columns, strict=True)
        ]


class _TabletColumn:
    """One column of the tablets."""

    def __init__(self, column: Column) -> None:
        self.name = column.name
        self._is_text = column.type is Type.TEXT or column.role is Role.TAG
        self._pack = partial(_write_texts if self._is_text else _write_numbers, column.type)
        self._rendered = LevelCache(self._pack)

    def pieces(self, data: ColumnData, batch_rows: int) -> _Pieces:
        """Return the parts of tablets that belong to the column."""
        if isinstance(data, Coded):
            (levels,), lengths = self._rendered(data.levels)
            items = levels.take(data.codes)
            used = None if lengths is None else lengths.take(data.codes)
        else:
            (items,), used = self._pack(data.array)
        if self._is_text and data.valid is not None and not data.valid.all():
            octets(items)[~data.valid, :_LENGTH_BYTES] = 0
            width = items.dtype.itemsize if used is None else used
            used = np.where(data.valid, width, _LENGTH_BYTES)
        if used is None:
            return _slice(items, batch_rows)
        return cut(lay_out([Share([items], used)], len(data)), batch_rows)


def _write_texts(kind: Type, values: Array) -> Share:
    """Return texts, each after its length; an integer tag is written as text."""
    share = text_share(values if kind is Type.TEXT else values.astype(np.bytes_))
    return Share([side_by_side(share.arrays, len(values))], share.used)


def _write_numbers(kind: Type, values: Array) -> Share:
    return Share([values.astype(_WIRE[kind])], None)


def _slice(values: Array, batch_rows: int) -> _Pieces:
    content, step = values.view(np.uint8).data, batch_rows * values.dtype.itemsize
    return [content[start : start + step] for start in range(0, len(content), step)]


def _make_bitmaps(nulls: NDArray[np.bool_], batch_rows: int) -> list[bytes]:
    """Return a flag and the NULL bits of each tablet: one bit per row, the lowest bit first."""
    width = batch_rows // 8 + 1
    whole = len(nulls) // batch_rows
    bits = np.zeros((whole, 1 + width), np.uint8)
    bits[:, 0] = 1
    packed = np.packbits(
        nulls[: whole * batch_rows].reshape(whole, batch_rows), axis=1, bitorder="little"
    )
    bits[:, 1 : 1 + packed.shape[1]] = packed
    content = bits.tobytes()
    bitmaps = [content[start : start + 1 + width] for start in range(0, len(content), 1 + width)]
    rest = nulls[whole * batch_rows :]
    if len(rest):
        packed = np.packbits(rest, bitorder="little")
        bitmaps.append(b"\1" + packed.tobytes().ljust(len(rest) // 8 + 1, b"\0"))
    return bitmaps


def _sort_rows(
    tags: Sequence[ColumnData], times: Array, batch_rows: int
) -> NDArray[np.int64] | None:
    """Return the rows ordered by tablet, device and time; None if they are in this order."""
    codes = [_number_values(tag) for tag in tags]
    codes = [code for code in codes if code[0] != code[-1] or (code != code[0]).any()]
    if batch_rows == 1 or (not codes and (times[1:] >= times[:-1]).all()):
        return None
    sends = np.arange(len(times)) // batch_rows
    return np.lexsort((times, *codes, sends))


def _number_values(tag: ColumnData) -> NDArray[np.int64]:
    """Return a number for each row; numbers are equal if the tag's values are equal."""
    codes = tag.codes if isinstance(tag, Coded) else np.unique(tag.array, return_inverse=True)[1]
    return codes if tag.valid is None else np.where(tag.valid, codes, -1)
