"""OpenTSDB 2, by HTTP: rows as points, one for each field.

http://opentsdb.net/docs/build/html/api_http/index.html: a point is a metric, an instant, a number
and tags. Metrics are called TABLE.FIELD. A table that is there has a point of the metric TABLE,
since names cannot be taken back over HTTP, but points can.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.query import Aggregate, AggregateQuery, Function, Query, Statement
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
from simulator.modules.opentsdb import query as queries
from simulator.modules.opentsdb.session import OpenTsdbSession, PutError, checked
from simulator.modules.shared.http import Http, HttpError, HttpOptions
from simulator.modules.shared.metrics.points import fields

_COUNT = (Aggregate(Function.COUNT),)
_DELETIONS = 20
_POLL_S = 0.1
_SUGGESTIONS = 1_000_000


class OpenTsdbOptions(HttpOptions):
    """Options of the module `opentsdb`."""

    prefix: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_./-]*$",
        description="what the names of all metrics begin with, such as bench.",
    )
    sync: bool = Field(
        default=True,
        description="a send returns once HBase has the points; false: once the TSD has them, which "
        "may lose them",
    )
    request_points: int | None = Field(
        None,
        ge=1,
        description="points of one HTTP request at most; a send with more is several. Default: "
        "as many as the server takes (tsd.http.request.max_chunk)",
    )


class OpenTsdb(Database):
    """A TSD, and the HBase behind it."""

    name = "opentsdb"
    capabilities = Capabilities(
        modes={
            SINGLE: "one /api/put with the points of a row",
            BATCH: "one /api/put with the points of all rows, or several where the server limits "
            "requests; each point is stored on its own",
        },
        primary_keys={
            PrimaryKey.DB: "a row is known by its tags and its time; one that is there already is "
            "replaced",
        },
        acknowledged="HBase has the points in memory and in its write-ahead log (with sync=false: "
        "the TSD has them in memory)",
        limits=(
            "Fields are numbers: a text can be a tag only.",
            "Tags and names are of ASCII letters, digits and - _ . /, names without the dot.",
            "A tag is neither empty nor NULL.",
            "Times are milliseconds from 1970-04-27 to 2106-01-26, or whole seconds.",
            "Integers are aggregated in doubles; beyond 2**53 the client reads the points instead.",
            "Rows that agree in tags and time are one row.",
            "Names once used stay in tsdb-uid.",
            "Neither size on disk nor whether HBase syncs can be asked for.",
        ),
    )
    options_model: ClassVar[type[Options]] = OpenTsdbOptions
    options: OpenTsdbOptions

    def connect(self) -> OpenTsdbSession:
        """Open a connection, and see what the server takes."""
        session = self._open()
        try:
            config = session.call("GET", "/api/config")
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        session.limit_bytes = queries.largest_request(config)
        session.flush_s = max(int(config.get(name, "1000")) for name in _FLUSHES) / 1000
        return session

    def _open(self) -> OpenTsdbSession:
        options = self.options
        http = Http(options, {"Content-Type": "application/json"})
        return OpenTsdbSession(
            http,
            self.render,
            prefix=options.prefix,
            sync=options.sync,
            request_points=options.request_points,
            query_timeout_s=options.query_timeout_s,
        )

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.explain(error)}")

    @contextmanager
    def _session(self) -> Iterator[OpenTsdbSession]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session
            except (HttpError, PutError) as error:
                raise self._setup_error(error) from error

    def _metric(self, name: str, field: str = "") -> str:
        return queries.metric(self.options.prefix, name, field)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Give the metrics and tags their numbers, and note that the tables are there."""
        names = [name for table in tables for name in table.names]
        for table in tables:
            for name in table.names:
                checked(table, name)
        with self._session() as session:
            for name in names:
                if self._is_there(session, name):
                    raise SetupError(
                        f"{self.name}: table {name} already exists; drop it, or run with --clean"
                    )
            for table in tables:
                session.assign(
                    [
                        self._metric(name, column.name)
                        for name in table.names
                        for column in fields(table)
                    ],
                    [tag.name for tag in table.tags],
                )
            session.mark([self._metric(name) for name in names], int(time.time() * 1000))

    def _is_there(self, session: OpenTsdbSession, name: str) -> bool:
        return bool(session.ask(queries.marks(self._metric(name))))

    def drop(self, tables: Sequence[Table]) -> None:
        """Delete every point of the tables, whatever fields an earlier run had in them."""
        with self._session() as session:
            metrics = [
                metric
                for name in former_names(tables)
                for metric in session.known(self._metric(name), _SUGGESTIONS)
                if metric == self._metric(name) or metric.startswith(self._metric(name) + ".")
            ]
            tries = 0
            while metrics := [m for m in metrics if session.ask(queries.marks(m))]:
                tries += 1
                if tries > _DELETIONS:
                    raise SetupError(
                        f"{self.name}: {', '.join(metrics)}: points are still there after they were"
                        f" deleted {_DELETIONS} times; look at the log of the TSD"
                    )
                # Not once only: a row that the TSD is just compacting is written back.
                for metric in metrics:
                    session.ask(queries.deletion(metric))
                # What the TSD has not told HBase yet would also delete what is written next.
                time.sleep(2 * session.flush_s + _POLL_S)

    def settle(self, tables: Sequence[Table]) -> None:
        """Return once the TSD has written what it holds: nothing, if sends were synchronous.

        HBase cannot be told over HTTP to flush or compact.
        """
        if self.options.sync:
            return
        with self._session() as session:
            before = None
            while (now := self._counts(session, tables)) != before:
                before = now
                time.sleep(2 * session.flush_s + _POLL_S)

    def _counts(self, session: OpenTsdbSession, tables: Iterable[Table]) -> list[Any]:
        return [session.run(self.render(AggregateQuery(table, _COUNT))) for table in tables]

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: HBase knows, and the TSD does not ask it."""
        return None

    def describe(self) -> Server:
        """Return the version and what an acknowledgement means with these options."""
        with self._session() as session:
            version = session.call("GET", "/api/version")
            config = session.call("GET", "/api/config")
        settings = {name: config[name] for name in _SETTINGS if name in config}
        if self.options.sync:
            durable = None
            meaning = (
                "is in HBase's memory and write-ahead log; whether that is synced to disk is "
                "HBase's own setting (hbase.wal.hsync, false unless set), which no TSD tells"
            )
        else:
            durable = False
            delays = (config.get(name, "1000") for name in _FLUSHES)
            meaning = f"is in the TSD's memory, for up to {max(map(int, delays))} ms (sync=false)"
        return Server(_version(version), 1, f"an acknowledged row {meaning}", durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as a request to /api/query."""
        return queries.render(self.options.prefix, query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, HttpError | PutError):
            return super().explain(error)
        return with_remedy(str(error), _REMEDIES)


_FLUSHES = ("hbase.rpcs.buffered_flush_interval", "tsd.storage.flush_interval")
"""How long points wait in the TSD, in ms; which of the two counts depends on the version."""

_SETTINGS = (
    "hbase.rpcs.buffered_flush_interval",
    "tsd.core.auto_create_metrics",
    "tsd.http.query.allow_delete",
    "tsd.http.request.enable_chunked",
    "tsd.http.request.max_chunk",
    "tsd.storage.enable_appends",
    "tsd.storage.enable_compaction",
    "tsd.storage.fix_duplicates",
    "tsd.storage.flush_interval",
)

_REMEDIES = {
    "No such name for 'metrics'": "run an insert first",
    "Chunked request not supported": "set tsd.http.request.enable_chunked and max_chunk on the "
    "server, or a smaller request_points",
    "Deleting data is not enabled": "set tsd.http.query.allow_delete=true on the server, which "
    "emptying tables needs",
    "Unknown metric": "set tsd.core.auto_create_metrics=true on the server",
    "Duplicate timestamp": "set tsd.storage.fix_duplicates=true on the server",
    "answered 404": "check that url is that of a TSD",
}
"""A pattern of the words -> what to try."""


def _version(found: dict[str, str]) -> str:
    """Return the version; the one of Maven is known by its revision and day alone."""
    version = found["version"]
    if version[:1].isdigit():
        return f"OpenTSDB {version}"
    day = datetime.fromtimestamp(int(found["timestamp"]), UTC).date()
    return f"OpenTSDB {day} (revision {found['short_revision']})"
