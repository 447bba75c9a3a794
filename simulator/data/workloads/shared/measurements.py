"""The nine measurements of a fleet of hosts: their tags, fields and walks.

Numbers, names and order come from the document's code; its text leaves them open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.data.schema import Column, Role, Type
from simulator.data.walks import Clamped, Counter, Drifting, Walk
from simulator.data.workloads.shared.fleets import DrawnTag, Tag
from simulator.data.workloads.shared.hosts import USAGE, USAGES

DISK_BYTES = 1 << 40
INODE_BYTES = 4096
MEMORY_BYTES = (8 << 30, 12 << 30, 16 << 30)
BOOT_TIMES = 240


_PORT = DrawnTag("%d", (20_000,), offset=1024)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One table: its own tags and fields, and which of them are walks."""

    name: str
    columns: tuple[Column, ...]
    """All fields, in the document's order."""
    walks: Mapping[str, Walk]
    """Walks of the fields; for `mem` and `disk` the walks from which fields are computed."""
    tags: Mapping[str, Tag] = field(default_factory=dict)
    """Tags in addition to the tags of every point."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Fields that are made of a walk of another name -> that walk."""


def _measurement(
    name: str, walks: Mapping[str, Walk], tags: Mapping[str, Tag], *, before: tuple[str, ...] = ()
) -> Measurement:
    """Return a measurement of integers: fields that are no walks, then the walks."""
    columns = tuple(Column(each, Type.INT64, Role.FIELD) for each in (*before, *walks))
    return Measurement(name, columns, walks, tags)


def _each(names: str, walk: Walk) -> dict[str, Walk]:
    return dict.fromkeys(names.split(), walk)


_SLOW, _FAST = Counter(5), Counter(50)
_HUNDRED = Clamped(5, 1, 0, 100, start=0)
_THOUSAND = Clamped(5, 1, 0, 1000, start=0)
_TEN_THOUSAND = Clamped(50, 1, 0, 10_000, start=0)
_MEMORY = Clamped(50, 1, 0, 16 << 30, start=8 << 30)
_SHARE = Clamped(0, 1 / 64, 0, 1)
"""Share of a host's memory."""


def measurements(*, exact: bool) -> tuple[Measurement, ...]:
    """Return the nine tables in the document's order; `exact`: doubles are on a grid."""

    def doubles(names: str) -> tuple[Column, ...]:
        return tuple(Column(n, Type.FLOAT64, Role.FIELD, exact=exact) for n in names.split())

    usage = doubles(" ".join(USAGES))
    return (
        Measurement("cpu", usage, dict.fromkeys(USAGES, USAGE)),
        _measurement(
            "diskio",
            _each("reads writes", _FAST)
            | _each("read_bytes write_bytes", Counter(100))
            | _each("read_time write_time io_time", _SLOW),
            {"serial": DrawnTag("%03d-%03d-%03d", (1000, 1000, 1000))},
        ),
        Measurement(
            "disk",
            _integers("total free used used_percent inodes_total inodes_free inodes_used"),
            {"free": Clamped(50, 1, 0, DISK_BYTES, start=DISK_BYTES // 2)},
            {"path": DrawnTag("/dev/sda%d", (10,)), "fstype": ("ext3", "ext4", "btrfs")},
            dict.fromkeys(("used", "used_percent", "inodes_free", "inodes_used"), "free"),
        ),
        _measurement(
            "kernel",
            _each(
                "interrupts context_switches processes_forked disk_pages_in disk_pages_out", _SLOW
            ),
            {},
            before=("boot_time",),
        ),
        Measurement(
            "mem",
            _integers("total available used free cached buffered")
            + doubles("used_percent available_percent buffered_percent"),
            _each("used cached buffered", _SHARE),
            sources={
                **dict.fromkeys(("available", "free", "used_percent", "available_percent"), "used"),
                "buffered_percent": "buffered",
            },
        ),
        _measurement(
            "net",
            _each("bytes_sent bytes_recv packets_sent packets_recv", _FAST)
            | _each("err_in err_out drop_in drop_out", _SLOW),
            {"interface": DrawnTag("eth%d", (4,))},
        ),
        _measurement(
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
        _measurement(
            "postgresql",
            _each(
                "numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched"
                " tup_inserted tup_updated tup_deleted conflicts temp_files",
                _THOUSAND,
            )
            | {"temp_bytes": Clamped(1024, 1, 0, 1 << 30, start=0)}
            | _each("deadlocks blk_read_time blk_write_time", _THOUSAND),
            {},
        ),
        _measurement(
            "redis",
            _each("total_connections_received", _SLOW)
            | _each("expired_keys evicted_keys keyspace_hits keyspace_misses", _FAST)
            | _each(
                "instantaneous_ops_per_sec instantaneous_input_kbps instantaneous_output_kbps",
                Drifting(1),
            )
            | _each("connected_clients", _TEN_THOUSAND)
            | _each("used_memory used_memory_rss used_memory_peak used_memory_lua", _MEMORY)
            | _each("rdb_changes_since_last_save", _TEN_THOUSAND)
            | _each(
                "sync_full sync_partial_ok sync_partial_err pubsub_channels pubsub_patterns"
                " latest_fork_usec connected_slaves master_repl_offset repl_backlog_active"
                " repl_backlog_size repl_backlog_histlen",
                _THOUSAND,
            )
            | _each("mem_fragmentation_ratio", _HUNDRED)
            | _each(
                "used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children",
                _THOUSAND,
            ),
            {"port": _PORT, "server": DrawnTag("redis_%d", (100_000,))},
            before=("uptime_in_seconds",),
        ),
    )


def _integers(names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Type.INT64, Role.FIELD) for name in names.split())
