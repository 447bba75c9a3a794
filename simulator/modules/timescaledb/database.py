"""TimescaleDB, a relative of `postgres`, with tables that are split into chunks of time.

Without `aggregate_refresh_s` there are no policies: `compact` refreshes the continuous aggregates
and compresses the chunks, so that no result depends on the time at which a background job ran.

Measured queries may read continuous aggregates (`statement`). Verification reads rows (`render`).
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, Type, names_of
from simulator.errors import ConfigError, SetupError
from simulator.modules.contract import (
    AggregateOptions,
    Changes,
    Contents,
    Existing,
    Server,
    intervals,
)
from simulator.modules.postgres.database import Postgres, PostgresOptions
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.preaggregated import aggregates_of, from_kept
from simulator.modules.shared.waits import retry
from simulator.modules.timescaledb.query import NOW, AggregatesDialect, TimescaledbDialect

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id, {time})"
_DAY_S = 86_400
_LICENSE = "timescaledb.license"
_COMMUNITY = ("compress", "aggregate_intervals_s")
"""Options that need the Community edition."""
_AGGREGATE, _FUNCTION = "continuous aggregate", "function"
_IS_BEING_REFRESHED = "55P03"
_STUCK_S, _POLL_S = 600, 0.05


class TimescaledbSession(PostgresSession):
    """A connection to a database with tables that have chunks."""

    def drop_before(self, table: Table, until: int) -> None:
        dialect, older_than = self.dialect_of(table), str(until)
        if table.time.type is Type.TIMESTAMP:
            older_than = dialect.instant(until, table.time_unit)
        for name in table.names:
            relation = dialect.text(dialect.name(name))
            self.ask(f"SELECT drop_chunks({relation}, older_than => {older_than})")


class TimescaledbOptions(PostgresOptions, AggregateOptions):
    """Options of the module `timescaledb`."""

    columns = (*PostgresOptions.columns, *AggregateOptions.columns)

    primary_key_constraint: str = Field(
        _DEFAULT_CONSTRAINT,
        description="the constraint of the primary key; {time} stands for the table's time column, "
        "which every key of a hypertable must contain",
    )
    chunk_interval_s: int = Field(
        _DAY_S, ge=1, description="the span of time of one chunk, in seconds"
    )
    time_index: bool = Field(
        default=True,
        description="keep the index on the time that TimescaleDB creates with a hypertable",
    )
    compress: bool = Field(
        default=False,
        description="compress all chunks after the insert, with a segment for each series; the "
        "Apache edition has no compression",
    )
    aggregate_intervals_s: str = intervals(
        "create continuous aggregates of each table (Community edition)"
    )
    aggregate_refresh_s: int = Field(
        0,
        ge=0,
        description="let a policy refresh the continuous aggregates every so many seconds, and let "
        "queries that read them read nothing else; 0: they are refreshed after the insert, and "
        "newer rows come from the table",
    )


class Timescaledb(Postgres):
    """A PostgreSQL database with the extension timescaledb."""

    name = "timescaledb"
    urls = ("timescaledb://USER@HOST:5432/DATABASE",)
    attachments = ""  # its chunks and aggregates depend on a table, too
    capabilities = replace(
        Postgres.capabilities,
        changes=Changes(
            corrects="INSERT ... ON CONFLICT (id, time) DO UPDATE",
            retags="UPDATE",
            deletes="DELETE",
            drops="drop_chunks",
        ),
        by_version={
            **Postgres.capabilities.by_version,
            "TimescaleDB": "from 2.13 create_hypertable() with by_range()",
        },
        limits=(
            "Every primary key contains the time beside the id, as hypertables require.",
            "`create_indices` creates (tags, time, first field) rather than (tags, time).",
            "Newest rows are queried by a join; `config.yaml` has a tuned text with `last()`.",
            "`compress` and `aggregate_intervals_s` need the Community edition.",
            (
                "Continuous aggregates answer queries for counts, sums, means and extremes of "
                "numbers if range and buckets are multiples of an interval: use `query --align`."
            ),
            "All other queries, and the verification of an insert, read the rows.",
        ),
    )
    options_model = TimescaledbOptions
    options: TimescaledbOptions
    dialect: ClassVar[TimescaledbDialect] = TimescaledbDialect()
    remedies: ClassVar[Mapping[str, str]] = {
        "license": "leave out compress and aggregate_intervals_s, or install the Community edition",
        r"^42P01.*_every_\d+s": "run an insert with the same aggregate_intervals_s, which creates "
        "the continuous aggregates",
        "^TS103": "put the time into primary_key_constraint; {time} stands for its column",
        **Postgres.remedies,
    }

    def open(self, connection: Any) -> PostgresSession:
        return TimescaledbSession(connection, self.dialect_of)

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        if self.options.aggregate_refresh_s and not self.interval_s:
            found.append("aggregate_refresh_s has no effect without aggregate_intervals_s")
        return found

    # --- what is made for a table -----------------------------------------------------------------

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        self._extension()
        self.change(["CREATE EXTENSION IF NOT EXISTS timescaledb"])
        super().create(tables, batch_rows)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        options, dialect, version = self.options, self.dialect, self._extension()
        chunk_s, indexed = options.chunk_interval_s, options.time_index
        statements = [
            *super().create_table(table, name, batch_rows),
            dialect.make_hypertable(table, name, version, chunk_s, indexed=indexed),
        ]
        if options.compress:
            statements.append(dialect.compress_chunks(table, name))
        if options.intervals_s:
            statements += dialect.define_now(table, name)
        for interval_s in options.intervals_s:
            refresh_s = options.aggregate_refresh_s
            statements += dialect.create_aggregate(table, name, interval_s, refresh_s)
        return statements

    def key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        id_column, constraint = super().key(table, batch_rows)
        if constraint:
            constraint = constraint.replace("{time}", self.dialect.name(table.time.name))
        return id_column, constraint

    def _extension(self) -> str:
        """Return the version of the extension that this database has or will have.

        A server that did not load it at start lacks its settings, and breaks the connection that
        creates the extension.
        """
        found = self.fetch(
            "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions "
            "WHERE name = 'timescaledb' "
            "AND current_setting('timescaledb.max_background_workers', true) IS NOT NULL"
        )
        if not found:
            raise ConfigError(
                f"{self.name}: this server has not loaded TimescaleDB; use a target with module: "
                "postgres, or install it and set shared_preload_libraries=timescaledb"
            )
        return str(found[0][0])

    def objects(self, table: Table) -> list[str]:
        kept = self._list_aggregates([table])
        integer = kept and table.time.type is not Type.TIMESTAMP
        return [*table.names, *kept, *([table.name + NOW] if integer else [])]

    def _list_aggregates(self, tables: Sequence[Table]) -> list[str]:
        return names_of(aggregates_of(tables, self.options))

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        found = super().find_existing(names)
        views = [name for name, each in found.items() if each.kind == "view"]
        aggregates = self._aggregates(views) if views else {}
        functions = [name for name in names if name.endswith(NOW) and name not in found]
        if functions:
            functions = [str(name) for (name,) in self.fetch(_FUNCTIONS, functions)]
        kinds = {**dict.fromkeys(aggregates, _AGGREGATE), **dict.fromkeys(functions, _FUNCTION)}
        return found | {name: Existing(kind) for name, kind in kinds.items()}

    def _aggregates(self, names: Collection[str]) -> dict[str, str]:
        """Return the continuous aggregates of these names, each with the hypertable of its rows."""
        quoted = {self.dialect.name(name): name for name in names}
        with self.administration() as session:
            view = "SELECT to_regclass('timescaledb_information.continuous_aggregates')"
            if session.ask(view) == [(None,)]:  # without the extension
                return {}
            found = session.ask(_AGGREGATES, list(quoted))
        return {quoted[name]: str(rows) for name, rows in found}

    def contents(self, name: str, found: Existing) -> Contents:
        if found.kind == _FUNCTION:
            return Contents(0, 0)
        counted = super().contents(name, found)
        if counted.size_bytes is not None or not found.alike:
            return counted
        with suppress(SetupError):  # a table without chunks has a size, too
            return replace(counted, size_bytes=super().size_bytes([Table(name, (), ())]))
        return counted

    def render_drops(self, names: Collection[str]) -> list[str]:
        found, dropped = self.find_existing(names), dict[str, list[str]]()
        for name in names:
            kind = found[name].kind if name in found else ""
            dropped.setdefault(_DROPS.get(kind, "TABLE"), []).append(self.dialect.name(name))
        return [
            f"DROP {kind} IF EXISTS {name}"
            for kind in ("MATERIALIZED VIEW", "TABLE", "FUNCTION")
            for name in dropped.get(kind, ())
        ]

    @property
    def late(self) -> str:
        """The reason why continuous aggregates lack rows: they are refreshed later."""
        if not self.interval_s:
            return super().late
        if self.options.aggregate_refresh_s:
            return "continuous aggregates have rows once their policy has refreshed them"
        return "continuous aggregates lack rows of an interval that was refreshed before they came"

    def visible(self, tables: Sequence[Table]) -> None:
        super().visible(tables)
        self._refresh(tables)

    def _refresh(self, tables: Sequence[Table]) -> list[str]:
        """Refresh the continuous aggregates of tables; return their names."""
        kept = self._list_aggregates(tables)
        for name in kept:
            relation = self.dialect.relation(name)
            refresh = f"CALL refresh_continuous_aggregate({relation}, NULL, NULL)"
            with self.administration() as session:
                retry(partial(session.ask, refresh), _is_being_refreshed, _STUCK_S, _POLL_S)
        return kept

    def compact(self, tables: Sequence[Table]) -> None:
        kept = self._refresh(tables)
        for rows in self._aggregates(kept).values() if kept else ():
            self.fetch(f"{self.compacting} {rows}")
        for name in names_of(tables) if self.options.compress else ():
            self.fetch(
                "SELECT count(compress_chunk(chunk, if_not_compressed => true)) "
                f"FROM show_chunks({self.dialect.relation(name)}) AS chunk"
            )
        super().compact(tables)

    def drops_until(self, time_ms: int) -> int:
        """Return the end of the last whole chunk; chunks are counted from 1970."""
        return time_ms - time_ms % (self.options.chunk_interval_s * 1000)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        names, kept = names_of(tables), self._list_aggregates(tables)
        aggregates = self._aggregates([*names, *kept]) if kept else {}
        relations = [aggregates.get(name) or self.dialect.name(name) for name in names]
        relations += [aggregates[name] for name in kept if name in aggregates]
        sizes = "SELECT sum(hypertable_size(name::regclass)) FROM unnest(%s) AS name"
        ((size,),) = self.fetch(sizes, relations)
        return int(size)

    # --- the server -------------------------------------------------------------------------------

    def describe(self) -> Server:
        """Describe the server, with the extension's version and edition.

        Only a database with the extension reports the edition; a transaction creates the extension
        and is rolled back.
        """
        server, version = super().describe(), self._extension()
        with self.administration() as session:
            session.ask("BEGIN; CREATE EXTENSION IF NOT EXISTS timescaledb")
            ((edition,),) = session.ask("SELECT current_setting('timescaledb.license')")
            session.ask("ROLLBACK")
        version = f"TimescaleDB {version} on {server.version.split(' with ')[0]}"
        chunks = {"chunk_interval_s": str(self.options.chunk_interval_s)}
        settings = {**server.settings, _LICENSE: str(edition), **chunks}
        return replace(server, version=version, settings=settings)

    def inspect(self) -> Server:
        """Describe the server; SetupError if its edition lacks what the options need."""
        server = super().inspect()
        asked = " and ".join(name for name in _COMMUNITY if getattr(self.options, name))
        if asked and server.settings[_LICENSE] == "apache":
            raise SetupError(
                f"{self.name}: {asked}: only in TimescaleDB's Community edition, and this server "
                f"has {_LICENSE}=apache; leave out {asked}, or install the Community edition and "
                f"set {_LICENSE}=timescale"
            )
        return server

    # --- queries ----------------------------------------------------------------------------------

    def from_aggregates(self, query: Query) -> Statement | None:
        kept = from_kept(query, self.options)
        return queries.render(AggregatesDialect(), kept) if kept else None


def _is_being_refreshed(error: Exception) -> bool:
    """Return whether a policy is refreshing the aggregate."""
    return getattr(error, "pgcode", "") == _IS_BEING_REFRESHED


_DROPS = {_AGGREGATE: "MATERIALIZED VIEW", _FUNCTION: "FUNCTION"}
"""Kind of object -> the words after DROP; other kinds are tables."""
_FUNCTIONS = """
SELECT proname::text FROM pg_proc JOIN pg_namespace AS space ON space.oid = pronamespace
WHERE proname::text = ANY(%s) AND pronargs = 0 AND nspname = current_schema()
"""
_AGGREGATES = """
SELECT name, format('%%I.%%I', materialization_hypertable_schema, materialization_hypertable_name)
FROM unnest(%s) AS name
JOIN pg_class AS relation ON relation.oid = to_regclass(name)
JOIN pg_namespace AS space ON space.oid = relnamespace
JOIN timescaledb_information.continuous_aggregates ON view_schema = nspname AND view_name = relname
"""
