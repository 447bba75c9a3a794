"""ClickHouse, through its HTTP interface and its Native format.

No driver stands in between: rows leave as the bytes that the encoder made, and what a lost
connection means for them is known. `clickhouse_embedded` derives from this.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal, assert_never

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.clickhouse.session import (
    CSV,
    ROWBINARY,
    Channel,
    ClickhouseSession,
    HttpChannel,
    ServerError,
)
from simulator.modules.shared.http import Http, HttpError, HttpOptions, basic

_MOST_ROWS = 1_000_000
_TABLE_EXISTS = 57


class TableOptions(Options):
    """Options of both modules for ClickHouse: what tables look like, and how rows go in."""

    engine: str = Field(
        "MergeTree",
        description="the tables' engine, one of the MergeTree family, with its parameters",
    )
    order_by: str = Field(
        "",
        description="columns by which a table is sorted and indexed, such as `timestamp` or "
        "`device_id, timestamp`; default: the tags, then the time",
    )
    low_cardinality: bool = Field(
        default=True, description="make text tags LowCardinality(String), which suits up to some "
        "10,000 different ones"
    )  # fmt: skip
    format: Literal["native", "rowbinary", "csv"] = Field(
        "native", description="the format of a batch: columns in binary, rows in binary, or text"
    )
    fsync: bool = Field(
        default=False,
        description="make tables with fsync_after_insert and fsync_part_directory: what is "
        "acknowledged is then synced to disk",
    )
    optimize: bool = Field(
        default=True,
        description="merge each table into as few parts as can be (OPTIMIZE FINAL) when it "
        "settles, which rewrites all of it; false: leave that to the server",
    )


class ClickhouseOptions(HttpOptions, TableOptions):
    """Options of the module `clickhouse`."""

    user: str = Field("default", description="the user")
    password: SecretStr | None = Field(None, description="the user's password")
    database: str = Field("default", description="the database, which must be there")
    cluster: str = Field(
        "",
        description="make and drop the tables ON CLUSTER of this name, with an engine such as "
        "ReplicatedMergeTree",
    )
    async_insert: bool = Field(
        default=False,
        description="let the server collect the rows of several sends into one part (async_insert)",
    )
    wait_for_async_insert: bool = Field(
        default=True,
        description="with async_insert: acknowledge rows when they are in a part; false: when "
        "they are in the server's memory, where a crash or an error loses them unnoticed",
    )


class Clickhouse(Database):
    """A ClickHouse server."""

    name = "clickhouse"
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT of one row, which is a part of its own (format Native)",
            BATCH: "one INSERT in format Native, column by column, which is one part",
            ROWBINARY: "one INSERT in format RowBinary, which is one part",
            CSV: "one INSERT in format CSV, which is one part",
        },
        primary_keys={
            PrimaryKey.DB: "UInt64 DEFAULT generateSnowflakeID(): a number that rises with time, "
            "as there are no sequences; it needs ClickHouse 24.6",
            PrimaryKey.CLIENT: "String, sent by the client",
            PrimaryKey.UUID: "UUID DEFAULT generateUUIDv4()",
            PrimaryKey.NONE: "no id column",
        },
        acknowledged="written as a part of the table, which is not synced to disk unless the "
        "option fsync is set; with async_insert see wait_for_async_insert",
        oldest={"ClickHouse": (22, 8)},
        limits=(
            "no key is unique: a row that is there already is stored again",
            "replicated tables (engine, cluster) and async_insert were not tried on a real server",
        ),
    )
    options_model: ClassVar[type[Options]] = ClickhouseOptions
    options: TableOptions

    settings: ClassVar[dict[str, str]] = {
        "aggregate_functions_null_for_empty": "1",  # as SQL has it
        "max_insert_threads": "1",  # one INSERT, one part
    }
    """What every statement runs with."""

    @property
    def dialect(self) -> ClickhouseDialect:
        """What the tables' SQL is written in."""
        return ClickhouseDialect(low_cardinality=self.options.low_cardinality)

    def insert_mode(self, batch_rows: int) -> str:
        """Return the mode that the format asks for."""
        forms = {"native": BATCH, "rowbinary": ROWBINARY, "csv": CSV}
        return forms[self.options.format] if batch_rows else SINGLE

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if batch_rows > _MOST_ROWS:
            found.append(
                f"--batch: up to {_MOST_ROWS} rows are stored together or not at all, got "
                f"{batch_rows}"
            )
        server = self._server
        if server and not server.wait_for_async_insert and not server.async_insert:
            found.append("wait_for_async_insert=false means something only with async_insert=true")
        return found

    @property
    def _server(self) -> ClickhouseOptions | None:
        """The options that only a server has."""
        return self.options if isinstance(self.options, ClickhouseOptions) else None

    # --- connecting

    def connect(self) -> ClickhouseSession:
        """Open a connection, and see that it leads to a server that is new enough."""
        channel = self.channel()
        try:
            version = self._version(channel)
        except (HttpError, ServerError) as error:
            channel.close()
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        except BaseException:
            channel.close()
            raise
        years = _ALL_YEARS if version >= _READS_ALL_YEARS else _SOME_YEARS
        return ClickhouseSession(channel, self.dialect, years)

    def _version(self, channel: Channel) -> tuple[int, int]:
        """Return the server's version; SetupError if it is none that can be used."""
        told = channel.execute("SELECT version()").decode(errors="replace").strip()
        numbers = re.match(r"(\d+)\.(\d+)", told)
        if not numbers:
            raise SetupError(
                f"{self.name}: what answers there is no ClickHouse: {told[:100]!r}; check the url"
            )
        version = int(numbers[1]), int(numbers[2])
        self.expect_recent(f"ClickHouse {told}")
        return version

    def channel(self) -> Channel:
        """Return a way to the engine, which may connect only when it is first used."""
        options = self._server
        assert options
        password = options.password.get_secret_value() if options.password else ""
        headers = {"Authorization": basic(options.user, password)}
        settings = {"database": options.database, **self.settings, **self.insert_settings()}
        return HttpChannel(Http(options, headers), settings, options.query_timeout_s)

    def insert_settings(self) -> dict[str, str]:
        """Return how the server is to take rows; newer ones collect them unless told not to."""
        options = self._server
        names = ("async_insert", "wait_for_async_insert")
        return {name: str(int(getattr(options, name))) for name in names}

    @contextmanager
    def _channel(self) -> Iterator[Channel]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session.channel
            except (HttpError, ServerError) as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    # --- tables

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        with self._channel() as channel:
            made: list[str] = []
            try:
                for table in tables:
                    for name in table.names:
                        channel.execute(self._create(table, name))
                        made.append(name)
            except ServerError:
                for name in made:
                    channel.execute(self._drop(name))
                raise

    def _create(self, table: Table, name: str) -> str:
        dialect = self.dialect
        order = self.options.order_by or dialect.names(self.order_of(table))
        behind = f"ENGINE = {self.options.engine} ORDER BY ({order})"
        settings = self.table_settings(table)
        if settings:
            behind += f" SETTINGS {', '.join(settings)}"
        return dialect.create_table(table, name, _key(table), behind, self._on_cluster)

    def order_of(self, table: Table) -> list[str]:
        """Return the columns by which a table is sorted unless the options say otherwise."""
        return [*(column.name for column in table.tags), table.time.name]

    def table_settings(self, table: Table) -> list[str]:
        """Return the settings that a table is made with."""
        settings = []
        if any(column.nullable for column in table.tags):
            settings.append("allow_nullable_key = 1")
        if self.options.fsync:
            settings += ["fsync_after_insert = 1", "fsync_part_directory = 1"]
        return settings

    @property
    def _on_cluster(self) -> str:
        cluster = self._server and self._server.cluster
        return f" ON CLUSTER {self.dialect.name(cluster)}" if cluster else ""

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables and give their space back at once."""
        with self._channel() as channel:
            for name in former_names(tables):
                channel.execute(self._drop(name))

    def _drop(self, name: str) -> str:
        return f"DROP TABLE IF EXISTS {self.dialect.name(name)}{self._on_cluster} SYNC"

    def settle(self, tables: Sequence[Table]) -> None:
        """Wait for rows that the server still collects, and merge the parts."""
        names = [self.dialect.name(name) for table in tables for name in table.names]
        on_cluster = self._on_cluster
        with self._channel() as channel:
            if self._server and self._server.async_insert:
                channel.execute(f"SYSTEM FLUSH ASYNC INSERT QUEUE{on_cluster}")
            for name in names:
                statements = [f"OPTIMIZE TABLE {name} FINAL"] if self.options.optimize else []
                if self.options.engine.startswith("Replicated"):
                    # On every server: whoever verifies may come to another one than this.
                    sync = f"SYSTEM SYNC REPLICA{on_cluster} {name}"
                    statements = [sync, *statements, sync]
                for statement in statements:
                    channel.execute(statement)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return what the parts take on this server that are in use, compressed as they are."""
        texts = ", ".join(self.dialect.text(name) for table in tables for name in table.names)
        with self._channel() as channel:
            return int(channel.execute(
                "SELECT ifNull(sum(bytes_on_disk), 0) FROM system.parts WHERE active "
                f"AND database = currentDatabase() AND table IN ({texts}) FORMAT TabSeparated"
            ))  # fmt: skip

    # --- what it says of itself

    def describe(self) -> Server:
        """Return the version, and what syncs a part to disk."""
        with self._channel() as channel:
            version = channel.execute("SELECT version()").decode().strip()
            told = channel.execute(
                "SELECT name, value FROM system.merge_tree_settings "
                f"WHERE name IN ('{_SYNC[0]}', '{_SYNC[1]}') FORMAT TabSeparated"
            )
            nodes = self._nodes(channel)
        settings = dict(line.split("\t") for line in told.decode().splitlines())
        if self.options.fsync:
            settings = dict.fromkeys(settings, "1")  # its tables have settings of their own
        if self._server and self._server.async_insert:
            waits = str(int(self._server.wait_for_async_insert))
            settings |= {"async_insert": "1", "wait_for_async_insert": waits}
        durable, durability = _durability(settings)
        return Server(f"ClickHouse {version}", nodes, durability, durable, settings)

    def _nodes(self, channel: Channel) -> int:
        """Return how many servers the option `cluster` names, or this one."""
        cluster = self._server and self._server.cluster
        if not cluster:
            return 1
        text = self.dialect.text(cluster)
        count = f"SELECT count() FROM system.clusters WHERE cluster = {text} FORMAT TabSeparated"
        return max(int(channel.execute(count)), 1)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return self.dialect.render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if isinstance(error, ServerError):
            remedy = _REMEDIES.get(error.code or 0)
            return f"{error}; {remedy}" if remedy else str(error)
        return str(error) if isinstance(error, HttpError) else super().explain(error)


_SYNC = ("fsync_after_insert", "fsync_part_directory")


def _durability(settings: dict[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    if settings.get("wait_for_async_insert") == "0":
        meaning = "is in the server's memory, and lost with it or when it turns out to be wrong"
        return False, f"an acknowledged row {meaning} ({told})"
    if all(settings.get(name) == "1" for name in _SYNC):
        return True, f"an acknowledged row is in a part that is synced to disk ({told})"
    meaning = "survives a crash of the server, but not of the machine: its part is not synced"
    return False, f"an acknowledged row {meaning} ({told or 'this version cannot sync'})"


_READS_ALL_YEARS = (26, 9)  # at the latest; what came before has not been tried
_ALL_YEARS, _SOME_YEARS = (1, 9999), (1900, 2299)
"""The years whose instants are read from text; as numbers all are taken."""


def _key(table: Table) -> list[str]:
    """Return the definition of the column that makes the primary key, if the server fills it."""
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


_CREDENTIALS = "check user and password: --extra-option password=..., or the target's options"
_REMEDIES = {
    _TABLE_EXISTS: "drop it, or run with --clean",
    60: "run an insert first",
    81: "create it (CREATE DATABASE), or name another in database",
    115: "the server must be ClickHouse 22.8 or newer",
    159: "raise max_execution_time on the server",
    164: "the user may only read; name another, or GRANT what is missing",
    192: _CREDENTIALS,
    193: _CREDENTIALS,
    194: _CREDENTIALS,
    241: "give the server more memory, or use a smaller --batch",
    243: "make room on the server",
    252: "use a larger --batch, fewer workers, or async_insert=true: every INSERT makes a part",
    497: "let the user do this: GRANT CREATE TABLE, DROP TABLE, INSERT, SELECT, OPTIMIZE ON ...",
    516: _CREDENTIALS,
}
"""The number of an error -> what to try."""
