"""Queries in MetricsQL, and their replies as partial aggregates.

A statement is what one would post: the path with what goes with every request, and below it an
expression a line. The server adds up series by itself, also those of several physical tables; a
span of time is a window behind the instant that is asked for, (time - window, time].
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from simulator.data.query import AggregateQuery, Query, Statement, outputs
from simulator.data.schema import Column, Table
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup
from simulator.modules.shared.metrics.session import plan

TABLE_LABEL = "benchmark_table"
"""A label of every series, so that tables whose names begin alike are told apart."""
LAST_MS = 9_000_000_000_000
"""2255-03-14: the last instant that is asked for; the server's own clock ends in 2262."""

_FUNCTIONS = {"count": "sum", "sum": "sum", "min": "min", "max": "max", "last": "max"}
"""How partial aggregates of series are put together by the server."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANT, _RANGE = "/api/v1/query", "/api/v1/query_range"


def metric(prefix: str, table: str, field: str) -> str:
    """Return the name of a field's metric."""
    return f"{prefix}{table}_{field}"


def ms(table: Table, instant: int) -> int:
    """Return the first millisecond that is not before an instant of the table."""
    return -(-instant * 1000 // table.time_unit.per_second)


def back(table: Table, instant_ms: int) -> int:
    """Return a point's instant in the table's unit."""
    return instant_ms * table.time_unit.per_second // 1000


def iso(instant_ms: int) -> str:
    """Return an instant so that it cannot be taken for another: 1700 may be a year, too."""
    moment = (_EPOCH + timedelta(milliseconds=instant_ms)).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds") + "Z"


# --- statements ----------------------------------------------------------------------------------


def render(prefix: str, query: Query) -> Statement:
    """Return a query as a statement, which carries the query."""
    planned = plan(query, unique=False)
    if planned is None:
        text = f"/api/v1/export\n{selector(prefix, query.table, None)}"
    else:
        text = _aggregates(prefix, *planned)
    return Statement(text, outputs(query), (query,))


def _aggregates(prefix: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> str:
    table = query.table
    if query.bucket is None:
        last = LAST_MS if query.until is None else ms(table, query.until) - 1
        first = 0 if query.since is None else max(ms(table, query.since), 0)
        window = max(last - first + 1, 1)
        head = f"{_INSTANT}?nocache=1&time={iso(max(last, 0))}"
    else:
        window = width_ms(query)
        head = f"{_RANGE}?nocache=1&step={window}ms"
    lines = [expression(prefix, query, rollup, window) for rollup in wanted]
    return "\n".join((head, *lines))


def width_ms(query: AggregateQuery) -> int:
    """Return a bucket's width."""
    table, bucket = query.table, query.bucket or 0
    factor = max(table.time_unit.per_second // 1000, 1)
    if bucket % factor:
        raise Unsupported("a bucket must be of whole milliseconds")
    if any(edge is not None and edge % bucket for edge in (query.since, query.until)):
        raise Unsupported("a range of time must begin and end with a bucket")
    return ms(table, bucket)


def expression(prefix: str, query: AggregateQuery, rollup: Rollup, window_ms: int) -> str:
    """Return the expression of one rollup."""
    chosen = selector(prefix, query.table, [query.table.column(rollup.column)], query.where)
    by = ", ".join(identifier(tag) for tag in rollup.by)
    rolled = f"{rollup.function}_over_time({chosen}[{window_ms}ms])"
    return f"{_FUNCTIONS[rollup.function]}({rolled}){f' by ({by})' if by else ''}"


def selector(
    prefix: str,
    table: Table,
    columns: Sequence[Column] | None,
    where: Iterable[tuple[str, str]] = (),
) -> str:
    """Return what selects the series of some fields, or of all, in every part of a table."""
    names = [prefix + name for name in table.names]
    wanted = [_match(TABLE_LABEL, names)]
    if columns is not None:
        metrics = [metric(prefix, name, c.name) for name in table.names for c in columns]
        wanted.insert(0, _match("__name__", metrics))
    wanted += [f"{identifier(tag)}={_quoted(value)}" for tag, value in where]
    return f"{{{','.join(wanted)}}}"


def _match(label: str, values: Sequence[str]) -> str:
    if len(values) == 1:
        return f"{label}={_quoted(values[0])}"
    return f"{label}=~{_quoted('|'.join(_literally(value) for value in values))}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _literally(text: str) -> str:
    """Return a regular expression of the server's (RE2) that only the text itself matches."""
    return "".join(c if c.isalnum() or c == "_" else f"\\x{{{ord(c):x}}}" for c in text)


def identifier(name: str) -> str:
    """Return the name of a label as MetricsQL reads it: a backslash before what is special."""
    first = f"\\x{ord(name[0]):02x}" if name[0].isascii() and not name[0].isalpha() else ""
    rest = name[1:] if first else name
    escaped = "".join(c if c.isalnum() or c == "_" or not c.isascii() else f"\\{c}" for c in rest)
    return first + escaped


def of_tables(names: Sequence[str]) -> str:
    """Return what selects all series of physical tables, whose names have the prefix."""
    return f"{{{_match(TABLE_LABEL, names)}}}"


def marks(name: str) -> str:
    """Return the expression for how often a table was noted as being there."""
    chosen = f'{{__name__="{TABLE_LABEL}",{_match(TABLE_LABEL, [name])}}}'
    return f"count_over_time({chosen}[{LAST_MS + 1}ms])"


def extent(prefix: str, query: AggregateQuery, rollup: Rollup) -> list[str]:
    """Return the expressions for the first and the last instant with points, in seconds."""
    chosen = selector(prefix, query.table, [query.table.column(rollup.column)], query.where)
    window = f"[{LAST_MS + 1}ms]"
    return [
        f"min(tfirst_over_time({chosen}{window}))",
        f"max(tlast_over_time({chosen}{window}))",
    ]


def distinct(prefix: str, query: AggregateQuery, column: Column) -> str:
    """Return the expression for how many values of a field there are, series by series."""
    chosen = selector(prefix, query.table, [column])
    return f"sum(distinct_over_time({chosen}[{LAST_MS + 1}ms]))"


# --- replies -------------------------------------------------------------------------------------


def rolled_up(
    query: AggregateQuery, rollup: Rollup, result: Iterable[Mapping[str, Any]]
) -> RolledUp:
    """Yield one rollup of each group of a reply."""
    table = query.table
    width = 0 if query.bucket is None else width_ms(query)
    for item in result:
        tags = tuple(_tag(table.column(tag), item["metric"]) for tag in rollup.by)
        if query.bucket is None:
            yield rollup, tags, float(item["value"][1])
            continue
        for instant, value in item["values"]:
            start = round(float(instant) * 1000) + 1 - width
            yield rollup, (*tags, back(table, start)), float(value)


def series(prefix: str, table: Table, exported: Iterable[str]) -> Iterator[Series]:
    """Yield the points of an export, a series a line."""
    columns = {metric(prefix, name, c.name): c.name for name in table.names for c in table.columns}
    for line in exported:
        item = json.loads(line)
        labels = item["metric"]
        tags = tuple(_tag(tag, labels) for tag in table.tags)
        instants = (back(table, instant) for instant in item["timestamps"])
        yield Series(columns[labels["__name__"]], tags, zip(instants, item["values"], strict=True))


def _tag(column: Column, labels: Mapping[str, str]) -> Any:
    text = labels.get(column.name)
    return None if text is None else tag_value(column, text)
