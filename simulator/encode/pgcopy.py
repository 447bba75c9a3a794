"""Batches as streams of PostgreSQL's binary COPY format.

https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format": a header, then for each
row the number of columns and for each column its length and value, big-endian; a NULL is a
length of -1 and no value. A row without NULL and with texts of equal length has a fixed width.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simulator.batch import Array, Batch, Coded, ColumnData
from simulator.encode.instants import microseconds
from simulator.encode.levels import Rendered
from simulator.encode.rows import Frame, Share, cut, kept, literal, octets, side_by_side
from simulator.schema import Column, TimeUnit, Type

_STREAM = Frame(
    before=b"PGCOPY\n\xff\r\n\0" + bytes(4) + bytes(4),  # no flags, no header extension
    between=b"",
    after=b"\xff\xff",
)
_EPOCH_US = 946_684_800_000_000
"""PostgreSQL counts from 2000-01-01, in microseconds."""
_LENGTH = np.dtype(">i4")


class PgCopy:
    """Encodes blocks for COPY ... FROM STDIN (FORMAT binary).

    Measured on one core (tests/perf/encode.py, four IoT columns): 84 million rows/s, 20 million
    where each block's memory comes fresh from the system; 13 to 23 million with NULLs or texts
    of different lengths.
    """

    def __init__(self, columns: Sequence[Column], time_unit: TimeUnit) -> None:
        self._count = literal(len(columns).to_bytes(2, "big"))
        self._columns = [
            (column, Rendered(partial(_packed, column, time_unit))) for column in columns
        ]
        self._time_unit = time_unit

    def encode(self, block: Batch, rows_per_send: int) -> list[bytes]:
        """Return the block as complete streams of `rows_per_send` rows. The last may have fewer."""
        if not len(block):
            return []
        fields = [
            self._field(column, levels, block.data[column.name]) for column, levels in self._columns
        ]
        arrays = [self._count, *(array for field in fields for array in field.arrays)]
        rows = side_by_side(arrays, len(block))
        return cut(rows, kept(rows, fields), rows_per_send, _STREAM)

    def _field(self, column: Column, levels: Rendered[Share], data: ColumnData) -> Share:
        if isinstance(data, Coded):
            (items,), used = levels(data.levels)
            field = Share([items.take(data.codes)], None if used is None else used.take(data.codes))
        else:
            field = _field(column, self._time_unit, data.array)
        if data.valid is None or data.valid.all():
            return field
        return _with_nulls(field, data.valid)


def _packed(column: Column, unit: TimeUnit, levels: Array) -> Share:
    field = _field(column, unit, levels)
    return field._replace(arrays=[side_by_side(field.arrays, len(levels))])


def _field(column: Column, unit: TimeUnit, values: Array) -> Share:
    if column.type is Type.TEXT:
        return _text(values)
    if column.type is Type.TIMESTAMP:
        values = microseconds(values, unit) - _EPOCH_US
    length = np.array([values.dtype.itemsize], _LENGTH)
    return Share([length, values.astype(values.dtype.newbyteorder(">"))], None)


def _text(values: Array) -> Share:
    lengths = np.strings.str_len(values)
    fixed = lengths.min() == values.dtype.itemsize
    return Share([lengths.astype(_LENGTH), values], None if fixed else lengths + _LENGTH.itemsize)


def _with_nulls(field: Share, valid: NDArray[np.bool_]) -> Share:
    items = side_by_side(field.arrays, len(valid))
    octets(items)[~valid, : _LENGTH.itemsize] = 0xFF  # a length of -1
    used = field.width if field.used is None else field.used
    return Share([items], np.where(valid, used, _LENGTH.itemsize))
