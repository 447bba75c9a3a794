"""Apache IoTDB: a ConfigNode, which stores the catalogue, and a DataNode, which stores the rows."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from iotdb.table_session import TableSession, TableSessionConfig

from tests.servers import packages
from tests.servers.base import Program, Server, listens

_OPENED = ("java.lang", "java.util", "java.util.concurrent", "java.nio", "java.io", "java.net")
_LOGGING = """\
<configuration>
<appender name="console" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %-5level %logger{20} %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="console"/></root>
</configuration>
"""


class IoTDb(Server):
    """One ConfigNode and one DataNode, with one region each for schema and rows of a database."""

    name = "iotdb"
    version = "2.0.1-beta"
    targets = ("iotdb",)
    ready_s = 180
    settings: ClassVar[Mapping[str, str]] = {}
    """Further lines of iotdb-system.properties."""

    def __init__(self, **settings: str) -> None:
        """Take further settings, as in `timestamp_precision="us"`, and the DataNode's memory."""
        super().__init__()
        self._memory = settings.pop("heap", "640m"), settings.pop("direct_memory", "256m")
        self._settings = settings

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.maven_tree(
            folder,
            f"org.apache.iotdb:iotdb-server:{cls.version}",
            f"org.apache.iotdb:iotdb-confignode:{cls.version}",
        )

    def prepare(self) -> None:
        local = "127.0.0.1"
        config_node = f"{local}:{self.port('config node')}"
        settings = {
            "cluster_name": "bench",
            "cn_internal_address": local,
            "cn_internal_port": self.port("config node"),
            "cn_consensus_port": self.port("config node consensus"),
            "cn_seed_config_node": config_node,
            "dn_rpc_address": local,
            "dn_rpc_port": self.port(),
            "dn_internal_address": local,
            "dn_internal_port": self.port("data node"),
            "dn_mpp_data_exchange_port": self.port("exchange"),
            "dn_schema_region_consensus_port": self.port("schema consensus"),
            "dn_data_region_consensus_port": self.port("data consensus"),
            "dn_seed_config_node": config_node,
            "schema_region_group_extension_policy": "CUSTOM",
            "data_region_group_extension_policy": "CUSTOM",
            "default_schema_region_group_num_per_database": 1,
            "default_data_region_group_num_per_database": 1,
            **self.settings,
            **self._settings,
        }
        lines = (f"{name}={value}\n" for name, value in settings.items())
        self.write("conf/iotdb-system.properties", "".join(lines))
        self.write("conf/logback.xml", _LOGGING)
        for folder in ("udf", "trigger", "pipe"):
            (self.folder / "ext" / folder).mkdir(parents=True)

    def programs(self) -> Iterator[list[Program]]:
        node = "org.apache.iotdb.confignode.service.ConfigNode"
        port = self.port("config node")
        command = [*self._java("256m", "256m"), node, "-s"]
        yield [Program("confignode", command, lambda: listens(port))]
        node = "org.apache.iotdb.db.service.DataNode"
        yield [Program("datanode", [*self._java(*self._memory), node, "-s"], self._accepts)]

    def _java(self, heap: str, direct_memory: str) -> list[str | Path]:
        folder = self.folder
        homes = {"IOTDB_HOME": folder, "CONFIGNODE_HOME": folder, "TSFILE_HOME": folder}
        homes |= {name.replace("HOME", "CONF"): folder / "conf" for name in homes}
        homes |= {"IOTDB_DATA_HOME": folder, "IOTDB_LOG_DIR": folder / "logs"}
        return [
            shutil.which("java") or "java",
            f"-Xms{heap}",
            f"-Xmx{heap}",
            f"-XX:MaxDirectMemorySize={direct_memory}",
            "-Djdk.nio.maxCachedBufferSize=262144",
            "-Dfile.encoding=UTF-8",
            "-Dsun.jnu.encoding=UTF-8",
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
            *(f"-D{name}={path}" for name, path in homes.items()),
            f"-Dlogback.configurationFile={folder / 'conf/logback.xml'}",
            "-cp",
            f"{self.home / 'lib'}/*",
        ]

    def _accepts(self) -> None:
        listens(self.port())

    def options(self, database: str) -> dict[str, Any]:
        return {"host": "127.0.0.1", "port": self.port(), "database": database}

    def execute(self, *statements: str) -> None:
        """Run statements of the table model with the vendor's client."""
        address = f"127.0.0.1:{self.port()}"
        config = TableSessionConfig([address], enable_redirection=False)
        with contextlib.closing(TableSession(config)) as session:
            for statement in statements:
                session.execute_non_query_statement(statement)

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name}")


class IoTDbMicroseconds(IoTDb):
    """IoTDB with timestamps in microseconds."""

    name = "iotdb_us"
    settings: ClassVar[Mapping[str, str]] = {"timestamp_precision": "us"}

    @classmethod
    def install(cls) -> None:
        IoTDb.install()

    @classmethod
    def installed(cls) -> Path:
        return IoTDb.installed()
