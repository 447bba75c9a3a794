"""The nodes of a Cassandra cluster: their schema, settings, and background work.

A virtual table (Cassandra 4 and later) describes the node that answers, so every node is asked.
This file imports the driver, as session.py does.
"""

import time
from collections.abc import Collection, Mapping
from typing import Any

from cassandra.cluster import Cluster, Session
from cassandra.policies import HostDistance
from cassandra.pool import Host

from simulator.errors import SetupError

SYSTEM = "system"
"""The driver's execution profile for the system tables of a node."""
_POLL_S = 0.2
_QUIET_POLLS = 3
_BUSY_POOLS = ("MemtableFlushWriter", "MemtablePostFlush", "CompactionExecutor")
_WORK = {"MemtableFlushWriter": "memtable flushes", "CompactionExecutor": "compaction tasks"}
"""Pools of threads, and what their tasks are called."""


class ClusterNodes:
    """All nodes of the cluster that a session is connected to."""

    def __init__(self, cluster: Cluster, session: Session) -> None:
        self._cluster = cluster
        self._session = session

    @property
    def known(self) -> list[Host]:
        """All nodes, those that are down included."""
        return list(self._cluster.metadata.all_hosts())

    @property
    def local(self) -> list[Host]:
        """The nodes of the datacenter that rows are written to."""
        policy = self._cluster.profile_manager.default.load_balancing_policy
        return [host for host in self.known if policy.distance(host) == HostDistance.LOCAL]

    @property
    def has_virtual_tables(self) -> bool:
        """True if the nodes describe themselves; nodes of Cassandra 3 and YugabyteDB do not."""
        return "system_views" in self._cluster.metadata.keyspaces

    def name_release(self) -> str:
        """Return the release of a node, with its protocol or product."""
        if "versions" in self._cluster.metadata.keyspaces["system"].tables:
            return f"ScyllaDB {self.rows('SELECT version FROM system.versions')[0][0]}"
        return f"CQL {self.rows('SELECT release_version FROM system.local')[0][0]}"

    def rows(self, text: str, *parameters: Any, node: Host | None = None) -> list[tuple[Any, ...]]:
        """Query the system tables of any node, or of this one, and fetch every row."""
        return list(
            self._session.execute(text, parameters or None, execution_profile=SYSTEM, host=node)
        )

    def from_each(self, text: str) -> list[list[tuple[Any, ...]]]:
        """Return the answer of each node that is up."""
        return [self.rows(text, node=host) for host in self.known if host.is_up]

    def settings(self, names: Collection[str]) -> list[dict[str, str]]:
        """Return these settings of each node; an empty list if the nodes do not report them."""
        if not self.has_virtual_tables:
            return []
        answers = self.from_each("SELECT name, value FROM system_views.settings")
        return [{n: value for n, value in answer if n in names and value} for answer in answers]

    def define(self, statement: str) -> None:
        """Change the schema; return once all nodes that are up have the new one."""
        if not self._session.execute(statement).response_future.is_schema_agreed:
            raise SetupError(
                "cassandra: the nodes do not agree on the schema; see system.peers, and restart "
                "the node whose schema_version differs"
            )

    def replication(self, keyspace: str) -> Mapping[str, str] | None:
        """Return a keyspace's replication; None if the keyspace does not exist."""
        rows = self.rows(
            "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = %s", keyspace
        )
        return rows[0][0] if rows else None

    def writes_log(self, keyspace: str) -> bool:
        """Return whether the nodes write rows of a keyspace to their logs (durable_writes)."""
        rows = self.rows(
            "SELECT durable_writes FROM system_schema.keyspaces WHERE keyspace_name = %s", keyspace
        )
        return not rows or rows[0][0] is not False

    def replicas(self, keyspace: str) -> int | None:
        """Return the replicas in the local datacenter; None where unknown, as on YugabyteDB."""
        replication = self.replication(keyspace) or {}
        datacenters = {node.datacenter for node in self.local}
        for name in (*datacenters, "replication_factor"):
            if name in replication:
                return int(replication[name])
        return None

    def names_in(self, keyspace: str, kind: str = "tables") -> set[str]:
        """Return the names of the tables, or views, of a keyspace."""
        column = f"{kind.removesuffix('s')}_name"
        statement = f"SELECT {column} FROM system_schema.{kind} WHERE keyspace_name = %s"
        return {name for (name,) in self.rows(statement, keyspace)}

    def list_views(self, keyspace: str) -> dict[str, str]:
        """Return the materialized views of a keyspace, and the table of each."""
        statement = (
            "SELECT view_name, base_table_name FROM system_schema.views WHERE keyspace_name = %s"
        )
        return dict(self.rows(statement, keyspace))

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
            time.sleep(_POLL_S)  # a node sends no event when it is done

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
