"""Queries that fit any table: on its first numeric fields, in total and by a tag."""

from collections.abc import Sequence

from simulator.data.query import Aggregate, AggregateQuery, Function, Query
from simulator.data.schema import Table

ASKED_FIELDS = 2
"""Fields of a table that are asked about."""


def field_queries(table: Table, fields: Sequence[str], tag: str | None) -> dict[str, Query]:
    """Return the extremes and the mean of the first of these fields; by a tag, if there is one."""
    found: dict[str, Query] = {}
    for field in fields[:ASKED_FIELDS]:
        highest, lowest = Aggregate(Function.MAX, field), Aggregate(Function.MIN, field)
        stats = (highest, Aggregate(Function.AVG, field), lowest)
        found[f"{field}-min-max"] = AggregateQuery(table, (highest, lowest))
        found[f"{field}-stats"] = AggregateQuery(table, stats)
        if tag:
            found[f"{field}-stats-per-{tag}"] = AggregateQuery(table, stats, by=(tag,))
    return found
