"""VictoriaMetrics, a single node, by HTTP: rows as points, one for each field.

https://docs.victoriametrics.com/: a point is a metric, labels, a millisecond and a number. Metrics
are called TABLE_FIELD, and the label `benchmark_table` of each is its table. A table that is there
has a point of a metric that is called so, too.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.errors import SetupError
from simulator.modules.base import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Options,
    Server,
    with_remedy,
)
from simulator.modules.shared.http import Http, HttpError, HttpOptions, basic
from simulator.modules.victoriametrics import query as queries
from simulator.modules.victoriametrics.server import Page, seconds
from simulator.modules.victoriametrics.session import Checks, VictoriaMetricsSession

_POLL_S = 0.05
_QUIET_S = 1.2
"""A forced merge begins a moment after it was asked for, and /metrics may be a second old."""


class VictoriaMetricsOptions(HttpOptions):
    """Options of the module `victoriametrics`."""

    username: str | None = Field(None, description="user (-httpAuth.username)")
    password: SecretStr | None = Field(None, description="its password")
    prefix: str = Field(
        "", description="what the names of all metrics and tables begin with, such as bench_"
    )
    decimals: int = Field(
        6,
        ge=0,
        le=10,
        multiple_of=2,
        description="how many digits floats have behind the point at most, an even number. "
        "VictoriaMetrics compresses floats as decimals; up to 9e11 / 10**decimals they come back "
        "exactly, and others are refused",
    )


class VictoriaMetrics(Database):
    """A single-node VictoriaMetrics."""

    name = "victoriametrics"
    capabilities = Capabilities(
        modes={
            SINGLE: "a request with a line of InfluxDB's protocol",
            BATCH: "a request with a line of JSON for each field and each series, that has all "
            "their points; where those would be fewer than four, with a line of InfluxDB's "
            "protocol for each row",
        },
        primary_keys={
            PrimaryKey.DB: "points lie by series and time, which need not be unique: a row that is "
            "sent twice is kept twice",
        },
        acknowledged="the server has the points in memory; they can be found about a second later, "
        "and are on disk after -inmemoryDataFlushInterval (5 s), the index of a new series after "
        "twice that",
        limits=(
            "Fields are numbers: a text can be a tag only, and not an empty one.",
            "Floats are at most 900,000, with 6 digits behind the point (see decimals).",
            "Integers are at most 2**53; sums beyond that are made by the client of all points.",
            "Times are whole milliseconds from 1970 on, within the server's two retentions.",
            "The size on disk is the whole server's.",
            "The server must not deduplicate, nor have less than 64 bits of precision.",
            "Clusters have other paths, and were not tried.",
        ),
    )
    options_model: ClassVar[type[Options]] = VictoriaMetricsOptions
    options: VictoriaMetricsOptions

    def connect(self) -> VictoriaMetricsSession:
        """Open a connection, and see what the server keeps."""
        options, headers = self.options, {}
        if options.username is not None:
            password = options.password.get_secret_value() if options.password else ""
            headers["Authorization"] = basic(options.username, password)
        session = VictoriaMetricsSession(
            Http(options, headers),
            self.render,
            prefix=options.prefix,
            decimals=options.decimals,
            query_timeout_s=options.query_timeout_s,
        )
        try:
            page = session.learn()
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        if not page.is_victoriametrics:
            session.close()
            raise SetupError(
                f"{self.name}: {options.url}/metrics is not that of a single-node VictoriaMetrics; "
                "check url"
            )
        return session

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.explain(error)}")

    @contextmanager
    def _session(self) -> Iterator[VictoriaMetricsSession]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session
            except HttpError as error:
                raise self._setup_error(error) from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Note that the tables are there; metrics come with their points."""
        names = [self.options.prefix + name for table in tables for name in table.names]
        with self._session() as session:
            self._check(session.page)
            for table in tables:
                for name in table.names:
                    Checks(table, name, self.options.decimals, session.page.span_ms())
            session.flush()
            for name in names:
                if session.now(queries.marks(name)):
                    raise SetupError(
                        f"{self.name}: table {name} already exists; drop it, or run with --clean"
                    )
            session.mark(names, int(time.time() * 1000))
            session.flush()

    def _check(self, page: Page) -> None:
        """Refuse a server that changes what it is given."""
        if page.flag("precisionBits") not in ("", "64"):
            raise SetupError(
                f"{self.name}: the server rounds numbers (-precisionBits="
                f"{page.flag('precisionBits')}); start it without that"
            )
        if seconds(page.flag("dedup.minScrapeInterval") or "0s"):
            raise SetupError(
                f"{self.name}: the server drops rows that are near each other "
                f"(-dedup.minScrapeInterval={page.flag('dedup.minScrapeInterval')}); start it "
                "without that"
            )

    def drop(self, tables: Sequence[Table]) -> None:
        """Delete all series of the tables, whatever fields an earlier run had in them."""
        names = [self.options.prefix + name for name in former_names(tables)]
        with self._session() as session:
            session.flush()  # what cannot be found cannot be deleted
            path = "/api/v1/admin/tsdb/delete_series"
            session.call(path, {"match[]": queries.of_tables(names)})

    def settle(self, tables: Sequence[Table]) -> None:
        """Return once rows can be found, and all parts of the storage are merged.

        What was deleted is taken out of the storage by that, too.
        """
        with self._session() as session:
            session.flush()
            session.call("/internal/force_merge")
            since = time.monotonic()
            while time.monotonic() - since < _QUIET_S:
                time.sleep(_POLL_S)
                if session.learn().total("vm_active_force_merges"):
                    since = time.monotonic()

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return what the whole server has stored, data and index."""
        with self._session() as session:
            return int(session.page.total("vm_data_size_bytes"))

    def describe(self) -> Server:
        """Return the version and what an acknowledgement means with the server's settings."""
        with self._session() as session:
            page = session.page
        settings = {name: page.flag(name) for name in _SETTINGS if page.flag(name)}
        return Server(
            version=page.version,
            nodes=1,
            durability="an acknowledged row is in memory, and on disk within "
            f"{page.flag('inmemoryDataFlushInterval')} (-inmemoryDataFlushInterval); without the "
            "index of a new series, which takes twice as long, it cannot be found",
            durable=False,
            settings=settings,
        )

    def render(self, query: Query) -> Statement:
        """Return the query in MetricsQL."""
        return queries.render(self.options.prefix, query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, HttpError):
            return super().explain(error)
        return with_remedy(str(error), _REMEDIES)


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

_REMEDIES = {
    "authKey": "start the server without keys for single paths (-deleteAuthKey, "
    "-forceFlushAuthKey, -forceMergeAuthKey, -metricsAuthKey)",
    "answered 404": "check that url is that of a single-node VictoriaMetrics",
}
"""A pattern of the words -> what to try."""
