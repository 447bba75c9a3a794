"""SQL: one logical query as a SELECT in any dialect, and what SQL databases have in common.

A module describes what its database writes differently in a Dialect. Everything up to SqlDatabase
is a pure function.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, assert_never

from pydantic import Field
from typing_extensions import TypeVar

from simulator.data.block import Block
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import (
    FLOATS,
    Column,
    PrimaryKey,
    Table,
    TimeUnit,
    Type,
    former_names,
    names_of,
)
from simulator.errors import UnstorableError
from simulator.modules.base import Database, Encoder, Options, Session

VALUES = "values"
"""Insert mode: a batch as one INSERT with a list of rows."""
TRANSACTION = "transaction"
"""Insert mode: single rows, committed together."""

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")

# Words that PostgreSQL 18 or SQLite 3.50 accepts as a column name only in quotes.
# The contract tests compare them with the servers' own lists.
RESERVED = frozenset(
    """
    add all alter analyse analyze and any array as asc asymmetric authorization autoincrement
    between binary both case cast check collate collation column commit concurrently constraint
    create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user default deferrable deferred delete desc distinct do drop else
    end escape except exists false fetch for foreign freeze from full grant group having ilike in
    index indexed initially inner insert intersect into is isnull join lateral leading left like
    limit localtime localtimestamp natural not nothing notnull null offset on only or order outer
    overlaps placing primary references returning right select session_user set similar some
    symmetric system_user table tablesample then to trailing transaction true union unique update
    user using values variadic verbose when where window with
    """.split()
)


class Dialect:
    """Standard SQL with 64-bit integers and texts ordered by their bytes."""

    types: ClassVar[Mapping[Type, str]]
    """The column type that stores a Type without loss."""
    ids: ClassVar[Mapping[PrimaryKey, str]] = {}
    """Primary key that the database generates -> the definition of its column, with PRIMARY KEY."""
    reserved: ClassVar[frozenset[str]] = RESERVED
    """Words that are names only in quotes."""

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted if it needs to be."""
        if _PLAIN.fullmatch(identifier) and identifier not in self.reserved:
            return identifier
        return '"' + identifier.replace('"', '""') + '"'

    def names(self, identifiers: Sequence[str]) -> str:
        """Return identifiers, separated by commas."""
        return ", ".join(map(self.name, identifiers))

    def text(self, value: str) -> str:
        """Return a text literal."""
        return "'" + value.replace("'", "''") + "'"

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return str(value)

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column other than text as a number whose sum is exact; instants in `unit`."""
        name = self.name(column.name)
        if column.type is Type.FLOAT32:
            return f"CAST({name} AS DOUBLE PRECISION)"  # a sum of REAL is itself only REAL
        return f"CAST({name} AS INTEGER)" if column.type is Type.BOOL else name

    def type_of(self, column: Column) -> str:
        """Return the type that a column is declared with."""
        return self.types[column.type]

    def key(self, table: Table, name: str) -> tuple[str | None, str | None]:
        """Return the definition of the column that the database fills, and a table constraint."""
        match table.primary_key:
            case PrimaryKey.NONE:
                return None, None
            case PrimaryKey.CLIENT:
                return None, f"PRIMARY KEY ({self.name('id')})"
            case generated:
                return self.ids[generated], None

    def read(self, column: Column, expression: str = "") -> str:
        """Return the expression that fetches a column, or an expression of its type."""
        return expression or self.name(column.name)

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column: exact, or an error of the server."""
        return f"sum({self.number(column, unit)})"

    def counted(self, column: Column) -> str:
        """Return the number of values of a column that are not NULL."""
        return f"count({self.name(column.name)})"

    def ordered(self, column: Column) -> str:
        """Return a text column as an expression that sorts by bytes."""
        return self.name(column.name)

    def latest(self, time: str, tag: str) -> str:
        """Return the latest time of the rows that have the same tag as this row."""
        return f"max({time}) OVER (PARTITION BY {tag})"

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, as a number in the table's unit."""
        time = self.number(table.time, table.time_unit)
        # The remainder of a negative number is negative in SQL.
        return f"{time} - ({time} % {width} + {width}) % {width}"

    def mean(self, total: str, count: str) -> str:
        """Return the quotient of an exact sum of integers and a count, as a double."""
        return f"CAST({total} AS DOUBLE PRECISION) / {count}"


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
    """Return name, table and columns of the two secondary indices of the reference document.

    One covers a series in time and the first field, the other the first field.
    """
    found = []
    for table in tables:
        first_field = [*table.fields[:1]]
        series = [*table.tags, table.time, *first_field]
        for name in table.names:
            for kind, columns in (("series", series), ("field", first_field)):
                if columns:
                    found.append((f"{name}_{kind}_index", name, columns))
    return found


def create_indices(dialect: Dialect, tables: Sequence[Table]) -> list[str]:
    """Return the statements that create the secondary indices."""
    return [
        f"CREATE INDEX IF NOT EXISTS {dialect.name(index)} ON {dialect.name(name)} "
        f"({dialect.names([column.name for column in columns])})"
        for index, name, columns in indices(tables)
    ]


def render(dialect: Dialect, query: Query) -> Statement:
    """Return a query as SQL."""
    return Statement(_select(dialect, query), outputs(query))


def _select(dialect: Dialect, query: Query) -> str:
    rows = rows_of(dialect, query.table)
    match query:
        case AggregateQuery():
            return _aggregates(dialect, query)
        case NewestQuery(table=table):
            time, tag = dialect.name(table.time.name), dialect.names(query.tags)
            alias = unused("newest_time", table)
            newest = f"{dialect.latest(time, tag)} AS {alias}"
            read = [dialect.read(table.column(name)) for name in (*query.tags, *query.columns)]
            return (
                f"SELECT {', '.join(read)} "
                f"FROM (SELECT *, {newest} FROM {rows}) AS newest WHERE {time} = {alias}"
            )
        case DistinctQuery():
            combinations = f"SELECT DISTINCT {dialect.names(query.columns)} FROM {rows}"
            return f"SELECT count(*) FROM ({combinations}) AS combinations"
        case RowsQuery(table=table):
            return f"SELECT {', '.join(map(dialect.read, table.columns))} FROM {rows}"
        case _:
            assert_never(query)


def unused(alias: str, table: Table) -> str:
    """Return an alias that is not the name of a column; a user's file may use any name."""
    while alias in {column.name for column in table.columns}:
        alias += "_"
    return alias


def rows_of(dialect: Dialect, table: Table) -> str:
    """Return the operand of FROM: the table, or the union of its parts."""
    if table.parts == 1:
        return dialect.name(table.name)
    parts = " UNION ALL ".join(f"SELECT * FROM {dialect.name(name)}" for name in table.names)
    return f"({parts}) AS {dialect.name(table.name)}"


def _aggregates(dialect: Dialect, query: AggregateQuery) -> str:
    table = query.table
    selected = [dialect.name(tag) for tag in query.by]
    groups = list(selected)
    if query.bucket is not None:
        selected.append(dialect.bucket(table, query.bucket))
        groups.append(str(len(selected)))  # by position: a name could also be a column's
    selected += [_aggregate(dialect, table, aggregate) for aggregate in query.aggregates]
    statement = f"SELECT {', '.join(selected)} FROM {rows_of(dialect, table)}"
    conditions = _conditions(dialect, query)
    if conditions:
        statement += f" WHERE {' AND '.join(conditions)}"
    if groups:
        statement += f" GROUP BY {', '.join(groups)}"
    return statement


def _aggregate(dialect: Dialect, table: Table, aggregate: Aggregate) -> str:
    if aggregate.column is None:
        return "count(*)"
    column = table.column(aggregate.column)
    name, number = dialect.name(column.name), dialect.number(column, table.time_unit)
    match aggregate.function:
        case Function.COUNT:
            return dialect.counted(column)
        case Function.MIN | Function.MAX:
            if column.type is Type.TEXT:
                name = dialect.ordered(column)
            extreme = f"{aggregate.function}({number if column.type is Type.BOOL else name})"
            return extreme if column.type is Type.BOOL else dialect.read(column, extreme)
        case Function.SUM:
            return dialect.total(column, table.time_unit)
        case Function.AVG if column.type in FLOATS:
            return f"avg({name})"
        case Function.AVG:
            # The sum is exact; avg() rounds it, or returns 16 digits where a double needs 17.
            return dialect.mean(dialect.total(column, table.time_unit), dialect.counted(column))
        case Function.FIRST | Function.LAST:
            raise AssertionError("Capabilities.unsupported has them")
    assert_never(aggregate.function)


def _conditions(dialect: Dialect, query: AggregateQuery) -> list[str]:
    table, selection = query.table, query.selection
    conditions = [f"{dialect.name(tag)} = {dialect.text(value)}" for tag, value in selection.equal]
    time = dialect.name(table.time.name)
    for comparison, limit in ((">=", selection.since), ("<", selection.until)):
        if limit is not None:
            literal = str(limit)
            if table.time.type is Type.TIMESTAMP:
                literal = dialect.instant(limit, table.time_unit)
            conditions.append(f"{time} {comparison} {literal}")
    return conditions


def target(dialect: Dialect, table: Table, name: str) -> str:
    """Return what an INSERT or COPY writes to: one physical table and its columns."""
    return f"{dialect.name(name)} ({dialect.names([column.name for column in table.columns])})"


def transactions(single_rows: Encoder) -> Encoder:
    """Return an encoder whose payload is the list of the statements of a batch."""

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        singles = single_rows(block, 1)
        starts = range(0, len(singles), rows_per_batch)
        return [singles[start : start + rows_per_batch] for start in starts]

    return encode


def check_names(
    product: str, tables: Sequence[Table], in_tables: re.Pattern[str], in_columns: re.Pattern[str]
) -> None:
    """Raise UnstorableError with every name of a table or column that matches its pattern."""
    named = [("table", name, in_tables) for name in names_of(tables)]
    named += [("column", c.name, in_columns) for table in tables for c in table.columns]
    wrong = [
        f"{kind} {name!r} (because of {found[0]!r})"
        for kind, name, forbidden in dict.fromkeys(named)
        if (found := forbidden.search(name))
    ]
    if wrong:
        raise UnstorableError(f"{product} does not allow these names: {', '.join(wrong)}")


class RowCountMismatch(Exception):
    """The server acknowledged another number of rows than were sent, and reported no error."""

    def __init__(self, stored: int, sent: int) -> None:
        super().__init__(f"the server stored {stored} of {sent} rows and reported no error")
        self.stored = stored


def expect_rows(stored: int, sent: int) -> None:
    """Raise RowCountMismatch unless the server stored as many rows as were sent."""
    if stored != sent:
        raise RowCountMismatch(stored, sent)


class SqlOptions(Options):
    """Options of every module that can create secondary indices."""

    create_indices: bool = Field(
        default=False, description="create indices on (tags, time, first field) and (first field)"
    )


SqlSession_co = TypeVar("SqlSession_co", bound=Session, covariant=True, default=Session)


class SqlDatabase(Database[SqlSession_co]):
    """A database whose tables and queries follow a Dialect."""

    @abstractmethod
    def dialect_of(self, table: Table) -> Dialect:
        """Return the dialect for a table and its queries."""

    @abstractmethod
    def change(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction."""

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none."""
        statements = [
            statement
            for table in tables
            for name in table.names
            for statement in self.create_table(table, name, batch_rows)
        ]
        if getattr(self.options, "create_indices", False):
            statements += self._index_statements(tables)
        self.change(statements)

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        """Return the statements that create one physical table."""
        dialect = self.dialect_of(table)
        return [create_table(dialect, table, name, *dialect.key(table, name))]

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that do not exist yet."""
        if not self.capabilities.indices:
            super().create_indices(tables)
        self.change(self._index_statements(tables))

    def _index_statements(self, tables: Sequence[Table]) -> list[str]:
        return [s for table in tables for s in create_indices(self.dialect_of(table), [table])]

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables, all or none."""
        self.change(
            [
                f"DROP TABLE IF EXISTS {self.dialect_of(table).name(name)}"
                for table in tables
                for name in former_names([table])
            ]
        )

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return render(self.dialect_of(query.table), query)

    def remedy(self, error: Exception) -> str | None:
        """Return what to try if no pattern of `remedies` matches the text."""
        if isinstance(error, RowCountMismatch):
            return "look for triggers, rules or policies on the table"
        return super().remedy(error)

    def words(self, error: Exception) -> str:
        """Return the text of a driver's error."""
        return str(error) if isinstance(error, RowCountMismatch) else super().words(error)


class SqlFile(SqlDatabase[SqlSession_co]):
    """A database that is one file; the option `path` names it."""

    @property
    def path(self) -> Path:
        """The database's file."""
        return Path(self.options.path)  # type: ignore[attr-defined]

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if str(self.path) in (".", ":memory:"):
            found.append("path: must be a file, because several processes open it")
        return found

    def explain(self, error: Exception) -> str:
        """Return an error with a remedy; the most frequent cause is a missing folder."""
        if not self.path.parent.is_dir():
            return f"{self.words(error)}; create the folder: mkdir -p {self.path.parent}"
        return super().explain(error)
