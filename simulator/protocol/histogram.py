"""HDR histograms of latencies, and their encoding. The sum of histograms is exact."""

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
"""Header: cookie, length, offset, digits, lowest, highest, ratio."""
_LARGEST_BYTES = 1 << 20
"""Maximum size of a decompressed histogram; one of ours has at most 23,000 counters."""


def new_histogram() -> HdrHistogram:
    """Return an empty histogram of microseconds: 1 us to 1 hour, with three significant digits."""
    return HdrHistogram(1, _HIGHEST_US, _DIGITS)


def merge_histogram(encoded: list[str]) -> HdrHistogram:
    """Return the sum of encoded histograms; ValueError if one is damaged."""
    total = new_histogram()
    for one in encoded:
        if one:
            total.add(_decode(one))
    return total


def _decode(encoded: str) -> HdrHistogram:
    """Return a decoded histogram; ValueError if it is damaged.

    The library would allocate as much memory as a damaged histogram declares.
    """
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
    """Add durations to a histogram; each duration counts `each` times."""
    micros = np.clip(durations_ns // 1000, 1, _HIGHEST_US)
    for value, count in zip(*np.unique(micros, return_counts=True), strict=True):
        histogram.record_value(int(value), int(count) * each)


def at_least(histogram: HdrHistogram, late_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the minimum latencies of unsent work; none is below the fastest recorded latency."""
    fastest_us = histogram.get_min_value() if histogram.get_total_count() else 0
    return np.maximum(late_ns, fastest_us * 1000)


def encode_histogram(histogram: HdrHistogram) -> str:
    """Return the encoded histogram."""
    encoded: bytes = histogram.encode()
    return encoded.decode()
