"""Apache Cassandra, and databases that speak its protocol (YCQL), through cassandra-driver.

Rows are sent as encoded parameters of prepared statements (simulator/encode/cql.py). Queries that
CQL cannot answer, or not exactly, are answered from ranges of tokens (query.py).
"""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.encode.cql import MOST_ROWS
from simulator.errors import SetupError
from simulator.modules.cassandra import query as cql
from simulator.modules.cassandra.options import CassandraOptions
from simulator.modules.cassandra.server import SETTINGS, SYSTEM, ClusterNodes, durability
from simulator.modules.cassandra.texts import CqlTexts
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    MISSING,
    SINGLE,
    Capabilities,
    Changes,
    Columns,
    Contents,
    Database,
    Existing,
    ReadCounters,
    Server,
    all_or_none,
    recognize,
    signature,
)
from simulator.modules.shared.http.tls import CERTIFICATES, UNTRUSTED, socket_options, tls_context

if TYPE_CHECKING:
    from cassandra.cluster import Cluster

    from simulator.modules.cassandra.session import CassandraSession

_FLUSH_MS = 100
_COMPACT_S = 6 * 3600.0
_SCHEMA_AGREEMENT_S = 30
_SYSTEM_S = 30
_HEARTBEAT_S = 10  # a node that vanishes is detected after two of them
_MIB = 1 << 20
_READ_BACK = {
    "QUORUM": "QUORUM",
    "LOCAL_QUORUM": "LOCAL_QUORUM",
    "EACH_QUORUM": "LOCAL_QUORUM",
    "ALL": "ONE",
}
"""Consistency of writes -> the lowest read consistency that finds every row; else ALL."""


class Cassandra(Database["CassandraSession"]):
    """A keyspace of a cluster."""

    name = "cassandra"
    urls = ("cassandra://USERNAME@HOSTS:9042/KEYSPACE",)
    capabilities = Capabilities(
        modes={
            SINGLE: "one prepared INSERT",
            BATCH: "UNLOGGED batches of prepared INSERTs, one for each partition among the rows",
            DRIVER: "cassandra-driver's execute_concurrent_with_args, a prepared INSERT for each "
            "row",
        },
        primary_keys={
            PrimaryKey.NONE: "no id column: ((tags), time) is the key, since every CQL table has "
            "one; see clustering_columns",
            PrimaryKey.CLIENT: "text, sent by the client: each row is a partition of its own",
            PrimaryKey.UUID: "uuid(): each row is a partition of its own",
        },
        acknowledged="as many replicas as `consistency` demands have the row in their commit log "
        "and in memory; their commitlog_sync decides whether it was also synced to disk",
        oldest={"Cassandra": (4, 0)},
        by_version={"Cassandra": "virtual tables, which show the settings"},
        unsupported={
            Feature.QUOTIENTS: "CQL has no arithmetic in conditions",
            Feature.SUBQUERIES: "CQL has no subqueries",
        },
        in_client="merges the aggregates of ranges of tokens and of several tables; fetches rows "
        "for groups by time or by columns outside the key, for first values, for the newest row of "
        "groups other than partitions, and for distinct values",
        changes=Changes(
            no_retags="CQL updates a row by its whole key, so each row of a series by itself",
            corrects="INSERT: a row replaces another one with the same key",
            keys=frozenset({PrimaryKey.NONE, PrimaryKey.CLIENT}),
            deletes="DELETE by partition, or row by row where partitions have one row",
        ),
        plans="a trace of each statement, for the first range of tokens",
        limits=(
            "a row with an existing key silently replaces that row",
            "a primary key has no NULL and at most 65,535 bytes, a partition key no empty text",
            "timestamps have milliseconds: finer ones are stored as bigint; booleans as tinyint",
        ),
    )
    options_model: ClassVar[type[CassandraOptions]] = CassandraOptions
    options: CassandraOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "no address is known|Name or service": "check the hosts",
        "[Uu]sername|Bad credentials|AuthenticationFailed": "check username and password",
        **CERTIFICATES,
        "CERTIFICATE_VERIFY_FAILED": UNTRUSTED,
        "SSL|ssl|PROTOCOL_ERROR|Connection reset": "check whether the cluster uses TLS: tls=true "
        "or false",
        "Unable to connect to any servers": "check the hosts, port and local_datacenter: no node "
        "of the datacenter was found",
        "Connection refused|timed out|OperationTimedOut|No route": "check that the nodes run, and "
        "hosts and port",
        "[Bb]atch too large": "raise the server's batch_size_fail_threshold, use a smaller "
        "--batch, or remove batches=mixed",
        "unconfigured table|([Tt]able|[Kk]eyspace) .* does not exist": MISSING,
        "Unavailable": "start the missing nodes, or lower consistency or replication_factor",
        "WriteTimeout": "the replicas are overloaded: use fewer workers or a smaller --batch, or "
        "raise the server's write_request_timeout",
        "ReadTimeout|ReadFailure": "raise the server's range_request_timeout and "
        "read_request_timeout",
        r"Unauthorized.* system_views\b": "GRANT SELECT ON KEYSPACE system_views TO the user",
        "Unauthorized": "GRANT ALL PERMISSIONS ON KEYSPACE ... TO the user",
    }

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        options = self.options
        found += options.list_excluded("batches", "max_sync_calls")
        if batch_rows > MOST_ROWS:
            found.append(f"--batch: a CQL batch has at most {MOST_ROWS} rows, got {batch_rows}")
        if options.clustering_columns and key is not PrimaryKey.NONE:
            found.append(
                f"--primary-key: {key} makes the id the whole key, so "
                f"clustering_columns={options.clustering_columns} has no effect; remove one of both"
            )
        has_ca = bool(options.ca_file or options.ca)
        if (options.insecure or has_ca) and not options.tls:
            found.append("insecure, ca_file and ca have no effect without tls=true")
        if options.insecure and has_ca:
            found.append("insecure=true verifies no certificate, and ca_file and ca do; choose one")
        if (options.username is None) != (options.password is None):
            found.append("username and password belong together; set both or none")
        return found

    # --- connecting

    def connect(self) -> "CassandraSession":
        from simulator.modules.cassandra.session import CassandraSession, RowLayout

        options = self.options
        try:
            cluster = self._cluster()
            try:
                session = cluster.connect(wait_for_all_pools=True)
            except BaseException:  # also Ctrl-C: the driver's threads end
                cluster.shutdown()
                raise
        except SetupError:
            raise
        except Exception as error:  # noqa: BLE001 - of the driver, the socket, or TLS
            raise self.setup_error(error) from None
        layout = RowLayout(options.keyspace, self._key_of, options.batches == "mixed")
        in_flight, timeout_s = options.max_sync_calls, options.request_timeout_s
        return CassandraSession(cluster, session, layout, in_flight, timeout_s)

    def _cluster(self) -> "Cluster":
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster

        from simulator.modules.cassandra.session import QUERIES, profile

        options = self.options
        local = partial(profile, options.local_datacenter or "")
        optional: dict[str, Any] = {}
        if options.protocol_version is not None:
            optional["protocol_version"] = options.protocol_version
        if options.username is not None:
            password = options.secrets().get("password", "")
            optional["auth_provider"] = PlainTextAuthProvider(options.username, password)
        if options.tls:
            context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
            optional["ssl_context"] = context
        return Cluster(
            contact_points=[host for host in re.split(r"[\s,]+", options.hosts) if host],
            port=options.port,
            execution_profiles={
                EXEC_PROFILE_DEFAULT: local(options.consistency, options.request_timeout_s),
                QUERIES: local(self._read_consistency, options.query_timeout_s),
                SYSTEM: local("LOCAL_ONE", _SYSTEM_S),
            },
            compression=False,
            # They include TCP_NODELAY, without which every batch would take 40 ms: its last packet
            # would wait for the acknowledgement of the packets before.
            sockopts=socket_options(),
            connect_timeout=options.connect_timeout_s,
            control_connection_timeout=options.connect_timeout_s,
            max_schema_agreement_wait=_SCHEMA_AGREEMENT_S,
            idle_heartbeat_interval=_HEARTBEAT_S,
            idle_heartbeat_timeout=_HEARTBEAT_S,
            **optional,
        )

    @property
    def _read_consistency(self) -> str:
        return self.options.read_consistency or _READ_BACK.get(self.options.consistency, "ALL")

    @property
    def late(self) -> str:
        """The reason for a read_consistency that may ask only replicas without the row."""
        read = self.options.read_consistency
        enough = {_READ_BACK.get(self.options.consistency, "ALL"), "ALL"}
        if read is None or read in enough or self.options.replication_factor == 1:
            return ""
        return f"read_consistency={read}: a read may ask replicas that do not have the row yet"

    def _key_of(self, table: Table) -> cql.TableKey:
        return cql.key_of(table, self.options.clustering_columns)

    # --- tables

    no_statements: ClassVar[str] = ""

    def carry_out(self, statement: str) -> None:
        with self.administration() as session:
            session.session.set_keyspace(self.options.keyspace)
            session.session.execute(statement)

    def objects(self, table: Table) -> list[str]:
        return [*map(cql.table_name, table.names)]

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            keyspace = self.options.keyspace
            kinds = dict.fromkeys(session.nodes.list_tables(keyspace), Existing("table"))
            for (name,) in session.nodes.read_schema("views", "view_name", keyspace):
                kinds[name] = Existing("materialized view", alike=False)
        return {name: kinds[name] for name in names if name in kinds}

    def _read_schema(self, kind: str, columns: str) -> list[tuple[Any, ...]]:
        with self.administration() as session:
            return session.nodes.read_schema(kind, columns, self.options.keyspace)

    def find_attached(self, names: Collection[str]) -> list[str]:
        views = self._read_schema("views", "view_name, base_table_name")
        return sorted(f"materialized view {view} on {of}" for view, of in views if of in names)

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        comments = dict(self._read_schema("tables", "table_name, comment"))
        return {n: comments[n] == signature(n) for n in names if n in comments}

    def columns_in(self, name: str) -> Columns:
        columns = self._read_schema("columns", "table_name, column_name, type")
        return {column: kind for each, column, kind in columns if each == name}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            yield {c.name: cql.type_name(c, table.time_unit) for c in table.columns}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the size only: counting the rows of a table takes as long as reading it."""
        return Contents(None, self.size_bytes([Table(name, (), ())]))

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        options = self.options
        statements = {
            cql.table_name(name): cql.create_table(
                options.keyspace, table, name, self._key_of(table), options.table_options
            )
            for table in tables
            for name in table.names
        }
        with self.administration() as session, all_or_none() as undo:
            known = session.nodes.list_tables(options.keyspace)
            if in_the_way := sorted(known & set(statements)):
                raise self.already_exists(f"keyspace {options.keyspace}: {in_the_way[0]}")
            self._create_keyspace(session.nodes)
            for name, statement in statements.items():
                full = cql.full_name(options.keyspace, name)
                undo(session.nodes.define, f"DROP TABLE IF EXISTS {full}")
                session.nodes.define(statement)

    def _create_keyspace(self, nodes: ClusterNodes) -> None:
        """Create the keyspace if it does not exist."""
        options, wanted = self.options, self.options.replication_factor
        present = len(nodes.local_hosts)
        if wanted > present:
            raise SetupError(
                f"cassandra: replication_factor={wanted} needs {wanted} nodes, but the datacenter "
                f"has {present} node{'s' if present > 1 else ''}; add nodes, or --extra-option "
                f"replication_factor={present}"
            )
        replication = f"{{'class': '{options.replication_class}', 'replication_factor': {wanted}}}"
        name, existing = cql.quote(options.keyspace), nodes.replication(options.keyspace)
        replicas = nodes.replicas(options.keyspace)
        if existing is None:
            nodes.define(f"CREATE KEYSPACE {name} WITH replication = {replication}")
        elif replicas is not None and replicas != wanted:
            raise SetupError(
                f"cassandra: keyspace {options.keyspace} exists and has {replicas} replicas of "
                f"each row, not replication_factor={wanted}; use another keyspace, or "
                f"--extra-option replication_factor={replicas}"
            )

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            keyspace = self.options.keyspace
            for name in sorted({*names} & session.nodes.list_tables(keyspace)):
                full = cql.full_name(keyspace, name)
                session.nodes.define(f"DROP TABLE IF EXISTS {full}")

    def compact(self, tables: Sequence[Table]) -> None:
        """Write the memtables to disk and wait until no node flushes or compacts.

        CQL has no statement that flushes, and only the nodes themselves can reach the JMX of
        `nodetool flush` and `compact`. But a node flushes a memtable when the table's flush period
        ends, so the period is made short for a moment. The compaction strategy then decides what
        to compact. Servers without virtual tables (Cassandra 3, YugabyteDB) compact on their own.
        """
        with self.administration() as session:
            if not session.nodes.has_virtual_tables:
                return
            self._flush_within(session.nodes, tables, _FLUSH_MS)
            time.sleep(2 * _FLUSH_MS / 1000)  # no node reports that the period has ended
            self._flush_within(session.nodes, tables, 0)
            session.nodes.wait_until_quiet(_COMPACT_S)

    def _flush_within(self, nodes: ClusterNodes, tables: Sequence[Table], period_ms: int) -> None:
        for name in names_of(tables):
            full = cql.full_name(self.options.keyspace, name)
            nodes.define(f"ALTER TABLE {full} WITH memtable_flush_period_in_ms = {period_ms}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of all replicas of the tables; each node rounds up to whole MiB."""
        names = {cql.table_name(name) for name in names_of(tables)}
        text = "SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage"
        with self.administration() as session:
            if not session.nodes.has_virtual_tables:
                return None
            answers = session.nodes.from_each(text)
        return _MIB * sum(
            int(size)
            for answer in answers
            for keyspace, name, size in answer
            if keyspace == self.options.keyspace and name in names
        )

    # --- the server

    def describe(self) -> Server:
        options = self.options
        with self.administration() as session:
            product = recognize(session.nodes.name_release())
            nodes = session.nodes.settings(SETTINGS)
            replicas = session.nodes.replicas(options.keyspace) or options.replication_factor
            known = len(session.nodes.hosts)
            logs = session.nodes.writes_log(options.keyspace)
        durable, sentence = durability(nodes, options.consistency, replicas, logs=logs)
        settings = {
            "consistency": options.consistency,
            "read_consistency": self._read_consistency,
            "replication_factor": str(replicas),
            **(nodes[0] if nodes else {}),
        }
        return Server(str(product), known, sentence, durable, settings)

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return `described`: durable_writes is a property of the keyspace, not of a table."""
        return described

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Count flushes and tasks of compaction."""
        with self.administration() as session:
            yield session.nodes.count_completed

    def translate(self, query: Query) -> Statement:
        server_aggregates = self.options.aggregation_plan == "server"
        return cql.Renderer(self.options.keyspace, self._key_of, server_aggregates).render(query)

    def texts(self, table: Table) -> CqlTexts:
        return CqlTexts(self.options.keyspace, table, [self.name])

    def words(self, error: Exception) -> str:
        """Return the message of the server or the driver; each message of several nodes once."""
        named = type(error).__name__
        if named == "UnresolvableContactPoints":  # it does not contain the names
            return f"no address is known for {self.options.hosts}"
        causes = getattr(error, "errors", None)  # node -> its error
        if named == "NoHostAvailable" and isinstance(causes, dict) and causes:
            by_node = {str(node): self.words(cause) for node, cause in causes.items()}
            return f"{', '.join(by_node)}: {'; '.join(dict.fromkeys(by_node.values()))}"
        words = " ".join(str(error).split())
        if message := re.search(r'message="(.*)"', words):
            return f"{message[1]} ({named})"
        return f"{named}: {words}" if words else named
