"""Databases that speak PostgreSQL's protocol, through psycopg2: options, connections, errors."""

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from simulator.errors import SetupError
from simulator.modules.base import Database, Options
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared import sql
from simulator.modules.shared.conninfo import redacted, scrubbed


class WireOptions(Options):
    """Options of every database that speaks PostgreSQL's protocol."""

    connection_string: SecretStr = Field(
        description="how to reach the database, as libpq takes it: "
        "host=... port=... dbname=... user=..., or postgresql://user@host:port/database"
    )
    password: SecretStr | None = Field(
        None, description="the user's password, if it does not stand in connection_string"
    )
    connect_timeout_s: int = Field(10, ge=2, description="how long to wait for a connection")

    def public(self) -> dict[str, Any]:
        """Return the options as they may be shown: where to, and as whom, but no password."""
        reach, _ = redacted(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": reach}


class PostgresWire(Database):
    """A database that speaks PostgreSQL's protocol."""

    options: WireOptions
    dialect: ClassVar[sql.Dialect]

    def connect(self) -> PostgresSession:
        """Open a connection."""
        import psycopg2  # noqa: PLC0415  # a driver is imported only when its module connects

        try:
            connection = psycopg2.connect(**self._reach())
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    settings = self._session_settings().items()
                    if settings:
                        cursor.execute("; ".join(f"SET {name} = {to}" for name, to in settings))
            except BaseException:
                connection.close()
                raise
        except psycopg2.Error as error:
            # Not `from error`: libpq quotes what it cannot read, and that may be a password.
            secrets = self.options.secrets()
            _, passwords = redacted(secrets["connection_string"])
            told = scrubbed(self.explain(error), [*passwords, secrets.get("password", "")])
            raise SetupError(f"{self.name}: {told}") from None
        return self._session(connection)

    def _session_settings(self) -> dict[str, str]:
        """Return what statements and answers rely on, and a server or role may have changed."""
        return {
            "timezone": "'UTC'",
            "standard_conforming_strings": "on",
            "extra_float_digits": "3",
        }

    def _session(self, connection: Any) -> PostgresSession:
        return PostgresSession(connection, self.dialect)

    def _reach(self) -> dict[str, Any]:
        """Return what libpq is to be told."""
        from psycopg2.extensions import parse_dsn  # noqa: PLC0415

        secrets = self.options.secrets()
        reach: dict[str, Any] = {
            "connect_timeout": self.options.connect_timeout_s,
            # A server that is gone without a word, with its node, is missed within 30 s.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 4,
            "tcp_user_timeout": 30_000,
            "fallback_application_name": f"benchmark {socket.gethostname()}:{os.getpid()}",
            **parse_dsn(secrets["connection_string"]),
            "client_encoding": "UTF8",
        }
        if "password" in secrets:
            reach["password"] = secrets["password"]
        return reach

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Open a connection for something other than a run."""
        import psycopg2  # noqa: PLC0415

        with self.connect() as session:
            try:
                with session.connection.cursor() as cursor:
                    yield cursor
            except psycopg2.Error as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    def _execute(self, statements: Sequence[str]) -> None:
        """Run statements in one message, which makes them one transaction."""
        with self._cursor() as cursor:
            cursor.execute("; ".join(statements))

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        import psycopg2  # noqa: PLC0415

        if not isinstance(error, psycopg2.Error):
            return super().explain(error)
        told = (error.diag.message_primary, error.diag.message_detail)
        words = " ".join((": ".join(filter(None, told)) or str(error)).split())
        remedy = self._remedy(error.pgcode, words)
        return f"{words}; {remedy}" if remedy else words

    def _remedy(self, code: str | None, words: str) -> str | None:
        """Return what to try against an error, if that is known."""
        if code:
            return _REMEDIES.get(code)
        # A server that refuses a connection says why in words alone.
        return next((r for cause, r in _REFUSALS.items() if re.search(cause, words)), None)


_REFUSALS = {
    "password authentication failed|no password supplied": "check user and password: "
    "--extra-option password=..., or the target's options",
    'database ".*" does not exist': "create it (createdb), or name another in dbname",
    'role ".*" does not exist': "name another user in connection_string",
    "Connection refused|timeout expired|could not translate|No such file|No route": "check that "
    "the server runs, and host and port in connection_string",
    "no pg_hba.conf entry": "let this client in, in the server's pg_hba.conf",
    "too many clients|connection slots": "use fewer workers, or raise max_connections",
    "starting up": "wait until the server has started",
    "^invalid": "write connection_string as host=... port=... dbname=... user=..., or as a URL "
    "with %-escapes, and the password apart",
}
"""A pattern of the server's or libpq's words -> what to try."""

_REMEDIES = {
    "23505": "rows like these are stored already; run with --clean, or use another --primary-key",
    "42501": "let the user do this: GRANT CREATE, USAGE ON SCHEMA ... TO ..., or own the tables",
    "42883": "set install_extensions=true, or choose another --primary-key",
    "42P01": "run an insert first",
    "42P07": "drop it, or run with --clean",
    "53100": "make room on the server",
    "53200": "raise max_locks_per_transaction, if the server says so, or give it more memory",
}
"""A SQLSTATE -> what to try."""
