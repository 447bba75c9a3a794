"""Asks several query types in turn for a time, as the queries of a mixed run are asked."""

import threading
import time
from collections.abc import Callable, Sequence
from itertools import count

from simulator.load.asker import Asker, Report
from simulator.load.connection import Stopped
from simulator.load.meter import Durations
from simulator.load.pace import Pace, wait_until
from simulator.protocol.messages import QueryTimes


class Turns:
    """Asks types in turn through one session, beginning with the one at place `first`."""

    def __init__(
        self,
        askers: Sequence[Asker],
        pace: Pace,
        first: int = 0,
        warmup_s: float = 0.0,
        when_measured: Callable[[], object] = int,
    ) -> None:
        """Take askers whose first runs are done.

        What is due in the first `warmup_s` is not timed. `when_measured` is called at its end.
        """
        self._askers, self._pace, self._first = askers, pace, first
        self._warmup_s, self._when_measured = warmup_s, when_measured
        self.waits = Durations()
        """Of all queries so far, those of the warm-up included."""
        self._measured_ns = self._ended_ns = 0
        """When the measured part began, and when its last answer came; 0: not yet."""

    def ask(self, stop: threading.Event, report: Report) -> None:
        """Ask until the time is over; with a rate, each query is due at a time."""
        start_ns, pace = time.perf_counter_ns(), self._pace
        measured_ns = start_ns + int(self._warmup_s * 1e9)
        end_ns = pace.end_ns(measured_ns)
        if not self._warmup_s:
            self._measure()
        for number in count():
            due_ns = pace.due_ns(start_ns, number + pace.turn) if pace.rate_per_s else None
            if due_ns is not None:
                wait_until(min(due_ns, end_ns), stop)
            now_ns = time.perf_counter_ns()
            if max(now_ns, due_ns or 0) >= end_ns:
                break
            if stop.is_set():
                raise Stopped
            asker = self._askers[(self._first + number) % len(self._askers)]
            if (now_ns if due_ns is None else due_ns) < measured_ns:
                self.waits.record(asker.warm_once(stop, report, due_ns))
                continue
            if not self._measured_ns:
                self._measure()
            self.waits.record(asker.once(stop, report, due_ns))
            self._ended_ns = time.perf_counter_ns()
        if not self._measured_ns:
            self._measure()

    def _measure(self) -> None:
        """End the warm-up."""
        self._when_measured()
        self._measured_ns = self._ended_ns = time.perf_counter_ns()

    def times(self, report: Report) -> list[QueryTimes]:
        """Return what was measured, in the order of the types, once the answers are reported."""
        elapsed_s = (self._ended_ns - self._measured_ns) / 1e9
        return [asker.times(elapsed_s, report) for asker in self._askers]
