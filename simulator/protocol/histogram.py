"""HDR histograms of latencies, and their encoding. Merging them is exact."""

import base64
import struct
import zlib

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

_HIGHEST_US = 3_600_000_000
_DIGITS = 3
_FRAME_BYTES = 8
_HEADER = ">iiiiqqd"
"""Cookie, length, offset, digits, lowest, highest, ratio."""
_LARGEST_BYTES = 1 << 20
"""Largest size of a decompressed histogram; ours has 23,000 counters at most."""


def new_histogram() -> HdrHistogram:
    """Return an empty histogram of microseconds: 1 us to 1 hour, three significant digits."""
    return HdrHistogram(1, _HIGHEST_US, _DIGITS)


def merge_histogram(encoded: list[str]) -> HdrHistogram:
    """Return the sum of encoded histograms; ValueError if one is damaged."""
    total = new_histogram()
    for one in encoded:
        if one:
            total.add(_decode(one))
    return total


def _decode(encoded: str) -> HdrHistogram:
    """Return a histogram of ours: the library would allocate whatever a damaged one asks for."""
    try:
        packed = base64.b64decode(encoded, validate=True)[_FRAME_BYTES:]
        content = zlib.decompressobj().decompress(packed, _LARGEST_BYTES)
        *_, digits, lowest, highest, _ratio = struct.unpack_from(_HEADER, content)
        if (digits, lowest, highest) == (_DIGITS, 1, _HIGHEST_US) and len(content) < _LARGEST_BYTES:
            return HdrHistogram.decode(encoded)
    except Exception as error:  # the library raises many kinds
        raise ValueError(f"a latency histogram is damaged: {type(error).__name__}") from error
    raise ValueError("a latency histogram has other bounds")


def add_durations(histogram: HdrHistogram, durations_ns: NDArray[np.int64], each: int = 1) -> None:
    """Add durations to a histogram, each of them this many times."""
    micros = np.clip(durations_ns // 1000, 1, _HIGHEST_US)
    for value, count in zip(*np.unique(micros, return_counts=True), strict=True):
        histogram.record_value(int(value), int(count) * each)


def at_least(histogram: HdrHistogram, late_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least latencies of unsent work: at least the fastest recorded one."""
    fastest_us = histogram.get_min_value() if histogram.get_total_count() else 0
    return np.maximum(late_ns, fastest_us * 1000)


def encode_histogram(histogram: HdrHistogram) -> str:
    """Return the encoded histogram."""
    encoded: bytes = histogram.encode()
    return encoded.decode()
