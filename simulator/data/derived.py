"""Tables made of answers, so that a query can read the answer to another query.

A derived table is a subquery in FROM: a condition on it is HAVING, and aggregates of it are
aggregates of aggregates. Spells need a database with window functions. The query that reads one of
these tables treats it like a stored table, and they may be stacked.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    Selection,
    outputs,
)
from simulator.data.schema import FLOATS, Column, Role, Table, Type, choose_name

Source: TypeAlias = AggregateQuery | NewestQuery


@dataclass(frozen=True, slots=True)
class DerivedTable(Table):
    """The answer to a query, as a table with the answer's columns, in the same order.

    Tags keep their names. Any other column is renamed if the source has a column with the same
    name, because some databases would confuse the two columns: the newest `fuel` is `newest_fuel`.
    """

    source: Source = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ConditionSpells(Table):
    """Runs of buckets in which a condition holds: the tags, the first bucket, and `length`.

    Buckets without rows are skipped. A spell ends with the first bucket in which the condition does
    not hold; the length is NULL if there is no such bucket. A condition that holds in the first
    bucket of its tags is not a spell, because the beginning of the spell is unknown.
    """

    periods: DerivedTable = field(kw_only=True)
    holds: Condition = field(kw_only=True)
    """Condition on a column of the periods."""

    @property
    def length(self) -> str:
        """Name of the column that holds the length in the table's time unit."""
        return self.columns[-1].name


def derive(name: str, source: Source) -> DerivedTable:
    """Return the answer to a query as a table."""
    read = source.table
    columns: list[Column] = []
    for output, column in zip(outputs(source), _list_columns(source), strict=True):
        taken = {c.name for c in (*read.columns, *columns)}
        free = column.name if column.role is Role.TAG else choose_name(column.name, taken)
        # An answer has instants as numbers in the table's unit.
        kind = Type.INT64 if output.type is Type.TIMESTAMP else output.type
        columns.append(replace(column, name=free, type=kind))
    return DerivedTable(name, tuple(columns), (), read.time_unit, source=source)


def _list_columns(source: Source) -> list[Column]:
    """Return the columns of an answer with provisional names and types."""
    read = source.table
    if isinstance(source, NewestQuery):
        newest = [replace(read.column(c), name=f"newest_{c}") for c in source.columns]
        return [*_list_tags(read, source.tags), *(replace(c, role=Role.FIELD) for c in newest)]
    bucket = [] if source.bucket is None else [Column("bucket", Type.INT64, Role.TIME)]
    return [
        *_list_tags(read, source.by),
        *bucket,
        *(_make_column(read, a) for a in source.aggregates),
    ]


def _list_tags(table: Table, names: Collection[str]) -> list[Column]:
    return [replace(table.column(name), role=Role.TAG) for name in names]


def _make_column(table: Table, aggregate: Aggregate) -> Column:
    """Return the column of an aggregate; it is `rounded` if a sum depends on the order of rows."""
    column = table.column(aggregate.column) if aggregate.column else None
    summed = aggregate.function in (Function.SUM, Function.AVG)
    exact = column is None or column.type not in FLOATS or column.exact or not summed
    return Column(
        aggregate.label,
        Type.INT64,
        Role.FIELD,
        nullable=aggregate.function is not Function.COUNT,
        exact=exact,
        rounded=aggregate.function is Function.AVG or not exact,
    )


def spells(name: str, periods: DerivedTable, holds: Condition) -> ConditionSpells:
    """Return the spells in which a condition on buckets holds; ValueError without any bucket."""
    source = periods.source
    if not isinstance(source, AggregateQuery) or source.bucket is None or source.newest:
        raise ValueError(f"{periods.name} has no buckets, or only some, and spells consist of them")
    names = {column.name for column in periods.columns}
    length = Column(choose_name("length", names), Type.INT64, Role.FIELD, nullable=True)
    columns = (*periods.tags, periods.time, length)
    return ConditionSpells(name, columns, (), periods.time_unit, periods=periods, holds=holds)


def below(table: Table) -> Source | None:
    """Return the source of a derived table; None for a stored table."""
    match table:
        case DerivedTable():
            return table.source
        case ConditionSpells():
            return table.periods.source
    return None


def innermost(query: Query) -> Query:
    """Return the query that reads a stored table."""
    source = below(query.table)
    return query if source is None else innermost(source)


def with_innermost(query: Query, change: Callable[[Query], Query]) -> Query:
    """Return the query with its innermost query replaced by one of the same class."""
    match query.table:
        case DerivedTable() as table:
            return replace(query, table=_change_source(table, change))
        case ConditionSpells() as table:
            return replace(
                query, table=replace(table, periods=_change_source(table.periods, change))
            )
    return change(query)


def reselect(query: Query, change: Callable[[Selection], Selection]) -> Query:
    """Return the query with another selection of stored rows; TypeError if the query has none."""

    def change_one(inner: Query) -> Query:
        if isinstance(inner, DistinctQuery):
            raise TypeError("a number of combinations has no selection")
        return replace(inner, selection=change(inner.selection))

    return with_innermost(query, change_one)


def _change_source(table: DerivedTable, change: Callable[[Query], Query]) -> DerivedTable:
    source = with_innermost(table.source, change)
    if not isinstance(source, AggregateQuery | NewestQuery):
        raise TypeError(f"{table.name} cannot be made of a {type(source).__name__}")
    return replace(table, source=source)
