"""PostgreSQL, through psycopg2 and binary COPY.

Relatives that speak its protocol derive from `Postgres` and say what they do differently.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar, assert_never

from pydantic import Field

from simulator.data.query import Query, Statement
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type, former_names
from simulator.modules.base import BATCH, SINGLE, Capabilities, Options, Server
from simulator.modules.postgres.session import TRANSACTION, VALUES
from simulator.modules.postgres.wire import PostgresWire, WireOptions
from simulator.modules.shared import sql

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id)"
_DEFAULT_CACHE_ROWS = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostgresOptions(WireOptions):
    """Options of the module `postgres`."""

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


class Postgres(PostgresWire):
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
        oldest={"PostgreSQL": (10,)},  # identity columns
        indices=True,
    )
    options_model: ClassVar[type[Options]] = PostgresOptions
    options: PostgresOptions
    dialect: ClassVar[PostgresDialect] = PostgresDialect()
    _settling: ClassVar[str] = "VACUUM (ANALYZE)"
    _shown: ClassVar[tuple[str, ...]] = _SETTINGS

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
        self._execute([f"DROP TABLE IF EXISTS {self.dialect.names(former_names(tables))}"])

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
                (list(self._shown),),
            )
            settings = dict(cursor.fetchall())
        durable, durability = _durability(settings)
        return Server(version.split(" on ")[0], 1, durability, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(self.dialect, query)


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
