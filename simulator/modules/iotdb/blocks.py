"""The blocks in which IoTDB sends answers (TsBlock), column by column, as rows of Python objects.

A block is the number of columns, their types, the number of rows, how each column is encoded, and
the columns, the time before the others; everything is big-endian.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

_BYTES, _INT32S, _INT64S, _TEXTS, _REPEATED = range(5)
_FLOATS = {3: ">f4", 4: ">f8"}
"""Type -> how NumPy reads it; the others are integers of their encoding's width."""
_INTEGERS = {_INT32S: ">i4", _INT64S: ">i8"}
_LENGTH = struct.Struct(">i")


def rows_of(block: bytes, places: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return a block's rows: of each, the columns at these places."""
    (count,) = _LENGTH.unpack_from(block)
    types = block[4 : 4 + count]
    (rows,) = _LENGTH.unpack_from(block, 4 + count)
    at = 8 + count
    encodings = block[at : at + 1 + count]
    at += 1 + count
    columns = []
    for kind, encoding in zip(b"\2" + types, encodings, strict=True):
        values, at = _column(block, at, kind, encoding, rows)
        columns.append(values)
    return list(zip(*(columns[1 + place] for place in places), strict=True))


def _column(block: bytes, at: int, kind: int, encoding: int, rows: int) -> tuple[list[Any], int]:
    """Return a column's values, None where NULL, and where the next column begins."""
    if encoding == _REPEATED:
        (value,), at = _column(block, at + 1, kind, block[at], 1)
        return [value] * rows, at
    has_nulls, at = block[at], at + 1
    nulls = None
    if has_nulls:
        nulls, at = _bits(block, at, rows)
    present = rows if nulls is None else rows - int(nulls.sum())
    values: list[Any]
    if encoding == _BYTES:  # of these alone NULLs have a place too
        bits, at = _bits(block, at, rows)
        values = (bits if nulls is None else bits[~nulls]).tolist()
    elif encoding == _TEXTS:
        values = []
        for _ in range(present):
            (length,) = _LENGTH.unpack_from(block, at)
            at += 4
            values.append(block[at : at + length].decode())
            at += length
    else:
        dtype = np.dtype(_FLOATS.get(kind, _INTEGERS[encoding]))
        values = np.frombuffer(block, dtype, present, at).tolist()
        at += present * dtype.itemsize
    if nulls is None:
        return values, at
    given = iter(values)
    return [None if null else next(given) for null in nulls.tolist()], at


def _bits(block: bytes, at: int, rows: int) -> tuple[Any, int]:
    size = (rows + 7) // 8
    packed = np.frombuffer(block, np.uint8, size, at)
    return np.unpackbits(packed, count=rows).view(np.bool_), at + size
