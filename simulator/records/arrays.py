"""The arrays of a prepared folder, checked against its description.

The sizes and the digest of a folder from elsewhere may agree with its description, although its
arrays contain too few rows, or values that are invalid for the column.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array
from simulator.data.schema import FLOATS, INTEGERS, Type, dtype_of
from simulator.data.workloads.file import Content, FileColumn, FileParams, content_path

MAX_TEXT_BYTES = 1024
"""Maximum length of a text in bytes.

In a block, every text of a column takes as much space as the longest text."""
YEAR_1_US, YEAR_10000_US = -62_135_596_800_000_000, 253_402_300_800_000_000
_PORTION = 1 << 20
_INT64 = np.dtype(np.int64)
_BYTE = np.dtype(np.uint8)


def expect_as_described(folder: Path, params: FileParams) -> None:
    """Raise ValueError with the problem if the arrays do not match the columns."""
    for index, column in enumerate(params.columns):
        try:
            _expect_column(folder, index, column, params.rows)
        except ValueError as error:
            raise ValueError(f"column {column.name!r}: {error}") from error
    expected = {
        content_path(folder, index, content).name
        for index, column in enumerate(params.columns)
        for content in contents_of(column)
    }
    if more := sorted({path.name for path in folder.glob("[0-9]*.*")} - expected):
        raise ValueError(f"{more[0]}: is of no column")


def contents_of(column: FileColumn) -> Iterator[Content]:
    """Yield the content of each file of a column."""
    if column.coded:
        yield from (Content.CODES, Content.LEVELS)
    elif column.type is Type.TEXT:
        yield from (Content.OFFSETS, Content.BYTES)
    else:
        yield Content.VALUES
    if column.nullable:
        yield Content.VALID


def _expect_column(folder: Path, index: int, column: FileColumn, rows: int) -> None:
    if column.nullable:
        valid = _read_portions(content_path(folder, index, Content.VALID), _BYTE, rows)
        _expect("a flag that is neither 0 nor 1", (part > 1 for part in valid))
        valid = _read_portions(content_path(folder, index, Content.VALID), _BYTE, rows)
        if all(bool(part.all()) for part in valid):
            raise ValueError("is described as having NULLs, and has none")
    if column.coded:
        levels = _read_levels(content_path(folder, index, Content.LEVELS))
        codes = _read_portions(content_path(folder, index, Content.CODES), _INT64, rows)
        _expect("a code without a text", ((p < 0) | (p >= len(levels)) for p in codes))
        if len({*levels}) < len(levels):
            raise ValueError("has two codes for one text")
        ends = np.cumsum([0, *map(len, levels)])
        _expect_lengths(ends)
        _expect_texts(b"".join(levels), ends)
    elif column.type is Type.TEXT:
        _expect_long_texts(folder, index, rows)
    else:
        kind = _BYTE if column.type is Type.BOOL else dtype_of(column.type)
        path = content_path(folder, index, Content.VALUES)
        _expect(*_find_wrong_values(column.type, _read_portions(path, kind, rows)))
        parts = _read_portions(path, kind, rows) if column.summable else iter(())
        largest = max(map(largest_of, parts), default=0.0)
        if column.summable and not is_summable(column.type, rows, largest):
            raise ValueError(f"has no sum that fits into {column.type}, as is described")


def largest_of(values: Array) -> float:
    """Return the maximum of the absolute values; 0 if there are no values."""
    return max(abs(float(values.min())), abs(float(values.max()))) if len(values) else 0.0


def is_summable(column_type: Type, rows: int, largest: float) -> bool:
    """Return whether the sum of `rows` numbers fits into the numbers' type in any database."""
    limit = 1e300 if column_type in FLOATS else 2.0**62
    return column_type in FLOATS | INTEGERS and rows * largest < limit


def _find_wrong_values(column_type: Type, portions: Iterator[Array]) -> tuple[str, Iterator[Any]]:
    if column_type is Type.BOOL:
        return "a boolean that is neither 0 nor 1", (part > 1 for part in portions)
    if column_type is Type.TIMESTAMP:
        outside = ((p < YEAR_1_US) | (p >= YEAR_10000_US) for p in portions)
        return "a time outside the years 1 to 9999", outside
    if column_type in FLOATS:
        return "a float that is not finite", (~np.isfinite(part) for part in portions)
    return "", (np.zeros(0, np.bool_) for _ in portions)


def _read_levels(path: Path) -> list[bytes]:
    if path.stat().st_size > _PORTION * 2 * MAX_TEXT_BYTES:
        raise ValueError(f"{path.name} is too large to be a list of texts")
    with path.open("rb") as file:
        shape, is_fortran, kind = _read_header(file)
        if len(shape) != 1 or is_fortran or kind.kind != "S" or not kind.itemsize:
            raise ValueError(f"{path.name}: is not a list of texts")
        content = file.read()
    if len(content) != shape[0] * kind.itemsize:
        raise ValueError(f"{path.name}: has another number of texts than its header says")
    found: list[bytes] = np.frombuffer(content, kind).tolist()
    return found


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"is of version {version} of .npy, expected (1, 0)")
    return np.lib.format.read_array_header_1_0(file)


def _expect_long_texts(folder: Path, index: int, rows: int) -> None:
    """Check texts that are stored one after the other."""
    path = content_path(folder, index, Content.BYTES)
    end = 0  # where the texts before this portion end
    with path.open("rb") as file:
        portions = _read_portions(content_path(folder, index, Content.OFFSETS), _INT64, rows + 1)
        for number, offsets in enumerate(portions):
            if not number and offsets[0]:
                raise ValueError("lacks the beginning of its texts")
            ends = np.concatenate([[end], offsets]) - end
            _expect_lengths(ends)
            end = int(offsets[-1])
            _expect_texts(file.read(int(ends[-1])), ends)
        if file.read(1):
            raise ValueError(f"{path.name}: goes on after the last text")


def _expect_lengths(ends: NDArray[np.int64]) -> None:
    lengths = np.diff(ends)
    _expect("a text that ends before it begins", iter([lengths < 0]))
    _expect(f"a text of more than {MAX_TEXT_BYTES} bytes", iter([lengths > MAX_TEXT_BYTES]))


def _expect_texts(content: bytes, ends: NDArray[np.int64]) -> None:
    """Check that each text in these bytes is UTF-8 without NUL."""
    letters = np.frombuffer(content, np.uint8)
    if len(letters) < ends[-1]:
        raise ValueError("lacks texts")
    starts = ends[:-1][ends[:-1] < len(letters)]
    try:
        content.decode()
    except UnicodeDecodeError:
        raise ValueError("holds a text that is not UTF-8") from None
    _expect("a text that is not UTF-8", iter([letters[starts] & 0xC0 == 0x80]))
    _expect("a text with a NUL byte", iter([letters == 0]))


def _read_portions(path: Path, kind: np.dtype[Any], items: int) -> Iterator[Array]:
    """Yield the items of a file; ValueError if the file does not have exactly `items` items."""
    size = path.stat().st_size if path.exists() else 0
    if size != items * kind.itemsize:
        raise ValueError(f"{path.name}: has {size:,} bytes, expected {items * kind.itemsize:,}")
    with path.open("rb") as file:
        while len(part := np.fromfile(file, kind, _PORTION)):
            yield part


def _expect(wrong: str, portions: Iterator[Array]) -> None:
    """Raise ValueError if any of the flags is set."""
    if any(bool(flags.any()) for flags in portions):
        raise ValueError(f"holds {wrong}")
