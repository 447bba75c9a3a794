"""What is asked of each node: settings, sizes, and whether it is busy.

Virtual tables (Cassandra 4 and newer) show the node that answers, so every node is asked.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.errors import SetupError
from simulator.modules.cassandra.session import CassandraSession

_MIB = 1 << 20
_POLL_S = 0.2
_QUIET_POLLS = 3
_SETTLE_S = 6 * 3600.0

_BUSY_POOLS = ("MemtableFlushWriter", "MemtablePostFlush", "CompactionExecutor")

SETTINGS = (
    "batch_size_fail_threshold",
    "commitlog_sync",
    "commitlog_sync_group_window",
    "commitlog_sync_period",
    "commitlog_sync_period_in_ms",
    "write_request_timeout",
    "write_request_timeout_in_ms",
)


def has_views(session: CassandraSession) -> bool:
    """Whether the server has virtual tables."""
    return "system_views" in session.cluster.metadata.keyspaces


def on_each_node(session: CassandraSession, text: str) -> list[list[tuple[Any, ...]]]:
    """Return what each node that is up answers."""
    hosts = [host for host in session.cluster.metadata.all_hosts() if host.is_up]
    return [session.rows(text, node=host) for host in hosts]


def settings(session: CassandraSession) -> list[dict[str, str]]:
    """Return the settings of each node that matter here; none where they are not told."""
    if not has_views(session):
        return []
    answers = on_each_node(session, "SELECT name, value FROM system_views.settings")
    return [
        {name: value for name, value in answer if name in SETTINGS and value} for answer in answers
    ]


def size_bytes(session: CassandraSession, keyspace: str, names: Iterable[str]) -> int | None:
    """Return what the tables take on all nodes, which each rounds up to a whole MiB a table."""
    if not has_views(session):
        return None
    wanted = set(names)
    text = "SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage"
    return _MIB * sum(
        int(size)
        for answer in on_each_node(session, text)
        for of_keyspace, name, size in answer
        if of_keyspace == keyspace and name in wanted
    )


def wait_until_quiet(session: CassandraSession) -> None:
    """Return once no node flushes or compacts, nor is about to."""
    deadline = time.monotonic() + _SETTLE_S
    quiet = 0
    while quiet < _QUIET_POLLS:
        if time.monotonic() > deadline:
            raise SetupError(f"cassandra: still compacting after {_SETTLE_S / 3600:.0f} hours")
        pools = on_each_node(
            session, "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools"
        )
        busy = any(
            active or pending
            for pool in pools
            for name, active, pending in pool
            if name in _BUSY_POOLS
        )
        quiet = 0 if busy else quiet + 1
        time.sleep(_POLL_S)


def durability(
    nodes: Sequence[Mapping[str, str]], consistency: str, acknowledging: int, replicas: int
) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and why, in a sentence."""
    where = (
        f"is in the commit log of {acknowledging} of {replicas} replicas ({consistency})"
        if acknowledging
        else f"may be nowhere but in a hint ({consistency})"
    )
    kinds = {node.get("commitlog_sync") for node in nodes}
    if not acknowledging:
        return False, f"an acknowledged row {where}"
    if not kinds or None in kinds:
        return None, f"an acknowledged row {where}; the server does not tell when it syncs it"
    if "periodic" not in kinds:
        how = " and ".join(sorted(str(kind) for kind in kinds))
        return True, f"an acknowledged row {where}, synced to disk before (commitlog_sync={how})"
    periods = {
        node.get("commitlog_sync_period") or node.get("commitlog_sync_period_in_ms", "?") + "ms"
        for node in nodes
        if node.get("commitlog_sync") == "periodic"
    }
    how = f"commitlog_sync=periodic, every {', '.join(sorted(periods))}"
    # What came after the log's last marker is not replayed, and markers are written every 100 ms.
    survives = (
        "may be lost when the server's process is killed within 0.1 s, or its machine before the "
        "next sync"
        if acknowledging == 1
        else "survives the loss of one machine, but not a power cut of all at once"
    )
    return False, f"an acknowledged row {where}, synced to disk later: it {survives} ({how})"
