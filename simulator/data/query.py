"""Logical queries, independent of any database's language.

A module renders a query into a Statement. A Session runs it and returns raw driver rows. `answer`
converts those into a canonical Answer, which compares with == to the truth.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias, assert_never

import numpy as np

from simulator.data.schema import FLOATS, Table, TimeUnit, Type


class Function(StrEnum):
    """An aggregate function. It ignores NULLs, as in SQL."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One output of an AggregateQuery; a count without a column counts rows."""

    function: Function
    column: str | None = None

    @property
    def label(self) -> str:
        """The output's name."""
        return f"{self.function}_{self.column}" if self.column else self.function.value


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    """Aggregates of the rows that match, in total or by tags and time bucket.

    The answer's columns: the `by` tags, then the bucket's start ("bucket", int64 in the table's
    time unit) if there is one, then the aggregates.
    """

    table: Table
    aggregates: tuple[Aggregate, ...]
    by: tuple[str, ...] = ()
    bucket: int | None = None
    """Width of a time bucket in the table's time unit; a bucket starts at a multiple of it."""
    where: tuple[tuple[str, str], ...] = ()
    """(text tag, value): only rows that have all these values."""
    since: int | None = None
    until: int | None = None
    """Half-open range of time in the table's time unit."""


@dataclass(frozen=True, slots=True)
class NewestQuery:
    """The newest row of each value of a tag: the tag, then the named columns."""

    table: Table
    tag: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DistinctQuery:
    """The number of distinct combinations of these columns."""

    table: Table
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """Every row and column of `table`, in any order."""

    table: Table


Query: TypeAlias = AggregateQuery | NewestQuery | DistinctQuery | RowsQuery


@dataclass(frozen=True, slots=True)
class Output:
    """A column of an answer."""

    name: str
    type: Type
    unit: TimeUnit


def outputs(query: Query) -> tuple[Output, ...]:
    """Return the names and types of the answer's columns."""
    unit = query.table.time_unit
    typed: list[tuple[str, Type]] = []
    match query:
        case AggregateQuery():
            typed = [(tag, query.table.column(tag).type) for tag in query.by]
            if query.bucket is not None:
                typed.append(("bucket", Type.INT64))
            typed += [(a.label, _aggregate_type(query.table, a)) for a in query.aggregates]
        case NewestQuery():
            typed = [(c, query.table.column(c).type) for c in (query.tag, *query.columns)]
        case DistinctQuery():
            typed = [("count", Type.INT64)]
        case RowsQuery():
            typed = [(c.name, c.type) for c in query.table.columns]
        case _:
            assert_never(query)
    return tuple(Output(name, column_type, unit) for name, column_type in typed)


def _aggregate_type(table: Table, aggregate: Aggregate) -> Type:
    if aggregate.function is Function.COUNT or aggregate.column is None:
        return Type.INT64
    column_type = table.column(aggregate.column).type
    if aggregate.function is Function.AVG:
        return Type.FLOAT64
    if aggregate.function is Function.SUM:
        return Type.FLOAT64 if column_type in FLOATS else Type.INT64
    return Type.INT64 if column_type is Type.BOOL else column_type


@dataclass(frozen=True, slots=True)
class Statement:
    """A query in the language of one database."""

    text: str
    outputs: tuple[Output, ...]
    parameters: tuple[Any, ...] = ()
    tuned: bool = False
    """The text comes from config.yaml, not from the module."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in canonical form: int, float, str, bool or None; rows sorted."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def answer(columns: Sequence[Output], raw: Iterable[Sequence[Any]]) -> Answer:
    """Return the canonical answer made of raw driver rows.

    Raises ValueError if a row has a different number of columns or a value of a different type.
    """
    names = tuple(column.name for column in columns)
    rows: list[tuple[Any, ...]] = []
    for row in raw:
        if len(row) != len(columns):
            msg = f"expected {len(columns)} columns ({', '.join(names)}), got {len(row)}"
            raise ValueError(msg)
        rows.append(tuple(canonical(c, v) for c, v in zip(columns, row, strict=True)))
    rows.sort(key=lambda row: tuple((value is not None, value) for value in row))
    return Answer(names, tuple(rows))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def canonical(column: Output, value: Any) -> Any:
    """Return one value in canonical form (see Answer); ValueError if it cannot be one."""
    if value is None:
        return None
    try:
        return _converted(column, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{column.name}: expected {column.type}, got {value!r}") from error


def _converted(column: Output, value: Any) -> Any:
    match column.type:
        case Type.INT16 | Type.INT32 | Type.INT64:
            return _whole(value)
        case Type.FLOAT32:
            return _finite(float(np.float32(value)))
        case Type.FLOAT64:
            return _finite(float(value))
        case Type.BOOL:
            if value not in (0, 1):
                raise ValueError("neither true nor false")
            return bool(value)
        case Type.TEXT:
            return value.decode() if isinstance(value, bytes) else str(value)
        case Type.TIMESTAMP:
            return _instant(value, column.unit)
        case _:
            assert_never(column.type)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def _whole(value: Any) -> int:
    number = int(value)
    if number != value:
        raise ValueError("not a whole number")
    return number


def _instant(value: Any, unit: TimeUnit) -> int:
    if not isinstance(value, datetime):
        return _whole(value)
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    microseconds = (aware - _EPOCH) // timedelta(microseconds=1)
    return microseconds * unit.per_second // 10**6
