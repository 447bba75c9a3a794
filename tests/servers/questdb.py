"""QuestDB: one jar, run with the installed Java."""

import base64
import json
import secrets
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.servers import packages
from tests.servers.base import Program, Server

USER = "bench"
_OPENED = ("java.lang", "java.nio", "java.time.zone")
_LOGGING = """\
writers=stdout
w.stdout.class=io.questdb.log.LogConsoleWriter
w.stdout.level=ERROR,CRITICAL
"""


class QuestDb(Server):
    """A QuestDB server with authentication."""

    name = "questdb"
    targets = ("questdb",)
    version = "9.3.4"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.need("java", "openjdk-17-jre-headless")
        packages.maven_tree(folder, f"org.questdb:questdb:{cls.version}")

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `cairo_commit_mode="sync"`, and `heap`."""
        super().__init__()
        self._heap = settings.pop("heap", "512m")
        self._settings = {name.replace("_", "."): value for name, value in settings.items()}
        self.password = secrets.token_hex(12)

    def prepare(self) -> None:
        local = "127.0.0.1"
        settings = {
            "http.bind.to": f"{local}:{self.port()}",
            "http.user": USER,
            "http.password": self.password,
            "http.min.enabled": "false",
            "pg.enabled": "false",
            "line.tcp.enabled": "false",
            "telemetry.enabled": "false",
            "shared.worker.count": 2,
            "http.worker.count": 2,
            **self._settings,
        }
        lines = (f"{name}={value}\n" for name, value in settings.items())
        self.write("root/conf/server.conf", "".join(lines))
        self.write("root/conf/log.conf", _LOGGING)

    def programs(self) -> Iterator[list[Program]]:
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
        opened.append("--add-exports=java.base/jdk.internal.math=ALL-UNNAMED")
        command = [
            shutil.which("java") or "java", f"-Xmx{self._heap}", "-XX:+UseParallelGC", *opened,
            "-p", self.home / "lib", "-m", "io.questdb/io.questdb.ServerMain",
            "-d", self.folder / "root", "-n",
        ]  # fmt: skip
        yield [Program(self.name, command, lambda: self.execute("SELECT 1"))]

    def execute(self, statement: str) -> list[list[Any]]:
        """Run a statement as the administrator; return its rows."""
        pair = base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"{self.url}/exec?{urlencode({'query': statement})}",
            headers={"Authorization": f"Basic {pair}"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return list(json.load(reply).get("dataset", ()))

    def options(self, database: str) -> dict[str, Any]:
        return {"url": self.url, "username": USER, "password": self.password}

    def drop_database(self, name: str) -> None:
        """Drop every table: one test at a time uses the server."""
        self.execute("DROP ALL TABLES")
