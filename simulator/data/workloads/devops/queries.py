"""The queries of workload `devops`: the types of the document and of TSBS, and fixed ones.

The document's text has `max(usage_user)` of 1, 2, 4, 8, 16 and 32 random hosts in a random hour by
minute; its programs know 1 and 8 hosts, 1 host in 12 hours, and `groupby`: the mean by hour and
host in a random day. All of them are here, under the programs' names. TSBS asks its own types of
the same table.
"""

from collections.abc import Mapping

from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, Query
from simulator.data.query_type import QueryType
from simulator.data.schema import Table
from simulator.data.workloads.shared.fleets import HOUR_MS
from simulator.data.workloads.shared.host_queries import HostQueries, lastpoint

_HIGHEST = {  # name -> hosts, hours
    **{f"{hosts}-host-1-hr": (hosts, 1) for hosts in (1, 2, 4, 8, 16, 32)},
    "1-host-12-hr": (1, 12),
}
_GROUPBY_HOURS = 24


def list_fixed_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the queries without parameters; `tables` has the workload's tables by name."""
    cpu = tables["cpu"]
    means = tuple(Aggregate(Function.AVG, column.name) for column in cpu.fields)
    counts: dict[str, Query] = {
        f"count-{name}": AggregateQuery(table, (Aggregate(Function.COUNT),))
        for name, table in tables.items()
    }
    return {
        **lastpoint(cpu),
        "cpu-mean-by-hour-and-host": AggregateQuery(cpu, means, by=("hostname",), bucket=HOUR_MS),
        "newest-per-host": NewestQuery(cpu, ("hostname",), ("usage_user", "usage_system")),
        **counts,
    }


def list_drawn_types(hosts: HostQueries) -> dict[str, QueryType]:
    """Return the types with random hosts and times."""
    return {
        **{name: hosts.highest(name, 1, *each) for name, each in _HIGHEST.items()},
        "groupby": hosts.means("groupby", 1, _GROUPBY_HOURS),
        **hosts.of_tsbs(),
    }
