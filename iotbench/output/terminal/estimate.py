"""Estimates the rest of a sweep from its finished runs. Pure except for the clock."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iotbench.measurements.shared.plan import PlannedRun


@dataclass(frozen=True, slots=True)
class _Finished:
    workers: int
    rows: int
    duration_s: float


class Estimate:
    """Follows the runs of a sweep."""

    def __init__(
        self, planned: Sequence[PlannedRun], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._planned = planned
        self._clock = clock
        self._finished: list[_Finished] = []
        self._began_s = clock()

    def begin(self) -> None:
        """Note that the next run starts."""
        self._began_s = self._clock()

    def finish(self) -> None:
        """Note that the current run has ended."""
        current = self._planned[len(self._finished)]
        duration_s = self._clock() - self._began_s
        self._finished.append(_Finished(_workers(current), _rows(current), duration_s))

    def left_s(self, run_left_s: float | None, rows_per_s: float) -> float | None:
        """Return the seconds until the sweep ends; None while nothing is known.

        `run_left_s` and `rows_per_s` are the progress of the current run. Until a run has
        finished, the rows of the other runs are taken to be written at that rate.
        """
        current, *others = self._planned[len(self._finished) :]
        if not others:
            return run_left_s
        if not self._finished:
            if run_left_s is None or not rows_per_s:
                return None
            clockings = [other.spec.clocking for other in others]
            timed_s = sum(each.warmup_s + each.duration_s for each in clockings if each.duration_s)
            return run_left_s + timed_s + sum(map(_rows, others)) / rows_per_s
        elapsed_s = self._clock() - self._began_s
        left_s = max(self._duration_s(current) - elapsed_s, run_left_s or 0.0)
        return left_s + sum(map(self._duration_s, others))

    def _duration_s(self, planned: PlannedRun) -> float:
        """Return how long a run takes, by the finished runs with the nearest number of workers."""
        distance = min(abs(done.workers - _workers(planned)) for done in self._finished)
        alike = [
            done for done in self._finished if abs(done.workers - _workers(planned)) == distance
        ]
        duration_s, rows = sum(done.duration_s for done in alike), sum(done.rows for done in alike)
        return duration_s / rows * _rows(planned) if rows else duration_s / len(alike)


def _workers(planned: PlannedRun) -> int:
    return len(planned.spec.workers)


def _rows(planned: PlannedRun) -> int:
    """Return how many rows a run writes; 0 if it ends by time."""
    if planned.spec.clocking.duration_s:
        return 0
    return sum(len(rows) for task in planned.spec.inserts for rows in (*task.prefill, *task.timed))
