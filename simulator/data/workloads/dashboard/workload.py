"""Telemetry of a fleet of hosts in clusters, as in influxdb-comparisons, use case `dashboard`.

Eleven tables: the nine of `devops`, `system` with the processors and the load of a host, and
`status` with its service up or down. Each has a point per host and interval.

Host 0 is `kapacitor_1`, alone in cluster 0; every ten hosts after it form a cluster. Names repeat
in the clusters, so that `cluster_id`, which takes the place of the tag `team`, and `hostname`
identify a host. Values equal the values of `devops` for the host with the same number, if any.

Where the document's code leaves something open, or does not fit, we decided:

- All disks are `/dev/sda1`, as in the code.
- The code starts a load anywhere up to 100 times the number of processors, and so above its bound,
  which is 1 to 2 times as high; with `distribution=documented` it starts at that bound. Loads move
  by 10 at each tick, so that loads of hosts with few processors jump from bound to bound.
- `service_up` is drawn at each tick, from the first on.
- `scale_offset` numbers hosts through all clusters. The code adds it to the clusters only, divided
  by ten.

Bits per value: loads are multiples of 1/64 on the grid (7 to 13 bits), and fill a double with full
precision; the others are as in `devops`.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.mixer import draw, draw_from, key_of, scale
from simulator.data.query import Query
from simulator.data.query_type import QueryType
from simulator.data.schema import Table
from simulator.data.walks import BEYOND, Distribution, Precision, reflect
from simulator.data.workloads.dashboard.queries import list_drawn_types
from simulator.data.workloads.dashboard.tables import (
    CLUSTERED,
    LOAD_DEVIATION,
    MOST_LOAD,
    PROCESSORS,
    STATUS,
    SYSTEM,
    list_clustered_measurements,
    names_of,
    whole_clusters,
)
from simulator.data.workloads.shared.fleets import NumberedParams
from simulator.data.workloads.shared.telemetry import Measurement, Telemetry
from simulator.data.workloads.shared.windows import count_queries

_BITS = 16
"""Bits of a random fraction that a host has once."""
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

    def __init__(self, params: DashboardParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._processors = lru_cache(maxsize=None)(self._draw_processors)

    def _measure(self, *, exact: bool) -> tuple[Measurement, ...]:
        return list_clustered_measurements(exact=exact)

    def _draw_host_tags(self) -> dict[str, Array]:
        return {**super()._draw_host_tags(), **names_of(self._members.all)}

    def _derive(
        self, table: str, ticks: Rows, hosts: Rows, walked: Mapping[str, Array]
    ) -> Mapping[str, ColumnData]:
        match table:
            case "system":
                loads = {name: self._load(name, hosts, free) for name, free in walked.items()}
                return {"n_cpus": Coded(hosts, self._processors()), **loads}
            case "status":
                keys = draw(key_of(self.seed, f"{STATUS}.service_up"), self._members.all)
                return {"service_up": Coded(scale(draw_from(keys[hosts], ticks), 2), _UP)}
        return super()._derive(table, ticks, hosts, walked)

    def _load(self, name: str, hosts: Rows, free: Array) -> ColumnData:
        """Turn an unbounded walk of deviation 1 into a load."""
        bounds, starts = (
            self._members.numbers(f"{SYSTEM}.{name}.{what}", 1 << _BITS) / (1 << _BITS)
            for what in ("bound", "start")
        )
        highest = (self._processors() * (1 + bounds))[hosts]
        moved = free * LOAD_DEVIATION
        if self.params.distribution is Distribution.UNPINNED:
            moved = reflect(moved + starts[hosts] * highest, 0, highest)
        else:
            beyond = BEYOND * LOAD_DEVIATION
            moved = np.clip(reflect(moved + highest, -beyond, highest + beyond), 0, highest)
        if self.params.precision is Precision.FULL:
            return Values(moved)
        return Coded((moved * 64).astype(np.int64), _loads())

    def _draw_processors(self) -> Array:
        return np.array(PROCESSORS).take(self._members.numbers(f"{SYSTEM}.n_cpus", len(PROCESSORS)))

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return the number of rows of each table."""
        return count_queries({table.base: table for table in tables})

    def query_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None = None
    ) -> dict[str, QueryType]:
        """Return the document's panels, and the fixed queries."""
        first, hosts = self.params.scale_offset, self.params.scale
        panels = list_drawn_types(
            {table.base: table for table in tables},
            self._windows(aligned=aligned, until_ms=until_ms),
            whole_clusters(first, hosts),
            has_kapacitor=first == 0,
        )
        return {**panels, **super().query_types(tables, aligned=aligned, until_ms=until_ms)}


@cache
def _loads() -> Array:
    return np.arange(MOST_LOAD * 64 + 1) / 64
