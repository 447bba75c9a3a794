"""OpenTSDB 2, by HTTP: a row is stored as points, one for each field.

http://opentsdb.net/docs/build/html/api_http/index.html: a point has a metric, an instant, a number
and tags. Metrics are called TABLE.FIELD. A table exists while the metric TABLE has a point, because
HTTP requests can delete points but not names.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from pydantic import Field

from simulator.data.block import Block
from simulator.data.query import AggregateQuery, Query, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    BY_SERIES,
    MISSING,
    SINGLE,
    Capabilities,
    Contents,
    Existing,
    Options,
    Server,
)
from simulator.modules.opentsdb import query as queries
from simulator.modules.opentsdb.session import OpenTsdbSession, check_span, check_tags, make_checks
from simulator.modules.shared.http.client import Http, HttpOptions
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.metrics.points import fields
from simulator.modules.shared.metrics.rollups import COUNT_ROWS, NO_TIME_SUMS, ROWS_APART
from simulator.modules.shared.waits import wait_until_stable
from simulator.protocol.records import RecordFormat

_DELETIONS = 20
_POLL_S = 0.1
_SUGGESTIONS = 1_000_000


class OpenTsdbOptions(HttpOptions):
    """Options of the module `opentsdb`."""

    prefix: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_./-]*$",
        description="prefix of the names of all metrics, such as bench.",
    )
    sync: bool = Field(
        default=True,
        description="acknowledge points once HBase has them; false: once the TSD has them, which "
        "may lose them",
    )
    max_tags: int = Field(
        8,
        ge=1,
        description="largest number of tags of a row, as the server allows (tsd.storage.max_tags); "
        "16 is enough for every workload",
    )
    request_points: int | None = Field(
        None,
        ge=1,
        description="largest number of points in one HTTP request; a larger batch is split. "
        "Default: as many as the server accepts (tsd.http.request.max_chunk)",
    )


class OpenTsdb(HttpDatabase[OpenTsdbSession]):
    """A TSD and its HBase."""

    name = "opentsdb"
    urls = ("opentsdb://HOST:4242",)
    capabilities = Capabilities(
        modes={
            SINGLE: "one /api/put with the points of a row",
            BATCH: "one /api/put with the points of all rows, or several where the server limits "
            "requests; each point is stored on its own",
        },
        primary_keys={
            PrimaryKey.DB: "tags and time; a row replaces an earlier one with the same tags and "
            "time",
        },
        acknowledged="HBase has the points in memory and in its write-ahead log (with sync=false: "
        "the TSD has them in memory)",
        mixes_tables=True,
        checks_rows=True,
        formats=frozenset({RecordFormat.OPENTSDB}),
        replaces_rows=True,
        separates_fields=True,
        unsupported=ROWS_APART,
        no_time_sums=NO_TIME_SUMS,
        in_client="decodes JSON; puts rows together from points; selects newest rows and buckets; "
        "fetches all points for the first or last value of several series, and for aggregates of "
        "integers beyond 2**53",
        changes=replace(
            BY_SERIES,
            corrects="points: one replaces another of its series and time",
            no_deletion="the TSD deletes whole rows of HBase, an hour of a series each",
        ),
        by_version={"OpenTSDB": f"the setting {' or '.join(queries.FLUSHES)}"},
        no_plans="OpenTSDB has nothing like EXPLAIN",
        limits=(
            "Fields are numbers; a text can only be a tag.",
            "Tags and names have ASCII letters, digits and - _ . / only; names have no dot.",
            "A tag is neither empty nor NULL; a row has up to 8 of them, or max_tags.",
            "Times are milliseconds from 1970-04-27 to 2106-01-26, or whole seconds.",
            "A batch is sent again if points are refused while a region moves or splits.",
            "Names stay in the table tsdb-uid after their points are deleted.",
            "The server reports neither the size on disk nor whether HBase syncs.",
        ),
    )
    options_model: ClassVar[type[Options]] = OpenTsdbOptions
    options: OpenTsdbOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "No such name for 'metrics'": MISSING,
        "Chunked request not supported": "set tsd.http.request.enable_chunked and max_chunk on the "
        "server, or a smaller request_points",
        "Deleting data is not enabled": "set tsd.http.query.allow_delete=true on the server, which "
        "dropping tables needs",
        "Unknown metric": "set tsd.core.auto_create_metrics=true on the server",
        "Too many tags": "set tsd.storage.max_tags on the server to max_tags of the target",
        "Duplicate timestamp": "set tsd.storage.fix_duplicates=true on the server",
        "answered 404": "check that the URL is that of a TSD",
    }

    def open(self) -> OpenTsdbSession:
        options = self.options
        return OpenTsdbSession(
            Http(options, {"Content-Type": "application/json"}),
            self.render,
            prefix=options.prefix,
            sync=options.sync,
            request_points=options.request_points,
        )

    def check_rows(self, block: Block) -> None:
        """Raise UnstorableError for rows that it cannot store."""
        check_tags(block.table, self.options.max_tags)
        check_span(block.table, make_checks(block.table, block.name).times(block))

    def _metric(self, name: str, field: str = "") -> str:
        return queries.metric(self.options.prefix, name, field)

    def objects(self, table: Table) -> list[str]:
        """Return the names of the metrics of the table itself and of its fields."""
        columns = ["", *(column.name for column in fields(table))]
        return [self._metric(name, column) for name in table.names for column in columns]

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        roots = [n for n in names if not any(n.startswith(f"{other}.") for other in names)]
        with self.administration() as session:
            known = {name for root in roots for name in session.list_metrics(root, _SUGGESTIONS)}
            used = (name for name in names if name in known and session.ask(queries.marks(name)))
            return {name: Existing("metric") for name in used}

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether metrics of tables have our points; metrics of fields have no signature."""
        roots = [n for n in names if not any(n.startswith(f"{other}.") for other in names)]
        with self.administration() as session:
            return {n: bool(session.ask(queries.marks(n, {queries.TABLE_TAG: "*"}))) for n in roots}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of points of a metric, without marks of an existing table."""
        with self.administration() as session:
            every, marking = (
                sum(value for item in session.ask(body) for _, value in item["dps"])
                for body in (queries.marks(name), queries.marks(name, {queries.TABLE_TAG: "*"}))
            )
        return Contents(int(every - marking), noun="point")

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        names = names_of(tables)
        for table in tables:
            for name in table.names:
                make_checks(table, name)
        with self.administration() as session:
            for table in tables:
                check_tags(table, session.max_tags)
            for name in (name for table in tables for name in self.objects(table)):
                if session.ask(queries.marks(name)):
                    raise self.already_exists(f"metric {name}")
            for table in tables:
                metrics = [self._metric(n, c.name) for n in table.names for c in fields(table)]
                session.assign(metrics, [tag.name for tag in table.tags])
            session.mark([self._metric(name) for name in names], int(time.time() * 1000))  # noqa: TID251

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            metrics, tries = [*names], 0
            while metrics := [m for m in metrics if session.ask(queries.marks(m))]:
                tries += 1
                if tries > _DELETIONS:
                    raise SetupError(
                        f"{self.name}: {', '.join(metrics)}: points remain after {_DELETIONS} "
                        "deletions; look at the log of the TSD"
                    )
                # A row that the TSD is compacting may come back after its deletion.
                for metric in metrics:
                    session.ask(queries.deletion(metric))
                # Deletes still buffered in the TSD would also remove rows written later.
                time.sleep(2 * session.flush_s + _POLL_S)

    @property
    def late(self) -> str:
        """The reason, without `sync`, that queries miss rows in the TSD's buffers."""
        return "" if self.options.sync else "sync=false: the TSD writes its buffers later"

    def visible(self, tables: Sequence[Table]) -> None:
        """Wait until the TSD has written its buffers, which are empty after synchronous sends."""
        if self.options.sync:
            return
        with self.administration() as session:
            queries = [self.render(AggregateQuery(table, COUNT_ROWS)) for table in tables]
            quiet_s = 2 * session.flush_s + _POLL_S  # the TSD reports no end of a flush
            wait_until_stable(lambda: [*map(session.run, queries)], quiet_s, quiet_s)

    def describe(self) -> Server:
        with self.administration() as session:
            version = session.call("GET", "/api/version")
            config = session.call("GET", "/api/config")
        settings = {name: config[name] for name in _SETTINGS if name in config}
        if self.options.sync:
            durable = None
            meaning = (
                "is in HBase's memory and write-ahead log; whether that is synced to disk is a "
                "setting of HBase (hbase.wal.hsync, false by default) that the TSD does not report"
            )
        else:
            durable = False
            delays = (config.get(name, "1000") for name in queries.FLUSHES)
            meaning = f"is in the TSD's memory, for up to {max(map(int, delays))} ms (sync=false)"
        return Server(
            _format_version(version), 1, f"an acknowledged row {meaning}", durable, settings
        )

    def translate(self, query: Query) -> Statement:
        return queries.render(self.options.prefix, query)


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
    "tsd.storage.max_tags",
)


def _format_version(found: dict[str, str]) -> str:
    """Return the version, or revision and day, because builds from Maven report no version."""
    version = found["version"]
    if version[:1].isdigit():
        return f"OpenTSDB {version}"
    day = datetime.fromtimestamp(int(found["timestamp"]), UTC).date()
    return f"OpenTSDB {day} (revision {found['short_revision']})"
