"""IoTDB's table model: names, types, times, and the logical queries as SQL.

The server sums integers as doubles, which are exact up to 2**53 only, and has no UNION. So a query
sums integers in pieces of 16 bits, which are exact, and has a statement for each physical table;
the client combines pieces and tables.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from simulator.data.answer import in_units
from simulator.data.block import Array
from simulator.data.own_query import Instant, TextQuery, Value
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    outputs,
)
from simulator.data.schema import FLOATS, Column, Role, Table, TimeUnit, Type
from simulator.errors import UnstorableError
from simulator.modules.contract import Unsupported
from simulator.modules.shared import shapes
from simulator.modules.shared.client.partials import (
    Collected,
    Distinct,
    Latest,
    NewestRows,
    Partial,
    PartialGroups,
    Row,
    partials_of,
)
from simulator.modules.shared.client.planned import Fetch, PlannedQuery
from simulator.modules.shared.sql.language import Dialect, literal, quote
from simulator.modules.shared.sql.texts import SqlTexts

# --- names and types -----------------------------------------------------------------------------

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_TIME = "time"
"""The name that the server gives to the time column of every table."""
_TYPES = {
    Type.INT16: "INT32",
    Type.INT32: "INT32",
    Type.INT64: "INT64",
    Type.FLOAT32: "FLOAT",
    Type.FLOAT64: "DOUBLE",
    Type.BOOL: "BOOLEAN",
    Type.TEXT: "STRING",
}
TYPE_CODES = {
    "BOOLEAN": 0, "INT32": 1, "INT64": 2, "FLOAT": 3, "DOUBLE": 4, "TIMESTAMP": 8, "STRING": 11,
}  # fmt: skip
"""A type's name -> its code in a tablet."""


def name_table(name: str) -> str:
    """Return a table's name on the server.

    The server parses the table of a tablet as a path, in which a name with blanks or dots needs
    backquotes, and stores the backquotes as part of the name.
    """
    small = name.lower()
    return small if _PLAIN.fullmatch(small) else "`" + small.replace("`", "``") + "`"


def name_stored(table: Table, column: Column) -> str:
    """Return a column's name on the server."""
    return _TIME if column is table.time else column.name


def columns_of(table: Table) -> tuple[Column, ...]:
    """Return the columns of a tablet: the tags, then all others except the time."""
    others = (c for c in table.columns if c.role not in (Role.TAG, Role.TIME))
    return (*table.tags, *others)


def type_of(column: Column, unit: TimeUnit, precision: TimeUnit) -> str:
    """Return the type that holds a column's values exactly.

    A tag is always text. An instant that is not the row's time is a TIMESTAMP if the server's
    precision is the table's unit, else an integer in the table's unit.
    """
    if column.role is Role.TAG:
        return "STRING"
    if column.type is Type.TIMESTAMP:
        return "TIMESTAMP" if unit == precision else "INT64"
    return _TYPES[column.type]


# --- times ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Clock:
    """Converts times between a table's unit and the server's precision without loss."""

    unit: TimeUnit
    precision: TimeUnit
    """The same for all tables of a server."""

    @property
    def finer(self) -> int:
        """The number of server units in a table unit; 1 if the server's unit is coarser."""
        return max(self.precision.per_second // self.unit.per_second, 1)

    @property
    def coarser(self) -> int:
        """The number of table units in a server unit; 1 if the server's unit is finer."""
        return max(self.unit.per_second // self.precision.per_second, 1)

    def store(self, column: Column, times: Array) -> Array:
        """Convert times of a column for the server; UnstorableError if it cannot store them."""
        if self.coarser > 1:
            whole = times // self.coarser
            odd = times[whole * self.coarser != times]
            if len(odd):
                raise UnstorableError(
                    f"column {column.name}: {odd[0]} {self.unit} is finer than the server's "
                    f"timestamp_precision={self.precision}; use times in whole {self.precision} "
                    f"(--tick-ms), or a server with timestamp_precision={self.unit}"
                )
            return whole
        if self.finer > 1:
            most = np.iinfo(np.int64).max // self.finer
            odd = times[(times > most) | (times < -most)]
            if len(odd):
                raise UnstorableError(
                    f"column {column.name}: {odd[0]} {self.unit} is beyond the 64 bits in which "
                    f"the server counts {self.precision}"
                )
            return times * self.finer
        return times

    def read(self, time: int | None) -> int | Decimal | None:
        """Convert a time of the server to the unit of the table."""
        return None if time is None else in_units(time * self.coarser, self.finer)

    def bound(self, limit: int) -> int:
        """Return the first server time that is not before a limit in the table's unit."""
        return -(-limit * self.finer // self.coarser)


# --- queries -------------------------------------------------------------------------------------

_PIECE = 1 << 16
"""A double sums up to 2**37 integers below this exactly."""
_PIECES = {Type.INT32: 2, Type.INT64: 4, Type.TIMESTAMP: 4}


class IotDbTexts(SqlTexts):
    """A user's queries in SQL over one table, for a server's precision."""

    def __init__(self, table: Table, clock: Clock) -> None:
        super().__init__(Dialect(), table, ["iotdb"])
        self._clock = clock

    @property
    def places(self) -> Mapping[str, str]:
        """The table, if it has one part: there is no UNION."""
        one = self.table.parts == 1
        return {"table": quote(name_table(self.table.name))} if one else {}

    def literal(self, value: Value) -> str:
        """Return a value; an instant is in the server's unit."""
        if isinstance(value, Instant):
            return super().literal(self._clock.bound(value.value))
        return super().literal(value)

    def with_values(self, text: str, query: TextQuery) -> str:
        return super().with_values(text.rstrip().rstrip(";"), query)

    def statement(self, query: TextQuery) -> PlannedQuery:
        """Return the text; the session converts its instants to the server's precision."""
        text = self.with_values(self.text_of(query), query)
        return PlannedQuery(text, query.outputs, (query,), own=True, fetches=(Fetch(text),))


def render(query: Query) -> PlannedQuery:
    """Return the query as SQL for a server with the table's unit as precision.

    Its parameter is the query, from which the session makes the SQL for its server's precision.
    """
    unit = query.table.time_unit
    return replace(plan_statements(query, Clock(unit, unit)), parameters=(query,))


def plan_statements(query: Query | TextQuery, clock: Clock) -> PlannedQuery:
    """Return the SQL for a server's precision: a statement for each physical table."""
    match query:
        case TextQuery():
            return IotDbTexts(query.table, clock).statement(query)
        case RowsQuery():
            return _render_rows(query, clock)
        case NewestQuery():
            return _newest(query, clock)
        case DistinctQuery():
            return _distinct(query, clock)
        case AggregateQuery():
            return _aggregates(query, clock)


def _render_rows(query: RowsQuery, clock: Clock) -> PlannedQuery:
    table, where = query.table, _where(query, clock)
    if query.newest is None:
        return PlannedQuery.of(query, _rows(table, query.read, clock, where), Collected)
    latest = f"{where} ORDER BY 1 DESC LIMIT {query.newest}"
    fetches = _rows(table, (table.time, *query.read), clock, latest)
    return PlannedQuery.of(query, fetches, partial(Latest, query.newest))


def _rows(table: Table, columns: Sequence[Column], clock: Clock, behind: str = "") -> list[Fetch]:
    names = ", ".join(quote(name_stored(table, column)) for column in columns)
    return _make_fetches(table, f"SELECT {names}", behind, _make_reader(table, columns, clock))


def _newest(query: NewestQuery, clock: Clock) -> PlannedQuery:
    table, time = query.table, quote(_TIME)
    tags = [quote(tag) for tag in query.tags]
    names = [table.time.name, *query.columns]
    columns = [table.column(name) for name in (*query.tags, *names)]
    last = [f"last_by({quote(name_stored(table, c))}, {time})" for c in columns[len(tags) :]]
    behind = _where(query, clock) + (f" GROUP BY {', '.join(tags)}" if tags else "")
    read = _make_reader(table, columns, clock)
    fetches = _make_fetches(table, f"SELECT {', '.join([*tags, *last])}", behind, read)
    return PlannedQuery.of(query, fetches, partial(NewestRows, len(tags)))


def _distinct(query: DistinctQuery, clock: Clock) -> PlannedQuery:
    """Count the rows if the columns contain the key of the only table; else compare rows.

    The client compares rows, because DISTINCT of 2.0.1-beta repeats some and runs out of memory.
    """
    table = query.table
    key = {table.time.name, *(column.name for column in table.tags)}
    if table.parts == 1 and key <= set(query.columns):
        counted = AggregateQuery(table, (Aggregate(Function.COUNT),))
        return replace(_aggregates(counted, clock), outputs=outputs(query))
    rows = RowsQuery(table, query.columns)
    fetches = _rows(table, rows.read, clock)
    return PlannedQuery.of(query, fetches, partial(Distinct, outputs(rows)))


def _make_fetches(
    table: Table, before: str, behind: str, read: Callable[[Row], Row]
) -> list[Fetch]:
    """Return the statement for each physical table; `read` converts a row for the combiner."""
    return [
        Fetch(f"{before} FROM {quote(name_table(name))}{behind}", lambda rows: [*map(read, rows)])
        for name in table.names
    ]


def _make_reader(table: Table, columns: Sequence[Column], clock: Clock) -> Callable[[Row], Row]:
    """Return the function that converts times to the table's unit, and integer tags to integers."""
    changes: list[tuple[int, Callable[[Any], Any]]] = []
    for place, column in enumerate(columns):
        if column is table.time:
            changes.append((place, clock.read))
        elif column.role is Role.TAG and column.type is not Type.TEXT:
            changes.append((place, lambda text: None if text is None else int(text)))
    if not changes:
        return tuple

    def apply_changes(row: Row) -> Row:
        cells = list(row)
        for place, change in changes:
            cells[place] = change(cells[place])
        return cells

    return apply_changes


# --- aggregates ----------------------------------------------------------------------------------


class _Measure(NamedTuple):
    """A partial aggregate: the selected expressions, and the function of their values."""

    selected: tuple[str, ...]
    value: Callable[..., Any]


def _aggregates(query: AggregateQuery, clock: Clock) -> PlannedQuery:
    table, partials = query.table, partials_of(query)
    by = [table.column(name) for name in query.by]
    keys = [quote(column.name) for column in by]
    if query.bucket is not None:
        keys.append(_bucket(query.bucket, clock))
    measures = [_plan_measure(table, clock, each) for each in partials]
    selected = [*keys, *(each for measure in measures for each in measure.selected)]
    behind = _where(query, clock)
    if keys:
        behind += f" GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}"
    if query.newest is not None:
        behind += f" ORDER BY 1 DESC LIMIT {query.newest}"
    read_key = _make_reader(table, by, clock)

    def read(row: Row) -> Row:
        cells = list(read_key(row[: len(keys)]))
        if query.bucket is not None:
            cells[-1] = clock.read(cells[-1])
        at = len(keys)
        for measure in measures:
            cells.append(measure.value(*row[at : at + len(measure.selected)]))
            at += len(measure.selected)
        return cells

    fetches = _make_fetches(table, f"SELECT {', '.join(selected)}", behind, read)
    return PlannedQuery.of(query, fetches, partial(PartialGroups, query, partials))


def _where(query: Query, clock: Clock) -> str:
    table, selection = query.table, query.selection
    conditions = [
        f"{quote(one.column)} IN ({', '.join(map(literal, one.values))})"
        for one in selection.one_of
    ]
    for compared in selection.compared:
        column = table.column(compared.column)
        number = _cast_time(clock) if column is table.time else _cast_to_number(column)
        conditions.append(f"{number} {compared.operator} {compared.value!r}")
    conditions += [
        f"{quote(_TIME)} {operator} {clock.bound(limit)}" for operator, limit in selection.limits
    ]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _cast_time(clock: Clock) -> str:
    """Return a row's time as a number in the table's unit."""
    time = f"CAST({quote(_TIME)} AS INT64)"
    if clock.coarser > 1:
        return f"({time} * {clock.coarser})"
    return f"({time} / {clock.finer})" if clock.finer > 1 else time


def _bucket(width: int, clock: Clock) -> str:
    """Return the start of a row's time bucket, in the server's unit.

    Integers could express it, but IoTDB 2.0.1 then returns some of hundreds of groups twice.
    """
    if width % clock.coarser:
        raise Unsupported(
            f"buckets of {width} {clock.unit}: expected whole {clock.precision}, the server's"
            f" timestamp_precision; or use a server with timestamp_precision={clock.unit}"
        )
    return f"date_bin({width * clock.finer // clock.coarser}{clock.precision}, {quote(_TIME)})"


def _plan_measure(table: Table, clock: Clock, wanted: Partial) -> _Measure:
    if wanted.column is None:
        return _Measure(("count(*)",), _same)
    column, function = table.column(wanted.column), wanted.function
    is_time = column is table.time
    if function is Function.SUM:
        return _sum(column, _cast_time(clock) if is_time else _cast_to_number(column))
    name = quote(name_stored(table, column))
    if function in ENDS:
        when = f"{function}_by({quote(_TIME)}, {name})"
        # Of a field of type TIMESTAMP, IoTDB 2.0.1 would return the time of the row.
        value = f"CAST({name} AS INT64)" if column.type is Type.TIMESTAMP and not is_time else name
        return _Measure((when, f"{function}({value})"), _make_end_reader(table, column, clock))
    if function is Function.COUNT:
        return _Measure((f"count({name})",), _same)
    return _Measure(
        (f"{function}({name if is_time else _cast_to_number(column)})",),
        clock.read if is_time else _same,
    )


def _make_end_reader(table: Table, column: Column, clock: Clock) -> Callable[..., Any]:
    """Return the function that makes a first or last value; None if all values are NULL."""
    read = _make_reader(table, (table.time, column), clock)
    return lambda time, value: None if time is None else tuple(read((time, value)))


def _cast_to_number(column: Column) -> str:
    """Return a column other than the time, as a number unless it is text."""
    name = quote(column.name)
    if column.type is Type.BOOL:
        return f"CAST({name} AS INT32)"
    is_number_as_tag = column.role is Role.TAG and column.type is not Type.TEXT
    if is_number_as_tag or column.type is Type.TIMESTAMP:
        return f"CAST({name} AS INT64)"
    return name


def _sum(column: Column, number: str) -> _Measure:
    if column.type in FLOATS:
        return _Measure((f"sum({number})",), _same)
    pieces = []
    for place in range(_PIECES.get(column.type, 1) - 1):
        shifted = f"{number} / {_PIECE**place}" if place else number
        pieces.append(f"{shifted} % {_PIECE}")
    pieces.append(f"{number} / {_PIECE ** len(pieces)}" if pieces else number)
    return _Measure(tuple(f"sum({piece})" for piece in pieces), _join)


def _join(*pieces: float | None) -> int | None:
    """Return the sum of integers from the sums of their pieces, the lowest first."""
    whole = [int(piece) for piece in pieces if piece is not None]
    return sum(piece * _PIECE**place for place, piece in enumerate(whole)) if whole else None


def _same(value: Any) -> Any:
    return value


# --- query plans

ANALYZE = "EXPLAIN ANALYZE"
_NODE = re.compile(r"\[PlanNodeId \S+\]: (\w+)|^([A-Z]\w+)-\d+")
"""Line that begins a node; the lines below it are figures of the run."""


def shape_of_plan(text: str) -> str:
    """Return the nodes of a plan."""
    return shapes.of_text(text, _node)


def _node(line: str) -> str:
    found = _NODE.search(line)
    return next(filter(None, found.groups())) if found else ""
