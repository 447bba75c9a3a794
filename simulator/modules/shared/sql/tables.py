"""Statements that create tables and their indices."""

from collections.abc import Sequence

from simulator.data.schema import Column, Table, index_name
from simulator.modules.shared.sql.language import Dialect


def create_table(
    dialect: Dialect, table: Table, name: str, id_column: str | None, constraint: str | None
) -> str:
    """Return the statement that creates one physical table.

    `id_column` defines the column that the database fills; `constraint` follows the columns.
    """
    columns = [f"{dialect.name(c.name)} {dialect.type_of(c)}" for c in table.columns]
    parts = [part for part in (id_column, *columns, constraint) if part]
    return f"CREATE TABLE {dialect.name(name)} ({', '.join(parts)})"


def indices(tables: Sequence[Table]) -> list[tuple[str, str, list[Column]]]:
    """Return name, table and columns of the secondary indices that the tables declare."""
    return [
        (index_name(name, index), name, [*map(table.column, index.columns)])
        for table in tables
        for name in table.names
        for index in table.indices
    ]


def create_indices(dialect: Dialect, tables: Sequence[Table], *, missing: bool) -> list[str]:
    """Return the statements that create the secondary indices, or those that are missing."""
    create = "CREATE INDEX IF NOT EXISTS" if missing else "CREATE INDEX"
    return [
        f"{create} {dialect.name(index)} ON {dialect.name(name)} "
        f"({dialect.names([column.name for column in columns])})"
        for index, name, columns in indices(tables)
    ]
