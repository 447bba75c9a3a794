"""The SQL of one database: each module subclasses Dialect and overrides the differences. Pure."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Self, assert_never

from simulator.data.query import (
    Aggregate,
    Function,
    NewestQuery,
)
from simulator.data.schema import FLOATS, Column, PrimaryKey, Table, TimeUnit, Type
from simulator.modules.contract import Unsupported

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")

# Words that PostgreSQL 18 or SQLite 3.50 accepts as a column name only in quotes.
# The contract tests compare them with the servers' own lists.
RESERVED = frozenset(
    """
    add all alter analyse analyze and any array as asc asymmetric authorization autoincrement
    between binary both case cast check collate collation column commit concurrently constraint
    create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user default deferrable deferred delete desc distinct do drop else
    end escape except exists false fetch for foreign freeze from full grant group having ilike in
    index indexed initially inner insert intersect into is isnull join lateral leading left like
    limit localtime localtimestamp natural not nothing notnull null offset on only or order outer
    overlaps placing primary references returning right select session_user set similar some
    symmetric system_user table tablesample then to trailing transaction true union unique update
    user using values variadic verbose when where window with
    """.split()
)


def quote(identifier: str) -> str:
    """Return an identifier in quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text literal."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT statement: an expression for each column of the answer, and the text after FROM."""

    expressions: tuple[str, ...]
    rows: str

    def text(self, names: Sequence[str] = ()) -> str:
        """Return the statement; `names` rename its columns."""
        chosen = self.expressions
        if names:
            pairs = zip(chosen, names, strict=True)
            chosen = tuple(e if e == name else f"{e} AS {name}" for e, name in pairs)
        return f"SELECT {', '.join(chosen)} FROM {self.rows}"


class Dialect:
    """Standard SQL with 64-bit integers and texts ordered by their bytes."""

    types: ClassVar[Mapping[Type, str]]
    """The column type that stores a Type without loss."""
    long_names: ClassVar[Mapping[str, str]] = {}
    """Declared type -> its name in the catalogue, where the two differ."""
    ids: ClassVar[Mapping[PrimaryKey, str]] = {}
    """Generated primary key -> the definition of its column, with PRIMARY KEY."""
    finest: TimeUnit | None = None
    """The unit in which the database stores instants of any table; None: the table's unit."""
    reserved: ClassVar[frozenset[str]] = RESERVED
    """Words that must be quoted as names."""
    bigint: ClassVar[str] = "BIGINT"
    """The type of 64-bit integers in a CAST."""
    kept_apart: ClassVar[str] = ""
    """The end of a subquery that makes the server compute it once for each row, though a query
    reads it twice."""
    ticks_per_unit: int = 1
    """Number of ticks in one unit of the table; `read` fetches instants in ticks."""
    in_units: bool = False
    """True if `read` fetches instants in whole units, which a query over the answer needs."""

    def of_units(self) -> Self:
        """Return the dialect with `in_units`."""
        found = copy(self)
        found.in_units = True
        return found

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted if it needs to be."""
        if _PLAIN.fullmatch(identifier) and identifier not in self.reserved:
            return identifier
        return quote(identifier)

    def names(self, identifiers: Sequence[str]) -> str:
        """Return identifiers, separated by commas."""
        return ", ".join(map(self.name, identifiers))

    def target(self, table: Table, name: str) -> str:
        """Return the target of an INSERT or COPY: a physical table and its columns."""
        return f"{self.name(name)} ({self.names([column.name for column in table.columns])})"

    def text(self, value: str) -> str:
        """Return a text literal."""
        return literal(value)

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal of an instant, for comparisons with a timestamp."""
        return str(value)

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column, except a text, as a number with an exact sum; instants in `unit`."""
        name = self.name(column.name)
        if column.type is Type.FLOAT32:
            return f"CAST({name} AS DOUBLE PRECISION)"  # a sum of REAL is itself only REAL
        return f"CAST({name} AS INTEGER)" if column.type is Type.BOOL else name

    def type_of(self, column: Column) -> str:
        """Return the declared type of a column."""
        return self.types[column.type]

    def catalogued_type_of(self, column: Column) -> str:
        """Return the type of a column as the catalogue shows it."""
        declared = self.type_of(column)
        return self.long_names.get(declared, declared)

    def key(self, table: Table, name: str) -> tuple[str | None, str | None]:
        """Return the definition of the generated column, and a constraint of the table."""
        match table.primary_key:
            case PrimaryKey.NONE:
                return None, None
            case PrimaryKey.CLIENT:
                return None, f"PRIMARY KEY ({self.name('id')})"
            case generated:
                return self.ids[generated], None

    def unique(self, table: Table) -> list[str]:
        """Return the columns of the key that the client sends."""
        return ["id"]

    def read(self, column: Column, expression: str = "") -> str:
        """Return the expression that fetches a column, or an expression of its type."""
        return expression or self.name(column.name)

    def as_bigint(self, number: str) -> str:
        """Return a number as a 64-bit integer, so that its products have 64 bits."""
        return f"CAST({number} AS {self.bigint})"

    def remainder(self, double: str, scale: str, divisor: int) -> str:
        """Return the remainder of the whole part of a scaled double, as an integer."""
        return f"CAST({double} * {scale} AS {self.bigint}) % {divisor}"

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column; the server computes it exactly or reports an error."""
        return f"sum({self.number(column, unit)})"

    def wide_total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of integers, which is exact even beyond 64 bits."""
        return self.total(column, unit)

    def total_of_times(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column of instants in `unit`, with the stored fractions."""
        if self.finest is None or self.finest.per_second <= unit.per_second:
            return self.wide_total(column, unit)
        finer = self.finest.per_second // unit.per_second
        return f"{self.wide_total(column, self.finest)} * {1 / Decimal(finer):f}"

    def count_values(self, column: Column) -> str:
        """Return the number of values in a column, without NULLs."""
        return f"count({self.name(column.name)})"

    def order_by_bytes(self, column: Column) -> str:
        """Return a text column as an expression that sorts by bytes."""
        return self.name(column.name)

    def hash_rows(self, table: Table, rows: str) -> "Select":
        """Return the number of rows and the sum of their hashes; `rows` follows FROM."""
        raise Unsupported("there is no hash of rows in this SQL")

    def latest(self, time: str, tags: str) -> str:
        """Return the latest time among the rows with this row's tags."""
        return f"max({time}) OVER (PARTITION BY {tags})"

    def operand(self, column: Column, value: float) -> str:
        """Return a column as a comparison with a number needs it."""
        return self.name(column.name)

    def newest(self, query: NewestQuery, rows: str) -> "Select":
        """Return the newest row of each combination of tags; `rows` follows FROM."""
        table = query.table
        time, alias = self.name(table.time.name), table.find_unused("newest_time")
        newest = f"{self.latest(time, self.names(query.tags))} AS {alias}"
        read = [self.read(table.column(name)) for name in (*query.tags, *query.columns)]
        return Select(
            tuple(read), f"(SELECT *, {newest} FROM {rows}) AS newest WHERE {time} = {alias}"
        )

    def beside(self, expression: str, window: str, *, following: bool) -> str:
        """Return an expression in the row before or after this one, NULL if there is none."""
        return f"{'lead' if following else 'lag'}({expression}) OVER ({window})"

    def group(self, place: int, expression: str) -> str:
        """Return the form of an expression in GROUP BY: its place, which no column hides."""
        return str(place)

    def of_answers(self) -> "Dialect":
        """Return the dialect for tables that are answers, without stored columns."""
        return self

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        """Return a group's first or last value as an aggregate; None if it takes a window."""
        return None

    def name_end(self, table: Table, aggregate: Aggregate) -> str:
        """Return the name of the column that holds a group's first or last value in each row."""
        return self.name(table.find_unused(f"{aggregate.function}_of_{aggregate.column}"))

    def chronological(self, rows: str, table: Table) -> str:
        """Return the rows, ordered by time if `end` needs it; `rows` follows FROM."""
        return rows

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, as a number in the table's unit."""
        time = self.number(table.time, table.time_unit)
        # The remainder of a negative number is negative in SQL.
        return f"{time} - ({time} % {width} + {width}) % {width}"

    def average(self, column: Column) -> str:
        """Return the mean of a column of floats."""
        return f"avg({self.name(column.name)})"

    def mean(self, total: str, count: str) -> str:
        """Return the quotient of an exact sum of integers and a count, as a double."""
        return f"CAST({total} AS DOUBLE PRECISION) / {count}"

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        """Return an aggregate of the rows of a table."""
        if aggregate.column is None:
            return "count(*)"
        column = table.column(aggregate.column)
        name, number = self.name(column.name), self.number(column, table.time_unit)
        match aggregate.function:
            case Function.COUNT:
                return self.count_values(column)
            case Function.MIN | Function.MAX:
                if column.type is Type.TEXT:
                    name = self.order_by_bytes(column)
                extreme = f"{aggregate.function}({number if column.type is Type.BOOL else name})"
                return extreme if column.type is Type.BOOL else self.read(column, extreme)
            case Function.FIRST | Function.LAST:
                time, last = self.name(table.time.name), aggregate.function is Function.LAST
                end = self.end(column, time, last=last)
                return self.read(column, end or f"min({self.name_end(table, aggregate)})")
            case Function.SUM:
                total = self.wide_total if aggregate.wide else self.total
                total = self.total_of_times if column.type is Type.TIMESTAMP else total
                return total(column, table.time_unit)
            case Function.AVG if column.type in FLOATS:
                return self.average(column)
            case Function.AVG:
                # The sum is exact; avg() rounds it, or returns 16 digits where a double needs 17.
                return self.mean(self.total(column, table.time_unit), self.count_values(column))
        assert_never(aggregate.function)
