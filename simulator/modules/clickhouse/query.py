"""ClickHouse's SQL."""

from collections.abc import Sequence
from typing import ClassVar

from simulator.data.query import Aggregate, Function, NewestQuery
from simulator.data.schema import FLOATS, Column, Role, Table, TimeUnit, Type
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.preaggregated import (
    combine,
    definition,
    derive_aggregates,
    name_kept,
    tags_of,
)

_DECIMALS = {
    TimeUnit.SECOND: 0,
    TimeUnit.MILLISECOND: 3,
    TimeUnit.MICROSECOND: 6,
    TimeUnit.NANOSECOND: 9,
}


# Keywords that must be quoted as names; a test checks all keywords on the engine.
_RESERVED = frozenset({"cube", "projection", "rollup", "top"})


class ClickhouseDialect(sql.Dialect):
    """ClickHouse's types; an instant is a DateTime64, a 64-bit number in the table's unit."""

    reserved: ClassVar[frozenset[str]] = sql.RESERVED | _RESERVED
    types: ClassVar[dict[Type, str]] = {
        Type.INT16: "Int16",
        Type.INT32: "Int32",
        Type.INT64: "Int64",
        Type.FLOAT32: "Float32",
        Type.FLOAT64: "Float64",
        Type.BOOL: "Bool",
        Type.TEXT: "String",
        Type.TIMESTAMP: "DateTime64",
    }

    def mutations(self, name: str) -> str:
        """Return the query for the number of unfinished mutations, and the reason of a failure."""
        return (
            "SELECT count(), groupArray(latest_fail_reason)[1] FROM system.mutations WHERE "
            f"database = currentDatabase() AND table = {self.text(name)} AND NOT is_done"
        )

    def __init__(self, *, low_cardinality: bool = False) -> None:
        """Store whether text tags are LowCardinality(String)."""
        self._low_cardinality = low_cardinality

    def declare(self, column: Column, unit: TimeUnit) -> str:
        """Return a column's full type, with Nullable and LowCardinality."""
        name = self.instants(unit) if column.type is Type.TIMESTAMP else self.types[column.type]
        if column.nullable:
            name = f"Nullable({name})"
        if self._low_cardinality and column.type is Type.TEXT and column.role is Role.TAG:
            name = f"LowCardinality({name})"
        return name

    def instants(self, unit: TimeUnit) -> str:
        """Return the type of instants."""
        return f"{self.types[Type.TIMESTAMP]}({_DECIMALS[unit]}, 'UTC')"

    @property
    def has_instants(self) -> bool:
        """True if the server can read instants from text."""
        return self.types[Type.TIMESTAMP] == "DateTime64"

    def types_of(self, table: Table) -> list[str]:
        """Return the types of a table's columns, in order."""
        return [self.declare(column, table.time_unit) for column in table.columns]

    def name(self, identifier: str) -> str:
        # A backslash in quotes is an escape.
        return super().name(identifier.replace("\\", "\\\\"))

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def instant(self, value: int, unit: TimeUnit) -> str:
        return f"reinterpret(toInt64({value}), {self.text(self.instants(unit))})"

    def read(self, column: Column, expression: str = "") -> str:
        # Instants are read as numbers, because their text is exact only in some centuries.
        read = super().read(column, expression)
        return f"reinterpretAsInt64({read})" if column.type is Type.TIMESTAMP else read

    def number(self, column: Column, unit: TimeUnit) -> str:
        name = self.name(column.name)
        match column.type:
            case Type.TIMESTAMP:
                return self.read(column)
            case Type.BOOL:
                return f"toUInt8({name})"
            case _:
                return name  # the server sums small integers in 64 bits and floats as doubles

    def total(self, column: Column, unit: TimeUnit) -> str:
        # A sum of Int64 would wrap around silently.
        number = self.number(column, unit)
        is_wide = column.type in (Type.INT64, Type.TIMESTAMP)
        return f"sum(toInt128({number}))" if is_wide else f"sum({number})"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        function = "argMax" if last else "argMin"  # both ignore NULLs
        return f"{function}({self.name(column.name)}, {time})"

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        return sql_hashes.murmur(self, table, rows)

    def bucket(self, table: Table, width: int) -> str:
        # Literals are unsigned, and old versions compute the remainder of a signed number and a
        # large unsigned number wrongly.
        time, wide = self.number(table.time, table.time_unit), f"toInt64({width})"
        return f"{time} - ({time} % {wide} + {wide}) % {wide}"

    def mean(self, total: str, count: str) -> str:
        return f"toFloat64({total}) / {count}"

    def newest(self, query: NewestQuery, rows: str) -> sql.Select:
        table = query.table
        time = self.name(table.time.name)
        tags = self.names(query.tags)
        chosen = [self.name(tag) for tag in query.tags]
        for name in query.columns:
            column = table.column(name)
            # argMax skips a NULL, but not a tuple that contains one.
            held = f"argMax(tuple({self.name(name)}), {time}).1"
            newest = held if column.nullable else f"argMax({self.name(name)}, {time})"
            chosen.append(self.read(column, newest))
        return sql.Select(tuple(chosen), f"{rows} GROUP BY {tags}")

    def beside(self, expression: str, window: str, *, following: bool) -> str:
        function = "leadInFrame" if following else "lagInFrame"
        frame = f"{window} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        return f"{function}(toNullable({expression})) OVER ({frame})"

    def create_table(
        self, table: Table, name: str, key: Sequence[str], behind: str, on_cluster: str
    ) -> str:
        """Return the statement that creates one physical table.

        `key` lists column definitions; `behind` consists of engine, sorting key and settings.
        """
        typed = zip(table.columns, self.types_of(table), strict=True)
        columns = [*key, *(f"{self.name(column.name)} {kind}" for column, kind in typed)]
        return f"CREATE TABLE {self.name(name)}{on_cluster} ({', '.join(columns)}) {behind}"


READING_AGGREGATES = "SETTINGS prefer_column_name_to_alias = 1"
"""The end of a query: an alias in the answer may be the name of a column of the table."""
VIEW = "_view"
"""Suffix of the view that fills a table of aggregates."""


class AggregatesDialect(ClickhouseDialect):
    """The dialect of queries that read aggregates."""

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        return combine(self, table, aggregate)

    def of_answers(self) -> ClickhouseDialect:
        return ClickhouseDialect()


def define_aggregates(
    dialect: ClickhouseDialect, table: Table, name: str, interval_s: int
) -> dict[str, str]:
    """Return the objects that keep aggregates of a physical table, and their CREATE statements."""
    of_table, width = derive_aggregates(table, interval_s), interval_s * table.time_unit.per_second
    into = of_table.names[table.names.index(name)]
    tags, time = [table.column(tag) for tag in tags_of(table)], table.time
    columns = [(each.name, dialect.declare(each, table.time_unit)) for each in (time, *tags)]
    columns += [
        (column, _choose_type(dialect, table, each)) for each, column in name_kept(table).items()
    ]
    declared = ", ".join(f"{dialect.name(column)} {kind}" for column, kind in columns)
    order = dialect.names([*(tag.name for tag in tags), time.name])
    behind = f"ENGINE = AggregatingMergeTree ORDER BY ({order})"
    if any(tag.nullable for tag in tags):
        behind += " SETTINGS allow_nullable_key = 1"
    start = f"toInt64({dialect.bucket(table, width)})"
    if time.type is Type.TIMESTAMP:
        start = f"reinterpret({start}, {dialect.text(dialect.instants(table.time_unit))})"
    return {
        into: f"CREATE TABLE {dialect.name(into)} ({declared}) {behind}",
        into + VIEW: f"CREATE MATERIALIZED VIEW {dialect.name(into + VIEW)} "
        f"TO {dialect.name(into)} AS {definition(dialect, table, name, start)}",
    }


def _choose_type(dialect: ClickhouseDialect, table: Table, aggregate: Aggregate) -> str:
    """Return the type of an aggregate's column, which determines how merges combine values."""
    function = aggregate.function
    if function is Function.COUNT or aggregate.column is None:
        return "SimpleAggregateFunction(sum, Int64)"
    column = table.column(aggregate.column)
    if function is not Function.SUM:
        kind = dialect.types[column.type]
    elif column.type in FLOATS:
        kind = "Float64"
    else:
        kind = "Int128" if column.type is Type.INT64 else "Int64"
    kind = f"Nullable({kind})" if column.nullable else kind
    return f"SimpleAggregateFunction({function}, {kind})"
