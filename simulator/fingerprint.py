"""Whether two bags of rows are the same, in fixed memory, and if not, which rows differ.

Every row gets a 64-bit hash of its canonical values; a fingerprint keeps, for each of 65,536
buckets, how many hashes fell into it and their sum modulo 2**64. The order of rows does not matter;
equal fingerprints mean equal bags but for a chance of about 2**-64 for each differing bucket. Where
they differ, a second pass looks only into the differing buckets and names the rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.batch import Array, Batch
from simulator.mixer import Hashes, key_of, mix
from simulator.query import Output, canonical
from simulator.schema import FLOATS, Type, dtype_of

BUCKETS = 1 << 16
_BUCKET_SHIFT = np.uint64(48)
_NULL = np.uint64(0xD1B54A32D192ED03)  # no value that a counter, a code or an instant has


class Fingerprint:
    """Counts and wrapping sums of row hashes, by bucket."""

    def __init__(self) -> None:
        self.counts = np.zeros(BUCKETS, np.int64)
        self.sums = np.zeros(BUCKETS, np.uint64)

    def add(self, hashes: Hashes) -> None:
        """Take in rows."""
        buckets = buckets_of(hashes)
        self.counts += np.bincount(buckets, minlength=BUCKETS)
        np.add.at(self.sums, buckets, hashes)

    def differing(self, other: "Fingerprint") -> NDArray[np.int64]:
        """Return the buckets in which the two differ."""
        return np.flatnonzero((self.counts != other.counts) | (self.sums != other.sums))


def buckets_of(hashes: Hashes) -> NDArray[np.int64]:
    """Return the bucket of each hash."""
    return (hashes >> _BUCKET_SHIFT).view(np.int64)


def batch_hashes(columns: Sequence[Output], batch: Batch) -> Hashes:
    """Return the hash of each row of a batch, of the named columns."""
    data = [batch.data[column.name] for column in columns]
    return _hashes(columns, ((item.values(), item.valid) for item in data), len(batch))


def stored_hashes(columns: Sequence[Output], raw: Sequence[Sequence[Any]]) -> Hashes:
    """Return the hash of each raw driver row; ValueError if a value is not of its column's type."""
    cells = zip(*raw, strict=True) if raw else iter(() for _ in columns)
    arrays = (_array(column, cell) for column, cell in zip(columns, cells, strict=True))
    return _hashes(columns, arrays, len(raw))


def _array(column: Output, cells: Sequence[Any]) -> tuple[Array, NDArray[np.bool_] | None]:
    """Return a column of driver values as an array, and where it is not NULL."""
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
    """Return 64 bits that are the same for the same number; 0.0 and -0.0 are the same."""
    if column_type in FLOATS:
        return (values.astype(np.float64) + 0.0).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def _text_bits(values: Array) -> Hashes:
    """Return a hash of each text, whatever the width of the array that it stands in."""
    width = max(-(-values.dtype.itemsize // 8), 1)
    words = values.astype(f"S{8 * width}").view(np.uint64).reshape(len(values), width)
    bits = np.zeros(len(values), np.uint64)
    for place in range(width):
        bits += mix(words[:, place] * np.uint64(2 * place + 1))
    return bits
