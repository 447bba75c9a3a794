"""Rows in databases that hold metrics: a row is a point for each of its fields, at its time.

A point has one number and tags that are text. A NULL is a point that is not there, and all rows
are counted by a field that is never NULL. The databases aggregate points in doubles; `parts` says
which partial aggregates answer a query, and `assembled` puts them together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.batch import Array, Batch, ColumnData, Values
from simulator.encode.levels import Rendered
from simulator.errors import UnstorableError
from simulator.modules.base import Unsupported
from simulator.query import Aggregate, AggregateQuery, Function
from simulator.schema import FLOATS, INTEGERS, Column, Role, Table, Type

EXACT = 2**53
"""Doubles hold every integer up to this."""

Key: TypeAlias = tuple[Any, ...]
"""What an aggregate is of: the tags it is grouped by, and the start of a time bucket."""


def fields(table: Table) -> tuple[Column, ...]:
    """Return the columns that become points."""
    return tuple(c for c in table.columns if c.role not in (Role.TAG, Role.TIME))


def counted(table: Table) -> Column | None:
    """Return the field whose points are as many as there are rows."""
    return next((c for c in fields(table) if not c.nullable and c.type is not Type.TEXT), None)


def tag_value(column: Column, text: str) -> Any:
    """Return a tag's value, which the database has as text."""
    return int(text) if column.type in INTEGERS else text


# --- what can be stored --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """What a database can hold."""

    product: str
    letters: str | None
    """What names and tags may be made of; None: of everything."""
    large_integers: bool
    """Whether integers beyond 2**53 come back as they were."""
    more_in_tags: str
    """What else may stand in a tag's value."""
    told: str
    """Both in words."""
    finer: str
    """What to try with times that are finer."""
    null_tags: bool = False
    """Whether a tag may be NULL."""
    longest_tag: int | None = None
    """How many bytes a tag may have."""


class Checked:
    """The rows of one table, as far as a database can hold them; UnstorableError if it cannot."""

    def __init__(self, limits: Limits, table: Table, name: str, per_second: int) -> None:
        """Check what does not depend on the rows; `per_second` is the unit of `times`."""
        self._limits, self._table, self._per_second = limits, table, per_second
        _check_names(limits, table, name)
        _check_columns(limits, table)
        wrong = Rendered(self._wrong_tag)
        self._checks: list[tuple[Column, Callable[[ColumnData], str]]] = []
        for column in table.tags:
            if not limits.null_tags:
                self._checks.append((column, _null))
            if column.type is Type.TEXT:
                self._checks.append((column, _of_levels(wrong)))
        for column in fields(table):
            if column.type in FLOATS:
                self._checks.append((column, _not_finite))
            elif column.type in (Type.INT64, Type.TIMESTAMP) and not limits.large_integers:
                self._checks.append((column, self._too_large))

    def times(self, block: Batch) -> NDArray[np.int64]:
        """Return the rows' times, and see that all of the block can be stored."""
        for column, check in self._checks:
            problem = check(block.data[column.name])
            if problem:
                _refuse(column, problem)
        return self._times(block)

    def _times(self, block: Batch) -> NDArray[np.int64]:
        column, unit = self._table.time, self._table.time_unit
        values: NDArray[np.int64] = block.data[column.name].values()
        if unit.per_second <= self._per_second:
            return values * (self._per_second // unit.per_second)
        factor = unit.per_second // self._per_second
        times = values // factor
        if (times * factor != values).any():
            odd = int(values[times * factor != values][0])
            smallest = {1: "second", 1000: "millisecond"}[self._per_second]
            _refuse(
                column,
                f"{odd} {unit} is not a whole {smallest}, and {self._limits.product} tells no "
                f"finer times apart; {self._limits.finer}",
            )
        return times

    def _wrong_tag(self, texts: Array) -> str:
        product, letters, longest = (
            self._limits.product,
            self._limits.letters,
            self._limits.longest_tag,
        )
        if letters is not None:
            known = (letters + self._limits.more_in_tags).encode() + b"\0"
            if np.ascontiguousarray(texts).tobytes().translate(None, known):
                odd = next(text for text in texts.tolist() if text.translate(None, known))
                shown = odd.decode(errors="replace")
                return f"{shown!r} cannot be a tag of {product}: only {self._limits.told}"
        if len(texts) and not np.strings.str_len(texts).all():
            return f"a tag of {product} cannot be an empty text"
        if longest is not None and texts.dtype.itemsize > longest:
            return f"a tag of {product} cannot be longer than {longest} bytes"
        return ""

    def _too_large(self, data: ColumnData) -> str:
        values = _present(data)
        beyond = (values > EXACT) | (values < -EXACT)
        if not beyond.any():
            return ""
        return (
            f"{int(values[beyond][0])} is beyond 2**53, and {self._limits.product} holds "
            "doubles, which cannot tell such integers apart"
        )


def _check_names(limits: Limits, table: Table, name: str) -> None:
    for thing, called in (("table", name), *(("column", c.name) for c in table.columns)):
        if not called or (limits.letters is not None and called.strip(limits.letters)):
            raise UnstorableError(
                f"{thing} {called!r}: names in {limits.product} are made of {limits.told}"
            )


def _check_columns(limits: Limits, table: Table) -> None:
    for column in fields(table):
        if column.type is Type.TEXT:
            _refuse(column, "is text, and a point is a number; make it a tag")
    for column in table.tags:
        if column.type not in {Type.TEXT, *INTEGERS}:
            _refuse(column, f"is {column.type}, and a tag is text or an integer")
    if counted(table) is None:
        raise UnstorableError(
            f"{table.name}: {limits.product} needs a field that is never NULL, to count rows by"
        )


def _refuse(column: Column, problem: str) -> None:
    raise UnstorableError(f"column {column.name}: {problem}")


def _present(data: ColumnData) -> Array:
    values = data.values()
    return values if data.valid is None else values[data.valid]


def _null(data: ColumnData) -> str:
    return "a tag cannot be NULL" if data.valid is not None and not data.valid.all() else ""


def _not_finite(data: ColumnData) -> str:
    return "" if np.isfinite(_present(data)).all() else "cannot be infinite or NaN"


def _of_levels(wrong: Rendered[str]) -> Callable[[ColumnData], str]:
    """Return a check of tags that looks at the levels of a coded column only once."""

    def check(data: ColumnData) -> str:
        return wrong(_present(data) if isinstance(data, Values) else data.levels)

    return check


# --- what can be asked ---------------------------------------------------------------------------


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
    if any(abs(value) >= EXACT for ends in (least, most) for value in ends.values()):
        return True
    return any(counts[key] * max(abs(least[key]), abs(most[key])) > EXACT for key in sums)


def aggregated(
    query: AggregateQuery, column: Column, found: Iterable["Series"]
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


# --- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one field with one set of tags."""

    column: str
    tags: tuple[Any, ...]
    """In the order of the table's tags."""
    points: Iterable[tuple[int, Any]]
    """(instant in the table's unit, value)."""


def rows_of(table: Table, found: Iterable[Series]) -> list[list[Any]]:
    """Return the rows that points were made of: those that agree in tags and time are one.

    Where a series has several points of an instant, one after the other, they are of several rows.
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


def windows(
    counts: Iterable[tuple[int, int]], width: int, rows: int, finest: int
) -> Iterator[tuple[int, int]]:
    """Yield spans of time, half open, with about `rows` rows each.

    `counts` are the rows of each bucket of `width`, by its start, rising; no span is shorter than
    `finest`.
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
