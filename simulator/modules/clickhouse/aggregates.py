"""Aggregates that ClickHouse keeps: for each table another one, and a view that fills it.

https://clickhouse.com/docs/materialized-view/incremental-materialized-view: an INSERT into the
table inserts into the other one, too, before it is acknowledged; merges combine rows of a group.
"""

from simulator.data.query import Aggregate, Function
from simulator.data.schema import FLOATS, Table, Type
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.shared.sql.preaggregated import combine, definition, kept, kept_for, tags_of

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


def creating(
    dialect: ClickhouseDialect, table: Table, name: str, interval_s: int
) -> dict[str, str]:
    """Return what keeps the aggregates of one physical table -> the statement that creates it."""
    of_table, width = kept_for(table, interval_s), interval_s * table.time_unit.per_second
    into = of_table.names[table.names.index(name)]
    tags, time = [table.column(tag) for tag in tags_of(table)], table.time
    columns = [(each.name, dialect.declare(each, table.time_unit)) for each in (time, *tags)]
    columns += [(column, _type(dialect, table, each)) for each, column in kept(table).items()]
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
