"""Values in the form of PostgreSQL and Cassandra: a length of 4 bytes, then the value, big-endian.

A NULL is a negative length without a value. Integers, floats and booleans are big-endian, texts are
UTF-8; each wire format defines its instants.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from simulator.data.block import Array, Texts
from simulator.data.schema import Column, Type
from simulator.encode.columns import ColumnEncoder, Columns
from simulator.encode.rows import Share, Spans

_LENGTH = np.dtype(">i4")


class Prefixed(Columns):
    """Encodes the columns of a block as their shares of the rows."""

    def __init__(
        self, columns: Sequence[Column], instants: Callable[[Array], Array], null: int = -1
    ) -> None:
        """Store a function from the table's instants to the wire's, and a NULL's length."""
        length = null.to_bytes(_LENGTH.itemsize, "big", signed=True)
        super().__init__(
            [
                ColumnEncoder(column.name, partial(_format, column, instants), length)
                for column in columns
            ]
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
