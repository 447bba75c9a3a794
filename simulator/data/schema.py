"""Tables and columns as every workload declares them and every module understands them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np


class Type(StrEnum):
    """A column's type; `dtype_of` gives the NumPy type that carries it in a block."""

    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOL = "bool"
    TEXT = "text"
    """UTF-8 without NUL; in a block an 'S' array, whose items end at their last non-NUL byte."""
    TIMESTAMP = "timestamp"
    """An instant in UTC: int64 in the table's time_unit since 1970-01-01T00:00Z."""


INTEGERS = frozenset({Type.INT16, Type.INT32, Type.INT64})
FLOATS = frozenset({Type.FLOAT32, Type.FLOAT64})

FLOAT64_EXACT = 2**53
"""Doubles hold every integer up to this."""

_DTYPES: dict[Type, np.dtype[np.generic]] = {
    Type.INT16: np.dtype(np.int16),
    Type.INT32: np.dtype(np.int32),
    Type.INT64: np.dtype(np.int64),
    Type.FLOAT32: np.dtype(np.float32),
    Type.FLOAT64: np.dtype(np.float64),
    Type.BOOL: np.dtype(np.bool_),
    Type.TEXT: np.dtype(np.bytes_),
    Type.TIMESTAMP: np.dtype(np.int64),
}


def dtype_of(column_type: Type) -> np.dtype[np.generic]:
    """Return the NumPy type of a column's array; for text an 'S' of any width."""
    return _DTYPES[column_type]


class Role(StrEnum):
    """What a column is for."""

    TIME = "time"
    TAG = "tag"
    FIELD = "field"
    KEY = "key"


class TimeUnit(StrEnum):
    """The unit in which a table counts time."""

    SECOND = "s"
    MILLISECOND = "ms"
    MICROSECOND = "us"
    NANOSECOND = "ns"

    @property
    def per_second(self) -> int:
        """How many of this unit make a second."""
        return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[self.value]


class PrimaryKey(StrEnum):
    """Who makes a row's primary key (`--primary-key`)."""

    DB = "db"
    """The database counts, in its oldest way (SERIAL)."""
    SQL = "sql"
    """GENERATED ALWAYS AS IDENTITY, the sequence cached as many rows as a batch has."""
    CLIENT = "client"
    """The worker concatenates the columns of the table's natural key."""
    UUID = "uuid"
    """The database draws a random UUID."""
    NONE = "none"
    """There is no primary key and no id column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, type and role."""

    name: str
    type: Type
    role: Role
    nullable: bool = False
    exact: bool = True
    """Sums do not depend on order: integers, or floats on a grid a power of two fine."""


ID = Column("id", Type.TEXT, Role.KEY)
"""The column that `PrimaryKey.CLIENT` adds in front of a table's own."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the workload means it, and the physical tables that hold its rows."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The natural key: no two rows agree in all these columns. Empty if there is none."""
    time_unit: TimeUnit = TimeUnit.MILLISECOND
    primary_key: PrimaryKey = PrimaryKey.NONE
    parts: int = 1
    """How many physical tables the rows are dealt to (`--tables multiple` makes it 4)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the physical tables, one for each part."""
        if self.parts == 1:
            return (self.name,)
        return tuple(f"{self.name}{part}" for part in range(self.parts))

    def column(self, name: str) -> Column:
        """Return the column of that name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def with_role(self, role: Role) -> tuple[Column, ...]:
        """Return the columns of one role, in table order."""
        return tuple(column for column in self.columns if column.role is role)

    @property
    def time(self) -> Column:
        """The column that holds the row's instant."""
        (column,) = self.with_role(Role.TIME)
        return column

    @property
    def tags(self) -> tuple[Column, ...]:
        """The columns that say which series a row belongs to."""
        return self.with_role(Role.TAG)

    @property
    def fields(self) -> tuple[Column, ...]:
        """The measured columns."""
        return self.with_role(Role.FIELD)

    def stored(self, primary_key: PrimaryKey, parts: int) -> "Table":
        """Return the table as it is stored: with its primary key and physical parts.

        A client-made key is a column that the client sends; the keys that the database makes are
        the module's business and no column of a block.
        """
        columns = (ID, *self.columns) if primary_key is PrimaryKey.CLIENT else self.columns
        return replace(self, columns=columns, primary_key=primary_key, parts=parts)


def names_of(tables: Iterable[Table]) -> list[str]:
    """Return the names of the physical tables."""
    return [name for table in tables for name in table.names]


def former_names(tables: Iterable[Table]) -> list[str]:
    """Return every physical name that these tables may have had, in one part or in several."""
    names = [
        name
        for table in tables
        for name in (table.name, *table.names, *(f"{table.name}{part}" for part in range(4)))
    ]
    return list(dict.fromkeys(names))
