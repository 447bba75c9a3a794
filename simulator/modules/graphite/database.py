"""Graphite: points are sent to carbon by TCP, queries to graphite-web by HTTP.

A point is a path, a number and a second. Paths are TABLE.GENERATION.TAG. ... .FIELD. Neither carbon
nor graphite-web can delete points, so a table that is created again is another generation of paths.
Points of TABLE.created.GENERATION and TABLE.dropped.GENERATION mark which generations exist.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from simulator.data.block import Block
from simulator.data.query import AggregateQuery, Query, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    BY_SERIES,
    SINGLE,
    Capabilities,
    Contents,
    Existing,
    Options,
    Server,
)
from simulator.modules.graphite import query as queries
from simulator.modules.graphite.session import PICKLE, GraphiteSession, check_span, make_checks
from simulator.modules.graphite.wire import Carbon, CarbonError
from simulator.modules.shared.http.client import Http, HttpOptions
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.metrics.rollups import COUNT_ROWS, NO_TIME_SUMS, ROWS_APART
from simulator.modules.shared.waits import wait_until, wait_until_stable
from simulator.protocol.records import RecordFormat

_MARKED_S = 60.0
_POLL_S = 0.1


class GraphiteOptions(HttpOptions):
    """Options of the module `graphite`; `url` is graphite-web's."""

    carbon_host: str | None = Field(None, description="carbon's host; default: the host of url")
    line_port: int = Field(2003, description="carbon's port for lines")
    pickle_port: int = Field(2004, description="carbon's port for pickles")
    pickle: bool = Field(default=False, description="send batches as pickles, not as lines")
    prefix: str = Field(
        "",
        pattern=r"^([A-Za-z0-9_-]+\.)*$",
        description="prefix of all paths, such as bench.",
    )
    retention_s: int = Field(
        2_592_000,
        ge=60,
        description="how long the server keeps points of one second: the first archive in its "
        "storage-schemas.conf. Older rows are an error",
    )
    quiet_s: float = Field(
        5, gt=0, description="rows are visible when no new points have appeared for this long"
    )
    visible_s: float = Field(
        600, gt=0, description="how long it may take until all rows are visible"
    )


class Graphite(HttpDatabase[GraphiteSession]):
    """carbon, its whisper files, and graphite-web, which reads both."""

    name = "graphite"
    urls = ("graphite://HOST:80",)
    capabilities = Capabilities(
        modes={
            SINGLE: "a line for each field of a row, in one write to the socket",
            BATCH: "these lines for all rows, in one write to the socket",
            PICKLE: "pickled lists of points, each of 1 MiB at most",
        },
        primary_keys={
            PrimaryKey.DB: "tags and second; a row replaces an earlier one with the same tags and "
            "second",
        },
        acknowledged="nothing: carbon does not answer. A row counts as acknowledged once the "
        "kernel of the client has taken its bytes",
        mixes_tables=True,
        checks_rows=True,
        formats=frozenset({RecordFormat.GRAPHITE}),
        replaces_rows=True,
        separates_fields=True,
        unsupported=ROWS_APART,
        no_time_sums=NO_TIME_SUMS,
        in_client="decodes JSON; puts rows together from points; selects newest rows and buckets; "
        "fetches all points for first values, for the last value of several series, and for sums "
        "of integers beyond 2**53",
        late="a query sees points once carbon has read them and created their files",
        changes=replace(
            BY_SERIES,
            corrects="points: one replaces another of its path and second",
            no_deletion="a Whisper file overwrites its oldest points, and deletes none",
        ),
        no_plans="Graphite has nothing like EXPLAIN",
        limits=(
            "A rate is that at which sockets take bytes; verification finds rows that were lost.",
            "Fields are numbers, stored as doubles: integers beyond 2**53 are an error.",
            "Names have ASCII letters, digits, - and _ only.",
            "Tags also have . and /, which are ~ and + in paths; a tag is never NULL.",
            "Times are whole seconds in the past, no longer ago than retention_s.",
            "Nothing is deleted: a table created again has other paths, and old files remain.",
            "The server does not report its size on disk.",
        ),
    )
    options_model: ClassVar[type[Options]] = GraphiteOptions
    options: GraphiteOptions
    own_errors = (CarbonError,)

    def insert_mode(self, mode: str) -> str:
        return PICKLE if self.options.pickle and mode == BATCH else super().insert_mode(mode)

    def check_rows(self, block: Block) -> None:
        """Raise UnstorableError for rows that it cannot store."""
        times = make_checks(block.table, block.name).times(block)
        check_span(block.table, times, self.options.retention_s)

    def open(self) -> GraphiteSession:
        options = self.options
        return GraphiteSession(
            Http(options),
            self._open_carbon,
            self.render,
            prefix=options.prefix,
            retention_s=options.retention_s,
        )

    def _open_carbon(self, mode: str) -> Carbon:
        options = self.options
        host = options.carbon_host or (urlsplit(options.url).hostname or "")
        port = options.pickle_port if mode == PICKLE else options.line_port
        return Carbon(host, port, options.timeout_s)

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return which names tables use, or other metrics, which cannot be dropped."""
        found = {}
        with self.administration() as session:
            for name in names:
                if session.generations.exists(name):
                    found[name] = Existing("table")
                elif not session.generations.newest(name) and session.generations.has_path(name):
                    found[name] = Existing("path", alike=False)
        return found

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return True for all tables, because only this program marks generations."""
        return dict.fromkeys(names, True)

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of paths below the path of a table, or of other metrics."""
        with self.administration() as session:
            return Contents(session.generations.paths_below(name), noun="path")

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        names = names_of(tables)
        for table in tables:
            for name in table.names:
                make_checks(table, name)
        with self.administration() as session:
            for name in names:
                if session.generations.exists(name):
                    raise self.already_exists(f"table {name}")
            self._mark(
                session, queries.CREATED, {n: session.generations.newest(n) + 1 for n in names}
            )

    def drop(self, names: Collection[str]) -> None:
        """Mark the tables as dropped; their points remain until their files are removed."""
        with self.administration() as session:
            existing = [name for name in names if session.generations.exists(name)]
            self._mark(
                session, queries.DROPPED, {n: session.generations.newest(n) for n in existing}
            )

    def _mark(self, session: GraphiteSession, kind: str, generations: dict[str, int]) -> None:
        """Send markers and wait until graphite-web finds them; SetupError after a minute."""
        wanted = {
            queries.marker(self.options.prefix, name, kind, generation)
            for name, generation in generations.items()
        }
        if not wanted:
            return
        session.mark(wanted)
        if not wait_until(lambda: wanted <= session.generations.learn(), _MARKED_S, _POLL_S):
            raise SetupError(
                f"{self.name}: graphite-web does not find points that were sent to carbon "
                f"{_MARKED_S:.0f} s ago; check MAX_CREATES_PER_MINUTE in carbon.conf, carbon's "
                "log, and that both use the same files"
            )

    def visible(self, tables: Sequence[Table]) -> None:
        """Wait until no new points appear; SetupError on timeout.

        Once the sessions are closed, carbon has read all points. But it creates files at a limited
        rate, and graphite-web finds a point only once its file exists.
        """
        with self.administration() as session:
            is_stable = wait_until_stable(
                lambda: [session.run(self.render(AggregateQuery(t, COUNT_ROWS))) for t in tables],
                self.options.quiet_s,
                _POLL_S,
                self.options.visible_s,
            )
        if not is_stable:
            raise SetupError(
                f"{self.name}: new points still appear after "
                f"{self.options.visible_s:g} s; raise visible_s, or in carbon.conf "
                "MAX_UPDATES_PER_SECOND and MAX_CREATES_PER_MINUTE"
            )

    def describe(self) -> Server:
        with self.administration() as session:
            version = session.http.request("GET", "/version").body.decode().strip()
        return Server(
            version=f"Graphite {version}",
            nodes=1,
            durability="an acknowledged row is in the buffer of a socket only: carbon does not "
            "answer, and writes its files some time later",
            durable=False,
        )

    def translate(self, query: Query) -> Statement:
        return queries.render(self.options.prefix, self.options.retention_s, query)

    def remedy(self, error: Exception) -> str | None:
        if isinstance(error, CarbonError):
            return "check that carbon runs, and carbon_host, line_port and pickle_port"
        return super().remedy(error)
