"""A 64-bit hash of each row, the same whether the row was drawn or read back from a database."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block
from simulator.data.mixer import Hashes, key_of, mix
from simulator.data.query import Output
from simulator.data.schema import FLOATS, Type
from simulator.data.stored_values import convert_stored_values

_NULL = np.uint64(0xD1B54A32D192ED03)  # not the value of a counter, code or instant


def block_hashes(columns: Sequence[Output], block: Block) -> Hashes:
    """Return the hash of each row of a block over these columns."""
    total = np.zeros(len(block), np.uint64)
    for column in columns:
        data = block.data[column.name]
        total += _mix(column, _bits(column, data.values(), data.valid))
    return mix(total)


def hash_stored(columns: Sequence[Output], raw: Sequence[Sequence[Any]]) -> Hashes:
    """Return the hash of each raw driver row.

    A row with a value that its column's type does not hold exactly has the hash of no drawn row.
    """
    total = np.zeros(len(raw), np.uint64)
    listed = zip(*raw, strict=True) if raw else iter(() for _ in columns)
    for column, cells in zip(columns, listed, strict=True):
        values, valid, odd = convert_stored_values(column, cells)
        bits = _bits(column, values, valid)
        bits[odd] = [_odd_bits(cells[place]) for place in odd.tolist()]
        total += _mix(column, bits)
    return mix(total)


def _odd_bits(cell: Any) -> int:
    """Return 64 bits for a value of no column's type, the same in every process."""
    shown = f"{type(cell).__name__} {cell!r}".encode(errors="replace")
    return int.from_bytes(blake2b(shown, digest_size=8).digest(), "little")


def _mix(column: Output, bits: Hashes) -> Hashes:
    """Return bits that differ from the bits of equal values in other columns."""
    bits += np.uint64(key_of(0, column.name))
    return mix(bits)


def _bits(column: Output, values: Array, valid: NDArray[np.bool_] | None) -> Hashes:
    bits = _text_bits(values) if column.type is Type.TEXT else _number_bits(column, values)
    if valid is not None:
        bits[~valid] = _NULL
    return bits


def _number_bits(column: Output, values: Array) -> Hashes:
    """Return 64 bits that are equal for equal numbers; 0.0 and -0.0 differ if they can."""
    if column.type in FLOATS:
        doubles = values.astype(np.float64)
        return (doubles + 0.0 if column.signless else doubles).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def _text_bits(values: Array) -> Hashes:
    """Return a hash of each text, independent of the width of its array."""
    width = max(-(-values.dtype.itemsize // 8), 1)
    words = values.astype(f"S{8 * width}").view(np.uint64).reshape(len(values), width)
    bits = np.zeros(len(values), np.uint64)
    for place in range(width):
        bits += mix(words[:, place] * np.uint64(2 * place + 1))
    return bits
