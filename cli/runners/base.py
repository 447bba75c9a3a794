"""What every runner does: starts a collector and workers, yields the events, leaves nothing."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from simulator.protocol.messages import Event
from simulator.protocol.spec import RunSpec


class Runner(AbstractContextManager["Runner"], Protocol):
    """Runs one run at a time; a context that leaves nothing behind."""

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome.

        However it ends, and also when the iterator is closed early, nothing of it goes on.
        """

    def facts(self) -> dict[str, str]:
        """Return what the last run ran on, besides this machine, by name."""

    def logs(self) -> dict[str, str]:
        """Return the last lines that the processes of the last run wrote, by process."""
