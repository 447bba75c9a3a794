"""Logical queries as CQL, and what the client does with the answers.

CQL aggregates over all rows or by partition, and over many rows it is slow and runs into time
limits. So a query is put to each range of tokens by itself, and the client puts the answers
together (the server's plan). What CQL cannot say at all, such as groups by other columns or by
time, the client works out of the rows, range by range in bounded memory (the client's plan).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
from simulator.data.schema import FLOATS, Column, Table
from simulator.modules.cassandra.groups import COUNT, Groups, Part, parts_of
from simulator.modules.cassandra.tables import Key, full_name, quoted, quoted_all, type_name
from simulator.modules.shared.partials import Collected, Combiner, Distinct, Newest

TOKENS = 1 << 64
_FIRST_TOKEN = -(1 << 63)
RANGES = 32
"""A power of two: then the ranges' ends are those of YugabyteDB's hash buckets too."""


@dataclass(frozen=True, slots=True)
class Scan(Statement):
    """A statement for each physical table, and what becomes of the rows that come."""

    selects: tuple[str, ...] = ()
    by_ranges: bool = False
    """Whether its last two parameters are the ends of a range of tokens."""
    many_rows: bool = False
    """Whether what comes is rows of the table, too many to hold."""
    fold: Callable[[], Combiner] = Collected


def token_ranges() -> list[tuple[int, int]]:
    """Return the ring of tokens in ranges of equal size, both ends included."""
    width = TOKENS // RANGES
    starts = [_FIRST_TOKEN + width * place for place in range(RANGES)]
    return [(start, start + width - 1) for start in starts]


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders queries over the tables of a keyspace."""

    keyspace: str
    key_of: Callable[[Table], Key]
    server_aggregates: bool
    """Whether the server may group, cast and limit by partition."""

    def render(self, query: Query) -> Scan:
        """Return the query as CQL."""
        match query:
            case RowsQuery(table=table):
                names = tuple(column.name for column in table.columns)
                return self._scan(query, quoted_all(names), Collected, by_ranges=False)
            case DistinctQuery():
                return self._distinct(query)
            case NewestQuery():
                return self._newest(query)
            case AggregateQuery():
                return self._aggregate(query)

    def _scan(  # noqa: PLR0913 - each is one thing that queries differ in
        self,
        query: Query,
        selected: str,
        fold: Callable[[], Combiner],
        *,
        behind: str = "",
        by_ranges: bool = True,
        many_rows: bool = True,
    ) -> Scan:
        conditions, parameters, filtering = self._conditions(query)
        key = self.key_of(query.table)
        restricted = {tag for tag, _ in query.where} if isinstance(query, AggregateQuery) else set()
        # Tokens cannot be asked for beside a column that they are made of.
        by_ranges = by_ranges and not restricted & set(key.partition)
        if by_ranges:
            token = f"token({quoted_all(key.partition)})"
            conditions += [f"{token} >= ?", f"{token} <= ?"]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        last = behind + (" ALLOW FILTERING" if filtering else "")
        selects = tuple(
            f"SELECT {selected} FROM {full_name(self.keyspace, name)}{where}{last}"
            for name in query.table.names
        )
        return Scan(
            text="; ".join(selects),
            outputs=outputs(query),
            parameters=tuple(parameters),
            selects=selects,
            by_ranges=by_ranges,
            many_rows=many_rows,
            fold=fold,
        )

    def _conditions(self, query: Query) -> tuple[list[str], list[object], bool]:
        """Return conditions, what is bound to them, and whether the server must filter rows."""
        if not isinstance(query, AggregateQuery):
            return [], [], False
        table, key = query.table, self.key_of(query.table)
        conditions = [f"{quoted(tag)} = ?" for tag, _ in query.where]
        parameters: list[object] = [value for _, value in query.where]
        time = table.time
        for comparison, limit in ((">=", query.since), ("<", query.until)):
            if limit is not None:
                conditions.append(f"{quoted(time.name)} {comparison} ?")
                is_native = type_name(time, table.time_unit) == "timestamp"
                per_ms = 1000 // table.time_unit.per_second if is_native else 1
                parameters.append(limit * max(per_ms, 1))
        tags = {tag for tag, _ in query.where}
        in_place = tags == set(key.partition) and key.clustering[:1] == (time.name,)
        whole = tags == set(key.partition) and query.since is None and query.until is None
        return conditions, parameters, bool(conditions) and not (in_place or whole)

    def _distinct(self, query: DistinctQuery) -> Scan:
        """Rows of one table differ in its primary key; other columns have to be looked at."""
        key = self.key_of(query.table)
        if query.table.parts == 1 and set(key.columns) <= set(query.columns):
            counted = AggregateQuery(query.table, (Aggregate(Function.COUNT),))
            return self._counted(query, counted)
        of = RowsQuery(query.table)
        by_name = {output.name: output for output in outputs(of)}
        wanted = tuple(by_name[name] for name in query.columns)
        apart = set(key.partition) <= set(query.columns)
        return self._scan(query, quoted_all(query.columns), partial(Distinct, wanted, apart=apart))

    def _counted(self, query: Query, counted: AggregateQuery) -> Scan:
        parts = parts_of(counted)
        fold = partial(Groups, counted, parts, rows_are_parts=True)
        return self._scan(query, "count(*)", fold, many_rows=False)

    def _newest(self, query: NewestQuery) -> Scan:
        """A partition's first row is its newest, where time comes first in it."""
        key, time = self.key_of(query.table), query.table.time.name
        first = self.server_aggregates and query.tag in key.partition
        first = first and key.clustering[:1] == (time,)
        return self._scan(
            query,
            quoted_all((query.tag, time, *query.columns)),
            Newest,
            behind=" PER PARTITION LIMIT 1" if first else "",
            many_rows=not first,
        )

    def _aggregate(self, query: AggregateQuery) -> Scan:
        table, parts = query.table, parts_of(query)
        partition = set(self.key_of(table).partition)
        if not query.by and query.bucket is None and parts == (Part(None, COUNT),):
            return self._counted(query, query)
        by_partition = not query.by or set(query.by) == partition
        if self.server_aggregates and by_partition and query.bucket is None:
            selected = [quoted(tag) for tag in query.by]
            selected += [_aggregated(table, part) for part in parts]
            in_order = tuple(c for c in self.key_of(table).partition if c in query.by)
            behind = f" GROUP BY {quoted_all(in_order)}" if query.by else ""
            fold = partial(Groups, query, parts, rows_are_parts=True)
            return self._scan(query, ", ".join(selected), fold, behind=behind, many_rows=False)
        columns = dict.fromkeys(part.column for part in parts if part.column)
        time = (table.time.name,) if query.bucket is not None else ()
        names = (*query.by, *time, *columns)
        fold = partial(Groups, query, parts, rows_are_parts=False)
        return self._scan(query, quoted_all(names or (table.time.name,)), fold)


def _aggregated(table: Table, part: Part) -> str:
    if part.column is None:
        return "count(*)"
    column = table.column(part.column)
    name = quoted(column.name)
    if part.what != Function.SUM:
        return f"{part.what}({name})"
    return f"sum(CAST({name} AS {_summed(column)}))"


def _summed(column: Column) -> str:
    """Return the type whose sum is exact: CQL sums in the type itself, which overflows."""
    return "double" if column.type in FLOATS else "varint"
