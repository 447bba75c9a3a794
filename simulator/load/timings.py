"""Measures how a worker uses its time, for its report."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from simulator.clock import OwnClock, ahead_s, instant_s, now_s
from simulator.host import read_cpu_periods
from simulator.protocol.messages import Clocked, Timings


@dataclass(slots=True)
class Stopwatch:
    """The use of a writing worker's time, in ns."""

    generate_ns: int = 0
    encode_ns: int = 0
    send_ns: int = 0
    idle_ns: int = 0
    inactive_ns: int = 0
    """Time before the first stage in which the worker is active, and between its stages."""
    backoff_ns: int = 0
    """Pauses before repeated sends."""
    disconnected_ns: int = 0
    """Time without a connection, after one was lost."""

    def start(self) -> None:
        """Discard all recorded times."""
        self.end_warmup()
        self.backoff_ns = self.disconnected_ns = 0

    def end_warmup(self) -> None:
        """Discard the times of the warm-up; keep the times of failures."""
        self.generate_ns = self.encode_ns = self.send_ns = self.idle_ns = self.inactive_ns = 0

    def timings(self) -> Timings:
        """Return the part of the report about these times."""
        return Timings(
            generate_s=self.generate_ns / 1e9,
            encode_s=self.encode_ns / 1e9,
            send_s=self.send_ns / 1e9,
            idle_s=self.idle_ns / 1e9,
            backoff_s=self.backoff_ns / 1e9,
            disconnected_s=self.disconnected_ns / 1e9,
        )


def cpu_clock(*, embedded: bool) -> Callable[[], float]:
    """Return the clock of this process's CPU time; always 0 if the database is in this process."""
    return (lambda: 0.0) if embedded else time.process_time


class RunClock:
    """The measured part of a worker: its start and end, and the use of the machine."""

    def __init__(
        self,
        clock: OwnClock,
        offset_s: Callable[[], float],
        cpu_s: Callable[[], float] = time.process_time,
    ) -> None:
        """Store the functions that return the offset to the collector's time, and the CPU time."""
        self._clock, self._offset_s, self._read_cpu_s = clock, offset_s, cpu_s
        self.prepared_s = 0.0
        """CPU time spent before the start on batches of the measured part."""
        self._started: float | None = None
        self._ended: float | None = None
        self._duration_s = self._cpu_s = self._paused_s = 0.0
        self._periods = self._throttled = 0

    def start(self) -> None:
        """Note that the measured part begins now."""
        self._periods_before, self._throttled_before = read_cpu_periods()
        self._paused_began_s = self._clock.paused_s()
        self._began_s = time.perf_counter()
        self._cpu_began_s = self._read_cpu_s() - self.prepared_s
        self._started = now_s()

    @property
    def is_started(self) -> bool:
        """True if the measured part has begun."""
        return self._started is not None

    def stop(self, length_s: float | None = None, inactive_s: float = 0.0) -> None:
        """Note the end of the measured part, if it has begun: `length_s` after the start, or now.

        Nothing was due for `inactive_s` of the measured part.
        """
        if self._started is None:
            return
        length_s = time.perf_counter() - self._began_s if length_s is None else length_s
        self._ended, self._duration_s = self._started + length_s, max(length_s - inactive_s, 0.0)
        self._cpu_s = self._read_cpu_s() - self._cpu_began_s
        periods, throttled = read_cpu_periods()
        self._periods = periods - self._periods_before
        self._throttled = throttled - self._throttled_before
        self._paused_s = self._clock.paused_s() - self._paused_began_s

    def instant_s(self, instant_ns: int) -> float:
        """Return the collector's time of an instant of time.perf_counter_ns()."""
        return instant_s(instant_ns) + self._offset_s()

    def instant_ns(self, instant_s: float) -> int:
        """Return the instant of time.perf_counter_ns() for a time on the collector's clock."""
        return int((instant_s - self._offset_s() - ahead_s()) * 1e9)

    def report_clock(self) -> Clocked:
        """Return the part of the report about these times."""
        offset_s = self._offset_s()
        return Clocked(
            started_s=None if self._started is None else self._started + offset_s,
            ended_s=None if self._ended is None else self._ended + offset_s,
            duration_s=self._duration_s,
            cpu_s=self._cpu_s,
            cpu_periods=self._periods,
            throttled_periods=self._throttled,
            paused_s=self._paused_s,
        )
