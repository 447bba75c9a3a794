"""Queries of several workloads: in random windows of time, and on the first fields of any table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simulator.data.query import Aggregate, AggregateQuery, Function, OneOf, Query, Selection
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table
from simulator.data.workloads.shared.fleets import HOUR_MS

FUNCTIONS = {"mean" if each is Function.AVG else each.value: each for each in Function}
"""Aggregates as the programs of influxdb-comparisons call them."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The time of a fleet's data, of which types ask for random parts."""

    seed: int
    since: int
    until: int
    """Exclusive."""
    aligned: bool
    """Windows begin and end at multiples of the query's bucket."""

    def type_of(
        self,
        name: str,
        hours: float,
        bucket: int,
        instance: Callable[[RandomParameters, int], Query],
    ) -> QueryType:
        """Return a type, which is impossible if the data has no window of this length."""
        step = bucket if self.aligned else 1
        if -(-self.since // step) * step > self.until - _ms(hours):
            aligned = ", aligned to its buckets" * self.aligned
            return impossible(
                f"it asks about {hours:g} h{aligned}, and the data has"
                f" {(self.until - self.since) / HOUR_MS:g} h"
            )
        parameters = RandomParameters(self.seed, name)
        return QueryType(lambda number: instance(parameters, number))

    def drawn(
        self,
        parameters: RandomParameters,
        number: int,
        hours: float,
        bucket: int,
        one_of: Sequence[OneOf] = (),
    ) -> Selection:
        """Return the random window of an instance, and the members that it asks about."""
        step = bucket if self.aligned else 1
        since = parameters.since(number, self.since, self.until - _ms(hours), step)
        return Selection(one_of=tuple(one_of), since=since, until=since + _ms(hours))


def _ms(hours: float) -> int:
    return round(hours * HOUR_MS)


def too_many(asked: int, members: int, what: str) -> QueryType:
    """Return the type that asks about more members than a fleet has."""
    return impossible(f"it asks about {asked} {what}, and the fleet has {members}")


def count_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the number of rows of each table; `tables` has them by name."""
    count = (Aggregate(Function.COUNT),)
    return {f"count-{name}": AggregateQuery(table, count) for name, table in tables.items()}


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
