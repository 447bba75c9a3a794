"""Instants in the table's unit and in the server's, whose precision is one for all its tables."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Array
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.errors import UnstorableError


@dataclass(frozen=True, slots=True)
class Clock:
    """Converts between a table's unit and the server's, without loss."""

    unit: TimeUnit
    precision: TimeUnit

    @property
    def finer(self) -> int:
        """How many of the server's units make one of the table's; 1 if the server's is coarser."""
        return max(self.precision.per_second // self.unit.per_second, 1)

    @property
    def coarser(self) -> int:
        """How many of the table's units make one of the server's; 1 if the server's is finer."""
        return max(self.unit.per_second // self.precision.per_second, 1)

    def storing(self, column: Column) -> Callable[[Array], Array]:
        """Return what makes times those of the server; it raises UnstorableError."""

        def stored(times: Array) -> Array:
            if self.coarser > 1:
                whole = times // self.coarser
                odd = times[whole * self.coarser != times]
                if len(odd):
                    raise UnstorableError(
                        f"column {column.name}: {odd[0]} {self.unit} is finer than the server's "
                        f"timestamp_precision={self.precision}; use times that are whole "
                        f"{self.precision} (--tick-ms), or a server with "
                        f"timestamp_precision={self.unit}"
                    )
                return whole
            if self.finer > 1:
                most = np.iinfo(np.int64).max // self.finer
                odd = times[(times > most) | (times < -most)]
                if len(odd):
                    raise UnstorableError(
                        f"column {column.name}: {odd[0]} {self.unit} is beyond the 64 bits in "
                        f"which the server counts {self.precision}"
                    )
                return times * self.finer
            return times

        return stored

    def read(self, time: int | None) -> int | None:
        """Return a time of the server in the table's unit."""
        return None if time is None else time * self.coarser // self.finer

    def bound(self, limit: int) -> int:
        """Return the server's first time that is not before a limit in the table's unit."""
        return -(-limit * self.finer // self.coarser)


def type_of(column: Column, unit: TimeUnit, precision: TimeUnit) -> str:
    """Return the type that holds a column's values exactly.

    A tag is always a text. An instant among the fields is a TIMESTAMP if the server counts in the
    table's unit, else a number in the table's unit.
    """
    if column.role is Role.TAG:
        return "STRING"
    if column.type is Type.TIMESTAMP:
        return "TIMESTAMP" if unit == precision else "INT64"
    return _TYPES[column.type]


_TYPES = {
    Type.INT16: "INT32",
    Type.INT32: "INT32",
    Type.INT64: "INT64",
    Type.FLOAT32: "FLOAT",
    Type.FLOAT64: "DOUBLE",
    Type.BOOL: "BOOLEAN",
    Type.TEXT: "STRING",
}
TYPE_CODES = {
    "BOOLEAN": 0, "INT32": 1, "INT64": 2, "FLOAT": 3, "DOUBLE": 4, "TIMESTAMP": 8, "STRING": 11,
}  # fmt: skip
"""A type's name -> its number in a tablet."""


def sent(table: Table) -> tuple[Column, ...]:
    """Return the columns of a tablet: the tags, then all others but the time."""
    others = (c for c in table.columns if c.role not in (Role.TAG, Role.TIME))
    return (*table.tags, *others)
