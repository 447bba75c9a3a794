"""Queries of several workloads: in random windows of time, and on the first fields of any table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simulator.data.query import Aggregate, AggregateQuery, Function, Query, Selection, count_rows
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
FUNCTIONS = {"mean" if each is Function.AVG else each.value: each for each in Function}
"""Aggregates as the programs of influxdb-comparisons call them."""


Instance: TypeAlias = Callable[[RandomParameters, int, Selection], Query]
"""Makes an instance of a type from its random parameters, its number and its window of time."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The time of a fleet's data, of which types ask for random parts."""

    seed: int
    since: int
    until: int
    """Exclusive."""
    aligned: bool
    """Windows begin and end at multiples of the query's bucket."""

    def type_of(self, name: str, hours: float, bucket: int, instance: Instance) -> QueryType:
        """Return a type, which is impossible if the data has no window of this length."""
        step, length = bucket if self.aligned else 1, round(hours * HOUR_MS)
        last = self.until - length
        if -(-self.since // step) * step > last:
            aligned = ", aligned to its buckets" * self.aligned
            return impossible(
                f"it asks about {hours:g} h{aligned}, and the data has"
                f" {(self.until - self.since) / HOUR_MS:g} h"
            )
        parameters = RandomParameters(self.seed, name)

        def of_window(number: int) -> Query:
            since = parameters.since(number, self.since, last, step)
            return instance(parameters, number, Selection(since=since, until=since + length))

        return QueryType(of_window)


def too_many(asked: int, members: int, what: str) -> QueryType:
    """Return the type that asks about more members than a fleet has."""
    return impossible(f"it asks about {asked} {what}, and the fleet has {members}")


def count_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the number of rows of each table; `tables` has them by name."""
    return {f"count-{name}": count_rows(table) for name, table in tables.items()}


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
