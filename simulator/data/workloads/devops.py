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
from pydantic import Field, model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import FleetTable, walks_at
from simulator.data.mixer import below, key_of
from simulator.data.query import Query, Selection
from simulator.data.query_type import QueryType
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.walks import Clamped, Distribution, Precision, Walk, Walks
from simulator.data.workloads.base import DurationMs, EndMs, Params, Workload
from simulator.data.workloads.devops_queries import HOUR_MS, DrawnQueries, fixed_queries
from simulator.data.workloads.devops_tables import (
    BOOT_TIMES,
    DATACENTERS,
    DISK_BYTES,
    HOST_TAGS,
    INODE_BYTES,
    MEMORY_BYTES,
    Drawn,
    Measurement,
    Tag,
    measurements,
)

PERCENTS = np.arange(100 * 64 + 1) / 64
MEBIBYTES = np.arange((max(MEMORY_BYTES) >> 20) + 1) << 20
_MEBIBYTE_BITS = 20
_MOST_LEVELS = 10_000


class DevopsParams(Params):
    """The fleet, its time, and how its values are drawn."""

    scale: int = Field(1, ge=1, le=100_000_000, description="hosts")
    interval_ms: DurationMs = Field(10_000, ge=1, description="from one point to the next")
    duration_ms: EndMs = Field(6 * HOUR_MS, ge=1, description="end of the data, exclusive")
    distribution: Distribution = Field(
        Distribution.UNPINNED,
        description="documented: gauges reach their upper clamp and stay there, as in the document",
    )
    precision: Precision = Field(
        Precision.GRID, description="grid: about 13 bits a value; full: every bit of a double"
    )

    @property
    def ticks(self) -> int:
        """Points of a host in each table; an interval that is cut short has none."""
        return self.duration_ms // self.interval_ms

    @model_validator(mode="after")
    def _holds_points(self) -> "DevopsParams":
        if not self.ticks:
            raise ValueError(
                f"from start to end are {self.duration_ms} ms, less than an interval of"
                f" {self.interval_ms} ms, so there are no points; choose a later end"
            )
        if self.ticks * self.scale > LANE_ROWS:
            raise ValueError(
                f"scale {self.scale} x {self.ticks} points per host is more than {LANE_ROWS} rows"
                " per table; reduce the scale, or choose an earlier end"
            )
        return self


class Devops(Workload):
    """Nine tables of a fleet of hosts. Row n of a table is (tick, host) = divmod(n, hosts)."""

    name = "devops"
    version = 1
    params_model = DevopsParams
    has_end = True
    params: DevopsParams

    def __init__(self, params: DevopsParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        exact = params.precision is Precision.GRID
        self._measurements = {m.name: m for m in measurements(exact=exact)}
        self._tables = tuple(_table(m) for m in self._measurements.values())
        self._walks = {
            name: Walks(name, m.walks, seed, params.distribution, params.precision)
            for name, m in self._measurements.items()
        }
        self._host_tags = lru_cache(maxsize=None)(self._draw_host_tags)
        self._own_tags = lru_cache(maxsize=None)(self._draw_own_tags)
        self._boot_times = lru_cache(maxsize=None)(self._draw_boot_times)
        self._memory_totals = lru_cache(maxsize=None)(self._draw_memory_totals)
        self._disk_totals = lru_cache(maxsize=None)(self._draw_disk_totals)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The nine tables, in the document's order."""
        return self._tables

    def size(self, table: Table) -> int:
        """Return the number of rows of a table."""
        return self.params.ticks * self.params.scale

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        """Return the points of these rows, ascending."""
        ticks, hosts = np.divmod(rows, self.params.scale)
        levels = {**self._host_tags(), **self._own_tags(table.name)}
        walked = walks_at(self._walks[table.name], ticks, hosts)
        fields = self._fields(table.name, ticks, hosts, walked)
        return {
            table.time.name: Values(ticks * self.params.interval_ms + self.start_ms),
            **{tag: Coded(hosts, values) for tag, values in levels.items()},
            **{column.name: fields[column.name] for column in table.fields},
        }

    def series(self, table: Table) -> int:
        """Return the number of hosts, each of which has one series in every table."""
        return self.params.scale

    def last_ms(self, rows: int) -> int:
        """Return the end of the data."""
        return self.start_ms + self.params.duration_ms

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        """Return the rows of the selection's hosts and times; None if most rows are."""
        tags = {**self._host_tags(), **self._own_tags(table.name)}
        params = self.params
        fleet = FleetTable(tags, params.scale, params.ticks, self.start_ms, params.interval_ms)
        return fleet.candidates(selection)

    def _fields(
        self, table: str, ticks: Rows, hosts: Rows, walked: Mapping[str, Array]
    ) -> dict[str, ColumnData]:
        match table:
            case "cpu":
                return {name: self._percentage(values) for name, values in walked.items()}
            case "disk":
                return self._disk(hosts, walked["free"].astype(np.int64))
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

    def _percentage(self, values: Array) -> ColumnData:
        if self.params.precision is Precision.FULL:
            return Values(values)
        return Coded((values * 64).astype(np.int64), PERCENTS)

    def _disk(self, hosts: Rows, free: Array) -> dict[str, ColumnData]:
        used = DISK_BYTES - free
        total, inodes = self._disk_totals()
        return {
            "total": Coded(hosts, total),
            "free": Values(free),
            "used": Values(used),
            "used_percent": Coded(100 * used // DISK_BYTES, _whole_numbers(100)),
            "inodes_total": Coded(hosts, inodes),
            "inodes_free": Values(free // INODE_BYTES),
            "inodes_used": Values(used // INODE_BYTES),
        }

    def _memory(self, hosts: Rows, shares: Mapping[str, Array]) -> dict[str, ColumnData]:
        total = self._memory_totals().take(hosts)
        used, cached, buffered = (
            (shares[name] * total).astype(np.int64) for name in ("used", "cached", "buffered")
        )
        return {
            "total": Coded(hosts, self._memory_totals()),
            "available": Values(total - used),
            "used": Values(used),
            "free": Values(total - used),
            "cached": Values(cached),
            "buffered": Values(buffered),
            "used_percent": Values(100 * shares["used"]),
            "available_percent": Values(100 * (1 - shares["used"])),
            "buffered_percent": Values(100 * shares["buffered"]),
        }

    def _coarse_memory(self, hosts: Rows, shares: Mapping[str, Array]) -> dict[str, ColumnData]:
        total = self._memory_totals().take(hosts) >> _MEBIBYTE_BITS
        used, cached, buffered = (
            (shares[name] * total).astype(np.int64) for name in ("used", "cached", "buffered")
        )
        available = Coded(total - used, MEBIBYTES)
        return {
            "total": Coded(hosts, self._memory_totals()),
            "available": available,
            "used": Coded(used, MEBIBYTES),
            "free": available,
            "cached": Coded(cached, MEBIBYTES),
            "buffered": Coded(buffered, MEBIBYTES),
            "used_percent": Coded(6400 * used // total, PERCENTS),
            "available_percent": Coded(6400 * (total - used) // total, PERCENTS),
            "buffered_percent": Coded(6400 * buffered // total, PERCENTS),
        }

    def _drawn(self, name: str, bound: int) -> Rows:
        """Return a number below `bound` for each host."""
        return below(key_of(self.seed, name), np.arange(self.params.scale), bound)

    def _draw_host_tags(self) -> dict[str, Array]:
        """Return the tags of every point: name -> the text of each host."""
        names = list(DATACENTERS)
        region = self._drawn("region", len(names))
        letters = np.array([len(DATACENTERS[name]) for name in names])[region]
        place = self._drawn("datacenter", 12) % letters  # 12: 2, 3 and 4 divide it
        centers = [[f"{name}{letter}" for letter in DATACENTERS[name]] for name in names]
        widest = max(map(len, centers))
        table = _texts([text for row in centers for text in (row + [""] * widest)[:widest]])
        return {
            "hostname": _texts([f"host_{host}" for host in range(self.params.scale)]),
            "region": _texts(names).take(region),
            "datacenter": table.take(region * widest + place),
            **{tag: self._tag(tag, values) for tag, values in HOST_TAGS.items()},
        }

    def _draw_own_tags(self, table: str) -> dict[str, Array]:
        tags = self._measurements[table].tags
        return {tag: self._tag(f"{table}.{tag}", values) for tag, values in tags.items()}

    def _tag(self, name: str, tag: Tag) -> Array:
        if not isinstance(tag, Drawn):
            return _texts(tag).take(self._drawn(name, len(tag)))
        numbers = [
            (self._drawn(f"{name}.{place}", bound) + tag.offset).tolist()
            for place, bound in enumerate(tag.bounds)
        ]
        return _texts([tag.form % each for each in zip(*numbers, strict=True)])

    def _draw_boot_times(self) -> Array:
        return self._drawn("kernel.boot_time", BOOT_TIMES)

    def _draw_memory_totals(self) -> Array:
        return np.array(MEMORY_BYTES).take(self._drawn("mem.total", len(MEMORY_BYTES)))

    def _draw_disk_totals(self) -> tuple[Array, Array]:
        hosts = self.params.scale
        return np.full(hosts, DISK_BYTES), np.full(hosts, DISK_BYTES // INODE_BYTES)

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return fixed queries over all of the data."""
        return fixed_queries({table.name: table for table in tables})

    def query_types(self, tables: Sequence[Table], *, aligned: bool) -> dict[str, QueryType]:
        """Return the document's query types, and the fixed queries."""
        (cpu,) = (table for table in tables if table.name == "cpu")
        drawn = DrawnQueries(
            cpu,
            self.seed,
            hosts=self.params.scale,
            since=self.start_ms,
            until=self.start_ms + self.params.ticks * self.params.interval_ms,
            aligned=aligned,
        )
        return {**drawn.types(), **super().query_types(tables, aligned=aligned)}


def _table(measurement: Measurement) -> Table:
    tags = ("hostname", "region", "datacenter", *HOST_TAGS, *measurement.tags)
    columns = (
        Column("time", Type.TIMESTAMP, Role.TIME),
        *(Column(tag, Type.TEXT, Role.TAG) for tag in tags),
        *measurement.columns,
    )
    return Table(measurement.name, columns, key=("hostname", "time"))


def _integers(walk: Walk, values: Array) -> ColumnData:
    """Return a walk cut to integers, coded if it has few different ones."""
    cut = values.astype(np.int64, copy=False)
    if isinstance(walk, Clamped) and walk.high <= _MOST_LEVELS:
        return Coded(cut, _whole_numbers(int(walk.high)))
    return Values(cut)


@cache
def _whole_numbers(highest: int) -> Array:
    return np.arange(highest + 1)


def _texts(values: Sequence[str]) -> Array:
    return np.array([value.encode() for value in values])
