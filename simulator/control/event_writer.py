"""Writes the events of a run to standard output, from a thread of its own.

The reader may be stopped: a full pipe must not keep the collector from hearing its workers.
"""

import queue
import sys
import threading
from typing import TextIO

from simulator.protocol.messages import Event, event_line


class EventWriter:
    """The numbered lines of one run, in order."""

    def __init__(self, output: TextIO | None = None) -> None:
        """Take the stream to write to; standard output by default."""
        self._output = output or sys.stdout
        self._number = 0
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._done = threading.Event()
        threading.Thread(target=self._write_lines, daemon=True).start()

    def write(self, event: Event) -> None:
        """Write an event soon."""
        self._number += 1
        self._lines.put(event_line(self._number, event) + "\n")

    def close(self) -> None:
        """Return once everything is written, or nobody reads it any more."""
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
