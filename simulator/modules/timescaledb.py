"""TimescaleDB, a relative of `postgres`: tables that are split into chunks of time.

It uses no policies, which need a definition of "now" where time is an integer
(set_integer_now_func): `compact` compresses the chunks, so that no result depends on the time at
which a background job ran.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from simulator.data.query import NewestQuery, Query, Statement, outputs
from simulator.data.schema import Column, Table, Type, names_of
from simulator.errors import SetupError
from simulator.modules.base import Server
from simulator.modules.existing import Contents, Existing
from simulator.modules.postgres.database import Postgres, PostgresOptions
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.shared import sql

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id, {time})"
_BY_RANGE_SINCE = (2, 13)


class TimescaledbOptions(PostgresOptions):
    """Options of the module `timescaledb`."""

    primary_key_constraint: str = Field(
        _DEFAULT_CONSTRAINT,
        description="the constraint of the primary key; {time} stands for the table's time column, "
        "which every key of a hypertable must contain",
    )
    chunk_interval_s: int = Field(
        86_400, ge=1, description="the span of time of one chunk, in seconds"
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


class TimescaledbDialect(PostgresDialect):
    """PostgreSQL's SQL, with TimescaleDB's function for time buckets."""

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, counted from 1970."""
        time, per_second = self.name(table.time.name), table.time_unit.per_second
        if table.time.type is not Type.TIMESTAMP:
            return f"time_bucket({width}, {time})"
        microseconds, finer = divmod(width * 10**6, per_second)
        if finer:
            return super().bucket(table, width)
        interval = f"INTERVAL '{microseconds} microseconds'"
        origin = self.instant(0, table.time_unit)
        seconds = f"extract(epoch FROM time_bucket({interval}, {time}, {origin}))"
        return f"CAST({seconds} * {per_second} AS BIGINT)"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        """Return the first or last value of a group, by the extension's own functions."""
        name, function = self.name(column.name), "last" if last else "first"
        some = f" FILTER (WHERE {name} IS NOT NULL)" if column.nullable else ""
        return f"{function}({name}, {time}){some}"


class Timescaledb(Postgres):
    """A PostgreSQL database with the extension timescaledb."""

    name = "timescaledb"
    capabilities = replace(
        Postgres.capabilities,
        limits=(
            "Every primary key contains the time beside the id, as hypertables require.",
            "`create_indices` creates (tags, time, first field) rather than (tags, time).",
            "Newest rows are queried by a join; `config.yaml` has a tuned text with `last()`.",
            "`compress` needs the Community edition, on which it is not tested.",
        ),
    )
    options_model = TimescaledbOptions
    options: TimescaledbOptions
    dialect: ClassVar[PostgresDialect] = TimescaledbDialect()
    remedies: ClassVar[Mapping[str, str]] = {
        "license": "leave out compress=true, or install the Community edition",
        "^TS103": "put the time into primary_key_constraint; {time} stands for its column",
        **Postgres.remedies,
    }

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the extension if it does not exist, and the tables, all or none."""
        self._extension()
        self.change(["CREATE EXTENSION IF NOT EXISTS timescaledb"])
        super().create(tables, batch_rows)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        """Return the statements that create one hypertable."""
        statements = [
            *super().create_table(table, name, batch_rows),
            self._hypertable(table, name, self._extension()),
        ]
        if self.options.compress:
            statements.append(self._compressed(table, name))
        return statements

    def key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        """Return the definition of the column that the database fills, and the constraint."""
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
            raise SetupError(
                f"{self.name}: this server has not loaded TimescaleDB; install it, and set "
                "shared_preload_libraries=timescaledb"
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

    def _compressed(self, table: Table, name: str) -> str:
        """Return the statement that sets how chunks are compressed."""
        settings = {"timescaledb.compress_orderby": f"{self.dialect.name(table.time.name)} DESC"}
        tags = [column.name for column in table.tags]
        if tags:
            settings["timescaledb.compress_segmentby"] = self.dialect.names(tags)
        parts = "".join(f", {key} = {self.dialect.text(value)}" for key, value in settings.items())
        return f"ALTER TABLE {self.dialect.name(name)} SET (timescaledb.compress{parts})"

    def compact(self, tables: Sequence[Table]) -> None:
        """Compress the chunks if the options say so, and do what autovacuum does later."""
        if self.options.compress:
            with self.cursor() as cursor:
                for name in names_of(tables):
                    relation = self.dialect.text(self.dialect.name(name))
                    cursor.execute(
                        "SELECT count(compress_chunk(chunk, if_not_compressed => true)) "
                        f"FROM show_chunks({relation}) AS chunk"
                    )
        super().compact(tables)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the tables with all chunks, indices and long values."""
        names = [self.dialect.name(name) for name in names_of(tables)]
        with self.cursor() as cursor:
            cursor.execute(
                "SELECT sum(hypertable_size(name::regclass)) FROM unnest(%s) AS name", (names,)
            )
            ((size,),) = cursor.fetchall()
        return int(size)

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of rows, and the size of a table that has perhaps no chunks."""
        counted = super().contents(name, found)
        if counted.size_bytes is not None or not found.alike:
            return counted
        with suppress(SetupError):
            return replace(counted, size_bytes=super().size_bytes([Table(name, (), ())]))
        return counted

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
        version = f"TimescaleDB {version} on {server.version}"
        chunks = {"chunk_interval_s": str(self.options.chunk_interval_s)}
        settings = {**server.settings, "timescaledb.license": str(edition), **chunks}
        return replace(server, version=version, settings=settings)

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL; the newest rows by a join, as the reference document does."""
        if not isinstance(query, NewestQuery):
            return super().translate(query)
        table, dialect = query.table, self.dialect
        tags, time = dialect.names(query.tags), dialect.name(table.time.name)
        newest_time = sql.unused("newest_time", table)
        known = {tag: dialect.name(sql.unused(f"newest_{tag}", table)) for tag in query.tags}
        joined = []
        for tag, alias in known.items():
            same = "IS NOT DISTINCT FROM" if table.column(tag).nullable else "="
            joined.append(f"{dialect.name(tag)} {same} {alias}")
        joined.append(f"{time} = {newest_time}")
        joined += sql.conditions(dialect, table, query.selection)
        named = ", ".join(f"{dialect.name(tag)} AS {alias}" for tag, alias in known.items())
        newest = (
            f"SELECT {named}, max({time}) AS {newest_time} "
            f"FROM {sql.selected(dialect, table, query.selection)} GROUP BY {tags}"
        )
        text = (
            f"SELECT {dialect.names((*query.tags, *query.columns))} "
            f"FROM {sql.from_operand(dialect, table)} JOIN ({newest}) AS newest "
            f"ON {' AND '.join(joined)}"
        )
        return Statement(text, outputs(query))
