"""Lets the workers of a query run in, step by step, until answers take too long."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulator.control.journal import Ramped, Stepped
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.events import QueryRamp, RampEnd, RampStep
from simulator.protocol.spec import Ramp

_ABORT = 3
"""Multiple of the limit that ends a ramp at once."""


@dataclass(frozen=True, slots=True)
class ProgressSample:
    """The progress of all workers together at an instant."""

    at_s: float
    runs: int
    waited_s: float


def average_s(samples: Sequence[ProgressSample], window_s: float) -> float | None:
    """Return the mean wait in the last `window_s` of the samples; None without an answer."""
    last = samples[-1]
    since = [sample for sample in samples if sample.at_s <= last.at_s - window_s]
    first = since[-1] if since else samples[0]
    runs = last.runs - first.runs
    return (last.waited_s - first.waited_s) / runs if runs > 0 else None


def decide(
    ramp: Ramp, samples: Sequence[ProgressSample], *, released_at_s: float, waiting: int
) -> RampEnd | bool:
    """Return whether to let more workers in after the last sample, or why the ramp is over.

    `released_at_s` is the time at which workers were last let in, `waiting` the number of other
    workers.
    """
    average = average_s(samples, ramp.window_s)
    if average is None:
        return False
    if average > _ABORT * ramp.limit_s:
        return RampEnd.ABORT
    if samples[-1].at_s - released_at_s < ramp.interval_s:
        return False
    if average > ramp.limit_s:
        return RampEnd.LIMIT
    return True if waiting else RampEnd.ALL


class Ramping:
    """Ramps each query of a run in turn; `tick` is called at short intervals."""

    def __init__(self, ramp: Ramp, run: Coordinator, clock: Callable[[], float]) -> None:
        self._ramp, self._run, self._clock = ramp, run, clock
        self._query = ""
        self._samples: list[ProgressSample] = []
        """Samples of the window, and the last one before it."""
        self._released = ProgressSample(0.0, 0, 0.0)
        """The progress at the time when workers were last let in."""
        self._steps: defaultdict[str, list[RampStep]] = defaultdict(list)
        """Steps of each query."""
        self.found: list[QueryRamp] = []
        """The ramps that are over."""
        self.is_resumed = False
        """True if another collector has begun the ramp."""

    def tick(self) -> None:
        """Check the current query; let more workers in, or end its ramp."""
        query = next(reversed(self._run.released_s), "")
        if query == self._run.over:
            return
        if self.is_resumed and len(self._run.beats) < self._run.workers:
            return  # the progress of some workers is still unknown
        now_s = self._clock()
        if query != self._query:
            self._query = query
            self._released = ProgressSample(now_s, *self._run.count_asked(query))
            self._samples = [self._released]
            return
        sample = ProgressSample(now_s, *self._run.count_asked(query))
        since_s = now_s - self._ramp.window_s
        before = [each for each in self._samples if each.at_s <= since_s]
        self._samples = [*before[-1:], *self._samples[len(before) :], sample]
        decision = decide(
            self._ramp,
            self._samples,
            released_at_s=self._released.at_s,
            waiting=self._run.count_waiting(query) - self._run.let_in(query),
        )
        if decision is False:
            return
        step, self._released = self._make_step(sample), sample
        self._steps[query].append(step)
        if isinstance(decision, RampEnd):
            self._end(decision)
        else:
            self._run.let_in(query, self._ramp.step)
            self._run.journal.note(Stepped(query=query, step=step, more=self._ramp.step))

    def restore(self, what: Stepped | Ramped) -> None:
        """Restore a step, or the end of a ramp, that another collector has noted."""
        match what:
            case Stepped(query=query, step=step, more=more):
                self._steps[query].append(step)
                self._run.let_in(query, more)
            case Ramped(ramp=ramp):
                self.found.append(ramp)
                self._run.end_ramp(ramp.query)

    def _make_step(self, now: ProgressSample) -> RampStep:
        before = self._released
        runs, spent_s = now.runs - before.runs, now.at_s - before.at_s
        return RampStep(
            workers=self._run.let_in(self._query),
            runs=runs,
            wait_ms_avg=1000 * (now.waited_s - before.waited_s) / runs if runs else None,
            queries_per_s=runs / spent_s,
        )

    def _end(self, end: RampEnd) -> None:
        average = average_s(self._samples, self._ramp.window_s)
        assert average is not None
        ramp = QueryRamp(
            query=self._query,
            workers=self._run.let_in(self._query),
            end=end,
            wait_ms_avg=1000 * average,
            steps=tuple(self._steps[self._query]),
        )
        self.found.append(ramp)
        self._run.end_ramp(self._query)
        self._run.journal.note(Ramped(ramp=ramp))
