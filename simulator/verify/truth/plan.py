"""Chooses the cubes that answer queries: as few as possible, so that a row is folded once.

Queries that differ only in the values of tags or in their window of time share a cube, which is
also divided by these tags, and at the starts and ends of the windows. A cube also answers queries
with groups that are unions of its groups.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from simulator.data.query import (
    EVERYTHING,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
)
from simulator.data.schema import Role
from simulator.verify.truth.cube import Shape
from simulator.verify.truth.measures import ColumnStatistics, Measure, Newest

CubeQuery: TypeAlias = AggregateQuery | NewestQuery | DistinctQuery


def shape_of(query: CubeQuery) -> Shape:
    """Return the shape of a cube for one query."""
    table = query.table
    match query:
        case AggregateQuery():
            measures = _choose_measures(query)
            return Shape(table, query.by, query.bucket, (), query.selection, measures)
        case NewestQuery():
            newest = Newest(table.time.name, query.columns)
            return Shape(table, query.tags, None, (), query.selection, (newest,))
        case DistinctQuery():
            if query.counts_rows:
                return Shape(table, (), None, (), EVERYTHING, ())
            if not {*query.columns} <= {tag.name for tag in table.tags}:
                raise ValueError(
                    f"{query.columns} does not contain the natural key {table.key}, and has"
                    " columns other than tags"
                )
            return Shape(table, query.columns, None, (), EVERYTHING, ())
    assert_never(query)


def _choose_measures(query: AggregateQuery) -> tuple[Measure, ...]:
    time = "".join(column.name for column in query.table.with_role(Role.TIME))
    return combine(
        ColumnStatistics(
            query.table.column(a.column),
            time,
            _KEPT.get(a.function, (a.function,)),
        )
        for a in query.aggregates
        if a.column is not None
    )


_KEPT = {Function.COUNT: (), Function.AVG: (Function.SUM,)}


def combine(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Join the measures of each subject."""
    found: dict[str, Measure] = {}
    for measure in measures:
        same = found.get(measure.subject)
        found[measure.subject] = measure if same is None else same.join_with(measure)
    return tuple(found.values())


def shapes(queries: Iterable[CubeQuery]) -> tuple[Shape, ...]:
    """Return the shapes of cubes that together answer these queries."""
    forms: dict[tuple[object, ...], dict[Shape, None]] = {}
    for query in queries:
        shape = shape_of(query)
        forms.setdefault(_find_form(shape), {})[shape] = None
    found: list[Shape] = []
    finest_first = sorted(
        (_join([*alike]) for alike in forms.values()),
        key=lambda shape: (-len(shape.by), -len(shape.edges), shape.bucket or math.inf),
    )
    for shape in finest_first:
        for place, finer in enumerate(found):
            if answers(finer, shape):
                measures = combine((*finer.measures, *shape.measures))
                found[place] = replace(finer, measures=measures)
                break
        else:
            found.append(shape)
    return tuple(found)


def _find_form(shape: Shape) -> tuple[object, ...]:
    """Return a key that is equal for shapes that differ only in values of their selections."""
    selection = shape.selection
    tags = tuple(one.column for one in selection.one_of)
    window = selection.since is None, selection.until is None
    return shape.table, shape.by, shape.bucket, tags, selection.compared, window


def _join(alike: Sequence[Shape]) -> Shape:
    selections = [*dict.fromkeys(shape.selection for shape in alike)]
    measures = combine(measure for shape in alike for measure in shape.measures)
    one_of = [_unite(every) for every in zip(*(s.one_of for s in selections), strict=True)]
    varied = [one.column for one in one_of if any(one not in s.one_of for s in selections)]
    first = alike[0]
    common = replace(first.selection, one_of=tuple(one_of))
    edges: list[int] = []
    if len({(s.since, s.until) for s in selections}) > 1:
        edges = sorted({end for s in selections for end in (s.since, s.until) if end is not None})
        since = edges[0] if common.since is not None else None
        until = edges[-1] if common.until is not None else None
        common = replace(common, since=since, until=until)
    by = tuple(dict.fromkeys((*varied, *first.by)))
    return replace(first, by=by, edges=tuple(edges), selection=common, measures=measures)


def _unite(alternatives: Sequence[OneOf]) -> OneOf:
    """Return the condition that one of several conditions on the same tag holds."""
    values = dict.fromkeys(value for one in alternatives for value in one.values)
    return OneOf(alternatives[0].column, tuple(values))


def keeps(cube: Shape, shape: Shape) -> bool:
    """Return whether a cube's groups and measures answer a shape's queries."""
    wanted = combine((*cube.measures, *shape.measures))
    return answers(cube, shape) and wanted == cube.measures


def answers(cube: Shape, shape: Shape) -> bool:
    """Return whether the groups of a shape are groups of a cube, or unions of them."""
    ours, theirs = cube.selection, shape.selection
    return (
        cube.table == shape.table
        and {*cube.by} >= {*shape.by}
        and {*cube.edges} >= {*shape.edges}
        and (shape.bucket is None or (cube.bucket is not None and not shape.bucket % cube.bucket))
        and ours.compared == theirs.compared
        and all(one in ours.one_of or one.column in cube.by for one in theirs.one_of)
        and all(any(_within(one, our) for one in theirs.one_of) for our in ours.one_of)
        and (theirs.since == ours.since or theirs.since in cube.edges)
        and (theirs.until == ours.until or theirs.until in cube.edges)
    )


def _within(one: OneOf, other: OneOf) -> bool:
    return one.column == other.column and {*one.values} <= {*other.values}
