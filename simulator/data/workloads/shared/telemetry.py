"""The tables that workloads of a fleet of hosts share: nine measurements, and how they are drawn.

Row n of a table is (tick, host) = divmod(n, hosts). `devops` has these tables, `dashboard` more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import ClassVar

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.walks import Clamped, Counter, Drifting, Precision, Walk, Walks
from simulator.data.workloads.shared.fleets import DrawnTag, NumberedParams, Tag
from simulator.data.workloads.shared.hosts import (
    NUMBERED,
    PERCENTS,
    USAGE,
    USAGES,
    Hosts,
    HostTags,
    make_host_table,
)

DISK_BYTES = 1 << 40
INODE_BYTES = 4096
MEMORY_BYTES = (8 << 30, 12 << 30, 16 << 30)
BOOT_TIMES = 240


_PORT = DrawnTag("%d", (20_000,), offset=1024)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One table: its own tags and fields, and the walks among the fields."""

    name: str
    columns: tuple[Column, ...]
    """All fields, in the document's order."""
    walks: Mapping[str, Walk]
    """Walks of the fields; for `mem` and `disk` the walks from which fields are computed."""
    tags: Mapping[str, Tag] = field(default_factory=dict)
    """Tags in addition to the tags of every point."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Field that is made of a walk with another name -> the walk."""


def _make_measurement(
    name: str, walks: Mapping[str, Walk], tags: Mapping[str, Tag], *, before: tuple[str, ...] = ()
) -> Measurement:
    """Return a measurement of integers: fields that are not walks, then the walks."""
    columns = tuple(Column(each, Type.INT64, Role.FIELD) for each in (*before, *walks))
    return Measurement(name, columns, walks, tags)


def _repeat(names: str, walk: Walk) -> dict[str, Walk]:
    return dict.fromkeys(names.split(), walk)


_SLOW, _FAST = Counter(5), Counter(50)
_HUNDRED = Clamped(5, 1, 0, 100, start=0)
_THOUSAND = Clamped(5, 1, 0, 1000, start=0)
_TEN_THOUSAND = Clamped(50, 1, 0, 10_000, start=0)
_MEMORY = Clamped(50, 1, 0, 16 << 30, start=8 << 30)
_SHARE = Clamped(0, 1 / 64, 0, 1)
"""Walk of a share of a host's memory."""


def list_measurements(*, exact: bool) -> tuple[Measurement, ...]:
    """Return the nine tables in the document's order; `exact`: doubles are on a grid."""

    def doubles(names: str) -> tuple[Column, ...]:
        return tuple(Column(n, Type.FLOAT64, Role.FIELD, exact=exact) for n in names.split())

    usage = doubles(" ".join(USAGES))
    return (
        Measurement("cpu", usage, dict.fromkeys(USAGES, USAGE)),
        _make_measurement(
            "diskio",
            _repeat("reads writes", _FAST)
            | _repeat("read_bytes write_bytes", Counter(100))
            | _repeat("read_time write_time io_time", _SLOW),
            {"serial": DrawnTag("%03d-%03d-%03d", (1000, 1000, 1000))},
        ),
        Measurement(
            "disk",
            _make_integers("total free used used_percent inodes_total inodes_free inodes_used"),
            {"free": Clamped(50, 1, 0, DISK_BYTES, start=DISK_BYTES // 2)},
            {"path": DrawnTag("/dev/sda%d", (10,)), "fstype": ("ext3", "ext4", "btrfs")},
            dict.fromkeys(("used", "used_percent", "inodes_free", "inodes_used"), "free"),
        ),
        _make_measurement(
            "kernel",
            _repeat(
                "interrupts context_switches processes_forked disk_pages_in disk_pages_out", _SLOW
            ),
            {},
            before=("boot_time",),
        ),
        Measurement(
            "mem",
            _make_integers("total available used free cached buffered")
            + doubles("used_percent available_percent buffered_percent"),
            _repeat("used cached buffered", _SHARE),
            sources={
                **dict.fromkeys(("available", "free", "used_percent", "available_percent"), "used"),
                "buffered_percent": "buffered",
            },
        ),
        _make_measurement(
            "net",
            _repeat("bytes_sent bytes_recv packets_sent packets_recv", _FAST)
            | _repeat("err_in err_out drop_in drop_out", _SLOW),
            {"interface": DrawnTag("eth%d", (4,))},
        ),
        _make_measurement(
            "nginx",
            {
                "accepts": _SLOW,
                "active": _HUNDRED,
                "handled": _SLOW,
                "reading": _HUNDRED,
                "requests": _SLOW,
                "waiting": _HUNDRED,
                "writing": _HUNDRED,
            },
            {"port": _PORT, "server": DrawnTag("nginx_%d", (100_000,))},
        ),
        _make_measurement(
            "postgresql",
            _repeat(
                "numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched"
                " tup_inserted tup_updated tup_deleted conflicts temp_files",
                _THOUSAND,
            )
            | {"temp_bytes": Clamped(1024, 1, 0, 1 << 30, start=0)}
            | _repeat("deadlocks blk_read_time blk_write_time", _THOUSAND),
            {},
        ),
        _make_measurement(
            "redis",
            _repeat("total_connections_received", _SLOW)
            | _repeat("expired_keys evicted_keys keyspace_hits keyspace_misses", _FAST)
            | _repeat(
                "instantaneous_ops_per_sec instantaneous_input_kbps instantaneous_output_kbps",
                Drifting(1),
            )
            | _repeat("connected_clients", _TEN_THOUSAND)
            | _repeat("used_memory used_memory_rss used_memory_peak used_memory_lua", _MEMORY)
            | _repeat("rdb_changes_since_last_save", _TEN_THOUSAND)
            | _repeat(
                "sync_full sync_partial_ok sync_partial_err pubsub_channels pubsub_patterns"
                " latest_fork_usec connected_slaves master_repl_offset repl_backlog_active"
                " repl_backlog_size repl_backlog_histlen",
                _THOUSAND,
            )
            | _repeat("mem_fragmentation_ratio", _HUNDRED)
            | _repeat(
                "used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children",
                _THOUSAND,
            ),
            {"port": _PORT, "server": DrawnTag("redis_%d", (100_000,))},
            before=("uptime_in_seconds",),
        ),
    )


def _make_integers(names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Type.INT64, Role.FIELD) for name in names.split())


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
        self.tables = tuple(
            make_host_table(m.name, m.tags, m.columns, self.name, self.common_tags)
            for m in self._measurements.values()
        )
        self._walks = {
            name: Walks(name, m.walks, seed, params.distribution, params.precision)
            for name, m in self._measurements.items()
        }
        self._own_tags = lru_cache(maxsize=None)(self._draw_own_tags)

    def _measure(self, *, exact: bool) -> tuple[Measurement, ...]:
        """Return the measurements in the document's order; `exact`: doubles are on a grid."""
        return list_measurements(exact=exact)

    def _find_tags(self, table: str) -> dict[str, Array]:
        return {**super()._find_tags(table), **self._own_tags(table)}

    def _draw_fields(self, table: Table, ticks: Rows, hosts: Rows) -> Mapping[str, ColumnData]:
        sources = self._measurements[table.name].sources
        asked = {sources.get(column.name, column.name) for column in table.fields}
        walked = self._draw_walks(self._walks[table.name].only(asked), ticks, hosts)
        return self._derive(table.name, ticks, hosts, walked)

    def _derive(
        self, table: str, ticks: Rows, hosts: Rows, walked: Mapping[str, Array]
    ) -> Mapping[str, ColumnData]:
        """Return the fields that equal these walks or are computed from them."""
        match table:
            case "cpu":
                return {name: self._encode_percentage(values) for name, values in walked.items()}
            case "disk":
                return self._derive_disk(hosts, walked)
            case "mem" if self.params.precision is Precision.GRID:
                return self._derive_coarse_memory(hosts, walked)
            case "mem":
                return self._derive_memory(hosts, walked)
        walks = self._measurements[table].walks
        fields = {name: _cut(walks[name], values) for name, values in walked.items()}
        if table == "kernel":
            fields["boot_time"] = Coded(hosts, self._boot_times)
        if table == "redis":
            fields["uptime_in_seconds"] = Values(ticks * self.params.interval_ms // 1000)
        return fields

    def _derive_disk(self, hosts: Rows, walked: Mapping[str, Array]) -> dict[str, ColumnData]:
        total, inodes = self._disk_totals
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
                "used_percent": Coded(100 * used // DISK_BYTES, _list_whole_numbers(100)),
                "inodes_free": Values(free // INODE_BYTES),
                "inodes_used": Values(used // INODE_BYTES),
            }
        return fields

    def _derive_memory(self, hosts: Rows, shares: Mapping[str, Array]) -> dict[str, ColumnData]:
        total = self._memory_totals.take(hosts)
        parts = {name: (share * total).astype(np.int64) for name, share in shares.items()}
        fields: dict[str, ColumnData] = {
            "total": Coded(hosts, self._memory_totals),
            **{name: Values(part) for name, part in parts.items()},
        }
        if "used" in parts:
            fields["available"] = fields["free"] = Values(total - parts["used"])
            fields["used_percent"] = Values(100 * shares["used"])
            fields["available_percent"] = Values(100 * (1 - shares["used"]))
        if "buffered" in parts:
            fields["buffered_percent"] = Values(100 * shares["buffered"])
        return fields

    def _derive_coarse_memory(
        self, hosts: Rows, shares: Mapping[str, Array]
    ) -> dict[str, ColumnData]:
        total = self._memory_totals.take(hosts) >> _MEBIBYTE_BITS
        parts = {name: (share * total).astype(np.int64) for name, share in shares.items()}
        if "used" in parts:
            parts["available"] = parts["free"] = total - parts["used"]
        percents = {
            name: parts[name] for name in ("used", "available", "buffered") if name in parts
        }
        return {
            "total": Coded(hosts, self._memory_totals),
            **{name: Coded(part, MEBIBYTES) for name, part in parts.items()},
            **{f"{n}_percent": Coded(6400 * p // total, PERCENTS) for n, p in percents.items()},
        }

    def _draw_own_tags(self, table: str) -> dict[str, Array]:
        tags = self._measurements[table].tags
        return {tag: self._members.tag(f"{table}.{tag}", values) for tag, values in tags.items()}

    @cached_property
    def _boot_times(self) -> Array:
        return self._members.numbers("kernel.boot_time", BOOT_TIMES)

    @cached_property
    def _memory_totals(self) -> Array:
        return np.array(MEMORY_BYTES).take(self._members.numbers("mem.total", len(MEMORY_BYTES)))

    @cached_property
    def _disk_totals(self) -> tuple[Array, Array]:
        hosts = self.params.scale
        return np.full(hosts, DISK_BYTES), np.full(hosts, DISK_BYTES // INODE_BYTES)


def _cut(walk: Walk, values: Array) -> ColumnData:
    """Return a walk cut to integers, coded if it has few different ones."""
    cut = values.astype(np.int64, copy=False)
    if isinstance(walk, Clamped) and walk.high <= _MOST_LEVELS:
        return Coded(cut, _list_whole_numbers(int(walk.high)))
    return Values(cut)


@cache
def _list_whole_numbers(highest: int) -> Array:
    return np.arange(highest + 1)
