"""The queries of workload `devops`: the document's types, and fixed ones over all of the data.

The document's text has `max(usage_user)` of 1, 2, 4, 8, 16 and 32 random hosts in a random hour by
minute; its programs know 1 and 8 hosts, 1 host in 12 hours, and `groupby`: the mean by hour and
host in a random day. All of them are here, under the programs' names.
"""

from collections.abc import Mapping

from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, OneOf, Query
from simulator.data.query_type import Parameters, QueryType
from simulator.data.schema import Table
from simulator.data.workloads.shared.fleets import HOUR_MS, MINUTE_MS
from simulator.data.workloads.shared.windows import Windows, too_many

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

    def __init__(self, cpu: Table, windows: Windows, hosts: int) -> None:
        """Take the fleet's table `cpu`, its time, and its number of hosts."""
        self._cpu, self._windows, self._hosts = cpu, windows, hosts

    def types(self) -> dict[str, QueryType]:
        """Return the types by name."""
        highest = {name: self._highest(name, *each) for name, each in _HIGHEST.items()}
        return {**highest, "groupby": self._groupby("groupby")}

    def _highest(self, name: str, hosts: int, hours: int) -> QueryType:
        if hosts > self._hosts:
            return too_many(hosts, self._hosts, "hosts")

        def instance(parameters: Parameters, number: int) -> Query:
            chosen = parameters.among(number, self._hosts, hosts)
            names = OneOf("hostname", tuple(f"host_{host}" for host in chosen))
            window = self._windows.drawn(parameters, number, hours, MINUTE_MS, (names,))
            highest = Aggregate(Function.MAX, "usage_user")
            return AggregateQuery(self._cpu, (highest,), bucket=MINUTE_MS, selection=window)

        return self._windows.type_of(name, hours, MINUTE_MS, instance)

    def _groupby(self, name: str) -> QueryType:
        def instance(parameters: Parameters, number: int) -> Query:
            window = self._windows.drawn(parameters, number, _GROUPBY_HOURS, HOUR_MS)
            mean = Aggregate(Function.AVG, "usage_user")
            return AggregateQuery(
                self._cpu, (mean,), by=("hostname",), bucket=HOUR_MS, selection=window
            )

        return self._windows.type_of(name, _GROUPBY_HOURS, HOUR_MS, instance)
