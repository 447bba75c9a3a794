"""A 64-bit hash of each row, the same whether the row was drawn or read back from a database."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import blake2b
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.data.answer import instant
from simulator.data.block import Array, Block
from simulator.data.mixer import Hashes, key_of, mix
from simulator.data.query import Output
from simulator.data.schema import FLOATS, INTEGERS, Type, dtype_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = _EPOCH.replace(tzinfo=None)
_MICROSECONDS = 10**6
_NUMBERS: tuple[set[type], ...] = ({int}, {float})
_QUICK: dict[Type, tuple[set[type], ...]] = {
    **dict.fromkeys(INTEGERS, _NUMBERS),
    **dict.fromkeys(FLOATS, ({float},)),
    Type.BOOL: ({bool}, *_NUMBERS),
    Type.TEXT: ({str}, {bytes}),
    Type.TIMESTAMP: ({datetime}, *_NUMBERS),
}
"""Python types that NumPy converts without loss if all values of a column have the same type."""


class StoredValues(NamedTuple):
    """A column of stored values."""

    values: Array
    valid: NDArray[np.bool_] | None
    """False where the value is NULL; None: no NULLs."""
    odd: NDArray[np.int64]
    """Indices of values that the column's type cannot hold; their `values` are arbitrary."""


def convert_stored_values(column: Output, cells: Sequence[Any]) -> StoredValues:
    """Return a column of driver values."""
    kinds = {*map(type, cells)}
    valid = None
    if type(None) in kinds:
        kinds.remove(type(None))
        valid = np.array([cell is not None for cell in cells])
    if len(kinds) > 1 or (kinds and kinds not in _QUICK[column.type]):
        return _convert_one_by_one(column, cells, valid)
    kind = next(iter(kinds), str if column.type is Type.TEXT else int)
    if valid is not None:
        filler = next((cell for cell in cells if cell is not None), "" if kind is str else 0)
        cells = [filler if cell is None else cell for cell in cells]
    try:
        values, odd = _convert(column, cells, kind)
    except (TypeError, OverflowError, UnicodeError):
        # Times with and without a zone; integers beyond 64 bits; texts that are not valid UTF-8.
        return _convert_one_by_one(column, cells, valid)
    if valid is not None:
        odd &= valid
    return StoredValues(values, valid, np.flatnonzero(odd))


def _convert_one_by_one(
    column: Output, cells: Sequence[Any], valid: NDArray[np.bool_] | None
) -> StoredValues:
    """Return a column of values of several types."""
    kinds, odd = {*map(type, cells)}, np.zeros(len(cells), np.bool_)
    plain: list[Any] = []
    filler: Any = b"" if column.type is Type.TEXT else dtype_of(column.type).type().item()
    for place, cell in enumerate(cells):
        try:
            is_null = cell is None or (valid is not None and not valid[place])
            plain.append(filler if is_null else _make_plain(column, cell, kinds))
        except (TypeError, ValueError, OverflowError, ArithmeticError):
            plain.append(filler)
            odd[place] = True
    values, wrong = _convert(replace(column, ticks=1), plain, type(filler))
    return StoredValues(values, valid, np.flatnonzero(odd | wrong))


def _make_plain(column: Output, cell: Any, kinds: set[type]) -> Any:
    """Return a value as the column's own Python type; an error if no equal value exists."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if column.type is Type.TEXT:
        # A driver that returns texts as str uses bytes for something else.
        return value if isinstance(value, bytes) and str not in kinds else _encode(value)
    if column.type is Type.TIMESTAMP and isinstance(value, datetime):
        return _expect_whole(instant(value, column.unit))
    if column.type is Type.BOOL:
        if value not in (0, 1) or (bool in kinds and not isinstance(value, bool)):
            raise ValueError("neither true nor false")
        return bool(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError("not a number")
    if column.type in FLOATS:
        return _expect_double(value)
    units, rest = divmod(_expect_whole(value), column.ticks)
    if rest:
        raise ValueError("lies between two units")
    return units


def _expect_double(value: Real | Decimal) -> float:
    """Return the double equal to a number or its decimal notation; ValueError if there is none."""
    number = float(value)
    named = isinstance(value, Decimal) and Decimal(repr(number)) == value
    if number == value or number != number or named:  # noqa: PLR0124
        return number
    raise ValueError("lies between two doubles")


def _expect_whole(value: Any) -> int:
    """Return a number as an integer of 64 bits; ValueError if it is not a whole one."""
    number = int(value)
    if number != value or not -(2**63) <= number < 2**63:
        raise ValueError("not a whole number of 64 bits")
    return number


def _encode(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value.encode()


def _convert(column: Output, cells: Sequence[Any], kind: type) -> tuple[Array, Array]:
    """Return values of one Python type as an array, and a mask of the odd values."""
    if column.type is Type.TEXT:
        return _convert_texts([*map(str.encode, cells)] if kind is str else cells)
    if column.type in FLOATS:
        return _convert_floats(column, np.array(cells, np.float64))
    if kind is datetime:
        return _convert_datetimes(column, cells)
    found = np.array(cells, np.float64 if kind is float else None if kind is bool else np.int64)
    values = _cast(found, dtype_of(column.type))
    odd = values != found
    if column.ticks > 1:
        values, rest = np.divmod(values, column.ticks)
        odd |= rest != 0
    return values, odd


def _cast(found: Array, dtype: Any) -> Array:
    """Return numbers as another type; numbers that the type cannot hold become arbitrary."""
    with np.errstate(invalid="ignore", over="ignore"):
        if found.dtype.kind == "f" and np.dtype(dtype).kind == "i":
            inside = np.abs(found) < 2.0**63  # 2**63 itself would become the least integer
            return np.where(inside, found, 0.5).astype(dtype)
        return found.astype(dtype)


def _convert_texts(encoded: Sequence[bytes]) -> tuple[Array, Array]:
    """Return texts as an array, and a mask of the texts with a NUL, which NumPy may drop."""
    values = np.array(encoded, np.bytes_)
    odd = np.zeros(len(encoded), np.bool_)
    if b"\0" in b"".join(encoded):
        odd |= np.array([b"\0" in text for text in encoded])
    return values, odd


def _convert_floats(column: Output, found: Array) -> tuple[Array, Array]:
    """Return floats, and a mask of the odd ones, which neither equal nor name a float32."""
    if column.type is Type.FLOAT64:
        return found, np.zeros(len(found), np.bool_)
    single = _cast(found, np.float32)
    if column.shortened:
        return single, np.isinf(single)
    return single, np.asarray(single.astype(np.float64) != found)


def _convert_datetimes(column: Output, cells: Sequence[datetime]) -> tuple[Array, Array]:
    """Return datetimes in the table's unit; TypeError if only some datetimes have a zone."""
    epoch = _EPOCH if cells[0].tzinfo else _NAIVE_EPOCH
    found = np.array([cell - epoch for cell in cells], "m8[us]").view(np.int64)
    per_second = column.unit.per_second
    if per_second <= _MICROSECONDS:
        values, rest = np.divmod(found, _MICROSECONDS // per_second)
        return values, np.asarray(rest != 0)
    values = found * (per_second // _MICROSECONDS)
    return values, np.asarray(values // (per_second // _MICROSECONDS) != found)


_NULL = np.uint64(0xD1B54A32D192ED03)  # not the value of a counter, code or instant


def block_hashes(columns: Sequence[Output], block: Block) -> Hashes:
    """Return the hash of each row of a block over these columns."""
    total = np.zeros(len(block), np.uint64)
    for column in columns:
        data = block.data[column.name]
        total += _mix(column, _make_bits(column, data.values(), data.valid))
    return mix(total)


def hash_stored(columns: Sequence[Output], raw: Sequence[Sequence[Any]]) -> Hashes:
    """Return the hash of each raw driver row.

    If the column's type does not hold a value exactly, the row's hash is unlike any drawn row's
    hash.
    """
    total = np.zeros(len(raw), np.uint64)
    listed = zip(*raw, strict=True) if raw else iter(() for _ in columns)
    for column, cells in zip(columns, listed, strict=True):
        values, valid, odd = convert_stored_values(column, cells)
        bits = _make_bits(column, values, valid)
        bits[odd] = [_hash_odd(cells[place]) for place in odd.tolist()]
        total += _mix(column, bits)
    return mix(total)


def _hash_odd(cell: Any) -> int:
    """Return 64 bits for a value without its column's type; every process returns the same."""
    shown = f"{type(cell).__name__} {cell!r}".encode(errors="replace")
    return int.from_bytes(blake2b(shown, digest_size=8).digest(), "little")


def _mix(column: Output, bits: Hashes) -> Hashes:
    """Return bits that differ between equal values of different columns."""
    bits += np.uint64(key_of(0, column.name))
    return mix(bits)


def _make_bits(column: Output, values: Array, valid: NDArray[np.bool_] | None) -> Hashes:
    """Return 64 bits per value, the same for equal values.

    0.0 and -0.0 differ unless the column is `signless`.
    """
    if column.type is Type.TEXT:
        bits = _hash_texts(values)
    elif column.type in FLOATS:
        doubles = values.astype(np.float64)
        bits = (doubles + 0.0 if column.signless else doubles).view(np.uint64)
    else:
        bits = values.astype(np.int64).view(np.uint64)
    if valid is not None:
        bits[~valid] = _NULL
    return bits


def _hash_texts(values: Array) -> Hashes:
    """Return a hash of each text, independent of the width of its array."""
    width = max(-(-values.dtype.itemsize // 8), 1)
    words = values.astype(f"S{8 * width}").view(np.uint64).reshape(len(values), width)
    bits = np.zeros(len(values), np.uint64)
    for place in range(width):
        bits += mix(words[:, place] * np.uint64(2 * place + 1))
    return bits
