"""When something went wrong: counted by second and kind, in bounded memory."""

import time
from collections import Counter

from simulator.protocol.messages import MOST_FAILURES, BatchFailures, Failed


class Failures:
    """The failures of one worker since the clock started."""

    def __init__(self, start_ns: int) -> None:
        """Take the start as time.perf_counter_ns()."""
        self._start_ns = start_ns
        self._counts: Counter[tuple[int, Failed]] = Counter()
        self.unlisted = 0
        """Those for which the list has no room."""

    def note(self, what: Failed) -> None:
        """Count what has gone wrong now."""
        key = (time.perf_counter_ns() - self._start_ns) // 1_000_000_000, what
        if key in self._counts or len(self._counts) < MOST_FAILURES:
            self._counts[key] += 1
        else:
            self.unlisted += 1

    def listed(self) -> tuple[BatchFailures, ...]:
        """Return the first ones, in the order of time."""
        return tuple(
            BatchFailures(second=second, what=what, count=count)
            for (second, what), count in self._counts.items()
        )
