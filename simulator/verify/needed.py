"""The queries whose truth a run needs: collector and workers know them from the specification."""

from simulator.data.dataset import DatasetReader
from simulator.data.query import Aggregate, AggregateQuery, Function, Query
from simulator.data.schema import Table, Type
from simulator.protocol.spec import Kind, RunSpec


def needed_queries(spec: RunSpec) -> tuple[Query, ...]:
    """Return the queries of a query run; of other runs, the statistics of each table."""
    reader = DatasetReader(spec.dataset)
    if spec.kind is not Kind.QUERY:
        return tuple(map(statistics_of, reader.tables))
    known = reader.queries()
    return tuple(known[name] for name in spec.queries)


def statistics_of(table: Table) -> AggregateQuery:
    """Return the query for the row count and the comparable statistics of each column."""
    aggregates = [Aggregate(Function.COUNT)]
    for column in table.columns:
        functions = [Function.MIN, Function.MAX]
        if column.nullable:
            functions.insert(0, Function.COUNT)
        if column.type not in (Type.TEXT, Type.TIMESTAMP):
            functions.append(Function.SUM)
        aggregates += [Aggregate(function, column.name) for function in functions]
    return AggregateQuery(table, tuple(aggregates))
