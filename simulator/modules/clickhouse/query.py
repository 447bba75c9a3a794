"""ClickHouse's SQL: types, literals, and the logical queries."""

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


# The keywords that must be quoted as names; a test checks all keywords on the engine.
_RESERVED = frozenset({"cube", "projection", "rollup", "top"})


class ClickhouseDialect(sql.Dialect):
    """Instants are DateTime64, a 64-bit number in the table's unit."""

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
        """Return the SELECT of how many mutations a table has left, and why one has failed."""
        return (
            "SELECT count(), groupArray(latest_fail_reason)[1] FROM system.mutations WHERE "
            f"database = currentDatabase() AND table = {self.text(name)} AND NOT is_done"
        )

    def __init__(self, *, low_cardinality: bool = False) -> None:
        """Store whether text tags are LowCardinality(String)."""
        self._low_cardinality = low_cardinality

    def declare(self, column: Column, unit: TimeUnit) -> str:
        """Return a column's whole type, with Nullable and LowCardinality."""
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
        """True if instants have a dedicated type, which the server can read from text."""
        return self.types[Type.TIMESTAMP] == "DateTime64"

    def types_of(self, table: Table) -> list[str]:
        """Return the types of a table's columns, in order."""
        return [self.declare(column, table.time_unit) for column in table.columns]

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted if needed; a backslash in quotes is an escape."""
        return super().name(identifier.replace("\\", "\\\\"))

    def text(self, value: str) -> str:
        """Return a text literal, in which a backslash is an escape."""
        return super().text(value.replace("\\", "\\\\"))

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare an instant with; the server folds it to a constant."""
        return f"reinterpret(toInt64({value}), {self.text(self.instants(unit))})"

    def read(self, column: Column, expression: str = "") -> str:
        """Return instants as numbers, because their text is exact only in some centuries."""
        read = super().read(column, expression)
        return f"reinterpretAsInt64({read})" if column.type is Type.TIMESTAMP else read

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return any column but a text as a number."""
        name = self.name(column.name)
        match column.type:
            case Type.TIMESTAMP:
                return self.read(column)
            case Type.BOOL:
                return f"toUInt8({name})"
            case _:
                return name  # the server sums small integers in 64 bits and floats as doubles

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return a column's sum; a sum of Int64 would wrap around silently."""
        number = self.number(column, unit)
        is_wide = column.type in (Type.INT64, Type.TIMESTAMP)
        return f"sum(toInt128({number}))" if is_wide else f"sum({number})"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        """Return the first or last value of a group; both functions ignore NULLs."""
        return f"{'argMax' if last else 'argMin'}({self.name(column.name)}, {time})"

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        """Return the number of rows and the sum of their hashes."""
        return sql_hashes.murmur(self, table, rows)

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket.

        Literals are unsigned, and old versions compute the remainder of a signed number and a
        large unsigned one wrongly.
        """
        time, wide = self.number(table.time, table.time_unit), f"toInt64({width})"
        return f"{time} - ({time} % {wide} + {wide}) % {wide}"

    def mean(self, total: str, count: str) -> str:
        """Return an exact sum of integers divided by a count, as a double."""
        return f"toFloat64({total}) / {count}"

    def newest(self, query: NewestQuery, rows: str) -> sql.Select:
        """Return the newest row of each combination of tags, in one pass without a sort."""
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
        """Return an expression in the row before or after this one, NULL if there is none."""
        function = "leadInFrame" if following else "lagInFrame"
        frame = f"{window} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        return f"{function}(toNullable({expression})) OVER ({frame})"

    def create_table(
        self, table: Table, name: str, key: Sequence[str], behind: str, on_cluster: str
    ) -> str:
        """Return the statement that creates one physical table.

        `key` are complete column definitions; `behind` is the engine, sorting key and settings.
        """
        typed = zip(table.columns, self.types_of(table), strict=True)
        columns = [*key, *(f"{self.name(column.name)} {kind}" for column, kind in typed)]
        return f"CREATE TABLE {self.name(name)}{on_cluster} ({', '.join(columns)}) {behind}"


READING_AGGREGATES = "SETTINGS prefer_column_name_to_alias = 1"
"""The end of a query: a column of the answer may have the name of one that is read."""
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
    """Return each object that keeps aggregates of a physical table, and its CREATE statement."""
    of_table, width = derive_aggregates(table, interval_s), interval_s * table.time_unit.per_second
    into = of_table.names[table.names.index(name)]
    tags, time = [table.column(tag) for tag in tags_of(table)], table.time
    columns = [(each.name, dialect.declare(each, table.time_unit)) for each in (time, *tags)]
    columns += [(column, _type(dialect, table, each)) for each, column in name_kept(table).items()]
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


def _type(dialect: ClickhouseDialect, table: Table, aggregate: Aggregate) -> str:
    """Return the type of a column that keeps an aggregate; it determines how merges combine it."""
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
