"""Faults that a worker causes itself, in a thread parallel to its load."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from simulator.protocol.messages import MOST_OWN_FAULTS, Span
from simulator.protocol.spec import PlannedFault


class FaultSpells:
    """Something fails at each instant of a fault, and is undone after its time; `close` ends it."""

    def __init__(
        self,
        fault: PlannedFault,
        fail: Callable[[], object],
        undo: Callable[[], object],
    ) -> None:
        """A BrokenPipeError of either ends it: what it is done to is gone."""
        self._fault, self._fail, self._undo = fault, fail, undo
        self.over = threading.Event()
        """Set by `close`."""
        self._done: list[tuple[int, int]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """The measured part begins now."""
        if not self._thread.is_alive():
            self._thread.start()

    def _run(self) -> None:
        with suppress(BrokenPipeError):
            self._follow(self._fault.instants_s[:MOST_OWN_FAULTS])

    def _follow(self, instants_s: Sequence[float]) -> None:
        began_ns = time.perf_counter_ns()
        for instant_s in instants_s:
            left_s = instant_s - (time.perf_counter_ns() - began_ns) / 1e9
            if self.over.wait(max(left_s, 0.0)):
                return
            since_ns = time.perf_counter_ns()
            self._fail()
            self.over.wait(self._fault.lasts_s)
            self._undo()
            self._done.append((since_ns, time.perf_counter_ns()))

    def spans(self, instant_s: Callable[[int], float]) -> tuple[Span, ...]:
        """Return when it failed, by the collector's clock."""
        return tuple(
            Span(began_s=instant_s(began_ns), ended_s=instant_s(ended_ns))
            for began_ns, ended_ns in self._done
        )

    def close(self) -> None:
        """Undo what still lasts."""
        self.over.set()
        if self._thread.is_alive():
            self._thread.join()
