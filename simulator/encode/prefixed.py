"""Values in the form of PostgreSQL and Cassandra: a length of 4 bytes, then the value, big-endian.

A NULL is a negative length without a value. Integers, floats and booleans are big-endian, texts are
UTF-8; each wire format defines its instants.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.octets import octets, side_by_side
from simulator.data.schema import Column, Type
from simulator.encode.levels import Rendered
from simulator.encode.rows import Share

_LENGTH = np.dtype(">i4")


class Prefixed:
    """Encodes the columns of a block as their shares of the rows."""

    def __init__(
        self, columns: Sequence[Column], instants: Callable[[Array], Array], null: int = -1
    ) -> None:
        """Take a function from the table's instants to those of the wire, and a NULL's length."""
        self._instants = instants
        self._null = np.frombuffer(null.to_bytes(_LENGTH.itemsize, "big", signed=True), np.uint8)
        self._columns = [(column, Rendered(partial(self._packed, column))) for column in columns]

    def fields(self, block: Block) -> list[Share]:
        """Return the share of each column."""
        return [
            self._column(column, levels, block.data[column.name])
            for column, levels in self._columns
        ]

    def _column(self, column: Column, levels: Rendered[Share], data: ColumnData) -> Share:
        if isinstance(data, Coded):
            (items,), used = levels(data.levels)
            field = Share([items.take(data.codes)], None if used is None else used.take(data.codes))
        else:
            field = self._field(column, data.array)
        if data.valid is None or data.valid.all():
            return field
        return self._with_nulls(field, data.valid)

    def _packed(self, column: Column, levels: Array) -> Share:
        field = self._field(column, levels)
        return field._replace(arrays=[side_by_side(field.arrays, len(levels))])

    def _field(self, column: Column, values: Array) -> Share:
        if column.type is Type.TEXT:
            return text_share(values)
        if column.type is Type.TIMESTAMP:
            values = self._instants(values)
        length = np.array([values.dtype.itemsize], _LENGTH)
        return Share([length, values.astype(values.dtype.newbyteorder(">"))], None)

    def _with_nulls(self, field: Share, valid: NDArray[np.bool_]) -> Share:
        items = side_by_side(field.arrays, len(valid))
        octets(items)[~valid, : _LENGTH.itemsize] = self._null
        used = field.width if field.used is None else field.used
        return Share([items], np.where(valid, used, _LENGTH.itemsize))


def text_share(values: Array) -> Share:
    """Return texts, each after its length."""
    lengths = np.strings.str_len(values)
    fixed = lengths.min() == values.dtype.itemsize
    return Share([lengths.astype(_LENGTH), values], None if fixed else lengths + _LENGTH.itemsize)
