"""QuestDB through its HTTP interface: line protocol in, SQL out.

https://questdb.com/docs/ingestion/ilp/overview/ and https://questdb.com/docs/query/rest-api/. Rows
are committed to a table's write-ahead log. A job of the server applies the log to the table, where
queries see the rows.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from simulator.data.derived import below, innermost
from simulator.data.query import Query, RowsQuery, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    MISSING,
    SINGLE,
    AggregateOptions,
    Capabilities,
    Changes,
    Columns,
    Existing,
    Options,
    Server,
    intervals,
)
from simulator.modules.questdb import driver
from simulator.modules.questdb.query import (
    AggregatesSql,
    QuestSql,
    adapt,
    check_names,
    partition_start_ms,
)
from simulator.modules.questdb.session import QuestSession
from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.http.client import Http, HttpOptions, Refused, basic
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.sql.database import SqlDatabase
from simulator.modules.shared.sql.language import literal, quote
from simulator.modules.shared.sql.preaggregated import aggregates_of, from_kept, is_kept
from simulator.modules.shared.sql.texts import SqlTexts
from simulator.protocol.records import RecordFormat

_STUCK_S = 600
_POLL_S = 0.05
_TABLE = Existing("table")
_VIEW = Existing("materialized view")
_APPLIED = (
    "SELECT name, suspended, errorMessage, writerTxn, sequencerTxn FROM wal_tables() WHERE name"
)
_REFRESHED = (
    "SELECT view_name, view_status = 'invalid', invalidation_reason, refresh_base_table_txn, "
    "base_table_txn FROM materialized_views() WHERE view_name"
)
_SETTINGS = (
    "cairo.commit.mode",
    "cairo.max.uncommitted.rows",
    "cairo.wal.apply.worker.count",
    "cairo.wal.segment.rollover.row.count",
    "http.worker.count",
    "shared.worker.count",
)


class QuestDbOptions(HttpOptions, DriverOptions, AggregateOptions):
    """Options of the module `questdb`."""

    url: str = Field(description="where the server listens, such as http://questdb:9000")
    username: str | None = Field(
        None, description="user, if the server requires one (http.user); see password"
    )
    password: SecretStr | None = Field(None, description="the user's password (http.password)")
    partition_by: Literal["HOUR", "DAY", "WEEK", "MONTH", "YEAR"] = Field(
        "DAY", description="the span of time of a partition, which is a folder with files"
    )
    dedup: bool = Field(
        default=False,
        description="create tables with DEDUP UPSERT KEYS of time and natural key: a row replaces "
        "the row with the same key",
    )
    aggregate_intervals_s: str = intervals(
        "create materialized views of each table, which the server refreshes once rows are applied"
    )
    gzip: bool = Field(default=False, description="compress requests, which takes client time")


class QuestDb(SqlDatabase[QuestSession], HttpDatabase[QuestSession]):
    """A QuestDB server."""

    name = "questdb"
    urls = ("questdb://USERNAME@HOST:9000",)
    capabilities = Capabilities(
        shortens_float32=True,
        formats=frozenset({RecordFormat.INFLUX}),
        modes={
            SINGLE: "one request with one line",
            BATCH: "one request with a line for each row, which is a transaction",
            IMPORT: "one request to /imp with a CSV file",
            **driver.MODES,
        },
        primary_keys={
            PrimaryKey.DB: "the designated timestamp, by which rows are ordered and found; with "
            "dedup=true, time and natural key, which are then unique",
            PrimaryKey.CLIENT: "the same, and a VARCHAR from the client",
            PrimaryKey.NONE: "as db: there is no id column",
        },
        acknowledged="committed to the write-ahead log; cairo.commit.mode decides whether it was "
        "synced to disk; visible once the log is applied to the table",
        oldest={"QuestDB": (9, 2)},
        by_version={"QuestDB": "DECIMAL, whose sums are exact; from 9.3 plain views"},
        late="a query sees rows once the write-ahead log is applied",
        changes=Changes(
            corrects="lines, of tables with DEDUP UPSERT KEYS (dedup=true)",
            keys=frozenset({PrimaryKey.DB, PrimaryKey.NONE}),
            retags="UPDATE, applied with the log",
            no_deletion="QuestDB has no DELETE",
            drops="ALTER TABLE ... DROP PARTITION",
        ),
        plans="EXPLAIN",
        in_client="decodes JSON",
        limits=(
            "a row with the key of another is stored beside it, or replaces it (dedup)",
            "rows from 1970 to 9999 only, in nanoseconds to 2261",
            "-2147483648 as INT and -9223372036854775808 as LONG mean NULL, and are refused",
            "an INT16 or BOOL that may be NULL is an INT",
            "mode import takes no empty text, which it would read as NULL",
            "no ? , ' \" \\ / : ( ) + * % ~ in names, no . - in those of columns",
        ),
    )
    options_model: ClassVar[type[Options]] = QuestDbOptions
    options: QuestDbOptions

    columns = 'SELECT "column", "type" FROM table_columns({name})'
    plain_tables = "SELECT table_name FROM tables() WHERE walEnabled"
    mismatch = HttpDatabase.mismatch
    remedies: ClassVar[Mapping[str, str]] = {
        "does not exist": MISSING,
        "cannot insert in non-WAL table": "run with --clean, which creates it with a log",
        "cast error from protocol type": "the table has a column of another type; run with --clean",
        "timeout, query aborted": "raise query.timeout in the server's configuration",
    }

    def dialect_of(self, table: Table) -> QuestSql:
        return QuestSql(table)

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session:
            for statement in statements:
                session.ask(statement)

    def open(self) -> QuestSession:
        options, headers = self.options, {}
        password = options.secrets().get("password")
        if options.username or password:
            headers["Authorization"] = basic(options.username or "", password or "")
        open_sender = partial(driver.open_sender, options, options.username, password)
        return QuestSession(Http(options, headers), gzip=options.gzip, open_sender=open_sender)

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        found += self.options.list_excluded("gzip", "ca")
        if self.options.sends_by and (path := urlsplit(self.options.url).path):
            found.append(f"client=driver: questdb's client takes no path in url, got {path}")
        return found

    @property
    def changes(self) -> Changes:
        """The ways to change stored rows; only tables with dedup have rows that replace others."""
        known = super().changes
        if self.interval_s:
            why = "views keep what is dropped; insert without aggregate_intervals_s"
            known = replace(known, drops="", no_retention=why)
        if self.options.dedup:
            return known
        return replace(known, corrects="", no_corrections="set dedup=true, and insert again")

    def drops_until(self, time_ms: int) -> int:
        return partition_start_ms(time_ms, self.options.partition_by)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        check_names(tables)
        for table in tables:
            if self.options.dedup and not table.key:
                raise SetupError(
                    f"{self.name}: table {table.name} has no natural key; leave out dedup"
                )
        with self.administration() as session:
            existing = {name.lower() for (name,) in session.ask("SELECT table_name FROM tables()")}
            for name in (name for table in tables for name in self.objects(table)):
                if name.lower() in existing:
                    raise self.already_exists(f"table {name}")
            span = self.options.partition_by
            for table in tables:
                dialect = QuestSql(table)
                for name in table.names:
                    session.ask(dialect.create_table(name, span, dedup=self.options.dedup))
                    for interval_s in self.options.intervals_s:
                        session.ask(dialect.create_view(name, interval_s, span))

    def objects(self, table: Table) -> list[str]:
        return [*self._list_views([table]), *table.names]

    def _list_views(self, tables: Sequence[Table]) -> list[str]:
        return names_of(aggregates_of(tables, self.options))

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            tables = {name.lower() for (name,) in session.ask("SELECT table_name FROM tables()")}
            asked = session.ask("SELECT view_name FROM materialized_views()")
            stored = {name.lower() for (name,) in asked}
            views: set[str] = set()
            with suppress(Refused):  # servers before 9.3 have no plain views
                views = {name.lower() for (name,) in session.ask("SELECT view_name FROM views()")}
        kinds = dict.fromkeys(tables, _TABLE) | dict.fromkeys(views, Existing("view", alike=False))
        found = {name: kinds[name.lower()] for name in names if name.lower() in kinds}
        kept = {n: replace(_VIEW, alike=is_kept(n)) for n in names if n.lower() in stored}
        return found | kept

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            if name in table.names:
                yield QuestSql(table).declare()

    def render_drops(self, names: Collection[str]) -> list[str]:
        kinds = {name: each.kind for name, each in self.find_existing(names).items()}
        return [
            f"DROP {kind.upper()} IF EXISTS {quote(name)}"
            for kind in (_VIEW.kind, _TABLE.kind)
            for name in names
            if kinds.get(name) == kind
        ]

    def visible(self, tables: Sequence[Table]) -> None:
        views = self._list_views(tables)
        with self.administration() as session:
            self._wait(session, _APPLIED, names_of(tables))
            if views:
                self._wait(session, _REFRESHED, views)
                self._wait(session, _APPLIED, views)

    def compact(self, tables: Sequence[Table]) -> None:
        """Merge partitions that were split by out-of-order rows."""
        names = names_of(tables)
        with self.administration() as session:
            for name in names:
                session.ask(f"ALTER TABLE {quote(name)} SQUASH PARTITIONS")
            self._wait(session, _APPLIED, names)

    def _wait(self, session: QuestSession, progress_of: str, names: Sequence[str]) -> None:
        """Wait until all transactions are applied, or all views are refreshed (`progress_of`).

        SetupError after some time without progress.
        """
        literals = ", ".join(map(literal, names))
        applied, deadline = -1, time.monotonic() + _STUCK_S
        while True:
            found = session.ask(f"{progress_of} IN ({literals})")
            for name, stopped, words, *_ in found:
                if stopped:
                    state, remedy = "suspended", f'ALTER TABLE "{name}" RESUME WAL'
                    if progress_of == _REFRESHED:
                        state, remedy = "invalid", f'REFRESH MATERIALIZED VIEW "{name}" FULL'
                    raise SetupError(
                        f"{self.name}: {name} is {state}: {words or 'see the log'}; "
                        f"fix the cause, then {remedy}"
                    )
            if all((done or 0) >= committed for *_, done, committed in found):
                return
            progress = sum(done or 0 for *_, done, _ in found)
            if progress > applied:
                applied, deadline = progress, time.monotonic() + _STUCK_S
            if time.monotonic() > deadline:
                raise SetupError(
                    f"{self.name}: no progress in applying the log for {_STUCK_S} s; look at "
                    "wal_tables(), materialized_views() and the server's log"
                )
            time.sleep(_POLL_S)  # the server reports only progress

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the partitions' files, without log and symbols.

        The newest partition's files are allocated in pages of 16 MiB.
        """
        with self.administration() as session:
            sizes = [
                session.ask(f"SELECT sum(diskSize) FROM table_partitions({literal(name)})")
                for name in (*names_of(tables), *self._list_views(tables))
            ]
        return sum(size or 0 for ((size,),) in sizes)

    def describe(self) -> Server:
        names = ", ".join(map(literal, _SETTINGS))
        with self.administration() as session:
            ((build,),) = session.ask("SELECT build()")
            settings = dict(
                session.ask(
                    "SELECT property_path, value FROM (SHOW PARAMETERS) "
                    f"WHERE property_path IN ({names})"
                )
            )
        version = re.search(r"QuestDB \d+(\.\d+)*", build)
        return Server(version[0] if version else build, 1, *_durability(settings), settings)

    def translate(self, query: Query) -> Statement:
        # All rows of a table are read part by part, portion by portion.
        dialect = QuestSql(innermost(query).table)
        statement = dialect.render(query)
        if below(query.table) is None and query == RowsQuery(query.table):
            return Statement(statement.text, statement.outputs, dialect.portions())
        return statement

    def from_aggregates(self, query: Query) -> Statement | None:
        kept = from_kept(query, self.options)
        return AggregatesSql(innermost(kept).table).render(kept) if kept else None

    def texts(self, table: Table) -> SqlTexts:
        return SqlTexts(QuestSql(table), adapt(table), [self.name])


def _durability(settings: dict[str, str]) -> tuple[str, bool]:
    """Return the meaning of an acknowledgement, and whether a row survives a power cut."""
    mode = settings.get("cairo.commit.mode", "nosync")
    shown = f"(cairo.commit.mode={mode})"
    if mode == "sync":
        return f"an acknowledged row is in the write-ahead log on disk {shown}", True
    when = "soon after" if mode == "async" else "by the operating system, later"
    meaning = f"survives a crash of the server, but not of the machine: it is synced {when}"
    return f"an acknowledged row {meaning} {shown}", False
