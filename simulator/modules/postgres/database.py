"""PostgreSQL, through psycopg2 and binary COPY.

Relatives derive from `Postgres`; other databases with its protocol derive from `PostgresWire`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from simulator.data.query import Statement
from simulator.data.row_hash import JenkinsHash, RowHash
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import counted
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    DRIVER_COPY,
    IMPORT,
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
from simulator.modules.postgres.driver import PostgresWire, WireOptions
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import COPIED, PostgresSession
from simulator.modules.shared.sql import (
    changes as sql_changes,
)
from simulator.modules.shared.sql import (
    hashes as sql_hashes,
)
from simulator.modules.shared.sql.database import (
    STANDARD_COLUMNS,
    table_statement,
)
from simulator.modules.shared.sql.transactions import (
    PREPARED,
    TRANSACTION,
    VALUES,
    TransactionOptions,
)

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id)"
_DEFAULT_CACHE_ROWS = 100
_CHECKPOINTER_VERSION = 170_000
"""First version that counts checkpoints in a separate view."""
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
            # A serial of 4 bytes overflows after 2**31 rows, which a fill-level test may reach;
            # padding for the next column makes it no smaller.
            PrimaryKey.DB: "bigserial",
            PrimaryKey.SQL: "bigint GENERATED ALWAYS AS IDENTITY; its sequence caches the rows "
            f"of a batch, or {_DEFAULT_CACHE_ROWS}",
            PrimaryKey.CLIENT: "varchar, sent by the client",
            PrimaryKey.UUID: "uuid DEFAULT gen_random_uuid()",
            PrimaryKey.NONE: "no key and no id column",
        },
        acknowledged="committed; the server's synchronous_commit and fsync decide whether it is "
        "durable",
        oldest={"PostgreSQL": (10,)},
        by_version={
            "PostgreSQL": "identity columns; from 13 gen_random_uuid() without pgcrypto; "
            "from 17 pg_stat_checkpointer"
        },
        changes=sql_changes.CHANGES,
        plans=PostgresSession.explains,
        indices=True,
    )
    options_model: ClassVar[type[Options]] = PostgresOptions
    options: PostgresOptions
    dialect: ClassVar[PostgresDialect] = PostgresDialect()
    row_hash: ClassVar[RowHash | None] = JenkinsHash()
    hash_probe = sql_hashes.JENKINS_PROBE
    namesakes_of_indices = server.NAMESAKES_OF_INDICES
    attachments = server.ATTACHED
    comments = (
        "SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class "
        "WHERE relname::text = ANY(%s) AND pg_table_is_visible(oid) AND relkind IN ('r', 'p')"
    )
    columns = STANDARD_COLUMNS
    locks_tables: ClassVar[bool] = True
    """True if LOCK TABLE prevents others from renaming a table before it is dropped."""
    compacting: ClassVar[str] = "VACUUM (ANALYZE)"
    shown_settings: ClassVar[tuple[str, ...]] = _SETTINGS

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
        """Return the definition of the generated column, and the constraint."""
        if table.primary_key is PrimaryKey.NONE:
            return None, None
        id_column = self.dialect.ids.get(table.primary_key)
        if table.primary_key is PrimaryKey.SQL:
            cached = batch_rows if batch_rows > 1 else _DEFAULT_CACHE_ROWS
            id_column = f"{id_column} (CACHE {cached})"
        return id_column, self.options.primary_key_constraint

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            types = session.ask(server.TYPES, [*names])
            relations = session.ask(server.RELATIONS, [*names])
        found = [*((name, f"type {code}", None) for name, code in types), *relations]
        kinds = {
            name: server.KINDS.get(code, "relation") + (f" in schema {schema}" if schema else "")
            for name, code, schema in found
        }
        return {name: Existing(kind, alike=kind == "table") for name, kind in kinds.items()}

    def find_signed_in(self, session: Session, names: Collection[str]) -> Mapping[str, bool]:
        rows = session.run(Statement(self.comments, (), ([*names],)))
        return {name: comment == signature(name) for name, comment in rows}

    def drop_signed(self, names: Collection[str]) -> None:
        if not self.locks_tables:
            super().drop_signed(names)
            return
        names = [name for name, bears in self.find_signed(names).items() if bears]
        if not names:
            return
        with self.administration() as session:
            session.ask("BEGIN")  # the locks prevent renaming
            for name in sorted(names):
                session.ask(f"LOCK TABLE ONLY {self.dialect.name(name)} IN ACCESS EXCLUSIVE MODE")
            signed = [name for name, bears in self.find_signed_in(session, names).items() if bears]
            session.ask("; ".join((*self.render_drops(signed), "COMMIT")))

    def compact(self, tables: Sequence[Table]) -> None:
        """Run VACUUM (ANALYZE), as autovacuum does later: hint bits, visibility map, statistics."""
        with self.administration() as session:
            for name in names_of(tables):
                session.ask(f"{self.compacting} {self.dialect.name(name)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        names = [self.dialect.name(name) for name in names_of(tables)]
        sizes = "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s) AS name"
        ((size,),) = self.fetch(sizes, names)
        return int(size)

    def describe(self) -> Server:
        with self.administration() as session:
            ((version,),) = session.ask("SELECT version()")
            added = session.ask("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'")
            shown = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)"
            settings = dict(session.ask(shown, list(self.shown_settings)))
            ((standbys,),) = session.ask("SELECT count(*) FROM pg_stat_replication")
        version = version.split(" on ")[0]
        version += "".join(f" with TimescaleDB {number}" for (number,) in added)
        durable, durability = server.durability(settings)
        buffers = _parse_size(settings.get("shared_buffers", ""))
        survives = server.is_synchronous(settings) if standbys else None
        if survives is False:
            durability += f"; a failover loses what its {counted(standbys, 'asynchronous replica')}"
            durability += " did not receive"
        return Server(version, 1 + standbys, durability, durable, settings, buffers, survives)

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return the server with the durability of unlogged tables; None for foreign tables."""
        names = names_of(tables)
        found = self.fetch(server.STORED_AS, names)
        if unlogged := [name for name, _, persistence in found if persistence != "p"]:
            lost = "an acknowledged row is lost in a crash of the server: unlogged"
            return replace(described, durable=False, durability=f"{lost} ({', '.join(unlogged)})")
        is_table = all(kind in ("r", "p") for _, kind, _ in found)
        return described if is_table and {name for name, _, _ in found} >= {*names} else None

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        with self.administration() as session:
            counted = "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"
            if session.connection.server_version >= _CHECKPOINTER_VERSION:
                counted = "SELECT num_timed + num_requested FROM pg_stat_checkpointer"
            yield lambda: {"checkpoints": int(session.ask(counted)[0][0])}


def _parse_size(size: str) -> int | None:
    """Return a size such as 128MB in bytes; None for another text."""
    found = re.fullmatch(r"(\d+)([kMGT]?)B", size)
    return int(found[1]) << 10 * " kMGT".index(found[2] or " ") if found else None
