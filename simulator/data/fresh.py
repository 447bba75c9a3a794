"""Queries about arriving rows: rows of each table since a moving instant."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    Output,
    Selection,
    count_rows,
    outputs,
)
from simulator.data.query_type import QueryType, always
from simulator.data.reader import DatasetReader
from simulator.data.schema import FLOATS, INTEGERS, Column, Table

PREFIX = "fresh-"
"""Prefix of the names of these queries; no name of a workload's query begins with it."""
COUNT = Aggregate(Function.COUNT)


@dataclass(frozen=True, slots=True)
class FreshType:
    """A kind of query about the rows since an instant."""

    query: AggregateQuery | NewestQuery
    """The same query, about rows of all times."""

    def since(self, since_ms: int) -> AggregateQuery | NewestQuery:
        """Return the query about rows since an instant, in ms since 1970."""
        since = since_ms * self.query.table.time_unit.per_second // 1000
        return replace(self.query, selection=Selection(since=since))

    def make_type(self, since_ms: int) -> QueryType:
        """Return the query type with only one instance, about rows since an instant."""
        return always(self.since(since_ms))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Columns of the answers."""
        return outputs(self.query)

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags by which the answer is grouped."""
        return self.query.by if isinstance(self.query, AggregateQuery) else self.query.tags

    @property
    def field(self) -> Column | None:
        """Field that the query reads; None: none."""
        if isinstance(self.query, NewestQuery):
            return self.query.table.column(self.query.columns[-1])
        named = next((each.column for each in self.query.aggregates if each.column), None)
        return self.query.table.column(named) if named else None


def fresh_types(reader: DatasetReader) -> dict[str, FreshType]:
    """Return the types by name: number of rows, extremes by the first tag, newest rows.

    A type is left out if a table lacks columns that the type needs. The newest rows are also left
    out if the workload has no query for them.
    """
    found = {}
    for table in reader.tables:
        end = f"-{table.base}" if len(reader.tables) > 1 else ""
        for name, query in _list_queries(table, reader.query_types()).items():
            found[f"{PREFIX}{name}{end}"] = FreshType(query)
    return found


def _list_queries(
    table: Table, types: Mapping[str, QueryType]
) -> Mapping[str, AggregateQuery | NewestQuery]:
    found: dict[str, AggregateQuery | NewestQuery] = {"count": count_rows(table)}
    numbers = (column for column in table.fields if column.type in INTEGERS | FLOATS)
    field = next((each for each in numbers if not each.nullable and not each.rounded), None)
    if field and table.tags:
        ends = (Aggregate(Function.MIN, field.name), Aggregate(Function.MAX, field.name))
        found["extremes"] = AggregateQuery(table, (COUNT, *ends), by=(table.tags[0].name,))
    asked = (each.instance(0) for each in types.values() if not each.problem)
    newest = (each for each in asked if isinstance(each, NewestQuery) and each.table == table)
    if field and (own := next(newest, None)):
        found["newest"] = NewestQuery(table, own.tags, (table.time.name, field.name))
    return found
