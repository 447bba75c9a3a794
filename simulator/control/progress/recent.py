"""Samples the workers' activity in the last seconds, from their heartbeats.

A rate is measured between two heartbeats of the same worker, so the time of the sample does not
change the rate. Latencies are counted from the last heartbeat before the window.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np

from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.events import AskedSample, SampleEvent
from simulator.protocol.messages import HEARTBEAT_S, WARMUP, Heartbeat
from simulator.protocol.numbers import Counts, counts_from, quantile_ms
from simulator.protocol.spec import Work

_RATE_BEATS = 1.8
"""Minimum time over which a rate is measured, in heartbeats."""
SAMPLE_S = 1.0
"""Interval at which the workers are sampled."""
_SAMPLES = 3600
"""Number of samples of a phase after which samples become rarer, to keep the log short."""
LATENCY_S = 5.0
_SILENT_BEATS = 4
"""Age of the last heartbeat, in beats, from which a worker counts as idle."""


class _Beat(NamedTuple):
    heard_s: float
    beat: Heartbeat


class Recent:
    """Follows the heartbeats of one run."""

    def __init__(
        self,
        run: Coordinator,
        clock: Callable[[], float],
        barrier: str = Work.INSERT.value,
        beside: Collection[int] = (),
    ) -> None:
        """Store the clock of heartbeats, the barrier, and the workers that ask during inserts."""
        self._run = run
        self._clock = clock
        self._latency_s = max(LATENCY_S, 2 * run.heartbeat_s)
        self._barrier = barrier
        self._beside = frozenset(beside)
        self._sampled_s = 0.0
        self._heard: dict[int, deque[_Beat]] = {}
        """Worker -> heartbeats of the present phase in the window, and the last one before it."""
        self._runs: dict[str, int] = {}
        """Query -> maximum number of runs in a sample; workers that move on report other runs."""

    def note(self) -> None:
        """Read the new heartbeats; call it about as often as they arrive."""
        now_s = self._clock()
        for index, beat in self._run.beats.items():
            known = self._heard.setdefault(index, deque())
            if known and known[-1].beat is beat:
                continue
            if known and known[-1].beat.phase != beat.phase:
                known.clear()
            known.append(_Beat(self._run.heard_s[index], beat))
            while len(known) > 1 and known[1].heard_s <= now_s - self._latency_s:
                known.popleft()

    def is_due(self, entered_s: float, pulse_s: float) -> bool:
        """Return whether the next sample of a phase is due, at the latest after `pulse_s`."""
        now_s = self._clock()
        every_s = max(SAMPLE_S, min((now_s - entered_s) / _SAMPLES, pulse_s))
        return now_s - max(self._sampled_s, entered_s) >= every_s - HEARTBEAT_S / 2

    def sample(
        self, at_s: float, phase: str, query: str = "", began_s: float | None = None
    ) -> SampleEvent:
        """Return a sample of the workers in a phase, or of the workers that ask `query`.

        `began_s` is the time at which the workers were let into the phase, on the clock of `at_s`.
        """
        self._sampled_s = self._clock()
        since_s = None if began_s is None else self._clock() - (at_s - began_s)
        beats = [known[-1].beat for known in self._heard.values()]
        prefills = phase == "prefill"
        own = query or self.worker_phase(phase)
        working = [known for known in self._heard.values() if known[-1].beat.phase == own]
        beside = [known for known in working if known[-1].beat.index in self._beside]
        others = [known for known in working if known[-1].beat.index not in self._beside]
        if query:
            runs = sum(known[-1].beat.runs for known in working)
            self._runs[query] = max(self._runs.get(query, 0), runs)
        reports = self._run.reports
        latencies = self._latencies(others)
        return SampleEvent(
            at_s=round(at_s, 3),
            phase=phase,
            query=query,
            rows=sum(
                beat.prefill_rows if prefills
                else reports[beat.index].rows if beat.index in reports
                else beat.rows
                for beat in beats
            ),
            rows_per_s=sum(
                self._per_s(known, lambda b: b.prefill_rows if prefills else b.rows, since_s)
                for known in others
            ),
            runs=self._runs.get(query, 0),
            queries_per_s=sum(self._per_s(known, lambda b: b.runs, since_s) for known in working)
            if query
            else 0.0,
            p50_ms=quantile_ms(latencies, 0.5),
            p99_ms=quantile_ms(latencies, 0.99),
            errors=sum(beat.errors for beat in beats),
            retried=sum(beat.retried for beat in beats),
            uncertain_rows=sum(beat.uncertain_rows for beat in beats),
            asked=self._sample_asked(beside, since_s) if self._beside else None,
        )  # fmt: skip

    def _sample_asked(self, beside: Iterable[deque[_Beat]], since_s: float | None) -> AskedSample:
        """Return the activity of workers that ask during writes; reports override heartbeats."""
        beside, reports = list(beside), self._run.reports
        latencies = self._latencies(beside)
        return AskedSample(
            runs=sum(
                sum(times.runs + times.warmup_runs for times in reports[beat.index].queries)
                if beat.index in reports
                else beat.runs
                for beat in (known[-1].beat for known in beside)
            ),
            queries_per_s=sum(self._per_s(known, lambda b: b.runs, since_s) for known in beside),
            p50_ms=quantile_ms(latencies, 0.5),
            p99_ms=quantile_ms(latencies, 0.99),
        )

    def worker_phase(self, phase: str) -> str:
        """Return the workers' name of a phase; workers do not distinguish the warm-up."""
        return self._barrier if phase == WARMUP else phase

    def _per_s(
        self, known: deque[_Beat], count: Callable[[Heartbeat], int], since_s: float | None
    ) -> float:
        """Return the rate of a worker by its last heartbeats; 0 if all are too old.

        The first heartbeat of a phase is compared with the start of the phase, if that is known.
        """
        last = known[-1]
        if self._clock() - last.heard_s > _SILENT_BEATS * self._run.heartbeat_s:
            return 0.0
        if len(known) == 1:
            spent_s = last.heard_s - since_s if since_s is not None else 0.0
            return count(last.beat) / spent_s if spent_s > 0 else 0.0
        rate_s = _RATE_BEATS * self._run.heartbeat_s
        earlier = [each for each in known if last.heard_s - each.heard_s >= rate_s]
        before = earlier[-1] if earlier else known[0]
        spent_s = last.heard_s - before.heard_s
        return max(count(last.beat) - count(before.beat), 0) / spent_s if spent_s else 0.0

    def _latencies(self, workers: Iterable[deque[_Beat]]) -> Counts:
        """Return the latencies in the window, of workers with a heartbeat in the window."""
        since_s, total = self._clock() - self._latency_s, counts_from(())
        for known in workers:
            if known[-1].heard_s > since_s:
                first = known[0].beat.latency if known[0].heard_s <= since_s else ()
                total = total + (counts_from(known[-1].beat.latency) - counts_from(first)).clip(0)
        return total


LEAST_RATES = 10
"""Minimum number of rates, about one a second, that can show a steady rate."""
AHEAD_S = 2.0
"""Lead time, of some heartbeats, with which workers learn the start of the measured part."""
_MOST_CHANGE = 0.07
"""Maximum change of a steady rate, from the first to the last rate, as a share of the mean."""


class Steady:
    """Decides whether the rate of all workers in the warm-up is steady."""

    def __init__(self) -> None:
        self._rates: list[float] = []

    def note(self, rows_per_s: float) -> None:
        """Add the rate of the last second or two."""
        self._rates.append(rows_per_s)

    @property
    def is_reached(self) -> bool:
        """True if the rate has become steady."""
        rates = np.asarray(self._rates[len(self._rates) // 2 :])
        if len(self._rates) < LEAST_RATES or not rates.mean():
            return False
        first, second = np.triu_indices(len(rates), 1)
        slope = float(np.median((rates[second] - rates[first]) / (second - first)))
        return bool(abs(slope) * (len(rates) - 1) <= _MOST_CHANGE * rates.mean())
