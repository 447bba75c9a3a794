"""Tables that a user declares without code: columns, distributions and cardinalities.

Row n of a table belongs to series n mod `series`; its time is n div `series` intervals after the
start. In a table with a skew, each row draws its series, and rows are evenly spread over time. A
value is a pure function of seed, column and row: 64 random bits either are scaled or choose one of
up to 65,536 quantiles of the distribution.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.choice import Choose, Skew, choice
from simulator.data.mixer import below, draw, fractions, key_of
from simulator.data.query import NewestQuery, OneOf, Query, Selection, count_rows
from simulator.data.query_type import QueryType
from simulator.data.schema import (
    FLOATS,
    INTEGERS,
    Column,
    Role,
    Table,
    TimeUnit,
    Type,
    dtype_of,
    usual_indices,
)
from simulator.data.walks import Precision
from simulator.data.workloads.base import Params, Workload
from simulator.data.workloads.shared.windows import ASKED_FIELDS, field_queries
from simulator.frozen import Frozen

MOST_VALUES = 1 << 16
"""Maximum number of different values in a column that draws from a list of values."""
MOST_SERIES = 10**7
_QUANTILES = 1 << 12
_FINEST, _LARGEST = 2.0**-20, 2.0**20
"""Finest step and largest value with which the sum of 2**13 times 10**6 values is exact."""
_PER_SERIES, _OF_ONE = "-per-series", "-of-one-series"
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", np.uint8)

Listed: TypeAlias = str | int | float


class DrawnColumn(Frozen):
    """A column, and how its values are drawn."""

    name: str
    type: Type
    role: Role
    how: Literal["series", "numbered", "values", "uniform", "normal", "exponential", "bool", "text"]
    """Kind of drawing; `series`: one value per series; `numbered`: one of `count` names."""
    pattern: str = "{}"
    """Pattern of names: {} is the number."""
    count: int = 0
    """Number of names, or of different texts."""
    values: tuple[Listed, ...] = ()
    weights: tuple[float, ...] = ()
    """Relative frequencies of the values; none: all are equally frequent, or `skew` decides."""
    skew: Skew | None = None
    low: float = 0.0
    """Lower bound of `uniform`; mean of `normal` and `exponential`; share of true; least length."""
    high: float = 0.0
    """Upper bound of `uniform`, exclusive for fractions; deviation of `normal`; most letters."""
    step: float = 0.0
    """Step that divides all numbers; 0: numbers are not rounded."""
    nulls: float = 0.0
    """Share of rows in which the column is NULL."""


class DeclaredTable(Frozen):
    """A table of a number of series."""

    name: str
    time: str
    series: int
    interval_ms: int
    columns: tuple[DrawnColumn, ...]
    skew: Skew | None = None
    """Law by which each row draws its series; None: each series has a row in every interval."""


class DeclaredParams(Params):
    """The tables, and the length of time of the data."""

    duration_ms: int
    tables: tuple[DeclaredTable, ...]

    @property
    def digest(self) -> str:
        """Digest that distinguishes files with the same name in results."""
        return hashlib.sha256(self.model_dump_json(exclude_none=True).encode()).hexdigest()[:12]


class Declared(Workload):
    """Tables that a file declares (`--workload FILE.yaml`)."""

    name = "declared"
    version = 1
    params_model = DeclaredParams
    has_end = True
    params: DeclaredParams

    def __init__(self, params: DeclaredParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._declared = {each.name: each for each in params.tables}
        self.tables = tuple(map(_make_table, params.tables))
        self._drawing = lru_cache(maxsize=None)(self._make_drawing)
        self._choosing = lru_cache(maxsize=None)(self._make_choice)

    @property
    def precision(self) -> Precision | None:
        """GRID if all numbers with a fraction are multiples of a step; None: no such numbers."""
        drawn = [each for t in self.params.tables for each in t.columns if each.type in FLOATS]
        if not drawn:
            return None
        has_steps = all(each.step or each.values for each in drawn)
        return Precision.GRID if has_steps else Precision.FULL

    def size(self, table: Table) -> int:
        return self._count_rows(self._declared[table.name])

    def _count_rows(self, declared: DeclaredTable) -> int:
        duration_ms = self.params.duration_ms
        if declared.skew:
            return -(-duration_ms * declared.series // declared.interval_ms)
        return declared.series * -(-duration_ms // declared.interval_ms)

    def _make_choice(self, table: str, name: str) -> Choose:
        """Return the choice of a series for each row of a table; `name` seeds the choice."""
        declared = self._declared[table]
        key, rows = key_of(self.seed, name), self._count_rows(declared)
        return choice(key, declared.series, skew=declared.skew, rows=rows)

    def series(self, table: Table) -> int:
        declared = self._declared[table.name]
        return 0 if declared.skew else declared.series

    def last_ms(self, rows: int) -> int:
        return self.start_ms + self.params.duration_ms

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        declared = self._declared[table.name]
        if declared.skew:
            series = self._choosing(table.name, table.name)(rows)
            times = rows * declared.interval_ms // declared.series
        else:
            ticks, series = np.divmod(rows, declared.series)
            times = ticks * declared.interval_ms
        found: dict[str, ColumnData] = {}
        for column in table.columns:
            if column.role is Role.TIME:
                found[column.name] = Values(times + self.start_ms)
            else:
                found[column.name] = self._drawing(table.name, column.name)(rows, series)
        return found

    def _make_drawing(self, table: str, column: str) -> Callable[[Rows, Rows], ColumnData]:
        """Return the function that draws a column, given the numbers of rows and their series."""
        declared = self._declared[table]
        one = next(each for each in declared.columns if each.name == column)
        key = key_of(self.seed, f"{table}.{column}")
        if one.role is Role.TAG:
            return _make_tag_drawing(one, key, declared.series)
        drawing = _make_field_drawing(one, key, self._count_rows(declared))
        null_key = key_of(self.seed, f"{table}.{column}.null")

        def draw_some(rows: Rows, series: Rows) -> ColumnData:
            data = drawing(rows, series)
            valid = fractions(draw(null_key, rows)) >= one.nulls
            if isinstance(data, Coded):
                return Coded(data.codes, data.levels, valid)
            assert isinstance(data, Values)
            return Values(data.array, valid)

        return draw_some if one.nulls else drawing

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return queries that fit any table.

        If there are several tables, the name of a query begins with the name of its table.
        """
        found: dict[str, Query] = {}
        for table in tables:
            begin = f"{table.base}-" if len(tables) > 1 else ""
            found |= {f"{begin}{name}": query for name, query in _list_queries(table).items()}
        return found

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return queries about the newest row of a random series, as skewed as the rows."""
        found: dict[str, QueryType] = {}
        for name, query in self.queries(tables).items():
            if isinstance(query, NewestQuery):
                one = f"{name.removesuffix(_PER_SERIES)}{_OF_ONE}"
                found[one] = self._ask_one(one, query)
        return found

    def _ask_one(self, name: str, query: NewestQuery) -> QueryType:
        """Return the type about one series; instance 0 asks about the series of the last row."""
        declared = self._declared[query.table.base]
        one = next(each for each in declared.columns if each.how == "series")
        rows = self._count_rows(declared)

        def instance(number: int) -> Query:
            row = np.array([(rows - 1 - number) % rows])
            chosen = self._choosing(declared.name, name)(row)
            (found,) = _format_names(one.pattern, chosen, declared.series).tolist()
            return replace(query, selection=Selection((OneOf(one.name, (found.decode(),)),)))

        return QueryType(instance)


def _make_table(declared: DeclaredTable) -> Table:
    time = Column(declared.time, Type.TIMESTAMP, Role.TIME)
    columns = (time, *map(_make_column, declared.columns))
    names = [each.name for each in declared.columns if each.how == "series"]
    return Table(
        declared.name,
        columns,
        key=(*names, declared.time),
        time_unit=TimeUnit.MILLISECOND,
        indices=usual_indices(columns),
        distinct_times=declared.series == 1 or declared.skew is not None,
    )


def _make_column(one: DrawnColumn) -> Column:
    ends = np.abs(_make_levels(one)) if one.type in FLOATS and one.how != "uniform" else None
    largest = max(abs(one.low), abs(one.high)) if ends is None else float(ends.max(initial=0))
    on_grid = bool(one.step) and one.step % _FINEST == 0 and largest <= _LARGEST
    return Column(
        one.name,
        one.type,
        one.role,
        nullable=one.nulls > 0,
        exact=one.type not in FLOATS or on_grid,
        max_characters=_find_longest(one) if one.type is Type.TEXT else None,
    )


def _find_longest(one: DrawnColumn) -> int | None:
    match one.how:
        case "text":
            return int(one.high)
        case "values":
            return max(len(str(value)) for value in one.values)
        case _:
            return None


def _make_tag_drawing(
    one: DrawnColumn, key: int, series: int
) -> Callable[[Rows, Rows], ColumnData]:
    if one.how == "series":
        levels = _format_names(one.pattern, np.arange(series), series)
        return lambda _, numbers: Coded(numbers, levels)
    levels = _make_levels(one)
    of_series = choice(key, len(levels), one.weights, one.skew)(np.arange(series))
    return lambda _, numbers: Coded(of_series[numbers], levels)


def _make_field_drawing(
    one: DrawnColumn, key: int, rows: int
) -> Callable[[Rows, Rows], ColumnData]:
    if one.how == "bool":
        return lambda rows, _: Values(fractions(draw(key, rows)) < one.low)
    if one.how == "uniform" and one.type in INTEGERS:
        bound, dtype = int(one.high) - int(one.low) + 1, dtype_of(one.type)
        return lambda rows, _: Values((below(key, rows, bound) + int(one.low)).astype(dtype))
    if one.how == "uniform" and (not one.step or (one.high - one.low) / one.step > MOST_VALUES):
        width, dtype = one.high - one.low, dtype_of(one.type)
        return lambda rows, _: Values((fractions(draw(key, rows)) * width + one.low).astype(dtype))
    levels = _make_levels(one)
    choose = choice(key, len(levels), one.weights, one.skew, rows)
    return lambda rows, _: Coded(choose(rows), levels)


def _make_levels(one: DrawnColumn) -> Array:
    """Return the different values of a column, each as frequent as its weight."""
    if one.how == "numbered":
        return _format_names(one.pattern, np.arange(one.count), one.count)
    if one.how == "text":
        return _draw_texts(one)
    if one.how == "values":
        texts = one.type is Type.TEXT
        return np.array([str(v).encode() if texts else v for v in one.values], dtype_of(one.type))
    shares = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    found: NDArray[Any]
    if one.how == "normal":
        unit = NormalDist()
        found = one.low + one.high * np.array([unit.inv_cdf(share) for share in shares.tolist()])
    elif one.how == "exponential":
        found = -one.low * np.log1p(-shares)
    else:
        found = one.low + np.arange(max(round((one.high - one.low) / one.step), 1)) * one.step
    if one.step and one.how != "uniform":
        found = np.round(found / one.step) * one.step
    if one.type in INTEGERS:
        ends: np.iinfo[Any] = np.iinfo(dtype_of(one.type))
        found = np.clip(np.round(found), ends.min, ends.max)
    return found.astype(dtype_of(one.type))


def _format_names(pattern: str, numbers: Rows, count: int) -> Array:
    """Return the names with these numbers, of `count` names."""
    digits = len(str(count - 1))
    before, _, after = pattern.encode().partition(b"{}")
    padded = np.char.zfill(numbers.astype(f"S{digits}"), digits)
    found: Array = np.char.add(np.char.add(before, padded), after)
    return found


def _draw_texts(one: DrawnColumn) -> Array:
    """Return different texts of random letters, of lengths from `low` to `high`."""
    key, width = key_of(one.count, f"text.{one.name}"), max(int(one.high), 1)
    places = np.arange(one.count * width)
    letters = _LETTERS[below(key, places, len(_LETTERS) - 1)].reshape(one.count, width).copy()
    lengths = below(key ^ 1, np.arange(one.count), int(one.high) - int(one.low) + 1) + int(one.low)
    letters[np.arange(width) >= lengths[:, None]] = 0
    return np.unique(letters.reshape(-1).view(f"S{width}"))


def _list_queries(table: Table) -> Mapping[str, Query]:
    asked: dict[str, Query] = {"count": count_rows(table)}
    numbers = [c.name for c in table.fields if c.type in INTEGERS | FLOATS]
    tags = [tag.name for tag in table.tags]
    groups = [name for name in tags if name not in table.key] or tags
    asked |= field_queries(table, numbers, groups[0] if groups else None)
    series = tuple(name for name in table.key if name != table.time.name)
    if series and numbers:
        asked[f"newest{_PER_SERIES}"] = NewestQuery(table, series, tuple(numbers[:ASKED_FIELDS]))
    return asked
