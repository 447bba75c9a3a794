"""Logical queries as SQL of the table model, and what the client does with the answers.

The server's sum of integers is a double, which is exact up to 2**53 only, and it has no UNION. So
integers are summed in pieces of 16 bits, each by itself exact, and every physical table is asked by
itself; the client puts pieces and tables together (`Merged`, `Newest`, `Distinct`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from simulator.data.schema import FLOATS, Column, Role, Table, Type
from simulator.modules.iotdb.clock import Clock
from simulator.modules.shared.partials import Collected, Combiner, Distinct, Newest, Row
from simulator.modules.shared.sql import Dialect

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_TIME = "time"
"""What the server wants the column of a row's time to be called."""
_PIECE = 1 << 16
"""Sums of so small numbers are exact in a double for 2**37 rows."""
_PIECES = {Type.INT32: 2, Type.INT64: 4, Type.TIMESTAMP: 4}
_DIALECT = Dialect()


@dataclass(frozen=True, slots=True)
class Asked(Statement):
    """A logical query. Its text is for a server whose precision is the table's unit."""

    query: Query | None = None


def render(query: Query) -> Asked:
    """Return the query as SQL; the session adapts it to the server's precision."""
    unit = query.table.time_unit
    selects = planned(query, Clock(unit, unit)).selects
    return Asked("; ".join(selects), outputs(query), query=query)


# --- names and literals --------------------------------------------------------------------------


def quoted(name: str) -> str:
    """Return an identifier; the server takes capitals for small letters, quoted or not."""
    return '"' + name.replace('"', '""') + '"'


def stored_table(name: str) -> str:
    """Return what a table is called in the server.

    A tablet's table is read as a path, of which only a name in backquotes may have blanks, dots
    and the like; and the backquotes stay on it.
    """
    small = name.lower()
    return small if _PLAIN.fullmatch(small) else "`" + small.replace("`", "``") + "`"


def stored_name(table: Table, column: Column) -> str:
    """Return what a column is called in the server's table."""
    return _TIME if column is table.time else column.name


def _text(value: str) -> str:
    return _DIALECT.text(value)


# --- what becomes of the rows --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """The SQL for each physical table, and what its rows are made into."""

    selects: tuple[str, ...]
    read: Callable[[Row], Row]
    """Makes a row as the server gives it into one that can be compared."""
    fold: Callable[[], Combiner]


class _Term(NamedTuple):
    """An aggregate of the server's, and how those of two tables are put together."""

    selected: str
    merge: Callable[[Any, Any], Any]


class _Value(NamedTuple):
    """An output: the terms that it is made of, and how."""

    terms: tuple[_Term, ...]
    made: Callable[..., Any]


class Merged(Combiner):
    """Groups with their aggregates, put together."""

    def __init__(self, keys: int, values: Sequence[_Value]) -> None:
        """Say how many columns the groups' key has, in front."""
        self._keys = keys
        self._values = values
        self._merges = [term.merge for value in values for term in value.terms]
        self._groups: dict[tuple[Any, ...], list[Any]] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Take in the groups of one table."""
        for row in rows:
            key, terms = tuple(row[: self._keys]), list(row[self._keys :])
            known = self._groups.get(key)
            if known is not None:
                terms = [
                    new if old is None else old if new is None else merge(old, new)
                    for merge, old, new in zip(self._merges, known, terms, strict=True)
                ]
            self._groups[key] = terms

    def rows(self) -> Sequence[Row]:
        """Return the groups."""
        return [(*key, *self._finished(terms)) for key, terms in self._groups.items()]

    def _finished(self, terms: Sequence[Any]) -> Iterator[Any]:
        rest = iter(terms)
        for value in self._values:
            yield value.made(*(next(rest) for _ in value.terms))


# --- SQL -----------------------------------------------------------------------------------------


def planned(query: Query, clock: Clock) -> Plan:
    """Return the SQL for a server's precision."""
    match query:
        case RowsQuery(table=table):
            return _rows(table, table.columns, clock, Collected)
        case NewestQuery(table=table):
            names = [query.tag, table.time.name, *query.columns]
            columns = [table.column(name) for name in names]
            time = quoted(_TIME)
            taken = [f"last_by({quoted(stored_name(table, c))}, {time})" for c in columns]
            taken[0] = quoted(query.tag)
            selected = ", ".join(taken)
            selects = _from(table, f"SELECT {selected}", f" GROUP BY {quoted(query.tag)}")
            return Plan(selects, _reader(table, columns, clock), Newest)
        case DistinctQuery():
            return _distinct(query, clock)
        case AggregateQuery():
            return _aggregates(query, clock)


def _distinct(query: DistinctQuery, clock: Clock) -> Plan:
    """Tags and time tell the rows of one table apart; other columns have to be looked at.

    Not by the server: a DISTINCT of 2.0.1-beta gives some rows twice, and runs out of memory.
    """
    table = query.table
    key = {table.time.name, *(column.name for column in table.tags)}
    if table.parts == 1 and key <= set(query.columns):
        return _aggregates(AggregateQuery(table, (Aggregate(Function.COUNT),)), clock)
    typed = {output.name: output for output in outputs(RowsQuery(table))}
    wanted = tuple(typed[name] for name in query.columns)
    columns = [table.column(name) for name in query.columns]
    return _rows(table, columns, clock, lambda: Distinct(wanted))


def _rows(
    table: Table,
    columns: Sequence[Column],
    clock: Clock,
    fold: Callable[[], Combiner],
) -> Plan:
    names = ", ".join(quoted(stored_name(table, column)) for column in columns)
    selects = _from(table, f"SELECT {names}", "")
    return Plan(selects, _reader(table, columns, clock), fold)


def _from(table: Table, before: str, behind: str) -> tuple[str, ...]:
    return tuple(f"{before} FROM {quoted(stored_table(name))}{behind}" for name in table.names)


def _reader(table: Table, columns: Sequence[Column], clock: Clock) -> Callable[[Row], Row]:
    """Return what makes times those of the table, and tags that are numbers into numbers."""
    changes: list[tuple[int, Callable[[Any], Any]]] = []
    for place, column in enumerate(columns):
        if column is table.time:
            changes.append((place, clock.read))
        elif column.role is Role.TAG and column.type is not Type.TEXT:
            changes.append((place, _number))
    return _changed(changes)


def _changed(changes: Sequence[tuple[int, Callable[[Any], Any]]]) -> Callable[[Row], Row]:
    def changed(row: Row) -> Row:
        cells = list(row)
        for place, change in changes:
            cells[place] = change(cells[place])
        return cells

    return changed if changes else tuple


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _aggregates(query: AggregateQuery, clock: Clock) -> Plan:
    table = query.table
    by = [table.column(name) for name in query.by]
    selected = [quoted(column.name) for column in by]
    if query.bucket is not None:
        selected.append(_bucket(query.bucket, clock))
    keys = len(selected)
    values = [_value(table, clock, aggregate) for aggregate in query.aggregates]
    selected += [term.selected for value in values for term in value.terms]
    behind = _where(query, clock)
    if keys:
        behind += f" GROUP BY {', '.join(map(str, range(1, keys + 1)))}"
    read = _reader(table, by, clock)
    return Plan(
        _from(table, f"SELECT {', '.join(selected)}", behind), read, lambda: Merged(keys, values)
    )


def _where(query: AggregateQuery, clock: Clock) -> str:
    conditions = [f"{quoted(tag)} = {_text(value)}" for tag, value in query.where]
    for comparison, limit in ((">=", query.since), ("<", query.until)):
        if limit is not None:
            conditions.append(f"{quoted(_TIME)} {comparison} {clock.bound(limit)}")
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _time(clock: Clock) -> str:
    """Return a row's time as a number in the table's unit."""
    time = f"CAST({quoted(_TIME)} AS INT64)"
    if clock.coarser > 1:
        return f"({time} * {clock.coarser})"
    return f"({time} / {clock.finer})" if clock.finer > 1 else time


def _bucket(width: int, clock: Clock) -> str:
    """Return the start of a row's time bucket; the remainder of a negative number is negative."""
    time = _time(clock)
    return f"{time} - ({time} % {width} + {width}) % {width}"


def _value(table: Table, clock: Clock, aggregate: Aggregate) -> _Value:
    if aggregate.column is None:
        return _Value((_Term("count(*)", _plus),), _same)
    column, function = table.column(aggregate.column), aggregate.function
    name = quoted(stored_name(table, column))
    count = _Term(f"count({name})", _plus)
    if function is Function.COUNT:
        return _Value((count,), _same)
    if function in (Function.MIN, Function.MAX):
        merge = min if function is Function.MIN else max
        made = clock.read if column is table.time else _same
        number = name if column is table.time else _compared(column)
        return _Value((_Term(f"{function}({number})", merge),), made)
    total = _total(table, clock, column)
    if function is Function.SUM:
        return total

    def mean(rows: int, *terms: Any) -> Any:
        return total.made(*terms) / rows if rows else None

    return _Value((count, *total.terms), mean)


def _compared(column: Column) -> str:
    """Return a column but the time as something whose order is that of its values."""
    name = quoted(column.name)
    if column.type is Type.BOOL:
        return f"CAST({name} AS INT32)"
    if column.role is Role.TAG and column.type is not Type.TEXT:
        return f"CAST({name} AS INT64)"
    return name


def _total(table: Table, clock: Clock, column: Column) -> _Value:
    if column.type in FLOATS:
        return _Value((_Term(f"sum({quoted(column.name)})", _plus),), _same)
    number = _time(clock) if column is table.time else _compared(column)
    pieces = []
    for place in range(_PIECES.get(column.type, 1) - 1):
        shifted = f"{number} / {_PIECE**place}" if place else number
        pieces.append(f"{shifted} % {_PIECE}")
    pieces.append(f"{number} / {_PIECE ** len(pieces)}" if pieces else number)
    return _Value(tuple(_Term(f"sum({piece})", _plus) for piece in pieces), _joined)


def _joined(*pieces: float | None) -> int | None:
    """Return the integer whose sums of pieces these are, the lowest first."""
    whole = [int(piece) for piece in pieces if piece is not None]
    return sum(piece * _PIECE**place for place, piece in enumerate(whole)) if whole else None


def _plus(one: Any, other: Any) -> Any:
    return one + other


def _same(value: Any) -> Any:
    return value
