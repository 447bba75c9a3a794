"""The course of a sweep, event by event, and the occurrences in its runs, other than batches."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from iotbench.measurements.shared.plan import PlannedRun
from iotbench.results.result import RunRecord
from simulator.protocol.events import (
    Event,
    Occurrence,
    Outcome,
    PhaseEvent,
    ProgressEvent,
    SampleEvent,
)

_MOST_SECONDS = 6


@dataclass(frozen=True, slots=True)
class SweepMoment:
    """The state of a sweep after an event of one of its runs."""

    planned: PlannedRun
    event: Event
    number: int
    """Number of the run, starting from 1."""
    of: int
    """Number of runs in the sweep."""
    phase: str = ""
    detail: str = ""
    """The collector's description of the progress in this phase."""
    progress: ProgressEvent | None = None
    """Latest progress in this phase; the latest sample is in `sample`."""
    sample: SampleEvent | None = None
    left_s: float | None = None
    """Time until the timed part of the run ends; None if unknown."""
    sweep_left_s: float | None = None
    fault: str = ""
    """Name of the fault in progress; empty if there is none."""

    @property
    def workers(self) -> int:
        """Number of workers of the run."""
        return len(self.planned.spec.workers)

    @property
    def place(self) -> str:
        """Name of the current query, and its number among the queries."""
        names = list(self.planned.spec.load.queries)
        query = self.sample.query if self.sample else ""
        return f"{query}, {names.index(query) + 1} of {len(names)}" if query in names else query


class Course:
    """Computes the moments of a sweep from its events."""

    def __init__(
        self, planned: Sequence[PlannedRun], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._of = len(planned)
        self._estimate = Estimate(planned, clock)
        self._clock = clock
        self._last: SweepMoment | None = None
        self._began_s: dict[str, float] = {}
        """Name of a query in this run -> time of its first event."""
        self._measured_s: float | None = None
        """Time of the first event in the measured part of this run."""

    def follow(self, planned: PlannedRun, event: Event) -> SweepMoment:
        """Return the moment of the sweep after an event."""
        last = self._last
        if last is None or last.planned.spec.run_id != planned.spec.run_id:
            self._estimate.begin()
            self._began_s, self._measured_s = {}, None
            last = SweepMoment(planned, event, last.number + 1 if last else 1, self._of)
        now = replace(last, event=event)
        match event:
            case PhaseEvent(phase=phase, detail=detail):
                now = replace(self._enter(now, phase), detail=detail)
            case ProgressEvent():
                now = replace(self._enter(now, event.phase), progress=event, left_s=event.left_s)
                now = self._estimate_sweep(now, event.rows_per_s)
            case SampleEvent():
                now = replace(self._enter(now, event.phase), sample=event)
                if event.query:
                    now = self._estimate_sweep(
                        replace(now, left_s=self._estimate_queries_s(now, event)), 0.0
                    )
            case Outcome():
                self._estimate.finish()
        now = replace(now, fault=self._find_fault(now))
        self._last = now
        return now

    def _find_fault(self, now: SweepMoment) -> str:
        spec = now.planned.spec
        if not spec.fault or now.phase != spec.barrier:
            return ""
        if self._measured_s is None:
            self._measured_s = self._clock()
        return spec.fault.name if spec.fault.is_on(self._clock() - self._measured_s) else ""

    def _enter(self, now: SweepMoment, phase: str) -> SweepMoment:
        """Return the moment at the start of a phase, without the values of the previous phase."""
        if now.phase == phase:
            return now
        return replace(
            now, phase=phase, detail="", progress=None, sample=None, left_s=None, sweep_left_s=None
        )

    def _estimate_sweep(self, now: SweepMoment, rows_per_s: float) -> SweepMoment:
        return replace(now, sweep_left_s=self._estimate.left_s(now.left_s, rows_per_s))

    def _estimate_queries_s(self, now: SweepMoment, sample: SampleEvent) -> float | None:
        """Return the time until the last query of the run ends; None if unknown."""
        load, duration_s = now.planned.spec.load, now.planned.spec.clocking.duration_s
        names = list(load.queries)
        if load.ramp or sample.query not in names:
            return None
        began_s = self._began_s.setdefault(sample.query, self._clock())
        place = names.index(sample.query)
        if duration_s:
            left_s = max(duration_s - (self._clock() - began_s), 0.0)
            return left_s + duration_s * (len(names) - place - 1)
        planned = sum(task.runs for task in now.planned.spec.asks)
        share = (place + min(sample.runs / planned, 1.0)) / len(names) if planned else 0.0
        spent_s = self._clock() - min(self._began_s.values())
        return spent_s * (1 - share) / share if share else None


@dataclass(frozen=True, slots=True)
class _Finished:
    workers: int
    rows: int
    duration_s: float


class Estimate:
    """Estimates the remaining time of a sweep from its finished runs."""

    def __init__(
        self, planned: Sequence[PlannedRun], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._planned = planned
        self._clock = clock
        self._finished: list[_Finished] = []
        self._began_s = clock()

    def begin(self) -> None:
        """Record the start of the next run."""
        self._began_s = self._clock()

    def finish(self) -> None:
        """Record the end of the current run."""
        current = self._planned[len(self._finished)]
        duration_s = self._clock() - self._began_s
        self._finished.append(_Finished(_count_workers(current), _count_rows(current), duration_s))

    def left_s(self, run_left_s: float | None, rows_per_s: float) -> float | None:
        """Return the time until the sweep ends; None if unknown.

        `run_left_s` and `rows_per_s` describe the progress of the current run. Until a run has
        finished, the rate of this run is assumed for all other runs.
        """
        current, *others = self._planned[len(self._finished) :]
        if not others:
            return run_left_s
        if not self._finished:
            if run_left_s is None or not rows_per_s:
                return None
            clockings = [other.spec.clocking for other in others]
            timed_s = sum(each.warm_s + each.duration_s for each in clockings if each.duration_s)
            return run_left_s + timed_s + sum(map(_count_rows, others)) / rows_per_s
        elapsed_s = self._clock() - self._began_s
        left_s = max(self._estimate_s(current) - elapsed_s, run_left_s or 0.0)
        return left_s + sum(map(self._estimate_s, others))

    def _estimate_s(self, planned: PlannedRun) -> float:
        """Estimate the duration of a run from the finished runs with the nearest worker count."""
        distance = min(abs(done.workers - _count_workers(planned)) for done in self._finished)
        alike = [
            done
            for done in self._finished
            if abs(done.workers - _count_workers(planned)) == distance
        ]
        duration_s, rows = sum(done.duration_s for done in alike), sum(done.rows for done in alike)
        return duration_s / rows * _count_rows(planned) if rows else duration_s / len(alike)


def _count_workers(planned: PlannedRun) -> int:
    return len(planned.spec.workers)


def _count_rows(planned: PlannedRun) -> int:
    """Return the number of rows that a run writes; 0 for a run with a duration."""
    if planned.spec.clocking.duration_s:
        return 0
    return sum(len(rows) for task in planned.spec.inserts for rows in (*task.prefill, *task.timed))


def occurrences_of(outcome: Outcome) -> list[Occurrence]:
    """Return the server's own work and all failures in chronological order.

    A failure in the report of a worker is placed in the middle of its second.
    """
    failures: Counter[tuple[int, str]] = Counter()
    for worker in outcome.workers:
        for each in worker.failures:
            failures[each.second, each.what.value] += each.count
    of_workers = [
        Occurrence(at_s=second + 0.5, what=what, count=count, is_failure=True)
        for (second, what), count in failures.items()
    ]
    return sorted([*outcome.occurrences, *of_workers], key=lambda each: each.at_s)


def marks_of(run: RunRecord) -> list[Occurrence]:
    """Return the occurrences of a run, including faults and changes of stored rows."""
    outcome = run.outcome
    began_s = outcome.released_s or 0.0
    ends = [
        Occurrence(at_s=at_s - began_s, what=f"{each.name} {what}")
        for worker in outcome.workers
        for each in worker.changes
        for at_s, what in ((each.started_s, "began"), (each.ended_s, "ended"))
    ]
    for each in run.outages:
        ends.append(Occurrence(at_s=each.began_s, what=each.fault, is_failure=True))
        ends.append(Occurrence(at_s=each.undone_s, what=f"{each.fault}: undone"))
        if each.recovery_s is not None:
            at_s = each.began_s + each.recovery_s
            ends.append(Occurrence(at_s=at_s, what=f"{each.fault}: rate restored"))
    return sorted([*occurrences_of(outcome), *ends], key=lambda each: each.at_s)


def format_seconds(found: Sequence[Occurrence]) -> str:
    """Return the times of occurrences, such as `at 3, 9 s`; of many, only the first and last."""
    seconds = [*dict.fromkeys(f"{each.at_s:.0f}" for each in found)]
    if len(seconds) <= _MOST_SECONDS:
        return f"at {', '.join(seconds)} s"
    return f"in {len(seconds)} seconds from {seconds[0]} s to {seconds[-1]} s"
