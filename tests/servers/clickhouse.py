"""ClickHouse 18.16 of Debian bookworm, the newest server in a package registry."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from tests.servers import packages
from tests.servers.base import Program, Server

ADMIN, READER = "bench", "reader"

_CONFIG = """<yandex>
<logger><level>information</level><console>1</console></logger>
<http_port>{http}</http_port><tcp_port>{native}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<user_files_path>{folder}/files/</user_files_path><users_config>{folder}/users.xml</users_config>
{settings}
<default_profile>default</default_profile><default_database>default</default_database>
</yandex>
"""

_USERS = """<yandex>
<profiles><default/><reader><readonly>2</readonly></reader></profiles>
<users>{users}</users>
<quotas><default/></quotas>
</yandex>
"""

_USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>{profile}</profile><quota>default</quota></{name}>
"""


class ClickHouse(Server):
    """A ClickHouse server with an administrator and a read-only user."""

    name = "clickhouse"
    version = "18.16.1"

    def __init__(self, **settings: str) -> None:
        """Take settings of config.xml, as in `mark_cache_size="67108864"`."""
        super().__init__()
        self._settings = {"mark_cache_size": "67108864", **settings}
        self.password = secrets.token_hex(12)

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.debian(folder, "clickhouse-server")

    def environment(self) -> dict[str, str]:
        return packages.library_path(self.home)

    def prepare(self) -> None:
        ports = {"http": self.port("http"), "native": self.port("native")}
        settings = "".join(f"<{name}>{value}</{name}>" for name, value in self._settings.items())
        config = _CONFIG.format(folder=self.folder, settings=settings, **ports)
        self.write("config.xml", config)
        profiles = {ADMIN: "default", READER: "reader"}
        users = [
            _USER.format(name=n, password=self.password, profile=p) for n, p in profiles.items()
        ]
        self.write("users.xml", _USERS.format(users="".join(users)))
        for name in ("data", "files"):
            (self.folder / name).mkdir()

    def programs(self) -> Iterator[list[Program]]:
        if not self.running:
            # Leftovers of a merge after a crash. Newer servers remove them before they merge; this
            # one does both in parallel, and a merge that comes first fails.
            for left in (self.folder / "data/data").glob("*/*/tmp_merge_*"):
                shutil.rmtree(left)
        command = [self.home / "usr/sbin/clickhouse-server", f"--config={self.folder}/config.xml"]
        yield [Program(self.name, command, self.execute)]

    def options(self, database: str) -> dict[str, Any]:
        return {
            "url": f"http://127.0.0.1:{self.port('http')}",
            "user": ADMIN,
            "password": self.password,
            "database": database,
        }

    def execute(self, *statements: str, database: str = "default") -> None:
        """Run statements as the administrator."""
        for statement in statements or ("SELECT 1",):
            reply = requests.post(
                f"http://127.0.0.1:{self.port('http')}/?database={quote(database)}",
                data=statement.encode(),
                auth=(ADMIN, self.password),
                timeout=30,
            )
            if reply.status_code != requests.codes.ok:
                raise RuntimeError(reply.text)

    def create_database(self, name: str) -> None:
        self.execute(f"CREATE DATABASE {name}")

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name}")
