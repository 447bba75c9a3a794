"""SQL with TimescaleDB's functions, of tables and of continuous aggregates."""

from simulator.data.query import Aggregate
from simulator.data.schema import Column, Table, Type
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql.preaggregated import combine


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


class AggregatesDialect(TimescaledbDialect):
    """The dialect of queries that read continuous aggregates."""

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        return combine(self, table, aggregate)

    def of_answers(self) -> sql.Dialect:
        return TimescaledbDialect()
