"""SQL: tables and logical queries in any dialect, as pure functions.

A module describes what its database writes differently in a Dialect.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Self, assert_never

from simulator.data.block import Block
from simulator.data.derived import ConditionSpells, DerivedTable, below
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import FLOATS, Column, PrimaryKey, Table, TimeUnit, Type
from simulator.modules.contract import Encoder, Unsupported

VALUES = "values"
"""Insert mode: a batch as one INSERT with a list of rows."""
TRANSACTION = "transaction"
"""Insert mode: single rows, committed together."""
PREPARED = "prepared"
"""Insert mode: single rows by a statement that was prepared once, committed together."""

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


def quote(identifier: str) -> str:
    """Return an identifier in quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text literal."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT statement: an expression for each column of the answer, and what follows FROM."""

    expressions: tuple[str, ...]
    rows: str

    def text(self, names: Sequence[str] = ()) -> str:
        """Return the statement; its columns have these names, if there are any."""
        chosen = self.expressions
        if names:
            pairs = zip(chosen, names, strict=True)
            chosen = tuple(e if e == name else f"{e} AS {name}" for e, name in pairs)
        return f"SELECT {', '.join(chosen)} FROM {self.rows}"


class Dialect:
    """Standard SQL with 64-bit integers and texts ordered by their bytes."""

    types: ClassVar[Mapping[Type, str]]
    """The column type that stores a Type without loss."""
    long_names: ClassVar[Mapping[str, str]] = {}
    """Declared type -> its name in the catalogue, where that differs."""
    ids: ClassVar[Mapping[PrimaryKey, str]] = {}
    """Primary key that the database generates -> the definition of its column, with PRIMARY KEY."""
    finest: TimeUnit | None = None
    """The unit in which instants of every table are stored; None: the table's own."""
    reserved: ClassVar[frozenset[str]] = RESERVED
    """Words that are names only in quotes."""
    bigint: ClassVar[str] = "BIGINT"
    """The type of integers of 64 bits in a CAST."""
    kept_apart: ClassVar[str] = ""
    """The end of a subquery that is computed once for each row, though it is read twice."""
    ticks_per_unit: int = 1
    """Number of integers that `read` fetches for an instant in one unit of the table."""
    in_units: bool = False
    """True if `read` fetches whole units, as a query over the answer needs them."""

    def of_units(self) -> Self:
        """Return the dialect with a `read` that fetches whole units."""
        found = copy(self)
        found.in_units = True
        return found

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted if it needs to be."""
        if _PLAIN.fullmatch(identifier) and identifier not in self.reserved:
            return identifier
        return quote(identifier)

    def names(self, identifiers: Sequence[str]) -> str:
        """Return identifiers, separated by commas."""
        return ", ".join(map(self.name, identifiers))

    def text(self, value: str) -> str:
        """Return a text literal."""
        return literal(value)

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare a timestamp with."""
        return str(value)

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column other than text as a number with an exact sum; instants in `unit`."""
        name = self.name(column.name)
        if column.type is Type.FLOAT32:
            return f"CAST({name} AS DOUBLE PRECISION)"  # a sum of REAL is itself only REAL
        return f"CAST({name} AS INTEGER)" if column.type is Type.BOOL else name

    def type_of(self, column: Column) -> str:
        """Return the type that a column is declared with."""
        return self.types[column.type]

    def read_catalogued(self, column: Column) -> str:
        """Return the type of a column as the catalogue shows it."""
        declared = self.type_of(column)
        return self.long_names.get(declared, declared)

    def key(self, table: Table, name: str) -> tuple[str | None, str | None]:
        """Return the definition of the column that the database fills, and a table constraint."""
        match table.primary_key:
            case PrimaryKey.NONE:
                return None, None
            case PrimaryKey.CLIENT:
                return None, f"PRIMARY KEY ({self.name('id')})"
            case generated:
                return self.ids[generated], None

    def unique(self, table: Table) -> list[str]:
        """Return the columns of the key that the client makes."""
        return ["id"]

    def read(self, column: Column, expression: str = "") -> str:
        """Return the expression that fetches a column, or an expression of its type."""
        return expression or self.name(column.name)

    def as_bigint(self, number: str) -> str:
        """Return a number as a 64-bit integer, so that its products have 64 bits, too."""
        return f"CAST({number} AS {self.bigint})"

    def remainder(self, double: str, scale: str, divisor: int) -> str:
        """Return the remainder of a scaled double without its fraction, as an integer."""
        return f"CAST({double} * {scale} AS {self.bigint}) % {divisor}"

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column: exact, or an error of the server."""
        return f"sum({self.number(column, unit)})"

    def wide_total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of integers, exact also if it exceeds 64 bits."""
        return self.total(column, unit)

    def total_of_times(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column of instants in `unit`, with the fractions that are stored."""
        if self.finest is None or self.finest.per_second <= unit.per_second:
            return self.wide_total(column, unit)
        finer = self.finest.per_second // unit.per_second
        return f"{self.wide_total(column, self.finest)} * {1 / Decimal(finer):f}"

    def count_values(self, column: Column) -> str:
        """Return the number of values of a column that are not NULL."""
        return f"count({self.name(column.name)})"

    def order_by_bytes(self, column: Column) -> str:
        """Return a text column as an expression that sorts by bytes."""
        return self.name(column.name)

    def hash_rows(self, table: Table, rows: str) -> "Select":
        """Return the number of rows and the sum of their hashes; `rows` follows FROM."""
        raise Unsupported("there is no hash of rows in this SQL")

    def latest(self, time: str, tags: str) -> str:
        """Return the latest time of the rows that have the same tags as this row."""
        return f"max({time}) OVER (PARTITION BY {tags})"

    def operand(self, column: Column, value: float) -> str:
        """Return the expression that compares a column with a number."""
        return self.name(column.name)

    def newest(self, query: NewestQuery, rows: str) -> "Select":
        """Return the newest row of each combination of tags; `rows` follows FROM."""
        table = query.table
        time, alias = self.name(table.time.name), table.find_unused("newest_time")
        newest = f"{self.latest(time, self.names(query.tags))} AS {alias}"
        read = [self.read(table.column(name)) for name in (*query.tags, *query.columns)]
        return Select(
            tuple(read), f"(SELECT *, {newest} FROM {rows}) AS newest WHERE {time} = {alias}"
        )

    def beside(self, expression: str, window: str, *, following: bool) -> str:
        """Return an expression in the row before or after this one, NULL if there is none."""
        return f"{'lead' if following else 'lag'}({expression}) OVER ({window})"

    def group(self, place: int, expression: str) -> str:
        """Return how GROUP BY names an expression: by place, as a name could be a column's."""
        return str(place)

    def of_answers(self) -> "Dialect":
        """Return the dialect for tables that are made of answers and have no stored columns."""
        return self

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        """Return a group's first or last value as an aggregate; None if that takes a window."""
        return None

    def chronological(self, rows: str, table: Table) -> str:
        """Return the rows in the order of time, if `end` needs it; `rows` follows FROM."""
        return rows

    def bucket(self, table: Table, width: int) -> str:
        """Return the start of a row's time bucket, as a number in the table's unit."""
        time = self.number(table.time, table.time_unit)
        # The remainder of a negative number is negative in SQL.
        return f"{time} - ({time} % {width} + {width}) % {width}"

    def average(self, column: Column) -> str:
        """Return the mean of a column of floats."""
        return f"avg({self.name(column.name)})"

    def mean(self, total: str, count: str) -> str:
        """Return the quotient of an exact sum of integers and a count, as a double."""
        return f"CAST({total} AS DOUBLE PRECISION) / {count}"

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        """Return an aggregate of the rows of a table."""
        if aggregate.column is None:
            return "count(*)"
        column = table.column(aggregate.column)
        name, number = self.name(column.name), self.number(column, table.time_unit)
        match aggregate.function:
            case Function.COUNT:
                return self.count_values(column)
            case Function.MIN | Function.MAX:
                if column.type is Type.TEXT:
                    name = self.order_by_bytes(column)
                extreme = f"{aggregate.function}({number if column.type is Type.BOOL else name})"
                return extreme if column.type is Type.BOOL else self.read(column, extreme)
            case Function.FIRST | Function.LAST:
                time, last = self.name(table.time.name), aggregate.function is Function.LAST
                end = self.end(column, time, last=last)
                return self.read(column, end or f"min({_end_alias(self, table, aggregate)})")
            case Function.SUM:
                total = self.wide_total if aggregate.wide else self.total
                total = self.total_of_times if column.type is Type.TIMESTAMP else total
                return total(column, table.time_unit)
            case Function.AVG if column.type in FLOATS:
                return self.average(column)
            case Function.AVG:
                # The sum is exact; avg() rounds it, or returns 16 digits where a double needs 17.
                return self.mean(self.total(column, table.time_unit), self.count_values(column))
        assert_never(aggregate.function)


def render(dialect: Dialect, query: Query) -> Statement:
    """Return a query as SQL; the dialect belongs to the stored table that it reads."""
    ticks = dialect.ticks_per_unit
    columns = (
        replace(each, ticks=ticks) if each.type is Type.TIMESTAMP else each
        for each in outputs(query)
    )
    return Statement(_select(dialect, query).text(), tuple(columns))


def _select(stored: Dialect, query: Query) -> Select:
    """Return a query over a table, or over the answer to another one."""
    table, rows = query.table, from_operand(stored, query.table)
    dialect = stored if below(table) is None else stored.of_answers()
    if isinstance(query, DistinctQuery):
        combinations = f"SELECT DISTINCT {dialect.names(query.columns)} FROM {rows}"
        return Select(("count(*)",), f"({combinations}) AS combinations")
    chosen = conditions(dialect, table, query.selection)
    rows += f" WHERE {' AND '.join(chosen)}" if chosen else ""
    match query:
        case AggregateQuery():
            return _aggregates(dialect, query, rows)
        case NewestQuery():
            return dialect.newest(query, rows)
        case RowsQuery() if query.hashed:
            return dialect.hash_rows(table, rows)
        case RowsQuery():
            if query.newest is not None:
                rows += f" ORDER BY {dialect.name(table.time.name)} DESC LIMIT {query.newest}"
            return Select(tuple(map(dialect.read, query.read)), rows)
        case _:
            assert_never(query)


def from_operand(dialect: Dialect, table: Table) -> str:
    """Return the operand of FROM: the table, the union of its parts, or another query."""
    match table:
        case DerivedTable():
            return f"({_answer(dialect, table)}) AS {dialect.name(table.name)}"
        case ConditionSpells():
            return f"({_spells(dialect, table)}) AS {dialect.name(table.name)}"
    if table.parts == 1:
        return dialect.name(table.name)
    parts = " UNION ALL ".join(f"SELECT * FROM {dialect.name(name)}" for name in table.names)
    return f"({parts}) AS {dialect.name(table.name)}"


def _answer(stored: Dialect, table: DerivedTable) -> str:
    """Return the query that a table is made of; its columns have the names of the table's."""
    names = map(stored.of_answers().name, (column.name for column in table.columns))
    return _select(stored.of_units(), table.source).text([*names])


def _spells(stored: Dialect, table: ConditionSpells) -> str:
    """Return the spells in which a condition holds: from each change of its state to the next."""
    periods, dialect = table.periods, stored.of_answers()
    tags, start = [dialect.name(tag.name) for tag in periods.tags], dialect.name(periods.time.name)
    state, earlier, end = (
        dialect.name(table.find_unused(alias)) for alias in ("state", "earlier", "following")
    )
    (condition,) = conditions(dialect, periods, Selection(compared=(table.holds,)))
    columns = ", ".join((*tags, start))
    window = f"PARTITION BY {', '.join(tags)} ORDER BY {start}" if tags else f"ORDER BY {start}"
    states = (
        f"SELECT {columns}, CASE WHEN {condition} THEN 1 ELSE 0 END AS {state} "
        f"FROM {from_operand(stored, periods)}"
    )
    compared = f"{dialect.beside(state, window, following=False)} AS {earlier}"
    # One of two states is 1 where it changes. To QuestDB, every number also differs from NULL.
    changes = (
        f"SELECT {columns}, {state}, {dialect.beside(start, window, following=True)} AS {end} "
        f"FROM (SELECT {columns}, {state}, {compared} FROM ({states}) AS states) AS compared "
        f"WHERE {state} + {earlier} = 1"
    )
    length = dialect.name(table.length)
    return (
        f"SELECT {columns}, {end} - {start} AS {length} FROM ({changes}) AS changes "
        f"WHERE {state} = 1"
    )


def select(dialect: Dialect, table: Table, selection: Selection) -> str:
    """Return what follows FROM: the rows, and the conditions of a selection."""
    rows, chosen = from_operand(dialect, table), conditions(dialect, table, selection)
    return f"{rows} WHERE {' AND '.join(chosen)}" if chosen else rows


def conditions(dialect: Dialect, table: Table, selection: Selection) -> list[str]:
    """Return the conditions of a selection."""
    found = []
    for one in selection.one_of:
        name, values = dialect.name(one.column), ", ".join(map(dialect.text, one.values))
        found.append(f"{name} IN ({values})" if len(one.values) > 1 else f"{name} = {values}")
    found += [
        f"{_operand(dialect, table, compared)} {compared.operator} {compared.value}"
        for compared in selection.compared
    ]
    for operator, limit in selection.limits:
        is_instant = table.time.type is Type.TIMESTAMP
        literal = dialect.instant(limit, table.time_unit) if is_instant else str(limit)
        found.append(f"{dialect.name(table.time.name)} {operator} {literal}")
    return found


def _operand(dialect: Dialect, table: Table, compared: Condition) -> str:
    """Return the expression to compare: a column, or its quotient by another one."""
    column = table.column(compared.column)
    if compared.divisor is None:
        return dialect.operand(column, compared.value)
    divisor = f"nullif({dialect.name(compared.divisor)}, 0)"
    return dialect.mean(dialect.name(column.name), divisor)


def _aggregates(dialect: Dialect, query: AggregateQuery, rows: str) -> Select:
    table = query.table
    chosen = [dialect.name(tag) for tag in query.by]
    groups = list(chosen)
    rows = _with_ends(dialect, query, rows)
    if query.bucket is not None:
        start = dialect.bucket(table, query.bucket)
        chosen.append(start)
        groups.append(dialect.group(len(chosen), start))
    chosen += [dialect.aggregate(table, aggregate) for aggregate in query.aggregates]
    if groups:
        rows += f" GROUP BY {', '.join(groups)}"
    if query.newest is not None:
        rows += f" ORDER BY {groups[0]} DESC LIMIT {query.newest}"
    return Select(tuple(chosen), rows)


def _with_ends(dialect: Dialect, query: AggregateQuery, rows: str) -> str:
    """Return what follows FROM, with first and last values that the dialect cannot aggregate.

    Each row has the values for its group.
    """
    table = query.table
    ends = [a for a in dict.fromkeys(query.aggregates) if a.function in ENDS and a.column]
    if not ends:
        return rows
    time = dialect.name(table.time.name)
    groups = [dialect.name(tag) for tag in query.by]
    if query.bucket is not None:
        groups.append(dialect.bucket(table, query.bucket))
    partition = f"PARTITION BY {', '.join(groups)} " if groups else ""
    windows = []
    for end in ends:
        column, last = table.column(end.column or ""), end.function is Function.LAST
        if dialect.end(column, time, last=last) is None:
            name, order = dialect.name(column.name), f"{time} DESC" if last else time
            window = f"({partition}ORDER BY {name} IS NULL, {order})"
            windows.append(
                f"first_value({name}) OVER {window} AS {_end_alias(dialect, table, end)}"
            )
    if not windows:
        return dialect.chronological(rows, table)
    return f"(SELECT *, {', '.join(windows)} FROM {rows}) AS ends"


def _end_alias(dialect: Dialect, table: Table, aggregate: Aggregate) -> str:
    return dialect.name(table.find_unused(f"{aggregate.function}_of_{aggregate.column}"))


def target(dialect: Dialect, table: Table, name: str) -> str:
    """Return what an INSERT or COPY writes to: one physical table and its columns."""
    return f"{dialect.name(name)} ({dialect.names([column.name for column in table.columns])})"


def transactions(single_rows: Encoder) -> Encoder:
    """Return an encoder with payloads that are lists of a batch's statements."""

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        singles = single_rows(block, 1)
        starts = range(0, len(singles), rows_per_batch)
        return [singles[start : start + rows_per_batch] for start in starts]

    return encode
