"""The tables that workloads of a fleet of hosts share: nine measurements, and how they are drawn.

Row n of a table is (tick, host) = divmod(n, hosts). `devops` has these tables, `dashboard` more.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.schema import Table
from simulator.data.walks import Clamped, Precision, Walk, Walks
from simulator.data.workloads.shared.fleets import NumberedParams
from simulator.data.workloads.shared.hosts import (
    NUMBERED,
    PERCENTS,
    Hosts,
    HostTags,
    table_of_hosts,
)
from simulator.data.workloads.shared.measurements import (
    BOOT_TIMES,
    DISK_BYTES,
    INODE_BYTES,
    MEMORY_BYTES,
    Measurement,
    measurements,
)

MEBIBYTES = np.arange((max(MEMORY_BYTES) >> 20) + 1) << 20
_MEBIBYTE_BITS = 20
_MOST_LEVELS = 10_000


class Telemetry(Hosts):
    """A table of each measurement of a fleet of hosts."""

    common_tags: ClassVar[HostTags] = NUMBERED

    def __init__(self, params: NumberedParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        exact = params.precision is Precision.GRID
        self._measurements = {m.name: m for m in self._measure(exact=exact)}
        self._tables = tuple(
            table_of_hosts(m.name, m.tags, m.columns, self.name, self.common_tags)
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

    def _measure(self, *, exact: bool) -> tuple[Measurement, ...]:
        """Return the measurements in the document's order; `exact`: doubles are on a grid."""
        return measurements(exact=exact)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in the document's order."""
        return self._tables

    def _tags(self, table: str) -> dict[str, Array]:
        return {**super()._tags(table), **self._own_tags(table)}

    def _fields(self, table: Table, ticks: Rows, hosts: Rows) -> Mapping[str, ColumnData]:
        sources = self._measurements[table.name].sources
        asked = {sources.get(column.name, column.name) for column in table.fields}
        walked = self._walked(self._walks[table.name].only(asked), ticks, hosts)
        return self._derive(table.name, ticks, hosts, walked)

    def _derive(
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


def _integers(walk: Walk, values: Array) -> ColumnData:
    """Return a walk cut to integers, coded if it has few different ones."""
    cut = values.astype(np.int64, copy=False)
    if isinstance(walk, Clamped) and walk.high <= _MOST_LEVELS:
        return Coded(cut, _whole_numbers(int(walk.high)))
    return Values(cut)


@cache
def _whole_numbers(highest: int) -> Array:
    return np.arange(highest + 1)
