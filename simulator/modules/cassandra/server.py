"""The nodes of a Cassandra cluster: schema, settings, durability and background work.

A virtual table (Cassandra 4 and later) describes only the node that answers, so the program asks
every node.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.errors import SetupError

if TYPE_CHECKING:
    from cassandra.cluster import Cluster, Session
    from cassandra.pool import Host

SYSTEM = "system"
"""The driver's execution profile for the system tables of a node."""
_POLL_S = 0.2
_QUIET_POLLS = 3
_BUSY_POOLS = ("MemtableFlushWriter", "MemtablePostFlush", "CompactionExecutor")
_WORK = {"MemtableFlushWriter": "memtable flushes", "CompactionExecutor": "compaction tasks"}
"""Pool of threads -> name of its tasks."""


class ClusterNodes:
    """All nodes of the cluster that a session is connected to."""

    def __init__(self, cluster: "Cluster", session: "Session") -> None:
        self._cluster = cluster
        self._session = session

    @property
    def hosts(self) -> list["Host"]:
        """All nodes, including nodes that are down."""
        return list(self._cluster.metadata.all_hosts())

    @property
    def local_hosts(self) -> list["Host"]:
        """The nodes of the datacenter that rows are written to."""
        from cassandra.policies import HostDistance

        policy = self._cluster.profile_manager.default.load_balancing_policy
        return [host for host in self.hosts if policy.distance(host) == HostDistance.LOCAL]

    @property
    def has_virtual_tables(self) -> bool:
        """True if nodes describe themselves; Cassandra 3 and YugabyteDB do not."""
        return "system_views" in self._cluster.metadata.keyspaces

    def name_release(self) -> str:
        """Return the release of a node, with its protocol or product."""
        if "versions" in self._cluster.metadata.keyspaces["system"].tables:
            return f"ScyllaDB {self.rows('SELECT version FROM system.versions')[0][0]}"
        return f"CQL {self.rows('SELECT release_version FROM system.local')[0][0]}"

    def rows(
        self, text: str, *parameters: Any, node: "Host | None" = None
    ) -> list[tuple[Any, ...]]:
        """Query the system tables of `node`, or of any node, and fetch every row."""
        return list(
            self._session.execute(text, parameters or None, execution_profile=SYSTEM, host=node)
        )

    def from_each(self, text: str) -> list[list[tuple[Any, ...]]]:
        """Return the answers of all nodes that are up."""
        return [self.rows(text, node=host) for host in self.hosts if host.is_up]

    def settings(self, names: Collection[str]) -> list[dict[str, str]]:
        """Return these settings of each node; an empty list if the nodes do not report them."""
        if not self.has_virtual_tables:
            return []
        answers = self.from_each("SELECT name, value FROM system_views.settings")
        return [{n: value for n, value in answer if n in names and value} for answer in answers]

    def define(self, statement: str) -> None:
        """Change the schema; return once all nodes that are up have the new schema."""
        if not self._session.execute(statement).response_future.is_schema_agreed:
            raise SetupError(
                "cassandra: the nodes do not agree on the schema; see system.peers, and restart "
                "the node whose schema_version differs"
            )

    def read_schema(self, kind: str, columns: str, keyspace: str) -> list[tuple[Any, ...]]:
        """Return columns of the schema of a keyspace; `kind` is a table such as "views"."""
        text = f"SELECT {columns} FROM system_schema.{kind} WHERE keyspace_name = %s"
        return self.rows(text, keyspace)

    def list_tables(self, keyspace: str) -> set[str]:
        """Return the names of the tables of a keyspace."""
        return {name for (name,) in self.read_schema("tables", "table_name", keyspace)}

    def replication(self, keyspace: str) -> Mapping[str, str] | None:
        """Return a keyspace's replication; None if the keyspace does not exist."""
        rows = self.read_schema("keyspaces", "replication", keyspace)
        return rows[0][0] if rows else None

    def writes_log(self, keyspace: str) -> bool:
        """Return whether the nodes write rows of a keyspace to their logs (durable_writes)."""
        return (False,) not in self.read_schema("keyspaces", "durable_writes", keyspace)

    def replicas(self, keyspace: str) -> int | None:
        """Return the replicas in the local datacenter; None where unknown, as on YugabyteDB."""
        replication = self.replication(keyspace) or {}
        datacenters = {node.datacenter for node in self.local_hosts}
        for name in (*datacenters, "replication_factor"):
            if name in replication:
                return int(replication[name])
        return None

    def wait_until_quiet(self, timeout_s: float) -> None:
        """Return once no node flushes or compacts; SetupError on timeout."""
        deadline = time.monotonic() + timeout_s
        quiet = 0
        while quiet < _QUIET_POLLS:
            if time.monotonic() > deadline:
                raise SetupError(
                    f"cassandra: the nodes still compact after {timeout_s / 3600:.0f} hours; see "
                    "nodetool compactionstats"
                )
            pools = self.from_each(
                "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools"
            )
            busy = any(
                active or pending
                for pool in pools
                for name, active, pending in pool
                if name in _BUSY_POOLS
            )
            quiet = 0 if busy else quiet + 1
            time.sleep(_POLL_S)  # nodes send no event at the end

    def count_completed(self) -> Mapping[str, int]:
        """Return how many flushes and tasks of compaction all nodes have completed."""
        if not self.has_virtual_tables:
            return {}
        counts = dict.fromkeys(_WORK.values(), 0)
        for pool in self.from_each("SELECT name, completed_tasks FROM system_views.thread_pools"):
            for name, completed in pool:
                if name in _WORK:
                    counts[_WORK[name]] += completed
        return counts


# --- durability

SETTINGS = (
    "batch_size_fail_threshold",
    "commitlog_sync",
    "commitlog_sync_group_window",
    "commitlog_sync_period",
    "commitlog_sync_period_in_ms",
    "write_request_timeout",
    "write_request_timeout_in_ms",
)
"""The settings of a node that a result holds."""


def durability(
    nodes: Sequence[Mapping[str, str]], consistency: str, replicas: int, *, logs: bool = True
) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence.

    `logs`: the nodes write rows of the keyspace to their commit logs.
    """
    if not logs:
        return False, "an acknowledged row is in memory, and lost with it (durable_writes=false)"
    fixed = {"ANY": 0, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3, "ALL": replicas}
    acknowledging = fixed.get(consistency, replicas // 2 + 1)
    if not acknowledging:
        return False, f"an acknowledged row may exist only as a hint ({consistency})"
    where = f"is in the commit log of {acknowledging} of {replicas} replicas ({consistency})"
    kinds = {node.get("commitlog_sync") for node in nodes}
    if not kinds or None in kinds:
        return None, f"an acknowledged row {where}; the server does not report when it is synced"
    if "periodic" not in kinds:
        how = " and ".join(sorted(str(kind) for kind in kinds))
        return True, f"an acknowledged row {where}, already synced to disk (commitlog_sync={how})"
    periods = {
        node.get("commitlog_sync_period") or node.get("commitlog_sync_period_in_ms", "?") + "ms"
        for node in nodes
        if node.get("commitlog_sync") == "periodic"
    }
    how = f"commitlog_sync=periodic, every {', '.join(sorted(periods))}"
    # A restart replays the log up to its last marker, and markers are written every 100 ms.
    survives = (
        "is lost if the server's process is killed within 0.1 s, or its machine fails before the "
        "next sync"
        if acknowledging == 1
        else "survives the loss of one machine, but not a power cut of all at once"
    )
    return False, f"an acknowledged row {where}, synced to disk later: it {survives} ({how})"
