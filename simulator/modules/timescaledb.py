"""TimescaleDB: PostgreSQL with tables that are cut into chunks of time.

A relative of `postgres`; what is said here is what differs. Policies, which would have to know what
"now" is where time is an integer (set_integer_now_func), are not used: `settle` compresses the
chunks, so that no result depends on when a background job happened to run.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from simulator.data.query import NewestQuery, Query, Statement, outputs
from simulator.data.schema import Table, Type, former_names
from simulator.errors import SetupError
from simulator.modules.base import Server
from simulator.modules.postgres.database import Postgres, PostgresDialect, PostgresOptions
from simulator.modules.shared import sql

_DEFAULT_CONSTRAINT = "PRIMARY KEY (id, {time})"
_BY_RANGE_SINCE = (2, 13)


class TimescaledbOptions(PostgresOptions):
    """Options of the module `timescaledb`."""

    primary_key_constraint: str = Field(
        _DEFAULT_CONSTRAINT,
        description="the constraint that makes the primary key; {time} stands for the table's time "
        "column, which every key of a hypertable must hold",
    )
    chunk_interval_s: int = Field(
        86_400, ge=1, description="how many seconds of the rows' time one chunk holds"
    )
    time_index: bool = Field(
        default=True, description="keep the index on the time that a hypertable makes by itself"
    )
    compress: bool = Field(
        default=False,
        description="compress all chunks, a segment for each series, once the rows are written; "
        "the Apache edition cannot",
    )


class TimescaledbDialect(PostgresDialect):
    """PostgreSQL's SQL, and TimescaleDB's own function for time buckets."""

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, counted from 1970 as everywhere."""
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


class Timescaledb(Postgres):
    """A PostgreSQL database with the extension timescaledb."""

    name = "timescaledb"
    capabilities = replace(
        Postgres.capabilities,
        limits=(
            "Every primary key holds the time beside the id, as a hypertable wants it.",
            "The Apache edition cannot compress; `compress` has not yet run on the other.",
        ),
    )
    options_model = TimescaledbOptions
    options: TimescaledbOptions
    dialect: ClassVar[PostgresDialect] = TimescaledbDialect()

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the extension if it is not there, and the tables, all or none."""
        self._extension()
        self._execute(["CREATE EXTENSION IF NOT EXISTS timescaledb"])
        super().create(tables, batch_rows)

    def _create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        statements = [
            *super()._create_table(table, name, batch_rows),
            self._hypertable(table, name, self._extension()),
        ]
        if self.options.compress:
            statements.append(self._compressed(table, name))
        return statements

    def _key(self, table: Table, batch_rows: int) -> tuple[str | None, str | None]:
        id_column, constraint = super()._key(table, batch_rows)
        if constraint:
            constraint = constraint.replace("{time}", self.dialect.name(table.time.name))
        return id_column, constraint

    def _extension(self) -> str:
        """Return the version of the extension in this database, or that it will have once made.

        A server that has not loaded it with its start has none of its settings, and breaks the
        connection when it is to make the extension.
        """
        with self._cursor() as cursor:
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
        """Return the statement that makes a table a hypertable, in the version's words."""
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
        """Return the statement that says how chunks are to be compressed."""
        settings = {"timescaledb.compress_orderby": f"{self.dialect.name(table.time.name)} DESC"}
        tags = [column.name for column in table.tags]
        if tags:
            settings["timescaledb.compress_segmentby"] = self.dialect.names(tags)
        told = "".join(f", {key} = {self.dialect.text(value)}" for key, value in settings.items())
        return f"ALTER TABLE {self.dialect.name(name)} SET (timescaledb.compress{told})"

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables, all or none; a hypertable is not dropped along with others."""
        names = former_names(tables)
        self._execute([f"DROP TABLE IF EXISTS {self.dialect.name(name)}" for name in names])

    def settle(self, tables: Sequence[Table]) -> None:
        """Compress the chunks if asked to, and do what autovacuum would do some time later."""
        if self.options.compress:
            with self._cursor() as cursor:
                for table in tables:
                    for name in table.names:
                        relation = self.dialect.text(self.dialect.name(name))
                        cursor.execute(
                            "SELECT count(compress_chunk(chunk, if_not_compressed => true)) "
                            f"FROM show_chunks({relation}) AS chunk"
                        )
        super().settle(tables)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the tables with all chunks, indices and long values."""
        names = [self.dialect.name(name) for table in tables for name in table.names]
        with self._cursor() as cursor:
            cursor.execute(
                "SELECT sum(hypertable_size(name::regclass)) FROM unnest(%s) AS name", (names,)
            )
            ((size,),) = cursor.fetchall()
        return int(size)

    def describe(self) -> Server:
        """Return the versions of both, the edition, and the settings.

        Only a database with the extension knows the edition; an empty one has it for a moment.
        """
        server, version = super().describe(), self._extension()
        with self._cursor() as cursor:
            cursor.execute("BEGIN; CREATE EXTENSION IF NOT EXISTS timescaledb")
            cursor.execute("SELECT current_setting('timescaledb.license')")
            ((edition,),) = cursor.fetchall()
            cursor.execute("ROLLBACK")
        version = f"TimescaleDB {version} on {server.version}"
        chunks = {"chunk_interval_s": str(self.options.chunk_interval_s)}
        settings = {**server.settings, "timescaledb.license": str(edition), **chunks}
        return replace(server, version=version, settings=settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL; the newest rows by a join with their times, as published."""
        if not isinstance(query, NewestQuery):
            return super().render(query)
        table, dialect = query.table, self.dialect
        tag, time = dialect.name(query.tag), dialect.name(table.time.name)
        newest_tag, newest_time = (
            sql.unused(name, table) for name in (f"newest_{query.tag}", "newest_time")
        )
        same = "IS NOT DISTINCT FROM" if table.column(query.tag).nullable else "="
        rows = sql.rows_of(dialect, table)
        newest = (
            f"SELECT {tag} AS {dialect.name(newest_tag)}, max({time}) AS {newest_time} FROM {rows} "
            f"GROUP BY {tag}"
        )
        text = (
            f"SELECT {dialect.names((query.tag, *query.columns))} FROM {rows} "
            f"JOIN ({newest}) AS newest "
            f"ON {tag} {same} {dialect.name(newest_tag)} AND {time} = {newest_time}"
        )
        return Statement(text, outputs(query))

    def _remedy(self, code: str | None, words: str) -> str | None:
        """Return what to try against an error, if that is known."""
        if "license" in words:
            return "leave out compress=true, or install the Community edition"
        if code == "TS103":
            return "put the time into primary_key_constraint; {time} stands for its column"
        return super()._remedy(code, words)
