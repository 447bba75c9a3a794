"""PostgreSQL's SQL."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql import language as sql

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostgresDialect(sql.Dialect):
    """PostgreSQL's types, with exact aggregates."""

    finest: TimeUnit | None = TimeUnit.MICROSECOND
    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "smallint",
        Type.INT32: "integer",
        Type.INT64: "bigint",
        Type.FLOAT32: "real",
        Type.FLOAT64: "double precision",
        Type.BOOL: "boolean",
        Type.TEXT: "varchar",
        Type.TIMESTAMP: "timestamptz",
    }
    long_names: ClassVar[Mapping[str, str]] = {
        "varchar": "character varying",
        "timestamptz": "timestamp with time zone",
    }
    ids: ClassVar[Mapping[PrimaryKey, str]] = {
        PrimaryKey.DB: "id bigserial",
        PrimaryKey.SQL: "id bigint GENERATED ALWAYS AS IDENTITY",
        PrimaryKey.UUID: "id uuid DEFAULT gen_random_uuid()",
    }
    """Definitions without PRIMARY KEY, which the option `primary_key_constraint` adds."""

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal of an instant, rounded up to microseconds.

        No stored instant lies between the instant and the literal.
        """
        microseconds = -(-value * 10**6 // unit.per_second)
        return f"timestamptz '{(_EPOCH + timedelta(microseconds=microseconds)).isoformat(' ')}'"

    def number(self, column: Column, unit: TimeUnit) -> str:
        if column.type is Type.TIMESTAMP:
            seconds = f"extract(epoch FROM {self.name(column.name)})"
            return f"CAST({seconds} * {unit.per_second} AS BIGINT)"
        return super().number(column, unit)

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        name, order = self.name(column.name), f"{time} DESC" if last else time
        some = f" FILTER (WHERE {name} IS NOT NULL)" if column.nullable else ""
        return f"(array_agg({name} ORDER BY {order}){some})[1]"

    def order_by_bytes(self, column: Column) -> str:
        return f'{self.name(column.name)} COLLATE "C"'

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        return sql_hashes.jenkins(self, table, rows)
