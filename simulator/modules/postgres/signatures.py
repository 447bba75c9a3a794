"""The signatures of tables in their comments, and what drops a table that bears one."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from simulator.data.query import Statement
from simulator.modules.contract import Session, signature
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.sql.database import STANDARD_COLUMNS, SqlDatabase


class Signatures(SqlDatabase[PostgresSession]):
    """A database with comments and transactional DDL."""

    dialect: ClassVar[PostgresDialect]
    comments = (
        "SELECT name, obj_description(oid, 'pg_class') FROM unnest(%s) AS name "
        "JOIN pg_class ON oid = to_regclass(name) WHERE relkind IN ('r', 'p')"
    )
    columns = STANDARD_COLUMNS
    locks_tables: ClassVar[bool] = True
    """True if LOCK TABLE keeps others from renaming a table until it is dropped."""

    def find_signed_in(self, session: Session, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether the tables bear their signature, by their comments."""
        quoted = {self.dialect.name(name): name for name in names}
        rows = session.run(Statement(self.comments, (), ([*quoted],)))
        return {quoted[name]: comment == signature(quoted[name]) for name, comment in rows}

    def drop_signed(self, names: Collection[str]) -> None:
        """Drop the tables that have their signature, locked against renaming."""
        if not self.locks_tables:
            super().drop_signed(names)
            return
        names = [name for name, bears in self.find_signed(names).items() if bears]
        if not names:
            return
        with self.administration() as session, session.connection.cursor() as cursor:
            cursor.execute("BEGIN")
            for name in sorted(names):
                cursor.execute(
                    f"LOCK TABLE ONLY {self.dialect.name(name)} IN ACCESS EXCLUSIVE MODE"
                )
            signed = [name for name, bears in self.find_signed_in(session, names).items() if bears]
            cursor.execute("; ".join((*self.dropping(signed), "COMMIT")))
