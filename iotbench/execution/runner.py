"""The contract of a runner: starts collector and workers, yields events, cleans up."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from simulator.protocol.events import Event
from simulator.protocol.spec import RunSpec


class Runner(AbstractContextManager["Runner"], Protocol):
    """Runs one run at a time; a context that leaves nothing behind."""

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome.

        However it ends, even if the iterator is closed early, no process or pod keeps running.
        """

    def facts(self) -> dict[str, str]:
        """Return where the last run ran, apart from this machine, by name."""

    def logs(self) -> dict[str, str]:
        """Return the last log lines of the last run, by process."""
