"""Tables and columns, as workloads declare them and modules store them."""

import hashlib
from collections.abc import Collection, Iterable
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
    """UTF-8 without NUL; in a block, items of an 'S' array end at their last non-NUL byte."""
    TIMESTAMP = "timestamp"
    """An instant in UTC: int64 in the table's time_unit since 1970-01-01T00:00Z."""


INTEGERS = frozenset({Type.INT16, Type.INT32, Type.INT64})
FLOATS = frozenset({Type.FLOAT32, Type.FLOAT64})

FLOAT64_EXACT = 2**53
"""Integer up to which doubles hold all integers."""

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
    """Return the NumPy type of a column's array; for text, 'S' of any width."""
    return _DTYPES[column_type]


class Role(StrEnum):
    """The purpose of a column."""

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
        """Number of units in a second."""
        return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[self.value]


class PrimaryKey(StrEnum):
    """The source of the primary key (`--primary-key`)."""

    DB = "db"
    """The database generates the key as a counter (SERIAL)."""
    SQL = "sql"
    """The database generates the key as identity; the sequence caches one batch of numbers."""
    CLIENT = "client"
    """The worker concatenates the columns of the natural key."""
    UUID = "uuid"
    """The database generates the key as a random UUID."""
    NONE = "none"
    """There is no primary key and no ID column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, type and role."""

    name: str
    type: Type
    role: Role
    nullable: bool = False
    exact: bool = True
    """True if sums do not depend on order: integers, and floats on a grid of a power of two."""
    max_characters: int | None = None
    """Maximum number of characters in a text; None: unknown."""
    rounded: bool = False
    """True if databases may differ in the last digits, as in means.

    Conditions may use such a column; answers do not contain it.
    """


_INDEX_NAME_BYTES = 63
"""Maximum number of bytes in an index name: the limit of PostgreSQL is the lowest."""
ID = Column("id", Type.TEXT, Role.KEY)
"""The column that `PrimaryKey.CLIENT` adds in front of the other columns."""


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index; it is created if the target's option `create_indices` is set."""

    name: str
    """Name that is unique in the table; `index_name` returns the name in the database."""
    columns: tuple[str, ...]


def usual_indices(columns: Iterable[Column]) -> tuple[Index, ...]:
    """Return the indices of the reference document: on series and time, and on the first field."""
    by_role: dict[Role, list[str]] = {role: [] for role in Role}
    for column in columns:
        by_role[column.role].append(column.name)
    first_field = by_role[Role.FIELD][:1]
    series = Index("series", (*by_role[Role.TAG], *by_role[Role.TIME], *first_field))
    return (series, Index("field", tuple(first_field))) if first_field else (series,)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the workload, and the physical tables that hold its rows."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The natural key: no two rows are equal in all these columns. Empty if there is none."""
    time_unit: TimeUnit = TimeUnit.MILLISECOND
    primary_key: PrimaryKey = PrimaryKey.NONE
    parts: int = 1
    """Number of physical tables across which the rows are spread (4: `--tables multiple`)."""
    indices: tuple[Index, ...] = ()
    queried_tags: tuple[str, ...] = ()
    """Tags by which the workload's queries select and group rows; empty: any tags."""
    group: str = ""
    """Group of tables that a payload may mix; empty: the table is written alone."""
    distinct_times: bool = False
    """True if no two rows have the same time, whatever their tags."""
    prefix: str = ""
    """Prefix of the names of table and group (`--table-prefix`)."""
    signed: bool = False
    """True if the database records that this program created the table."""

    @property
    def base(self) -> str:
        """Name of the table in the workload."""
        return self.name.removeprefix(self.prefix)

    @property
    def container(self) -> str:
        """Name of the bucket or database: the group's if there is one, else the table's."""
        return self.group or self.name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the physical tables, one for each part."""
        if self.parts == 1:
            return (self.name,)
        return tuple(f"{self.name}{part}" for part in range(self.parts))

    def column(self, name: str) -> Column:
        """Return the column with this name; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def find_unused(self, name: str) -> str:
        """Return the name, with underscores if a column has it.

        A user's file may use any name for a column.
        """
        return choose_name(name, {column.name for column in self.columns})

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
        """The columns that identify the series of a row."""
        return self.with_role(Role.TAG)

    @property
    def fields(self) -> tuple[Column, ...]:
        """The measured columns."""
        return self.with_role(Role.FIELD)

    def only(self, names: Collection[str]) -> "Table":
        """Return the table with only the time and these columns."""
        columns = (c for c in self.columns if c.name in names or c.role is Role.TIME)
        return replace(self, columns=tuple(columns))

    def stored(self, primary_key: PrimaryKey, parts: int, prefix: str = "") -> "Table":
        """Return the stored table, with its primary key, physical parts and prefix.

        Only a key that the client generates is a column of blocks; the module declares any other
        key when it creates the table.
        """
        return replace(
            self,
            name=prefix + self.name,
            columns=(ID, *self.columns) if primary_key is PrimaryKey.CLIENT else self.columns,
            primary_key=primary_key,
            parts=parts,
            group=prefix + self.group if self.group else "",
            prefix=prefix,
        )


def index_name(physical_name: str, index: Index) -> str:
    """Return the name of the index of a physical table.

    A long name ends with a digest, because PostgreSQL truncates long names, and truncated names
    could be equal.
    """
    name = f"{physical_name}_{index.name}_index"
    if len(name.encode()) <= _INDEX_NAME_BYTES:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name.encode()[: _INDEX_NAME_BYTES - 9].decode(errors='ignore')}_{digest}"


def choose_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with underscores added until it is not among the taken ones."""
    while name in taken:
        name += "_"
    return name


def names_of(tables: Iterable[Table]) -> list[str]:
    """Return the names of the physical tables."""
    return [name for table in tables for name in table.names]
