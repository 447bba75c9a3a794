"""QuestDB's types, SQL and line protocol.

A value of each type means NULL, such as the least INT and NaN. SHORT and BOOLEAN have no value for
NULL, so nullable columns of these types are INT.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import ClassVar

import numpy as np

from simulator.data.block import Array, ColumnData
from simulator.data.derived import with_innermost
from simulator.data.query import Aggregate, Query, Statement, outputs
from simulator.data.schema import FLOATS, Column, Role, Table, TimeUnit, Type
from simulator.encode.lineprotocol import PLAIN, Check, LineDialect, none_is
from simulator.encode.text import ValueStyle
from simulator.errors import UnstorableError
from simulator.modules.shared import names
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.database import table_statement
from simulator.modules.shared.sql.preaggregated import combine, definition, derive_aggregates

_FORBIDDEN = re.compile(r"[?,'\"\\/:()+*%~\x00-\x1f\x7f\ufeff]")
_FORBIDDEN_IN_COLUMNS = re.compile(rf"{_FORBIDDEN.pattern}|[.-]")
_LAST = {
    TimeUnit.MICROSECOND: 253_402_300_799_999_999,
    TimeUnit.NANOSECOND: 9_214_646_400 * 10**9 - 1,
}
"""The last time that a row may have: in the year 9999; in nanoseconds, in 2261."""


def adapt(table: Table) -> Table:
    """Return the table as QuestDB stores it, with an instant as time."""
    columns = tuple(
        replace(c, type=Type.TIMESTAMP) if c.role is Role.TIME else c for c in table.columns
    )
    return replace(table, columns=columns)


def unit_of(table: Table) -> TimeUnit:
    """Return the unit of the type of the table's instants."""
    is_fine = table.time_unit is TimeUnit.NANOSECOND
    return TimeUnit.NANOSECOND if is_fine else TimeUnit.MICROSECOND


def _scale(table: Table) -> int:
    """Return the number of QuestDB's ticks in one unit of the table."""
    return unit_of(table).per_second // table.time_unit.per_second


def is_integer(column: Column) -> bool:
    """Return whether the column is an INT because its own type has no NULL."""
    return column.nullable and column.type in (Type.BOOL, Type.INT16)


_SPANS = {"HOUR": "h", "DAY": "D", "MONTH": "M", "YEAR": "Y"}
_WEEK_DAYS, _MONDAY = 7, 3
"""1970 began on a Thursday, three days after Monday."""


def partition_start_ms(time_ms: int, span: str) -> int:
    """Return the start of the partition that contains a time, in ms since 1970."""
    if span == "WEEK":
        days = time_ms // 86_400_000
        return (days - (days + _MONDAY) % _WEEK_DAYS) * 86_400_000
    start = np.datetime64(time_ms, "ms").astype(f"datetime64[{_SPANS[span]}]")
    return int(start.astype("datetime64[ms]").astype(np.int64))


class QuestSql(sql.Dialect):
    """QuestDB's SQL for one table."""

    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "SHORT",
        Type.INT32: "INT",
        Type.INT64: "LONG",
        Type.FLOAT32: "FLOAT",
        Type.FLOAT64: "DOUBLE",
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "VARCHAR",
    }

    def __init__(self, table: Table) -> None:
        self._table = adapt(table)
        self.ticks_per_unit = _scale(table)
        self.finest: TimeUnit = unit_of(table)
        self._instant = "TIMESTAMP_NS" if self.finest is TimeUnit.NANOSECOND else "TIMESTAMP"

    def name(self, identifier: str) -> str:
        return sql.quote(identifier)

    def instant(self, value: int, unit: TimeUnit) -> str:
        return f"CAST({value * self.ticks_per_unit} AS {self._instant})"

    def number(self, column: Column, unit: TimeUnit) -> str:
        if column.type is Type.TIMESTAMP and unit is self.finest:
            return f"CAST({self.name(column.name)} AS LONG)"
        if column.type is Type.TIMESTAMP:
            return self.of_units().read(column)
        if column.type is Type.BOOL:
            name = self.name(column.name)
            return name if is_integer(column) else f"CAST({name} AS INT)"
        return super().number(column, unit)

    def type_of(self, column: Column) -> str:
        if column.type is Type.TIMESTAMP:
            return self._instant
        if column.type is Type.TEXT and column.role is Role.TAG:
            return "SYMBOL"
        return "INT" if is_integer(column) else super().type_of(column)

    def read(self, column: Column, expression: str = "") -> str:
        found = super().read(column, expression)
        if column.type is not Type.TIMESTAMP:
            return found
        ticks, per_unit = f"CAST({found} AS LONG)", self.ticks_per_unit
        return f"({ticks} / {per_unit})" if self.in_units and per_unit > 1 else ticks

    def total(self, column: Column, unit: TimeUnit) -> str:
        # A sum of LONG overflows without an error. A sum of INT can be wrong if several threads
        # share the work, because 9.3.4 adds their sums in 32 bits.
        number = self.number(column, unit)
        if column.type in FLOATS:
            return f"sum({number})"
        wide = "LONG" if column.type in (Type.INT16, Type.INT32, Type.BOOL) else "DECIMAL(19, 0)"
        return f"sum(CAST({number} AS {wide}))"

    def total_of_times(self, column: Column, unit: TimeUnit) -> str:
        fraction = f"{1 / Decimal(self.ticks_per_unit):f}m"
        return f"sum(CAST({self.number(column, self.finest)} AS DECIMAL(19, 0)) * {fraction})"

    def count_values(self, column: Column) -> str:
        # count() refuses BOOLEAN.
        always = column.type is Type.BOOL and not is_integer(column)
        return "count(*)" if always else super().count_values(column)

    def order_by_bytes(self, column: Column) -> str:
        # Symbols do not sort by bytes.
        name = self.name(column.name)
        return f"CAST({name} AS VARCHAR)" if column.role is Role.TAG else name

    def operand(self, column: Column, value: float) -> str:
        # Filters of 9.3.4 compare the least SHORT wrongly.
        is_least = column.type is Type.INT16 and value == np.iinfo(np.int16).min
        return f"CAST({self.name(column.name)} AS INT)" if is_least else self.name(column.name)

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        kind = "_not_null" if column.nullable else ""
        return f"{'last' if last else 'first'}{kind}({self.name(column.name)})"

    def chronological(self, rows: str, table: Table) -> str:
        # Each part is in the order of time, but their union is not.
        if table.parts == 1:
            return rows
        return f"(SELECT * FROM {rows} ORDER BY {self.name(table.time.name)})"

    def declare(self) -> dict[str, str]:
        """Return the columns of the table and their types, with the marker for lines."""
        marker = LINES.marker(self._table)
        columns = {column.name: self.type_of(column) for column in self._table.columns}
        return columns | ({marker: "BOOLEAN"} if marker else {})

    def create_table(self, name: str, partition_by: str, *, dedup: bool) -> str:
        """Return the statement that creates one physical table."""
        table, marker = self._table, LINES.marker(self._table)
        more = f"{self.name(marker)} BOOLEAN" if marker else None
        time = self.name(table.time.name)
        made = table_statement(self, table, name, None, more)
        made += f" TIMESTAMP({time}) PARTITION BY {partition_by} WAL"
        if not dedup:
            return made
        keys = [self.name(key) for key in table.key if key != table.time.name]
        return f"{made} DEDUP UPSERT KEYS({', '.join((time, *keys))})"

    def create_view(self, name: str, interval_s: int, partition_by: str) -> str:
        """Return the statement that creates the aggregates of one physical table."""
        of_table = derive_aggregates(self._table, interval_s)
        view = self.name(of_table.names[self._table.names.index(name)])
        kept = definition(
            self, self._table, name, self.name(self._table.time.name),
            f"SAMPLE BY {interval_s}s ALIGN TO CALENDAR",
        )  # fmt: skip
        return (
            f"CREATE MATERIALIZED VIEW {view} WITH BASE {self.name(name)} REFRESH IMMEDIATE "
            f"AS ({kept}) PARTITION BY {partition_by}"
        )

    def render(self, query: Query) -> Statement:
        """Return a query as SQL."""
        statement = queries.render(
            self, with_innermost(query, lambda each: replace(each, table=self._table))
        )
        typed = zip(outputs(query), statement.outputs, strict=True)
        return replace(
            statement, outputs=tuple(replace(own, ticks=read.ticks) for own, read in typed)
        )

    def portions(self) -> tuple[str, ...]:
        """Return the statement that reads each part; a LIMIT is added to select rows by number."""
        columns = ", ".join(map(self.read, self._table.columns))
        return tuple(f"SELECT {columns} FROM {self.name(name)}" for name in self._table.names)


class AggregatesSql(QuestSql):
    """The dialect of queries that read materialized views."""

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        return combine(self, table, aggregate)

    def of_answers(self) -> QuestSql:
        return QuestSql(self._table)


class _Lines(LineDialect):
    """QuestDB's line protocol: a backslash precedes every special character."""

    def tags(self, table: Table) -> Sequence[Column]:
        """Return the symbols."""
        return [column for column in table.tags if column.type is Type.TEXT]

    def marker(self, table: Table) -> str | None:
        if any(not c.nullable for c in table.columns if c.role is not Role.TIME):
            return None
        return super().marker(table)

    def tag(self, column: Column) -> ValueStyle:
        return replace(PLAIN, special=b",= \\\n\r", escape=partial(_escape, b"\\,= \n\r"))

    def field(self, column: Column, unit: TimeUnit) -> tuple[ValueStyle, bytes]:
        match column.type:
            case Type.TEXT:
                escape = partial(_escape, b'\\"\n\r')
                return replace(PLAIN, quote=b'"', special=b'"\\\n\r', escape=escape), b""
            case Type.BOOL if is_integer(column):
                return replace(PLAIN, false=b"0", true=b"1"), b"i"
            case Type.TIMESTAMP:
                return PLAIN, _INSTANTS[unit]
        return super().field(column, unit)

    def check(self, table: Table, column: Column) -> Check:
        match column.type:
            case Type.TIMESTAMP if column.role is Role.TIME:
                return partial(_check_times, column.name, table)
            case Type.TIMESTAMP:
                return _refuse_outside(
                    column, 2**63 // _scale(table), "is beyond 64 bits of its unit"
                )
            case Type.INT32 | Type.INT64:
                bits = 32 if column.type is Type.INT32 else 64
                return _refuse_outside(column, 2 ** (bits - 1), "means NULL")
            case Type.TEXT:
                return lambda _data: None
        return super().check(table, column)


LINES = _Lines()
_INSTANTS = {
    TimeUnit.SECOND: b"000000t",
    TimeUnit.MILLISECOND: b"000t",
    TimeUnit.MICROSECOND: b"t",
    TimeUnit.NANOSECOND: b"n",
}
"""Unit of a table -> suffix that turns an integer into micro- or nanoseconds."""


def _escape(special: bytes, text: bytes) -> bytes:
    for byte in special:  # the backslash first
        text = text.replace(b"%c" % byte, b"\\%c" % byte)
    return text


def _refuse_outside(column: Column, limit: int, what: str) -> Check:
    """Return the check that -limit < value < limit."""

    def wrong(values: Array) -> Array:
        found = values <= -limit
        return np.asarray(
            found if limit > np.iinfo(values.dtype).max else found | (values >= limit)
        )

    return none_is(wrong, f"column {column.name}: QuestDB cannot store {-limit}, which {what}")


def _check_times(name: str, table: Table, data: ColumnData) -> None:
    values = data.values()
    last = _LAST[unit_of(table)] // _scale(table)
    for instant in (int(values.min(initial=0)), int(values.max(initial=0))):
        if not 0 <= instant <= last:
            raise UnstorableError(
                f"column {name}: {instant} is outside of 0 (1970) to {last}, the range "
                f"of row times in {table.time_unit}"
            )


def check_names(tables: Sequence[Table]) -> None:
    """Raise UnstorableError with every name that QuestDB refuses."""
    names.check_names("QuestDB", tables, _FORBIDDEN, _FORBIDDEN_IN_COLUMNS)
