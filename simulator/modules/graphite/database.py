"""Graphite: points to carbon by TCP, questions to graphite-web by HTTP.

https://graphite.readthedocs.io/en/stable/feeding-carbon.html: a point is a path, a number and a
second. Paths are TABLE.GENERATION.TAG. ... .FIELD. Neither carbon nor graphite-web can delete, so a
table that is made again is another generation of paths, and points mark which are there:
TABLE.created.GENERATION and TABLE.dropped.GENERATION.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from simulator.data.query import Aggregate, AggregateQuery, Function, Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.graphite import query as queries
from simulator.modules.graphite.session import PICKLE, Carbon, CarbonError, GraphiteSession, checked
from simulator.modules.shared.http import Http, HttpError, HttpOptions

_COUNT = (Aggregate(Function.COUNT),)
_MARKED_S = 60.0
_POLL_S = 0.1


class GraphiteOptions(HttpOptions):
    """Options of the module `graphite`; `url` is graphite-web's."""

    carbon_host: str | None = Field(None, description="host of carbon; default: that of url")
    line_port: int = Field(2003, description="carbon's port for lines")
    pickle_port: int = Field(2004, description="carbon's port for pickles")
    pickle: bool = Field(default=False, description="send batches as pickles, not as lines of text")
    prefix: str = Field(
        "",
        pattern=r"^([A-Za-z0-9_-]+\.)*$",
        description="what all paths begin with, such as bench.",
    )
    retention_s: int = Field(
        2_592_000,
        ge=60,
        description="for how long the server keeps points of one second: the first archive in its "
        "storage-schemas.conf. Older rows are refused",
    )
    quiet_s: float = Field(
        5, gt=0, description="settling ends once no more points have come to light for so long"
    )
    settle_s: float = Field(600, gt=0, description="how long settling may take")


class Graphite(Database):
    """A carbon, its whisper files, and a graphite-web that reads both."""

    name = "graphite"
    capabilities = Capabilities(
        modes={
            SINGLE: "a line for each field of a row, in one write to the socket",
            BATCH: "such lines of all rows, in one write to the socket",
            PICKLE: "pickled lists of points, of 1 MiB at most",
        },
        primary_keys={
            PrimaryKey.DB: "a row is known by its tags and its second; one that is there "
            "already is replaced",
        },
        acknowledged="nothing: carbon does not answer. A send returns when the kernel of this "
        "machine has taken the bytes",
        limits=(
            "Rates are those at which sockets take bytes; what was lost shows when it is verified.",
            "Fields are numbers, and stored as doubles: integers beyond 2**53 are refused.",
            "Tags and names are of ASCII letters, digits, - and _; a tag is never NULL.",
            "Times are whole seconds, of the past, and no longer ago than retention_s.",
            "Rows that agree in tags and second are one row.",
            "Nothing is deleted: a table made anew has other paths, and old files stay.",
            "The size on disk cannot be asked for.",
        ),
    )
    options_model: ClassVar[type[Options]] = GraphiteOptions
    options: GraphiteOptions

    def insert_mode(self, batch_rows: int) -> str:
        """Return the mode that the options ask for, else the one that the batch size does."""
        return PICKLE if self.options.pickle and batch_rows else super().insert_mode(batch_rows)

    def connect(self) -> GraphiteSession:
        """Open a connection to graphite-web, and learn which tables there are."""
        options = self.options
        session = GraphiteSession(
            Http(options),
            self._carbon,
            self.render,
            prefix=options.prefix,
            retention_s=options.retention_s,
            query_timeout_s=options.query_timeout_s,
        )
        try:
            session.learn()
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        return session

    def _carbon(self, *, pickle: bool) -> Carbon:
        options = self.options
        host = options.carbon_host or (urlsplit(options.url).hostname or "")
        port = options.pickle_port if pickle else options.line_port
        return Carbon(host, port, options.timeout_s)

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.explain(error)}")

    @contextmanager
    def _session(self) -> Iterator[GraphiteSession]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session
            except (HttpError, CarbonError) as error:
                raise self._setup_error(error) from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Mark the next generation of each table as created."""
        names = [name for table in tables for name in table.names]
        for table in tables:
            for name in table.names:
                checked(table, name)
        with self._session() as session:
            for name in names:
                if session.is_there(name):
                    raise SetupError(
                        f"{self.name}: table {name} already exists; drop it, or run with --clean"
                    )
            self._mark(session, queries.CREATED, {n: session.newest(n) + 1 for n in names})

    def drop(self, tables: Sequence[Table]) -> None:
        """Mark the tables as dropped; their points stay until somebody removes the files."""
        with self._session() as session:
            there = [name for name in former_names(tables) if session.is_there(name)]
            self._mark(session, queries.DROPPED, {n: session.newest(n) for n in there})

    def _mark(self, session: GraphiteSession, kind: str, generations: dict[str, int]) -> None:
        """Send markers, and return once graphite-web finds them."""
        wanted = {
            queries.marker(self.options.prefix, name, kind, generation)
            for name, generation in generations.items()
        }
        if not wanted:
            return
        session.mark(wanted)
        deadline = time.monotonic() + _MARKED_S
        while not wanted <= session.learn():
            if time.monotonic() > deadline:
                raise SetupError(
                    f"{self.name}: carbon took points that graphite-web does not find within "
                    f"{_MARKED_S:.0f} s; look at MAX_CREATES_PER_MINUTE in carbon.conf, at its "
                    "logs, and whether both use the same files"
                )
            time.sleep(_POLL_S)

    def settle(self, tables: Sequence[Table]) -> None:
        """Return once no more points come to light; SetupError if they do not cease to.

        carbon has read what was sent when the sessions were closed, but new files are made one
        after the other, and what is not in a file that is there cannot be found.
        """
        with self._session() as session:
            deadline = time.monotonic() + self.options.settle_s
            before, since = None, time.monotonic()
            while time.monotonic() - since < self.options.quiet_s:
                now = [session.run(self.render(AggregateQuery(t, _COUNT))) for t in tables]
                if now != before:
                    before, since = now, time.monotonic()
                if time.monotonic() > deadline:
                    raise SetupError(
                        f"{self.name}: more points come to light even after "
                        f"{self.options.settle_s:g} s; raise settle_s, or in carbon.conf "
                        "MAX_UPDATES_PER_SECOND and MAX_CREATES_PER_MINUTE"
                    )
                time.sleep(_POLL_S)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: the files cannot be asked for over HTTP."""
        return None

    def describe(self) -> Server:
        """Return the version, and that nothing is acknowledged."""
        with self._session() as session:
            version = session.version()
        return Server(
            version=f"Graphite {version}",
            nodes=1,
            durability="an acknowledged row is in the buffer of a socket, no more: carbon does not "
            "answer, and writes files some time later",
            durable=False,
        )

    def render(self, query: Query) -> Statement:
        """Return the query as targets of /render."""
        return queries.render(self.options.prefix, self.options.retention_s, query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's or the system's words, with a remedy."""
        if isinstance(error, HttpError):
            return str(error)
        if isinstance(error, CarbonError):
            return f"{error}; check that carbon runs, and carbon_host, line_port and pickle_port"
        return super().explain(error)
