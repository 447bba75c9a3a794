"""Databases with tables and queries in SQL."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field
from typing_extensions import TypeVar

from simulator.data.derived import innermost
from simulator.data.query import Query, Statement
from simulator.data.schema import Column, PrimaryKey, Table, index_name, names_of
from simulator.modules.contract import (
    MOST_COUNTED,
    Columns,
    Contents,
    Database,
    Existing,
    Options,
    Server,
    Session,
    signature,
)
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.language import Dialect
from simulator.modules.shared.sql.texts import SqlTexts


def table_statement(
    dialect: Dialect, table: Table, name: str, id_column: str | None, constraint: str | None
) -> str:
    """Return the statement that creates one physical table.

    `id_column` defines the generated column; `constraint` follows the columns.
    """
    columns = [f"{dialect.name(c.name)} {dialect.type_of(c)}" for c in table.columns]
    parts = [part for part in (id_column, *columns, constraint) if part]
    return f"CREATE TABLE {dialect.name(name)} ({', '.join(parts)})"


def indices_of(tables: Sequence[Table]) -> list[tuple[str, str, list[Column]]]:
    """Return name, table and columns of the secondary indices that the tables declare."""
    return [
        (index_name(name, index), name, [*map(table.column, index.columns)])
        for table in tables
        for name in table.names
        for index in table.indices
    ]


class IndexOptions(Options):
    """Options of every module that can create secondary indices."""

    create_indices: bool = Field(
        default=False,
        description="create the workload's secondary indices: on (tags, time, first field) and "
        "(first field); for fleets on (host, truck, sensor or home, time)",
    )


_ABSENT = object()
STANDARD_COLUMNS = (
    "SELECT column_name, data_type FROM information_schema.columns "
    "WHERE table_schema = CURRENT_SCHEMA AND table_name = {name}"
)
SqlSession_co = TypeVar("SqlSession_co", bound=Session, covariant=True, default=Session)


class SqlDatabase(Database[SqlSession_co]):
    """A database with tables and queries in the SQL of a Dialect."""

    catalogue: ClassVar[str] = (
        "SELECT table_name, table_type FROM information_schema.tables "
        "WHERE table_schema = CURRENT_SCHEMA"
    )
    """The statement that lists the names in use, and the kind of each object."""
    folds_names: ClassVar[bool] = False
    """True if names that differ only in case are the same."""
    kinds: ClassVar[frozenset[str]] = frozenset({"table"})
    """Kinds of objects that `create` makes."""
    comments: ClassVar[str] = ""
    """The statement that lists names and comments of tables; empty: tables have no comments."""
    columns: ClassVar[str] = ""
    """The statement that lists columns and types of a table `{name}`; empty: they are not compared.
    """
    shows_types: ClassVar[bool] = True
    plain_tables: ClassVar[str] = ""
    """The statement that lists the tables to which the server's settings apply; empty: unknown."""
    attachments: ClassVar[str] = ""
    """The statement that lists the user's objects that depend on the tables `{names}`: they
    prevent a drop, or are dropped too. Empty: no check."""
    namesakes_of_indices: ClassVar[str] = ""
    """The statement that lists names that a new index cannot have: name, kind and, for an index,
    its table. Empty where the names of indices belong to their table."""
    no_statements: ClassVar[str] = ""
    mismatch: ClassVar[str] = "look for triggers, rules or policies on the table"
    relative: ClassVar[str] = ""
    """Another module with the same SQL; a user's text for it applies here, too."""

    @property
    def dialect(self) -> Dialect:
        """The dialect for every table, unless `dialect_of` returns another."""
        raise NotImplementedError(f"{self.name}: define dialect, or dialect_of(table)")

    def dialect_of(self, table: Table) -> Dialect:
        """Return the dialect for a table and its queries."""
        return self.dialect

    @abstractmethod
    def change(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction."""

    def carry_out(self, statement: str) -> None:
        """Run one statement."""
        self.change([statement])

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        statements = [
            statement
            for table in tables
            for name in table.names
            for statement in (
                *self.create_table(table, name, batch_rows),
                *(self.sign(table, name) if table.signed else ()),
            )
        ]
        if getattr(self.options, "create_indices", False):
            statements += self._index_statements(tables, missing=False)
        self.change(statements)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        """Return the statements that create one physical table."""
        dialect = self.dialect_of(table)
        return [table_statement(dialect, table, name, *dialect.key(table, name))]

    def sign(self, table: Table, name: str) -> list[str]:
        """Return the statements that store the signature of a table that was created."""
        if not self.comments:
            return []
        dialect = self.dialect_of(table)
        return [f"COMMENT ON TABLE {dialect.name(name)} IS {dialect.text(signature(name))}"]

    def create_indices(self, tables: Sequence[Table]) -> None:
        if not self.capabilities.indices:
            super().create_indices(tables)
        self.change(self._index_statements(tables, missing=True))

    def _index_statements(self, tables: Sequence[Table], *, missing: bool) -> list[str]:
        """Return the statements that create all secondary indices, or only missing ones."""
        create = "CREATE INDEX IF NOT EXISTS" if missing else "CREATE INDEX"
        statements = []
        for table in tables:
            dialect = self.dialect_of(table)
            for index, name, columns in indices_of([table]):
                names = dialect.names([column.name for column in columns])
                on = f"{dialect.name(name)} ({names})"
                statements.append(f"{create} {dialect.name(index)} ON {on}")
        return statements

    def drop(self, names: Collection[str]) -> None:
        if statements := self.render_drops(names):
            self.change(statements)

    def render_drops(self, names: Collection[str]) -> list[str]:
        """Return the statements that drop the tables."""
        quote = self.dialect_of(_bare("any")).name
        return [f"DROP TABLE IF EXISTS {quote(name)}" for name in names]

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        if not self.comments:
            return {}
        with self.administration() as session:
            return self.find_signed_in(session, names)

    def find_signed_in(self, session: Session, names: Collection[str]) -> Mapping[str, bool]:
        """Return what `find_signed` returns, as one session sees it."""
        found = {str(name): comment for name, comment in session.run(Statement(self.comments, ()))}
        folded = {name.lower(): comment for name, comment in found.items()}
        known = {n: found.get(n, folded.get(n.lower(), _ABSENT)) for n in names}
        return {n: text == signature(n) for n, text in known.items() if text is not _ABSENT}

    def columns_in(self, name: str) -> Columns:
        if not self.columns:
            return {}
        text = self.columns.format(name=self.dialect_of(_bare(name)).text(name))
        return {str(column): str(kind) for column, kind in self.fetch(text)}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            if self.columns and name in table.names:
                dialect = self.dialect_of(table)
                yield {column.name: dialect.catalogued_type_of(column) for column in table.columns}

    def find_attached(self, names: Collection[str]) -> list[str]:
        if not self.attachments:
            return []
        listed = ", ".join(map(self.dialect_of(_bare("any")).text, names))
        return [str(text) for (text,) in self.fetch(self.attachments.format(names=listed))]

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        fold = str.lower if self.folds_names else str
        kinds: dict[str, str] = {}
        for found_name, kind in self.fetch(self.catalogue):
            name, shown = fold(str(found_name)), str(kind).lower().removeprefix("base ")
            # A table and a sequence may have the same name.
            kinds[name] = f"{kinds[name]} and {shown}" if name in kinds else shown
        found = {name: kinds[fold(name)] for name in names if fold(name) in kinds}
        return {name: Existing(kind, alike=kind in self.kinds) for name, kind in found.items()}

    def obstacles(self, tables: Sequence[Table]) -> dict[str, Existing]:
        """Return the objects with names that new indices need."""
        wanted = indices_of(tables) if getattr(self.options, "create_indices", False) else []
        if not wanted or not self.namesakes_of_indices:
            return {}
        fold = str.lower if self.folds_names else str
        rows = self.fetch(self.namesakes_of_indices)
        taken = {fold(str(name)): (str(kind), of) for name, kind, of in rows}
        return {
            index: Existing(f"{kind} on table {of}" if of else kind, alike=False)
            for index, table, _ in wanted
            for kind, of in [taken.get(fold(index), ("", table))]
            if not of or fold(str(of)) != fold(table)
        }

    def contents(self, name: str, found: Existing) -> Contents:
        table, rows, size_bytes = _bare(name), None, None
        with suppress(Exception):  # the user may lack the permission to read it
            some = f"SELECT 1 AS one FROM {self.dialect_of(table).name(name)}"
            limited = f"{some} LIMIT {MOST_COUNTED + 1}"
            ((rows,),) = self.fetch(f"SELECT count(*) FROM ({limited}) AS counted")
        with suppress(Exception):
            size_bytes = self.size_bytes([table]) if found.alike else None
        return Contents(None if rows is None else int(rows), size_bytes)

    def fetch(self, statement: str, *parameters: Any) -> Sequence[Sequence[Any]]:
        """Run a statement in a new session and return the rows."""
        with self.administration() as session:
            return session.run(Statement(statement, (), parameters))

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return the server unchanged if its settings apply to all of the tables, else None."""
        if not self.plain_tables:
            return None
        plain = {str(name).lower() for (name,) in self.fetch(self.plain_tables)}
        return described if plain >= {name.lower() for name in names_of(tables)} else None

    def translate(self, query: Query) -> Statement:
        return queries.render(self.dialect_of(innermost(query).table), query)

    def texts(self, table: Table) -> SqlTexts:
        keys = [key for key in (self.name, self.relative) if key]
        return SqlTexts(self.dialect_of(table), table, keys)


def _bare(name: str) -> Table:
    """Return a table without columns."""
    return Table(name, (), ())


class SqlFile(SqlDatabase[SqlSession_co]):
    """A database that is one file; the option `path` names it."""

    @property
    def path(self) -> Path:
        """Path of the database's file."""
        return Path(self.options.path)  # type: ignore[attr-defined]

    def fetch(self, statement: str, *parameters: Any) -> Sequence[Sequence[Any]]:
        """Run a statement and return the rows; a missing file has none, and is not created."""
        return super().fetch(statement, *parameters) if self.path.exists() else []

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        if str(self.path) in (".", ":memory:"):
            found.append("path: must be a file, because several processes open it")
        return found

    def explain(self, error: Exception) -> str:
        if not self.path.parent.is_dir():
            return f"{self.words(error)}; create the folder: mkdir -p {self.path.parent}"
        return super().explain(error)
