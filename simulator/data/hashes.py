"""A 64-bit hash of each row, the same whether the row was drawn or read back from a database."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block
from simulator.data.mixer import Hashes, key_of, mix
from simulator.data.query import Output, canonical
from simulator.data.schema import FLOATS, Type, dtype_of

_NULL = np.uint64(0xD1B54A32D192ED03)  # not the value of a counter, code or instant


def block_hashes(columns: Sequence[Output], block: Block) -> Hashes:
    """Return the hash of each row of a block over these columns."""
    data = [block.data[column.name] for column in columns]
    return _hashes(columns, ((item.values(), item.valid) for item in data), len(block))


def stored_hashes(columns: Sequence[Output], raw: Sequence[Sequence[Any]]) -> Hashes:
    """Return the hash of each raw driver row; ValueError if a value is not of its column's type."""
    cells = zip(*raw, strict=True) if raw else iter(() for _ in columns)
    arrays = (_array(column, cell) for column, cell in zip(columns, cells, strict=True))
    return _hashes(columns, arrays, len(raw))


def _array(column: Output, cells: Sequence[Any]) -> tuple[Array, NDArray[np.bool_] | None]:
    """Return a column of driver values as an array, and which of them are not NULL."""
    valid = None
    if None in cells:
        valid = np.array([cell is not None for cell in cells])
        filler: Any = "" if column.type is Type.TEXT else 0
        cells = [filler if cell is None else cell for cell in cells]
    if column.type is Type.TEXT:
        return np.array([str(canonical(column, cell)).encode() for cell in cells]), valid
    if column.type is Type.TIMESTAMP:
        return np.array([canonical(column, cell) for cell in cells], np.int64), valid
    found = np.array(cells)
    try:
        typed = found.astype(dtype_of(column.type))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{column.name}: expected {column.type}, got {error}") from error
    if column.type not in FLOATS and not np.array_equal(found, typed):
        raise ValueError(f"{column.name}: expected {column.type}, got values outside it")
    return typed, valid


def _hashes(
    columns: Sequence[Output],
    arrays: Iterable[tuple[Array, NDArray[np.bool_] | None]],
    rows: int,
) -> Hashes:
    total = np.zeros(rows, np.uint64)
    for column, (values, valid) in zip(columns, arrays, strict=True):
        bits = _text_bits(values) if column.type is Type.TEXT else _number_bits(column.type, values)
        if valid is not None:
            bits[~valid] = _NULL
        bits += np.uint64(key_of(0, column.name))
        total += mix(bits)
    return mix(total)


def _number_bits(column_type: Type, values: Array) -> Hashes:
    """Return 64 bits that are equal for equal numbers; 0.0 and -0.0 are equal."""
    if column_type in FLOATS:
        return (values.astype(np.float64) + 0.0).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def _text_bits(values: Array) -> Hashes:
    """Return a hash of each text, independent of the width of its array."""
    width = max(-(-values.dtype.itemsize // 8), 1)
    words = values.astype(f"S{8 * width}").view(np.uint64).reshape(len(values), width)
    bits = np.zeros(len(values), np.uint64)
    for place in range(width):
        bits += mix(words[:, place] * np.uint64(2 * place + 1))
    return bits
