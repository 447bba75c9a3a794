"""Queries as targets of /render, and their replies as rollups.

A statement is a span of time, such as `from=-86400s until=now`, and below it a line per target.
The paths of a table's points start with PREFIX TABLE.GENERATION; the session inserts the number.
The server returns one number for each series, or for each bucket of a series (`summarize`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.data.query import (
    AggregateQuery,
    Function,
    OneOf,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Column, Table
from simulator.modules.contract import Unsupported
from simulator.modules.graphite.wire import ESCAPED, STORED
from simulator.modules.shared.metrics.points import PointSeries, fields, tag_value
from simulator.modules.shared.metrics.rollups import RolledUp, Rollup, plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
GENERATION = "GENERATION"
"""Placeholder in a statement for the number of times that the table was created."""
CREATED, DROPPED = "created", "dropped"


def path(prefix: str, table: str, generation: int | str, *nodes: str) -> str:
    """Return the path of a series, or a pattern of paths."""
    return ".".join((f"{prefix}{table}", str(generation), *nodes))


def marker(prefix: str, table: str, kind: str, generation: int | str) -> str:
    """Return the path that marks a generation as created, or as dropped."""
    return f"{prefix}{table}.{kind}.{generation}"


def render(prefix: str, retention_s: int, query: Query) -> Statement:
    """Return a query as a statement."""
    table = query.table
    if isinstance(query, RowsQuery):
        selection, columns = query.selection, fields(table)
        targets = [
            target
            for name in table.names
            for target in series_targets(prefix, table, name, columns, selection.one_of)
        ]
    else:
        asked, wanted = plan(query)
        selection = asked.selection
        targets = [
            _target(prefix, retention_s, asked, name, rollup)
            for name in table.names
            for rollup in select_known(wanted)
        ]
    span = span_of(table, retention_s, selection)
    return Statement("\n".join([span, *targets]), outputs(query), (query,))


def select_known(wanted: Iterable[Rollup]) -> list[Rollup]:
    """Return the rollups that the server knows; `summarize` has no first value."""
    return [rollup for rollup in wanted if rollup.function is not Function.FIRST]


def series_targets(
    prefix: str,
    table: Table,
    name: str,
    columns: Sequence[Column],
    one_of: Iterable[OneOf] = (),
) -> list[str]:
    """Return the targets for the points of some fields."""
    tags = _select_nodes(table, one_of)
    return [path(prefix, name, GENERATION, *tags, column.name) for column in columns]


def _select_nodes(table: Table, one_of: Iterable[OneOf]) -> list[str]:
    """Return the nodes of a path that select series by their tags."""
    known = {each.column: each.values for each in one_of}
    for value in (value for values in known.values() for value in values):
        if value.strip(LETTERS + ESCAPED):
            raise Unsupported(f"no tag can be {value!r}")
    wanted = (known.get(tag.name, ("*",)) for tag in table.tags)
    nodes = [values[0] if len(values) == 1 else f"{{{','.join(values)}}}" for values in wanted]
    return [node.translate(str.maketrans(ESCAPED, STORED)) for node in nodes]


def span_of(table: Table, retention_s: int, selection: Selection) -> str:
    """Return a half-open span in Graphite's form, which begins a second earlier."""
    since, until = selection.since, selection.until
    begin = f"-{retention_s}s" if since is None else str(_round_up(since, table) - 1)
    end = "now" if until is None else str(_round_up(until, table) - 1)
    return f"from={begin} until={end}"


def _round_up(instant: int, table: Table) -> int:
    return -(-instant // table.time_unit.per_second)


def _target(prefix: str, retention_s: int, query: AggregateQuery, name: str, rollup: Rollup) -> str:
    tags = _select_nodes(query.table, query.selection.one_of)
    series = path(prefix, name, GENERATION, *tags, rollup.column)
    if query.bucket is None:
        # A single bucket, which begins with the span and is wider than the retention.
        return f'summarize({series},"{2 * retention_s}s","{rollup.function}",true)'
    width, odd = divmod(query.bucket, query.table.time_unit.per_second)
    if odd:
        raise Unsupported("a bucket must be of whole seconds")
    return f'summarize({series},"{width}s","{rollup.function}")'


# --- replies -------------------------------------------------------------------------------------


def roll_up(
    prefix: str, query: AggregateQuery, wanted: Sequence[Rollup], reply: Iterable[tuple[int, Any]]
) -> RolledUp:
    """Yield the rollups of a reply with items (number of the target, series)."""
    wanted = select_known(wanted)
    second = query.table.time_unit.per_second
    for number, item in reply:
        rollup = wanted[number % len(wanted)]
        tags = tags_of(prefix, query.table, item)
        key = tuple(tags[tag] for tag in rollup.by)
        for value, instant in item["datapoints"]:
            bucket = () if query.bucket is None else (instant * second,)
            yield rollup, (*key, *bucket), value


def series(
    prefix: str, table: Table, columns: Sequence[Column], reply: Iterable[tuple[int, Any]]
) -> Iterator[PointSeries]:
    """Yield a reply's points."""
    second = table.time_unit.per_second
    for number, item in reply:
        column = columns[number % len(columns)]
        tags = tuple(tags_of(prefix, table, item).values())
        points = ((instant * second, value) for value, instant in item["datapoints"])
        yield PointSeries(column.name, tags, points)


def tags_of(prefix: str, table: Table, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags of a series, which are the nodes between generation and field."""
    nodes = str(item["tags"]["name"]).removeprefix(prefix).split(".")[2:-1]
    values = (node.translate(str.maketrans(STORED, ESCAPED)) for node in nodes)
    return {tag.name: tag_value(tag, value) for tag, value in zip(table.tags, values, strict=True)}
