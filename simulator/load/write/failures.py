"""Failures of the batches of a worker: counted by second and kind, in bounded memory."""

import time
from collections import Counter
from collections.abc import Iterable

from simulator.data.ranges import RowRange, covering
from simulator.load.write.batch import Held
from simulator.protocol.messages import MOST_FAILURES, BatchFailures, Failed, Troubles


class Failures:
    """The failures of one worker since the clock started, and the rows of unknown outcome."""

    def __init__(self) -> None:
        self.uncertain: list[RowRange] = []
        """Those of the prefill too."""
        self.uncertain_rows = self.uncertain_batches = 0
        self.uncertain_cause = ""
        """The last error that left the outcome of a batch unknown."""
        self.start(None)

    def start(self, start_ns: int | None) -> None:
        """Count from now on, and list by second after this instant; None: list nothing."""
        self._start_ns = start_ns
        self._counts: Counter[tuple[int, Failed]] = Counter()
        self._unlisted = 0
        """Those for which the list has no room."""
        self.errors = 0
        """Batches that failed, each as often as it did."""
        self.retried = 0

    def note(self, what: Failed) -> None:
        """Count what has gone wrong now."""
        self.retried += what is Failed.RETRIED
        if self._start_ns is None:
            return
        key = (time.perf_counter_ns() - self._start_ns) // 1_000_000_000, what
        if key in self._counts or len(self._counts) < MOST_FAILURES:
            self._counts[key] += 1
        else:
            self._unlisted += 1

    def note_uncertain(self, batch: Iterable[Held], cause: str) -> None:
        """Count the rows of a batch with an unknown outcome."""
        for held in batch:
            self.uncertain += covering(held.rows, held.table)
            self.uncertain_rows += len(held.rows)
        self.uncertain_batches += 1
        self.uncertain_cause = cause
        self.note(Failed.UNCERTAIN)

    def troubles(self) -> Troubles:
        """Return the record of the report: the first failures, in the order of time."""
        return Troubles(
            retried=self.retried,
            uncertain=tuple(self.uncertain),
            uncertain_cause=self.uncertain_cause,
            failures=tuple(
                BatchFailures(second=second, what=what, count=count)
                for (second, what), count in self._counts.items()
            ),
            more_failures=self._unlisted,
        )
