"""Blocks as streams in PostgreSQL's binary COPY format.

https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format": a header, then for each row
the number of columns, and for each column its length and value, big-endian. A NULL is a length of
-1 without a value. A row without NULLs, and with texts of equal length, has a fixed width.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from simulator.data.block import Array, Block, Texts
from simulator.data.octets import literal
from simulator.data.schema import Column, TimeUnit, Type
from simulator.encode.columns import ColumnEncoder, Columns
from simulator.encode.numbers import microseconds
from simulator.encode.rows import Frame, LaidOut, RowEncoder, Share, Spans, lay_out

_LENGTH = np.dtype(">i4")


def prefix_columns(
    columns: Sequence[Column], instants: Callable[[Array], Array], null: int = -1
) -> Columns:
    """Return the writer of columns in which each value follows its length.

    `instants`: function that converts instants to the format on the wire; `null`: length of a NULL.
    """
    length = null.to_bytes(_LENGTH.itemsize, "big", signed=True)
    return Columns(
        [ColumnEncoder(each.name, partial(_format, each, instants), length) for each in columns]
    )


def _format(
    column: Column, instants: Callable[[Array], Array], values: Array | Texts
) -> list[Share | Spans]:
    if isinstance(values, Texts):
        lengths = Share([values.lengths.astype(_LENGTH)], None)
        return [lengths, Spans(values.content, values.starts, values.lengths)]
    if column.type is Type.TEXT:
        return [text_share(values)]
    if column.type is Type.TIMESTAMP:
        values = instants(values)
    length = np.array([values.dtype.itemsize], _LENGTH)
    return [Share([length, values.astype(values.dtype.newbyteorder(">"))], None)]


def text_share(values: Array) -> Share:
    """Return texts, each after its length."""
    lengths = np.strings.str_len(values)
    fixed = lengths.min() == values.dtype.itemsize
    return Share([lengths.astype(_LENGTH), values], None if fixed else lengths + _LENGTH.itemsize)


STREAM = Frame(
    before=b"PGCOPY\n\xff\r\n\0" + bytes(4) + bytes(4),  # no flags, no header extension
    between=b"",
    after=b"\xff\xff",
)
EMPTY = STREAM.before + STREAM.after
"""A stream without rows."""

_EPOCH_US = 946_684_800_000_000
"""Start of PostgreSQL's microseconds, 2000-01-01, in microseconds since 1970."""


class PgCopy(RowEncoder):
    """Encodes blocks for COPY ... FROM STDIN (FORMAT binary).

    Measured on one core (tests/perf/encode.py, four IoT columns): 84 million rows/s, 20 million if
    the memory of each block is newly allocated; 26 to 32 million with NULLs or texts of different
    lengths. Ten tags and ten fields: 4.5 to 8 million on a grid, 8 to 13 million with full doubles.
    """

    frame = STREAM

    def __init__(self, columns: Sequence[Column], time_unit: TimeUnit) -> None:
        self._count = literal(len(columns).to_bytes(2, "big"))
        self._values = prefix_columns(columns, partial(_convert_instants, time_unit))

    def lay_out(self, block: Block) -> LaidOut:
        """Return the rows, without the header of a stream."""
        return lay_out([Share([self._count], None), *self._values.shares(block)], len(block))


def _convert_instants(unit: TimeUnit, values: Array) -> Array:
    return microseconds(values, unit) - _EPOCH_US
