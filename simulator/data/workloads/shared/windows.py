"""Queries that several workloads share: random windows of time, and the first fields of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from simulator.data.derived import reselect
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    OneOf,
    Query,
    Selection,
    count_rows,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
FUNCTIONS = {"mean" if each is Function.AVG else each.value: each for each in Function}
"""Aggregates by their names in the programs of influxdb-comparisons."""

Choose: TypeAlias = Callable[[RandomParameters, int], tuple[OneOf, ...]]
"""Function that returns the random tags of an instance, given the instance's number."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The time of a workload's data; query types ask about random windows in it."""

    seed: int
    since: int
    until: int
    """End of the time, exclusive."""
    aligned: bool
    """True if windows begin and end at multiples of the query's bucket."""

    def make_type(
        self, name: str, query: Query, hours: float, bucket: int, choose: Choose | None = None
    ) -> QueryType:
        """Return the type that asks a query in random windows; impossible if the data is shorter.

        The tags of `choose` replace the tags that the query selects.
        """
        step, length = bucket if self.aligned else 1, round(hours * HOUR_MS)
        last = self.until - length
        if -(-self.since // step) * step > last:
            aligned = ", aligned to its buckets" * self.aligned
            return impossible(
                f"it asks about {hours:g} h{aligned}, and the data has"
                f" {(self.until - self.since) / HOUR_MS:g} h"
            )
        parameters = RandomParameters(self.seed, name)

        def instance(number: int) -> Query:
            since = parameters.since(number, self.since, last, step)

            def narrow(rows: Selection) -> Selection:
                one_of = choose(parameters, number) if choose else rows.one_of
                return replace(rows, one_of=one_of, since=since, until=since + length)

            return reselect(query, narrow)

        return QueryType(instance)


def choose_tags(seed: int, name: str, query: Query, choose: Choose) -> QueryType:
    """Return the type that asks a query about random tags at all times."""
    parameters = RandomParameters(seed, name)

    def instance(number: int) -> Query:
        return reselect(query, lambda rows: replace(rows, one_of=choose(parameters, number)))

    return QueryType(instance)


def count_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the queries for the number of rows of each table, given by name."""
    return {f"count-{name}": count_rows(table) for name, table in tables.items()}


ASKED_FIELDS = 2
"""Number of fields that the queries of `field_queries` are about."""


def field_queries(table: Table, fields: Sequence[str], tag: str | None) -> dict[str, Query]:
    """Return queries for extremes and mean of the first fields, also by `tag` if there is one."""
    found: dict[str, Query] = {}
    for field in fields[:ASKED_FIELDS]:
        highest, lowest = Aggregate(Function.MAX, field), Aggregate(Function.MIN, field)
        stats = (highest, Aggregate(Function.AVG, field), lowest)
        found[f"{field}-min-max"] = AggregateQuery(table, (highest, lowest))
        found[f"{field}-stats"] = AggregateQuery(table, stats)
        if tag:
            found[f"{field}-stats-per-{tag}"] = AggregateQuery(table, stats, by=(tag,))
    return found
