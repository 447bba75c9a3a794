"""What SQL databases have in common: tables, indices, and the logical queries as SELECT.

A relative says in its Dialect what it says differently; everything here is a pure function.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, assert_never

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import FLOATS, Column, Table, TimeUnit, Type

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")

# Words that PostgreSQL 18 or SQLite 3.50 does not take as a column's name unless it is quoted.
# tests/contract asks the servers at hand whether one is missing.
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


class Dialect:
    """Standard SQL with 64-bit integers and exact text order; a database overrides the rest."""

    types: ClassVar[dict[Type, str]]
    """The column type that stores a Type without loss."""
    reserved: ClassVar[frozenset[str]] = RESERVED
    """Words that are no names unless they are quoted."""

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted if it needs to be."""
        if _PLAIN.fullmatch(identifier) and identifier not in self.reserved:
            return identifier
        return '"' + identifier.replace('"', '""') + '"'

    def names(self, identifiers: Sequence[str]) -> str:
        """Return identifiers with commas between."""
        return ", ".join(map(self.name, identifiers))

    def text(self, value: str) -> str:
        """Return a text literal."""
        return "'" + value.replace("'", "''") + "'"

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return str(value)

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return any column but a text as a number whose sum is exact; instants in this unit."""
        name = self.name(column.name)
        if column.type is Type.FLOAT32:
            return f"CAST({name} AS DOUBLE PRECISION)"  # a sum of REAL is itself only REAL
        return f"CAST({name} AS INTEGER)" if column.type is Type.BOOL else name

    def type_of(self, column: Column) -> str:
        """Return the type that a column is declared with."""
        return self.types[column.type]

    def read(self, column: Column, expression: str = "") -> str:
        """Return a column, or an expression of its type, as its values are to be fetched."""
        return expression or self.name(column.name)

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column, exact or an error."""
        return f"sum({self.number(column, unit)})"

    def counted(self, column: Column) -> str:
        """Return how many values of a column are not NULL."""
        return f"count({self.name(column.name)})"

    def ordered(self, column: Column) -> str:
        """Return a text as something whose order is that of its bytes."""
        return self.name(column.name)

    def latest(self, time: str, tag: str) -> str:
        """Return the latest time among the rows of a row's tag."""
        return f"max({time}) OVER (PARTITION BY {tag})"

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, as a number in the table's unit."""
        time = self.number(table.time, table.time_unit)
        # The remainder of a negative number is negative in SQL.
        return f"{time} - ({time} % {width} + {width}) % {width}"

    def mean(self, total: str, count: str) -> str:
        """Return the quotient of an exact sum of integers and a count, as a double."""
        return f"CAST({total} AS DOUBLE PRECISION) / {count}"


def create_table(
    dialect: Dialect, table: Table, name: str, id_column: str | None, constraint: str | None
) -> str:
    """Return the statement that makes one physical table.

    `id_column` is the whole definition of a column that the database fills; `constraint` comes
    behind the columns.
    """
    columns = [f"{dialect.name(c.name)} {dialect.type_of(c)}" for c in table.columns]
    parts = [part for part in (id_column, *columns, constraint) if part]
    return f"CREATE TABLE {dialect.name(name)} ({', '.join(parts)})"


def indices(tables: Sequence[Table]) -> list[tuple[str, str, list[Column]]]:
    """Return name, table and columns of the two secondary indices of the reference document.

    One finds a series in time with the first field beside it, the other orders the first field.
    """
    found = []
    for table in tables:
        first_field = [*table.fields[:1]]
        series = [*table.tags, table.time, *first_field]
        for name in table.names:
            for kind, columns in (("series", series), ("field", first_field)):
                if columns:
                    found.append((f"{name}_{kind}_index", name, columns))
    return found


def create_indices(dialect: Dialect, tables: Sequence[Table]) -> list[str]:
    """Return the statements that make the secondary indices."""
    return [
        f"CREATE INDEX IF NOT EXISTS {dialect.name(index)} ON {dialect.name(name)} "
        f"({dialect.names([column.name for column in columns])})"
        for index, name, columns in indices(tables)
    ]


def render(dialect: Dialect, query: Query) -> Statement:
    """Return a query as SQL."""
    return Statement(_select(dialect, query), outputs(query))


def _select(dialect: Dialect, query: Query) -> str:
    rows = rows_of(dialect, query.table)
    match query:
        case AggregateQuery():
            return _aggregates(dialect, query)
        case NewestQuery(table=table):
            time, tag = dialect.name(table.time.name), dialect.name(query.tag)
            alias = unused("newest_time", table)
            newest = f"{dialect.latest(time, tag)} AS {alias}"
            read = [dialect.read(table.column(name)) for name in (query.tag, *query.columns)]
            return (
                f"SELECT {', '.join(read)} "
                f"FROM (SELECT *, {newest} FROM {rows}) AS newest WHERE {time} = {alias}"
            )
        case DistinctQuery():
            combinations = f"SELECT DISTINCT {dialect.names(query.columns)} FROM {rows}"
            return f"SELECT count(*) FROM ({combinations}) AS combinations"
        case RowsQuery(table=table):
            return f"SELECT {', '.join(map(dialect.read, table.columns))} FROM {rows}"
        case _:
            assert_never(query)


def unused(alias: str, table: Table) -> str:
    """Return an alias that no column has: those of a user's own file may have any name."""
    while alias in {column.name for column in table.columns}:
        alias += "_"
    return alias


def rows_of(dialect: Dialect, table: Table) -> str:
    """Return what stands after FROM: the table, or its parts as one."""
    if table.parts == 1:
        return dialect.name(table.name)
    parts = " UNION ALL ".join(f"SELECT * FROM {dialect.name(name)}" for name in table.names)
    return f"({parts}) AS {dialect.name(table.name)}"


def _aggregates(dialect: Dialect, query: AggregateQuery) -> str:
    table = query.table
    selected = [dialect.name(tag) for tag in query.by]
    groups = list(selected)
    if query.bucket is not None:
        selected.append(dialect.bucket(table, query.bucket))
        groups.append(str(len(selected)))  # its place: a name could be a column's as well
    selected += [_aggregate(dialect, table, aggregate) for aggregate in query.aggregates]
    statement = f"SELECT {', '.join(selected)} FROM {rows_of(dialect, table)}"
    conditions = _conditions(dialect, query)
    if conditions:
        statement += f" WHERE {' AND '.join(conditions)}"
    if groups:
        statement += f" GROUP BY {', '.join(groups)}"
    return statement


def _aggregate(dialect: Dialect, table: Table, aggregate: Aggregate) -> str:
    if aggregate.column is None:
        return "count(*)"
    column = table.column(aggregate.column)
    name, number = dialect.name(column.name), dialect.number(column, table.time_unit)
    match aggregate.function:
        case Function.COUNT:
            return dialect.counted(column)
        case Function.MIN | Function.MAX:
            if column.type is Type.TEXT:
                name = dialect.ordered(column)
            extreme = f"{aggregate.function}({number if column.type is Type.BOOL else name})"
            return extreme if column.type is Type.BOOL else dialect.read(column, extreme)
        case Function.SUM:
            return dialect.total(column, table.time_unit)
        case Function.AVG if column.type in FLOATS:
            return f"avg({name})"
        case Function.AVG:
            # The sum is exact; avg() rounds it, or gives 16 digits where a double needs 17.
            return dialect.mean(dialect.total(column, table.time_unit), dialect.counted(column))
    assert_never(aggregate.function)


def _conditions(dialect: Dialect, query: AggregateQuery) -> list[str]:
    table = query.table
    conditions = [f"{dialect.name(tag)} = {dialect.text(value)}" for tag, value in query.where]
    time = dialect.name(table.time.name)
    for comparison, limit in ((">=", query.since), ("<", query.until)):
        if limit is not None:
            literal = str(limit)
            if table.time.type is Type.TIMESTAMP:
                literal = dialect.instant(limit, table.time_unit)
            conditions.append(f"{time} {comparison} {literal}")
    return conditions
