"""The queries of workload `devops`: the document's types, and fixed ones over all of the data.

The document's text has `max(usage_user)` of 1, 2, 4, 8, 16 and 32 random hosts in a random hour by
minute; its programs know 1 and 8 hosts, 1 host in 12 hours, and `groupby`: the mean by hour and
host in a random day. All of them are here, under the programs' names.
"""

from collections.abc import Callable, Mapping, Sequence

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    OneOf,
    Query,
    Selection,
)
from simulator.data.query_type import Parameters, QueryType, impossible
from simulator.data.schema import Table

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
_HIGHEST = {  # name -> hosts, hours
    **{f"{hosts}-host-1-hr": (hosts, 1) for hosts in (1, 2, 4, 8, 16, 32)},
    "1-host-12-hr": (1, 12),
}
_GROUPBY_HOURS = 24


def fixed_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the queries that are always the same; `tables` has those of the workload by name."""
    cpu = tables["cpu"]
    means = tuple(Aggregate(Function.AVG, column.name) for column in cpu.fields)
    counts: dict[str, Query] = {
        f"count-{name}": AggregateQuery(table, (Aggregate(Function.COUNT),))
        for name, table in tables.items()
    }
    return {
        "cpu-mean-by-hour-and-host": AggregateQuery(cpu, means, by=("hostname",), bucket=HOUR_MS),
        "newest-per-host": NewestQuery(cpu, ("hostname",), ("usage_user", "usage_system")),
        **counts,
    }


class DrawnQueries:
    """The types with random hosts and times."""

    def __init__(  # noqa: PLR0913
        self, cpu: Table, seed: int, *, hosts: int, since: int, until: int, aligned: bool
    ) -> None:
        """Take the fleet's table `cpu`, its number of hosts, and its time (until: exclusive)."""
        self._cpu, self._seed, self._hosts = cpu, seed, hosts
        self._since, self._until, self._aligned = since, until, aligned

    def types(self) -> dict[str, QueryType]:
        """Return the types by name."""
        highest = {name: self._highest(name, *each) for name, each in _HIGHEST.items()}
        return {**highest, "groupby": self._groupby("groupby")}

    def _highest(self, name: str, hosts: int, hours: int) -> QueryType:
        if hosts > self._hosts:
            return impossible(f"it asks about {hosts} hosts, and the fleet has {self._hosts}")
        parameters = Parameters(self._seed, name)

        def instance(number: int) -> Query:
            chosen = parameters.among(number, self._hosts, hosts)
            names = tuple(f"host_{host}" for host in chosen)
            window = self._window(parameters, number, hours, MINUTE_MS, (OneOf("hostname", names),))
            highest = Aggregate(Function.MAX, "usage_user")
            return AggregateQuery(self._cpu, (highest,), bucket=MINUTE_MS, selection=window)

        return self._type(instance, hours, MINUTE_MS)

    def _groupby(self, name: str) -> QueryType:
        parameters = Parameters(self._seed, name)

        def instance(number: int) -> Query:
            window = self._window(parameters, number, _GROUPBY_HOURS, HOUR_MS)
            mean = Aggregate(Function.AVG, "usage_user")
            return AggregateQuery(
                self._cpu, (mean,), by=("hostname",), bucket=HOUR_MS, selection=window
            )

        return self._type(instance, _GROUPBY_HOURS, HOUR_MS)

    def _type(self, instance: Callable[[int], Query], hours: int, bucket: int) -> QueryType:
        """Return the type, which is impossible if no window of so many hours is in the data."""
        step = bucket if self._aligned else 1
        last = self._until - hours * HOUR_MS
        if -(-self._since // step) * step > last:
            aligned = ", aligned to its buckets" * self._aligned
            return impossible(
                f"it asks about {hours} h{aligned}, and the data has"
                f" {(self._until - self._since) / HOUR_MS:g} h"
            )
        return QueryType(instance)

    def _window(
        self,
        parameters: Parameters,
        number: int,
        hours: int,
        bucket: int,
        one_of: Sequence[OneOf] = (),
    ) -> Selection:
        length = hours * HOUR_MS
        step = bucket if self._aligned else 1
        since = parameters.since(number, self._since, self._until - length, step)
        return Selection(one_of=tuple(one_of), since=since, until=since + length)
