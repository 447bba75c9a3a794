"""ClickHouse, through its HTTP interface and its Native format.

No driver is used: encoded rows are sent unchanged, and every error can be classified.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from pydantic import Field, SecretStr

from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.clickhouse.session import (
    CSV,
    EXPLAINS,
    ROWBINARY,
    TEXTS,
    ClickhouseSession,
    ServerSession,
)
from simulator.modules.clickhouse.tables import ClickhouseTables, TableOptions
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    SINGLE,
    Capabilities,
    Changes,
    Options,
    ReadCounters,
)
from simulator.modules.shared.http.client import Http, HttpOptions, basic
from simulator.modules.shared.http.database import HttpDatabase

_WORK = {
    "MergedRows": "rows merged",
    "DelayedInserts": "inserts delayed by merges",
    "RejectedInserts": "inserts refused until merges",
}
"""Counter of events -> its name in the result; version 18 does not count merges."""


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


class Clickhouse(ClickhouseTables, HttpDatabase[ServerSession]):
    """A ClickHouse server."""

    name = "clickhouse"
    urls = ("clickhouse://USER@HOST:8123/DATABASE",)
    capabilities = Capabilities(
        shortens_float32=True,
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
        by_version={
            "ClickHouse": "from 24.1 the number of written rows in every INSERT's summary; "
            "from 24.6 generateSnowflakeID(), for the key db; "
            "from 26.9 (or earlier) instants before 1900 and after 2299"
        },
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

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        if not self.options.wait_for_async_insert and not self.options.async_insert:
            found.append("wait_for_async_insert=false has no effect without async_insert=true")
        is_replicated = self.options.cluster or self.options.engine.startswith("Replicated")
        if is_replicated and self.interval_s:
            found.append("aggregate_intervals_s: tables of aggregates are not replicated; leave out"
                         " cluster, and choose another engine")  # fmt: skip
        return found

    def open(self) -> ServerSession:
        options = self.options
        password = options.secrets().get("password", "")
        headers = {"Authorization": basic(options.user, password)}
        settings = {"database": options.database, **self.settings, **self.server_settings()}
        return ServerSession(Http(options, headers), self.dialect, settings)

    def connect(self) -> ServerSession:
        session = super().connect()
        try:
            self.expect_recent(f"ClickHouse {session.version}")
        except SetupError:
            session.close()
            raise
        return session

    def server_settings(self) -> dict[str, str]:
        """Return the settings of async_insert; newer servers combine batches by default."""
        names = ("async_insert", "wait_for_async_insert")
        return {name: str(int(getattr(self.options, name))) for name in names}

    def insert_settings(self) -> dict[str, str]:
        return self.server_settings() if self.options.async_insert else {}

    @property
    def on_cluster(self) -> str:
        cluster = self.options.cluster
        return f" ON CLUSTER {self.dialect.name(cluster)}" if cluster else ""

    @property
    def late(self) -> str:
        options = self.options
        if options.async_insert and not options.wait_for_async_insert:
            return "wait_for_async_insert=false: the server inserts rows of its queue later"
        if options.engine.startswith("Replicated"):
            return "a replica gets rows from another one later"
        return ""

    def visible(self, tables: Sequence[Table]) -> None:
        """Flush the rows in the server's queue, and wait until every replica has all rows."""
        if self.options.async_insert:
            with self.administration() as session:
                session.execute(f"SYSTEM FLUSH ASYNC INSERT QUEUE{self.on_cluster}")
        self._sync(tables)

    def compact(self, tables: Sequence[Table]) -> None:
        super().compact(tables)
        self._sync(tables)

    def _sync(self, tables: Sequence[Table]) -> None:
        """Wait for all replicas, because verification may reach another server."""
        if not self.options.engine.startswith("Replicated"):
            return
        with self.administration() as session:
            for name in map(self.dialect.name, names_of(tables)):
                session.execute(f"SYSTEM SYNC REPLICA{self.on_cluster} {name}")

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        names = ", ".join(f"'{name}'" for name in _WORK)
        with self.administration() as session:

            def counters() -> Mapping[str, int]:
                events = f"SELECT event, value FROM system.events WHERE event IN ({names})"
                found = dict(session.ask(events))
                return {shown: int(found.get(name, 0)) for name, shown in _WORK.items()}

            yield counters

    def nodes(self, session: ClickhouseSession) -> int:
        if not self.options.cluster:
            return 1
        text = self.dialect.text(self.options.cluster)
        ((servers,),) = session.ask(f"SELECT count() FROM system.clusters WHERE cluster = {text}")
        return max(int(servers), 1)
