"""DuckDB's SQL."""

from collections.abc import Mapping
from typing import ClassVar

from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql import language as sql

# Words that DuckDB 2.0 accepts as names only in quotes, unlike PostgreSQL and SQLite.
_RESERVED = frozenset(
    """
    anti asof at by columns describe generated glob lambda map pivot pivot_longer pivot_wider
    positional qualify semi show struct summarize try_cast tuple unpack unpivot
    """.split()
)

_INFINITE = 2**63 - 1
"""The number for infinity; stored times are never that late."""


class DuckDbDialect(sql.Dialect):
    """DuckDB's types; integers are summed in 128 bits, and texts compared by bytes."""

    reserved: ClassVar[frozenset[str]] = sql.RESERVED | _RESERVED
    finest: TimeUnit | None = TimeUnit.MICROSECOND
    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "SMALLINT",
        Type.INT32: "INTEGER",
        Type.INT64: "BIGINT",
        Type.FLOAT32: "FLOAT",
        Type.FLOAT64: "DOUBLE",
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "VARCHAR",
        Type.TIMESTAMP: "TIMESTAMP",
    }
    ids: ClassVar[Mapping[PrimaryKey, str]] = {
        PrimaryKey.UUID: "id UUID DEFAULT uuid() PRIMARY KEY"
    }

    def __init__(self, unit: TimeUnit) -> None:
        """Store the table's time unit."""
        self.unit = unit
        self.ticks_per_unit = 1 if unit is TimeUnit.NANOSECOND else 10**6 // unit.per_second

    def sequence(self, name: str) -> str:
        """Return the name of the sequence for a table's primary key."""
        return self.name(f"{name}_id")

    def key(self, table: Table, name: str) -> tuple[str | None, str | None]:
        if table.primary_key is PrimaryKey.DB:
            sequence = self.text(self.sequence(name))
            return f"id BIGINT DEFAULT nextval({sequence}) PRIMARY KEY", None
        return super().key(table, name)

    def instant(self, value: int, unit: TimeUnit) -> str:
        return f"make_timestamp({value * 10**6 // unit.per_second})"

    def read(self, column: Column, expression: str = "") -> str:
        read = super().read(column, expression)
        if column.type is not Type.TIMESTAMP:
            return read
        number = _render_epoch("us", column, read)
        return f"{number}{f' // {self.ticks_per_unit}' if self.in_units else ''}"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        function = "arg_max" if last else "arg_min"  # both ignore NULLs
        return f"{function}({self.name(column.name)}, {time})"

    def number(self, column: Column, unit: TimeUnit) -> str:
        if column.type is not Type.TIMESTAMP:
            return super().number(column, unit)
        if unit is self.finest:
            return f"epoch_{unit}({self.name(column.name)})"
        return self.of_units().read(column)

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        return sql_hashes.duckdb(self, table, rows)


class NanosecondDialect(DuckDbDialect):
    """DuckDB's SQL for tables with times in nanoseconds, which have a type for them."""

    finest: TimeUnit | None = TimeUnit.NANOSECOND
    types: ClassVar[Mapping[Type, str]] = {**DuckDbDialect.types, Type.TIMESTAMP: "TIMESTAMP_NS"}

    def instant(self, value: int, unit: TimeUnit) -> str:
        return f"make_timestamp_ns({value})"

    def read(self, column: Column, expression: str = "") -> str:
        read = expression or self.name(column.name)
        return _render_epoch("ns", column, read) if column.type is Type.TIMESTAMP else read


def _render_epoch(unit: str, column: Column, read: str) -> str:
    """Return the number of a time; infinity, for which DuckDB returns NULL, has a number, too."""
    number = f"epoch_{unit}({read})"
    if not column.nullable:
        return number
    return f"coalesce({number}, CASE WHEN isinf({read}) THEN {_INFINITE} END)"


def dialect_of(table: Table) -> DuckDbDialect:
    """Return the dialect for the table's time unit."""
    is_finest = table.time_unit is TimeUnit.NANOSECOND
    return (NanosecondDialect if is_finest else DuckDbDialect)(table.time_unit)
