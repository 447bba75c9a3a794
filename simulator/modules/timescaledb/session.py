"""One connection to TimescaleDB."""

from simulator.data.schema import Table, Type
from simulator.modules.postgres.session import PostgresSession


class TimescaledbSession(PostgresSession):
    """A connection to a database with tables that have chunks."""

    def drop_before(self, table: Table, until: int) -> None:
        """Drop the chunks that end before a time, or at it."""
        dialect, older_than = self.dialect_of(table), str(until)
        if table.time.type is Type.TIMESTAMP:
            older_than = dialect.instant(until, table.time_unit)
        for name in table.names:
            relation = dialect.text(dialect.name(name))
            self.cursor.execute(f"SELECT drop_chunks({relation}, older_than => {older_than})")
