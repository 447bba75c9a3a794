"""Reliable clocks: one never steps, and the other runs only while this process runs.

A process receives no messages while it is stopped, or while its machine is suspended. Its own clock
stops meanwhile, so timeouts do not blame other processes for that time.
"""

import threading
import time
from collections.abc import Callable
from typing import Self

PAUSE_S = 1.0
"""Minimum gap between two readings, in seconds, that counts as a pause of this process."""
_TICK_S = 0.25
_ahead_s: list[float] = []
"""List with the result of `ahead_s`; empty before the first call."""


def ahead_s() -> float:
    """Return the difference of the time of day and `time.perf_counter` at the first call."""
    if not _ahead_s:
        _ahead_s.append(time.time() - time.perf_counter())  # noqa: TID251
    return _ahead_s[0]


def adopt(other_ahead_s: float) -> None:
    """Continue with the `ahead_s` of the process that this process replaces on the same machine."""
    _ahead_s[:] = [other_ahead_s]


def instant_s(instant_ns: int) -> float:
    """Return an instant of `time.perf_counter_ns` in seconds since 1970."""
    return ahead_s() + instant_ns / 1e9


def now_s() -> float:
    """Return the time in seconds since 1970; steps of the machine's clock do not change it."""
    return ahead_s() + time.perf_counter()


def elapsed_s() -> float:
    """Return a time that never jumps and that, on Linux, includes suspension of the machine."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class OwnClock:
    """A clock of the seconds that this process has run; in the context, it is read regularly."""

    def __init__(
        self,
        source: Callable[[], float] = elapsed_s,
        processor: Callable[[], float] = time.process_time,
    ) -> None:
        """Store the clock to read, and the function that returns this process's processor time."""
        self._source = source
        self._processor = processor
        self._lock = threading.Lock()
        self._read_s, self._used_s = source(), processor()
        self._skipped_s = self._paused_s = 0.0
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()

    def _tick(self) -> None:
        while not self._closed.wait(_TICK_S):
            self()

    def __call__(self) -> float:
        """Return the time in seconds, without pauses."""
        with self._lock:
            now_s, used_s = self._source(), self._processor()
            gap_s, worked_s = now_s - self._read_s, used_s - self._used_s
            self._read_s, self._used_s = now_s, used_s
            if gap_s > PAUSE_S:
                self._skipped_s += gap_s
                # A long call into a library, which delays the reading, is not a pause.
                if gap_s - worked_s > PAUSE_S:
                    self._paused_s += gap_s - worked_s
            return now_s - self._skipped_s

    def paused_s(self) -> float:
        """Return the total length of the pauses of this process, each longer than PAUSE_S."""
        self()
        return self._paused_s
