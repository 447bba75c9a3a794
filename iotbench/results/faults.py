"""Faults in results: their times, and their effects on acknowledgements."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from iotbench.results.latency import FEWEST
from simulator.frozen import Frozen
from simulator.protocol.events import Outcome
from simulator.protocol.messages import WorkerReport
from simulator.protocol.numbers import BUCKETS, Counts, quantile_ms
from simulator.protocol.verdict import Accounts

RECOVERED = 0.95
"""Share of the rate before a fault at which the rate counts as recovered."""
_SETTLED = 2.0
_OVER_S = 3
"""Number of seconds over which the rate after a fault is averaged."""
_Interval = tuple[float, float]
_Seconds = tuple[int, int | None]


class Injected(Frozen):
    """A fault, with times on the collector's clock."""

    fault: str
    began_s: float
    undone_s: float
    """Time when a paused database continued, or when the restart command had ended."""
    problem: str = ""
    """Reason why the fault could not be made or undone."""


class Outage(Frozen):
    """A fault and its effects; instants are in seconds since the common start."""

    fault: str
    began_s: float
    undone_s: float
    silent_s: float
    """Longest time without an acknowledgement during or after the fault."""
    first_after_s: float
    """Time from the end of the fault to the next acknowledgement."""
    recovery_s: float | None
    """Time from the beginning of the fault until the rate was at least 95 % of the rate before.

    The rate is averaged over 3 s, or over the rest of the run if it is shorter. None: not reached
    within the run."""
    settled_s: float | None
    """Time from the beginning of the fault until rate and latency were back.

    The latency is back once the median of the batches due in a second is at most twice the median
    before the fault. None: not reached within the run."""
    rows_per_s_before: float
    """Rows/s before the first fault."""
    p99_inside_ms: float | None
    """99th percentile of the latency of batches due from the beginning of the fault until
    `settled_s`."""
    p99_outside_ms: float | None
    """99th percentile of the latency of all other batches in the measured part."""


def accounts_of(outcome: Outcome) -> Accounts | None:
    """Return the accounts of a run's rows; None if no accounts were made."""
    verdict = outcome.rows_verdict or outcome.verdict
    return verdict.accounts if verdict else None


def outages_of(outcome: Outcome, injected: Sequence[Injected]) -> tuple[Outage, ...]:
    """Return the effects of each fault on the inserts of a run."""
    workers = [each for each in outcome.workers if each.rows]
    if outcome.released_s is None or not workers or not injected:
        return ()
    begins_s = [each.began_s - outcome.released_s for each in injected]
    course = _Course(workers, outcome.released_s, begins_s[0])
    ends_s = [*begins_s[1:], course.ended_s]
    found = [course.measure_outage(*each) for each in zip(injected, ends_s, strict=True)]
    outside_ms = course.sketches.p99_outside_ms([_find_inside(each) for each in found])
    return tuple(each.model_copy(update={"p99_outside_ms": outside_ms}) for each in found)


def _find_inside(outage: Outage) -> _Seconds:
    """Return the first second of an outage, and the second after its end; None if it has no end."""
    began = int(outage.began_s)
    if outage.settled_s is None:
        return began, None
    return began, max(round(outage.began_s + outage.settled_s), began + 1)


class _Course:
    """Times of a run's acknowledgements, in seconds since the common start."""

    def __init__(
        self, workers: Sequence[WorkerReport], start_s: float, first_fault_s: float
    ) -> None:
        self._start_s = start_s
        measured_s = min(each.started_s or start_s for each in workers) - start_s
        self.ended_s = max(each.ended_s or start_s for each in workers) - start_s
        self.sketches = _Sketches(workers, int(measured_s), int(first_fault_s))
        self._silent = [
            (began - start_s, end - start_s) for began, end in _find_common_silences(workers)
        ]
        self._rates = np.zeros(max(len(each.rows_by_second) for each in workers), np.int64)
        for each in workers:
            self._rates[: len(each.rows_by_second)] += np.asarray(each.rows_by_second, np.int64)
        before = self._rates[math.ceil(measured_s) : int(first_fault_s)]
        self._rate = float(before.mean()) if len(before) else 0.0
        """Rate before the first fault; later rates may include a backlog."""

    def measure_outage(self, injected: Injected, until_s: float) -> Outage:
        began_s, undone_s = injected.began_s - self._start_s, injected.undone_s - self._start_s
        silent = [each for each in self._silent if each[1] > began_s and each[0] < until_s]
        quiet_from_s, quiet_until_s = max(
            silent, key=lambda each: each[1] - each[0], default=(began_s, began_s)
        )
        after = (end - undone_s for begin, end in self._silent if begin <= undone_s < end)
        back = self._find_back(quiet_until_s, until_s)
        settled = None if back is None else self.sketches.find_settled(back, int(until_s))
        found = Outage(
            fault=injected.fault,
            began_s=began_s,
            undone_s=undone_s,
            silent_s=quiet_until_s - quiet_from_s,
            first_after_s=next(after, 0.0),
            recovery_s=None if back is None else back - began_s,
            settled_s=None if settled is None else settled - began_s,
            rows_per_s_before=self._rate,
            p99_inside_ms=None,
            p99_outside_ms=None,
        )
        inside_ms = self.sketches.p99_inside_ms(_find_inside(found))
        return found.model_copy(update={"p99_inside_ms": inside_ms})

    def _find_back(self, from_s: float, until_s: float) -> int | None:
        """Return the first second at which the rate is back; None if not in this interval."""
        last = int(until_s)  # the first second that is not whole
        for second in range(math.ceil(from_s), last):
            if self._rates[second : min(second + _OVER_S, last)].mean() >= RECOVERED * self._rate:
                return second
        return None


def _find_common_silences(workers: Sequence[WorkerReport]) -> list[_Interval]:
    """Return the intervals without an acknowledgement of any worker.

    Each worker reports only its longest silences.
    """
    first, *others = ([(each.began_s, each.ended_s) for each in w.silences] for w in workers)
    for mine in others:
        first = [*_intersect(first, mine)]
    return first


def _intersect(ones: Sequence[_Interval], others: Sequence[_Interval]) -> Iterator[_Interval]:
    for begin, end in ones:
        for other_begin, other_end in others:
            both = max(begin, other_begin), min(end, other_end)
            if both[0] < both[1]:
                yield both


class _Sketches:
    """Counts of the latencies of batches, for each second in which the batches were due."""

    def __init__(self, workers: Sequence[WorkerReport], first: int, faulty: int) -> None:
        """Store the latencies from second `first` on; the first fault is in second `faulty`."""
        last = max((s for each in workers for s, _, _ in each.waits_by_second), default=0)
        self._counts = np.zeros((last + 1, BUCKETS), np.int64)
        for worker in workers:
            for second, bucket, count in worker.waits_by_second:
                self._counts[second, bucket] += count
        self._counts[:first] = 0
        self._before_ms = quantile_ms(self._counts[:faulty].sum(axis=0), 0.5)

    def find_settled(self, first: int, last: int) -> int | None:
        """Return the first second of a range in which latencies are as before all faults.

        None if there is no such second.
        """
        before_ms = self._before_ms
        for second in range(first, last):
            found = self._counts[second].sum() if second < len(self._counts) else 0
            found_ms = quantile_ms(self._counts[second], 0.5) if found else None
            if before_ms is None or found_ms is None or found_ms <= _SETTLED * before_ms:
                return second
        return None

    def p99_inside_ms(self, span: _Seconds) -> float | None:
        return _compute_p99_ms(self._counts[slice(*span)].sum(axis=0))

    def p99_outside_ms(self, spans: Sequence[_Seconds]) -> float | None:
        kept = np.ones(len(self._counts), np.bool_)
        for span in spans:
            kept[slice(*span)] = False
        return _compute_p99_ms(self._counts[kept].sum(axis=0))


def _compute_p99_ms(counts: Counts) -> float | None:
    return quantile_ms(counts, 0.99) if counts.sum() >= FEWEST["p99_ms"] else None
