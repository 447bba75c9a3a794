"""PostgreSQL, through psycopg2 and binary COPY.

Relatives that speak its protocol derive from `Postgres` and say what they do differently.
"""

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, assert_never

from pydantic import Field, SecretStr

from simulator.errors import SetupError
from simulator.modules import sql
from simulator.modules.base import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Options,
    Server,
)
from simulator.modules.conninfo import redacted, scrubbed
from simulator.modules.postgres_session import TRANSACTION, VALUES, PostgresSession
from simulator.query import Query, Statement
from simulator.schema import Column, PrimaryKey, Table, TimeUnit, Type

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id)"
_DEFAULT_CACHE_ROWS = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostgresOptions(Options):
    """Options of the module `postgres`."""

    connection_string: SecretStr = Field(
        description="how to reach the database, as libpq takes it: "
        "host=... port=... dbname=... user=..., or postgresql://user@host:port/database"
    )
    password: SecretStr | None = Field(
        None, description="the user's password, if it does not stand in connection_string"
    )
    use_values_lists: bool = Field(
        default=False, description="send a batch as one INSERT with a list of rows, not as COPY"
    )
    transaction: bool = Field(
        default=False, description="insert single rows, and commit once a batch"
    )
    primary_key_constraint: str = Field(
        _DEFAULT_CONSTRAINT,
        description="the constraint that makes the primary key, such as "
        "PRIMARY KEY (device_id, timestamp, sequence_number)",
    )
    install_extensions: bool = Field(
        default=False,
        description="create the extension pgcrypto, which servers older than PostgreSQL 13 need "
        "for --primary-key uuid",
    )
    create_indices: bool = Field(
        default=False, description="make indices on (tags, time, first field) and (first field)"
    )
    connect_timeout_s: int = Field(10, ge=2, description="how long to wait for a connection")

    def public(self) -> dict[str, Any]:
        """Return the options as they may be shown: where to, and as whom, but no password."""
        reach, _ = redacted(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": reach}


class PostgresDialect(sql.Dialect):
    """PostgreSQL's types, and what makes its aggregates exact."""

    types: ClassVar[dict[Type, str]] = {
        Type.INT16: "smallint",
        Type.INT32: "integer",
        Type.INT64: "bigint",
        Type.FLOAT32: "real",
        Type.FLOAT64: "double precision",
        Type.BOOL: "boolean",
        Type.TEXT: "varchar",
        Type.TIMESTAMP: "timestamptz",
    }

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with.

        What is finer than PostgreSQL's microseconds is rounded up: no stored instant lies between.
        """
        microseconds = -(-value * 10**6 // unit.per_second)
        return f"timestamptz '{(_EPOCH + timedelta(microseconds=microseconds)).isoformat(' ')}'"

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column as a number whose sum is exact."""
        if column.type is Type.TIMESTAMP:
            seconds = f"extract(epoch FROM {self.name(column.name)})"
            return f"CAST({seconds} * {unit.per_second} AS BIGINT)"
        return super().number(column, unit)

    def ordered(self, column: Column) -> str:
        """Return a text ordered by its bytes, whatever the language of the database."""
        return f'{self.name(column.name)} COLLATE "C"'


class Postgres(Database):
    """A PostgreSQL database."""

    name = "postgres"
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "one binary COPY, which is a transaction",
            VALUES: "one INSERT with a list of rows, which is a transaction",
            TRANSACTION: "BEGIN, an INSERT for each row, COMMIT",
        },
        primary_keys={
            # A serial of 4 bytes would be padded to the 8 of the next column anyway, and overflow
            # after 2**31 rows, which a long fill-level test reaches.
            PrimaryKey.DB: "bigserial",
            PrimaryKey.SQL: "bigint GENERATED ALWAYS AS IDENTITY, its sequence cached as many "
            f"rows as a batch has, or {_DEFAULT_CACHE_ROWS}",
            PrimaryKey.CLIENT: "varchar, sent by the client",
            PrimaryKey.UUID: "uuid DEFAULT gen_random_uuid()",
            PrimaryKey.NONE: "no key and no id column",
        },
        acknowledged="committed; the server's synchronous_commit and fsync say what that is worth",
        verified_against="PostgreSQL 15.18",
        indices=True,
        kept_after_kill=True,
    )
    options_model: ClassVar[type[Options]] = PostgresOptions
    options: PostgresOptions
    dialect: ClassVar[PostgresDialect] = PostgresDialect()
    _settling: ClassVar[str] = "VACUUM (ANALYZE)"

    def insert_mode(self, batch_rows: int) -> str:
        """Return the mode that the options ask for, else the one that the batch size does."""
        if self.options.transaction:
            return TRANSACTION
        return VALUES if self.options.use_values_lists else super().insert_mode(batch_rows)

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        options = self.options
        if options.transaction and options.use_values_lists:
            found.append("transaction and use_values_lists exclude each other; choose one")
        for name in ("transaction", "use_values_lists"):
            if getattr(options, name) and not batch_rows:
                found.append(f"{name}=true needs to know how many rows; try --batch 1000")
        constraint = options.primary_key_constraint
        default = type(options).model_fields["primary_key_constraint"].default
        if primary_key is PrimaryKey.NONE and constraint != default:
            found.append(
                f"--primary-key: none leaves no place for primary_key_constraint={constraint!r}; "
                "leave one of them out"
            )
        return found

    def connect(self) -> PostgresSession:
        """Open a connection."""
        import psycopg2  # noqa: PLC0415  # a driver is imported only when its module connects

        try:
            connection = psycopg2.connect(**self._reach())
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    settings = self._session_settings().items()
                    cursor.execute("; ".join(f"SET {name} = {value}" for name, value in settings))
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

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        statements = [
            statement
            for table in tables
            for name in table.names
            for statement in self._create_table(table, name, batch_rows)
        ]
        if self.options.install_extensions:
            statements.insert(0, "CREATE EXTENSION IF NOT EXISTS pgcrypto")
        if self.options.create_indices:
            statements += sql.create_indices(self.dialect, tables)
        self._execute(statements)

    def _create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        """Return the statements that make one physical table."""
        return [sql.create_table(self.dialect, table, name, *self._key(table, batch_rows))]

    def _key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        """Return what makes the table's primary key: the definition of a column, a constraint."""
        constraint = self.options.primary_key_constraint
        match table.primary_key:
            case PrimaryKey.DB:
                return "id bigserial", constraint
            case PrimaryKey.SQL:
                cache = batch_rows or _DEFAULT_CACHE_ROWS
                return f"id bigint GENERATED ALWAYS AS IDENTITY (CACHE {cache})", constraint
            case PrimaryKey.UUID:
                return "id uuid DEFAULT gen_random_uuid()", constraint
            case PrimaryKey.CLIENT:
                return None, constraint
            case PrimaryKey.NONE:
                return None, None
            case _:
                assert_never(table.primary_key)

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables, all or none."""
        self._execute([f"DROP TABLE IF EXISTS {self.dialect.names(sql.drop_names(tables))}"])

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that are not there yet."""
        self._execute(sql.create_indices(self.dialect, tables))

    def settle(self, tables: Sequence[Table]) -> None:
        """Do what autovacuum would do some time later: hint bits, visibility map, statistics."""
        with self._cursor() as cursor:
            for table in tables:
                for name in table.names:
                    cursor.execute(f"{self._settling} {self.dialect.name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the tables with their indices and long values."""
        names = [self.dialect.name(name) for table in tables for name in table.names]
        with self._cursor() as cursor:
            cursor.execute(
                "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s) AS name",
                (names,),
            )
            ((size,),) = cursor.fetchall()
        return int(size)

    def describe(self) -> Server:
        """Return the version, and the settings as they hold for this user and database."""
        with self._cursor() as cursor:
            cursor.execute("SELECT version()")
            ((version,),) = cursor.fetchall()
            cursor.execute(
                "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
                (list(_SETTINGS),),
            )
            settings = dict(cursor.fetchall())
        durable, durability = _durability(settings)
        return Server(version.split(" on ")[0], 1, durability, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(self.dialect, query)

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


_SETTINGS = (
    "fsync",
    "full_page_writes",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_level",
    "wal_sync_method",
)


def _durability(settings: dict[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    shown = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method")
    told = ", ".join(f"{name}={settings[name]}" for name in shown if name in settings)
    commit = settings.get("synchronous_commit")
    if settings.get("fsync") == "off":
        meaning = "survives a crash of the server, but not of the machine: nothing is synced"
        return False, f"an acknowledged row {meaning} ({told})"
    if commit == "off":
        return False, f"an acknowledged row may be lost in a crash: it is synced later ({told})"
    with_standbys = settings.get("synchronous_standby_names") and commit != "local"
    where = "on disk here and with the synchronous standbys" if with_standbys else "on disk"
    return True, f"an acknowledged row is in the write-ahead log {where} ({told})"


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
