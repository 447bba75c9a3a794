"""The phases of a run: the one it is in, and how long each has taken."""

from collections.abc import Callable

from simulator.clock import now_s
from simulator.control.journal import Entered
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.events import Event, PhaseEvent
from simulator.protocol.messages import WARMUP
from simulator.protocol.spec import RunSpec


class Phases:
    """Enters one phase after the other; each is an event."""

    def __init__(
        self,
        run: Coordinator,
        clock: Callable[[], float],
        emit: Callable[[Event], object],
    ) -> None:
        """Store the run, its own clock, and the function that writes its events."""
        self._run = run
        self._clock = clock
        self._emit = emit
        self.now = ""
        """The phase that the run is in; empty: none."""
        self.began_at_s = 0.0
        """When it began, in seconds since 1970."""
        self.entered_s = 0.0
        """When it was entered, on the run's own clock."""
        self.seconds: dict[str, float] = {}
        """Phase -> its time, once it is left."""

    def enter(self, phase: str, detail: str = "", at_s: float | None = None) -> None:
        """Enter a phase, now or at the earlier time when it began; not once the run is over."""
        if self._run.stopped.is_set():
            return  # called by a thread that is still running; the outcome is the last event
        began_at_s = at_s or now_s()
        self.leave(began_at_s)
        self.now, self.began_at_s, self.entered_s = phase, began_at_s, self._clock()
        self._run.journal.note(Entered(phase=phase, began_at_s=began_at_s, seconds=self.seconds))
        self.describe(detail)

    def restore(self, entered: Entered) -> None:
        """Be in a phase that another collector has entered."""
        self.now, self.began_at_s, self.entered_s = entered.phase, entered.began_at_s, self._clock()
        self.seconds = dict(entered.seconds)

    def describe(self, detail: str) -> None:
        """Report the progress of the phase."""
        self._emit(PhaseEvent(phase=self.now, detail=detail))

    def leave(self, at_s: float) -> None:
        """End the phase."""
        if self.now:
            spent_s = at_s - self.began_at_s
            self.seconds[self.now] = self.seconds.get(self.now, 0.0) + spent_s
            self.now = ""

    def make_exact(self, spec: RunSpec) -> None:
        """Replace the noticed times of insert phases by the times of the barrier."""
        start = spec.barrier
        first_s = self._run.first_arrival_s.get(start)
        released_s = self._run.released_s.get(start)
        if first_s is None or released_s is None:
            return
        self.seconds["barrier"] = released_s - first_s
        reports = self._run.reports.values()
        ends = [report.ended_s for report in reports if report.ended_s]
        if not ends:
            return
        began_s = released_s
        if spec.warmup_s:
            writers = [report for report in reports if not report.queries]
            starts = [each.started_s for each in writers if each.started_s]
            began_s = min(starts, default=released_s + spec.warmup_s)
            self.seconds[WARMUP] = began_s - released_s
        self.seconds[start] = max(ends) - began_s
