"""Telemetry of a fleet of hosts, as in influxdb-comparisons, use case `devops`.

Nine tables (the document's measurements), 101 fields, one point of each per host and interval:
19,440 points for one host and six hours at 10 s, 77,760 for a day.

Where the document's text, its help text and its code disagree, or do not fit, we decided:

- 101 fields, as in the code. The text says 100.
- Six hours by default, as in the help and the example. The text says a day. The start is
  that of the dataset; the document has 2016-01-01, its later code 2018-01-01.
- The table is called `postgresql`; the document writes `postgresl`.
- Each field of `mem` holds what its name says, and `free` is what is not used. In the code `free`
  holds the cached bytes, `cached` the buffered, `buffered` the used, and `buffered_percent` the
  share that is not buffered.
- `used_percent` is an integer in `disk` and a double in `mem`, as in the code.
- Seed 0 is a seed like any other, not the current time. One dataset is divided by ranges of rows,
  in place of `-interleaved-generation-groups`.

Walks have the laws of the document's code, not its values: those come from one stream, of which no
part can be drawn alone.

- `distribution=documented`: gauges with a drift (`nginx`, `postgresql`, `redis`) reach their upper
  clamp after about 20 or 200 ticks and stay on it, so that their columns are constant. Those in
  bytes (`temp_bytes`, `used_memory`, `free` of `disk`) rise for months or longer first.
  Gauges without a drift (`cpu`, `mem`) are on a clamp as often and as long as in the document.
- `distribution=unpinned`, the default: gauges have no drift, are reflected at their bounds and
  start anywhere between them, so that all hosts and times are alike. Their steps have the
  document's root mean square: sqrt(26) where it has a mean of 5 and a deviation of 1.
- Counters, and the gauges of `redis` without bounds, rise in both as in the document.

Bits per value: doubles (`cpu`, percentages of `mem`) have 12.6 on the grid (0 to 100 in steps of
1/64), and fill a double with full precision (49 bits are drawn); bytes of memory have 14 (steps of
1 MiB) and 34. Other integers are the same in both.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import walks_at
from simulator.data.query import Query
from simulator.data.query_type import QueryType
from simulator.data.schema import Table
from simulator.data.walks import Clamped, Precision, Walk, Walks
from simulator.data.workloads.devops.queries import drawn_types, fixed_queries
from simulator.data.workloads.devops.tables import (
    BOOT_TIMES,
    DISK_BYTES,
    INODE_BYTES,
    MEMORY_BYTES,
    measurements,
)
from simulator.data.workloads.shared.fleets import FleetParams
from simulator.data.workloads.shared.hosts import PERCENTS, Hosts, table_of_hosts

MEBIBYTES = np.arange((max(MEMORY_BYTES) >> 20) + 1) << 20
_MEBIBYTE_BITS = 20
_MOST_LEVELS = 10_000


class DevopsParams(FleetParams):
    """The fleet of hosts."""


class Devops(Hosts):
    """Nine tables of a fleet of hosts."""

    name = "devops"
    version = 1
    params_model = DevopsParams
    params: DevopsParams

    def __init__(self, params: DevopsParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        exact = params.precision is Precision.GRID
        self._measurements = {m.name: m for m in measurements(exact=exact)}
        self._tables = tuple(
            table_of_hosts(m.name, m.tags, m.columns, self.name)
            for m in self._measurements.values()
        )
        self._walks = {
            name: Walks(name, m.walks, seed, params.distribution, params.precision)
            for name, m in self._measurements.items()
        }
        self._own_tags = lru_cache(maxsize=None)(self._draw_own_tags)
        self._boot_times = lru_cache(maxsize=None)(self._draw_boot_times)
        self._memory_totals = lru_cache(maxsize=None)(self._draw_memory_totals)
        self._disk_totals = lru_cache(maxsize=None)(self._draw_disk_totals)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The nine tables, in the document's order."""
        return self._tables

    @property
    def precision(self) -> Precision:
        """As the parameter says."""
        return self.params.precision

    def _tags(self, table: str) -> dict[str, Array]:
        return {**super()._tags(table), **self._own_tags(table)}

    def _fields(self, table: Table, ticks: Rows, hosts: Rows) -> Mapping[str, ColumnData]:
        sources = self._measurements[table.name].sources
        asked = {sources.get(column.name, column.name) for column in table.fields}
        walked = walks_at(self._walks[table.name].only(asked), ticks, hosts)
        return self._derived(table.name, ticks, hosts, walked)

    def _derived(
        self, table: str, ticks: Rows, hosts: Rows, walked: Mapping[str, Array]
    ) -> Mapping[str, ColumnData]:
        """Return the fields that are these walks, or made of them."""
        match table:
            case "cpu":
                return {name: self._percentage(values) for name, values in walked.items()}
            case "disk":
                return self._disk(hosts, walked)
            case "mem" if self.params.precision is Precision.GRID:
                return self._coarse_memory(hosts, walked)
            case "mem":
                return self._memory(hosts, walked)
        walks = self._measurements[table].walks
        fields = {name: _integers(walks[name], values) for name, values in walked.items()}
        if table == "kernel":
            fields["boot_time"] = Coded(hosts, self._boot_times())
        if table == "redis":
            fields["uptime_in_seconds"] = Values(ticks * self.params.interval_ms // 1000)
        return fields

    def _disk(self, hosts: Rows, walked: Mapping[str, Array]) -> dict[str, ColumnData]:
        total, inodes = self._disk_totals()
        fields: dict[str, ColumnData] = {
            "total": Coded(hosts, total),
            "inodes_total": Coded(hosts, inodes),
        }
        if "free" in walked:
            free = walked["free"].astype(np.int64)
            used = DISK_BYTES - free
            fields |= {
                "free": Values(free),
                "used": Values(used),
                "used_percent": Coded(100 * used // DISK_BYTES, _whole_numbers(100)),
                "inodes_free": Values(free // INODE_BYTES),
                "inodes_used": Values(used // INODE_BYTES),
            }
        return fields

    def _memory(self, hosts: Rows, shares: Mapping[str, Array]) -> dict[str, ColumnData]:
        total = self._memory_totals().take(hosts)
        parts = {name: (share * total).astype(np.int64) for name, share in shares.items()}
        fields: dict[str, ColumnData] = {
            "total": Coded(hosts, self._memory_totals()),
            **{name: Values(part) for name, part in parts.items()},
        }
        if "used" in parts:
            fields["available"] = fields["free"] = Values(total - parts["used"])
            fields["used_percent"] = Values(100 * shares["used"])
            fields["available_percent"] = Values(100 * (1 - shares["used"]))
        if "buffered" in parts:
            fields["buffered_percent"] = Values(100 * shares["buffered"])
        return fields

    def _coarse_memory(self, hosts: Rows, shares: Mapping[str, Array]) -> dict[str, ColumnData]:
        total = self._memory_totals().take(hosts) >> _MEBIBYTE_BITS
        parts = {name: (share * total).astype(np.int64) for name, share in shares.items()}
        if "used" in parts:
            parts["available"] = parts["free"] = total - parts["used"]
        percents = {
            name: parts[name] for name in ("used", "available", "buffered") if name in parts
        }
        return {
            "total": Coded(hosts, self._memory_totals()),
            **{name: Coded(part, MEBIBYTES) for name, part in parts.items()},
            **{f"{n}_percent": Coded(6400 * p // total, PERCENTS) for n, p in percents.items()},
        }

    def _draw_own_tags(self, table: str) -> dict[str, Array]:
        tags = self._measurements[table].tags
        return {tag: self._members.tag(f"{table}.{tag}", values) for tag, values in tags.items()}

    def _draw_boot_times(self) -> Array:
        return self._members.numbers("kernel.boot_time", BOOT_TIMES)

    def _draw_memory_totals(self) -> Array:
        return np.array(MEMORY_BYTES).take(self._members.numbers("mem.total", len(MEMORY_BYTES)))

    def _draw_disk_totals(self) -> tuple[Array, Array]:
        hosts = self.params.scale
        return np.full(hosts, DISK_BYTES), np.full(hosts, DISK_BYTES // INODE_BYTES)

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return fixed queries over all of the data."""
        return fixed_queries({table.base: table for table in tables})

    def query_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None = None
    ) -> dict[str, QueryType]:
        """Return the types of the document and of TSBS, and the fixed queries."""
        (cpu,) = (table for table in tables if table.base == "cpu")
        drawn = drawn_types(self._queries_of(cpu, aligned=aligned, until_ms=until_ms))
        return {**drawn, **super().query_types(tables, aligned=aligned, until_ms=until_ms)}


def _integers(walk: Walk, values: Array) -> ColumnData:
    """Return a walk cut to integers, coded if it has few different ones."""
    cut = values.astype(np.int64, copy=False)
    if isinstance(walk, Clamped) and walk.high <= _MOST_LEVELS:
        return Coded(cut, _whole_numbers(int(walk.high)))
    return Values(cut)


@cache
def _whole_numbers(highest: int) -> Array:
    return np.arange(highest + 1)
