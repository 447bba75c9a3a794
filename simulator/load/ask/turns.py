"""Asks several query types in turn for a time, as the queries of a mixed run are asked."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from math import gcd
from types import MappingProxyType

from simulator.load.ask.answers import Report
from simulator.load.ask.asker import Asker
from simulator.load.ask.callers import Callers
from simulator.load.meter import Durations
from simulator.load.pace import NEVER_NS, Pace, Timetable, wait_until
from simulator.protocol.messages import QueryTimes

NO_WEIGHTS: Mapping[str, int] = MappingProxyType({})


def in_turn(askers: Sequence[Asker], weights: Mapping[str, int]) -> list[Asker]:
    """Return askers in the order of their turns, each as often as its weight and evenly spread."""
    found = [weights.get(asker.name, 1) for asker in askers]
    common = gcd(*found)
    turns = [
        ((turn + 0.5) / (weight // common), place)
        for place, weight in enumerate(found)
        for turn in range(weight // common)
    ]
    return [askers[place] for _, place in sorted(turns)]


class Turns:
    """Asks types in turn, beginning with the turn at place `first`."""

    def __init__(  # noqa: PLR0913
        self,
        askers: Sequence[Asker],
        callers: Callers,
        pace: Pace,
        first: int = 0,
        weights: Mapping[str, int] = NO_WEIGHTS,
        *,
        warmup_s: float = 0.0,
        when_measured: Callable[[], object] = int,
    ) -> None:
        """Store askers with the same callers; their first runs are done.

        Runs due in the first `warmup_s` are not timed. `when_measured` is called at its end.
        """
        self._askers, self._callers, self._pace, self._first = askers, callers, pace, first
        self._turns = in_turn(askers, weights)
        self._warmup_s, self._when_measured = warmup_s, when_measured
        self.waits = Durations()
        """Waits of all queries, including the warm-up."""
        self._measured_ns = self._ended_ns = 0
        """When the measured part began, and when its last answer came; 0: not yet."""
        self._cpu_s = 0.0

    def ask(self, stop: threading.Event, report: Report) -> None:
        """Ask until the time is over; with a rate, each query is due at a time."""
        start_ns, pace = time.perf_counter_ns(), self._pace
        measured_ns = start_ns + int(self._warmup_s * 1e9)
        timetable = Timetable([pace], start_ns, measured_ns)
        if not self._warmup_s:
            self._measure()
        asked = islice(cycle(self._turns), self._first % len(self._turns), None)
        while True:
            self._callers.wait_for_one()
            due_ns = timetable.due_ns(time.perf_counter_ns())
            if due_ns == NEVER_NS:
                break
            wait_until(due_ns, stop)
            timed = due_ns >= measured_ns
            if timed and not self._measured_ns:
                self._measure()
            scheduled_ns = due_ns if pace.rate_per_s else None
            record = self._record_timed if timed else self._record
            next(asked).once(stop, report, scheduled_ns, record, timed=timed)
        self._callers.wait_for_all()
        turns = list(islice(asked, len(self._turns)))
        for kept in timetable.kept():
            late_ns = kept.late_ns[kept.unsent_ns >= measured_ns]
            for turn, asker in enumerate(turns):
                asker.keep(kept.until_ns - measured_ns, late_ns[turn :: len(turns)], kept.each)
        if not self._measured_ns:
            self._measure()
        self._cpu_s = self._callers.cpu_s() - self._cpu_s
        wait_until(pace.end_ns(measured_ns), stop)  # what follows would disturb the others

    def _record(self, waited_ns: int, _: int) -> None:
        self.waits.record(waited_ns)

    def _record_timed(self, waited_ns: int, ended_ns: int) -> None:
        self.waits.record(waited_ns)
        self._ended_ns = max(ended_ns, self._ended_ns)

    def _measure(self) -> None:
        """End the warm-up."""
        self._when_measured()
        self._measured_ns = self._ended_ns = time.perf_counter_ns()
        self._cpu_s = self._callers.cpu_s()

    def times(self, report: Report) -> list[QueryTimes]:
        """Return what was measured, in the order of the types, once the answers are reported."""
        elapsed_s = (self._ended_ns - self._measured_ns) / 1e9
        return [asker.times(elapsed_s, report, self._cpu_s) for asker in self._askers]
