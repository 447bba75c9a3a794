"""TimescaleDB, a relative of `postgres`: tables that are split into chunks of time.

It uses no policies, unless `aggregate_refresh_s` asks for one: `compact` refreshes the continuous
aggregates and compresses the chunks, so that no result depends on when a background job ran.

Queries that are asked may read continuous aggregates (`statement`). What verifies the stored rows
reads the rows (`render`).
"""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from simulator.data.query import NewestQuery, Query, Statement, outputs
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
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.preaggregated import (
    aggregates_of,
    definition,
    from_kept,
    kept_for,
)
from simulator.modules.timescaledb.query import AggregatesDialect, TimescaledbDialect
from simulator.modules.timescaledb.session import TimescaledbSession

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id, {time})"
_BY_RANGE_SINCE = (2, 13)
_DAY_S = 86_400
_LICENSE = "timescaledb.license"
_COMMUNITY = ("compress", "aggregate_intervals_s")
"""Options that the Apache edition does not have."""
_AGGREGATE, _FUNCTION = "continuous aggregate", "function"
_IS_BEING_REFRESHED = "55P03"
_STUCK_S, _POLL_S = 600, 0.05
_NOW = "_now"
"""Suffix of the function that returns the present time of a table with integer times."""


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
    dialect: ClassVar[PostgresDialect] = TimescaledbDialect()
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
        statements = [
            *super().create_table(table, name, batch_rows),
            self._hypertable(table, name, self._extension()),
        ]
        if self.options.compress:
            statements.append(self._compress_chunks(table, name))
        return statements + self._continuous_aggregates(table, name)

    def key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        id_column, constraint = super().key(table, batch_rows)
        if constraint:
            constraint = constraint.replace("{time}", self.dialect.name(table.time.name))
        return id_column, constraint

    def _extension(self) -> str:
        """Return the version of the extension in this database, or the version to be created.

        A server that did not load it at start has none of its settings, and breaks the connection
        that creates the extension.
        """
        with self.cursor() as cursor:
            cursor.execute(
                "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions "
                "WHERE name = 'timescaledb' "
                "AND current_setting('timescaledb.max_background_workers', true) IS NOT NULL"
            )
            found = cursor.fetchall()
        if not found:
            raise ConfigError(
                f"{self.name}: this server has not loaded TimescaleDB; use a target with module: "
                "postgres, or install it and set shared_preload_libraries=timescaledb"
            )
        return str(found[0][0])

    def _hypertable(self, table: Table, name: str, version: str) -> str:
        """Return the statement that makes a table a hypertable, for this version."""
        relation, time = self.dialect.text(self.dialect.name(name)), table.time
        column, seconds = self.dialect.text(time.name), self.options.chunk_interval_s
        interval = f"INTERVAL '{seconds} seconds'"
        if time.type is not Type.TIMESTAMP:
            interval = str(seconds * table.time_unit.per_second)
        dimension = f"{column}, chunk_time_interval => {interval}"
        if tuple(map(int, version.split(".")[:2])) >= _BY_RANGE_SINCE:
            dimension = f"by_range({column}, {interval})"
        indices = str(self.options.time_index).lower()
        index = f"create_default_indexes => {indices}"
        return f"SELECT create_hypertable({relation}, {dimension}, {index})"

    def _compress_chunks(self, table: Table, name: str) -> str:
        """Return the statement that sets how chunks are compressed."""
        settings = {"timescaledb.compress_orderby": f"{self.dialect.name(table.time.name)} DESC"}
        tags = [column.name for column in table.tags]
        if tags:
            settings["timescaledb.compress_segmentby"] = self.dialect.names(tags)
        parts = "".join(f", {key} = {self.dialect.text(value)}" for key, value in settings.items())
        return f"ALTER TABLE {self.dialect.name(name)} SET (timescaledb.compress{parts})"

    def _continuous_aggregates(self, table: Table, name: str) -> list[str]:
        """Return the statements that create the continuous aggregates of one physical table.

        They hold nothing before the first refresh; rows that are newer come from the table.
        """
        intervals_s, refresh_s = self.options.intervals_s, self.options.aggregate_refresh_s
        statements = self._present_time(table, name) if intervals_s else []
        place, dialect = table.names.index(name), self.dialect
        for interval_s in intervals_s:
            width = f"INTERVAL '{interval_s} seconds'"
            if table.time.type is not Type.TIMESTAMP:
                width = str(interval_s * table.time_unit.per_second)
            start = f"time_bucket({width}, {dialect.name(table.time.name)})"
            view = dialect.name(kept_for(table, interval_s).names[place])
            statements.append(
                f"CREATE MATERIALIZED VIEW {view} WITH (timescaledb.continuous, "
                f"timescaledb.materialized_only = {str(bool(refresh_s)).lower()}) AS "
                f"{definition(dialect, table, name, start)} WITH NO DATA"
            )
            if refresh_s:
                statements.append(
                    f"SELECT add_continuous_aggregate_policy({dialect.text(view)}, NULL, NULL, "
                    f"INTERVAL '{refresh_s} seconds')"
                )
        return statements

    def _present_time(self, table: Table, name: str) -> list[str]:
        """Return the statements that define "now" for times that are integers.

        Without it such a table has no continuous aggregates.
        """
        dialect, time = self.dialect, table.time
        if time.type is Type.TIMESTAMP:
            return []
        now, kind = dialect.name(table.name + _NOW), dialect.type_of(time)
        seconds = f"extract(epoch FROM now()) * {table.time_unit.per_second}"
        function = (
            f"CREATE FUNCTION {now}() RETURNS {kind} LANGUAGE SQL STABLE "
            f"AS 'SELECT CAST({seconds} AS {kind})'"
        )
        relation = dialect.text(dialect.name(name))
        use = f"SELECT set_integer_now_func({relation}, {dialect.text(now)})"
        return [function, use] if name == table.names[0] else [use]

    def objects(self, table: Table) -> list[str]:
        """Return the names of the hypertables, their aggregates, and the function for "now"."""
        kept = self._kept([table])
        integer = kept and table.time.type is not Type.TIMESTAMP
        return [*table.names, *kept, *([table.name + _NOW] if integer else [])]

    def _kept(self, tables: Sequence[Table]) -> list[str]:
        """Return the names of the continuous aggregates of tables."""
        return names_of(aggregates_of(tables, self.options))

    def existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return the names that are in use, also by aggregates and functions for "now"."""
        found = super().existing(names)
        views = [name for name, each in found.items() if each.kind == "view"]
        aggregates = self._aggregates(views) if views else {}
        functions = [name for name in names if name.endswith(_NOW) and name not in found]
        if functions:
            with self.cursor() as cursor:
                cursor.execute(_FUNCTIONS, (functions,))
                functions = [str(name) for (name,) in cursor.fetchall()]
        kinds = {**dict.fromkeys(aggregates, _AGGREGATE), **dict.fromkeys(functions, _FUNCTION)}
        return found | {name: Existing(kind) for name, kind in kinds.items()}

    def _aggregates(self, names: Collection[str]) -> dict[str, str]:
        """Return continuous aggregate -> the hypertable with its rows."""
        quoted = {self.dialect.name(name): name for name in names}
        with self.cursor() as cursor:
            cursor.execute("SELECT to_regclass('timescaledb_information.continuous_aggregates')")
            if cursor.fetchall() == [(None,)]:  # without the extension
                return {}
            cursor.execute(_AGGREGATES, (list(quoted),))
            return {quoted[name]: str(rows) for name, rows in cursor.fetchall()}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of rows, and the size of a table that has perhaps no chunks.

        A function stores nothing.
        """
        if found.kind == _FUNCTION:
            return Contents(0, 0)
        counted = super().contents(name, found)
        if counted.size_bytes is not None or not found.alike:
            return counted
        with suppress(SetupError):
            return replace(counted, size_bytes=super().size_bytes([Table(name, (), ())]))
        return counted

    def dropping(self, names: Collection[str]) -> list[str]:
        """Return the statements that drop aggregates, then tables, then functions."""
        found, dropped = self.existing(names), dict[str, list[str]]()
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
        """Continuous aggregates lack rows until they are refreshed, real-time ones some of them."""
        if not self.interval_s:
            return super().late
        if self.options.aggregate_refresh_s:
            return "continuous aggregates have rows once their policy has refreshed them"
        return "continuous aggregates lack rows of an interval that was refreshed before they came"

    def visible(self, tables: Sequence[Table]) -> None:
        """Refresh the aggregates."""
        super().visible(tables)
        self._refresh(tables)

    def _refresh(self, tables: Sequence[Table]) -> list[str]:
        """Refresh the aggregates of tables; return their names."""
        kept = self._kept(tables)
        for name in kept:
            relation = self.dialect.text(self.dialect.name(name))
            deadline = time.monotonic() + _STUCK_S
            with self.cursor() as cursor:
                while not _is_refreshed(cursor, relation, deadline):
                    time.sleep(_POLL_S)
        return kept

    def compact(self, tables: Sequence[Table]) -> None:
        """Refresh the aggregates and compress the chunks, and do what autovacuum does later."""
        kept = self._refresh(tables)
        if kept:
            with self.cursor() as cursor:
                for rows in self._aggregates(kept).values():
                    cursor.execute(f"{self.compacting} {rows}")
        if self.options.compress:
            with self.cursor() as cursor:
                for name in names_of(tables):
                    relation = self.dialect.text(self.dialect.name(name))
                    cursor.execute(
                        "SELECT count(compress_chunk(chunk, if_not_compressed => true)) "
                        f"FROM show_chunks({relation}) AS chunk"
                    )
        super().compact(tables)

    def drops_until(self, time_ms: int) -> int:
        """Return the end of the last chunk that ends by then; chunks are counted from 1970."""
        return time_ms - time_ms % (self.options.chunk_interval_s * 1000)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of tables and aggregates, with chunks, indices and long values."""
        names, kept = names_of(tables), self._kept(tables)
        aggregates = self._aggregates([*names, *kept]) if kept else {}
        relations = [aggregates.get(name) or self.dialect.name(name) for name in names]
        relations += [aggregates[name] for name in kept if name in aggregates]
        with self.cursor() as cursor:
            cursor.execute(
                "SELECT sum(hypertable_size(name::regclass)) FROM unnest(%s) AS name",
                (relations,),
            )
            ((size,),) = cursor.fetchall()
        return int(size)

    # --- the server -------------------------------------------------------------------------------

    def describe(self) -> Server:
        """Return both versions, the edition, and the settings.

        Only a database with the extension reports the edition, so a transaction that is rolled back
        creates it.
        """
        server, version = super().describe(), self._extension()
        with self.cursor() as cursor:
            cursor.execute("BEGIN; CREATE EXTENSION IF NOT EXISTS timescaledb")
            cursor.execute("SELECT current_setting('timescaledb.license')")
            ((edition,),) = cursor.fetchall()
            cursor.execute("ROLLBACK")
        version = f"TimescaleDB {version} on {server.version.split(' with ')[0]}"
        chunks = {"chunk_interval_s": str(self.options.chunk_interval_s)}
        settings = {**server.settings, _LICENSE: str(edition), **chunks}
        return replace(server, version=version, settings=settings)

    def inspect(self) -> Server:
        """Describe the server; SetupError if its edition does not have what the options use."""
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
        """Return the statement that reads continuous aggregates, if they answer a query."""
        kept = from_kept(query, self.options)
        return sql.render(AggregatesDialect(), kept) if kept else None

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL; the newest rows by a join, as the reference document does."""
        if not isinstance(query, NewestQuery):
            return super().translate(query)
        table, dialect = query.table, self.dialect
        tags, time = dialect.names(query.tags), dialect.name(table.time.name)
        newest_time = table.find_unused("newest_time")
        known = {tag: dialect.name(table.find_unused(f"newest_{tag}")) for tag in query.tags}
        joined = []
        for tag, alias in known.items():
            same = "IS NOT DISTINCT FROM" if table.column(tag).nullable else "="
            joined.append(f"{dialect.name(tag)} {same} {alias}")
        joined.append(f"{time} = {newest_time}")
        joined += sql.conditions(dialect, table, query.selection)
        named = ", ".join(f"{dialect.name(tag)} AS {alias}" for tag, alias in known.items())
        newest = (
            f"SELECT {named}, max({time}) AS {newest_time} "
            f"FROM {sql.select(dialect, table, query.selection)} GROUP BY {tags}"
        )
        text = (
            f"SELECT {dialect.names((*query.tags, *query.columns))} "
            f"FROM {sql.from_operand(dialect, table)} JOIN ({newest}) AS newest "
            f"ON {' AND '.join(joined)}"
        )
        return Statement(text, outputs(query))


def _is_refreshed(cursor: Any, relation: str, deadline: float) -> bool:
    """Refresh an aggregate, unless its policy is doing so: then return False until a deadline."""
    try:
        cursor.execute(f"CALL refresh_continuous_aggregate({relation}, NULL, NULL)")
    except Exception as error:  # the driver is imported only when its module connects
        if getattr(error, "pgcode", "") != _IS_BEING_REFRESHED or time.monotonic() > deadline:
            raise
        return False
    return True


_DROPS = {_AGGREGATE: "MATERIALIZED VIEW", _FUNCTION: "FUNCTION"}
"""Kind of object -> the words that drop it; any other kind is a table."""
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
