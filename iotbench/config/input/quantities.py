"""Numbers, durations, ranges and instants in the user's notation.

The ValueError of a parser names the expected form.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from reprlib import repr as shorten
from typing import Any

_SCALE = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"([+-]?[\d_.]+(?:[eE][+-]?\d+)?)([kKMG]?)")
_SIZE = re.compile(r"([\d_.]+(?:[eE]\+?\d+)?)([kKMGT]?)(i?)B?")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_MOST_COUNTS = 1000
LARGEST = 2**63 - 1
"""Largest whole number; databases and NumPy use 64 bits."""
LONGEST_S = 366 * 86400.0
"""Longest duration; operating systems and drivers overflow beyond it."""


def parse_number(text: str) -> float:
    """Return a number: 1000, 1_000, 1e3, 10k, 2.5M."""
    match = _NUMBER.fullmatch(text.strip())
    try:
        value = float(match[1]) * _SCALE[match[2]] if match else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number such as 1000, 10k or 1e6, got {shorten(text)}")
    return value


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of the operations in a mixed load; the sum of the shares is 1."""

    insert: float
    query: float


def parse_mix(text: str) -> Mix:
    """Return the shares of inserts and queries, given as insert=80,query=20 or insert=4,query=1."""
    words = [word.partition("=") for word in text.replace(" ", "").split(",")]
    names = [name for name, _, _ in words]
    try:
        shares = {name: parse_number(share) for name, _, share in words}
    except ValueError:
        shares = {}
    if sorted(names) != ["insert", "query"] or not all(each > 0 for each in shares.values()):
        shares = {}
    if not shares:
        raise ValueError(
            f"expected two shares above 0, such as insert=80,query=20, got {shorten(text)}"
        )
    total = sum(shares.values())
    return Mix(shares["insert"] / total, shares["query"] / total)


def parse_share(text: str) -> float:
    """Return a share between 0 and 1, such as 5% or 0.05."""
    word = text.strip()
    try:
        value = parse_number(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1:
        raise ValueError(f"expected a share such as 5% or 0.05, below 100%, got {shorten(text)}")
    return value


def parse_count(text: str) -> int:
    """Return a whole number: 1000, 1_000, 1e3, 10k, 2.5M."""
    try:
        whole = int(text)  # without rounding
    except ValueError:
        try:
            value = parse_number(text)
        except ValueError:
            value = math.nan
        if not value.is_integer():
            raise ValueError(
                f"expected a whole number such as 1000, 10k or 1e6, got {shorten(text)}"
            ) from None
        whole = int(value)
    if abs(whole) > LARGEST:
        raise ValueError(f"expected a whole number up to {LARGEST:,}, got {shorten(text)}")
    return whole


def parse_bytes(text: str) -> int:
    """Return a number of bytes, at least one: 5e9, 180GB, 168GiB, 2TB."""
    match = _SIZE.fullmatch(text.strip())
    try:
        power = " KMGT".index(match[2].upper() or " ") if match else 0
        found = float(match[1]) * (1024 if match[3] else 1000) ** power if match else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not 1 <= found <= LARGEST:
        raise ValueError(f"expected a size such as 180GB, 168GiB or 2TB, got {shorten(text)}")
    return int(found)


def parse_counts(text: str) -> tuple[int, ...]:
    """Return whole numbers and ranges separated by commas: 1,4,8 or 1-4,8."""
    expected = (
        f"expected at most {_MOST_COUNTS:,} whole numbers separated by commas, such as 1,4,8 or"
        f" 1-4, got {shorten(text)}"
    )
    found: list[int] = []
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        try:
            low = parse_count(first if first and dash else word)
            high = parse_count(last) if first and dash else low
        except ValueError as error:
            raise ValueError(expected) from error
        if not 0 <= high - low < _MOST_COUNTS - len(found):
            raise ValueError(expected)
        found += range(low, high + 1)
    return tuple(found)


def parse_names(text: str) -> tuple[str, ...]:
    """Return names separated by commas."""
    names = tuple(word.strip() for word in text.split(","))
    if not all(names):
        raise ValueError(f"expected names separated by commas, got {text!r}")
    return names


def parse_duration_s(text: str) -> float:
    """Return a duration in seconds: 30 or 30s, 500ms, 5m, 1h30m, 2d."""
    word = text.strip()
    parts = _DURATION.findall(word)
    expected = "expected a duration such as 30s, 5m or 1h30m, at most 366d"
    try:
        if parts and "".join(map("".join, parts)) == word:
            value = float(sum(float(value) * _SECONDS[unit] for value, unit in parts))
        else:
            value = parse_number(word)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{expected}, got {shorten(text)}") from error
    if not 0 <= value <= LONGEST_S:
        raise ValueError(f"{expected}, got {shorten(text)}")
    return value


def parse_instant_ms(text: str) -> int:
    """Return an instant in ms since 1970."""
    return round(parse_instant(text).timestamp() * 1000)


def parse_instant(text: str) -> datetime:
    """Return an instant, in UTC unless the text has an offset."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"expected an instant such as 2026-11-01T00:00:00Z, got {shorten(text)}"
        ) from error


def parse_moment(text: str) -> datetime:
    """Return an instant; a duration means that length of time before now."""
    try:
        return datetime.now(UTC) - timedelta(seconds=parse_duration_s(text))
    except ValueError:
        pass
    try:
        return parse_instant(text)
    except ValueError:
        raise ValueError(
            "expected a time ago, such as 7d or 12h, or an instant such as 2026-11-01, got"
            f" {text!r}"
        ) from None


def as_option(name: str, kind: Any, value: Any) -> Any:
    """Return the value of a numeric option as a number, and other values unchanged.

    `kind` is the type of the option. An option with a name that ends in `_s` is a duration.
    """
    kinds = {kind, *getattr(kind, "__args__", ())}
    if not isinstance(value, str) or str in kinds:
        return value
    try:
        if float in kinds or (int in kinds and name.endswith("_s")):
            number = parse_duration_s(value) if name.endswith("_s") else parse_number(value)
            return int(number) if float not in kinds and number.is_integer() else number
        return parse_count(value) if int in kinds else value
    except ValueError:
        return value


def format_time(seconds: float) -> str:
    """Return a duration as h:mm:ss, rounded up."""
    minutes, second = divmod(-int(-seconds // 1), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}"
