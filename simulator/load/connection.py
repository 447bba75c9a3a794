"""Connects a worker to the database, which the collector has reached before it."""

import threading
from collections.abc import Callable

from simulator.errors import BenchError, RunError
from simulator.modules.base import Database, Session

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0


class Stopped(Exception):
    """The run is over; the worker reports its progress."""


def connected(
    database: Database, stop: threading.Event, clock: Callable[[], float], within_s: float = 0.0
) -> Session:
    """Open a connection; if it fails, try again for `within_s`, at least the `reconnect_s` of it.

    Raises the last error after that, and Stopped if the run ends meanwhile.
    """
    deadline, pause_s = clock() + max(database.reconnect_s, within_s), _FIRST_PAUSE_S
    while True:
        try:
            return database.connect()
        except BenchError:
            if clock() > deadline:
                raise
        if stop.wait(pause_s):
            raise Stopped
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


class Connection:
    """The session of a worker that writes; a new one takes its place when it is lost."""

    def __init__(
        self,
        database: Database,
        stop: threading.Event,
        clock: Callable[[], float],
        retry_s: float = 0.0,
    ) -> None:
        """Connect, trying for `retry_s`."""
        self.database = database
        self._stop, self._clock = stop, clock
        self._use(connected(database, stop, clock, retry_s))

    def _use(self, session: Session) -> None:
        self.session = session
        self.in_flight = session.in_flight
        """Kept here, where each send finds it."""

    def restore(self, cause: str, within_s: float) -> None:
        """Open a new session; RunError if that takes longer, and than its `reconnect_s`."""
        self.session.close()
        try:
            self._use(connected(self.database, self._stop, self._clock, within_s))
        except BenchError as error:
            raise RunError(
                f"the connection was lost ({cause}) and not restored within"
                f" {max(within_s, self.database.reconnect_s):.0f} s: {error}"
            ) from error
