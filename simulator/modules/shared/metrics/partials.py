"""Answers put together from partial aggregates: those that a database makes of one field's points.

Databases of metrics aggregate in doubles. `parts` says which partial aggregates answer a query,
`assembled` puts them together, and `doubtful` says where doubles may not have been enough.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.schema import FLOAT64_EXACT, FLOATS, Column, Role, Table, Type
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.points import Series, counted

Key: TypeAlias = tuple[Any, ...]
"""What an aggregate is of: the tags it is grouped by, and the start of a time bucket."""


@dataclass(frozen=True, slots=True)
class Part:
    """A partial aggregate of one field's points."""

    column: str
    function: str
    """count, sum, min, max or last."""
    by: tuple[str, ...] = ()


Found: TypeAlias = Mapping[Part, Mapping[Key, Any]]


def parts(query: AggregateQuery) -> list[Part]:
    """Return the partial aggregates that answer a query; Unsupported if none do."""
    table = query.table
    rows = Part(_counted(table).name, "count", query.by)
    wanted: list[Part] = []
    for aggregate in query.aggregates:
        wanted += _parts_of(query, aggregate, rows)
    # A group whose values are all NULL is one all the same.
    if (query.by or query.bucket) and all(table.column(p.column).nullable for p in wanted):
        wanted.append(rows)
    return list(dict.fromkeys(wanted))


def _counted(table: Table) -> Column:
    column = counted(table)
    if column is None:
        raise Unsupported(f"{table.name} has no number that is never NULL, to count rows by")
    return column


def _parts_of(query: AggregateQuery, aggregate: Aggregate, rows: Part) -> list[Part]:
    function = aggregate.function
    column = query.table.column(aggregate.column) if aggregate.column else None
    if column is None or (function is Function.COUNT and not column.nullable):
        return [rows]
    if column.role in (Role.TIME, Role.TAG):
        counted = column.role is Role.TAG and function is Function.COUNT
        if not counted and function not in (Function.MIN, Function.MAX):
            raise Unsupported(f"a {column.role} is no value, and cannot be added up")
        if column.role is Role.TAG:
            return [Part(rows.column, "count", (*query.by, column.name))]
        if query != AggregateQuery(query.table, query.aggregates):
            raise Unsupported("the first and the last time can be told of all rows only")
        return [rows]
    if column.type is Type.TEXT:
        raise Unsupported("a text cannot be stored")
    functions = [function.value]
    if function in (Function.AVG, Function.SUM):
        # The extremes tell whether doubles could hold an integer sum.
        functions = ["sum", "count", *(() if column.type in FLOATS else ("min", "max"))]
    return [Part(column.name, name, query.by) for name in functions]


def assembled(
    query: AggregateQuery, found: Found, extent: tuple[int, int] | None
) -> list[tuple[Any, ...]]:
    """Return the answer made of partial aggregates; `extent` is the first and the last time."""
    grouped = bool(query.by) or query.bucket is not None
    groups: set[Key] = set() if grouped else {()}
    for part, values in found.items():
        if grouped and part.by == query.by:
            groups.update(values)
    answers = _Answers(query, found, extent)
    return [(*key, *(answers.value(a, key) for a in query.aggregates)) for key in groups]


@dataclass(frozen=True, slots=True)
class _Answers:
    query: AggregateQuery
    found: Found
    extent: tuple[int, int] | None

    def value(self, aggregate: Aggregate, key: Key) -> Any:
        """Return one aggregate of one group."""
        query, function = self.query, aggregate.function
        column = query.table.column(aggregate.column) if aggregate.column else None
        if column is None or (function is Function.COUNT and not column.nullable):
            rows = _counted(query.table)
            return int(self._part(rows, "count", key) or 0)
        if column.role is Role.TIME:
            if self.extent is None:
                return None
            return self.extent[0 if function is Function.MIN else 1]
        if column.role is Role.TAG:
            return self._tag(column, function, key)
        match function:
            case Function.COUNT:
                return int(self._part(column, "count", key) or 0)
            case Function.SUM:
                return self._sum(column, key)
            case Function.AVG:
                total = self._sum(column, key)
                return None if total is None else total / int(self._part(column, "count", key))
            case _:
                return self._part(column, function.value, key)

    def _part(self, column: Column, function: str, key: Key) -> Any:
        return self.found[Part(column.name, function, self.query.by)].get(key)

    def _sum(self, column: Column, key: Key) -> Any:
        total = self._part(column, "sum", key)
        if total is None or column.type in FLOATS:
            return total
        return int(total)

    def _tag(self, column: Column, function: Function, key: Key) -> Any:
        part = Part(_counted(self.query.table).name, "count", (*self.query.by, column.name))
        place = len(self.query.by)
        known = {
            k[place]: count
            for k, count in self.found[part].items()
            if k[:place] + k[place + 1 :] == key and k[place] is not None
        }
        if function is Function.COUNT:
            return int(sum(known.values()))
        order = str.encode if column.type is Type.TEXT else None
        choose = min if function is Function.MIN else max
        return choose(known, key=order, default=None)


def doubtful(query: AggregateQuery, found: Found) -> list[Column]:
    """Return the integer columns whose aggregates may be more than doubles can tell."""
    columns = {p.column: query.table.column(p.column) for p in found if p.by == query.by}
    return [c for c in columns.values() if c.type not in FLOATS and _exceeds(query, c, found)]


def _exceeds(query: AggregateQuery, column: Column, found: Found) -> bool:
    least, most, counts, sums = (
        found.get(Part(column.name, function, query.by), {})
        for function in ("min", "max", "count", "sum")
    )
    if any(abs(value) >= FLOAT64_EXACT for ends in (least, most) for value in ends.values()):
        return True
    return any(counts[key] * max(abs(least[key]), abs(most[key])) > FLOAT64_EXACT for key in sums)


def aggregated(
    query: AggregateQuery, column: Column, found: Iterable[Series]
) -> dict[Part, dict[Key, Any]]:
    """Return the aggregates of a column, made of its points."""
    table = query.table
    places = {tag.name: place for place, tag in enumerate(table.tags)}
    pairs: list[tuple[Key, Any]] = []
    for series in found:
        if any(series.tags[places[tag]] != value for tag, value in query.where):
            continue
        tags = tuple(series.tags[places[tag]] for tag in query.by)
        for instant, value in series.points:
            if query.since is not None and instant < query.since:
                continue
            if query.until is not None and instant >= query.until:
                continue
            bucket = () if not query.bucket else (instant // query.bucket * query.bucket,)
            pairs.append(((*tags, *bucket), value))
    counted = [(key, 1) for key, _ in pairs]
    return {
        Part(column.name, function, query.by): merged(
            function, counted if function == "count" else pairs
        )
        for function in ("count", "sum", "min", "max")
    }


def merged(function: str, values: Iterable[tuple[Key, Any]]) -> dict[Key, Any]:
    """Return partial aggregates of several series, or of a table's physical parts, as one each."""
    out: dict[Key, Any] = {}
    for key, value in values:
        if key not in out:
            out[key] = value
        elif function in ("count", "sum"):
            out[key] += value
        else:
            out[key] = (min if function == "min" else max)(out[key], value)
    return out
