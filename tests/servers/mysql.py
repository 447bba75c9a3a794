"""MySQL of Debian sid with its own libc, and MariaDB of this machine's Debian release."""

import secrets
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql

from tests.servers import packages
from tests.servers.base import Program, Server

ADMIN = "bench"


class _MySqlLike(Server):
    """The common part of MySQL and MariaDB."""

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `max_connections="50"`."""
        super().__init__()
        self._settings = settings
        self.password = secrets.token_hex(12)

    @abstractmethod
    def daemon(self) -> list[str | Path]:
        """Return the command of the server."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _first_statements(self) -> str:
        """Return the statements that create the administrator, one per line (--init-file)."""
        who = f"'{ADMIN}'@'127.0.0.1'"
        return (
            f"CREATE USER {who} IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL ON *.* TO {who} WITH GRANT OPTION;\n"
        )

    def _arguments(self, **settings: str | Path) -> list[str]:
        return [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]

    def programs(self) -> Iterator[list[Program]]:
        settings = {
            "port": str(self.port()),
            "bind_address": "127.0.0.1",
            "socket": str(self.folder / "socket"),
            "pid_file": str(self.folder / "pid"),
            "skip_name_resolve": "ON",
            "local_infile": "ON",
            **self._settings,
        }
        command = [*self.daemon(), *self._arguments(**settings)]
        yield [Program(self.name, command, self.execute)]

    def options(self, database: str) -> dict[str, Any]:
        return {
            "host": "127.0.0.1",
            "port": self.port(),
            "user": ADMIN,
            "password": self.password,
            "database": database,
        }

    def execute(self, *statements: str, database: str | None = None) -> None:
        """Run statements as the administrator."""
        connection = pymysql.connect(
            host="127.0.0.1",
            port=self.port(),
            user=ADMIN,
            password=self.password,
            database=database,
            autocommit=True,
        )
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def create_database(self, name: str) -> None:
        self.execute(f"CREATE DATABASE {name}")

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name}")


class MySql(_MySqlLike):
    """A MySQL server."""

    name = "mysql"
    targets = ("mysql_innodb", "mysql_myisam")
    version = "9.7.4-2"

    @classmethod
    def build(cls, folder: Path) -> None:
        not_needed = "^perl|libperl|gdbm|gcc-.*-base|openssl-provider|libdb5|modules-db|-common$"
        packages.debian_suite("sid", folder, f"mysql-server-core={cls.version}", skip=not_needed)
        packages.patchelf(folder, "usr/sbin/mysqld")

    def daemon(self) -> list[str | Path]:
        usr = self.home / "usr"
        return [
            usr / "sbin/mysqld",
            "--no-defaults",
            *self._arguments(
                basedir=usr,
                lc_messages_dir=usr / "share/mysql",
                character_sets_dir=usr / "share/mysql/charsets",
                plugin_dir=usr / "lib/mysql/plugin",
                datadir=self.data,
                tmpdir=self.folder / "tmp",
                secure_file_priv="",
                mysqlx="OFF",
            ),
        ]

    def prepare(self) -> None:
        first = self.write("first.sql", self._first_statements())
        self.call([*self.daemon(), "--initialize-insecure", f"--init-file={first}"])
        first.unlink()


class MariaDb(_MySqlLike):
    """A MariaDB server."""

    name = "mariadb"
    targets = ("mariadb",)
    version = "debian"

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.debian(folder, "mariadb-server-core")

    def environment(self) -> dict[str, str]:
        return packages.library_path(self.home)

    def daemon(self) -> list[str | Path]:
        usr = self.home / "usr"
        return [
            usr / "sbin/mariadbd",
            "--no-defaults",
            *self._arguments(
                basedir=usr,
                lc_messages_dir=usr / "share/mysql",
                plugin_dir=usr / "lib/mysql/plugin",
                datadir=self.data,
                tmpdir=self.folder / "tmp",
            ),
        ]

    def prepare(self) -> None:
        self.data.mkdir()
        share = self.home / "usr/share/mysql"
        scripts = [
            "mysql_system_tables.sql",
            "mysql_performance_tables.sql",
            "mysql_system_tables_data.sql",
            "maria_add_gis_sp_bootstrap.sql",
        ]
        tables = "".join((share / name).read_text() for name in scripts)
        bootstrap = f"CREATE DATABASE mysql;\nUSE mysql;\n{tables}"
        self.call([*self.daemon(), "--bootstrap", "--log-warnings=0"], stdin=bootstrap)
        # Accounts require a server that has started with these tables.
        bootstrap = f"FLUSH PRIVILEGES;\n{self._first_statements()}"
        self.call([*self.daemon(), "--bootstrap", "--log-warnings=0"], stdin=bootstrap)
