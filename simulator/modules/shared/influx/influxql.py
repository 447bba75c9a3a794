"""Queries in InfluxQL, and their answers.

https://docs.influxdata.com/influxdb/v1/query_language/: the language of InfluxDB 1. InfluxDB 2 also
supports it, with buckets as databases. A measurement is FROM "database".."measurement".
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from simulator.data.own_query import Instant, Value
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Operator,
    Query,
    RowsQuery,
    outputs,
)
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Table, Type
from simulator.encode.lineprotocol import marker
from simulator.modules.contract import StatementLanguage, Unsupported
from simulator.modules.shared.client.partials import ROWS as COUNT_ROWS
from simulator.modules.shared.client.partials import (
    Collected,
    Distinct,
    Latest,
    NewestRows,
    Partial,
    PartialGroups,
)
from simulator.modules.shared.client.planned import PlannedQuery
from simulator.modules.shared.http.client import HttpError
from simulator.modules.shared.influx import chunks
from simulator.modules.shared.influx.chunks import (
    ROWS,
    Chunk,
    Language,
    Read,
    Subquery,
    label,
    unit_ns,
)

CHUNK_ROWS = 10_000
_INT64 = 2**63 - 2


class QueryFailed(HttpError):
    """An error inside an answer with a status of success."""


class InfluxqlTexts(StatementLanguage):
    """A user's queries in InfluxQL over one table."""

    begins = frozenset({"select", "show"})
    writes = re.compile(r"\binto\b")
    passed_over = re.compile(r"""--[^\n]*|/\*.*?\*/|'[^']*'|"[^"]*\"""", re.DOTALL)

    def __init__(self, table: Table, database: str, module: str) -> None:
        super().__init__(table, [module, Language.INFLUXQL])
        self._database = database

    @property
    def places(self) -> Mapping[str, str]:
        return {"table": source_of(self.table, self._database)}

    def literal(self, value: Value) -> str:
        """Return a value as a literal: instants in nanoseconds, numbers without an exponent."""
        match value:
            case Instant():
                return str(value.value * unit_ns(self.table))
            case str():
                return literal(value)
            case _:
                return format(Decimal(repr(value)), "f")


def plan(query: Query, database: str) -> PlannedQuery:
    """Return the query in InfluxQL; Unsupported if it cannot be expressed."""
    source = source_of(query.table, database)
    match query:
        case AggregateQuery():
            return chunks.plan_aggregates(query, [*aggregates(query, source)])
        case NewestQuery():
            return PlannedQuery.of(query, [_plan_newest(query, source)], newest(query))
        case DistinctQuery():
            return _plan_distinct(query, source)
        case RowsQuery():
            return _plan_rows(query, source)


def newest(query: NewestQuery) -> Callable[[], NewestRows]:
    """Return the constructor of the newest rows' combiner."""
    return lambda: NewestRows(len(query.tags))


def identifier(name: str) -> str:
    """Return a name in quotes."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def literal(text: str) -> str:
    """Return a text in quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def source_of(table: Table, database: str) -> str:
    """Return the measurements of a table, as FROM lists them."""
    return ", ".join(f"{identifier(database)}..{identifier(name)}" for name in table.names)


def _subquery(  # noqa: PLR0913
    read: Read,
    selected: Iterable[str],
    source: str,
    *,
    where: Sequence[str] = (),
    by: Sequence[str] = (),
    newest: int | None = None,
) -> Subquery:
    text = f"SELECT {', '.join(selected)} FROM {source}"
    if where:
        text += f" WHERE {' AND '.join(where)}"
    if by:
        text += f" GROUP BY {', '.join(by)}"
        if any(group.startswith("time(") for group in by):
            text += " fill(none)"
    if newest is not None:
        text += f" ORDER BY time DESC LIMIT {newest}"
    return Subquery(text, read)


# --- aggregates ----------------------------------------------------------------------------------


def aggregates(query: AggregateQuery, source: str) -> Iterator[Subquery]:
    """Yield the subqueries that answer an aggregate query."""
    where, by, latest = conditions(query), [identifier(tag) for tag in query.by], query.newest
    if query.bucket is not None:
        by.append(f"time({query.bucket * unit_ns(query.table)}ns)")
    wanted = partials_of_fields(query)
    if wanted:
        selected = [_select_partial(query.table, each) for each in wanted]
        read = chunks.partials_read(query, wanted)
        yield _subquery(read, selected, source, where=where, by=by, newest=latest)
    for end in ends_of(query):
        yield first_or_last(query, end, source)
    for column in list_aggregated(query):
        if column.role is Role.TIME:
            yield from _plan_instants(query, column, source, where, by)
        elif column.type is Type.BOOL and column.role is not Role.TAG:
            true, name = Partial(Function.SUM, column.name), identifier(column.name)
            counted = f"count({name}) AS {identifier(label(true))}"
            is_true = [*where, f"{name} = true"]
            read = chunks.partials_read(query, [true])
            yield _subquery(read, [counted], source, where=is_true, by=by, newest=latest)
        elif needs_texts(query, column):
            yield values(query, column, source)
    tags = [column for column in list_aggregated(query) if column.role is Role.TAG]
    if tags:
        every = dict.fromkeys([*by, *(identifier(column.name) for column in tags)])
        counted = f"count({identifier(marker(query.table))}) AS {ROWS}"
        read = chunks.series_read(query, tags)
        yield _subquery(read, [counted], source, where=where, by=[*every], newest=latest)


def partials_of_fields(query: AggregateQuery, *, mean: bool = False) -> list[Partial]:
    """Return the partial aggregates that the server computes.

    `mean` is true if the server aggregates several measurements at once: means cannot be merged.
    """
    table, found = query.table, dict[Partial, None]()
    for aggregate in query.aggregates:
        if aggregate.function in ENDS:
            continue
        if aggregate.column is None:
            found[COUNT_ROWS] = None
            continue
        column = table.column(aggregate.column)
        if column.role is Role.TIME:
            found[COUNT_ROWS] = None
        elif column.role is not Role.TAG:
            functions = _choose_functions(column, aggregate.function, mean=mean or table.parts == 1)
            found |= dict.fromkeys(Partial(each, column.name) for each in functions)
    # A group of rows exists even if the fields that are aggregated are all NULL.
    sure = {Partial(f, c.name) for c in table.columns if not c.nullable for f in Function}
    if (query.by or query.bucket is not None) and not sure & found.keys():
        found[COUNT_ROWS] = None
    return list(found)


def ends_of(query: AggregateQuery) -> list[Partial]:
    """Return the first and last values of a query."""
    return [Partial(a.function, a.column) for a in query.aggregates if a.function in ENDS]


def first_or_last(query: AggregateQuery, end: Partial, source: str) -> Subquery:
    """Return the subquery for the first or last value of each group, with its time.

    With buckets, the server returns the bucket's start as the time. Where the value's own time
    matters, for example to choose between several measurements, every value is read.
    """
    table, column = query.table, query.table.column(str(end.column))
    where, by = conditions(query), [identifier(tag) for tag in query.by]
    is_field = column.role not in (Role.TIME, Role.TAG)
    name = identifier(column.name if is_field else marker(table))
    if column.role is Role.TAG:
        where.append(f"{identifier(column.name)} != ''")
    others = [identifier(column.name)] if column.role is Role.TAG else []
    selected = f"{end.function}({name})"
    if query.bucket is not None and (table.parts > 1 or column.role is Role.TIME):
        selected = name
    elif query.bucket is not None:
        by.append(f"time({query.bucket * unit_ns(table)}ns)")
    shown = [f"{selected} AS {identifier(label(end))}", *others]
    return _subquery(chunks.ends_read(query, end), shown, source, where=where, by=by)


def _choose_functions(column: Column, function: Function, *, mean: bool) -> tuple[Function, ...]:
    """Return the server's functions that compute an aggregate of a field."""
    if function is Function.COUNT or column.type is Type.BOOL:
        return (Function.COUNT,)
    if function in (Function.MIN, Function.MAX):
        return () if column.type is Type.TEXT else (function,)
    if column.type not in FLOATS:
        # The server's mean is rounded twice, and its sum may silently exceed 64 bits.
        return (Function.SUM, Function.COUNT, Function.MIN, Function.MAX)
    if function is Function.SUM:
        return (Function.SUM,)
    return (Function.AVG,) if mean else (Function.SUM, Function.COUNT)


def needs_texts(query: AggregateQuery, column: Column) -> bool:
    """Return whether the client needs all values of a text."""
    if column.type is not Type.TEXT or column.role is Role.TAG:
        return False
    extremes = (Function.MIN, Function.MAX)
    return any(Aggregate(function, column.name) in query.aggregates for function in extremes)


def values(query: AggregateQuery, column: Column, source: str) -> Subquery:
    """Return the subquery that reads every value of a text, or every time."""
    # A value that is not aggregated has its own time, not a bucket's.
    by, where = [identifier(tag) for tag in query.by], conditions(query)
    name = identifier(marker(query.table) if column.role is Role.TIME else column.name)
    extremes = (Function.MIN, Function.MAX)
    wanted = [f for f in extremes if Aggregate(f, column.name) in query.aggregates]
    if is_summed(query, column):
        wanted.append(Function.SUM)
    read = chunks.values_read(query, column, wanted)
    return _subquery(read, [name], source, where=where, by=by)


def is_summed(query: AggregateQuery, column: Column) -> bool:
    """Return whether a query needs the sum of a column."""
    summed = {Aggregate(f, column.name) for f in (Function.SUM, Function.AVG)}
    return bool(summed & {*query.aggregates})


def list_aggregated(query: AggregateQuery) -> list[Column]:
    """Return the aggregated columns, except first and last values."""
    names = dict.fromkeys(
        a.column for a in query.aggregates if a.column is not None and a.function not in ENDS
    )
    return [query.table.column(name) for name in names]


def _select_partial(table: Table, wanted: Partial) -> str:
    function = "mean" if wanted.function is Function.AVG else wanted.function
    name = identifier(wanted.column or marker(table))
    return f"{function}({name}) AS {identifier(label(wanted))}"


def _plan_instants(
    query: AggregateQuery, column: Column, source: str, where: Sequence[str], by: Sequence[str]
) -> Iterator[Subquery]:
    if is_summed(query, column) or query.bucket is not None:
        yield values(query, column, source)
        return
    for function, called in ((Function.MIN, "first"), (Function.MAX, "last")):
        if Aggregate(function, column.name) in query.aggregates:
            selected = f"{called}({identifier(marker(query.table))})"
            read = chunks.values_read(query, column, [function])
            yield _subquery(read, [selected], source, where=where, by=by)


def conditions(query: Query) -> list[str]:
    """Return the conditions that select a query's rows."""
    found = []
    for one in query.selection.one_of:
        equal = [f"{identifier(one.column)} = {literal(value)}" for value in one.values]
        found.append(equal[0] if len(equal) == 1 else f"({' OR '.join(equal)})")
    found += [_render_comparison(query.table, each) for each in query.selection.compared]
    since, until = limits_ns(query)
    bucket = query.bucket if isinstance(query, AggregateQuery) else None
    if bucket is not None:  # without an end, a statement with buckets ends now
        since, until = since if since is not None else -_INT64, _INT64 if until is None else until
    if since is not None:
        found.append(f"time >= {since}")
    if until is not None:
        found.append(f"time < {until}")
    return found


def _render_comparison(table: Table, compared: Condition) -> str:
    column = table.column(compared.column)
    if column.role is Role.TAG and column.type in INTEGERS and compared.operator is Operator.EQUAL:
        return f"{identifier(column.name)} = {literal(str(compared.value))}"
    if column.role is Role.TAG:
        raise Unsupported(
            f"{column.name} is a tag: a text, which is not less or more than a number"
        )
    if column.role is Role.TIME:
        return f"time {compared.operator} {int(compared.value) * unit_ns(table)}"
    # A number has no exponent in InfluxQL.
    number = format(Decimal(repr(compared.value)), "f")
    return f"{identifier(column.name)} {compared.operator} {number}"


def limits_ns(query: Query) -> tuple[int | None, int | None]:
    """Return since and until in nanoseconds, limited to 64 bits."""
    unit = unit_ns(query.table)
    since, until = (
        None if limit is None else min(max(limit * unit, -_INT64), _INT64)
        for limit in (query.selection.since, query.selection.until)
    )
    return since, until


# --- the rest ------------------------------------------------------------------------------------


def _plan_newest(query: NewestQuery, source: str) -> Subquery:
    """Return the subquery for the last row of each tag, found by a field without NULLs."""
    columns = [query.table.column(name) for name in query.columns]
    fields = [c.name for c in columns if c.role not in (Role.TIME, Role.TAG) and not c.nullable]
    name = fields[0] if fields else marker(query.table)
    others = [c.name for c in columns if c.role is not Role.TIME and c.name != name]
    selected = [f"last({identifier(name)}) AS {identifier(name)}", *map(identifier, others)]
    by = [*map(identifier, query.tags)]
    return _subquery(chunks.newest_rows(query), selected, source, where=conditions(query), by=by)


def _plan_rows(query: RowsQuery, source: str) -> PlannedQuery:
    """Return the plan of rows; the server finds a row only if a selected field is not NULL."""
    table, columns = query.table, query.read
    names = [c.name for c in columns if c.role is not Role.TIME]
    sure = any(not c.nullable and c.role not in (Role.TIME, Role.TAG) for c in columns)
    extra = [] if sure or marker(table) in names else [marker(table)]
    selected, where = [*map(identifier, [*names, *extra])], conditions(query)
    if query.newest is None:
        read = chunks.columns_of(table, columns)
        return PlannedQuery.of(query, [_subquery(read, selected, source, where=where)], Collected)
    read = chunks.latest_rows(query)
    fetch = _subquery(read, selected, source, where=where, newest=query.newest)
    return PlannedQuery.of(query, [fetch], partial(Latest, query.newest))


def _plan_distinct(query: DistinctQuery, source: str) -> PlannedQuery:
    """Return the plan that counts distinct rows; tags and time identify a row."""
    table, columns = query.table, {*query.columns}
    by = [column.name for column in table.tags if column.name in columns]
    name = identifier(marker(table))
    if table.time.name in columns and len(by) == len(table.tags):
        return _plan_count(query, f"count({name})", source)
    if columns == {*by}:
        return _plan_compared(query, f"count({name}) AS {ROWS}", source, by)
    if columns == {*by, table.time.name}:
        return _plan_compared(query, name, source, by)
    (first, *others) = query.columns
    if others or by or table.parts > 1:
        raise Unsupported("InfluxDB does not count combinations of fields")
    return _plan_count(query, f"count(distinct({identifier(first)}))", source)


def _plan_count(query: DistinctQuery, count: str, source: str) -> PlannedQuery:
    """Return the plan that sums counts of rows."""
    rows = AggregateQuery(query.table, (Aggregate(Function.COUNT),))
    fetch = _subquery(lambda chunk: [*zip(chunk[ROWS])], [f"{count} AS {ROWS}"], source)
    return PlannedQuery.of(query, [fetch], partial(PartialGroups, rows, (COUNT_ROWS,)))


def _plan_compared(
    query: DistinctQuery, selected: str, source: str, by: Sequence[str]
) -> PlannedQuery:
    """Return the plan that compares rows of tags and times."""
    rows = RowsQuery(query.table, query.columns)
    read = chunks.columns_of(query.table, rows.read)
    fetch = _subquery(read, [selected], source, by=[*map(identifier, by)])
    return PlannedQuery.of(query, [fetch], partial(Distinct, outputs(rows)))


# --- answers -------------------------------------------------------------------------------------


def read_chunks(lines: Iterable[str]) -> Iterator[tuple[int, Chunk]]:
    """Yield the chunks of an answer, each with the number of its statement."""
    for line in lines:
        if not line.strip():
            continue
        answer = _decode(line)
        if "error" in answer:
            raise QueryFailed(answer["error"])
        for result in answer["results"]:
            if "error" in result:
                raise QueryFailed(result["error"])
            for series in result.get("series", ()):
                values = series.get("values", ())
                columns = zip(*values, strict=True)
                named = dict(zip(series["columns"], columns, strict=True)) if values else {}
                shared, name = series.get("tags", {}), series.get("name", "")
                yield result["statement_id"], Chunk(len(values), named, shared, name)


def _decode(line: str) -> Any:
    """Decode JSON with -0 as -0.0: the server writes whole floats without a fraction."""
    if "-0," in line or "-0]" in line:
        return json.loads(line, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))
    return json.loads(line)
