"""Rows as points: databases of metrics store a point for each field of a row, at its time.

A point has one number, and tags that are text. A NULL has no point; rows are counted by a field
that is never NULL.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from simulator.data.query import Selection
from simulator.data.schema import INTEGERS, Column, Role, Table, Type


def fields(table: Table) -> tuple[Column, ...]:
    """Return the columns that become points."""
    return tuple(c for c in table.columns if c.role not in (Role.TAG, Role.TIME))


def find_counted(table: Table) -> Column | None:
    """Return a field without NULLs; the number of its points is the number of rows."""
    return next((c for c in fields(table) if not c.nullable and c.type is not Type.TEXT), None)


def tag_value(column: Column, text: str) -> Any:
    """Return a tag's value from the stored text."""
    return int(text) if column.type in INTEGERS else text


@dataclass(frozen=True, slots=True)
class PointSeries:
    """The points of one field with one combination of tags."""

    column: str
    tags: tuple[Any, ...]
    """Tags in the table's order."""
    points: Iterable[tuple[int | Decimal, Any]]
    """Pairs of an instant, in the table's unit, and a value."""


def rows_from_series(table: Table, found: Iterable[PointSeries]) -> list[list[Any]]:
    """Return the rows that points form: points with the same tags and time form one row.

    If a series repeats an instant, its n-th point there belongs to the n-th row.
    """
    places = {column.name: place for place, column in enumerate(table.columns)}
    tags, time = [places[tag.name] for tag in table.tags], places[table.time.name]
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for series in found:
        place, before, again = places[series.column], None, 0
        for instant, value in series.points:
            again = again + 1 if instant == before else 0
            before = instant
            key = (series.tags, instant, again)
            row = rows.get(key)
            if row is None:
                row = rows[key] = [None] * len(places)
                row[time] = instant
                for tag, text in zip(tags, series.tags, strict=True):
                    row[tag] = text
            row[place] = value
    return list(rows.values())


def within(selection: Selection, since: int, until: int) -> Selection:
    """Return a selection, restricted to a span of time."""
    begins = since if selection.since is None else max(since, selection.since)
    ends = until if selection.until is None else min(until, selection.until)
    return replace(selection, since=begins, until=ends)


def windows(
    counts: Iterable[tuple[int, int]], width: int, rows: int, finest: int
) -> Iterator[tuple[int, int]]:
    """Yield half-open spans of time with about `rows` rows each.

    `counts` lists the buckets of `width` in ascending order: start, number of rows. No span is
    shorter than `finest`.
    """
    begin, end, together = 0, 0, 0
    for start, count in counts:
        if together and together + count > rows:
            yield begin, end
            together = 0
        if not together:
            begin = start
        end, together = start + width, together + count
        if count > rows:
            pieces = min(-(-count // rows), width // finest)
            edges = [start + width * piece // pieces // finest * finest for piece in range(pieces)]
            yield from zip(edges, [*edges[1:], end], strict=True)
            together = 0
    if together:
        yield begin, end
