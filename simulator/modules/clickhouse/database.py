"""ClickHouse, through its HTTP interface and its Native format.

No driver is used: rows are sent as the bytes that the encoder made, and every error can be
classified. What does not need a server is in ClickhouseTables, from which `clickhouse_embedded`
derives too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal, assert_never

from pydantic import Field, SecretStr

from simulator.data.query import Output, Query, Statement
from simulator.data.schema import PrimaryKey, Table, TimeUnit, Type, names_of
from simulator.errors import SetupError
from simulator.modules.base import (
    BATCH,
    IMPORT,
    SINGLE,
    Capabilities,
    Database,
    ReadCounters,
    Server,
)
from simulator.modules.changes import Changes
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.clickhouse.session import (
    CSV,
    EXPLAINS,
    ROWBINARY,
    TEXTS,
    ClickhouseSession,
    ServerError,
    ServerSession,
)
from simulator.modules.existing import MOST_COUNTED, Contents, Existing
from simulator.modules.options import Options
from simulator.modules.shared import sql
from simulator.modules.shared.http import Http, HttpDatabase, HttpOptions, basic
from simulator.modules.shared.sql_texts import SqlTexts

_MOST_ROWS = 1_000_000
_NAME_AND_ENGINE = tuple(Output(n, Type.TEXT, TimeUnit.SECOND) for n in ("name", "engine"))
_SYNC = ("fsync_after_insert", "fsync_part_directory")
_WORK = {
    "MergedRows": "rows merged",
    "DelayedInserts": "inserts delayed by merges",
    "RejectedInserts": "inserts refused until merges",
}
"""Counters of events, as they are shown; version 18 does not count merges themselves."""


class TableOptions(Options):
    """Options of both ClickHouse modules: how tables are created and how rows are inserted."""

    columns = ("order_by",)
    engine: str = Field(
        "MergeTree",
        description="table engine with its parameters, one of the MergeTree family",
    )
    order_by: str = Field(
        "",
        description="columns of the sorting key, such as `timestamp` or `device_id, timestamp`; "
        "default: the tags, then the time",
    )
    low_cardinality: bool = Field(
        default=True,
        description="store text tags as LowCardinality(String), suitable for up to about 10,000 "
        "different values",
    )
    format: Literal["native", "rowbinary", "csv"] = Field(
        "native",
        description="format of a batch: binary columns (native), binary rows, or text (csv)",
    )
    fsync: bool = Field(
        default=False,
        description="create tables with fsync_after_insert and fsync_part_directory, so that an "
        "acknowledged row is synced to disk",
    )
    optimize: bool = Field(
        default=True,
        description="rewrite each table into as few parts as possible (OPTIMIZE FINAL) after "
        "an insert; false: leave merging to the server",
    )


class ClickhouseOptions(HttpOptions, TableOptions):
    """Options of the module `clickhouse`."""

    user: str = Field("default", description="the user")
    password: SecretStr | None = Field(None, description="the user's password")
    database: str = Field("default", description="the database, which must exist")
    cluster: str = Field(
        "",
        description="create and drop the tables ON CLUSTER of this name, with an engine such as "
        "ReplicatedMergeTree",
    )
    async_insert: bool = Field(
        default=False,
        description="let the server combine the rows of several batches into one part "
        "(async_insert)",
    )
    wait_for_async_insert: bool = Field(
        default=True,
        description="with async_insert: acknowledge rows when they are in a part; false: when "
        "they are in the server's memory, where a crash or an error loses them silently",
    )


class ClickhouseTables(Database[ClickhouseSession]):
    """What a ClickHouse server and the embedded engine have in common."""

    options: TableOptions
    settings: ClassVar[dict[str, str]] = {
        "aggregate_functions_null_for_empty": "1",  # as in standard SQL
        "max_insert_threads": "1",  # one INSERT makes one part
    }
    """The settings that every statement runs with."""
    remedies: ClassVar[Mapping[str, str]] = {
        r"^Code: 60\b": "run an insert first",
        r"^Code: 81\b": "create it (CREATE DATABASE), or set database to another one",
        r"^Code: 115\b": "the server must be ClickHouse 22.8 or newer",
        r"^Code: 159\b": "raise max_execution_time on the server",
        r"^Code: 164\b": "the user may only read; use another, or GRANT what is missing",
        r"^Code: (192|193|194|516)\b": "check user and password: --extra-option password=..., or "
        "the target's options",
        r"^Code: 241\b": "give the server more memory, or use a smaller --batch",
        r"^Code: 243\b": "free disk space on the server",
        r"^Code: 252\b": "every INSERT makes a part; use a larger --batch, fewer workers, or "
        "async_insert=true",
        r"^Code: 497\b": "GRANT CREATE TABLE, DROP TABLE, INSERT, SELECT, OPTIMIZE ON ... to the "
        "user",
    }

    @property
    def dialect(self) -> ClickhouseDialect:
        """The dialect of the tables' SQL."""
        return ClickhouseDialect(low_cardinality=self.options.low_cardinality)

    def insert_mode(self, batch_rows: int) -> str:
        """Return the insert mode that the option `format` selects."""
        modes = {"native": BATCH, "rowbinary": ROWBINARY, "csv": CSV}
        return modes[self.options.format] if batch_rows else SINGLE

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if batch_rows > _MOST_ROWS:
            found.append(
                f"--batch: at most {_MOST_ROWS} rows are stored atomically, got {batch_rows}"
            )
        return found

    # --- tables

    no_statements: ClassVar[str] = ""

    def carry_out(self, statement: str) -> None:
        """Carry out one statement."""
        with self.administration() as session:
            session.execute(statement)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        with self.administration() as session:
            created: list[str] = []
            try:
                for table in tables:
                    for name in table.names:
                        session.execute(self.create_table(table, name))
                        created.append(name)
            except ServerError:
                for name in created:
                    session.execute(self.drop_table(name))
                raise

    def create_table(self, table: Table, name: str) -> str:
        """Return the statement that creates one physical table."""
        dialect = self.dialect
        order = self.options.order_by or dialect.names(self.order_of(table))
        behind = f"ENGINE = {self.options.engine} ORDER BY ({order})"
        settings = self.table_settings(table)
        if settings:
            behind += f" SETTINGS {', '.join(settings)}"
        return dialect.create_table(table, name, _key(table), behind, self.on_cluster)

    def order_of(self, table: Table) -> list[str]:
        """Return the columns of the default sorting key."""
        return [*(column.name for column in table.tags), table.time.name]

    def table_settings(self, table: Table) -> list[str]:
        """Return the settings that a table is created with."""
        settings = []
        if any(column.nullable for column in table.tags):
            settings.append("allow_nullable_key = 1")
        if self.options.fsync:
            settings += ["fsync_after_insert = 1", "fsync_part_directory = 1"]
        return settings

    @property
    def on_cluster(self) -> str:
        """The clause ON CLUSTER, if the tables are created on several servers."""
        return ""

    def existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return which names are in use in the database."""
        texts = ", ".join(map(self.dialect.text, names))
        with self.administration() as session:
            rows = session.run(
                Statement(
                    "SELECT name, engine FROM system.tables WHERE database = currentDatabase() "
                    f"AND name IN ({texts})",
                    _NAME_AND_ENGINE,
                )
            )
        return {
            str(name): Existing("table" if alike else str(engine), alike=alike)
            for name, engine in rows
            for alike in [str(engine).endswith("MergeTree")]
        }

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of rows, and the size of a table."""
        some = f"SELECT 1 FROM {self.dialect.name(name)} LIMIT {MOST_COUNTED + 1}"
        with self.administration() as session:
            rows = session.execute(f"SELECT count(*) FROM ({some}) FORMAT TabSeparated")
        table = Table(name, (), ())
        return Contents(int(rows), self.size_bytes([table]) if found.alike else None)

    def drop(self, names: Collection[str]) -> None:
        """Drop the tables and free their space at once."""
        with self.administration() as session:
            for name in names:
                session.execute(self.drop_table(name))

    def drop_table(self, name: str) -> str:
        """Return the statement that drops one physical table."""
        return f"DROP TABLE IF EXISTS {self.dialect.name(name)}{self.on_cluster} SYNC"

    def compact(self, tables: Sequence[Table]) -> None:
        """Merge the parts."""
        if not self.options.optimize:
            return
        with self.administration() as session:
            for name in map(self.dialect.name, names_of(tables)):
                session.execute(f"OPTIMIZE TABLE {name} FINAL")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the compressed size of the tables' active parts on this server."""
        texts = ", ".join(map(self.dialect.text, names_of(tables)))
        with self.administration() as session:
            return int(session.execute(
                "SELECT ifNull(sum(bytes_on_disk), 0) FROM system.parts WHERE active "
                f"AND database = currentDatabase() AND table IN ({texts}) FORMAT TabSeparated"
            ))  # fmt: skip

    # --- the server

    def describe(self) -> Server:
        """Return the version, and whether parts are synced to disk."""
        with self.administration() as session:
            answer = session.execute(
                "SELECT name, value FROM system.merge_tree_settings "
                f"WHERE name IN ('{_SYNC[0]}', '{_SYNC[1]}') FORMAT TabSeparated"
            )
            nodes = self.nodes(session)
        settings = dict(line.split("\t") for line in answer.decode().splitlines())
        if self.options.fsync:
            settings = dict.fromkeys(settings, "1")  # the tables are created with these settings
        settings |= self.insert_settings()
        durable, sentence = durability(settings)
        return Server(f"ClickHouse {session.version}", nodes, sentence, durable, settings)

    def insert_settings(self) -> dict[str, str]:
        """Return the settings that say how the engine inserts rows."""
        return {}

    def nodes(self, session: ClickhouseSession) -> int:
        """Return the number of servers."""
        return 1

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(self.dialect, query)

    def texts(self, table: Table) -> SqlTexts:
        """Return ClickHouse's SQL."""
        return SqlTexts(self.dialect, table, [self.name, "clickhouse"])

    def words(self, error: Exception) -> str:
        """Return the server's message."""
        return str(error) if isinstance(error, ServerError) else super().words(error)


class Clickhouse(ClickhouseTables, HttpDatabase[ServerSession]):
    """A ClickHouse server."""

    name = "clickhouse"
    capabilities = Capabilities(
        formats=frozenset(TEXTS),
        modes={
            SINGLE: "one INSERT of one row in format Native, which makes one part",
            BATCH: "one INSERT in format Native, column by column, which makes one part",
            ROWBINARY: "one INSERT in format RowBinary, which makes one part",
            CSV: "one INSERT in format CSV, which makes one part",
            IMPORT: "one INSERT of a CSV file, which makes a part of each million rows",
        },
        primary_keys={
            PrimaryKey.DB: "UInt64 DEFAULT generateSnowflakeID(): a number that grows with time, "
            "as there are no sequences; requires ClickHouse 24.6",
            PrimaryKey.CLIENT: "String, sent by the client",
            PrimaryKey.UUID: "UUID DEFAULT generateUUIDv4()",
            PrimaryKey.NONE: "no id column",
        },
        acknowledged="written as a part of the table, which is not synced to disk unless the "
        "option fsync is set; with async_insert see wait_for_async_insert",
        oldest={"ClickHouse": (22, 8)},
        changes=Changes(
            no_corrections="no key is unique, and a ReplacingMergeTree keeps both rows until it"
            " merges their parts",
            no_retags="tags are in the sorting key, whose columns cannot be updated",
            deletes="ALTER TABLE ... DELETE, a mutation, until it is done",
        ),
        plans=EXPLAINS,
        in_client="decodes tab-separated text",
        limits=(
            "no key is unique: a row with an existing key is stored again",
            "replicated tables (engine, cluster) and async_insert are not tested on a server",
        ),
    )
    options_model: ClassVar[type[Options]] = ClickhouseOptions
    options: ClickhouseOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if not self.options.wait_for_async_insert and not self.options.async_insert:
            found.append("wait_for_async_insert=false has no effect without async_insert=true")
        return found

    def open(self) -> ServerSession:
        """Return a session that has not sent anything yet."""
        options = self.options
        password = options.password.get_secret_value() if options.password else ""
        headers = {"Authorization": basic(options.user, password)}
        settings = {"database": options.database, **self.settings, **self.server_settings()}
        return ServerSession(
            Http(options, headers), self.dialect, settings, options.query_timeout_s
        )

    def connect(self) -> ServerSession:
        """Open a connection; SetupError if the server is too old."""
        session = super().connect()
        try:
            self.expect_recent(f"ClickHouse {session.version}")
        except SetupError:
            session.close()
            raise
        return session

    def server_settings(self) -> dict[str, str]:
        """Return how the server is to insert rows; newer ones combine batches by default."""
        names = ("async_insert", "wait_for_async_insert")
        return {name: str(int(getattr(self.options, name))) for name in names}

    def insert_settings(self) -> dict[str, str]:
        """Return the settings of async_insert, if it is on."""
        return self.server_settings() if self.options.async_insert else {}

    @property
    def on_cluster(self) -> str:
        """The clause ON CLUSTER, if the option `cluster` is set."""
        cluster = self.options.cluster
        return f" ON CLUSTER {self.dialect.name(cluster)}" if cluster else ""

    @property
    def late(self) -> str:
        """Rows in the queue of asynchronous inserts, or on another replica, are not seen."""
        options = self.options
        if options.async_insert and not options.wait_for_async_insert:
            return "wait_for_async_insert=false: the server inserts rows of its queue later"
        if options.engine.startswith("Replicated"):
            return "a replica gets rows from another one later"
        return ""

    def visible(self, tables: Sequence[Table]) -> None:
        """Flush the rows that the server still collects, and copy all rows to every replica."""
        if self.options.async_insert:
            with self.administration() as session:
                session.execute(f"SYSTEM FLUSH ASYNC INSERT QUEUE{self.on_cluster}")
        self._sync(tables)

    def compact(self, tables: Sequence[Table]) -> None:
        """Merge the parts, on every replica."""
        super().compact(tables)
        self._sync(tables)

    def _sync(self, tables: Sequence[Table]) -> None:
        """Wait for all replicas: verification may reach another server."""
        if not self.options.engine.startswith("Replicated"):
            return
        with self.administration() as session:
            for name in map(self.dialect.name, names_of(tables)):
                session.execute(f"SYSTEM SYNC REPLICA{self.on_cluster} {name}")

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Count the rows of merges, and inserts that waited for merges or were refused."""
        names = ", ".join(f"'{name}'" for name in _WORK)
        with self.administration() as session:

            def counters() -> Mapping[str, int]:
                answer = session.execute(
                    f"SELECT event, value FROM system.events WHERE event IN ({names})"
                    " FORMAT TabSeparated"
                )
                found = dict(line.split("\t") for line in answer.decode().splitlines())
                return {shown: int(found.get(name, 0)) for name, shown in _WORK.items()}

            yield counters

    def nodes(self, session: ClickhouseSession) -> int:
        """Return how many servers the option `cluster` names, or 1."""
        if not self.options.cluster:
            return 1
        text = self.dialect.text(self.options.cluster)
        count = f"SELECT count() FROM system.clusters WHERE cluster = {text} FORMAT TabSeparated"
        return max(int(session.execute(count)), 1)


def durability(settings: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    shown = ", ".join(f"{name}={value}" for name, value in settings.items())
    if settings.get("wait_for_async_insert") == "0":
        meaning = "is in the server's memory; a crash of the server or an invalid row loses it"
        return False, f"an acknowledged row {meaning} ({shown})"
    if all(settings.get(name) == "1" for name in _SYNC):
        return True, f"an acknowledged row is in a part that is synced to disk ({shown})"
    meaning = "survives a crash of the server, but not of the machine: its part is not synced"
    return False, f"an acknowledged row {meaning} ({shown or 'this version cannot sync'})"


def _key(table: Table) -> list[str]:
    """Return the definition of the primary key column, if the server generates it."""
    match table.primary_key:
        case PrimaryKey.DB:
            return ["id UInt64 DEFAULT generateSnowflakeID()"]
        case PrimaryKey.UUID:
            return ["id UUID DEFAULT generateUUIDv4()"]
        case PrimaryKey.CLIENT | PrimaryKey.NONE:
            return []
        case PrimaryKey.SQL:
            raise SetupError(f"clickhouse has no {table.primary_key} key; see --primary-key")
        case _:
            assert_never(table.primary_key)
