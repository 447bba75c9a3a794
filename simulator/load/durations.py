"""Durations of queries and changes, folded into a histogram in bulk."""

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.histogram import (
    add_durations,
    at_least,
    encode_histogram,
    merge_histogram,
    new_histogram,
)
from simulator.protocol.numbers import Counts, counts_from, counts_of

BUFFER = 1 << 14
_LEAST_FOLDED = 1 << 10
_FOLDED_NS = 30 * 10**9
"""Maximum time to complete a portion that still lets the fold size grow."""


class FoldSize:
    """Number of durations folded at once: the number doubles while durations arrive quickly."""

    def __init__(self) -> None:
        self.size = min(_LEAST_FOLDED, BUFFER)
        self._began_ns = time.perf_counter_ns()

    def next(self) -> int:
        """Return the size of the next portion; call it when the last portion is complete."""
        now_ns = time.perf_counter_ns()
        if now_ns - self._began_ns < _FOLDED_NS:
            self.size = min(2 * self.size, BUFFER)
        self._began_ns = now_ns
        return self.size


class Durations:
    """Durations of queries: their number, sum and histogram, in bounded memory."""

    def __init__(self) -> None:
        self.count = self.sum_ns = 0
        self._fold_size = FoldSize()
        self._limit = self._fold_size.size
        self._waiting: list[int] = []
        self._histogram = new_histogram()
        self._folded = counts_from(())
        """Folded durations in coarse buckets; replaced, not changed: other threads read them."""

    def record(self, duration_ns: int) -> None:
        """Record one duration."""
        self.count += 1
        self.sum_ns += duration_ns
        self._waiting.append(duration_ns)
        if len(self._waiting) == self._limit:
            self._fold()
            self._limit = self._fold_size.next()

    def _fold(self) -> None:
        waiting = np.asarray(self._waiting, np.int64)
        add_durations(self._histogram, waiting)
        self._folded = self._folded + counts_of(waiting)
        self._waiting = []  # a new list: another thread may be reading the old one

    def sketch(self) -> Counts:
        """Return all durations in coarse buckets; any thread may call it."""
        count, waiting, folded = self.count, self._waiting, self._folded
        left = max(count - int(folded.sum()), 0)
        return folded + counts_of(np.asarray(waiting[:left], np.int64))

    def add(self, durations_ns: NDArray[np.int64], each: int = 1) -> None:
        """Record several durations at once, `each` times."""
        self.count += len(durations_ns) * each
        self.sum_ns += int(durations_ns.sum()) * each
        add_durations(self._histogram, durations_ns, each)
        self._folded = self._folded + counts_of(durations_ns)

    def at_least(self, late_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the latencies of unsent queries: the lateness, but at least the fastest wait."""
        self._fold()
        return at_least(self._histogram, late_ns)

    def encode(self) -> str:
        """Return the encoded histogram; empty without any duration."""
        self._fold()
        return encode_histogram(self._histogram) if self.count else ""


def encode_durations(durations_ns: Iterable[int]) -> str:
    """Return the encoded histogram of durations; empty without any."""
    durations = Durations()
    for each in durations_ns:
        durations.record(each)
    return durations.encode()


def encode_together(*parts: Durations) -> str:
    """Return one encoded histogram of several parts; empty without any duration."""
    encoded = [each.encode() for each in parts if each.count]
    return encode_histogram(merge_histogram(encoded)) if len(encoded) > 1 else "".join(encoded)
