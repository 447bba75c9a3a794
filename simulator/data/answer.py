"""Answers in canonical form, so that `==` compares them with the truth.

`answer` converts the rows that a driver returns.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from simulator.data.query import Output
from simulator.data.schema import TimeUnit, Type


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in canonical form: int, float, str, bool or None; rows sorted."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def answer(columns: Sequence[Output], raw: Iterable[Sequence[Any]]) -> Answer:
    """Return the canonical answer made of raw driver rows.

    Raises ValueError if a row does not have these columns, or a value not the type of its column.
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
    """Return a value in canonical form (see Answer); raises ValueError if it has no such form."""
    if value is None:
        return None
    try:
        return _convert(column, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{column.name}: expected {column.type}, got {value!r}") from error


def _convert(column: Output, value: Any) -> Any:
    match column.type:
        case Type.INT16 | Type.INT32 | Type.INT64:
            return _expect_whole(value) if column.ticks == 1 else _count_units(value, column)
        case Type.FLOAT32:
            return _expect_finite(float(np.float32(value) if column.shortened else value))
        case Type.FLOAT64:
            return _expect_finite(float(value))
        case Type.BOOL:
            if value not in (0, 1):
                raise ValueError("neither true nor false")
            return bool(value)
        case Type.TEXT:
            return value.decode() if isinstance(value, bytes) else str(value)
        case Type.TIMESTAMP:
            return _count_units(value, column)
        case _:
            assert_never(column.type)


def _expect_finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def _expect_whole(value: Any) -> int:
    number = int(value)
    if number != value:
        raise ValueError("not a whole number")
    return number


def _count_units(value: Any, column: Output) -> int | float:
    """Return a time in the table's unit, as a float if it lies between two whole units."""
    if isinstance(value, datetime):
        found = instant(value, column.unit)
    elif column.ticks == 1 and isinstance(value, int):
        return value
    else:
        found = Fraction(value) / column.ticks
    if found.denominator == 1:
        return int(found)
    near = float(found)
    return near if not near.is_integer() else near + 0.5


def in_units(ticks: int, ticks_per_unit: int) -> int | Decimal:
    """Return a time in a coarser unit, exactly."""
    units, rest = divmod(ticks, ticks_per_unit)
    return Decimal(ticks) / ticks_per_unit if rest else units


def instant(value: datetime, unit: TimeUnit) -> Fraction:
    """Return a datetime as an exact number of units since 1970; without a zone, it is in UTC."""
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    microseconds = (aware - _EPOCH) // timedelta(microseconds=1)
    return Fraction(microseconds * unit.per_second, 10**6)
