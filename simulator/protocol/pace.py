"""The pace of a run, and the schedule of a worker that follows from it: due times, and the end."""

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simulator.frozen import Frozen
from simulator.protocol.arrivals import NEVER_NS

_TIMER_SLACK_NS = 200_000
_MOST_UNSENT = 1 << 17
"""Maximum number of due times kept for a pace: at too high a rate, billions are unsent."""


class LoadStage(Frozen):
    """A part of a run: workers 0 to `workers` - 1 are active, and the other workers wait."""

    workers: int = Field(ge=1)
    duration_s: float = Field(gt=0)
    rate_per_s: float = Field(default=0.0, ge=0)
    """Rate of all active workers together, in rows or queries; 0: the rate of the run."""


class Clocking(Frozen):
    """The limits of a run's measured part, and the rates of its workers."""

    duration_s: float = 0.0
    """Maximum length of the measured part; 0: no limit.

    If queries are asked one after the other, it is the maximum for each query. With stages, it is
    the sum of the lengths of the stages."""
    warmup_s: float = 0.0
    """Length of the warm-up; the load due in it is not measured."""
    warmup_until_steady_s: float = 0.0
    """Maximum length of a warm-up that ends once the rate of all workers is steady.

    0: `warmup_s` is the length of the warm-up."""
    rows_per_s: float = 0.0
    """Rate of all workers that write rows; 0: as fast as possible."""
    queries_per_s: float = 0.0
    """Rate of all workers that ask queries; 0: as fast as possible."""
    stages: tuple[LoadStage, ...] = ()
    """Stages after the warm-up, repeated for each query; empty: all workers are always active."""

    @property
    def warm_s(self) -> float:
        """Maximum length of the warm-up."""
        return self.warmup_s or self.warmup_until_steady_s

    def multiply(self, weight: int) -> "Clocking":
        """Return the clocking of a query type with a weight, by which the rates are multiplied."""
        stages = (s.model_copy(update={"rate_per_s": s.rate_per_s * weight}) for s in self.stages)
        rate = self.queries_per_s * weight
        return self.model_copy(update={"queries_per_s": rate, "stages": tuple(stages)})


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate at which to send or to ask, and the duration."""

    rate_per_s: float = 0.0
    """Number of rows or queries per second; 0: as fast as possible."""
    turn: float = 0.0
    """Place of this worker among all, 0..1; it spreads the due times of the workers."""
    duration_s: float = 0.0
    """Time from `from_s` on during which batches or queries begin; 0: no limit."""
    from_s: float = 0.0
    """Time after the warm-up at which batches or queries begin; 0: already in the warm-up."""

    def due_ns(self, start_ns: int, number: float) -> int:
        """Return the due time of the row or query with this number after the start."""
        return start_ns + round(number / self.rate_per_s * 1e9)

    def begin_ns(self, start_ns: int, measured_ns: int) -> int:
        """Return the start of the pace, for a clock that starts at `start_ns` with a warm-up."""
        return measured_ns + int(self.from_s * 1e9) if self.from_s else start_ns

    def end_ns(self, measured_ns: int) -> int:
        """Return the end of the pace, if the warm-up ends at `measured_ns`."""
        until_s = self.from_s + self.duration_s
        return measured_ns + int(until_s * 1e9) if self.duration_s else NEVER_NS


FASTEST = Pace()


class Kept(NamedTuple):
    """A worker's adherence to the schedule of a pace."""

    begin_ns: int
    until_ns: int
    """Due time of the next batch or query: finished work covers the schedule until then."""
    unsent_ns: NDArray[np.int64]
    """Due times of batches or queries that did not begin before the end of the pace."""
    late_ns: NDArray[np.int64]
    """Time from each due time until the worker was free again."""
    each: int = 1
    """Number of batches or queries per due time, if there are very many."""


def paces_of(clocking: Clocking, place: int, of: int, rate_per_s: float = 0.0) -> list[Pace]:
    """Return the paces of one of several workers: one, or one for each stage of the worker.

    `rate_per_s` is the joint rate of all active workers in stages without a rate.
    """
    if not clocking.stages:
        return [Pace(rate_per_s / of, place / of, clocking.duration_s)]
    paces, from_s = [], 0.0
    for stage in clocking.stages:
        if place < stage.workers:
            rate = (stage.rate_per_s or rate_per_s) / stage.workers
            paces.append(Pace(rate, place / stage.workers, stage.duration_s, from_s))
        from_s += stage.duration_s
    return paces


class Timetable:
    """Due times of a worker's batches or queries, one pace after the other."""

    def __init__(
        self, paces: Sequence[Pace], start_ns: int, measured_ns: int, batch_rows: int = 1
    ) -> None:
        self._start_ns, self._measured_ns, self._batch_rows = start_ns, measured_ns, batch_rows
        self._paces = deque(paces)
        self.free_until_ns = 0
        """Time until which batches or queries may begin at once."""
        self.begin_ns = start_ns
        """Start of the present pace."""
        self._scheduled = 0.0
        self._kept: list[Kept] = []
        """Records of the paces that have ended."""
        self._enter()

    def measure_from(self, measured_ns: int) -> None:
        """Move the end of the warm-up to another instant."""
        if measured_ns != self._measured_ns:
            self._measured_ns, self.free_until_ns = measured_ns, 0

    def _enter(self) -> None:
        if self._paces:
            pace = self._paces[0]
            self.begin_ns = pace.begin_ns(self._start_ns, self._measured_ns)
            self._scheduled = pace.turn * self._batch_rows

    def due_ns(self, now_ns: int, rows: int = 1) -> int:
        """Return the due time of the next query, or batch of `rows` rows; NEVER_NS if none is due.

        Without a rate, the query or batch is due now, or when the pace begins.
        """
        while self._paces:
            pace = self._paces[0]
            end_ns = pace.end_ns(self._measured_ns)
            due_ns = max(now_ns, self.begin_ns)
            if pace.rate_per_s:
                due_ns = pace.due_ns(self.begin_ns, self._scheduled)
            if max(now_ns, due_ns) < end_ns:
                self._scheduled += rows
                self.free_until_ns = 0 if pace.rate_per_s else end_ns
                return due_ns
            self._leave(pace, end_ns, now_ns, rows)
            self._enter()
        return NEVER_NS

    def list_kept(self) -> list[Kept]:
        """Return how far the worker kept to each pace that has a rate."""
        if self._paces:
            self._leave(self._paces[0], 0, 0, 1)
        return self._kept

    def _leave(self, pace: Pace, end_ns: int, now_ns: int, rows: int) -> None:
        """End a pace; batches due between now and its end will not begin."""
        self._paces.popleft()
        if pace.rate_per_s:
            due_ns = pace.due_ns(self.begin_ns, self._scheduled)
            step_ns = 1e9 * rows / pace.rate_per_s
            # A batch due at the end is not sent; due times are rounded to a nanosecond.
            number = max(math.ceil((end_ns - due_ns - 1) / step_ns), 0)
            each = number // _MOST_UNSENT + 1
            unsent_ns = due_ns + (np.arange(0, number, each) * step_ns).astype(np.int64)
            self._kept.append(Kept(self.begin_ns, due_ns, unsent_ns, now_ns - unsent_ns, each))


def wait_until(due_ns: int, stop: threading.Event) -> int:
    """Wait until an instant of time.perf_counter_ns() or until `stop`; return the time waited."""
    before = time.perf_counter_ns()
    if due_ns <= before:
        return 0
    stop.wait(max(due_ns - before - _TIMER_SLACK_NS, 0) / 1e9)
    # Timers wake up 0.1 ms late, which would count as latency of the database.
    now = time.perf_counter_ns()
    limit = min(due_ns, now + 2 * _TIMER_SLACK_NS)
    while now < limit:
        now = time.perf_counter_ns()
    return now - before
