"""The signatures of tables in their comments."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.data.schema import Table
from simulator.modules.cassandra.query import type_name
from simulator.modules.contract import Columns, Database, signature

if TYPE_CHECKING:
    from simulator.modules.cassandra.session import CassandraSession  # noqa: F401  # in a base


class Signatures(Database["CassandraSession"]):
    """A keyspace with its schema in tables."""

    options: Any

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        comments = self._of_schema("tables", "table_name, comment")
        known = {name for name, _ in comments}
        return {n: (n, signature(n)) in comments for n in names if n in known}

    def columns_in(self, name: str) -> Columns:
        columns = self._of_schema("columns", "table_name, column_name, type")
        return {column: kind for each, column, kind in columns if each == name}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            yield {c.name: type_name(c, table.time_unit) for c in table.columns}

    def _of_schema(self, kind: str, asked: str) -> list[tuple[str, ...]]:
        statement = f"SELECT {asked} FROM system_schema.{kind} WHERE keyspace_name = %s"
        with self.administration() as session:
            return [tuple(row) for row in session.nodes.rows(statement, self.options.keyspace)]
