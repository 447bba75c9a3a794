"""Numbers, durations, ranges and instants as people write them; ValueError says what to write."""

import math
import re
from datetime import UTC, datetime
from typing import Any

_SCALE = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"([+-]?[\d_.]+(?:[eE][+-]?\d+)?)([kKMG]?)")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_LONGEST_RANGE = 1000


def parse_number(text: str) -> float:
    """Return a number: 1000, 1_000, 1e3, 10k, 2.5M."""
    match = _NUMBER.fullmatch(text.strip())
    try:
        value = float(match[1]) * _SCALE[match[2]] if match else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number such as 1000, 10k or 1e6, got {text!r}")
    return value


def parse_count(text: str) -> int:
    """Return a whole number: 1000, 1_000, 1e3, 10k, 2.5M."""
    try:
        return int(text)  # of any size, without rounding
    except ValueError:
        pass
    try:
        value = parse_number(text)
    except ValueError:
        value = math.nan
    if not value.is_integer():
        raise ValueError(f"expected a whole number such as 1000, 10k or 1e6, got {text!r}")
    return int(value)


def parse_counts(text: str) -> tuple[int, ...]:
    """Return whole numbers separated by commas, and ranges of them: 1,4,8 or 1-4,8."""
    expected = f"expected whole numbers separated by commas, such as 1,4,8 or 1-4, got {text!r}"
    found: list[int] = []
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        try:
            low = parse_count(first if first and dash else word)
            high = parse_count(last) if first and dash else low
        except ValueError as error:
            raise ValueError(expected) from error
        if not 0 <= high - low < _LONGEST_RANGE:
            raise ValueError(expected)
        found += range(low, high + 1)
    return tuple(found)


def parse_duration_s(text: str) -> float:
    """Return a duration in seconds: 30 or 30s, 500ms, 5m, 1h30m, 2d."""
    word = text.strip()
    parts = _DURATION.findall(word)
    if parts and "".join(map("".join, parts)) == word:
        return float(sum(float(value) * _SECONDS[unit] for value, unit in parts))
    try:
        return parse_number(word)
    except ValueError as error:
        raise ValueError(f"expected a duration such as 30s, 5m or 1h30m, got {text!r}") from error


def parse_instant(text: str) -> datetime:
    """Return an instant; without an offset it is in UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(
            f"expected an instant such as 2026-11-01T00:00:00Z, got {text!r}"
        ) from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def as_option(name: str, kind: Any, value: Any) -> Any:
    """Return the value of a numeric option as a number; anything else as it is.

    `kind` is the option's type. Options whose names end in `_s` are durations.
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
