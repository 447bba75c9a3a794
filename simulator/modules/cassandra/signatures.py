"""The signatures of tables in their comments."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from simulator.data.schema import Table
from simulator.modules.base import Database
from simulator.modules.signature import same_columns, signature

if TYPE_CHECKING:
    from simulator.modules.cassandra.session import CassandraSession  # noqa: F401  # in a base


class Signatures(Database["CassandraSession"]):
    """A keyspace, whose schema is in tables."""

    options: Any

    def signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether the tables bear their signature, by their comments."""
        comments = self._of_schema("tables", "table_name, comment")
        return {n: (n, signature(n)) in comments for n in names if n in dict(comments)}

    def resembles(self, name: str, table: Table) -> bool:
        """Return whether a table has our columns."""
        columns = self._of_schema("columns", "table_name, column_name")
        return same_columns((column for each, column in columns if each == name), table)

    def _of_schema(self, kind: str, asked: str) -> list[tuple[str, str]]:
        statement = f"SELECT {asked} FROM system_schema.{kind} WHERE keyspace_name = %s"
        with self.administration() as session:
            return [tuple(row) for row in session.nodes.rows(statement, self.options.keyspace)]
