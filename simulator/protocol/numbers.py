"""Many numbers in a message: latencies in coarse buckets, and packed columns of integers.

A bucket is a sixteenth of a power of two of microseconds, so a quantile is exact to 3 %. Buckets
are small enough to be sent twice a second, and can be added without error. The size of packed
columns is checked before they are read.
"""

import base64
import zlib
from collections.abc import Iterable
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

_PARTS = 16
"""Number of buckets for each power of two."""
BUCKETS = 32 * _PARTS
"""Number of buckets, which cover 1 us to 1.2 h."""
_FRACTION_SHIFT = 23 - 4
"""Number of low bits of a 32-bit float to drop; the rest, as an integer, numbers the bucket."""
_ONE = 127 * _PARTS
"""Number that the float 1.0 has after the shift; it becomes bucket 0."""

Counts: TypeAlias = NDArray[np.int64]
"""Number of latencies in each bucket."""


def counts_of(durations_ns: NDArray[np.int64], weights: NDArray[np.int64] | None = None) -> Counts:
    """Return the number of durations in each bucket; each duration counts as often as its weight.

    Durations outside all buckets are in the first or the last bucket.
    """
    return np.bincount(buckets_of(durations_ns), weights, BUCKETS).astype(np.int64)


def buckets_of(durations_ns: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the bucket of each duration."""
    micros = (durations_ns * 1e-3).astype(np.float32)
    buckets: NDArray[np.int32] = (micros.view(np.int32) >> _FRACTION_SHIFT) - _ONE
    return np.clip(buckets, 0, BUCKETS - 1)


def pairs_of(counts: Counts) -> tuple[tuple[int, int], ...]:
    """Return (bucket, count) for each bucket that is not empty."""
    (filled,) = counts.nonzero()
    return tuple(zip(filled.tolist(), counts[filled].tolist(), strict=True))


def counts_from(pairs: Iterable[tuple[int, int]]) -> Counts:
    """Return the counts from (bucket, count) pairs."""
    counts = np.zeros(BUCKETS, np.int64)
    for bucket, count in pairs:
        counts[bucket] = count
    return counts


def quantile_ms(counts: Counts, share: float) -> float | None:
    """Return the latency that this share of all latencies does not exceed; None if none exist."""
    total = int(counts.sum())
    if not total:
        return None
    bucket = int(np.searchsorted(np.cumsum(counts), share * total))
    power, part = divmod(min(bucket, BUCKETS - 1), _PARTS)
    return float((0.5 + (part + 0.5) / (2 * _PARTS)) * 2.0 ** (power + 1) / 1000)


MOST_NUMBERS = 1 << 18
"""Maximum number of integers in one packed string."""
_MOST_BYTES = 8 * MOST_NUMBERS
_CHARACTERS = (_MOST_BYTES + (1 << 16)) // 3 * 4
Packed: TypeAlias = Annotated[str, Field(max_length=_CHARACTERS, pattern="^[A-Za-z0-9+/=]*$")]
Columns: TypeAlias = NDArray[np.int64]
"""Matrix with one row for each column."""


def pack(columns: Columns) -> str:
    """Return columns, with at most MOST_NUMBERS integers in total, as a packed string."""
    content = np.ascontiguousarray(columns, np.int64).tobytes()
    return base64.b64encode(zlib.compress(content, 1)).decode()


def unpack(text: str, columns: int) -> Columns:
    """Return the columns in a packed string; ValueError if it is damaged or too large.

    `columns`: number of columns.
    """
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), _MOST_BYTES + 1)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"packed columns are damaged: {error}") from error
    if not reader.eof and len(content) <= _MOST_BYTES:
        raise ValueError("packed columns are damaged: they are truncated")
    if len(content) > _MOST_BYTES or len(content) % (8 * columns):
        raise ValueError(f"expected {columns} columns of whole numbers, got {len(content)} bytes")
    return np.frombuffer(content, np.int64).reshape(columns, -1)
