"""Writes the events of a run to standard output, in a separate thread.

The reader may be stopped: a full pipe must not keep the collector from hearing its workers.
"""

import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from simulator.protocol.events import Event, SampleEvent, event_line

_EVENTS_OF_A_COLLECTOR = 10**9
"""Offset between the event numbers of two successive collectors: numbers only rise."""


class EventWriter:
    """The numbered lines of one run, in order."""

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
        """Write an event soon."""
        self._number += 1
        self._lines.put(event_line(self._number, event) + "\n")
        if not isinstance(event, SampleEvent):
            self._written_s = self._clock()

    def follow(self, collectors: int) -> None:
        """Continue after the events of this many collectors that were lost."""
        self._number = collectors * _EVENTS_OF_A_COLLECTOR

    @property
    def silent_s(self) -> float:
        """Return the time since the last event was written; samples do not count."""
        return self._clock() - self._written_s

    def close(self) -> None:
        """Return once everything is written, or the reader is gone."""
        self._lines.put("")
        self._done.wait()

    def discard(self) -> None:
        """Write nothing more: the reader is gone."""
        self._done.set()

    def _write_lines(self) -> None:
        try:
            while not self._done.is_set() and (line := self._lines.get()):
                self._output.write(line)
                self._output.flush()
        except OSError:
            pass  # the reader is gone, which standard input shows too
        finally:
            self._done.set()
