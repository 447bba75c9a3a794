"""Faults that a worker causes, and the outages that it observes."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.messages import MOST_OWN_FAULTS, MOST_SILENCES, MOST_WAITS, Span
from simulator.protocol.numbers import BUCKETS, buckets_of
from simulator.protocol.spec import PlannedFault

_Numbers = NDArray[np.int64]


class Outages:
    """Finds outages in the acknowledgements of one worker; instants are time.perf_counter_ns()."""

    def __init__(self, start_ns: int) -> None:
        self._start_ns = self._last_ns = start_ns
        self._silences: list[tuple[int, int]] = []
        """Begin and end of the longest outages."""
        self._waits: Counter[int] = Counter()
        """Second x BUCKETS + latency bucket -> number of batches that were due in that second."""

    def add(self, latencies_ns: _Numbers, ends_ns: _Numbers) -> None:
        """Add one or more batches: their latencies, and the times of their acknowledgement."""
        ends = np.sort(np.maximum(ends_ns, self._last_ns))  # batches in flight end in any order
        begins = np.concatenate([[self._last_ns], ends[:-1]])
        longest = np.argsort(begins - ends, kind="stable")[: MOST_SILENCES - 1]
        found = zip(begins[longest].tolist(), ends[longest].tolist(), strict=True)
        both = sorted([*self._silences, *found], key=lambda each: each[0] - each[1])
        self._silences = both[: MOST_SILENCES - 1]
        self._last_ns = int(ends[-1])
        seconds = (ends_ns - latencies_ns - self._start_ns) // 1_000_000_000
        each = np.maximum(seconds, 0) * BUCKETS + buckets_of(latencies_ns)
        keys, counts = np.unique(each, return_counts=True)
        self._waits.update(dict(zip(keys.tolist(), counts.tolist(), strict=True)))

    def silences(self, instant_s: Callable[[int], float]) -> tuple[Span, ...]:
        """Return the longest silences in chronological order, on the collector's clock.

        The last silence lasts until now, because the database may have stopped answering.
        """
        found = [*self._silences, (self._last_ns, max(time.perf_counter_ns(), self._last_ns))]
        return tuple(
            Span(began_s=instant_s(began_ns), ended_s=instant_s(ended_ns))
            for began_ns, ended_ns in sorted(found)
        )

    def waits(self) -> tuple[tuple[int, int, int], ...]:
        """Return seconds since the start, each with a latency bucket and its number of batches."""
        found = sorted(self._waits.items())[:MOST_WAITS]
        return tuple((*divmod(key, BUCKETS), count) for key, count in found)


class FaultSpells:
    """Makes something fail at each instant of a fault, and undoes this later.

    `close` ends the spells.
    """

    def __init__(
        self,
        fault: PlannedFault,
        fail: Callable[[], object],
        undo: Callable[[], object],
    ) -> None:
        """Store both functions; a BrokenPipeError of one of them ends the spells."""
        self._fault, self._fail, self._undo = fault, fail, undo
        self.over = threading.Event()
        """Event that `close` sets."""
        self._done: list[tuple[int, int]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Count the instants of the fault from now on: the measured part begins."""
        if not self._thread.is_alive():
            self._thread.start()

    def _run(self) -> None:
        began_ns = time.perf_counter_ns()
        with suppress(BrokenPipeError):
            for instant_s in self._fault.instants_s[:MOST_OWN_FAULTS]:
                left_s = instant_s - (time.perf_counter_ns() - began_ns) / 1e9
                if self.over.wait(max(left_s, 0.0)):
                    return
                since_ns = time.perf_counter_ns()
                self._fail()
                self.over.wait(self._fault.lasts_s)
                self._undo()
                self._done.append((since_ns, time.perf_counter_ns()))

    def spans(self, instant_s: Callable[[int], float]) -> tuple[Span, ...]:
        """Return the times of the failures, on the collector's clock."""
        return tuple(
            Span(began_s=instant_s(began_ns), ended_s=instant_s(ended_ns))
            for began_ns, ended_ns in self._done
        )

    def close(self) -> None:
        """Undo a fault that still lasts."""
        self.over.set()
        if self._thread.is_alive():
            self._thread.join()
