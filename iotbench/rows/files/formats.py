"""The formats of `--time-format` that dates could have: suggested, never guessed."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import product

_WRITTEN = re.compile(
    r"(?P<a>\d{1,4})(?P<separator>[-./ ])(?P<b>\d{1,2}|[A-Za-z]{3,9})(?P=separator)(?P<c>\d{2,4})"
    r"(?:(?P<gap>[T ]|, ?)(?P<clock>[\d:.]+)(?P<half> ?[AaPp][Mm])?(?P<zone> ?([Zz]|[+-][\d:]+))?)?"
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")


def suggest(texts: Sequence[str]) -> list[str] | None:
    """Return the formats that all these texts have, or None if they do not look like dates."""
    first = _WRITTEN.fullmatch(texts[0].strip()) if texts else None
    if not first:
        return None
    return [each for each in _formats(first) if all(_has(text.strip(), each) for text in texts)]


def _formats(first: re.Match[str]) -> Iterator[str]:
    """Yield the formats that a first date could have."""
    year = "%Y" if len(first["c"]) == 4 else "%y"
    months = ("%b", "%B") if first["b"].isalpha() else ("%m",)
    orders = [("%Y", month, "%d") for month in months] if len(first["a"]) == 4 else []
    orders += [("%d", month, year) for month in months]
    if not first["b"].isalpha():
        orders.append(("%m", "%d", year))
    clocks = [_clock(first, clock) for clock in _CLOCKS] if first["clock"] else [""]
    for order, clock in product(orders, clocks):
        yield first["separator"].join(order) + clock


def _clock(first: re.Match[str], clock: str) -> str:
    half, zone = first["half"] or "", first["zone"] or ""
    if half:
        clock = clock.replace("%H", "%I") + half[:-2] + "%p"
    return first["gap"] + clock + (" " * zone.startswith(" ") + "%z" if zone else "")


def _has(text: str, time_format: str) -> bool:
    try:
        datetime.strptime(text, time_format)  # noqa: DTZ007 - only whether it fits
    except ValueError:
        return False
    return True
