"""Flux queries, their answers and plans, and the plans of InfluxQL (EXPLAIN).

https://docs.influxdata.com/flux/v0/: the language of InfluxDB 2. InfluxQL reads texts and whole
rows, because Flux answers in CSV, and its writer changes line ends inside a text. InfluxQL also
compares fields, because Flux would have to make rows of all points first (`pivot`).
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from simulator.data.own_query import Instant, Value
from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, Query
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.lineprotocol import marker
from simulator.modules.contract import StatementLanguage
from simulator.modules.shared.client.partials import Partial
from simulator.modules.shared.client.planned import PlannedQuery
from simulator.modules.shared.influx import chunks, influxql
from simulator.modules.shared.influx.chunks import (
    NEWEST,
    ROWS,
    SECOND_NS,
    TIME,
    Chunk,
    Language,
    NewestPoints,
    Read,
    Subquery,
    label,
    unit_ns,
)
from simulator.modules.shared.influx.influxql import CHUNK_ROWS, QueryFailed

_FIRST_NS, _END_NS = -(2**63) + 2, 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FluxTexts(StatementLanguage):
    """A user's queries in Flux over one table."""

    begins = frozenset({"from", "import", "join", "option", "union"})
    writes = re.compile(r"\b(to|wideto|post)\s*\(")
    passed_over = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\])*\"""", re.DOTALL)
    one_statement = False

    def __init__(self, table: Table, bucket: str, module: str) -> None:
        super().__init__(table, [module, Language.FLUX])
        self._bucket = bucket

    @property
    def places(self) -> Mapping[str, str]:
        found = {"bucket": literal(self._bucket)}
        return found | ({"table": literal(self.table.name)} if self.table.parts == 1 else {})

    def literal(self, value: Value) -> str:
        """Return a value; no number has an exponent."""
        match value:
            case Instant():
                return moment(value.value * unit_ns(self.table))
            case str():
                return literal(value)
            case _:
                return format(Decimal(repr(value)), "f")


def plan(query: Query, bucket: str) -> PlannedQuery:
    """Return the query as Flux, with InfluxQL where Flux cannot; Unsupported if neither can."""
    match query:
        case AggregateQuery() if not query.selection.compared:
            return chunks.plan_aggregates(query, [*_aggregates(query, bucket)])
        case NewestQuery(table=table) if not query.selection.compared:
            columns = [table.column(name) for name in query.columns]
            if any(c.type is Type.TEXT and c.role is not Role.TAG for c in columns):
                return influxql.plan(query, bucket)
            newest, step = influxql.newest(query), _newest(query, columns, bucket)
            return PlannedQuery.of(query, [step], lambda: NewestPoints(query, newest()))
        case _:
            return influxql.plan(query, bucket)


def literal(text: str) -> str:
    """Return a text in quotes; escape ${, which would begin an expression."""
    for letter, escaped in _ESCAPES.items():
        text = text.replace(letter, escaped)
    return f'"{text}"'


_ESCAPES = {"\\": "\\\\", '"': '\\"', "${": "\\${", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def moment(instant_ns: int) -> str:
    """Return an instant with nanoseconds, which a datetime of Python does not have."""
    seconds, fraction = divmod(instant_ns, SECOND_NS)
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"


def _read(query: AggregateQuery | NewestQuery, bucket: str, conditions: Iterable[str]) -> str:
    """Return the first steps of a pipeline, which read the table."""
    since, until = influxql.limits_ns(query)
    begin, end = _FIRST_NS if since is None else since, _END_NS if until is None else until
    measurements = [f"r._measurement == {literal(name)}" for name in query.table.names]
    tags = (
        [f"r[{literal(one.column)}] == {literal(value)}" for value in one.values]
        for one in query.selection.one_of
    )
    every = [_any(measurements), *conditions, *map(_any, tags)]
    return (
        f"from(bucket: {literal(bucket)}) |> range(start: {moment(begin)}, stop: {moment(end)})"
        f" |> filter(fn: (r) => {' and '.join(every)})"
    )


def _any(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"


def _field(name: str) -> str:
    return f"r._field == {literal(name)}"


def _subquery(read: Read, steps: Sequence[str], name: str) -> Subquery:
    text = " |> ".join((*steps, f"yield(name: {literal(name)})"))
    return Subquery(text, read, Language.FLUX, name)


# --- aggregates ----------------------------------------------------------------------------------


def _aggregates(query: AggregateQuery, bucket: str) -> Iterator[Subquery]:
    table, every = query.table, marker(query.table)
    source = influxql.source_of(table, bucket)

    def read(*conditions: str) -> str:
        return _read(query, bucket, conditions)

    for partial in influxql.partials_of_fields(query, mean=True):
        function = "mean" if partial.function is Function.AVG else partial.function
        steps = [read(_field(partial.column or every)), *_total(query, function)]
        yield _subquery(chunks.partials_read(query, [partial]), steps, label(partial))
    yield from _ends(query, bucket)
    columns = influxql.list_aggregated(query)
    for column in columns:
        if column.role is Role.TIME:
            yield from _times(query, column, read(_field(every)), source)
        elif column.type is Type.BOOL and column.role is not Role.TAG:
            true = Partial(Function.SUM, column.name)
            steps = [read(_field(column.name), "r._value == true"), *_total(query, "count")]
            yield _subquery(chunks.partials_read(query, [true]), steps, label(true))
        elif influxql.needs_texts(query, column):
            yield influxql.values(query, column, source)
    tags = [column for column in columns if column.role is Role.TAG]
    if tags:
        by = [*dict.fromkeys((*query.by, *(tag.name for tag in tags)))]
        steps = [read(_field(every)), *_total(query, "count", by)]
        yield _subquery(chunks.series_read(query, tags), steps, ROWS)


def _total(query: AggregateQuery, function: str, tags: Sequence[str] | None = None) -> list[str]:
    """Return the steps that aggregate by tags (the query's own by default) and by buckets."""
    by = query.by if tags is None else tags
    groups = f"group(columns: [{', '.join(map(literal, by))}])" if by else "group()"
    if query.bucket is None:
        return [groups, f"{function}()"]
    window = f"every: {query.bucket * unit_ns(query.table)}ns, fn: {function}"
    steps = [groups, f'aggregateWindow({window}, createEmpty: false, timeSrc: "_start")']
    if function in (Function.MIN, Function.MAX):
        # min and max keep all columns of a row, and fail where series have different tags.
        kept = map(literal, ("_start", "_stop", "_time", "_value", *by))
        steps.insert(1, f"keep(columns: [{', '.join(kept)}])")
    if query.newest is not None:
        steps += ['sort(columns: ["_time"], desc: true)', f"limit(n: {query.newest})"]
    return steps


def _ends(query: AggregateQuery, bucket: str) -> Iterator[Subquery]:
    """Yield the statements for the first and last values of each series."""
    table = query.table
    for end in influxql.ends_of(query):
        column = table.column(str(end.column))
        if column.role is Role.TAG or column.type is Type.TEXT:
            yield influxql.first_or_last(query, end, influxql.source_of(table, bucket))
            continue
        name = marker(table) if column.role is Role.TIME else column.name
        steps = [_read(query, bucket, [_field(name)]), *_windows(query), f"{end.function}()"]
        yield _subquery(chunks.ends_read(query, end), steps, label(end))


def _times(query: AggregateQuery, column: Column, read: str, source: str) -> Iterator[Subquery]:
    """Yield the statements for the first and last time of each series, or for all times."""
    if influxql.is_summed(query, column):  # Flux is ten times slower than InfluxQL here
        yield influxql.values(query, column, source)
        return
    for function, called in ((Function.MIN, "first"), (Function.MAX, "last")):
        if Aggregate(function, column.name) in query.aggregates:
            extreme = Partial(function, column.name)
            values = chunks.values_read(query, column, [function])
            yield _subquery(values, [read, *_windows(query), f"{called}()"], label(extreme))


def _windows(query: AggregateQuery) -> list[str]:
    return [f"window(every: {query.bucket * unit_ns(query.table)}ns)"] if query.bucket else []


# --- the newest rows -----------------------------------------------------------------------------


def _newest(query: NewestQuery, columns: Sequence[Column], bucket: str) -> Subquery:
    """Return the subquery for the newest value of each field of each series."""
    fields = [c for c in columns if c.role not in (Role.TIME, Role.TAG)]
    names = [column.name for column in fields]
    if all(column.nullable for column in fields):
        names.append(marker(query.table))
    read = _read(query, bucket, [_any([*map(_field, names)])])
    return _subquery(chunks.points_read(query.table), [read, "last()"], NEWEST)


# --- answers -------------------------------------------------------------------------------------


def read_chunks(lines: Iterable[str]) -> Iterator[tuple[str, Chunk]]:
    """Yield the chunks of an answer in CSV with data types, each with the name of its yield."""
    kinds: list[str] = []
    names: list[str] = []
    rows: list[list[str]] = []
    for row in csv.reader(lines):
        if not row:  # between two tables of different columns
            continue
        if row[0] == "#datatype":
            yield from _chunk(kinds, names, rows)
            kinds, names, rows = row[1:], [], []
        elif not names:
            names = row[1:]
        else:
            if names[:2] == ["error", "reference"]:
                raise QueryFailed(row[1])
            if len(rows) == CHUNK_ROWS or (rows and rows[-1][0] != row[1]):
                yield from _chunk(kinds, names, rows)
                rows = []
            rows.append(row[1:])
    yield from _chunk(kinds, names, rows)


def _chunk(
    kinds: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[tuple[str, Chunk]]:
    """Yield a chunk of rows of one yield, if there are any; `_value` gets the yield's name."""
    if not rows:
        return
    result = rows[0][0]
    renamed = {"_value": result, "_time": TIME}
    cells = zip(*rows, strict=True)
    columns = {
        renamed.get(name, name): _type(kind, column)
        for place, (kind, name, column) in enumerate(zip(kinds, names, cells, strict=True))
        if place >= 2  # behind the yield's name and the table's number
    }
    yield result, Chunk(len(rows), columns)


def _type(kind: str, cells: Sequence[str]) -> Sequence[Any]:
    convert = _CONVERT.get(kind.partition(":")[0])
    if convert is None:
        return cells
    return [convert(cell) if cell else None for cell in cells]


def nanoseconds(text: str) -> int:
    """Return an instant as the server prints it, with its decimals."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    since = datetime.fromisoformat(seconds + "+00:00") - _EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND_NS + int(fraction.ljust(9, "0"))


_CONVERT: dict[str, Callable[[str], Any]] = {
    "long": int,
    "unsignedLong": int,
    "double": float,
    "boolean": lambda cell: cell == "true",
    "dateTime": nanoseconds,
}

# --- query plans

EXPLAIN = "EXPLAIN"
PROFILED = 'import "profiler"\noption profiler.enabledProfilers = ["query"]\n'
"""Text before a statement in Flux that adds a table about the statement to the answer."""
_PLAN = "flux/query-plan"
"""Column of that table."""
STAMPS = re.compile(r"_(\d+)\b")
"""Numbers that Flux gives to the nodes of a plan."""


def plan_of_flux(lines: Iterable[str]) -> str:
    """Return the plan in the answer to a profiled statement."""
    for _, chunk in read_chunks(lines):
        if _PLAN in chunk.columns:
            return str(chunk[_PLAN][0])
    raise QueryFailed("the answer has no table of the profiler")
