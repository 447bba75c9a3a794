"""Aggregates by tags and time that a database keeps for a table, and the queries they answer.

There is a row for each combination of tags in each interval of time: the number of rows, and the
minimum, maximum, sum and count of each numeric field. Aggregates answer a query if its range and
buckets consist of whole intervals. Any other query reads the rows.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from simulator.data.derived import innermost, with_innermost
from simulator.data.query import Aggregate, AggregateQuery, Function, Query
from simulator.data.schema import FLOATS, INTEGERS, Table, Type
from simulator.modules.contract import AggregateOptions
from simulator.modules.shared.sql.language import Dialect

_ROWS = Aggregate(Function.COUNT)
_EXACT = (Function.MIN, Function.MAX, Function.SUM)


def derive_aggregates(table: Table, interval_s: int) -> Table:
    """Return the table of the aggregates, with the time, tags and parts of the table."""
    return replace(table, name=f"{table.name}_every_{interval_s}s")


def is_kept(name: str) -> bool:
    """Return whether a name is the name of a table of aggregates."""
    return re.search(r"_every_\d+s$", name) is not None


def aggregates_of(tables: Iterable[Table], options: AggregateOptions) -> list[Table]:
    """Return the tables of all aggregates of tables."""
    return [
        derive_aggregates(table, interval_s)
        for table in tables
        for interval_s in options.intervals_s
    ]


def tags_of(table: Table) -> tuple[str, ...]:
    """Return the tags that the aggregates are grouped by."""
    return table.queried_tags or tuple(tag.name for tag in table.tags)


@lru_cache
def name_kept(table: Table) -> dict[Aggregate, str]:
    """Return the kept aggregates of a group, and the name of each one's column."""
    wanted = [_ROWS]
    for column in table.fields:
        if column.type in INTEGERS | FLOATS:
            functions = (*_EXACT, Function.COUNT) if column.nullable else _EXACT
            wanted += [Aggregate(function, column.name) for function in functions]
    names: dict[Aggregate, str] = {}
    taken = {table.time.name, *tags_of(table)}
    for aggregate in wanted:
        name = aggregate.label
        while name in taken:
            name += "_"
        taken.add(name)
        names[aggregate] = name
    return names


def definition(dialect: Dialect, table: Table, source: str, start: str, by: str = "") -> str:
    """Return the query that fills the aggregates; `start` is the start of a row's interval.

    `by` replaces GROUP BY.
    """
    tags = [dialect.name(tag) for tag in tags_of(table)]
    chosen = [f"{start} AS {dialect.name(table.time.name)}", *tags]
    chosen += [
        f"{dialect.aggregate(table, a)} AS {dialect.name(n)}" for a, n in name_kept(table).items()
    ]
    by = by or f"GROUP BY {', '.join(str(place + 1) for place in range(1 + len(tags)))}"
    return f"SELECT {', '.join(chosen)} FROM {dialect.name(source)} {by}"


def combine(dialect: Dialect, table: Table, aggregate: Aggregate) -> str:
    """Return an aggregate of rows, computed from kept aggregates."""

    def name_column(of: Function) -> str:
        return dialect.name(names[Aggregate(of, aggregate.column)])

    function, names = aggregate.function, name_kept(table)
    # Where no value is NULL, there are as many values as rows.
    counts = names.get(Aggregate(Function.COUNT, aggregate.column), names[_ROWS])
    count = f"sum({dialect.name(counts)})"
    if function is Function.COUNT:
        return f"CAST(coalesce({count}, 0) AS {dialect.types[Type.INT64]})"
    if function is Function.AVG:
        return dialect.mean(f"sum({name_column(Function.SUM)})", count)
    return f"{function}({name_column(function)})"


def from_kept(query: Query, options: AggregateOptions) -> Query | None:
    """Return the query over the aggregates of the longest intervals that answer it, or None."""
    asked = innermost(query)
    if not isinstance(asked, AggregateQuery):
        return None
    answering = [each for each in options.intervals_s if _answers(asked, each)]
    if not answering:
        return None
    kept = derive_aggregates(asked.table, answering[-1])
    return with_innermost(query, lambda each: replace(each, table=kept))


def _answers(query: AggregateQuery, interval_s: int) -> bool:
    """Return whether a query reads whole intervals, and its aggregates can be combined."""
    table, selection = query.table, query.selection
    interval = interval_s * table.time_unit.per_second
    edges = (query.bucket, selection.since, selection.until)
    tags = {*query.by, *(one.column for one in selection.one_of)}
    known = {a.column for a in name_kept(table)}
    combined = {*_EXACT, Function.COUNT, Function.AVG}
    return (
        not selection.compared
        and tags <= {*tags_of(table)}
        and all(edge is None or edge % interval == 0 for edge in edges)
        and all(a.column in known and a.function in combined for a in query.aggregates)
    )
