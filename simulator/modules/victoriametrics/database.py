"""VictoriaMetrics, a single node, by HTTP: a row is stored as points, one for each field.

https://docs.victoriametrics.com/: a point has a metric, labels, a millisecond and a number. The
metric is TABLE_FIELD, and the label `benchmark_table` is the table. A table exists while the metric
`benchmark_table` has a point with that label.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from pydantic import Field, SecretStr

from simulator.data.block import Block
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    SINGLE,
    Alike,
    Capabilities,
    Changes,
    Contents,
    Existing,
    Options,
    Server,
)
from simulator.modules.shared.http.client import Http, HttpOptions, basic
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.metrics.points import fields
from simulator.modules.shared.metrics.rollups import NO_TIME_SUMS, ROWS_APART
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics.server import MetricsPage, seconds
from simulator.modules.victoriametrics.session import VictoriaMetricsSession
from simulator.modules.victoriametrics.wire import LAST_MS, Checks, metric
from simulator.protocol.records import RecordFormat

_POLL_S = 0.05
_QUIET_S = 1.2
"""A forced merge starts a moment after the request, and /metrics may be a second old."""


class VictoriaMetricsOptions(HttpOptions):
    """Options of the module `victoriametrics`."""

    username: str | None = Field(None, description="user (-httpAuth.username)")
    password: SecretStr | None = Field(None, description="its password")
    prefix: str = Field(
        "", description="prefix of the names of all metrics and tables, such as bench_"
    )
    decimals: int = Field(
        6,
        ge=0,
        le=10,
        multiple_of=2,
        description="largest number of decimals of floats, an even number. VictoriaMetrics stores "
        "floats as decimals: up to 9e11 / 10**decimals exactly, and others are an error",
    )


class VictoriaMetrics(HttpDatabase[VictoriaMetricsSession]):
    """A single-node VictoriaMetrics."""

    name = "victoriametrics"
    urls = ("victoriametrics://USERNAME@HOST:8428",)
    capabilities = Capabilities(
        formats=frozenset({RecordFormat.INFLUX}),
        modes={
            SINGLE: "one request with a line of InfluxDB's protocol",
            BATCH: "one request with a line of JSON for each series of each field; with fewer than "
            "four rows of each series, a line of InfluxDB's protocol for each row",
        },
        primary_keys={
            PrimaryKey.DB: "series and time, which need not be unique: a row that is sent twice is "
            "stored twice, and rows with the same tags and time mix their values",
        },
        acknowledged="in the server's memory; visible to queries about a second later, on disk "
        "after -inmemoryDataFlushInterval (5 s), the index of a new series after twice that",
        mixes_tables=True,
        checks_rows=True,
        separates_fields=True,
        unsupported=ROWS_APART,
        no_time_sums=NO_TIME_SUMS,
        alike={Alike.ZEROS: "the server stores decimal numbers, which have no sign of zero"},
        late="a query sees points once they have left buffers in memory, after a second or more",
        changes=Changes(
            no_corrections="a point that is sent again is stored beside the old one",
            no_deletion="the server deletes whole series only",
            no_retention="-retentionPeriod is of the whole server, in months",
        ),
        plans="a query with trace=1",
        in_client="decodes JSON; puts rows together from points; selects newest rows and buckets; "
        "fetches all points for the first or last value of several series, and for sums of "
        "integers beyond 2**53",
        limits=(
            "Fields are numbers; a text can only be a tag, and not an empty one.",
            "Floats are at most 900,000, with 6 decimals (see decimals).",
            "Integers are at most 2**53.",
            "Times are whole milliseconds from 1970 on, within the server's two retentions.",
            "The server counts no rows in its answers: dropped rows are found after the insert.",
            (
                "After a crash of 1.145.0, a batch that spans two months loses the rows of the"
                " later one if series of these names were deleted before: `insert`"
                " reports a mismatch."
            ),
            "The size on disk is that of the whole server.",
            "The server must neither deduplicate nor use less than 64 bits of precision.",
            "Clusters are not supported: vminsert acknowledges rows that no vmstorage has yet.",
        ),
    )
    options_model: ClassVar[type[Options]] = VictoriaMetricsOptions
    options: VictoriaMetricsOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "authKey": "start the server without keys for single paths (-deleteAuthKey, "
        "-forceFlushAuthKey, -forceMergeAuthKey, -metricsAuthKey)",
        "answered 404": "check that the URL is that of a single-node VictoriaMetrics",
    }

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._dropped: Mapping[str, float] = {}
        """The server's counters of dropped rows when the tables were created."""

    def check_rows(self, block: Block) -> None:
        """Raise UnstorableError for rows that it cannot store with any retention."""
        Checks(block.table, block.name, self.options.decimals, (0, LAST_MS)).times(block)

    def open(self) -> VictoriaMetricsSession:
        options, headers = self.options, {}
        if options.username is not None:
            password = options.secrets().get("password", "")
            headers["Authorization"] = basic(options.username, password)
        return VictoriaMetricsSession(
            Http(options, headers),
            self.render,
            prefix=options.prefix,
            decimals=options.decimals,
        )

    def objects(self, table: Table) -> list[str]:
        """Return the values of the tables' label, and the names of the metrics."""
        prefix, columns = self.options.prefix, fields(table)
        metrics = (metric(prefix, n, c.name) for n in table.names for c in columns)
        return [*(prefix + name for name in table.names), *metrics]

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            session.api.flush()  # queries find only visible points
            tables = session.api.tables() & {*names}
            metrics = session.api.foreign_metrics(names)
            strange = {name: session.api.foreign_labels(name) for name in tables}
        found = {name: Existing("metric", alike=False) for name in metrics}
        found |= {name: Existing("table") for name in tables}
        for name, labels in strange.items():
            if labels:
                kind = f"series with the label {labels[0]} in table"
                found[name] = Existing(kind, alike=False)
        return {name: found[name] for name in names if name in found}

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether a series marks the tables as created: others may use the label."""
        with self.administration() as session:
            return {name: bool(session.api.now(queries.marks(name))) for name in names}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of points of a table, or of a metric that has no table."""
        with self.administration() as session:
            points = session.api.now(queries.points(name, of_table=found.kind != "metric"))
        return Contents(int(points or 0), noun="point")

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Mark the tables as existing; their first points create the metrics."""
        prefix = self.options.prefix
        tags = {prefix + n: [tag.name for tag in t.tags] for t in tables for n in t.names}
        with self.administration() as session:
            self._expect_exact(session.api.page)
            for table in tables:
                for name in table.names:
                    Checks(table, name, self.options.decimals, session.api.page.span_ms())
            session.api.flush()
            for name in tags:
                if session.api.now(queries.marks(name)):
                    raise self.already_exists(f"table {name}")
            session.api.mark(tags, int(time.time() * 1000))  # noqa: TID251
            session.api.flush()
            self._dropped = session.api.learn().count_dropped()

    def _expect_exact(self, page: MetricsPage) -> None:
        """Raise SetupError if the server changes or drops rows by its settings."""
        if page.flag("precisionBits") not in ("", "64"):
            raise SetupError(
                f"{self.name}: the server rounds numbers (-precisionBits="
                f"{page.flag('precisionBits')}); start it without that"
            )
        if seconds(page.flag("dedup.minScrapeInterval") or "0s"):
            raise SetupError(
                f"{self.name}: the server drops rows that are close in time "
                f"(-dedup.minScrapeInterval={page.flag('dedup.minScrapeInterval')}); start it "
                "without that"
            )

    def drop(self, names: Collection[str]) -> None:
        """Delete all series of the tables, of any field, and no others."""
        if not names:
            return
        with self.administration() as session:
            session.api.flush()  # only series visible to queries are deleted
            session.api.delete(names)

    def visible(self, tables: Sequence[Table]) -> None:
        """Make rows visible."""
        with self.administration() as session:
            session.api.flush()

    def compact(self, tables: Sequence[Table]) -> None:
        """Wait until all parts of the storage are merged, which also removes deleted rows.

        A storage with series of others is not merged, because that would rewrite them, too.

        SetupError if the server has dropped rows since `create`: only its counters report that,
        about a second later.
        """
        with self.administration() as session:
            if not session.api.has_others:
                session.api.call("/internal/force_merge")
            since = time.monotonic()
            while time.monotonic() - since < _QUIET_S:
                time.sleep(_POLL_S)  # only /metrics shows the end of a merge
                if session.api.learn().total("vm_active_force_merges"):
                    since = time.monotonic()
            self._expect_no_drops(session.api.page.count_dropped())

    def _expect_no_drops(self, dropped: Mapping[str, float]) -> None:
        found = [
            f"{reason}, {count - self._dropped[reason]:.0f}"
            for reason, count in dropped.items()
            if count > self._dropped.get(reason, count)
        ]
        if found:
            raise SetupError(
                f"{self.name}: the server dropped acknowledged rows ({'; '.join(found)}); look at "
                "the server's log and its series limits (-storage.maxHourlySeries, "
                "-storage.maxDailySeries)"
            )

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of all data and indices on the server."""
        with self.administration() as session:
            return int(session.api.page.total("vm_data_size_bytes"))

    def describe(self) -> Server:
        with self.administration() as session:
            page = session.api.page
        settings = {name: page.flag(name) for name in _SETTINGS if page.flag(name)}
        return Server(
            version=page.version,
            nodes=1,
            durability="an acknowledged row is in memory, and on disk within "
            f"{page.flag('inmemoryDataFlushInterval')} (-inmemoryDataFlushInterval); the "
            "index of a new series, without which it cannot be found, takes twice as long",
            durable=False,
            settings=settings,
        )

    def translate(self, query: Query) -> Statement:
        return queries.render(self.options.prefix, query)


_SETTINGS = (
    "dedup.minScrapeInterval",
    "futureRetention",
    "inmemoryDataFlushInterval",
    "memory.allowedBytes",
    "memory.allowedPercent",
    "precisionBits",
    "retentionPeriod",
    "search.maxQueryDuration",
)
