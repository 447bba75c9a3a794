"""The phases of a run, and the writer of its events.

A separate thread writes the events to standard output. If the reader of the events stops, the full
pipe must not keep the collector from hearing its workers.
"""

import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from simulator.clock import now_s
from simulator.control.journal import Entered
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.events import Event, PhaseEvent, SampleEvent, event_line
from simulator.protocol.messages import WARMUP
from simulator.protocol.spec import RunSpec


class Phases:
    """Tracks the phases of a run; the start of each phase is an event."""

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
        """The present phase; empty if there is none."""
        self.began_at_s = 0.0
        """Start of the phase, in seconds since 1970."""
        self.entered_s = 0.0
        """Time at which the phase was entered, on the run's own clock."""
        self.seconds: dict[str, float] = {}
        """Durations of the phases that have ended."""

    def enter(self, phase: str, at_s: float | None = None) -> None:
        """Enter a phase that begins now, or began at `at_s`; do nothing once the run is over."""
        if self._run.stopped.is_set():
            return  # a thread may still be running; the outcome is the last event
        began_at_s = at_s or now_s()
        self.leave(began_at_s)
        self.now, self.began_at_s, self.entered_s = phase, began_at_s, self._clock()
        self._run.journal.note(Entered(phase=phase, began_at_s=began_at_s, seconds=self.seconds))
        self.describe("")

    def restore(self, entered: Entered) -> None:
        """Restore the phase that another collector has entered."""
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
        """Replace the durations of insert phases by durations from the barrier and the reports."""
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


_EVENTS_OF_A_COLLECTOR = 10**9
"""Offset between the event numbers of successive collectors, so that numbers only rise."""


class EventWriter:
    """Writes the events of one run as numbered lines."""

    def __init__(
        self, output: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Store the stream to write to, standard output by default, and the run's own clock."""
        self._output = output or sys.stdout
        self._clock = clock
        self._written_s = clock()
        self._number = 0
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._done = threading.Event()
        threading.Thread(target=self._write_lines, daemon=True).start()

    def write(self, event: Event) -> None:
        """Queue an event to be written."""
        self._number += 1
        self._lines.put(event_line(self._number, event) + "\n")
        if not isinstance(event, SampleEvent):
            self._written_s = self._clock()

    def follow(self, collectors: int) -> None:
        """Number the events after the events of this many lost collectors."""
        self._number = collectors * _EVENTS_OF_A_COLLECTOR

    @property
    def silent_s(self) -> float:
        """Return the time since the last event that was not a sample."""
        return self._clock() - self._written_s

    def close(self) -> None:
        """Wait until all lines are written, or the reader is gone."""
        self._lines.put("")
        self._done.wait()

    def discard(self) -> None:
        """Write nothing more, since the reader is gone."""
        self._done.set()

    def _write_lines(self) -> None:
        try:
            while not self._done.is_set() and (line := self._lines.get()):
                self._output.write(line)
                self._output.flush()
        except OSError:
            pass  # the reader is gone; standard input shows it too
        finally:
            self._done.set()
