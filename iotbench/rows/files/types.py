"""The type of a column, inferred from its cells or declared by its file."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from iotbench.rows.files.cells import (
    CellType,
    DeclaredCells,
    Empty,
    StoredDecimal,
    TextCells,
    WrittenCells,
    WrittenFloat,
    WrittenInteger,
    leading_zeros,
    trim,
)
from iotbench.rows.files.times import IsoTime, StoredTime
from simulator.data.schema import Type

_TYPES = {
    "int8": Type.INT16,
    "int16": Type.INT16,
    "uint8": Type.INT16,
    "int32": Type.INT32,
    "uint16": Type.INT32,
    "int64": Type.INT64,
    "uint32": Type.INT64,
    "uint64": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "bool": Type.BOOL,
}
_POINT = "a number with a decimal point (--decimal comma reads those with a comma)"
_COMMA = r"^[+-]?[0-9]+,[0-9]+$"


class _Unstorable(CellType):
    """A column with a type that cannot be stored."""

    type = None
    expected = "a number, text or timestamp"

    def __init__(self, arrow_type: Any) -> None:
        self.shown = str(arrow_type)

    def parse(self, cells: Any) -> tuple[Any, Any]:
        raise AssertionError(self.shown)


def find_declared_type(arrow_type: Any) -> CellType:
    """Return the type that a file declares for a column."""
    if pa.types.is_decimal(arrow_type):
        return StoredDecimal(arrow_type)
    if pa.types.is_timestamp(arrow_type) or pa.types.is_date(arrow_type):
        return StoredTime(arrow_type)
    if "string" in str(arrow_type) and not pa.types.is_nested(arrow_type):
        return TextCells(str(arrow_type))
    kind = _TYPES.get(str(arrow_type))
    return DeclaredCells(arrow_type, kind) if kind else _Unstorable(arrow_type)


def guess(cells: Any, *, decimal_comma: bool = False) -> CellType:
    """Return the type of more than half of the cells; text if there is no such type.

    One bad cell among many good cells is therefore an error, and does not make the column text.
    """
    cells = trim(cells)
    present = len(cells) - cells.null_count
    if not present:
        return Empty()
    types: list[WrittenCells | IsoTime] = [
        WrittenInteger(),
        WrittenFloat(decimal_comma=decimal_comma),
        WrittenCells(Type.BOOL, "true or false", r"(?i)^(true|false|0|1)$", pa.bool_()),
        IsoTime(zoned=False),
        IsoTime(zoned=True),
    ]
    likely = max(types, key=lambda each: _count(cells, each.pattern))  # the first of equals
    # Times that are too fine, and integers that no float represents, are reported later.
    if isinstance(likely, WrittenFloat):
        bad = present - _count(cells, likely.pattern)
    else:
        wrong = likely.wrong(cells) if isinstance(likely, IsoTime) else likely.parse(cells)[1]
        bad = int(wrong.sum())
    if 2 * bad < present:
        return likely
    return WrittenFloat(_POINT) if 2 * _count(cells, _COMMA) > present else TextCells()


def _count(cells: Any, pattern: str) -> int:
    return int(pc.match_substring_regex(cells, pattern).true_count)


def looks_like_data(names: Sequence[str]) -> bool:
    """Return whether a heading looks like a row, with a timestamp or only numbers."""
    cells = trim(pa.array(names, pa.string()))
    times = sum(_count(cells, IsoTime(zoned=zoned).pattern) for zoned in (False, True))
    return times > 0 or _count(cells, WrittenFloat().pattern) == len(names)


def widen(cell_type: CellType, bad_cells: Any, *, decimal_comma: bool) -> CellType | None:
    """Return the type that also holds a column's bad cells without loss; None if there is none."""
    if isinstance(cell_type, Empty):
        return guess(bad_cells, decimal_comma=decimal_comma)
    if not isinstance(cell_type, WrittenCells) or cell_type.type is not Type.INT64:
        return None
    number = WrittenFloat(decimal_comma=decimal_comma)
    mark = "[,eE]" if decimal_comma else "[.eE]"
    fractions = bad_cells.filter(pc.match_substring_regex(bad_cells, mark))
    if _count(trim(fractions), number.pattern):
        return number
    return TextCells() if leading_zeros(bad_cells).any() else None
