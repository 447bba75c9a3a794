"""Aggregates of rows from rollups: one number for each group of points of one field.

Databases of metrics aggregate one field at a time, in doubles. `rollups` returns the numbers to
request, `combine` merges the answers, and `doubtful` returns the columns for which doubles may not
be precise enough.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias, assert_never

from simulator.data.features import Feature
from simulator.data.query import (
    ENDS,
    EVERYTHING,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Selection,
)
from simulator.data.schema import FLOAT64_EXACT, FLOATS, Column, Role, Table, Type
from simulator.modules.contract import Unsupported
from simulator.modules.shared.client.partials import ROWS, Key, Partial, PartialGroups
from simulator.modules.shared.metrics.points import PointSeries, fields, find_counted

COUNT_ROWS = (Aggregate(Function.COUNT),)
ROWS_APART = {
    Feature.COMPARISONS: "a point has one number, and nothing joins it with the points of its row",
    Feature.SUBQUERIES: "the client computes the answer from several of the server's series",
}
"""Queries that no database of metrics can answer."""
NO_TIME_SUMS = "the server adds up no times, and the client would have to fetch every point"


@dataclass(frozen=True, slots=True)
class Rollup:
    """A number that the database computes from one field's points, for each group of `by`."""

    column: str
    function: Function
    by: tuple[str, ...] = ()


RolledUp: TypeAlias = Iterable[tuple[Rollup, Key, Any]]
"""A database's answer: numbers by group; a group has one for each series and table."""


def rollups(query: AggregateQuery) -> list[Rollup]:
    """Return the rollups that answer a query; Unsupported if none do."""
    table = query.table
    rows = Rollup(_find_count_column(table).name, Function.COUNT, query.by)
    wanted: list[Rollup] = []
    for aggregate in query.aggregates:
        wanted += _choose_rollups(query, aggregate, rows)
    # A group exists even if all its values are NULL, so that it has no points of these fields.
    exist = any(not table.column(rollup.column).nullable for rollup in wanted)
    if not wanted or ((query.by or query.bucket) and not exist):
        wanted.append(rows)
    return list(dict.fromkeys(wanted))


def _find_count_column(table: Table) -> Column:
    column = find_counted(table)
    if column is None:
        raise Unsupported(f"{table.name} has no numeric field without NULLs, to count rows by")
    return column


def _choose_rollups(query: AggregateQuery, aggregate: Aggregate, rows: Rollup) -> list[Rollup]:
    function = aggregate.function
    column = query.table.column(aggregate.column) if aggregate.column else None
    if column is None or (function is Function.COUNT and not column.nullable):
        return [rows]
    if column.role in (Role.TIME, Role.TAG):
        is_count = column.role is Role.TAG and function is Function.COUNT
        if not is_count and function not in (Function.MIN, Function.MAX):
            raise Unsupported(f"a {column.role} is not a number and has no {function}")
        if column.role is Role.TAG:
            return [Rollup(rows.column, Function.COUNT, (*query.by, column.name))]
        span = Selection(since=query.selection.since, until=query.selection.until)
        if query != AggregateQuery(query.table, query.aggregates, selection=span):
            raise Unsupported("the first and the last time are known of all series together only")
        return [rows]
    return _choose_field_rollups(query, column, function, rows)


def _choose_field_rollups(
    query: AggregateQuery, column: Column, function: Function, rows: Rollup
) -> list[Rollup]:
    if column.type is Type.TEXT:
        raise Unsupported("text fields cannot be stored")
    if function in ENDS:  # for each series; a group may have several
        return [Rollup(column.name, function, tuple(tag.name for tag in query.table.tags))]
    functions = [function]
    if function in (Function.AVG, Function.SUM):
        functions = [Function.SUM, Function.COUNT]
        if column.type not in FLOATS:  # the extremes show whether doubles can hold the sum
            functions += [Function.MIN, Function.MAX]
    # `combine` adds up all counts, so columns without NULLs share the count of rows.
    shared = () if column.nullable else (Function.COUNT,)
    return [rows if each in shared else Rollup(column.name, each, query.by) for each in functions]


def by_hour(
    table: Table, by: tuple[str, ...] = (), selection: Selection = EVERYTHING
) -> AggregateQuery:
    """Return the query that counts the rows of each hour that a selection touches."""
    hour = 3600 * table.time_unit.per_second
    since, until = selection.since, selection.until
    hours = replace(
        selection,
        since=None if since is None else since // hour * hour,
        until=None if until is None else -(-until // hour) * hour,
    )
    return AggregateQuery(table, COUNT_ROWS, by=by, bucket=hour, selection=hours)


def newest_rollups(query: NewestQuery) -> list[Rollup]:
    """Return the rollups that are the newest rows; [] for NULLs, or several series in a group."""
    table = query.table
    columns = [table.column(name) for name in query.columns]
    one_series = {tag.name for tag in table.tags} == {*query.tags} and table.parts == 1
    if not one_series or any(c.nullable or c not in fields(table) for c in columns):
        return []
    return [Rollup(column.name, Function.LAST, query.tags) for column in columns]


def of_newest(query: NewestQuery) -> AggregateQuery:
    """Return the query for the groups of a query for newest rows."""
    return AggregateQuery(query.table, (), by=query.tags, selection=query.selection)


def is_key(query: DistinctQuery) -> bool:
    """Return whether the columns identify a row, as all tags and the time do."""
    identity = {c.name for c in query.table.columns if c.role in (Role.TAG, Role.TIME)}
    return identity <= set(query.columns)


def combinations(query: DistinctQuery) -> AggregateQuery | None:
    """Return the query for the groups to count if a query has only tags, else None."""
    if not {*query.columns} <= {tag.name for tag in query.table.tags}:
        return None
    return AggregateQuery(query.table, COUNT_ROWS, by=query.columns)


def plan(
    query: AggregateQuery | NewestQuery | DistinctQuery, *, unique: bool = True
) -> tuple[AggregateQuery, list[Rollup]]:
    """Return the rollups that a statement requests, and the query that they answer.

    Some queries need more: a session then reads the points of the hours with rows. `unique` is true
    if the database keeps one point for each series and instant.
    """
    match query:
        case AggregateQuery():
            asked = query
        case NewestQuery(table=table):
            if last := newest_rollups(query):
                return of_newest(query), last
            asked = by_hour(table, query.tags, query.selection)
        case DistinctQuery(table=table):
            groups = combinations(query)
            if groups is None and table.time.name not in query.columns:
                raise Unsupported("only combinations of tags, or with the time, can be counted")
            keys = unique and is_key(query)
            asked = groups or (AggregateQuery(table, COUNT_ROWS) if keys else by_hour(table))
        case _:
            assert_never(query)
    return asked, rollups(asked)


@dataclass(frozen=True, slots=True)
class RollupPiece:
    """A part of an aggregate query: whole buckets, or a part of one bucket."""

    query: AggregateQuery
    bucket: tuple[int, ...] = ()
    """The start of the bucket that contains the range, if the query has no buckets."""


def pieces(query: AggregateQuery) -> list[RollupPiece]:
    """Return the whole buckets of a query's range, and the parts of buckets at its ends.

    The pieces suit databases with instants in milliseconds.
    """
    bucket = query.bucket
    if bucket is None:
        return [RollupPiece(query)]
    finest = max(query.table.time_unit.per_second // 1000, 1)
    since = _round_up(query.selection.since, finest)
    until = _round_up(query.selection.until, finest)
    first = _round_up(since, bucket)
    last = until if until is None else until // bucket * bucket
    found = []
    if first is None or last is None or first < last:
        whole = replace(query.selection, since=first, until=last)
        found.append(RollupPiece(replace(query, selection=whole)))
    cut = [(since, first), (last, until)]
    if first is not None and last is not None and first > last:
        cut = [(since, until)]
    for begin, end in cut:
        if begin is not None and end is not None and begin < end:
            within = replace(query.selection, since=begin, until=end)
            part = replace(query, bucket=None, newest=None, selection=within)
            found.append(RollupPiece(part, (begin // bucket * bucket,)))
    return found


def _round_up(instant: int | None, step: int) -> int | None:
    return None if instant is None else -(-instant // step) * step


_BETWEEN = "\n\n"
"""Separator between the statements of pieces."""


def in_pieces(query: AggregateQuery, statement: Callable[[AggregateQuery], str]) -> str:
    """Return the statements of a query's pieces as one."""
    return _BETWEEN.join(statement(piece.query) for piece in pieces(query))


def of_pieces(
    text: str, query: AggregateQuery, rolled_up: Callable[[str, AggregateQuery], RolledUp]
) -> RolledUp:
    """Run a statement made by `in_pieces`; yield the rollups of all pieces."""
    for piece, own in with_pieces(text, query):
        for rollup, key, value in rolled_up(own, piece.query):
            yield rollup, (*key, *piece.bucket), value


def with_pieces(text: str, query: AggregateQuery) -> Iterator[tuple[RollupPiece, str]]:
    """Yield each piece of a query with its statement."""
    found = pieces(query)
    yield from zip(found, text.split(_BETWEEN)[: len(found)], strict=True)


class Combined(PartialGroups):
    """Groups that are merged from rollups."""

    def __init__(self, query: AggregateQuery) -> None:
        super().__init__(query)
        self.undecided: set[str] = set()
        """The columns with first or last values in several series of a group; only the points show
        which of the values is the group's."""


def combine(query: AggregateQuery, found: RolledUp) -> Combined:
    """Return the query's groups, merged from rollups."""
    groups = Combined(query)
    tags = [tag.name for tag in query.table.tags]
    places = [*map(tags.index, query.by)]
    for rollup, key, value in found:
        if rollup.function in ENDS:
            group = tuple(key[place] for place in places) + key[len(tags) :]
            if groups.has(group, end := Partial(rollup.function, rollup.column)):
                groups.undecided.add(rollup.column)
            groups.merge(group, end, (0, value))
        elif rollup.by == query.by:
            groups.merge(key, *partial_of(query.table, rollup, value))
        else:
            _merge_tag(groups, rollup, key, int(value))
    return groups


def partial_of(table: Table, rollup: Rollup, value: Any) -> tuple[Partial, Any]:
    """Return the partial aggregate of a rollup, with its value."""
    function, column = rollup.function, table.column(rollup.column)
    if function is Function.COUNT:
        counted = ROWS if column == find_counted(table) else Partial(function, column.name)
        return counted, int(value)
    if function is Function.SUM and column.type not in FLOATS:
        value = int(value)
    return Partial(function, column.name), value


def _merge_tag(groups: PartialGroups, rollup: Rollup, key: Key, count: int) -> None:
    """Merge the number of rows with a value of a tag, which follows the group's tags in the key."""
    place = len(groups.query.by)
    group, value = key[:place] + key[place + 1 :], key[place]
    groups.mention([group])
    if value is not None:
        tag = rollup.by[place]
        groups.merge(group, Partial(Function.COUNT, tag), count)
        groups.merge(group, Partial(Function.MIN, tag), value)
        groups.merge(group, Partial(Function.MAX, tag), value)


def doubtful(groups: Combined) -> list[Column]:
    """Return the columns with aggregates that need the points.

    These are integers beyond the exact range of doubles, and undecided first and last values.
    """
    sums = groups.find_exceeding(FLOAT64_EXACT)
    return [
        column
        for column in fields(groups.query.table)
        if column.name in groups.undecided
        or (column.type not in FLOATS and (column.name in sums or _has_large(groups, column)))
    ]


def _has_large(groups: PartialGroups, column: Column) -> bool:
    extremes = (Partial(function, column.name) for function in (Function.MIN, Function.MAX))
    values = [value for extreme in extremes for value in groups.values(extreme)]
    ends = (Partial(function, column.name) for function in ENDS)
    values += [value for end in ends for _, value in groups.values(end)]
    return any(abs(value) >= FLOAT64_EXACT for value in values)


def merge_points(groups: PartialGroups, column: Column, found: Iterable[PointSeries]) -> None:
    """Add the aggregates of a column, computed from its points."""
    query, table = groups.query, groups.query.table
    places = {tag.name: place for place, tag in enumerate(table.tags)}
    pairs: dict[Key, list[tuple[int | Decimal, Any]]] = defaultdict(list)
    for series in found:
        tags = tuple(series.tags[places[tag]] for tag in query.by)
        for instant, value in series.points:
            bucket = () if not query.bucket else (instant // query.bucket * query.bucket,)
            pairs[*tags, *bucket].append((instant, value))
    functions = [Function.SUM, Function.MIN, Function.MAX]
    if column != find_counted(table):  # its count is the count of rows, which is kept
        functions.append(Function.COUNT)
    for key, members in pairs.items():
        values = [value for _, value in members]
        for function in functions:
            groups.merge_values(key, Partial(function, column.name), values)
        for function in ENDS:
            groups.merge_values(key, Partial(function, column.name), members)
