"""Times as numbers that count from 1970."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iotbench.rows.files.cells import mask_of, present, trim
from iotbench.rows.files.request import EPOCHS
from iotbench.rows.files.times import LIMIT_US, PER_SECOND, Instants, Local
from iotbench.rows.files.zones import UTC_NAME
from simulator.data.block import Array

_COUNT = r"^[+-]?[0-9]{1,19}([.][0-9]*)?$"
_RECOGNISED_S = (10**8, 41 * 10**8)
"""1973 to 2099: within this range, a count in one unit is outside the range of all others."""


class EpochTime(Instants):
    """Numbers that count a unit since 1970 in UTC (`--time-format s`)."""

    def __init__(self, unit: str, *, recognised: bool = False) -> None:
        """Store the unit; `recognised`: it is inferred, so all times must be from 1973 to 2099."""
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
            micros = self._micros(whole.astype(np.int64)) + np.round(
                (exact - whole) * (10**6 / self._per_second)
            ).astype(np.int64)
            finer = np.zeros(len(cells), np.int64)
            return micros, finer, self._in_range(micros, valid), UTC_NAME
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
        numbers, valid = _integers(cells)
        limit = LIMIT_US * self._per_second // 10**6
        valid = (
            valid & (numbers <= limit) & (numbers >= -limit) if self._per_second < 10**9 else valid
        )
        numbers = np.where(valid, numbers, 0)
        if self._per_second == 10**9:
            micros = numbers // 1000
            return micros, numbers % 1000, self._in_range(micros, valid), UTC_NAME
        micros = self._micros(numbers) + fraction_ns // 1000
        return micros, fraction_ns % 1000, self._in_range(micros, valid), UTC_NAME

    def _micros(self, counts: Array) -> Array:
        if self._per_second > 10**6:
            return counts // 1000
        return counts * (10**6 // self._per_second)

    def _in_range(self, micros: Array, valid: Array) -> Array:
        if not self._recognised:
            return valid
        low, high = (each * 10**6 for each in _RECOGNISED_S)
        return valid & (micros >= low) & (micros < high)


def _integers(cells: Any) -> tuple[Array, Array]:
    """Return the integers of the cells, and the mask of the cells that fit into 64 bits."""
    if pa.types.is_string(cells.type):
        large = mask_of(pc.greater(pc.utf8_length(cells), 18))
        found = (
            [
                int(text) if text and -(2**63) <= int(text) < 2**63 else None
                for text in cells.filter(pa.array(large)).to_pylist()
            ]
            if large.any()
            else []
        )
        small = pc.if_else(pa.array(large), pa.scalar(None, cells.type), cells)
        values = small.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).copy()
        valid = present(small)
        values[large], valid[large] = (
            [each or 0 for each in found],
            [each is not None for each in found],
        )
        return values, valid
    values = cells.cast(pa.int64(), safe=False)
    return values.fill_null(0).to_numpy(zero_copy_only=False), present(cells)


def unit_of(cells: Any) -> str:
    """Return the unit in which these numbers are from 1973 to 2099; empty if there is none."""
    for unit in EPOCHS:
        found = EpochTime(unit, recognised=True)
        given = int(found.present(cells).sum())
        if given and 2 * int(found.wrong(cells).sum()) < given:
            return unit
    return ""
