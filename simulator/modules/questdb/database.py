"""QuestDB, through its HTTP interface: line protocol in, SQL out.

https://questdb.com/docs/ingestion/ilp/overview/ and https://questdb.com/docs/query/rest-api/. Rows
are committed to a table's write-ahead log, and a job of the server's applies them to the table,
where queries see them.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal

from pydantic import Field, SecretStr

from simulator.data.query import Query, RowsQuery, Statement
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
from simulator.modules.questdb.query import QuestSql, check_names
from simulator.modules.questdb.session import QuestSession
from simulator.modules.shared.http import Http, HttpError, HttpOptions, basic

_STUCK_S = 600
_POLL_S = 0.05


class QuestDbOptions(HttpOptions):
    """Options of the module `questdb`."""

    url: str = Field(description="where the server listens, such as http://questdb:9000")
    username: str | None = Field(
        None, description="user, if the server asks for one (http.user); see password"
    )
    password: SecretStr | None = Field(None, description="the user's password (http.password)")
    partition_by: Literal["HOUR", "DAY", "WEEK", "MONTH", "YEAR"] = Field(
        "DAY", description="how much time of the rows a partition spans: a folder with its files"
    )
    dedup: bool = Field(
        default=False,
        description="make tables with DEDUP UPSERT KEYS of time and natural key: a row whose key "
        "is there already replaces the other",
    )
    gzip: bool = Field(default=False, description="compress what is written, on the client's time")


class QuestDb(Database):
    """A QuestDB server."""

    name = "questdb"
    capabilities = Capabilities(
        modes={
            SINGLE: "one request with one line",
            BATCH: "one request with a line for each row, which is a transaction",
        },
        primary_keys={
            PrimaryKey.DB: "the designated timestamp, by which rows are ordered and found; with "
            "dedup=true, time and natural key, which are then unique",
            PrimaryKey.CLIENT: "the same, and a VARCHAR that the client sends",
            PrimaryKey.NONE: "as db: there is no id column",
        },
        acknowledged="committed to the write-ahead log; cairo.commit.mode says whether that was "
        "synced to disk; visible once the log is applied to the table",
        oldest={"QuestDB": (9, 2)},  # has DECIMAL, whose sums are exact
        limits=(
            "a row whose key is there already is kept beside the other, or replaces it (dedup)",
            "rows from 1970 to 9999 only, in nanoseconds to 2261",
            "-2147483648 as INT and -9223372036854775808 as LONG are its NULL, and refused",
            "an INT16 or BOOL that may be NULL is an INT",
            "no ? , ' \" \\ / : ( ) + * % ~ in names, no . - in those of columns",
        ),
    )
    options_model: ClassVar[type[Options]] = QuestDbOptions
    options: QuestDbOptions

    # --- connections

    def connect(self) -> QuestSession:
        """Open a connection, and see that the server knows us."""
        session = self._session()
        try:
            session.ask("SELECT 1")
        except HttpError as error:
            session.close()
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        return session

    def _session(self) -> QuestSession:
        options, headers = self.options, {}
        if options.username or options.password:
            password = options.secrets().get("password", "")
            headers["Authorization"] = basic(options.username or "", password)
        return QuestSession(Http(options, headers), options.query_timeout_s, gzip=options.gzip)

    @contextmanager
    def _admin(self) -> Iterator[QuestSession]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session
            except HttpError as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    # --- tables

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables; all or none."""
        for table in tables:
            check_names(table)
            if self.options.dedup and not table.key:
                raise SetupError(
                    f"{self.name}: table {table.name} has no natural key; leave dedup out"
                )
        with self._admin() as session:
            there = {name.lower() for (name,) in session.ask("SELECT table_name FROM tables()")}
            for name in (name for table in tables for name in table.names):
                if name.lower() in there:
                    raise SetupError(
                        f"{self.name}: table {name} already exists; drop it, or run with --clean"
                    )
            span = self.options.partition_by
            for table in tables:
                for name in table.names:
                    session.ask(QuestSql(table).create_table(name, span, dedup=self.options.dedup))

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables."""
        with self._admin() as session:
            for name in former_names(tables):
                session.ask(f"DROP TABLE IF EXISTS {_quoted(name)}")

    def settle(self, tables: Sequence[Table]) -> None:
        """Wait until the log is applied, and put pieces of partitions together again.

        Rows that came out of order may have split a partition.
        """
        names = [name for table in tables for name in table.names]
        with self._admin() as session:
            self._wait(session, names)
            for name in names:
                session.ask(f"ALTER TABLE {_quoted(name)} SQUASH PARTITIONS")
            self._wait(session, names)

    def _wait(self, session: QuestSession, names: Sequence[str]) -> None:
        """Return once all transactions are applied; SetupError if they are not."""
        columns = "name, suspended, errorMessage, writerTxn, sequencerTxn"
        known = ", ".join(map(_literal, names))
        applied, deadline = -1, time.monotonic() + _STUCK_S
        while True:
            found = session.ask(f"SELECT {columns} FROM wal_tables() WHERE name IN ({known})")
            for name, suspended, words, *_ in found:
                if suspended:
                    raise SetupError(
                        f"{self.name}: table {name} is suspended: {words or 'see the log'}; then "
                        f'ALTER TABLE "{name}" RESUME WAL'
                    )
            if all(done >= committed for *_, done, committed in found):
                return
            progress = sum(done for *_, done, _ in found)
            if progress > applied:
                applied, deadline = progress, time.monotonic() + _STUCK_S
            if time.monotonic() > deadline:
                raise SetupError(
                    f"{self.name}: the log was not applied any further for {_STUCK_S} s; look at "
                    "wal_tables() and the server's log"
                )
            time.sleep(_POLL_S)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the partitions' files, without log and symbols.

        A file of the newest partition is as long as its pages (16 MiB), so that it can grow.
        """
        with self._admin() as session:
            sizes = [
                session.ask(f"SELECT sum(diskSize) FROM table_partitions({_literal(name)})")
                for table in tables
                for name in table.names
            ]
        return sum(size or 0 for ((size,),) in sizes)

    # --- the server

    def describe(self) -> Server:
        """Return the version and the settings that say what a commit is worth."""
        names = ", ".join(map(_literal, _SETTINGS))
        with self._admin() as session:
            version = ".".join(map(str, _version(session)))
            settings = dict(
                session.ask(
                    "SELECT property_path, value FROM (SHOW PARAMETERS) "
                    f"WHERE property_path IN ({names})"
                )
            )
        return Server(f"QuestDB {version}", 1, *_durability(settings), settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL; all rows are read part by part, portion by portion."""
        dialect = QuestSql(query.table)
        statement = dialect.render(query)
        if isinstance(query, RowsQuery):
            return Statement(statement.text, statement.outputs, dialect.portions())
        return statement

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        return with_remedy(str(error), _REMEDIES)


_SETTINGS = (
    "cairo.commit.mode",
    "cairo.max.uncommitted.rows",
    "cairo.wal.apply.worker.count",
    "cairo.wal.segment.rollover.row.count",
    "http.worker.count",
    "shared.worker.count",
)

_REMEDIES = {
    "already exists": "drop it, or run with --clean",
    "does not exist": "run an insert first",
    "cannot insert in non-WAL table": "run with --clean: it makes tables with a write-ahead log",
    "cast error from protocol type": "the table has a column of another type; run with --clean",
    "timeout, query aborted": "raise query.timeout in the server's configuration",
}
"""A pattern of the words -> what to try."""


def _version(session: QuestSession) -> tuple[int, ...]:
    """Return the server's version."""
    ((build,),) = session.ask("SELECT build()")
    found = re.search(r"QuestDB (\d+(?:\.\d+)*)", build)
    return tuple(map(int, found[1].split("."))) if found else ()


def _durability(settings: dict[str, str]) -> tuple[str, bool]:
    """Return what an acknowledgement means, and whether the row survives a power cut."""
    mode = settings.get("cairo.commit.mode", "nosync")
    told = f"(cairo.commit.mode={mode})"
    if mode == "sync":
        return f"an acknowledged row is in the write-ahead log on disk {told}", True
    when = "soon" if mode == "async" else "when the system sees fit"
    meaning = f"survives a crash of the server, but not of the machine: it is synced {when}"
    return f"an acknowledged row {meaning} {told}", False


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
