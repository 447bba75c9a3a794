"""Times that are not ISO 8601: read with `--time-format`, or recognised to suggest one."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cli.files.cells import CellType, Parsed, present, trimmed, without
from cli.files.request import EPOCHS
from simulator.data.block import Array
from simulator.data.schema import Type

_INSTANT = pa.timestamp("us")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NOT_IN_ARROW = ("%f", "%z", "%Z")
_LAST_DAY_TO_CHECK = 3


class FormattedTime(CellType):
    """Times in the format of `--time-format`; without a zone they are UTC."""

    type = Type.TIMESTAMP

    def __init__(self, time_format: str) -> None:
        self._format = time_format
        self.shown = f"time {time_format}"
        self.expected = f"a time in the format {time_format}"

    def parse(self, cells: Any) -> Parsed:
        """Return the instants, and which cells do not have the format."""
        cells = trimmed(cells)
        if any(directive in self._format for directive in _NOT_IN_ARROW):
            found = [self._instant(text) for text in cells.to_pylist()]
            values = pa.array(found, pa.int64()).cast(_INSTANT)
            return values, present(cells) & ~present(values)
        values = pc.strptime(cells, format=self._format, unit="us", error_is_null=True)
        values, _ = without(values, self._impossible(cells, values))
        return values, present(cells) & ~present(values)

    def _impossible(self, cells: Any, values: Any) -> Array:
        """Return the mask of days such as 31 February, which Arrow takes as 2 March."""
        early = pc.less_equal(pc.day(values), _LAST_DAY_TO_CHECK).fill_null(fill_value=False)
        mask = np.zeros(len(cells), np.bool_)
        for row in np.flatnonzero(early.to_numpy(zero_copy_only=False)):
            mask[row] = self._instant(cells[int(row)].as_py()) is None
        return mask

    def _instant(self, text: str | None) -> int | None:
        """Return the microseconds since 1970 of a time; None if it does not have the format."""
        if text is None:
            return None
        try:
            found = datetime.strptime(text, self._format)  # noqa: DTZ007 - without zone it is UTC
        except ValueError:
            return None
        return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


class EpochTime(CellType):
    """Integers that count a unit since 1970 in UTC (`--time-format s`)."""

    type = Type.TIMESTAMP

    def __init__(self, unit: str, integers: CellType) -> None:
        self._unit = unit
        self._integers = integers
        self.shown = f"{EPOCHS[unit]} since 1970"
        self.expected = f"an integer count of {EPOCHS[unit]} since 1970, at most in microseconds"

    def parse(self, cells: Any) -> Parsed:
        """Return the instants, and which cells are not in range or finer than microseconds."""
        counts, bad = self._integers.parse(cells)
        counts = counts.cast(pa.int64())
        valid = ~bad & present(counts)
        numbers = counts.fill_null(0).to_numpy(zero_copy_only=False)
        if self._unit == "ns":
            micros, wrong = numbers // 1000, valid & (numbers % 1000 != 0)
        else:
            factor = {"s": 10**6, "ms": 1000, "us": 1}[self._unit]
            limit = 2**62 // factor
            wrong = valid & ((numbers > limit) | (numbers < -limit))
            micros = np.where(wrong, 0, numbers) * factor
        bad = bad | wrong
        return pa.array(micros, pa.int64(), mask=bad | ~valid).cast(pa.timestamp("us", "UTC")), bad


_DATE = re.compile(
    r"(?P<a>\d{1,4})(?P<separator>[-./ ])(?P<b>\d{1,2}|[A-Za-z]{3,9})(?P=separator)(?P<c>\d{2,4})"
    r"(?:(?P<gap>[T ]|, ?)(?P<clock>[\d:.]+)(?P<half> ?[AaPp][Mm])?(?P<zone> ?([Zz]|[+-][\d:]+))?)?"
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")


def suggested(texts: Sequence[str]) -> list[str] | None:
    """Return the formats that all these texts have, or None if they do not look like dates."""
    first = _DATE.fullmatch(texts[0].strip()) if texts else None
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
