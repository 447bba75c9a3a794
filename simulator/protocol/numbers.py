"""Many numbers in a message: latencies in coarse buckets, and packed columns of integers.

A bucket is a sixteenth of a power of two of microseconds, so a quantile is within 3 %. Buckets are
small enough to send twice a second, and exact to add up. Packed columns are bounded before they are
read.
"""

import base64
import zlib
from collections.abc import Iterable
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

_PARTS = 16
"""Buckets for each power of two."""
BUCKETS = 32 * _PARTS
"""Buckets from 1 us to 1.2 h."""
_FRACTION_SHIFT = 23 - 4
"""Lowest bits of a 32-bit float; its bucket is the exponent and four bits of the fraction."""
_ONE = 127 * _PARTS
"""The bucket of 1.0, counted from the smallest float's."""

Counts: TypeAlias = NDArray[np.int64]
"""Number of latencies in each bucket."""


def counts_of(durations_ns: NDArray[np.int64], weights: NDArray[np.int64] | None = None) -> Counts:
    """Return the number of durations in each bucket; the first and last include those outside.

    Each duration counts as often as its weight.
    """
    return np.bincount(buckets_of(durations_ns), weights, BUCKETS).astype(np.int64)


def buckets_of(durations_ns: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the bucket of each duration."""
    micros = (durations_ns * 1e-3).astype(np.float32)
    buckets: NDArray[np.int32] = (micros.view(np.int32) >> _FRACTION_SHIFT) - _ONE
    return np.clip(buckets, 0, BUCKETS - 1)


def pairs_of(counts: Counts) -> tuple[tuple[int, int], ...]:
    """Return bucket and count of each bucket that is not empty."""
    (filled,) = counts.nonzero()
    return tuple(zip(filled.tolist(), counts[filled].tolist(), strict=True))


def counts_from(pairs: Iterable[tuple[int, int]]) -> Counts:
    """Return the counts of such pairs."""
    counts = np.zeros(BUCKETS, np.int64)
    for bucket, count in pairs:
        counts[bucket] = count
    return counts


def quantile_ms(counts: Counts, share: float) -> float | None:
    """Return the latency that this share of all does not exceed; None without any."""
    total = int(counts.sum())
    if not total:
        return None
    bucket = int(np.searchsorted(np.cumsum(counts), share * total))
    power, part = divmod(min(bucket, BUCKETS - 1), _PARTS)
    return float((0.5 + (part + 0.5) / (2 * _PARTS)) * 2.0 ** (power + 1) / 1000)


MOST_NUMBERS = 1 << 18
"""Numbers in one text."""
_MOST_BYTES = 8 * MOST_NUMBERS
_CHARACTERS = (_MOST_BYTES + (1 << 16)) // 3 * 4
Packed: TypeAlias = Annotated[str, Field(max_length=_CHARACTERS, pattern="^[A-Za-z0-9+/=]*$")]
Columns: TypeAlias = NDArray[np.int64]
"""A row for each column."""


def pack(columns: Columns) -> str:
    """Return columns as text; they have at most MOST_NUMBERS numbers."""
    content = np.ascontiguousarray(columns, np.int64).tobytes()
    return base64.b64encode(zlib.compress(content, 1)).decode()


def unpack(text: str, columns: int) -> Columns:
    """Return `columns` columns of a text; ValueError if it is damaged, or has too many numbers."""
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
