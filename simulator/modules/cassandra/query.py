"""CQL: names, tables, keys and the logical queries, as pure functions.

CQL aggregates all rows or each partition, and times out if there are many rows. So each query is
sent for one range of tokens at a time, and the client combines the answers (the server's plan).
Where CQL cannot express a query, such as one that groups by time, the client fetches the rows range
by range and aggregates them in bounded memory (the client's plan).
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from simulator.data.query import (
    ENDS,
    EVERYTHING,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Selection,
    outputs,
)
from simulator.data.schema import FLOATS, Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import SetupError
from simulator.modules.contract import comment
from simulator.modules.shared.client.partials import (
    ROWS,
    Collected,
    Combiner,
    Distinct,
    GroupedRows,
    Latest,
    NewestRows,
    Partial,
    PartialGroups,
    Row,
    needs_time,
    partials_of,
)
from simulator.modules.shared.client.planned import Fetch, PlannedQuery

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)
_LONGEST_NAME = 48
_DIGEST = 8

# The words that cqlsh's grammar reserves, and further words that Cassandra 5 refuses.
RESERVED = frozenset(
    """
    add allow alter and apply asc authorize batch begin by columnfamily create default delete desc
    describe drop entries execute from full grant if in index infinity insert into is keyspace
    limit materialized mbean mbeans modify nan norecursive not null of on or order primary rename
    replace revoke schema select set table to token truncate unlogged unset update use using view
    where with
    """.split()
)

_TYPES = {
    Type.INT16: "smallint",
    Type.INT32: "int",
    Type.INT64: "bigint",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    # As large as a boolean, which CQL can neither sum nor cast to a number.
    Type.BOOL: "tinyint",
    Type.TEXT: "text",
    Type.TIMESTAMP: "timestamp",
}
_WHOLE_MS = (TimeUnit.SECOND, TimeUnit.MILLISECOND)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the driver's datetimes are naive and in UTC

_ID = "id"
"""The column that is the primary key of `--primary-key client` and `uuid`."""

# --- names and tables ----------------------------------------------------------------------------


def quote(identifier: str) -> str:
    """Return an identifier, quoted if needed."""
    if _PLAIN.fullmatch(identifier) and identifier not in RESERVED:
        return identifier
    return '"' + identifier.replace('"', '""') + '"'


def quote_all(identifiers: tuple[str, ...]) -> str:
    """Return identifiers, separated by commas."""
    return ", ".join(map(quote, identifiers))


def table_name(name: str) -> str:
    """Return a physical table's name in CQL: at most 48 letters, digits and _.

    A changed name ends with a digest of the original, so that different names stay different.
    """
    allowed = _NOT_IN_NAMES.sub("_", name)
    if allowed == name and len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{allowed[: _LONGEST_NAME - _DIGEST - 1]}_{digest}"


def full_name(keyspace: str, name: str) -> str:
    """Return a physical table's name with its keyspace."""
    return f"{quote(keyspace)}.{quote(table_name(name))}"


def type_name(column: Column, unit: TimeUnit) -> str:
    """Return the type that holds a column exactly; a CQL timestamp has only milliseconds."""
    if column.type is Type.TIMESTAMP and unit not in _WHOLE_MS:
        return "bigint"
    return _TYPES[column.type]


def convert_instant(instant: int, column: Column, unit: TimeUnit) -> int:
    """Return an instant of the table's unit in the unit of a column."""
    is_native = type_name(column, unit) == "timestamp"
    return instant * (1000 // unit.per_second) if is_native else instant


@dataclass(frozen=True, slots=True)
class TableKey:
    """A table's primary key: columns that select the node, and columns that sort the rows."""

    partition: tuple[str, ...]
    clustering: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the key."""
        return (*self.partition, *self.clustering)

    def by_time(self, table: Table) -> bool:
        """Return whether the rows of a partition are sorted by time."""
        return self.clustering[:1] == (table.time.name,)


def key_of(table: Table, clustering_columns: str) -> TableKey:
    """Return the primary key; SetupError if the table has none.

    A row replaces another one with the same key, so each row must have a different key.
    """
    if table.primary_key in (PrimaryKey.CLIENT, PrimaryKey.UUID):
        return TableKey((_ID,), ())
    if not table.key:
        raise SetupError(
            f"cassandra: table {table.name} has no key that is different for all rows, and rows "
            "with equal keys would replace each other; use --primary-key uuid"
        )
    tags = tuple(tag.name for tag in table.tags if tag.name in table.key)
    named = tuple(name for name in re.split(r"[\s,]+", clustering_columns) if name)
    known = [c.name for c in table.columns if c.role in (Role.TIME, Role.KEY)]
    if unknown := [name for name in named if name not in known]:
        raise SetupError(
            f"cassandra: clustering_columns: {', '.join(unknown)} cannot be a clustering column of "
            f"{table.name}; choose from {', '.join(known)}"
        )
    key = TableKey(tags, named or (table.time.name,))
    if not tags:
        key = TableKey(key.clustering, ())
    for name in key.columns:
        if table.column(name).nullable:
            raise SetupError(
                f"cassandra: {name} of {table.name} may be NULL, and CQL allows no NULL in a "
                "primary key; use --primary-key uuid"
            )
    return key


def create_table(keyspace: str, table: Table, name: str, key: TableKey, table_options: str) -> str:
    """Return the statement that creates one physical table.

    The newest rows of a partition come first, because queries need them most.
    """
    columns = [f"{quote(c.name)} {type_name(c, table.time_unit)}" for c in table.columns]
    if table.primary_key is PrimaryKey.UUID:
        columns.insert(0, f"{_ID} uuid")
    primary = ", ".join([f"({quote_all(key.partition)})", *map(quote, key.clustering)])
    order = ", ".join(f"{quote(name)} DESC" for name in key.clustering)
    options = [f"CLUSTERING ORDER BY ({order})"] if order else []
    options += filter(None, (table_options, comment(table, table_name(name))))
    behind = f" WITH {' AND '.join(options)}" if options else ""
    return (
        f"CREATE TABLE {full_name(keyspace, name)} "
        f"({', '.join(columns)}, PRIMARY KEY ({primary})){behind}"
    )


def insert(keyspace: str, table: Table, name: str) -> str:
    """Return the INSERT of one row, to be prepared; the server generates a UUID."""
    names = [column.name for column in table.columns]
    values = ["?"] * len(names)
    if table.primary_key is PrimaryKey.UUID:
        names, values = [_ID, *names], ["uuid()", *values]
    into = f"{full_name(keyspace, name)} ({quote_all(tuple(names))})"
    return f"INSERT INTO {into} VALUES ({', '.join(values)})"


def keys(keyspace: str, table: Table, name: str, key: TableKey, until: int) -> str:
    """Return the SELECT of the keys by which `delete` deletes rows before a time."""
    source, time = full_name(keyspace, name), table.time.name
    if key.by_time(table):
        return f"SELECT DISTINCT {quote_all(key.partition)} FROM {source}"
    before = f"{quote(time)} < {until} ALLOW FILTERING"
    return f"SELECT {quote_all(key.columns)} FROM {source} WHERE {before}"


def delete(keyspace: str, table: Table, name: str, key: TableKey) -> str:
    """Return the DELETE of the rows of a partition before a time, or of one row."""
    by_time = key.by_time(table)
    chosen = [f"{quote(each)} = ?" for each in (key.partition if by_time else key.columns)]
    chosen += [f"{quote(table.time.name)} < ?"] * by_time
    return f"DELETE FROM {full_name(keyspace, name)} WHERE {' AND '.join(chosen)}"


# --- queries -------------------------------------------------------------------------------------

_TOKENS = 1 << 64
_FIRST_TOKEN = -(1 << 63)
_RANGES = 32
"""A power of two, so that the ranges end where YugabyteDB's hash buckets end."""


@dataclass(frozen=True, slots=True)
class Scan(PlannedQuery):
    """A statement for each physical table, perhaps for one range of tokens at a time."""

    by_ranges: bool = False
    """True if the last two parameters are the ends of a range of tokens."""
    many_rows: bool = False
    """True if the rows are the whole table, too large to hold in memory."""


def split_tokens() -> list[tuple[int, int]]:
    """Return all tokens as ranges of equal size; both ends are included."""
    width = _TOKENS // _RANGES
    starts = [_FIRST_TOKEN + width * place for place in range(_RANGES)]
    return [(start, start + width - 1) for start in starts]


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders queries over the tables of a keyspace."""

    keyspace: str
    key_of: Callable[[Table], TableKey]
    server_aggregates: bool
    """True if the server may group, cast and limit by partition."""

    def render(self, query: Query) -> Scan:
        """Return a query as CQL."""
        match query:
            case RowsQuery():
                return self._rows(query)
            case DistinctQuery():
                return self._distinct(query)
            case NewestQuery():
                return self._newest(query)
            case AggregateQuery():
                return self._aggregate(query)

    def _scan(  # noqa: PLR0913 - each is a difference between queries
        self,
        query: Query,
        selected: str,
        combiner: Callable[[], Combiner],
        *,
        behind: str = "",
        by_ranges: bool = True,
        many_rows: bool = True,
    ) -> Scan:
        key, selection = self.key_of(query.table), query.selection
        conditions, parameters = self._conditions(query.table, selection)
        restricted = {one.column for one in selection.one_of}
        restricted |= {compared.column for compared in selection.compared}
        # CQL does not allow a condition on the token together with one on a partition column.
        by_ranges = by_ranges and not restricted & set(key.partition)
        filtering = bool(conditions) and not self._in_place(query.table, selection)
        if by_ranges:
            token = f"token({quote_all(key.partition)})"
            conditions += [f"{token} >= ?", f"{token} <= ?"]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        last = behind + (" ALLOW FILTERING" if filtering else "")
        fetches = [
            Fetch(f"SELECT {selected} FROM {full_name(self.keyspace, name)}{where}{last}")
            for name in query.table.names
        ]
        more = {"by_ranges": by_ranges, "many_rows": many_rows, "parameters": tuple(parameters)}
        return Scan.of(query, fetches, combiner, **more)

    def _conditions(self, table: Table, selection: Selection) -> tuple[list[str], list[object]]:
        conditions: list[str] = []
        parameters: list[object] = []
        for one in selection.one_of:
            values = [*dict.fromkeys(one.values)]
            marks = f"IN ({', '.join('?' * len(values))})" if len(values) > 1 else "= ?"
            conditions.append(f"{quote(one.column)} {marks}")
            parameters += values
        for compared in selection.compared:
            conditions.append(f"{quote(compared.column)} {compared.operator} ?")
            parameters.append(compared.value)
        time = table.time
        for operator, limit in selection.limits:
            conditions.append(f"{quote(time.name)} {operator} ?")
            parameters.append(convert_instant(limit, time, table.time_unit))
        return conditions, parameters

    def _in_place(self, table: Table, selection: Selection) -> bool:
        """Return whether the rows are whole partitions, or adjacent rows of partitions."""
        key = self.key_of(table)
        if selection.compared or {one.column for one in selection.one_of} != set(key.partition):
            return False
        return not selection.limits or key.by_time(table)

    def _rows(self, query: RowsQuery) -> Scan:
        """Select rows; for the newest ones, limit the number of each partition."""
        names, table = tuple(column.name for column in query.read), query.table
        if query.newest is None:
            filtered = not self._in_place(table, query.selection) and query.selection != EVERYTHING
            return self._scan(query, quote_all(names), Collected, by_ranges=filtered)
        limit = ""
        if self.key_of(table).by_time(table):
            if query.selection.fixed >= set(self.key_of(table).partition):
                limit = f" LIMIT {query.newest}"
            elif self.server_aggregates:
                limit = f" PER PARTITION LIMIT {query.newest}"
        return self._scan(
            query,
            quote_all((table.time.name, *names)),
            partial(Latest, query.newest),
            behind=limit,
            many_rows=not limit,
        )

    def _distinct(self, query: DistinctQuery) -> Scan:
        """Count the rows if the columns contain the key of the only table; else compare rows."""
        key = self.key_of(query.table)
        if query.table.parts == 1 and set(key.columns) <= set(query.columns):
            counted = AggregateQuery(query.table, (Aggregate(Function.COUNT),))
            return self._count(query, counted)
        wanted = outputs(RowsQuery(query.table, query.columns))
        apart = set(key.partition) <= set(query.columns)
        return self._scan(query, quote_all(query.columns), partial(Distinct, wanted, apart=apart))

    def _count(self, query: Query, counted: AggregateQuery) -> Scan:
        combiner = partial(PartialGroups, counted, (ROWS,))
        return self._scan(query, "count(*)", combiner, many_rows=False)

    def _newest(self, query: NewestQuery) -> Scan:
        """Select the first row of each partition if rows are sorted by time; else all rows."""
        table = query.table
        first = self.server_aggregates and set(query.tags) <= set(self.key_of(table).partition)
        first = first and self.key_of(table).by_time(table)
        return self._scan(
            query,
            quote_all((*query.tags, table.time.name, *query.columns)),
            partial(NewestRows, len(query.tags)),
            behind=" PER PARTITION LIMIT 1" if first else "",
            many_rows=not first,
        )

    def _aggregate(self, query: AggregateQuery) -> Scan:
        table, partials = query.table, partials_of(query)
        partition = self.key_of(table).partition
        if not query.by and query.bucket is None and partials == (ROWS,):
            return self._count(query, query)
        by_partition = not query.by or set(query.by) == set(partition)
        if self.server_aggregates and by_partition and query.bucket is None:
            if not needs_time(query):
                return self._group(query, partials)
            if self.key_of(table).by_time(table) and _are_of_newest_rows(table, partials):
                return self._group(query, partials, (table.time.name,))
        columns = dict.fromkeys(each.column for each in partials if each.column)
        time = (table.time.name,) if needs_time(query) else ()
        names = (*query.by, *time, *columns)
        rows = partial(GroupedRows, query, partials, partial(_read_instant, table.time_unit))
        return self._scan(query, quote_all(names or (table.time.name,)), rows)

    def _group(
        self, query: AggregateQuery, partials: tuple[Partial, ...], time: tuple[str, ...] = ()
    ) -> Scan:
        """Aggregate by partition on the server; a plain column has the value of the first row.

        `time`: the column that shows which of several partitions has the newest row.
        """
        table, partition = query.table, self.key_of(query.table).partition
        selected = [quote(name) for name in (*query.by, *time)]
        selected += [_aggregate(table, each) for each in partials]
        behind = f" GROUP BY {quote_all(partition)}" if query.by or time else ""
        groups = partial(_WithTime if time else PartialGroups, query, partials)
        return self._scan(query, ", ".join(selected), groups, behind=behind, many_rows=False)


class _WithTime(PartialGroups):
    """Groups; each partial answer has the time of its last values after the key."""

    def add(self, rows: Iterable[Row]) -> None:
        time = len(self.query.by)
        ends = [place for place, each in enumerate(self.partials, time) if each.function in ENDS]
        for row in rows:
            cells = [*row[:time], *row[time + 1 :]]
            for place in ends:
                cells[place] = row[time], cells[place]
            super().add([cells])


def _are_of_newest_rows(table: Table, partials: Iterable[Partial]) -> bool:
    """Return whether the newest row has all first and last values, without NULLs."""
    return all(
        each.function is Function.LAST and not table.column(each.column).nullable
        for each in partials
        if each.function in ENDS and each.column is not None
    )


def _aggregate(table: Table, wanted: Partial) -> str:
    if wanted.column is None:
        return "count(*)"
    column = table.column(wanted.column)
    name = quote(column.name)
    if wanted.function in ENDS:
        return name
    if wanted.function is not Function.SUM:
        return f"{wanted.function}({name})"
    if type_name(column, table.time_unit) == "timestamp":
        unit_ms = 1000 // table.time_unit.per_second
        divided = f" / {unit_ms}" if unit_ms > 1 else ""
        return f"sum(CAST(toUnixTimestamp({name}) AS varint){divided})"
    # CQL sums in the column's own type, which overflows.
    return f"sum(CAST({name} AS {'double' if column.type in FLOATS else 'varint'}))"


def _read_instant(unit: TimeUnit, time: Any) -> int:
    """Return an instant in the table's unit; the driver returns a CQL timestamp as a datetime."""
    if isinstance(time, datetime):
        return (time - _EPOCH) // timedelta(milliseconds=1) * unit.per_second // 1000
    return int(time)
