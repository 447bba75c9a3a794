"""SQL with TimescaleDB's functions."""

from simulator.data.derived import below
from simulator.data.query import Aggregate, NewestQuery
from simulator.data.schema import Column, Table, Type
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.preaggregated import combine, definition, derive_aggregates

_BY_RANGE_SINCE = (2, 13)
NOW = "_now"
"""Suffix of the function that returns the current time of a table with integer times."""


class TimescaledbDialect(PostgresDialect):
    """PostgreSQL's SQL, with TimescaleDB's function for time buckets."""

    def bucket(self, table: Table, width: int) -> str:
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

    def unique(self, table: Table) -> list[str]:
        return [*super().unique(table), table.time.name]

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        name, function = self.name(column.name), "last" if last else "first"
        some = f" FILTER (WHERE {name} IS NOT NULL)" if column.nullable else ""
        return f"{function}({name}, {time}){some}"

    def newest(self, query: NewestQuery, rows: str) -> sql.Select:
        """Return the newest rows by a join, as in the reference document."""
        table, time = query.table, self.name(query.table.time.name)
        if below(table) is not None:  # a join would compute this answer twice
            return super().newest(query, rows)
        newest_time = table.find_unused("newest_time")
        known = {tag: self.name(table.find_unused(f"newest_{tag}")) for tag in query.tags}
        joined = []
        for tag, alias in known.items():
            same = "IS NOT DISTINCT FROM" if table.column(tag).nullable else "="
            joined.append(f"{self.name(tag)} {same} {alias}")
        joined.append(f"{time} = {newest_time}")
        joined += queries.conditions(self, table, query.selection)
        named = ", ".join(f"{self.name(tag)} AS {alias}" for tag, alias in known.items())
        newest = (
            f"SELECT {named}, max({time}) AS {newest_time} "
            f"FROM {rows} GROUP BY {self.names(query.tags)}"
        )
        both = f"{queries.from_operand(self, table)} JOIN ({newest}) AS newest"
        columns = map(self.name, (*query.tags, *query.columns))
        return sql.Select(tuple(columns), f"{both} ON {' AND '.join(joined)}")

    # --- what is made for a table -----------------------------------------------------------------

    def relation(self, name: str) -> str:
        """Return the name of a table as an argument of a function."""
        return self.text(self.name(name))

    def span(self, table: Table, seconds: int) -> str:
        """Return a span of time in the type of the table's time."""
        if table.time.type is Type.TIMESTAMP:
            return f"INTERVAL '{seconds} seconds'"
        return str(seconds * table.time_unit.per_second)

    def make_hypertable(
        self, table: Table, name: str, version: str, chunk_s: int, *, indexed: bool
    ) -> str:
        """Return the statement of this version that makes a table a hypertable."""
        column, interval = self.text(table.time.name), self.span(table, chunk_s)
        dimension = f"{column}, chunk_time_interval => {interval}"
        if tuple(map(int, version.split(".")[:2])) >= _BY_RANGE_SINCE:
            dimension = f"by_range({column}, {interval})"
        index = f"create_default_indexes => {str(indexed).lower()}"
        return f"SELECT create_hypertable({self.relation(name)}, {dimension}, {index})"

    def compress_chunks(self, table: Table, name: str) -> str:
        """Return the statement that configures the compression of chunks."""
        settings = {"timescaledb.compress_orderby": f"{self.name(table.time.name)} DESC"}
        if tags := [column.name for column in table.tags]:
            settings["timescaledb.compress_segmentby"] = self.names(tags)
        parts = "".join(f", {key} = {self.text(value)}" for key, value in settings.items())
        return f"ALTER TABLE {self.name(name)} SET (timescaledb.compress{parts})"

    def create_aggregate(
        self, table: Table, name: str, interval_s: int, refresh_s: int
    ) -> list[str]:
        """Return the statements that create a continuous aggregate of one physical table.

        It is empty before the first refresh. Queries read newer rows from the table, unless a
        policy refreshes the aggregate every `refresh_s`.
        """
        start = f"time_bucket({self.span(table, interval_s)}, {self.name(table.time.name)})"
        view = self.name(derive_aggregates(table, interval_s).names[table.names.index(name)])
        statements = [
            (
                f"CREATE MATERIALIZED VIEW {view} WITH (timescaledb.continuous, "
                f"timescaledb.materialized_only = {str(bool(refresh_s)).lower()}) AS "
                f"{definition(self, table, name, start)} WITH NO DATA"
            )
        ]
        if refresh_s:
            statements.append(
                f"SELECT add_continuous_aggregate_policy({self.text(view)}, NULL, NULL, "
                f"INTERVAL '{refresh_s} seconds')"
            )
        return statements

    def define_now(self, table: Table, name: str) -> list[str]:
        """Return the statements that define "now" for integer times.

        Without it, a table with integer times cannot have continuous aggregates.
        """
        if table.time.type is Type.TIMESTAMP:
            return []
        now, kind = self.name(table.name + NOW), self.type_of(table.time)
        seconds = f"extract(epoch FROM now()) * {table.time_unit.per_second}"
        function = (
            f"CREATE FUNCTION {now}() RETURNS {kind} LANGUAGE SQL STABLE "
            f"AS 'SELECT CAST({seconds} AS {kind})'"
        )
        use = f"SELECT set_integer_now_func({self.relation(name)}, {self.text(now)})"
        return [function, use] if name == table.names[0] else [use]


class AggregatesDialect(TimescaledbDialect):
    """The dialect of queries that read continuous aggregates."""

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        return combine(self, table, aggregate)

    def of_answers(self) -> sql.Dialect:
        return TimescaledbDialect()
