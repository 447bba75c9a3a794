"""Values that differ, and that a database may store or return as one."""

from collections.abc import Iterable
from enum import StrEnum

from simulator.data.schema import FLOATS, Table


class Alike(StrEnum):
    """Two values of a column of floats."""

    ZEROS = "0.0 and -0.0"
    NULLS = "NULL and NaN"

    def concerns(self, tables: Iterable[Table]) -> bool:
        """Return whether a column of the tables can have both values."""
        floats = [c for table in tables for c in table.columns if c.type in FLOATS]
        return any(c.nullable or self is Alike.ZEROS for c in floats)
