"""Instants in microseconds, and as ISO 8601 text from tables of days, seconds and digits."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.digits import digits, table
from simulator.data.octets import literal, side_by_side
from simulator.data.schema import TimeUnit

_DAY_S = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31: the range of four digits, which every database supports."""


@dataclass(frozen=True, slots=True)
class Iso:
    """The notation of an instant in UTC, such as 2026-11-21 03:45:00.123+00."""

    quote: bytes = b""
    middle: bytes = b" "
    zone: bytes = b"+00"
    decimals: int = 6
    """Finer fractions are truncated (towards the past), because databases round differently."""


def microseconds(instants: NDArray[np.int64], unit: TimeUnit) -> NDArray[np.int64]:
    """Return instants in microseconds; nanoseconds are truncated, towards the past."""
    if unit is TimeUnit.NANOSECOND:
        return instants // 1000
    return instants * (10**6 // unit.per_second)


def iso(values: NDArray[np.int64], unit: TimeUnit, style: Iso) -> list[Array]:
    """Return instants as text of one length; ValueError if one is outside of years 1 to 9999."""
    decimals = min(len(str(unit.per_second)) - 1, style.decimals)
    values = values // (unit.per_second // 10**decimals)
    seconds = values // 10**decimals
    days = seconds // _DAY_S
    arrays = [
        *([literal(style.quote)] if style.quote else []),
        _dates(days),
        literal(style.middle),
        _times().take(seconds - days * _DAY_S),
    ]
    if decimals:
        fractions = (values - seconds * 10**decimals).view(np.uint64)
        arrays += [literal(b"."), *digits(fractions, decimals)]
    end = style.zone + style.quote
    return [*arrays, literal(end)] if end else arrays


def _dates(days: NDArray[np.int64]) -> Array:
    """Return dates such as 2026-11-21; the rows of a block usually share a few days."""
    first, last = int(days.min()), int(days.max())
    if first < _FIRST_DAY or last > _LAST_DAY:
        raise ValueError(
            f"expected instants in years 1 to 9999, found day {first} to day {last} from 1970"
        )
    if last - first < len(days):
        return _render(np.arange(first, last + 1)).take(days - first)
    return _render(days)


def _render(days: NDArray[np.int64]) -> Array:
    return np.datetime_as_string(days.astype("datetime64[D]")).astype("S10").view("V10")


@cache
def _times() -> Array:
    """Return every second of a day as hh:mm:ss; 0.7 MB."""
    colon = literal(b":")
    second = np.arange(_DAY_S)
    hours, minutes, seconds = second // 3600, second // 60 % 60, second % 60
    two = table(2)
    arrays = [two.take(hours), colon, two.take(minutes), colon, two.take(seconds)]
    return side_by_side(arrays, _DAY_S)
