"""PostgreSQL: the installed one, or the packages of this Debian release."""

import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import psycopg2

from tests.servers import packages
from tests.servers.base import Program, Server

ADMIN = "bench"


class Postgres(Server):
    """A PostgreSQL server.

    It requires passwords (scram-sha-256) on all connections, and sorts text by language, not by
    bytes, so that tests also hold on servers with other defaults.
    """

    name = "postgres"
    targets = ("postgresql",)
    version = "debian"
    newest: ClassVar[str] = "usr/lib/postgresql/*/bin/initdb"

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `max_connections="50"`."""
        super().__init__()
        self._settings = settings
        self.password = secrets.token_hex(12)

    @classmethod
    def build(cls, folder: Path) -> None:
        listed = packages.run(["apt-cache", "pkgnames", "postgresql-"], folder)
        majors = re.findall(r"^postgresql-(\d+)$", listed, re.MULTILINE)
        if not majors:
            raise packages.NotInstalled("apt has no PostgreSQL: as root, apt-get update")
        packages.debian(folder, f"postgresql-{max(map(int, majors))}")

    @classmethod
    def install(cls) -> None:
        """Fetch PostgreSQL, unless it is installed."""
        try:
            cls.installed()
        except packages.NotInstalled:
            super().install()

    @classmethod
    def installed(cls) -> Path:
        """Return the folder of the programs of the newest PostgreSQL."""
        found = [path.parent for path in Path("/").glob(cls.newest)]
        on_path = shutil.which("initdb")
        if on_path and not found:
            found = [Path(on_path).resolve().parent]
        if not found:
            found = [path.parent for path in super().installed().glob(cls.newest)]
        return max(found, key=_major_version)

    def environment(self) -> dict[str, str]:
        return packages.library_path(self.home.parents[4]) if _is_unpacked(self.home) else {}

    def prepare(self) -> None:
        password_file = self.write("password", self.password)
        command = [
            self.home / "initdb",
            f"--pgdata={self.folder / 'data'}",
            f"--username={ADMIN}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-sync",
            "--locale=C",
        ]
        if _major_version(self.home) >= 15:  # earlier versions have no ICU collation per database
            command += ["--locale-provider=icu", "--icu-locale=en"]
        self.call(command)
        password_file.unlink()

    def programs(self) -> Iterator[list[Program]]:
        settings = {
            "port": str(self.port()),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "128MB",
            "max_wal_size": "2GB",
            **self._settings,
        }
        command = [self.home / "postgres", "-D", self.folder / "data"]
        command += [item for pair in settings.items() for item in ("-c", "=".join(pair))]
        yield [Program("postgres", command, self.execute, stop_signal=signal.SIGINT)]

    def connection_string(self, database: str = "postgres", user: str = ADMIN) -> str:
        """Return the connection string of a database, without the password."""
        return f"host=127.0.0.1 port={self.port()} dbname={database} user={user}"

    def options(self, database: str) -> dict[str, Any]:
        return {
            "connection_string": self.connection_string(database),
            "password": self.password,
        }

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the administrator."""
        connection = psycopg2.connect(self.connection_string(database), password=self.password)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        finally:
            connection.close()

    def create_database(self, name: str) -> None:
        self.execute(f"CREATE DATABASE {name}")

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Standby(Postgres):
    """A replica of a PostgreSQL server, which follows it until it takes its place."""

    def __init__(self, primary: Postgres) -> None:
        super().__init__()
        self._primary, self.password = primary, primary.password

    def prepare(self) -> None:
        """Copy the primary's files, and have the copy follow it."""
        reach = f"{self._primary.connection_string()} password={self.password}"
        self.call([self.home / "pg_basebackup", f"--pgdata={self.folder / 'data'}",
                   "--write-recovery-conf", "--checkpoint=fast", f"--dbname={reach}"])  # fmt: skip

    def fall_behind(self) -> None:
        """Receive nothing from now on."""
        self.execute("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")

    def promote(self) -> None:
        """Take the primary's place; return once it writes."""
        self.execute("SELECT pg_promote()")


def _is_unpacked(programs: Path) -> bool:
    return programs.is_relative_to(packages.cache())


def _major_version(programs: Path) -> int:
    environment = packages.library_path(programs.parents[4]) if _is_unpacked(programs) else None
    text = subprocess.run(
        [programs / "postgres", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    (major,) = re.findall(r"\(PostgreSQL\) (\d+)", text.stdout)
    return int(major)
