"""Measures batches: a latency histogram and rows per second, folded in bulk.

Recording a batch costs three array stores. Every 16,384 batches the raw durations are folded into
an HDR histogram by distinct value. Merging histograms is exact.
"""

import base64
import struct
import zlib
from collections.abc import Iterable

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

_BUFFER = 1 << 14
_HIGHEST_US = 3_600_000_000
_DIGITS = 3
_FRAME_BYTES = 8
_HEADER = ">iiiiqqd"
"""Cookie, length, offset, digits, lowest, highest, ratio."""
_LARGEST_BYTES = 1 << 20
"""Of a decompressed histogram; ours has 23,000 counters at most."""


def new_histogram() -> HdrHistogram:
    """Return an empty histogram of microseconds: 1 us to 1 hour, three significant digits."""
    return HdrHistogram(1, _HIGHEST_US, _DIGITS)


def merged_histogram(encoded: list[str]) -> HdrHistogram:
    """Return the sum of encoded histograms; ValueError if one is damaged."""
    total = new_histogram()
    for one in encoded:
        if one:
            total.add(_decoded(one))
    return total


def _decoded(encoded: str) -> HdrHistogram:
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


class Durations:
    """Durations of queries: their number, sum and histogram, in bounded memory."""

    def __init__(self) -> None:
        self.count = self.sum_ns = 0
        self._waiting: list[int] = []
        self._histogram = new_histogram()

    def record(self, duration_ns: int) -> None:
        """Record one duration."""
        self.count += 1
        self.sum_ns += duration_ns
        self._waiting.append(duration_ns)
        if len(self._waiting) == _BUFFER:
            self._fold()

    def _fold(self) -> None:
        _add(self._histogram, np.asarray(self._waiting, np.int64))
        self._waiting.clear()

    def encoded(self) -> str:
        """Return the encoded histogram; empty without any duration."""
        self._fold()
        return _encoded(self._histogram) if self.count else ""


def encoded_histogram(durations_ns: Iterable[int]) -> str:
    """Return the encoded histogram of durations; empty without any."""
    durations = Durations()
    for each in durations_ns:
        durations.record(each)
    return durations.encoded()


def _add(histogram: HdrHistogram, durations_ns: NDArray[np.int64]) -> None:
    micros = np.clip(durations_ns // 1000, 1, _HIGHEST_US)
    for value, count in zip(*np.unique(micros, return_counts=True), strict=True):
        histogram.record_value(int(value), int(count))


def _encoded(histogram: HdrHistogram) -> str:
    encoded: bytes = histogram.encode()
    return encoded.decode()


class Meter:
    """Records the batches of one worker; instants are time.perf_counter_ns()."""

    def __init__(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self.last_ns = start_ns
        self.rows = 0
        self.sends = 0
        self.payload_bytes: int | None = 0
        """Of all batches; None if one has no known size."""
        self._ends = np.empty(_BUFFER, np.int64)
        self._latencies = np.empty(_BUFFER, np.int64)
        self._counts = np.empty(_BUFFER, np.int64)
        self._filled = 0
        self._histogram = new_histogram()
        self._by_second = np.zeros(0, np.int64)

    def record(self, due_ns: int, end_ns: int, rows: int, size_bytes: int | None) -> None:
        """Record a batch that was due at `due_ns` and acknowledged at `end_ns`."""
        at = self._filled
        self._ends[at] = end_ns
        self._latencies[at] = end_ns - due_ns
        self._counts[at] = rows
        self._filled = at + 1
        self.last_ns = max(self.last_ns, end_ns)  # batches in flight end in any order
        self.rows += rows
        self.sends += 1
        if size_bytes is None or self.payload_bytes is None:
            self.payload_bytes = None
        else:
            self.payload_bytes += size_bytes
        if self._filled == _BUFFER:
            self._fold()

    def _fold(self) -> None:
        filled, self._filled = self._filled, 0
        if not filled:
            return
        _add(self._histogram, self._latencies[:filled])
        seconds = (self._ends[:filled] - self.start_ns) // 1_000_000_000
        rows = np.bincount(seconds, weights=self._counts[:filled]).astype(np.int64)
        if len(rows) > len(self._by_second):
            self._by_second = np.pad(self._by_second, (0, len(rows) - len(self._by_second)))
        self._by_second[: len(rows)] += rows

    def latency(self) -> str:
        """Return the encoded histogram."""
        self._fold()
        return _encoded(self._histogram)

    def rows_by_second(self) -> tuple[int, ...]:
        """Return the acknowledged rows of each second since the start."""
        self._fold()
        return tuple(self._by_second.tolist())
