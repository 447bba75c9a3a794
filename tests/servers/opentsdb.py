"""OpenTSDB on a standalone HBase: ZooKeeper, master and region server in one process.

OpenTSDB requires Java 8: missing packages are added, and hidden ones are opened.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import packages
from tests.servers.base import Program, Server, answers

_HBASE = "2.6.4-hadoop3"
_LOG4J = "2.17.2"
_TABLES = Path(__file__).parents[2] / "dbinstall/opentsdb/OpenTsdbTables.java"
_OPENED = ("java.lang", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
           "java.util.concurrent", "sun.nio.ch", "jdk.internal.ref")  # fmt: skip
MAX_TAGS = 16
"""Workload devops has 12."""
_READY = b"Master has completed initialization"
_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %-5p %c{1} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""
_LOGBACK = """\
<configuration>
<appender name="console" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %-5level %logger{20} %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="console"/></root>
</configuration>
"""


class OpenTsdb(Server):
    """A TSD and an HBase."""

    name = "opentsdb"
    targets = ("opentsdb",)
    version = "2.4.1"
    ready_s = 180

    def __init__(self, **settings: str) -> None:
        """Take settings of the TSD, as in `tsd_storage_fix_duplicates="false"`, and `heap`."""
        super().__init__()
        self._heap = settings.pop("heap", "512m")
        """Of HBase and of the TSD."""
        self._settings = {
            name if "." in name else name.replace("_", ".", 2): value
            for name, value in settings.items()
        }
        self._reported = 0

    @classmethod
    def build(cls, folder: Path) -> None:
        hbase, tsd = folder / "hbase", folder / "tsd"
        for each in (hbase, tsd):
            each.mkdir()
        logging = [f"org.apache.logging.log4j:{name}:{_LOG4J}"
                   for name in ("log4j-slf4j-impl", "log4j-core", "log4j-1.2-api")]  # fmt: skip
        packages.maven_tree(
            hbase,
            f"org.apache.hbase:hbase-server:{_HBASE}",
            *logging,
            without=("slf4j-reload4j-*", "reload4j-*"),
        )
        packages.maven_tree(
            tsd, f"net.opentsdb:opentsdb:{cls.version}", "javax.xml.bind:jaxb-api:2.3.1"
        )
        javac = packages.need("javac", "default-jdk-headless")
        words = [javac, "-nowarn", "-cp", hbase / "lib/*", "-d", folder / "classes", _TABLES]
        packages.run(words, folder)

    def prepare(self) -> None:
        self.write("conf/log4j2.properties", _LOGGING)
        self.write("conf/logback.xml", _LOGBACK)
        for folder in ("static", "cache"):
            (self.folder / folder).mkdir()
        local = "127.0.0.1"
        hbase = {
            "hbase.rootdir": f"file://{self.folder}/hbase",
            "hbase.tmp.dir": self.folder / "tmp",
            "hbase.zookeeper.property.dataDir": self.folder / "zookeeper",
            "hbase.zookeeper.property.clientPort": self.port("zookeeper"),
            "hbase.zookeeper.quorum": local,
            "zookeeper.session.timeout": 10_000,
            "hbase.cluster.distributed": "false",
            # A file system that writes through, so that the log of a killed HBase is complete.
            "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "hbase.unsafe.stream.capability.enforce": "false",
            "hbase.wal.provider": "filesystem",
            "hbase.master.hostname": "localhost",
            "hbase.unsafe.regionserver.hostname": "localhost",
            "hbase.master.ipc.address": local,
            "hbase.regionserver.ipc.address": local,
            "hbase.master.port": self.port("master"),
            "hbase.regionserver.port": self.port("region server"),
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.master.wait.on.regionservers.interval": 100,
            "hbase.master.wait.on.regionservers.timeout": 500,
            "hbase.master.hfilecleaner.plugins": "",
        }
        properties = (f"<property><name>{name}</name><value>{value}</value></property>"
                      for name, value in hbase.items())  # fmt: skip
        self.write("conf/hbase-site.xml", f"<configuration>{''.join(properties)}</configuration>")
        tsd = {
            "tsd.network.port": self.port(),
            "tsd.network.bind": local,
            "tsd.http.staticroot": self.folder / "static",
            "tsd.http.cachedir": self.folder / "cache",
            "tsd.core.auto_create_metrics": "true",
            "tsd.storage.hbase.zk_quorum": f"{local}:{self.port('zookeeper')}",
            "tsd.storage.fix_duplicates": "true",
            "tsd.storage.max_tags": MAX_TAGS,
            "tsd.http.request.enable_chunked": "true",
            "tsd.http.request.max_chunk": 4 << 20,
            "tsd.http.query.allow_delete": "true",
            # How long a point waits for others; the default of 1000 delays every synchronous put.
            "hbase.rpcs.buffered_flush_interval": 10,
            **self._settings,
        }
        lines = (f"{name} = {value}\n" for name, value in tsd.items())
        self.write("conf/opentsdb.conf", "".join(lines))

    def programs(self) -> Iterator[list[Program]]:
        log = self.log("hbase")
        self._reported = log.stat().st_size if log.exists() else 0
        master = "org.apache.hadoop.hbase.master.HMaster"
        command = [*self._java(self._heap, "hbase"), master, "start"]
        yield [Program("hbase", command, self._hbase_is_ready)]
        made = self.folder / "tables-made"
        if not made.exists():
            self.call([*self._java("256m", "hbase", self.home / "classes"), "OpenTsdbTables"])
            made.touch()
        config = f"--config={self.folder / 'conf/opentsdb.conf'}"
        tsd = [*self._java(self._heap, "tsd"), "net.opentsdb.tools.TSDMain", config]
        yield [Program("tsd", tsd, self.answer_version)]

    def _java(self, heap: str, what: str, *more: Path) -> list[str | Path]:
        path = ":".join(map(str, [self.folder / "conf", *more, self.home / what / "lib" / "*"]))
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
        shown = ["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                 "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"]  # fmt: skip
        java = shutil.which("java") or "java"
        settings = [f"-Xmx{heap}", "-Djava.net.preferIPv4Stack=true"]
        return [java, *settings, *opened, *shown, "-cp", path]

    def _hbase_is_ready(self) -> None:
        """Raise unless the log contains the line after the last start."""
        with self.log("hbase").open("rb") as log:
            log.seek(self._reported)
            if _READY not in log.read():
                raise RuntimeError("the master is not ready")

    def answer_version(self) -> Any:
        """Return the version of the TSD."""
        return json.loads(answers(f"http://127.0.0.1:{self.port()}/api/version"))

    def options(self, database: str) -> dict[str, Any]:
        return {
            "url": f"http://127.0.0.1:{self.port()}",
            "prefix": f"{database}.",
            "max_tags": MAX_TAGS,
        }
