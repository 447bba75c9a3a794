"""SQL that changes stored rows: upserts, updates of tags, and deletion by time."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

from simulator.data.dataset import Retag
from simulator.data.query import Selection
from simulator.data.schema import Table
from simulator.encode.rows import Frame
from simulator.modules.contract import Changes, Session
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql import queries

CHANGES = Changes(
    corrects="INSERT ... ON CONFLICT (id) DO UPDATE", retags="UPDATE", deletes="DELETE"
)
"""Changes that most SQL databases support."""


def upserts(dialect: sql.Dialect, table: Table, name: str) -> Frame:
    """Return the frame of an INSERT that replaces the fields of stored rows."""
    into = dialect.target(table, name)
    return Frame(f"INSERT INTO {into} VALUES ".encode(), b",", on_conflict(dialect, table).encode())


def on_conflict(dialect: sql.Dialect, table: Table) -> str:
    """Return the end of an INSERT that replaces the fields of rows with the same key."""
    fields = [dialect.name(column.name) for column in table.fields]
    new = ", ".join(f"{name} = excluded.{name}" for name in fields)
    return f" ON CONFLICT ({dialect.names(dialect.unique(table))}) DO UPDATE SET {new}"


def updates(dialect: sql.Dialect, table: Table, retag: Retag, name: str) -> Sequence[str]:
    """Return the statements that update a tag of a series, one for each part of the table."""
    new = f"{dialect.name(retag.tag)} = {dialect.text(retag.values[name])}"
    where = of_series(dialect, retag, name)
    return [f"UPDATE {dialect.name(part)} SET {new} WHERE {where}" for part in table.names]


def of_series(dialect: sql.Dialect, retag: Retag, name: str) -> str:
    """Return the condition that a row belongs to the series with the updated tag."""
    return f"{dialect.name(retag.by)} = {dialect.text(name)}"


def deletions(dialect: sql.Dialect, table: Table, time: int) -> Sequence[str]:
    """Return the statements that delete rows before a time, one for each part of the table."""
    older = before(dialect, table, time)
    return [f"DELETE FROM {dialect.name(name)} WHERE {older}" for name in table.names]


def before(dialect: sql.Dialect, table: Table, time: int) -> str:
    """Return the condition that a row is before a time."""
    (found,) = queries.conditions(dialect, table, Selection(until=time))
    return found


class ChangingSession(Session):
    """A session that changes stored rows by SQL."""

    dialect_of: Callable[[Table], sql.Dialect]

    @abstractmethod
    def change(self, statement: str) -> int:
        """Run a statement that changes rows; return the number of changed rows."""

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        return sum(map(self.change, updates(self.dialect_of(table), table, retag, name)))

    def delete_before(self, table: Table, until: int) -> None:
        for statement in deletions(self.dialect_of(table), table, until):
            self.change(statement)
