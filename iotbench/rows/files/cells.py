"""Types of a column's cells, and their conversion to values, one Arrow array at a time. Pure."""

from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.data.block import Array
from simulator.data.schema import FLOATS, Type

NULLS = (
    "", "null", "NULL", "Null", "None", "NA", "<NA>", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A",
    "nan", "NaN", "-nan", "-NaN", "NaT", "\\N", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Cells that are NULL in columns of numbers, booleans and times."""
_EXACT = 2.0**53
"""Limit up to which a float represents every integer exactly."""

Parsed = tuple[Any, Array]
"""An Arrow array of values, NULL where a cell is bad, and a mask of the bad cells."""


class CellType(ABC):
    """The type of a column's cells."""

    shown: str
    """Name of the type in the preview."""
    type: Type | None
    """Type that stores the values; None if no type does."""
    expected: str = ""
    """Expected form of a cell: the end of the sentence "this cell is not ..."."""

    @abstractmethod
    def parse(self, cells: Any) -> Parsed:
        """Return the values of an Arrow array of cells, and the mask of the bad cells."""

    def why(self, cell: Any) -> str:
        """Return the expected form of a bad cell; `cell` is an array with only this cell."""
        return self.expected


class TextCells(CellType):
    """Text: every cell is good."""

    type = Type.TEXT

    def __init__(self, shown: str = "text") -> None:
        self.shown = shown

    def parse(self, cells: Any) -> Parsed:
        is_text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
        return cells if is_text else cells.cast(pa.string()), none_of(cells)


class TextInstead(TextCells):
    """Text in place of another type; cells without that type are still reported as bad."""

    def __init__(self, wanted: CellType) -> None:
        super().__init__()
        self._wanted = wanted
        self.expected = wanted.expected

    def parse(self, cells: Any) -> Parsed:
        """Return the cells as text, and the mask of the bad cells."""
        return cells, self._wanted.parse(cells)[1]


class Empty(TextCells):
    """A column without a value in its first cells; `parse` marks cells with a value as bad."""

    expected = "empty"

    def __init__(self) -> None:
        super().__init__("no value")

    def parse(self, cells: Any) -> Parsed:
        """Return NULLs, and the mask of the cells with a value."""
        return pa.nulls(len(cells), pa.string()), present(trim(cells))


class WrittenCells(CellType):
    """Numbers and booleans as text."""

    def __init__(self, kind: Type, expected: str, pattern: str, arrow_type: Any) -> None:
        """Store the type; `pattern` matches all cells that Arrow can cast, and some other cells."""
        self.type = kind
        self.expected = expected
        self.pattern = pattern
        self._arrow_type = arrow_type
        self.shown = str(arrow_type)

    def parse(self, cells: Any) -> Parsed:
        """Return the values; surrounding blanks and spellings of NULL are not errors."""
        try:
            return cells.cast(self._arrow_type), none_of(cells)
        except pa.ArrowInvalid:
            return self._parse_each(trim(cells))

    def _parse_each(self, cells: Any) -> Parsed:
        if self.type is Type.INT64:
            cells = pc.replace_substring_regex(cells, r"^\+", "")
        good, bad = without(
            cells, mask_of(pc.invert(pc.match_substring_regex(cells, self.pattern)))
        )
        try:
            return good.cast(self._arrow_type), bad
        except pa.ArrowInvalid:
            good, failed = without(good, self._mask_bad(good))
            return good.cast(self._arrow_type), bad | failed

    def _mask_bad(self, cells: Any) -> Array:
        """Return the mask of the cells that cannot be cast, found by bisection."""
        try:
            cells.cast(self._arrow_type)
        except pa.ArrowInvalid:
            if len(cells) == 1:
                return np.ones(1, np.bool_)
            half = len(cells) // 2
            return np.concatenate((self._mask_bad(cells[:half]), self._mask_bad(cells[half:])))
        return np.zeros(len(cells), np.bool_)


_NUMBER = (
    r"(?i)^[+-]?([0-9]{1,19}|[0-9]+\.[0-9]*|\.[0-9]+|[0-9]*\.?[0-9]+\.?e[+-]?[0-9]+|inf(inity)?)$"
)
_WITH_COMMA = r"(?i)^[+-]?([0-9]{1,19}|[0-9]+,[0-9]*|,[0-9]+|[0-9]*,?[0-9]+,?e[+-]?[0-9]+)$"


def _mask_vanished(cells: Any, values: Any) -> Array:
    """Return the mask of the numbers that are too small for a float and would become 0."""
    mask = mask_of(pc.equal(values, 0.0))
    zeros = np.flatnonzero(mask)
    if len(zeros):
        mask[zeros] = mask_of(pc.match_substring_regex(cells.take(pa.array(zeros)), "^[^eE]*[1-9]"))
    return mask


class WrittenFloat(WrittenCells):
    """Finite numbers as text; integers must be exact when stored as floats."""

    def __init__(self, expected: str = "a finite number", *, decimal_comma: bool = False) -> None:
        pattern = _WITH_COMMA if decimal_comma else _NUMBER
        expected = "a number with a decimal comma" if decimal_comma else expected
        super().__init__(Type.FLOAT64, expected, pattern, pa.float64())
        self._decimal_comma = decimal_comma

    def parse(self, cells: Any) -> Parsed:
        written = cells
        if self._decimal_comma:
            cells, points = without(cells, mask_of(pc.match_substring(cells, ".")))
            kept = trim(cells)
            fits = mask_of(pc.match_substring_regex(kept, self.pattern))
            bad = points | present(kept) & ~fits
            kept, _ = without(kept, bad)
            values = pc.replace_substring(kept, ",", ".").cast(pa.float64())
        else:
            values, bad = super().parse(cells)
        values = without(values, mask_of(pc.is_nan(values)))[0]
        wrong = mask_of(pc.invert(pc.is_finite(values))) | self._mask_inexact(written, values)
        wrong |= _mask_vanished(written, values)
        values, wrong = without(values, wrong)
        return values, bad | wrong

    def _mask_inexact(self, cells: Any, values: Any) -> Array:
        """Return the mask of the integers that a float cannot represent."""
        mask = mask_of(pc.greater_equal(pc.abs(values), _EXACT))
        for row in np.flatnonzero(mask):
            text = cells[int(row)].as_py().replace(",", ".")
            number = values[int(row)].as_py()
            is_counted = np.isfinite(number) and "e" not in text.lower()
            mask[row] = is_counted and Decimal(text) != Decimal(number)
        return mask

    def why(self, cell: Any) -> str:
        """Return the expected form of a cell, or of an integer that no float represents."""
        points = pc.replace_substring(trim(cell), ",", ".") if self._decimal_comma else cell
        values, bad = WrittenCells(Type.FLOAT64, "", _NUMBER, pa.float64()).parse(points)
        if not bad[0] and self._mask_inexact(cell, values)[0]:
            return "kept by a 64-bit float, as this column has fractions"
        return self.expected


class WrittenInteger(WrittenCells):
    """Integers as text, decimal or hexadecimal."""

    def __init__(self) -> None:
        pattern = r"^([+-]?[0-9]{1,19}|0[xX][0-9a-fA-F]{1,16})$"
        super().__init__(Type.INT64, "an integer of 64 bits", pattern, pa.int64())

    def parse(self, cells: Any) -> Parsed:
        """Return the values; hexadecimal numbers that Arrow reads as negative are bad."""
        values, bad = super().parse(cells)
        values, padded = without(values, leading_zeros(cells))
        bad |= padded
        negative = mask_of(pc.less(values, 0))
        if not negative.any():
            return values, bad
        values, wrapped = without(
            values, negative & mask_of(pc.match_substring_regex(cells, "[xX]"))
        )
        return values, bad | wrapped


_FIRST_ZEROS = ("0", "-0", "+0", " ")


def leading_zeros(cells: Any) -> Array:
    """Return the mask of the integers with leading zeros, which a number cannot keep."""
    begins = [mask_of(pc.starts_with(cells, each)) for each in _FIRST_ZEROS]
    mask: Array = np.logical_or.reduce(begins)
    rows = np.flatnonzero(mask)
    if len(rows):
        written = pc.utf8_trim_whitespace(cells.take(pa.array(rows)))
        mask[rows] = mask_of(pc.match_substring_regex(written, "^[+-]?0[0-9]+$"))
    return mask


class DeclaredCells(CellType):
    """Cells of a file that declares the types of its columns."""

    def __init__(self, arrow_type: Any, kind: Type) -> None:
        self.shown = str(arrow_type)
        self.type = kind
        self.expected = "a finite number" if kind in FLOATS else str(arrow_type)

    def parse(self, cells: Any) -> Parsed:
        """Return the cells; floats that are not finite are bad."""
        if self.type not in FLOATS:
            return cells, none_of(cells)
        return without(cells, mask_of(pc.invert(pc.is_finite(cells))))


class StoredDecimal(CellType):
    """Decimals, stored as integers if they have no fraction, and otherwise as exact floats."""

    expected = "a decimal that a 64-bit float keeps"

    def __init__(self, arrow_type: Any) -> None:
        self.shown = str(arrow_type)
        is_integer = arrow_type.scale <= 0 and arrow_type.precision - arrow_type.scale <= 18
        self.type = Type.INT64 if is_integer else Type.FLOAT64

    def parse(self, cells: Any) -> Parsed:
        """Return the numbers, and the mask of the numbers with more digits than a float keeps."""
        if self.type is Type.INT64:
            return cells.cast(pa.int64()), none_of(cells)
        values = cells.cast(pa.float64())
        bad = none_of(cells)
        if cells.type.precision > 15:
            pairs = zip(cells.to_pylist(), values.to_pylist(), strict=True)
            bad = np.array([a is not None and a != Decimal(repr(b)) for a, b in pairs], np.bool_)
        return without(values, bad)


def trim(cells: Any) -> Any:
    """Return text cells without surrounding blanks; spellings of NULL become NULL."""
    cells = pc.utf8_trim_whitespace(cells)
    is_null = pc.is_in(cells, pa.array(NULLS, cells.type))
    return pc.if_else(is_null, pa.scalar(None, cells.type), cells)


def without(values: Any, bad: Array) -> Parsed:
    """Return the values, with NULL in place of bad values, and the mask of bad values."""
    if not bad.any():
        return values, bad
    return pc.if_else(pa.array(bad), pa.scalar(None, values.type), values), bad


def none_of(cells: Any) -> Array:
    """Return a mask that is false for every cell."""
    return np.zeros(len(cells), np.bool_)


def mask_of(condition: Any) -> Array:
    """Return an Arrow condition as a mask: false where the cell is NULL."""
    mask: Array = condition.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    return mask


def present(cells: Any) -> Array:
    """Return the mask of the cells that are not NULL."""
    return mask_of(cells.is_valid())


def invalid_utf8(cells: Any) -> tuple[int, bytes] | None:
    """Return the index and the content of the first text that is not valid UTF-8."""
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return None
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        contents = cells.cast(pa.binary()).to_pylist()
        return next((at, text) for at, text in enumerate(contents) if text and not is_utf8(text))
    return None


def is_utf8(content: bytes) -> bool:
    """Return whether the bytes are valid UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
