"""Apache Cassandra, and what speaks its protocol (YCQL), through cassandra-driver.

Rows are encoded as the bytes of prepared statements (simulator/encode/cql.py); queries that CQL
cannot answer exactly, or at all, are answered from ranges of tokens (query.py).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.encode.cql import MOST_ROWS
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.cassandra import tables as cql
from simulator.modules.cassandra.query import Renderer
from simulator.modules.shared.tls import CA, CA_FILE, INSECURE

if TYPE_CHECKING:
    from simulator.modules.cassandra.session import CassandraSession

_FLUSH_MS = 100
_NOT_TOLD = 0
"""Of a keyspace whose replication is the server's own, as YugabyteDB's is."""

Consistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"
]
ReadConsistency = Literal["ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "LOCAL_ONE"]

_READ_BACK = {
    "QUORUM": "QUORUM",
    "LOCAL_QUORUM": "LOCAL_QUORUM",
    "EACH_QUORUM": "LOCAL_QUORUM",
    "ALL": "ONE",
}
"""The least consistency that finds every row written with another; ALL for the rest."""


class CassandraOptions(Options):
    """Options of the module `cassandra`."""

    hosts: str = Field(
        description="some nodes of the cluster, with commas between; the others are found through "
        "them"
    )
    port: int = Field(9042, ge=1, le=65535, description="port of CQL's native protocol")
    username: str | None = Field(None, description="user to log in as, if the cluster wants one")
    password: SecretStr | None = Field(None, description="the user's password")
    tls: bool = Field(default=False, description="encrypt; the servers' certificates are checked")
    ca_file: str | None = CA_FILE
    ca: SecretStr | None = CA
    insecure: bool = INSECURE
    local_datacenter: str | None = Field(
        None, description="datacenter to write to and read from; default: that of the first host"
    )
    keyspace: str = Field(
        "benchmark",
        pattern=r"^[A-Za-z][A-Za-z0-9_]{0,47}$",
        description="keyspace of the tables; created if it is not there",
    )
    replication_factor: int = Field(
        3, ge=1, description="on how many nodes each row is stored, in every datacenter"
    )
    replication_class: Literal["NetworkTopologyStrategy", "SimpleStrategy"] = Field(
        "NetworkTopologyStrategy",
        description="how the nodes are chosen, if the keyspace is created",
    )
    consistency: Consistency = Field(
        "LOCAL_QUORUM",
        description="how many of them must have a row before it counts as acknowledged",
    )
    read_consistency: ReadConsistency | None = Field(
        None,
        description="how many of them a query asks; default: as many as find every acknowledged "
        "row, so that answers can be verified",
    )
    clustering_columns: str = Field(
        "",
        description="columns of the primary key behind the tags, such as sequence_number; "
        "default: the time. A row whose key is there already replaces it",
    )
    max_sync_calls: int = Field(
        1,
        ge=1,
        le=1024,
        description="how many sends a worker has on their way at once; 1: it waits for each",
    )
    batches: Literal["partition", "mixed"] = Field(
        "partition",
        description="partition: the rows of a send go in an UNLOGGED batch for each partition "
        "(device), all at once; mixed: in one, whatever their partitions. Rows whose key is an id "
        "of their own go in mixed batches of 16 KiB",
    )
    aggregation_plan: Literal["server", "client"] = Field(
        "server",
        description="server: it aggregates each range of tokens, as far as CQL can; client: rows "
        "are fetched and aggregated here",
    )
    table_options: str = Field(
        "", description="what is added to CREATE TABLE ... WITH, such as compaction = {...}"
    )
    protocol_version: Literal[3, 4, 5] | None = Field(
        None, description="version of the native protocol; default: the highest both sides speak"
    )
    connect_timeout_s: float = Field(10, gt=0, description="how long to wait for a connection")
    request_timeout_s: float = Field(
        60, gt=0, description="how long to wait for an acknowledgement while the node is there"
    )
    query_timeout_s: float = Field(
        600, gt=0, description="how long to wait for a page of an answer while the node is there"
    )


class Cassandra(Database):
    """A keyspace of a cluster."""

    name = "cassandra"
    capabilities = Capabilities(
        modes={
            SINGLE: "one prepared INSERT",
            BATCH: "UNLOGGED batches of prepared INSERTs, one for each partition of the send",
        },
        primary_keys={
            PrimaryKey.NONE: "no id column: ((tags), time) is the key, since CQL has no table "
            "without; see clustering_columns",
            PrimaryKey.CLIENT: "text, sent by the client: each row a partition of its own",
            PrimaryKey.UUID: "uuid(): each row a partition of its own",
        },
        acknowledged="as many replicas as `consistency` says have the row in their commit log and "
        "in memory; their commitlog_sync says whether it was also synced to disk",
        oldest={"Cassandra": (4, 0)},  # tables that show the settings
        limits=(
            "a row whose key is there already replaces it, without a word",
            "a primary key takes no NULL, 65,535 bytes at most, and a partition key no empty text",
            "a timestamp has milliseconds: finer ones are bigint, and booleans tinyint, to add up",
            "groups by time or other columns than the key's: the client fetches and groups rows",
        ),
        # A log that is synced periodically is replayed up to its last marker, of every 100 ms.
    )
    options_model: ClassVar[type[Options]] = CassandraOptions
    options: CassandraOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        options = self.options
        if batch_rows > MOST_ROWS:
            found.append(f"--batch: CQL's batches count their rows in 16 bits: {MOST_ROWS} at most")
        if options.clustering_columns and primary_key is not PrimaryKey.NONE:
            found.append(
                f"--primary-key: {primary_key} makes the id the whole key, and leaves no place for "
                f"clustering_columns={options.clustering_columns}"
            )
        has_ca = bool(options.ca_file or options.ca)
        if (options.insecure or has_ca) and not options.tls:
            found.append("insecure, ca_file and ca are about tls=true; add it, or leave them out")
        if options.insecure and has_ca:
            found.append("insecure=true checks no certificate, so a CA has no use; choose one")
        if (options.username is None) != (options.password is None):
            found.append("username and password belong together; give both or none")
        return found

    def connect(self) -> "CassandraSession":
        """Connect to the cluster's nodes."""
        from simulator.modules.cassandra.connect import connected  # noqa: PLC0415  # the driver
        from simulator.modules.cassandra.session import CassandraSession  # noqa: PLC0415

        try:
            cluster, session = connected(self.options, self._read_consistency)
        except Exception as error:  # noqa: BLE001 - the driver's, the socket's, or TLS's
            raise SetupError(f"cassandra: {self._told(error)}") from None
        return CassandraSession(cluster, session, self.options, self._key_of)

    @property
    def _read_consistency(self) -> str:
        return self.options.read_consistency or _READ_BACK.get(self.options.consistency, "ALL")

    def _key_of(self, table: Table) -> cql.Key:
        return cql.key_of(table, self.options.clustering_columns)

    def _told(self, error: Exception) -> str:
        return self.options.redact(self.explain(error))

    @contextmanager
    def _connected(self) -> Iterator["CassandraSession"]:
        """Connect for something other than a run."""
        from cassandra import DriverException  # noqa: PLC0415
        from cassandra.cluster import NoHostAvailable  # noqa: PLC0415

        with self.connect() as session:
            try:
                yield session
            except (DriverException, NoHostAvailable) as error:
                raise SetupError(f"cassandra: {self._told(error)}") from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none, and their keyspace if it is not there."""
        options = self.options
        names = [(table, name) for table in tables for name in table.names]
        statements = {
            cql.table_name(name): cql.create_table(
                options.keyspace, table, name, self._key_of(table), options.table_options
            )
            for table, name in names
        }
        with self._connected() as session:
            known = _table_names(session, options.keyspace)
            if in_the_way := sorted(known & set(statements)):
                raise SetupError(
                    f"cassandra: keyspace {options.keyspace}: {in_the_way[0]} already exists; drop "
                    "it, or run with --clean"
                )
            self._create_keyspace(session, has_tables=bool(known))
            made: list[str] = []
            try:
                for name, statement in statements.items():
                    made.append(name)
                    _define(session, statement)
            except BaseException:
                for name in made:
                    full = cql.full_name(options.keyspace, name)
                    _define(session, f"DROP TABLE IF EXISTS {full}")
                raise

    def _create_keyspace(self, session: "CassandraSession", *, has_tables: bool) -> None:
        options = self.options
        nodes = len(session.local_nodes)
        if options.replication_factor > nodes:
            raise SetupError(
                f"cassandra: replication_factor={options.replication_factor}, and the datacenter "
                f"has {nodes} node{'s' if nodes > 1 else ''}: no row could have as many replicas; "
                f"add nodes, or --extra-option replication_factor={nodes}"
            )
        replication = (
            f"{{'class': '{options.replication_class}', "
            f"'replication_factor': {options.replication_factor}}}"
        )
        name = cql.quoted(options.keyspace)
        replicas = _replicas(session, options.keyspace)
        if replicas is None:
            _define(session, f"CREATE KEYSPACE {name} WITH replication = {replication}")
        elif replicas in (options.replication_factor, _NOT_TOLD):
            return
        elif has_tables:
            raise SetupError(
                f"cassandra: keyspace {options.keyspace} has other tables, and {replicas} replicas "
                f"of each row where replication_factor={options.replication_factor}; name another "
                "keyspace, or drop this one"
            )
        else:
            _define(session, f"ALTER KEYSPACE {name} WITH replication = {replication}")

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables that are there."""
        keyspace = self.options.keyspace
        with self._connected() as session:
            known = _table_names(session, keyspace)
            for name in map(cql.table_name, former_names(tables)):
                if name in known:
                    _define(session, f"DROP TABLE IF EXISTS {cql.full_name(keyspace, name)}")

    def settle(self, tables: Sequence[Table]) -> None:
        """Write the memtables to disk and wait until no node flushes or compacts.

        CQL has no statement that flushes: `nodetool flush` and `compact` go through JMX, which is
        on the nodes themselves. But a table's memtable is flushed when its flush period is over, so
        that is made short for a moment. What compaction then finds to do is its strategy's choice.
        Servers without virtual tables (Cassandra 3, YugabyteDB) are left to themselves.
        """
        from simulator.modules.cassandra import server  # noqa: PLC0415

        names = [name for table in tables for name in table.names]
        with self._connected() as session:
            if not server.has_views(session):
                return
            self._flush_within(session, names, _FLUSH_MS)
            time.sleep(2 * _FLUSH_MS / 1000)
            self._flush_within(session, names, 0)
            server.wait_until_quiet(session)

    def _flush_within(
        self, session: "CassandraSession", names: Sequence[str], period_ms: int
    ) -> None:
        for name in names:
            full = cql.full_name(self.options.keyspace, name)
            _define(session, f"ALTER TABLE {full} WITH memtable_flush_period_in_ms = {period_ms}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return what the tables take on all nodes, replicas and all; None if it is not told."""
        from simulator.modules.cassandra import server  # noqa: PLC0415

        names = [cql.table_name(name) for table in tables for name in table.names]
        with self._connected() as session:
            return server.size_bytes(session, self.options.keyspace, names)

    def describe(self) -> Server:
        """Return the version, and what the nodes' settings make of an acknowledgement."""
        from simulator.modules.cassandra import server  # noqa: PLC0415

        options = self.options
        with self._connected() as session:
            ((version,),) = session.rows("SELECT release_version FROM system.local")
            nodes = server.settings(session)
            replicas = _replicas(session, options.keyspace) or options.replication_factor
            known = len(session.cluster.metadata.all_hosts())
        durable, durability = server.durability(
            nodes, options.consistency, _acknowledging(options.consistency, replicas), replicas
        )
        return Server(
            version=f"Cassandra {version}",
            nodes=known,
            durability=durability,
            durable=durable,
            settings={
                "consistency": options.consistency,
                "read_consistency": self._read_consistency,
                "replication_factor": str(replicas),
                **(nodes[0] if nodes else {}),
            },
        )

    def render(self, query: Query) -> Statement:
        """Return the query as CQL."""
        server_aggregates = self.options.aggregation_plan == "server"
        return Renderer(self.options.keyspace, self._key_of, server_aggregates).render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        from simulator.modules.cassandra.connect import explained  # noqa: PLC0415

        return explained(error, self.options.hosts)


def _define(session: "CassandraSession", statement: str) -> None:
    """Change the schema, and return once all nodes that are up know it."""
    if not session.session.execute(statement).response_future.is_schema_agreed:
        raise SetupError(
            "cassandra: the nodes do not agree on the schema; see system.peers, and restart the "
            "node whose schema_version differs"
        )


def _table_names(session: "CassandraSession", keyspace: str) -> set[str]:
    found = session.rows(
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = %s", keyspace
    )
    return {name for (name,) in found}


def _replicas(session: "CassandraSession", keyspace: str) -> int | None:
    """Return on how many nodes of this datacenter the keyspace has a row; None if there is none."""
    found = session.rows(
        "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = %s", keyspace
    )
    if not found:
        return None
    ((replication,),) = found
    datacenters = {node.datacenter for node in session.local_nodes}
    for name in (*datacenters, "replication_factor"):
        if name in replication:
            return int(replication[name])
    return _NOT_TOLD


def _acknowledging(consistency: str, replicas: int) -> int:
    """Return how many replicas must have a row before it is acknowledged."""
    fixed = {"ANY": 0, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3, "ALL": replicas}
    return fixed.get(consistency, replicas // 2 + 1)
