"""Instants: in ISO 8601, in the format of `--time-format`, counted from 1970, or of Parquet."""

import re
from abc import abstractmethod
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iotbench.rows.files.cells import CellType, Parsed, mask_of, none_of, present, trim
from iotbench.rows.files.request import EPOCHS
from iotbench.rows.files.zones import NAMED, OFFSET, REGION, UTC_NAME, in_utc, why_not
from simulator.data.block import Array
from simulator.data.schema import Type
from simulator.data.workloads.file import FileReading, Nanoseconds

_INSTANT = pa.timestamp("us", "UTC")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY_US = 86_400 * 10**6
_LAST_DAY_TO_CHECK = 3
LIMIT_US = 2**62
"""Maximum distance from 1970 in microseconds; no database stores times as far away."""

Local = tuple[Array, Array, Array, Any]
"""Local times in microseconds, the remaining nanoseconds, a mask of the cells that are times, and
the zone of all times or of each time; empty: the zone of `--time-zone`.
"""
Counted = tuple[Array, Array, Array]
"""Microseconds since 1970, the remaining nanoseconds, and a mask of the cells that are instants."""


class Instants(CellType):
    """Cells that are instants, stored in microseconds."""

    type = Type.TIMESTAMP
    reading = FileReading()
    """Options for reading the file."""
    is_local = False
    """True if the cells have no zone, so that `--time-zone` applies."""

    @abstractmethod
    def local(self, cells: Any) -> Local:
        """Return the local times of the cells."""

    def read_instants(self, cells: Any) -> Counted:
        """Return the instants of the cells."""
        micros, finer, valid, zones = self.local(cells)
        micros, exists = in_utc(micros, zones, self.reading)
        return micros, finer, valid & exists

    def parse(self, cells: Any) -> Parsed:
        micros, finer, valid = self.read_instants(cells)
        stops = self.reading.nanoseconds is Nanoseconds.STOP
        good = valid & (finer == 0) if stops else valid
        bad = self.present(cells) & ~good
        return pa.array(micros, pa.int64(), mask=~good).cast(_INSTANT), bad

    def wrong(self, cells: Any) -> Array:
        """Return the mask of the cells that are not instants of any precision."""
        return self.present(cells) & ~self.read_instants(cells)[2]

    def present(self, cells: Any) -> Array:
        """Return the mask of the cells that are not NULL."""
        return present(trim(cells) if pa.types.is_string(cells.type) else cells)

    def why(self, cell: Any) -> str:
        """Return the expected form of a cell; for nanoseconds, with the option for them."""
        micros, finer, valid, zones = self.local(cell)
        if valid[0] and (why := why_not(micros, zones, self.reading)):
            return why
        if valid[0] and finer[0]:
            return "a time in microseconds (--nanoseconds cut or keep takes it)"
        return self.expected


class Finer(CellType):
    """The nanoseconds that remain after the whole microseconds of instants."""

    type = Type.INT16
    shown = "nanoseconds"
    expected = "a time"

    def __init__(self, instants: Instants) -> None:
        self._instants = instants

    def parse(self, cells: Any) -> Parsed:
        _, finer, valid = self._instants.read_instants(cells)
        return pa.array(finer.astype(np.int16), mask=~valid), none_of(cells)


_CLOCK = r"[0-9]{2}(:?[0-9]{2}(:?[0-9]{2}([.,][0-9]{1,9})?)?)?"
_ZONE = rf"({'|'.join(NAMED)}|{OFFSET}|{REGION})(\[[A-Za-z0-9_/+-]+\])?"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_PARTS = (
    r"^(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T](?P<clock>[0-9:]+))?(?:[.,](?P<fraction>[0-9]+))?"
    r" ?(?P<zone>[A-Z+-][^\[]*)?(?:\[.*)?$"
)


class IsoTime(Instants):
    """Timestamps in ISO 8601: all with a zone, or all without.

    The name of a region in brackets may follow the offset, as Java writes it; the offset decides.
    """

    def __init__(self, *, zoned: bool) -> None:
        self.is_local = not zoned
        self._arrow_type = _INSTANT if zoned else pa.timestamp("us")
        self.shown = str(self._arrow_type)
        self.expected = f"a timestamp in ISO 8601 {'with' if zoned else 'without'} zone"
        self.pattern = rf"^{_DATE}[ T]{_CLOCK} ?{_ZONE}$" if zoned else rf"^{_DATE}([ T]{_CLOCK})?$"

    def local(self, cells: Any) -> Local:
        try:
            values = cells.cast(self._arrow_type).cast(pa.int64())
        except pa.ArrowInvalid:
            return self._read_parts(trim(cells))
        micros = values.fill_null(0).to_numpy(zero_copy_only=False)
        zone = "" if self.is_local else UTC_NAME
        return micros, np.zeros(len(cells), np.int64), present(values), zone

    def _read_parts(self, cells: Any) -> Local:
        fits = pc.match_substring_regex(cells, self.pattern)
        cells = pc.if_else(fits, cells, pa.scalar(None, cells.type))
        parts = pc.extract_regex(cells, _PARTS)
        date, clock, fraction, zone = (
            pc.struct_field(parts, name).fill_null("")
            for name in ("date", "clock", "fraction", "zone")
        )
        clock = pc.replace_substring(clock, ":", "")
        clock = pc.utf8_rpad(clock, 6, "0")
        is_24 = mask_of(pc.equal(clock, "240000"))
        clock = pc.if_else(pa.array(is_24), "000000", clock)
        nanos = pc.utf8_rpad(fraction, 9, "0").cast(pa.int64()).to_numpy()
        whole = pc.binary_join_element_wise(date, clock, "")
        seconds = pc.strptime(whole, format="%Y-%m-%d%H%M%S", unit="s", error_is_null=True)
        valid = present(cells) & present(seconds) & ~(is_24 & (nanos > 0))
        same = pc.equal(pc.strftime(seconds, format="%Y-%m-%d%H%M%S"), whole)
        valid &= mask_of(same)  # not 31 February
        counts = seconds.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        micros = counts * 10**6 + nanos // 1000 + is_24 * _DAY_US
        return micros, nanos % 1000, valid, "" if self.is_local else zone


_FINER = re.compile(r"(.*[.,][0-9]{6})([0-9]{1,3})(?![0-9.,])(.*)", re.DOTALL)
"""A time with seven to nine decimals of the second."""
_NAMES_ZONE = (
    rf"(?P<before>^|[^A-Za-z/])(?P<zone>{'|'.join(NAMED)}|{REGION})(?P<after>$|[^A-Za-z/_])"
)


class FormattedTime(Instants):
    """Times in the format of `--time-format`."""

    def __init__(self, time_format: str) -> None:
        self._format = time_format.replace("%Z", UTC_NAME)
        self._names_zones = "%Z" in time_format
        self._has_offsets = "%z" in time_format
        self.is_local = not (self._names_zones or self._has_offsets)
        self.shown = f"time {time_format}"
        self.expected = f"a time in the format {time_format}"

    def local(self, cells: Any) -> Local:
        cells = trim(cells if pa.types.is_string(cells.type) else cells.cast(pa.string()))
        zones: Any = UTC_NAME if self._has_offsets else ""
        if self._names_zones:
            found = pc.struct_field(pc.extract_regex(cells, _NAMES_ZONE), "zone").fill_null("")
            zones = zones or found
            replaced = rf"\1{UTC_NAME}\3"
            cells = pc.replace_substring_regex(cells, _NAMES_ZONE, replaced, max_replacements=1)
        finer = np.zeros(len(cells), np.int64)
        if "%f" in self._format:
            cells, finer = self._cut_nanoseconds(cells)
        if "%f" in self._format or self._has_offsets:
            instants = pa.array([self._count_us(text) for text in cells.to_pylist()], pa.int64())
        else:
            values = pc.strptime(cells, format=self._format, unit="us", error_is_null=True)
            instants = values.cast(pa.int64())
            instants = pc.if_else(pa.array(self._find_impossible(cells, values)), None, instants)
        micros = instants.fill_null(0).to_numpy(zero_copy_only=False)
        return micros, finer, present(instants), zones

    def _cut_nanoseconds(self, cells: Any) -> tuple[Any, Array]:
        """Return the cells with the digits that `%f` reads, and the remaining nanoseconds."""
        texts, finer = cells.to_pylist(), np.zeros(len(cells), np.int64)
        for row, text in enumerate(texts):
            found = _FINER.fullmatch(text or "")
            if found and self._count_us(text) is None:
                texts[row], finer[row] = found[1] + found[3], int(found[2].ljust(3, "0"))
        return pa.array(texts, pa.string()), finer

    def _find_impossible(self, cells: Any, values: Any) -> Array:
        """Return the mask of times that Arrow accepts and Python does not.

        Arrow takes 31 February as 2 March, 24 as the year 24, and second 60 as the next minute.
        """
        leaps = pc.match_substring_regex(cells, "6[01]")
        late = pc.and_(pc.less_equal(pc.second(values), 1), leaps)
        early = pc.or_(
            pc.less_equal(pc.day(values), _LAST_DAY_TO_CHECK), pc.less(pc.year(values), 1000)
        )
        early = pc.or_(early, late)
        mask = np.zeros(len(cells), np.bool_)
        for row in np.flatnonzero(mask_of(early)):
            mask[row] = self._count_us(cells[int(row)].as_py()) is None
        return mask

    def _count_us(self, text: str | None) -> int | None:
        """Return the microseconds since 1970 of a time; None for a time in another format."""
        if text is None:
            return None
        try:
            found = datetime.strptime(text, self._format)  # noqa: DTZ007 - without zone it is UTC
        except ValueError:
            return None
        return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class StoredTime(Instants):
    """A timestamp or date of Parquet."""

    def __init__(self, arrow_type: Any) -> None:
        self.shown = str(arrow_type)
        self.expected = "a time"
        self.is_local = not getattr(arrow_type, "tz", None)

    def local(self, cells: Any) -> Local:
        kind, zone = cells.type, "" if self.is_local else UTC_NAME
        if pa.types.is_date(kind):
            kind = pa.timestamp("s" if pa.types.is_date32(kind) else "ms")
            cells = cells.cast(kind)
        counts = cells.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        if kind.unit == "ns":
            return counts // 1000, counts % 1000, present(cells), zone
        factor = 10**6 // PER_SECOND[kind.unit]
        valid = present(cells) & (np.abs(counts) <= LIMIT_US // factor if factor > 1 else True)
        return np.where(valid, counts, 0) * factor, np.zeros(len(cells), np.int64), valid, zone


_COUNT = r"^[+-]?[0-9]{1,19}([.][0-9]*)?$"
_RECOGNISED_S = (10**8, 41 * 10**8)
"""Range of recognised times in seconds: 1973 to 2099. A number that is in this range in one unit is
outside the range in all other units.
"""


class EpochTime(Instants):
    """Numbers that count a unit since 1970 in UTC (`--time-format s`)."""

    def __init__(self, unit: str, *, recognised: bool = False) -> None:
        """Store the unit. If it is inferred (`recognised`), times must be from 1973 to 2099."""
        self._per_second = PER_SECOND[unit]
        self._recognised = recognised
        self.shown = f"{EPOCHS[unit]} since 1970"
        between = ", from 1973 to 2099 as the first rows" if recognised else ""
        self.expected = f"a count of {EPOCHS[unit]} since 1970{between}"

    def local(self, cells: Any) -> Local:
        """Return the instants of the cells, in UTC; floats are rounded to microseconds."""
        if pa.types.is_floating(cells.type):
            values = cells.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
            limit = LIMIT_US / 10**6 * self._per_second
            valid = present(cells) & np.isfinite(values) & (np.abs(values) < limit)
            exact = np.where(valid, values, 0)
            whole = np.floor(exact)
            micros = self._convert_to_us(whole.astype(np.int64)) + np.round(
                (exact - whole) * (10**6 / self._per_second)
            ).astype(np.int64)
            finer = np.zeros(len(cells), np.int64)
            return micros, finer, self._check_range(micros, valid), UTC_NAME
        fraction_ns = np.zeros(len(cells), np.int64)
        if pa.types.is_string(cells.type):
            cells = trim(cells)
            fits = pc.match_substring_regex(cells, _COUNT)
            cells = pc.if_else(fits, cells, pa.scalar(None, cells.type))
            digits = pc.struct_field(pc.extract_regex(cells, r"[.](?P<digits>[0-9]*)$"), "digits")
            digits = digits.fill_null("")
            scale = len(str(10**9 // self._per_second)) - 1
            too_fine = mask_of(
                pc.match_substring_regex(pc.utf8_slice_codeunits(digits, scale), "[1-9]")
            )
            cells = pc.if_else(pa.array(too_fine), pa.scalar(None, cells.type), cells)
            if scale:
                shifted = pc.utf8_rpad(pc.utf8_slice_codeunits(digits, 0, scale), scale, "0")
                fraction_ns = shifted.cast(pa.int64()).to_numpy(zero_copy_only=False)
            negative = mask_of(pc.starts_with(cells, "-"))
            fraction_ns = np.where(negative, -fraction_ns, fraction_ns)
            cells = pc.replace_substring_regex(cells, r"^\+|[.][0-9]*$", "")
        numbers, valid = _read_integers(cells)
        limit = LIMIT_US * self._per_second // 10**6
        if self._per_second < 10**9:
            valid = valid & (numbers <= limit) & (numbers >= -limit)
        numbers = np.where(valid, numbers, 0)
        if self._per_second == 10**9:
            micros = numbers // 1000
            return micros, numbers % 1000, self._check_range(micros, valid), UTC_NAME
        micros = self._convert_to_us(numbers) + fraction_ns // 1000
        return micros, fraction_ns % 1000, self._check_range(micros, valid), UTC_NAME

    def _convert_to_us(self, counts: Array) -> Array:
        if self._per_second > 10**6:
            return counts // 1000
        return counts * (10**6 // self._per_second)

    def _check_range(self, micros: Array, valid: Array) -> Array:
        if not self._recognised:
            return valid
        low, high = (each * 10**6 for each in _RECOGNISED_S)
        return valid & (micros >= low) & (micros < high)


def _read_integers(cells: Any) -> tuple[Array, Array]:
    """Return the integers of the cells, and the mask of the cells that fit into 64 bits."""
    if pa.types.is_string(cells.type):
        large = mask_of(pc.greater(pc.utf8_length(cells), 18))
        found = [
            int(text) if text and -(2**63) <= int(text) < 2**63 else None
            for text in cells.filter(pa.array(large)).to_pylist()
        ]
        small = pc.if_else(pa.array(large), pa.scalar(None, cells.type), cells)
        values = small.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).copy()
        valid = present(small)
        values[large] = [each or 0 for each in found]
        valid[large] = [each is not None for each in found]
        return values, valid
    values = cells.cast(pa.int64(), safe=False)
    return values.fill_null(0).to_numpy(zero_copy_only=False), present(cells)


def unit_of(cells: Any) -> str:
    """Return the unit in which the numbers are times from 1973 to 2099; empty if there is none."""
    for unit in EPOCHS:
        found = EpochTime(unit, recognised=True)
        given = int(found.present(cells).sum())
        if given and 2 * int(found.wrong(cells).sum()) < given:
            return unit
    return ""
