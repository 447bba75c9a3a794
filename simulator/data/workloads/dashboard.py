"""Telemetry of a fleet of hosts in clusters, as in influxdb-comparisons, use case `dashboard`.

Eleven tables: the nine of `devops`, `system` with the processors and the load of a host, and
`status` with its service up or down. Each has a point per host and interval.

Host 0 is `kapacitor_1`, alone in cluster 0; every ten hosts after it form a cluster. Host names
repeat in the clusters, so `cluster_id`, which replaces the tag `team`, and `hostname` identify a
host. Values that `devops` has too are equal for hosts with the same number.

Where the document's code leaves something open or does not fit, we decided:

- All disks are `/dev/sda1`, as in the code.
- The bound of a load is 1 to 2 times the number of processors. The code starts a load anywhere up
  to 100 times that number; with `distribution=documented` it starts at its bound. Loads move by 10
  at each tick, so loads of hosts with few processors jump from bound to bound.
- `service_up` is drawn at each tick, from the first on.
- `scale_offset` numbers hosts through all clusters. The code adds it to the clusters only, divided
  by ten.

Bits per value: loads are multiples of 1/64 on the grid (7 to 13 bits), and fill a double with full
precision; the others are as in `devops`.

The query types are the 18 panels of the document, under the names of its programs. A panel asks
about a random hour of a random cluster of ten hosts; three panels ask about `kapacitor_1`. The
document's programs never draw the last cluster. Panels return stored values; the reader computes
the rest:

- `availability`: the sum and the number of `service_up`; the document shows their quotient.
- `disk-allocated`, `memory-total`: bytes; the document divides by 2**30.
- `kapa-cpu`: `usage_idle`; the document subtracts it from 100.
- `disk-usage`, `memory-total`: the last value of each data host. The document has one row, of any
  host, since all have points at the same time. `total` of `mem` does not change, so its last value
  is the maximum of the last minute.
- `queue-bytes`, `redis-memory-utilization`: no minute is empty, so nothing is filled.

Four panels take derivatives and exist by name only. `dashboard-all`, the panels in turn, is what
`query` asks without `--types`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.mixer import draw, draw_from, key_of, scale
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    OneOf,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.walks import BEYOND, Distribution, Drifting, Precision, reflect
from simulator.data.workloads.shared.fleets import MOST_MEMBERS, NumberedParams, texts
from simulator.data.workloads.shared.hosts import NUMBERED, HostTags
from simulator.data.workloads.shared.telemetry import Measurement, Telemetry, list_measurements
from simulator.data.workloads.shared.windows import MINUTE_MS, count_queries

SYSTEM, STATUS = "system", "status"
LOADS = ("load1", "load5", "load15")
LOAD_DEVIATION = 10
PROCESSORS = (2, 4, 8, 16, 32, 64)
MOST_LOAD = 2 * max(PROCESSORS)

KAPACITOR = "kapacitor_1"
META = tuple(f"meta_{place}" for place in range(1, 4))
DATA = tuple(f"data_{place}" for place in range(1, 8))
CLUSTER_HOSTS = len(META + DATA)
PATH = "/dev/sda1"

_NAMES = texts([*META, *DATA, KAPACITOR])
_CLUSTER = "cluster_id"

CLUSTERED = HostTags(
    {
        "hostname": len(KAPACITOR),
        **{
            _CLUSTER if tag == "team" else tag: characters
            for tag, characters in NUMBERED.lengths.items()
            if tag not in NUMBERED.names
        },
        _CLUSTER: len(str(MOST_MEMBERS // CLUSTER_HOSTS)),
    },
    names=(_CLUSTER, "hostname"),
)
"""Tags of a host, with the cluster in place of the team."""


def list_whole_clusters(first: int, hosts: int) -> range:
    """Return the numbers of the clusters, from 1 on, that are complete in the fleet."""
    since = max(-(-(first - 1) // CLUSTER_HOSTS), 0) + 1
    return range(since, (first + hosts - 1) // CLUSTER_HOSTS + 1)


_HOURS = 1
_HOST = ("hostname",)
_KAPACITOR = (KAPACITOR,)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One panel: aggregates of a table, or some of its stored columns."""

    table: str
    aggregates: tuple[Aggregate, ...] = ()
    by: tuple[str, ...] = ()
    bucket: int | None = None
    newest: int | None = None
    hosts: tuple[str, ...] = ()
    """Names of the hosts to select; empty: all hosts of the cluster."""
    one_of: tuple[OneOf, ...] = ()
    columns: tuple[str, ...] = ()

    def select(self, cluster: int) -> tuple[OneOf, ...]:
        """Return the tags of the panel's rows; `kapacitor_1` needs no cluster."""
        clusters = () if self.hosts == _KAPACITOR else (OneOf(_CLUSTER, (str(cluster),)),)
        hosts = (OneOf("hostname", self.hosts),) if self.hosts else ()
        return (*self.one_of, *clusters, *hosts)

    def query(self, table: Table) -> Query:
        """Return the query about cluster 0 at all times."""
        selection = Selection(self.select(0))
        if self.columns:
            return RowsQuery(table, self.columns, selection)
        return AggregateQuery(
            table, self.aggregates, self.by, self.bucket, selection, newest=self.newest
        )


def _aggregate(function: Function, *columns: str) -> tuple[Aggregate, ...]:
    return tuple(Aggregate(function, column) for column in columns)


_mean, _highest, _last = (
    partial(_aggregate, function) for function in (Function.AVG, Function.MAX, Function.LAST)
)
_PANELS: Mapping[str, _Panel] = {
    "availability": _Panel(
        "status",
        tuple(Aggregate(function, "service_up") for function in (Function.SUM, Function.COUNT)),
    ),
    "cpu-num": _Panel("system", _highest("n_cpus"), bucket=MINUTE_MS, newest=1),
    "cpu-utilization": _Panel("cpu", _mean("usage_user"), _HOST, MINUTE_MS),
    "disk-allocated": _Panel(
        "disk", _highest("total"), bucket=2 * MINUTE_MS, newest=1, hosts=DATA
    ),
    "disk-usage": _Panel("disk", _last("used_percent"), _HOST, hosts=DATA),
    "disk-utilization": _Panel(
        "disk", _highest("used_percent"), _HOST, MINUTE_MS,
        hosts=DATA, one_of=(OneOf("path", (PATH,)),),
    ),
    "kapa-cpu": _Panel("cpu", hosts=_KAPACITOR, columns=("time", "usage_idle")),
    "kapa-load": _Panel(
        "system", hosts=_KAPACITOR, columns=("time", "load5", "load15", "load1")
    ),
    "kapa-ram": _Panel("mem", hosts=_KAPACITOR, columns=("time", "used_percent")),
    "memory-total": _Panel("mem", _last("total"), _HOST, hosts=DATA),
    "memory-utilization": _Panel("mem", _mean("used_percent"), _HOST, MINUTE_MS),
    "queue-bytes": _Panel("postgresql", _mean("temp_files"), _HOST, MINUTE_MS),
    "redis-memory-utilization": _Panel(
        "redis", _mean("used_memory"), ("hostname", "server"), MINUTE_MS
    ),
    "system-load": _Panel("system", _highest("load5", "n_cpus"), _HOST, MINUTE_MS),
}  # fmt: skip
_DERIVATIVE = "it takes the derivative of an aggregate over time"
_NOT_EXPRESSED: Mapping[str, str] = {
    "http-request-duration": f"{_DERIVATIVE}, and a percentile",
    "http-requests": _DERIVATIVE,
    "nginx-requests": _DERIVATIVE,
    "throughput": _DERIVATIVE,
}


_BITS = 16
"""Number of bits in a random fraction that is drawn once for a host."""
_UP = np.arange(2)


class DashboardParams(NumberedParams):
    """The fleet of hosts."""

    series_per_member = 11


class Dashboard(Telemetry):
    """Eleven tables of a fleet of hosts in clusters."""

    name = "dashboard"
    version = 1
    params_model = DashboardParams
    params: DashboardParams
    common_tags = CLUSTERED

    def _measure(self, *, exact: bool) -> tuple[Measurement, ...]:
        loads = [Column(name, Type.FLOAT64, Role.FIELD, exact=exact) for name in LOADS]
        return (
            *(
                replace(each, tags={**each.tags, "path": (PATH,)}) if each.name == "disk" else each
                for each in list_measurements(exact=exact)
            ),
            Measurement(
                SYSTEM,
                (Column("n_cpus", Type.INT64, Role.FIELD), *loads),
                dict.fromkeys(LOADS, Drifting(0)),
            ),
            Measurement(STATUS, (Column("service_up", Type.INT64, Role.FIELD),), {}),
        )

    @cached_property
    def _host_tags(self) -> dict[str, Array]:
        hosts = self._members.all
        clusters, places = -(-hosts // CLUSTER_HOSTS), (hosts - 1) % CLUSTER_HOSTS
        places[hosts == 0] = CLUSTER_HOSTS
        names = {"hostname": _NAMES.take(places), _CLUSTER: texts([*map(str, clusters.tolist())])}
        return {**super()._host_tags, **names}

    def _derive(
        self, table: str, ticks: Rows, hosts: Rows, walked: Mapping[str, Array]
    ) -> Mapping[str, ColumnData]:
        match table:
            case "system":
                loads = {name: self._make_load(name, hosts, free) for name, free in walked.items()}
                return {"n_cpus": Coded(hosts, self._processors), **loads}
            case "status":
                keys = draw(key_of(self.seed, f"{STATUS}.service_up"), self._members.all)
                return {"service_up": Coded(scale(draw_from(keys[hosts], ticks), 2), _UP)}
        return super()._derive(table, ticks, hosts, walked)

    def _make_load(self, name: str, hosts: Rows, free: Array) -> ColumnData:
        """Turn an unbounded walk of deviation 1 into a load."""
        bounds, starts = (
            self._members.numbers(f"{SYSTEM}.{name}.{what}", 1 << _BITS) / (1 << _BITS)
            for what in ("bound", "start")
        )
        highest = (self._processors * (1 + bounds))[hosts]
        moved = free * LOAD_DEVIATION
        if self.params.distribution is Distribution.UNPINNED:
            moved = reflect(moved + starts[hosts] * highest, 0, highest)
        else:
            beyond = BEYOND * LOAD_DEVIATION
            moved = np.clip(reflect(moved + highest, -beyond, highest + beyond), 0, highest)
        if self.params.precision is Precision.FULL:
            return Values(moved)
        return Coded((moved * 64).astype(np.int64), _list_loads())

    @cached_property
    def _processors(self) -> Array:
        return np.array(PROCESSORS).take(self._members.numbers(f"{SYSTEM}.n_cpus", len(PROCESSORS)))

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        return count_queries({table.base: table for table in tables})

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        first = self.params.scale_offset
        clusters = list_whole_clusters(first, self.params.scale)
        windows = self._make_windows(aligned=aligned, until_ms=until_ms)
        named = {table.base: table for table in tables}

        def make_type(name: str, panel: _Panel) -> QueryType:
            query, bucket = panel.query(named[panel.table]), panel.bucket or 1
            if panel.hosts == _KAPACITOR:
                if first:
                    return impossible(
                        f"it asks about {KAPACITOR}, which a fleet with --scale-offset 0 has"
                    )
                return windows.make_type(name, query, _HOURS, bucket)
            if not clusters:
                return impossible(
                    f"it asks about a cluster, and the fleet has none of {CLUSTER_HOSTS} hosts;"
                    f" --scale {CLUSTER_HOSTS + 1} makes one"
                )

            def choose(parameters: RandomParameters, number: int) -> tuple[OneOf, ...]:
                (place,) = parameters.among(number, len(clusters), 1)
                return panel.select(clusters[place])

            return windows.make_type(name, query, _HOURS, bucket, choose)

        types = {name: make_type(name, panel) for name, panel in _PANELS.items()}
        for name, reason in _NOT_EXPRESSED.items():
            types[name] = impossible(f"{reason}, which the language of queries does not express")
        return dict(sorted(types.items()))


@cache
def _list_loads() -> Array:
    return np.arange(MOST_LOAD * 64 + 1) / 64
