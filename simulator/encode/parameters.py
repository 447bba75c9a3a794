"""Blocks as parameters of a prepared statement, in MySQL's binary protocol.

A row consists of a bit for each NULL, the types of the parameters, and the values that are not
NULL. Numbers are little-endian, texts follow their length, and instants are texts, which the server
parses. See dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from simulator.data.block import Array, Block, Texts
from simulator.data.octets import literal
from simulator.data.schema import Column, TimeUnit, Type
from simulator.encode.columns import ColumnEncoder, Columns
from simulator.encode.numbers import Iso, iso
from simulator.encode.rows import LaidOut, RowEncoder, Share, Spans, lay_out

_TEXT = 253
_TYPES = {
    Type.BOOL: 1,
    Type.INT16: 2,
    Type.INT32: 3,
    Type.INT64: 8,
    Type.FLOAT32: 4,
    Type.FLOAT64: 5,
    Type.TEXT: _TEXT,
    Type.TIMESTAMP: _TEXT,
}
_TYPES_FOLLOW = b"\x01"
_LENGTH = np.dtype("<u4")
_THREE_BYTES = 253
"""Byte that announces a length of three bytes."""
_INSTANTS = Iso(zone=b"")


class Parameters(RowEncoder):
    """Encodes each row of a block as an execution, without the statement's number."""

    def __init__(self, columns: Sequence[Column], time_unit: TimeUnit) -> None:
        self._names = [column.name for column in columns]
        types = b"".join(bytes((_TYPES[column.type], 0)) for column in columns)
        self._types = literal(_TYPES_FOLLOW + types)
        self._values = Columns(
            [ColumnEncoder(each.name, partial(_format, each, time_unit), b"") for each in columns]
        )

    def lay_out(self, block: Block) -> LaidOut:
        """Return an execution for each row."""
        head = Share([self._mark_nulls(block), self._types], None)
        return lay_out([head, *self._values.shares(block)], len(block))

    def _mark_nulls(self, block: Block) -> Array:
        """Return the NULL bits of each row, from the lowest bit of the first byte on."""
        width = -(-len(self._names) // 8)
        bits = np.zeros((len(block), width), np.uint8)
        for place, name in enumerate(self._names):
            valid = block.data[name].valid
            if valid is not None:
                bits[:, place // 8] |= (~valid).astype(np.uint8) << (place % 8)
        return bits.view(f"V{width}").ravel() if bits.any() else literal(bytes(width))


def _format(column: Column, unit: TimeUnit, values: Array | Texts) -> list[Share | Spans]:
    if isinstance(values, Texts):
        return [
            Share([_encode_lengths(values.lengths)], None),
            Spans(values.content, values.starts, values.lengths),
        ]
    if column.type is Type.TEXT:
        lengths = np.strings.str_len(values)
        fixed = lengths.min() == values.dtype.itemsize
        used = None if fixed else lengths + _LENGTH.itemsize
        return [Share([_encode_lengths(lengths), values], used)]
    if column.type is Type.TIMESTAMP:
        arrays = iso(values, unit, _INSTANTS)
        length = sum(array.dtype.itemsize for array in arrays)
        return [Share([_encode_lengths(np.array([length])), *arrays], None)]
    if column.type is Type.BOOL:
        return [Share([values.astype(np.uint8)], None)]
    return [Share([values.astype(values.dtype.newbyteorder("<"))], None)]


def _encode_lengths(lengths: Array) -> Array:
    """Return lengths, all in the form with three bytes."""
    return (lengths.astype(np.int64) << 8 | _THREE_BYTES).astype(_LENGTH)
