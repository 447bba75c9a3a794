"""Queries in AQL, and the values of their results.

A line with a semicolon separates several queries; their rows are concatenated. AQL calculates in
doubles (https://docs.arango.ai/arangodb/3.12/aql/), compares texts by a language's collation, and
returns 0 as the sum of no rows. So a query returns only exact numbers, and an element of its rows
may be an object from which `finish_row` calculates the value:
{hex}: a text, ordered by its bytes · {sum, n}: a sum of n numbers, or their mean with {mean: true}
· {pieces, n, least, greatest}: the same of integers, summed in pieces of 18 bits.
"""

import re
import string
from collections.abc import Callable, Sequence
from json import dumps
from typing import Any, assert_never
from urllib.parse import quote_from_bytes, unquote

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Operator,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import FLOAT64_EXACT, FLOATS, ID, Column, Table, TimeUnit, Type
from simulator.errors import RunError
from simulator.modules.contract import Unsupported
from simulator.modules.shared.names import storable

BETWEEN = "\n;\n"
"""Separates the queries of a statement."""

_PIECE = 2**18
"""The sum of 34 billion pieces is below 2**53; three pieces hold an integer of 53 bits."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def collection(table: str) -> str:
    """Return the collection of a physical table."""
    return storable(table, "A-Za-z0-9_-", "0123456789_-")


UNRESERVED = string.ascii_letters + string.digits + "_-:.@()+,=;$!*'"
"""The characters that a _key may contain; % escapes all others."""


def key(text: bytes) -> str:
    """Return a client's key as a _key, with %XX for each byte that a _key cannot hold."""
    return quote_from_bytes(text, UNRESERVED)


def attribute(column: str) -> str:
    """Return the expression of a column of the document `doc`."""
    if column == ID.name:
        return "doc._key"
    return f"doc.`{column}`" if _PLAIN.fullmatch(column) else f"doc[{_literal(column)}]"


def _literal(text: str) -> str:
    return dumps(text, ensure_ascii=False)


def render(query: Query) -> Statement:
    """Return a query as AQL."""
    return Statement(_text(query), outputs(query))


def _text(query: Query) -> str:
    match query:
        case AggregateQuery():
            return _render_aggregates(query)
        case NewestQuery(table=table):
            _refuse_key(*query.tags, *query.columns)
            # Arrays compare element by element, and no two rows of a group have the same instant.
            row = ", ".join(map(attribute, (table.time.name, *query.columns)))
            keys, merged = [attribute(tag) for tag in query.tags], [("MAX", f"[{row}]")]
            shown = [f"k{place}" for place in range(len(keys))]
            shown += [f"a0[{place}]" for place in range(1, len(query.columns) + 1)]
            return _group(_loop_over(query), keys, merged, f"[{', '.join(shown)}]")
        case DistinctQuery():
            _refuse_key(*query.columns)
            groups = _group(_loop_over(query), [attribute(c) for c in query.columns], [], "1")
            return f"FOR found IN ({groups})\nCOLLECT WITH COUNT INTO n\nRETURN [n]"
        case RowsQuery():
            return _render_rows(query)
        case _:
            assert_never(query)


def _loop_over(query: Query) -> list[str]:
    """Return the loop over the selected documents of each collection."""
    filtered = _filters(query)
    return [f"FOR doc IN `{collection(name)}`{filtered}" for name in query.table.names]


def _render_rows(query: RowsQuery) -> str:
    """Return a query for each collection; the newest rows of several are sorted together."""
    of, time = _loop_over(query), attribute(query.table.time.name)
    row = ", ".join(attribute(column.name) for column in query.read)
    if query.newest is None:
        return BETWEEN.join(f"{rows}\nRETURN [{row}]" for rows in of)
    if len(of) == 1:
        return f"{of[0]}\n{_latest(time, query.newest)}\nRETURN [{row}]"
    parts = (f"({rows}\n{_latest(time, query.newest)}\nRETURN doc)" for rows in of)
    return f"FOR doc IN UNION({', '.join(parts)})\n{_latest(time, query.newest)}\nRETURN [{row}]"


def _latest(time: str, number: int) -> str:
    return f"SORT {time} DESC\nLIMIT {number}"


def _refuse_key(*columns: str | None) -> None:
    if ID.name in columns:
        raise Unsupported("the client's key is the _key, which queries can only return")


# --- groups ---------------------------------------------------------------------------------------


def _group(
    of: Sequence[str],
    keys: Sequence[str],
    aggregates: Sequence[tuple[str, str]],
    shown: str,
    latest: str = "",
) -> str:
    """Return the query that groups by `keys` (k0, ...) and computes `aggregates` (a0, ...).

    Of several collections it aggregates each one, and then combines the results. `latest` sorts
    the groups and limits their number.
    """
    if len(of) == 1:
        return f"{of[0]}\n{_collect(keys, aggregates, latest)}\nRETURN {shown}"
    labels = [f"k{place}" for place in range(len(keys))]
    labels += [f"a{place}" for place in range(len(aggregates))]
    part = "{" + ", ".join(f"{label}: {label}" for label in labels) + "}"
    apart = (_group([rows], keys, aggregates, part, latest) for rows in of)
    parts = ", ".join(f"({each})" for each in apart)
    again = [("SUM" if f == "COUNT" else f, f"part.a{at}") for at, (f, _) in enumerate(aggregates)]
    collected = _collect([f"part.k{at}" for at in range(len(keys))], again, latest)
    return f"FOR part IN UNION({parts})\n{collected}\nRETURN {shown}"


def _collect(keys: Sequence[str], aggregates: Sequence[tuple[str, str]], latest: str = "") -> str:
    text = "COLLECT " + ", ".join(f"k{place} = {key}" for place, key in enumerate(keys))
    if aggregates:
        wanted = (f"a{place} = {f}({what})" for place, (f, what) in enumerate(aggregates))
        text = f"{text.rstrip()} AGGREGATE {', '.join(wanted)}"
    # Without `latest` the order does not matter: `hash` does not sort.
    return f'{text} OPTIONS {{method: "hash"}}\n{latest or "SORT null"}' if keys else text


# --- aggregates -----------------------------------------------------------------------------------


def _render_aggregates(query: AggregateQuery) -> str:
    table = query.table
    _refuse_key(*query.by, *(a.column for a in query.aggregates))
    keys = [attribute(tag) for tag in query.by]
    if query.bucket is not None:
        if table.time_unit is TimeUnit.NANOSECOND:
            raise Unsupported("AQL calculates in doubles, which do not hold nanoseconds")
        time, width = attribute(table.time.name), query.bucket
        keys.append(f"{time} - ({time} % {width} + {width}) % {width}")
    wanted: list[tuple[str, str]] = []
    shown = [f"k{place}" for place in range(len(query.by))]
    if query.bucket is not None:
        shown.append(f"{{bucket: k{len(query.by)}}}")
    shown += [_render_aggregate(table, aggregate, wanted) for aggregate in query.aggregates]
    latest = "" if query.newest is None else _latest(f"k{len(query.by)}", query.newest)
    return _group(_loop_over(query), keys, wanted, f"[{', '.join(shown)}]", latest)


def _filters(query: Query) -> str:
    selection, time = query.selection, attribute(query.table.time.name)
    conditions = []
    for one in selection.one_of:
        values = [_literal(value) for value in one.values]
        wanted = f"== {values[0]}" if len(values) == 1 else f"IN [{', '.join(values)}]"
        conditions.append(f"{attribute(one.column)} {wanted}")
    for compared in selection.compared:
        name, operator = attribute(compared.column), compared.operator
        if query.table.column(compared.column).nullable:
            conditions.append(f"{name} != null")  # which is less than every number
        sign = "==" if operator is Operator.EQUAL else operator.value
        conditions.append(f"{name} {sign} {compared.value!r}")
    conditions += [f"{time} {operator} {limit}" for operator, limit in selection.limits]
    return f"\nFILTER {' && '.join(conditions)}" if conditions else ""


def _render_aggregate(table: Table, aggregate: Aggregate, wanted: list[tuple[str, str]]) -> str:
    """Return an aggregate's element of a row; add its partial aggregates to `wanted`."""

    # Without groups there is a row even if no document matches; its sum of no values is NULL.
    def a(function: str, expression: str) -> str:
        if (function, expression) not in wanted:
            wanted.append((function, expression))
        return f"a{wanted.index((function, expression))}"

    if aggregate.column is None:
        return f"TO_NUMBER({a('COUNT', '1')})"
    column = table.column(aggregate.column)
    value = attribute(column.name)
    there = f"{value} != null ? "
    match aggregate.function:
        case Function.COUNT:
            return f"TO_NUMBER({a('SUM', f'{there}1 : 0')})"
        case Function.MIN | Function.MAX if column.type is Type.TEXT:
            return f"{{hex: {a(aggregate.function.upper(), f'{there}TO_HEX({value}) : null')}}}"
        case Function.MIN | Function.MAX:
            return a(aggregate.function.upper(), value)
        case Function.FIRST | Function.LAST:
            extreme = "MIN" if aggregate.function is Function.FIRST else "MAX"
            pair = f"[{attribute(table.time.name)}, {value}]"
            return f"{a(extreme, f'{there}{pair} : null')}[1]"
        case Function.SUM | Function.AVG:
            return _render_total(column, aggregate.function, a)
    assert_never(aggregate.function)


def _render_total(column: Column, function: Function, a: Callable[[str, str], str]) -> str:
    """Return the element for a sum or a mean; `a` adds a partial aggregate."""
    value = attribute(column.name)
    number = f"TO_NUMBER({a('SUM', f'{value} != null ? 1 : 0')})"
    mean = ", mean: true" if function is Function.AVG else ""
    if column.type in FLOATS:
        return f"{{sum: {a('SUM', value)}, n: {number}{mean}}}"
    least, greatest = a("MIN", value), a("MAX", value)
    pieces = ", ".join(a("SUM", piece) for piece in _cut(column))
    ends = f"least: {least}, greatest: {greatest}"
    return f"{{pieces: [{pieces}], n: {number}, {ends}{mean}}}"


def _cut(column: Column) -> list[str]:
    """Return an integer as pieces with its sign, which add up exactly."""
    value, piece = attribute(column.name), _PIECE
    if column.type in (Type.BOOL, Type.INT16):
        return [f"TO_NUMBER({value})"]
    low, high = f"{value} % {piece}", f"{value} % {piece**2}"
    return [low, f"({high} - {low}) / {piece}", f"({value} - {high}) / {piece**2}"]


# --- values ---------------------------------------------------------------------------------------


def finish_row(row: Sequence[Any]) -> list[Any]:
    """Return a row's values; RunError if one of them cannot be exact."""
    return [_finish(element) if isinstance(element, dict) else element for element in row]


def _finish(element: dict[str, Any]) -> Any:
    match element:
        case {"hex": digits}:
            return None if digits is None else bytes.fromhex(digits).decode()
        case {"bucket": start}:
            if abs(start) >= FLOAT64_EXACT:
                raise RunError("overflow: AQL calculates in doubles; an instant is beyond 2**53")
            return start
        case {"n": 0}:
            return None
        case {"sum": total, "n": number}:
            if total is None:
                raise RunError("overflow: the sum is more than a double can hold")
        case {"pieces": pieces, "n": number, "least": least, "greatest": greatest}:
            if max(-least, greatest) >= FLOAT64_EXACT:
                raise RunError(
                    "overflow: AQL calculates in doubles, and integers beyond 2**53 "
                    f"({least} to {greatest}) cannot be summed exactly"
                )
            total = sum(int(piece) * _PIECE**place for place, piece in enumerate(pieces))
        case _:
            return element
    return total / number if element.get("mean") else total


def finish_rows(found: Sequence[Any], columns: Sequence[str]) -> list[Sequence[Any]]:
    """Return rows with finished values, and with the client's keys as sent."""
    if ID.name not in columns:
        return [finish_row(row) if any(type(v) is dict for v in row) else row for row in found]
    place = columns.index(ID.name)
    return [[*row[:place], unquote(row[place]), *row[place + 1 :]] for row in found]
