"""What a column's cells are, and how they become values: pure, one Arrow array at a time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from cli.files.types import refusal, type_of
from simulator.data.block import Array
from simulator.data.schema import FLOATS, Type

Parsed = tuple[Any, Array]
"""An Arrow array of values, NULL where a cell is bad, and a mask of the bad cells."""


class CellType(ABC):
    """The type of a column's cells."""

    shown: str
    """Its name in the preview."""
    type: Type | None
    """The type that stores it; None if none does."""
    refusal: str = ""
    """Why no type stores it."""
    expected: str = ""
    """What a cell should be, to complete the sentence "this cell is not ..."."""

    @abstractmethod
    def parse(self, cells: Any) -> Parsed:
        """Return the values of an Arrow array of cells, and which cells are bad."""


class Text(CellType):
    """Text: every cell is good."""

    type = Type.TEXT

    def __init__(self, shown: str = "text") -> None:
        self.shown = shown

    def parse(self, cells: Any) -> Parsed:
        """Return the cells as text."""
        is_text = type_of(cells.type) is Type.TEXT
        return cells if is_text else cells.cast(pa.string()), _none(cells)


class TextInstead(Text):
    """Text because of bad cells (`--on-error text`); it still reports which ones these are."""

    def __init__(self, wanted: CellType) -> None:
        super().__init__()
        self._wanted = wanted
        self.expected = wanted.expected

    def parse(self, cells: Any) -> Parsed:
        """Return the cells as text, and which of them are bad."""
        return cells, self._wanted.parse(cells)[1]


class Empty(Text):
    """A column without any value so far: `parse` marks the first ones as bad."""

    expected = "empty"

    def parse(self, cells: Any) -> Parsed:
        """Return NULLs, and which cells have a value."""
        return pa.nulls(len(cells), pa.string()), present(trimmed(cells))


class AsStored(CellType):
    """The column of a file that declares its types."""

    def __init__(self, arrow_type: Any) -> None:
        self.shown = str(arrow_type)
        self.type = type_of(arrow_type)
        self.refusal = "" if self.type else refusal(arrow_type)
        self.expected = "a finite number" if self.type in FLOATS else "a time"

    def parse(self, cells: Any) -> Parsed:
        """Return the cells; floats that are not finite are bad."""
        if self.type not in FLOATS:
            return cells, _none(cells)
        return without(cells, _mask(pc.invert(pc.is_finite(cells))))


@dataclass(frozen=True, slots=True)
class _Grammar:
    """How cells of a type are written in a CSV file."""

    type: Type
    expected: str
    pattern: str
    """Matches every cell that Arrow can cast to the type, and hardly any other."""
    arrow_type: Any


_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[ T][0-9]{2}(:?[0-9]{2}(:?[0-9]{2}(\.[0-9]{1,9})?)?)?"
_OFFSET = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_DIGITS = r"[0-9]{1,19}"
_GRAMMARS = (
    _Grammar(
        Type.INT64,
        "an integer of 64 bits",
        rf"^([+-]?{_DIGITS}|0[xX][0-9a-fA-F]{{1,16}})$",
        pa.int64(),
    ),
    _Grammar(
        Type.FLOAT64,
        "a finite number",
        rf"(?i)^[+-]?({_DIGITS}|[0-9]+\.[0-9]*|\.[0-9]+|[0-9]*\.?[0-9]+\.?e[+-]?[0-9]+|inf(inity)?)$",
        pa.float64(),
    ),
    _Grammar(Type.BOOL, "true or false", r"(?i)^(true|false|0|1)$", pa.bool_()),
    _Grammar(
        Type.TIMESTAMP,
        "a timestamp in ISO 8601 without zone, at most in microseconds",
        rf"^{_DATE}({_CLOCK})?$",
        pa.timestamp("us"),
    ),
    _Grammar(
        Type.TIMESTAMP,
        "a timestamp in ISO 8601 with zone, at most in microseconds",
        rf"^{_DATE}{_CLOCK}{_OFFSET}$",
        pa.timestamp("us", "UTC"),
    ),
)
_NUMBER = _GRAMMARS[1]
_WITH_POINT = replace(_NUMBER, expected="a number with a decimal point")
"""Of a column with decimal commas: these are bad cells, as 1,234 may mean two numbers."""


class Written(CellType):
    """Numbers, booleans and ISO 8601 timestamps written in a CSV file."""

    def __init__(self, grammar: _Grammar) -> None:
        self._grammar = grammar
        self._arrow_type = grammar.arrow_type
        self.shown = str(grammar.arrow_type)
        self.type = grammar.type
        self.expected = grammar.expected

    def parse(self, cells: Any) -> Parsed:
        """Return the values; surrounding blanks and the spellings of NULL are no error."""
        try:
            values, bad = cells.cast(self._arrow_type), _none(cells)
        except pa.ArrowInvalid:
            values, bad = self._parse_each(cells)
        if self.type not in FLOATS:
            return values, bad
        values = without(values, _mask(pc.is_nan(values)))[0]
        values, infinite = without(values, _mask(pc.invert(pc.is_finite(values))))
        return values, bad | infinite

    def _parse_each(self, cells: Any) -> Parsed:
        cells = trimmed(cells)
        if self.type is Type.INT64:
            cells = pc.replace_substring_regex(cells, r"^\+", "")
        if self.type is Type.TIMESTAMP:  # nanoseconds that are zero
            cells = pc.replace_substring_regex(cells, r"(\.[0-9]{6})0{1,3}([Z+-].*)?$", r"\1\2")
        good, bad = without(cells, _mask(pc.invert(self._matches(cells))))
        try:
            return good.cast(self._arrow_type), bad
        except pa.ArrowInvalid:
            good, failed = without(good, self._failing(good))
            return good.cast(self._arrow_type), bad | failed

    def _matches(self, cells: Any) -> Any:
        return pc.match_substring_regex(cells, self._grammar.pattern)

    def count(self, cells: Any) -> int:
        """Return how many cells are written like this type."""
        return int(self._matches(cells).true_count)

    def _failing(self, cells: Any) -> Array:
        """Return the mask of the cells that cannot be cast, found by halving."""
        try:
            cells.cast(self._arrow_type)
        except pa.ArrowInvalid:
            if len(cells) == 1:
                return np.ones(1, np.bool_)
            half = len(cells) // 2
            return np.concatenate((self._failing(cells[:half]), self._failing(cells[half:])))
        return np.zeros(len(cells), np.bool_)


def guessed(cells: Any) -> CellType:
    """Return the type that more than half of the cells have; text if there is none.

    One bad cell among many good ones then is an error, and does not turn its column into text.
    """
    cells = trimmed(cells)
    present = len(cells) - cells.null_count
    if not present:
        return Empty()
    types = [Written(grammar) for grammar in _GRAMMARS]
    likely = max(types, key=lambda each: each.count(cells))  # the first of equals
    _, bad = likely.parse(cells)
    if 2 * int(bad.sum()) < present:
        return likely
    commas = pc.match_substring_regex(cells, r"^[+-]?[0-9]+,[0-9]+$").true_count
    return Written(_WITH_POINT) if 2 * commas > present else Text()


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether a heading looks like a row: it has a timestamp, or numbers only."""
    cells = trimmed(pa.array(names, pa.string()))
    times = sum(Written(grammar).count(cells) for grammar in _GRAMMARS[-2:])
    return times > 0 or Written(_NUMBER).count(cells) == len(names)


def widened(cell_type: CellType, bad_cells: Any) -> CellType | None:
    """Return the type that also holds the bad cells of a column, if there is one without loss."""
    if isinstance(cell_type, Empty):
        return guessed(bad_cells)
    if not isinstance(cell_type, Written) or cell_type.type is not Type.INT64:
        return None

    number = Written(_NUMBER)
    fractions = bad_cells.filter(pc.match_substring_regex(bad_cells, r"[.eE]"))
    return number if number.count(trimmed(fractions)) else None


def trimmed(cells: Any) -> Any:
    """Return text cells without surrounding blanks; NULL where one spells NULL."""
    cells = pc.utf8_trim_whitespace(cells)
    spellings = pa.array(csv.ConvertOptions().null_values, cells.type)
    return pc.if_else(pc.is_in(cells, spellings), pa.scalar(None, cells.type), cells)


def without(values: Any, bad: Array) -> Parsed:
    """Return the values with NULL where they are bad, and the mask."""
    if not bad.any():
        return values, bad
    return pc.if_else(pa.array(bad), pa.scalar(None, values.type), values), bad


def _none(cells: Any) -> Array:
    return np.zeros(len(cells), np.bool_)


def _mask(condition: Any) -> Array:
    """Return an Arrow condition as a mask: false where the cell is NULL."""
    mask: Array = condition.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    return mask


def present(cells: Any) -> Array:
    """Return the mask of the cells that are not NULL."""
    return _mask(cells.is_valid())


def invalid_utf8(cells: Any) -> tuple[int, bytes] | None:
    """Return the index and the content of the first text that is not valid UTF-8."""
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        contents = cells.cast(pa.binary()).to_pylist()
        return next((at, text) for at, text in enumerate(contents) if text and not is_utf8(text))
    return None


def is_utf8(content: bytes) -> bool:
    """Return whether these bytes are valid UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
