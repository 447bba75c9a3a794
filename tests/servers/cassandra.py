"""Apache Cassandra, one node or three, from its Maven artifact."""

import os
import secrets
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    Session,
)
from cassandra.policies import RoundRobinPolicy
from cassandra.query import tuple_factory

from tests.servers import packages
from tests.servers.base import Program, Server, listens

ADMIN = "bench"
_TOKENS = 4

# Options of bin/cassandra for Java 17, from conf/jvm17-server.options.
_OPENED = """
    java.base/java.io java.base/java.lang java.base/java.lang.module java.base/java.lang.reflect
    java.base/java.nio java.base/java.util java.base/java.util.concurrent
    java.base/java.util.concurrent.atomic java.base/jdk.internal.loader
    java.base/jdk.internal.math java.base/jdk.internal.module java.base/jdk.internal.ref
    java.base/jdk.internal.reflect java.base/jdk.internal.util.jar java.base/sun.nio.ch
    jdk.compiler/com.sun.tools.javac jdk.management/com.sun.management.internal
""".split()
_EXPORTED = """
    java.base/java.lang.ref java.base/jdk.internal.misc java.base/jdk.internal.ref
    java.base/sun.nio.ch java.management.rmi/com.sun.jmx.remote.internal.rmi
    java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql
    jdk.attach/sun.tools.attach jdk.compiler/com.sun.tools.javac.file jdk.unsupported/sun.misc
""".split()
_SMALL = {
    "memtable_heap_space": "128MiB",
    "memtable_offheap_space": "128MiB",
    "networking_cache_size": "16MiB",
    "write_request_timeout": "10000ms",
    "materialized_views_enabled": "true",
    "user_defined_functions_enabled": "true",
}
# Of conf/jvm-server.options and conf/jvm17-server.options.
_COLLECTOR = """
    -XX:+ParallelRefProcEnabled -XX:MaxTenuringThreshold=1 -XX:G1HeapRegionSize=16m
    -XX:G1RSetUpdatingPauseTimePercent=5 -XX:MaxGCPauseMillis=300
    -XX:InitiatingHeapOccupancyPercent=70 -XX:+AlwaysPreTouch
""".split()
_LOGBACK = """<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
</appender>
<root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""


class Cassandra(Server):
    """A cluster on 127.0.0.1 and the following addresses, with authentication.

    Settings are those of the distribution, except for snapshots of dropped tables. Without `heap`
    it is small, waits longer for writes, as the machine may be busy, and has views and functions.
    """

    name = "cassandra"
    targets = ("cassandra_sync", "cassandra_async")
    version = "5.0.9"
    ready_s = 240
    nodes: ClassVar[int] = 1
    heap: ClassVar[str] = "512m"

    def __init__(self, **settings: str) -> None:
        """Take settings of cassandra.yaml, as in `commitlog_sync="batch"`, and `heap`."""
        super().__init__()
        self._is_small = "heap" not in settings
        self._heap = settings.pop("heap", self.heap)
        self._settings = _SMALL | settings if self._is_small else settings
        self._has_admin = False
        self.password = secrets.token_hex(12)

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.need("java", "openjdk-17-jre-headless")
        packages.maven_tree(folder, f"org.apache.cassandra:cassandra-all:{cls.version}")

    @property
    def addresses(self) -> list[str]:
        """The addresses of the nodes, in order."""
        return [f"127.0.0.{number}" for number in range(1, self.nodes + 1)]

    @property
    def authority(self) -> Path:
        """The self-signed certificate of the nodes."""
        return self.folder / "ca.pem"

    def give(self, folder: Path) -> None:
        """Give files to the server's user, but not while nodes run: files come and go then."""
        if not self.running:
            super().give(folder)

    def prepare(self) -> None:
        self._make_certificate()
        self.write("logback.xml", _LOGBACK)
        for number, address in enumerate(self.addresses):
            self.write(f"node{number + 1}/cassandra.yaml", self._configuration(number, address))

    def _make_certificate(self) -> None:
        names = ",".join(f"ip:{address}" for address in self.addresses)
        store = ["-keystore", self.folder / "keystore.p12", "-storepass", self.password]
        self.call(
            ["keytool", "-genkeypair", "-alias", "node", "-keyalg", "RSA", "-dname", "CN=node",
             "-ext", f"san={names}", "-storetype", "PKCS12", *store]
        )  # fmt: skip
        self.call(
            ["keytool", "-exportcert", "-rfc", "-alias", "node", "-file", self.authority, *store]
        )
        if os.geteuid() == 0:
            shutil.chown(self.authority, "root")
        self.folder.chmod(0o711)
        self.authority.chmod(0o644)

    def _configuration(self, number: int, address: str) -> str:
        data = self.folder / f"node{number + 1}"
        # All nodes are seeds and know their tokens, so they may start together.
        places = [(token * self.nodes + number) for token in range(_TOKENS)]
        tokens = [-(2**63) + (place << 64) // (_TOKENS * self.nodes) + 1 for place in places]
        settings = {
            "cluster_name": "bench",
            "num_tokens": str(_TOKENS),
            "initial_token": '"' + ",".join(map(str, tokens)) + '"',
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "SimpleSnitch",
            "seed_provider": "[{class_name: org.apache.cassandra.locator.SimpleSeedProvider, "
            f'parameters: [{{seeds: "{",".join(self.addresses)}"}}]}}]',
            "listen_address": address,
            "rpc_address": address,
            "storage_port": str(self.port("storage")),
            "native_transport_port": str(self.port()),
            "start_native_transport": "true",
            "client_encryption_options": "{enabled: true, optional: true, "
            f"keystore: {self.folder / 'keystore.p12'}, keystore_password: {self.password}, "
            "store_type: PKCS12, require_client_auth: false}",
            "authenticator": "PasswordAuthenticator",
            "authorizer": "CassandraAuthorizer",
            "data_file_directories": f"[{data / 'data'}]",
            "commitlog_directory": str(data / "commitlog"),
            "hints_directory": str(data / "hints"),
            "saved_caches_directory": str(data / "saved_caches"),
            "cdc_raw_directory": str(data / "cdc_raw"),
            "commitlog_sync": "periodic",
            "commitlog_sync_period": "10000ms",
            "commitlog_segment_size": "32MiB",
            "auto_snapshot": "false",
            **self._settings,
        }
        return "".join(f"{name}: {value}\n" for name, value in settings.items() if value)

    def programs(self) -> Iterator[list[Program]]:
        yield [
            Program(
                f"node{number}",
                self._command(self.folder / f"node{number}"),
                lambda address=address: listens(self.port(), address),
            )
            for number, address in enumerate(self.addresses, 1)
        ]
        if not self._has_admin:
            self._make_admin()
            self._has_admin = True

    def _command(self, node: Path) -> list[str | Path]:
        (agent,) = (self.home / "lib").glob("jamm-*.jar")
        properties = {
            "cassandra.config": f"file://{node / 'cassandra.yaml'}",
            "cassandra.storagedir": node,
            "cassandra.logdir": node,
            "logback.configurationFile": self.folder / "logback.xml",
            "cassandra-foreground": "yes",
            "cassandra.ring_delay_ms": 5000,
            "cassandra.skip_wait_for_gossip_to_settle": 0,
            "cassandra.superuser_setup_delay_ms": 0,
            "cassandra.auth_bcrypt_gensalt_log2_rounds": 4,  # every connection logs in
            "io.netty.tryReflectionSetAccessible": "true",
            "java.net.preferIPv4Stack": "true",
            "java.security.manager": "allow",
            "jdk.attach.allowAttachSelf": "true",
        }
        return [
            "java",
            f"-javaagent:{agent}",
            f"-Xms{self._heap}",
            f"-Xmx{self._heap}",
            "-Xss512k",
            "-XX:+UseG1GC",
            *(["-XX:MaxDirectMemorySize=256m"] if self._is_small else _COLLECTOR),
            *(f"-D{name}={value}" for name, value in properties.items()),
            *(f"--add-opens={module}=ALL-UNNAMED" for module in _OPENED),
            *(f"--add-exports={module}=ALL-UNNAMED" for module in _EXPORTED),
            "-cp",
            f"{node}:{self.home / 'lib'}/*",
            "org.apache.cassandra.service.CassandraDaemon",
        ]

    def _make_admin(self) -> None:
        """Create a superuser who can log in as long as one node is up."""
        deadline = time.monotonic() + self.ready_s
        while True:  # the first superuser is created some time after the port opens
            try:
                cluster, session = self._connect("cassandra", "cassandra")
                break
            except NoHostAvailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
        replication = f"{{'class': 'SimpleStrategy', 'replication_factor': {self.nodes}}}"
        role = f"PASSWORD = '{self.password}' AND SUPERUSER = true AND LOGIN = true"
        try:
            session.execute(f"ALTER KEYSPACE system_auth WITH replication = {replication}")
            session.execute(f"CREATE ROLE {ADMIN} WITH {role}")
        finally:
            cluster.shutdown()

    def connect(self) -> tuple[Cluster, Session]:
        """Connect as the administrator."""
        return self._connect(ADMIN, self.password)

    def _connect(self, user: str, password: str) -> tuple[Cluster, Session]:
        profile = ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(),
            consistency_level=ConsistencyLevel.ONE,
            row_factory=tuple_factory,
            request_timeout=60,
        )
        cluster = Cluster(
            self.addresses,
            self.port(),
            auth_provider=PlainTextAuthProvider(user, password),
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            compression=False,
            max_schema_agreement_wait=30,
        )
        try:
            return cluster, cluster.connect()
        except BaseException:
            cluster.shutdown()
            raise

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements as the administrator; return the answer of the last one."""
        cluster, session = self.connect()
        try:
            answers = [list(session.execute(statement)) for statement in statements]
        finally:
            cluster.shutdown()
        return answers[-1]

    def options(self, database: str) -> dict[str, Any]:
        return {
            "hosts": ",".join(self.addresses),
            "port": self.port(),
            "username": ADMIN,
            "password": self.password,
            "keyspace": database,
            "replication_factor": self.nodes,
        }

    def pause(self, *names: str) -> None:
        """Stop nodes (SIGSTOP): connections stay open, and nothing answers."""
        self._signal(signal.SIGSTOP, names)

    def resume(self, *names: str) -> None:
        """Continue the nodes."""
        self._signal(signal.SIGCONT, names)

    def _signal(self, number: signal.Signals, names: tuple[str, ...]) -> None:
        for name in names or self._running:
            self._running[name][1].send_signal(number)

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP KEYSPACE IF EXISTS {name}")


class CassandraCluster(Cassandra):
    """Three nodes."""

    name = "cassandra_cluster"
    nodes = 3
    heap = "384m"

    @classmethod
    def install(cls) -> None:
        """Fetch the programs, the same as for one node."""
        Cassandra.install()

    @classmethod
    def installed(cls) -> Path:
        """Return the folder of the programs."""
        return Cassandra.installed()
