"""PostgreSQL, through psycopg2 and binary COPY.

Databases that speak its protocol derive from `PostgresWire`; relatives derive from `Postgres`.
"""

import os
import re
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from simulator.data.query import Statement
from simulator.data.row_hash import JenkinsHash
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import counted, with_remedy
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    DRIVER_COPY,
    EXISTS,
    IMPORT,
    MISSING,
    SINGLE,
    Capabilities,
    Existing,
    Options,
    ReadCounters,
    Server,
    Session,
    signature,
)
from simulator.modules.postgres import server
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import COPIED, PostgresSession
from simulator.modules.shared.conninfo import redact_address
from simulator.modules.shared.http.tls import CERTIFICATES
from simulator.modules.shared.sql import (
    changes as sql_changes,
)
from simulator.modules.shared.sql import (
    hashes as sql_hashes,
)
from simulator.modules.shared.sql.database import (
    STANDARD_COLUMNS,
    SqlDatabase,
    TransactionOptions,
    table_statement,
)
from simulator.modules.shared.sql.language import PREPARED, TRANSACTION, VALUES

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id)"
_DEFAULT_CACHE_ROWS = 100
_CHECKPOINTER_VERSION = 170_000
"""Version since which checkpoints are counted in a separate view."""
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

    @classmethod
    def finds_password(cls) -> bool:
        """Return whether libpq has a password, a password file or a service file."""
        names = ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE")
        return any(map(os.environ.get, names)) or Path("~/.pgpass").expanduser().exists()

    def public(self) -> dict[str, Any]:
        """Return the options that may be shown: host, database and user, but no password."""
        reach, _ = redact_address(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": reach}

    def list_hidden(self) -> set[str]:
        """Return the credentials, also those in connection_string and libpq's environment."""
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
    """Pattern of the SQLSTATE and the server's message -> what to try."""

    def connect(self) -> PostgresSession:
        settings = (f"SET {name} = {to}" for name, to in self.session_settings().items())
        return self.open(self._connect("; ".join(settings))[0])

    def identify(self) -> str:
        """Return version(), from a connection without settings: another product may refuse them."""
        connection, ((version,),) = self._connect("SELECT version()")
        connection.close()
        return str(version)

    def _connect(self, statement: str) -> tuple[Any, list[tuple[Any, ...]]]:
        """Open a connection; return it, and the rows of its first statement, if there is one."""
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
        """Return the settings that statements and answers rely on; a server may default others."""
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

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Open an administration session and yield a cursor on its connection."""
        with self.administration() as session, session.connection.cursor() as cursor:
            yield cursor

    def change(self, statements: Sequence[str]) -> None:
        """Run statements in one message, which makes them one transaction."""
        with self.cursor() as cursor:
            cursor.execute("; ".join(statements))

    def explain(self, error: Exception) -> str:
        code, words = getattr(error, "pgcode", None), self.words(error)
        if not code:  # a server that refuses a connection sends a message without a SQLSTATE
            return with_remedy(words, _REFUSALS, self.remedy(error))
        return with_remedy(f"{code} {words}", self.remedies).removeprefix(f"{code} ")

    def words(self, error: Exception) -> str:
        import psycopg2

        if not isinstance(error, psycopg2.Error):
            return super().words(error)
        parts = (error.diag.message_primary, error.diag.message_detail)
        return " ".join((": ".join(filter(None, parts)) or str(error)).split())


_REFUSALS = {
    **CERTIFICATES,
    "certificate verify failed": "name its authority's certificate in sslrootcert; if you do, the "
    "server's certificate has expired or is not valid yet",
    "password authentication failed|no password supplied": "check user and password: "
    "--extra-option password=..., or the target's options; a password past its VALID UNTIL is "
    "refused with the same words",
    'database ".*" does not exist': "create it (createdb), or name another in dbname",
    'role ".*" does not exist': "name another user in connection_string",
    "Connection refused|timeout expired|could not translate|No such file|No route": "check that "
    "the server runs, and host and port in connection_string",
    "no pg_hba.conf entry": "allow this client in the server's pg_hba.conf",
    "too many clients|connection slots": "use fewer workers, or raise max_connections",
    "starting up": "wait until the server has started",
    "^invalid": "write connection_string as host=... port=... dbname=... user=..., or as a URL "
    "with %-escapes, and set the password separately",
}
"""Pattern of the server's or libpq's words -> what to try."""


class PostgresOptions(WireOptions, TransactionOptions):
    """Options of the module `postgres`."""

    columns: ClassVar[tuple[str, ...]] = ("primary_key_constraint",)
    primary_key_constraint: str = Field(
        _DEFAULT_CONSTRAINT,
        description="the constraint of the primary key, such as "
        "PRIMARY KEY (device_id, timestamp, sequence_number)",
    )
    install_extensions: bool = Field(
        default=False,
        description="create the extension pgcrypto, which servers older than PostgreSQL 13 need "
        "for --primary-key uuid",
    )


class Postgres(PostgresWire):
    """A PostgreSQL database."""

    name = "postgres"
    urls: ClassVar[tuple[str, ...]] = (
        "postgresql://USER@HOST:5432/DATABASE",
        "postgres://USER@HOST:5432/DATABASE",
    )
    relative = name
    capabilities = Capabilities(
        shortens_float32=True,
        formats=frozenset(COPIED),
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "one binary COPY, which is a transaction",
            VALUES: "one INSERT with a list of rows, which is a transaction",
            TRANSACTION: "BEGIN, an INSERT for each row, COMMIT",
            PREPARED: "PREPARE once, and an EXECUTE for each row, committed on its own, or between "
            "BEGIN and COMMIT",
            DRIVER: "psycopg2's execute_values, one INSERT with a list of rows, which is a "
            "transaction",
            DRIVER_COPY: "psycopg2's copy_expert with a text that Python writes: one transaction",
            IMPORT: "COPY of a CSV file that the client reads, as \\copy does: one transaction",
        },
        primary_keys={
            # A serial of 4 bytes is padded to 8 by the next column, and overflows after 2**31
            # rows, which a long fill-level test reaches.
            PrimaryKey.DB: "bigserial",
            PrimaryKey.SQL: "bigint GENERATED ALWAYS AS IDENTITY; its sequence caches the rows "
            f"of a batch, or {_DEFAULT_CACHE_ROWS}",
            PrimaryKey.CLIENT: "varchar, sent by the client",
            PrimaryKey.UUID: "uuid DEFAULT gen_random_uuid()",
            PrimaryKey.NONE: "no key and no id column",
        },
        acknowledged="committed; the server's synchronous_commit and fsync decide whether it is "
        "durable",
        oldest={"PostgreSQL": (10,)},  # identity columns
        changes=sql_changes.CHANGES,
        plans=PostgresSession.explains,
        indices=True,
    )
    options_model: ClassVar[type[Options]] = PostgresOptions
    options: PostgresOptions
    dialect: ClassVar[PostgresDialect] = PostgresDialect()
    row_hash = JenkinsHash()
    hash_probe = sql_hashes.JENKINS_PROBE
    namesakes_of_indices = server.NAMESAKES_OF_INDICES
    attachments = server.ATTACHED
    comments = (
        "SELECT name, obj_description(oid, 'pg_class') FROM unnest(%s) AS name "
        "JOIN pg_class ON oid = to_regclass(name) WHERE relkind IN ('r', 'p')"
    )
    columns = STANDARD_COLUMNS
    locks_tables: ClassVar[bool] = True
    """True if LOCK TABLE keeps others from renaming a table until it is dropped."""
    compacting: ClassVar[str] = "VACUUM (ANALYZE)"
    shown_settings: ClassVar[tuple[str, ...]] = _SETTINGS

    def dialect_of(self, table: Table) -> PostgresDialect:
        """Return the dialect, which is the same for every table."""
        return self.dialect

    def connect(self) -> PostgresSession:
        session = super().connect()
        session.commit_every_s = self.options.commit_every_s
        return session

    def insert_mode(self, mode: str) -> str:
        return self.options.choose_mode(mode)

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found, options = super().problems(key, parts, mode, batch_rows), self.options
        found += options.find_conflicts(mode)
        constraint = options.primary_key_constraint
        default = type(options).model_fields["primary_key_constraint"].default
        if key is PrimaryKey.NONE and constraint != default:
            found.append(
                f"--primary-key none excludes primary_key_constraint={constraint!r}; "
                "leave out one of them"
            )
        return found

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        if self.options.install_extensions:
            self.change(["CREATE EXTENSION IF NOT EXISTS pgcrypto"])
        super().create(tables, batch_rows)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        key = self.key(table, batch_rows)
        return [table_statement(self.dialect_of(table), table, name, *key)]

    def key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        """Return the definition of the column that the database fills, and the constraint."""
        if table.primary_key is PrimaryKey.NONE:
            return None, None
        id_column = self.dialect.ids.get(table.primary_key)
        if table.primary_key is PrimaryKey.SQL:
            cached = batch_rows if batch_rows > 1 else _DEFAULT_CACHE_ROWS
            id_column = f"{id_column} (CACHE {cached})"
        return id_column, self.options.primary_key_constraint

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.cursor() as cursor:
            asked = [*names], [self.dialect.name(name) for name in names]
            cursor.execute(server.TYPES, (asked[0],))
            found = [(name, f"type {code}", None) for name, code in cursor.fetchall()]
            cursor.execute(server.RELATIONS, asked)
            found += cursor.fetchall()
        kinds = {
            name: server.KINDS.get(code, "relation") + (f" in schema {schema}" if schema else "")
            for name, code, schema in found
        }
        return {name: Existing(kind, alike=kind == "table") for name, kind in kinds.items()}

    def find_signed_in(self, session: Session, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether the tables bear their signature, by their comments."""
        quoted = {self.dialect.name(name): name for name in names}
        rows = session.run(Statement(self.comments, (), ([*quoted],)))
        return {quoted[name]: comment == signature(quoted[name]) for name, comment in rows}

    def drop_signed(self, names: Collection[str]) -> None:
        """Drop the tables that have their signature, locked against renaming."""
        if not self.locks_tables:
            super().drop_signed(names)
            return
        names = [name for name, bears in self.find_signed(names).items() if bears]
        if not names:
            return
        with self.administration() as session, session.connection.cursor() as cursor:
            cursor.execute("BEGIN")
            for name in sorted(names):
                cursor.execute(
                    f"LOCK TABLE ONLY {self.dialect.name(name)} IN ACCESS EXCLUSIVE MODE"
                )
            signed = [name for name, bears in self.find_signed_in(session, names).items() if bears]
            cursor.execute("; ".join((*self.render_drops(signed), "COMMIT")))

    def compact(self, tables: Sequence[Table]) -> None:
        """Run VACUUM (ANALYZE), as autovacuum does later: hint bits, visibility map, statistics."""
        with self.cursor() as cursor:
            for name in names_of(tables):
                cursor.execute(f"{self.compacting} {self.dialect.name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the tables with their indices and long values."""
        names = [self.dialect.name(name) for name in names_of(tables)]
        with self.cursor() as cursor:
            cursor.execute(
                "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s) AS name",
                (names,),
            )
            ((size,),) = cursor.fetchall()
        return int(size)

    def describe(self) -> Server:
        with self.cursor() as cursor:
            cursor.execute("SELECT version()")
            ((version,),) = cursor.fetchall()
            version = version.split(" on ")[0]
            cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'")
            version += "".join(f" with TimescaleDB {added}" for (added,) in cursor.fetchall())
            cursor.execute(
                "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
                (list(self.shown_settings),),
            )
            settings = dict(cursor.fetchall())
            cursor.execute("SELECT count(*) FROM pg_stat_replication")
            ((standbys,),) = cursor.fetchall()
        durable, durability = server.durability(settings)
        buffers = _bytes_of(settings.get("shared_buffers", ""))
        survives = server.is_synchronous(settings) if standbys else None
        if survives is False:
            durability += f"; a failover loses what its {counted(standbys, 'asynchronous replica')}"
            durability += " did not receive"
        return Server(version, 1 + standbys, durability, durable, settings, buffers, survives)

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return the durability of unlogged tables; None if rows go elsewhere (foreign tables)."""
        names = names_of(tables)
        with self.cursor() as cursor:
            cursor.execute(server.STORED_AS, (names,))
            found = cursor.fetchall()
        if unlogged := [name for name, _, persistence in found if persistence != "p"]:
            lost = "an acknowledged row is lost in a crash of the server: unlogged"
            return replace(described, durable=False, durability=f"{lost} ({', '.join(unlogged)})")
        is_table = all(kind in ("r", "p") for _, kind, _ in found)
        return described if is_table and {name for name, _, _ in found} >= {*names} else None

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Count checkpoints, by timeout and by the size of the log."""
        with self.cursor() as cursor:

            def counters() -> Mapping[str, int]:
                newer = cursor.connection.server_version >= _CHECKPOINTER_VERSION
                cursor.execute(
                    "SELECT num_timed + num_requested FROM pg_stat_checkpointer"
                    if newer
                    else "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"
                )
                ((checkpoints,),) = cursor.fetchall()
                return {"checkpoints": int(checkpoints)}

            yield counters


def _bytes_of(size: str) -> int | None:
    """Return a setting such as 128MB in bytes; None if it is not a size."""
    found = re.fullmatch(r"(\d+)([kMGT]?)B", size)
    return int(found[1]) << 10 * " kMGT".index(found[2] or " ") if found else None
