"""The module `clickhouse` in the SQL of ClickHouse 18.16, the newest server package available.

It tests the module's HTTP code on a real server. This version lacks Bool, DateTime64,
LowCardinality, Int128, snowflake numbers, column positions in GROUP BY, recent settings, EXPLAIN,
and DROP ... SYNC, and reads the smallest double from CSV as 0. The embedded engine tests those.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import Column, PrimaryKey, Table, TimeUnit, Type
from simulator.modules.clickhouse.database import Clickhouse
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.clickhouse.session import CSV
from simulator.modules.contract import IMPORT, Capabilities

KEYS = (PrimaryKey.NONE, PrimaryKey.CLIENT, PrimaryKey.UUID)
OF_A_COLUMN = re.compile(r'\b(sum|avg|min|max)\(("(?:[^"\\]|\\.|"")*"|\w+)\)')


class Dialect18(ClickhouseDialect):
    types: ClassVar[dict[Type, str]] = {
        **ClickhouseDialect.types,
        Type.BOOL: "UInt8",
        Type.TIMESTAMP: "Int64",
    }

    def instants(self, unit: TimeUnit) -> str:
        return self.types[Type.TIMESTAMP]

    def instant(self, value: int, unit: TimeUnit) -> str:
        return str(value)

    def read(self, column: Column, expression: str = "") -> str:
        return expression or self.name(column.name)

    def total(self, column: Column, unit: TimeUnit) -> str:
        number = self.number(column, unit)
        number = (
            f"toDecimal128({number}, 0)" if column.type in (Type.INT64, Type.TIMESTAMP) else number
        )
        return f"sum(toNullable({number}))"

    def end(self, column: Column, time: str, *, last: bool) -> str:
        return f"{'argMax' if last else 'argMin'}(toNullable({self.name(column.name)}), {time})"

    def mutations(self, name: str) -> str:
        return super().mutations(name).replace("groupArray(latest_fail_reason)[1]", "''")

    def group(self, place: int, expression: str) -> str:
        return expression  # it takes no positions, neither in GROUP BY nor in ORDER BY


class Clickhouse18(Clickhouse):
    row_hash = None
    no_row_hash = "this version does not return the bits of a double"
    capabilities: ClassVar[Capabilities] = replace(
        Clickhouse.capabilities,
        plans="",
        no_plans="EXPLAIN came later than this version",
        primary_keys={key: Clickhouse.capabilities.primary_keys[key] for key in KEYS},
        modes={
            mode: text
            for mode, text in Clickhouse.capabilities.modes.items()
            if mode not in (CSV, IMPORT)
        },
        oldest={},
        unsupported={Feature.SPELLS: "this version has no window functions"},
    )
    settings: ClassVar[dict[str, str]] = {}

    comments = ""  # it has none

    @property
    def dialect(self) -> Dialect18:
        return Dialect18()

    def translate(self, query: Query) -> Statement:
        statement = super().translate(query)
        # The minimum of no rows is NULL only for a nullable column.
        return replace(statement, text=OF_A_COLUMN.sub(r"\1(toNullable(\2))", statement.text))

    def server_settings(self) -> dict[str, str]:
        return {}

    def order_of(self, table: Table) -> list[str]:
        nullable = {column.name for column in table.columns if column.nullable}
        return [name for name in super().order_of(table) if name not in nullable]

    def table_settings(self, table: Table) -> Sequence[str]:
        return []

    def drop_table(self, name: str) -> str:
        return super().drop_table(name).removesuffix(" SYNC")
