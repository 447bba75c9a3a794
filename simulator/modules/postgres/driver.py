"""Servers that speak PostgreSQL's protocol, through psycopg2: options, connection, errors."""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from simulator.errors import with_remedy
from simulator.modules.contract import EXISTS, MISSING, Options
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.conninfo import redact_address
from simulator.modules.shared.http.tls import CERTIFICATES
from simulator.modules.shared.sql.database import SqlDatabase

_REFUSALS = {
    **CERTIFICATES,
    "certificate verify failed": "name its authority's certificate in sslrootcert; if you do, the "
    "server's certificate has expired or is not valid yet",
    "password authentication failed|no password supplied": "check user and password; a "
    "password past its VALID UNTIL is refused with the same message",
    'database ".*" does not exist': "create it (createdb), or name another",
    'role ".*" does not exist': "name another user",
    "Connection refused|timeout expired|could not translate|No such file|No route": "check that "
    "the server runs, and host and port",
    "no pg_hba.conf entry": "allow this client in the server's pg_hba.conf",
    "too many clients|connection slots": "use fewer workers, or raise max_connections",
    "starting up": "wait until the server has started",
    "^invalid": "write the address as host=... port=... dbname=... user=..., or as a URL "
    "with %-escapes, and set the password separately",
}
"""Pattern of a message of the server or libpq -> remedy."""


class WireOptions(Options):
    """Options of every database that speaks PostgreSQL's protocol."""

    connection_string: SecretStr = Field(
        description="how to reach the database, as a libpq connection string: "
        "host=... port=... dbname=... user=..., or postgresql://user@host:port/database"
    )
    password: SecretStr | None = Field(
        None, description="the user's password, if it is not in connection_string"
    )
    connect_timeout_s: int = Field(10, ge=2, description="how long to wait for a connection")
    driver_finds = ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "~/.pgpass")

    def public(self) -> dict[str, Any]:
        reach, _ = redact_address(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": reach}

    def list_hidden(self) -> set[str]:
        _, passwords = redact_address(self.connection_string.get_secret_value())
        return super().list_hidden() | passwords | {os.environ.get("PGPASSWORD", "")}


class PostgresWire(SqlDatabase[PostgresSession]):
    """A database that speaks PostgreSQL's protocol."""

    options: WireOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "^25006": "connect to the primary, or set default_transaction_read_only to off",
        "^23505": "rows with these keys are already stored; run with --clean, or use another "
        "--primary-key",
        "^42501": "grant the permission: GRANT CREATE, USAGE ON SCHEMA ... TO ..., or make this "
        "user the owner of the tables",
        "^42883": "set install_extensions=true, or choose another --primary-key",
        "^42P01": MISSING,
        "^42P07": EXISTS,
        "^53100": "free disk space on the server",
        "^57014": "raise statement_timeout or lock_timeout on the server, or for this user",
        "^P0001": SqlDatabase.mismatch,
        "^53200": "raise max_locks_per_transaction, if the server names it, or add memory",
    }
    """Pattern of the SQLSTATE and the server's message -> remedy."""

    def connect(self) -> PostgresSession:
        settings = (f"SET {name} = {to}" for name, to in self.session_settings().items())
        return self.open(self._connect("; ".join(settings))[0])

    def identify(self) -> str:
        # Without settings, which another product may refuse.
        connection, ((version,),) = self._connect("SELECT version()")
        connection.close()
        return str(version)

    def _connect(self, statement: str) -> tuple[Any, list[tuple[Any, ...]]]:
        """Open a connection and run a statement; return the connection and the rows."""
        import psycopg2

        try:
            connection = psycopg2.connect(**self._libpq_options())
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    if statement:
                        cursor.execute(statement)
                    rows = cursor.fetchall() if cursor.description else []
            except BaseException:  # also Ctrl-C: the connection is closed
                connection.close()
                raise
        except psycopg2.Error as error:
            # Not `from error`: libpq quotes what it cannot parse, and that may be a password.
            raise self.setup_error(error) from None
        return connection, rows

    def open(self, connection: Any) -> PostgresSession:
        """Return the session of a connection."""
        return PostgresSession(connection, self.dialect_of)

    def session_settings(self) -> dict[str, str]:
        """Return the settings that statements and answers rely on."""
        return {
            "timezone": "'UTC'",
            "standard_conforming_strings": "on",
            "extra_float_digits": "3",
        }

    def _libpq_options(self) -> dict[str, Any]:
        from psycopg2.extensions import parse_dsn

        secrets = self.options.secrets()
        options: dict[str, Any] = {
            "connect_timeout": self.options.connect_timeout_s,
            # The system detects within 30 s that the server's node is gone.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 4,
            "tcp_user_timeout": 30_000,
            "fallback_application_name": f"benchmark {socket.gethostname()}:{os.getpid()}",
            **parse_dsn(secrets["connection_string"]),
            "client_encoding": "UTF8",
        }
        if "password" in secrets:
            options["password"] = secrets["password"]
        return options

    def change(self, statements: Sequence[str]) -> None:
        self.fetch("; ".join(statements))  # one message is one transaction

    def explain(self, error: Exception) -> str:
        code, words = getattr(error, "pgcode", None), self.words(error)
        if not code:  # a refusal of a connection has no SQLSTATE
            return with_remedy(words, _REFUSALS, self.remedy(error))
        return with_remedy(f"{code} {words}", self.remedies).removeprefix(f"{code} ")

    def words(self, error: Exception) -> str:
        import psycopg2

        if not isinstance(error, psycopg2.Error):
            return super().words(error)
        parts = (error.diag.message_primary, error.diag.message_detail)
        return " ".join((": ".join(filter(None, parts)) or str(error)).split())
