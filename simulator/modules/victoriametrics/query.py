"""Queries in MetricsQL, and their replies as rollups.

A statement is a path with parameters and, below it, a line for each expression. The server merges
series, also of several physical tables. A span of time is the window (time - window,
time] of the queried instant. Buckets that a range of time cuts are separate statements.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.data.query import ENDS, AggregateQuery, OneOf, Query, RowsQuery, Statement, outputs
from simulator.data.schema import Column, Table
from simulator.modules.contract import Unsupported
from simulator.modules.shared.metrics.points import PointSeries, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, in_pieces, plan
from simulator.modules.victoriametrics.wire import (
    LAST_MS,
    TABLE_LABEL,
    back,
    iso,
    metric,
    ms,
    span_ms,
)

_FUNCTIONS = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""The server's functions to merge the rollups of several series."""
_INSTANT, _RANGE = "/api/v1/query", "/api/v1/query_range"


# --- statements ----------------------------------------------------------------------------------


def render(prefix: str, query: Query) -> Statement:
    """Return a query as a statement."""
    if isinstance(query, RowsQuery):
        text = f"/api/v1/export\n{selector(prefix, query.table, None, query.selection.one_of)}"
    else:
        asked, wanted = plan(query, unique=False)
        text = in_pieces(asked, lambda piece: _aggregates(prefix, piece, wanted))
    return Statement(text, outputs(query), (query,))


def _aggregates(prefix: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> str:
    if query.bucket is None:
        head, window = _span(query)
    else:
        window = width_ms(query)
        head = f"{_RANGE}?nocache=1&step={window}ms"
    lines = [expression(prefix, query, rollup, window) for rollup in wanted]
    return "\n".join((head, *lines))


def _span(query: AggregateQuery) -> tuple[str, int]:
    """Return path and parameters for a query's range as one window, and its width in ms."""
    first, last = span_ms(query.table, query.selection)
    if last < first:  # an instant that no point can have
        first = last = LAST_MS + 1
    return f"{_INSTANT}?nocache=1&time={iso(last)}", last - first + 1


def width_ms(query: AggregateQuery) -> int:
    """Return the width of a query's buckets; Unsupported unless it is in whole milliseconds."""
    table, bucket = query.table, query.bucket or 0
    factor = max(table.time_unit.per_second // 1000, 1)
    if bucket % factor:
        raise Unsupported("a bucket must be of whole milliseconds")
    return ms(table, bucket)


def expression(prefix: str, query: AggregateQuery, rollup: Rollup, window_ms: int) -> str:
    """Return the expression of one rollup."""
    chosen = selector(
        prefix, query.table, [query.table.column(rollup.column)], query.selection.one_of
    )
    by = ", ".join(identifier(tag) for tag in rollup.by)
    rolled = f"{rollup.function}_over_time({chosen}[{window_ms}ms])"
    if rollup.function in ENDS:
        return rolled  # of each series, which none of these functions merges
    return f"{_FUNCTIONS[rollup.function]}({rolled}){f' by ({by})' if by else ''}"


def selector(
    prefix: str,
    table: Table,
    columns: Sequence[Column] | None,
    one_of: Iterable[OneOf] = (),
) -> str:
    """Return the selector of the series of fields (None: all) in every part of a table."""
    names = [prefix + name for name in table.names]
    wanted = [_match(TABLE_LABEL, names)]
    if columns is not None:
        metrics = [metric(prefix, name, c.name) for name in table.names for c in columns]
        wanted.insert(0, _match("__name__", metrics))
    wanted += [_match(identifier(each.column), each.values) for each in one_of]
    return f"{{{','.join(wanted)}}}"


def _match(label: str, values: Sequence[str]) -> str:
    if len(values) == 1:
        return f"{label}={_quote(values[0])}"
    return f"{label}=~{_quote('|'.join(_literally(value) for value in values))}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _literally(text: str) -> str:
    """Return a regular expression (RE2) that matches this text only."""
    return "".join(c if c.isalnum() or c == "_" else f"\\x{{{ord(c):x}}}" for c in text)


def identifier(name: str) -> str:
    """Return a label's name for MetricsQL, with special characters escaped."""
    first = f"\\x{ord(name[0]):02x}" if name[0].isascii() and not name[0].isalpha() else ""
    rest = name[1:] if first else name
    escaped = "".join(c if c.isalnum() or c == "_" or not c.isascii() else f"\\{c}" for c in rest)
    return first + escaped


def of_table(name: str, *, ours: bool = True, without: Iterable[str] = ()) -> str:
    """Return the selector of all series of a physical table, given with the prefix.

    Not `ours`: series to which others gave the label. `without`: labels that ours do not have.
    """
    metrics = _quote(f"{TABLE_LABEL}|{_literally(name)}_.*")
    lacking = "".join(f',{identifier(label)}=""' for label in without)
    return f"{{__name__{'=~' if ours else '!~'}{metrics},{_match(TABLE_LABEL, [name])}{lacking}}}"


EVERY_SERIES = '{__name__!=""}'


def of_no_table(metrics: Sequence[str]) -> str:
    """Return the selector of series of others with these metrics, or with any."""
    names = _match("__name__", metrics) if metrics else '__name__!=""'
    return f'{{{names},{TABLE_LABEL}=""}}'


def points(name: str, *, of_table: bool) -> str:
    """Return the expression for the number of points of a table, or of a metric of no table."""
    label = f'{_match(TABLE_LABEL, [name])},__name__!="{TABLE_LABEL}"'
    chosen = f"{{{label}}}" if of_table else of_no_table([name])
    return f"sum(count_over_time({chosen}[{LAST_MS + 1}ms]))"


def mark(name: str) -> str:
    """Return the selector of the series that marks a table as existing."""
    return f'{{__name__="{TABLE_LABEL}",{_match(TABLE_LABEL, [name])}}}'


def marks(name: str) -> str:
    """Return the expression that counts the marks of a table."""
    return f"count_over_time({mark(name)}[{LAST_MS + 1}ms])"


def extent(prefix: str, query: AggregateQuery, rollup: Rollup) -> tuple[str, list[str]]:
    """Return path and expressions for the first and the last instant with points, in seconds."""
    chosen = selector(
        prefix, query.table, [query.table.column(rollup.column)], query.selection.one_of
    )
    head, window = _span(query)
    return head, [
        f"min(tfirst_over_time({chosen}[{window}ms]))",
        f"max(tlast_over_time({chosen}[{window}ms]))",
    ]


def distinct(prefix: str, query: AggregateQuery, column: Column) -> str:
    """Return the expression for the number of distinct values of a field in each series."""
    chosen = selector(prefix, query.table, [column])
    return f"sum(distinct_over_time({chosen}[{LAST_MS + 1}ms]))"


# --- replies -------------------------------------------------------------------------------------


def roll_up(query: AggregateQuery, rollup: Rollup, result: Iterable[Mapping[str, Any]]) -> RolledUp:
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


def series(prefix: str, table: Table, exported: Iterable[str]) -> Iterator[PointSeries]:
    """Yield the points of an export, which has a line for each series."""
    columns = {metric(prefix, name, c.name): c.name for name in table.names for c in table.columns}
    for line in exported:
        item = json.loads(line)
        labels = item["metric"]
        tags = tuple(_tag(tag, labels) for tag in table.tags)
        instants = (back(table, instant) for instant in item["timestamps"])
        yield PointSeries(
            columns[labels["__name__"]], tags, zip(instants, item["values"], strict=True)
        )


def _tag(column: Column, labels: Mapping[str, str]) -> Any:
    text = labels.get(column.name)
    return None if text is None else tag_value(column, text)
