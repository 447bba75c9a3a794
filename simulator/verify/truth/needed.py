"""The queries for which a run needs the truth, and their names in messages between processes.

A name is a query type and the number of an instance. For a table, the number is its place, and the
type is "" for its statistics, "*" for its rows, "#" for its hashed rows, "=" for its rows by tags.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from simulator.data.query import Aggregate, AggregateQuery, Function, Query, RowsQuery
from simulator.data.reader import DatasetReader
from simulator.data.row_hash import RowHash
from simulator.data.schema import Role, Table, Type
from simulator.protocol.folding import QueryName
from simulator.protocol.spec import RunSpec
from simulator.verify.truth.folding import FoldTasks, fold_here

_ROWS, _HASHED, _SERIES = "*", "#", "="
Names: TypeAlias = Mapping[Query, QueryName]
SharedFolding: TypeAlias = Callable[[Names, FoldTasks], None]
"""Function that folds all tasks together with processes that know the queries by name."""


def fold_alone(_: Names, tasks: FoldTasks) -> None:
    """Fold all tasks here."""
    fold_here(tasks)


def names_of_tables(tables: Sequence[Table], hashing: RowHash | None = None) -> Names:
    """Return the queries about each table of a dataset, and their names."""
    found: dict[Query, QueryName] = {}
    for place, table in enumerate(tables):
        found |= {statistics_of(table): ("", place), RowsQuery(table): (_ROWS, place)}
        found[RowsQuery(table, hashed=hashing)] = (_HASHED if hashing else _ROWS, place)
        if series := series_of(table):
            found[series] = (_SERIES, place)
    return found


def names_of_instances(asked: Mapping[str, Mapping[int, Query]]) -> Names:
    """Return the name of each instance of query types."""
    return {query: (name, i) for name, found in asked.items() for i, query in found.items()}


def queries_named(
    names: Iterable[QueryName], spec: RunSpec, hashing: RowHash | None
) -> list[Query]:
    """Return the queries with these names; the run's database determines `hashing`."""
    reader = DatasetReader(spec.dataset)
    types = reader.query_types(aligned=spec.load.aligned, until_ms=spec.load.until_ms)

    def of_table(name: str, table: Table) -> Query:
        if not name:
            return statistics_of(table)
        if name == _SERIES:
            return series_of(table) or statistics_of(table)
        return RowsQuery(table, hashed=hashing if name == _HASHED else None)

    return [
        of_table(name, reader.tables[number])
        if name in ("", _ROWS, _HASHED, _SERIES)
        else types[name].instance(number)
        for name, number in names
    ]


def series_of(table: Table) -> AggregateQuery | None:
    """Return the query that counts the rows by text tags; None if the table has no such tags.

    NULL counts as a value of a tag.
    """
    tags = table.with_role(Role.TAG)
    names = tuple(column.name for column in tags if column.type is Type.TEXT)
    return AggregateQuery(table, (Aggregate(Function.COUNT),), by=names) if names else None


def statistics_of(table: Table) -> AggregateQuery:
    """Return the query for the row count and the comparable statistics of each column."""
    aggregates = [Aggregate(Function.COUNT)]
    for column in table.columns:
        functions = [Function.MIN, Function.MAX]
        if column.nullable:
            functions.insert(0, Function.COUNT)
        if column.type is not Type.TEXT:
            functions.append(Function.SUM)
        aggregates += [Aggregate(function, column.name) for function in functions]
    return AggregateQuery(table, tuple(aggregates))
