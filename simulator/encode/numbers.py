"""Doubles and instants formatted as text."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import orjson
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.digits import digits, table
from simulator.data.octets import literal, octets, side_by_side, view_items
from simulator.data.schema import TimeUnit

_DAY_S = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days 0001-01-01 and 9999-12-31: the years with four digits, which every database supports."""


@dataclass(frozen=True, slots=True)
class Iso:
    """The notation of an instant in UTC, such as 2026-11-21 03:45:00.123+00."""

    quote: bytes = b""
    middle: bytes = b" "
    zone: bytes = b"+00"
    decimals: int = 6
    """Number of decimals; further ones are truncated, as databases round differently."""


def microseconds(instants: NDArray[np.int64], unit: TimeUnit) -> NDArray[np.int64]:
    """Return instants in microseconds; nanoseconds are truncated towards the past."""
    if unit is TimeUnit.NANOSECOND:
        return instants // 1000
    return instants * (10**6 // unit.per_second)


def iso(values: NDArray[np.int64], unit: TimeUnit, style: Iso) -> list[Array]:
    """Return instants as texts of one length; ValueError if one is outside the years 1 to 9999."""
    decimals = min(len(str(unit.per_second)) - 1, style.decimals)
    values = values // (unit.per_second // 10**decimals)
    seconds = values // 10**decimals
    days = seconds // _DAY_S
    arrays = [
        *([literal(style.quote)] if style.quote else []),
        _format_dates(days),
        literal(style.middle),
        _list_times().take(seconds - days * _DAY_S),
    ]
    if decimals:
        fractions = (values - seconds * 10**decimals).view(np.uint64)
        arrays += [literal(b"."), *digits(fractions, decimals)]
    end = style.zone + style.quote
    return [*arrays, literal(end)] if end else arrays


def _format_dates(days: NDArray[np.int64]) -> Array:
    """Return dates such as 2026-11-21. Few are formatted: a block usually has few dates."""
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
def _list_times() -> Array:
    """Return every second of a day as hh:mm:ss, which takes 0.7 MB."""
    colon = literal(b":")
    second = np.arange(_DAY_S)
    hours, minutes, seconds = second // 3600, second // 60 % 60, second % 60
    two = table(2)
    arrays = [two.take(hours), colon, two.take(minutes), colon, two.take(seconds)]
    return side_by_side(arrays, _DAY_S)


_LONGEST = -2.2250738585072014e-308
"""The double with the longest text.

It is appended to an array, so that all texts can be read at full width."""
_LEAST, _BOUND = 1e-4, 1e16
"""Bounds between which the repr of a double has no exponent."""


def doubles(values: Array) -> Array:
    """Return doubles as texts; a single is written as the double with the same value.

    Texts are padded to one length by trailing zeros, or by NUL if any text has an exponent.
    """
    wide = np.append(values.astype(np.float64), _LONGEST)
    sizes = np.abs(wide[:-1])
    plain = (sizes >= _LEAST) & (sizes < _BOUND) | (sizes == 0)
    if plain.all():
        return _format(wide, b"0")
    others = np.array([repr(value) for value in wide[:-1][~plain].tolist()], np.bytes_)
    wide[:-1][~plain] = 0
    texts = _format(wide, b"\0")
    texts = texts.astype(f"S{max(texts.dtype.itemsize, others.dtype.itemsize)}")
    texts[~plain] = others
    return texts


def _format(wide: NDArray[np.float64], padding: bytes) -> Array:
    """Return the texts of all values but the last, which is the longest, as items of one width."""
    content = np.frombuffer(orjson.dumps(wide, option=orjson.OPT_SERIALIZE_NUMPY), np.uint8)
    ends = np.flatnonzero(content == ord(","))
    starts = np.concatenate(([0], ends))[:-1] + 1
    lengths = ends - starts
    width = int(lengths.max(initial=1))
    items = view_items(content, width)[starts]
    if lengths.min(initial=width) < width:
        used, unused = _make_masks(width, padding)
        letters = octets(items).reshape(-1)
        letters &= octets(used.take(lengths)).reshape(-1)
        letters |= octets(unused.take(lengths)).reshape(-1)
    texts: Array = items.view(f"S{width}")
    return texts


@cache
def _make_masks(width: int, padding: bytes) -> tuple[Array, Array]:
    """Return masks for each length: one keeps as many bytes of an item, the other has padding."""
    kept = np.arange(width) < np.arange(width + 1)[:, None]
    used = np.where(kept, 0xFF, 0).astype(np.uint8)
    unused = np.where(kept, 0, ord(padding)).astype(np.uint8)
    return used.view(f"V{width}")[:, 0], unused.view(f"V{width}")[:, 0]
