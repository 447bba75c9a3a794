"""What every runner does: starts a collector and workers, yields the events, leaves nothing."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from simulator.protocol import Event
from simulator.spec import RunSpec


class Runner(Protocol):
    """Runs one run at a time."""

    def run(self, spec: RunSpec, secrets: Mapping[str, str]) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome.

        However it ends, and also when the iterator is closed early, nothing of it is left.
        """

    def logs(self) -> dict[str, str]:
        """Return the last lines that the processes of the last run wrote, by process."""
