"""Connects a worker to the database, which the collector has reached before it."""

import threading
from collections.abc import Callable
from functools import partial

from simulator.errors import BenchError, RunError
from simulator.load.connections import Connections, Meaning, Open
from simulator.modules.base import Database, Session
from simulator.protocol.spec import Several

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.25
"""The end of an outage is known no more exactly."""


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


def session_of(open_one: Open, several: Several, meanings: dict[int, Meaning]) -> Session:
    """Open a connection, or several that are one session; see `Connections`."""
    if several.connections == 1:
        return open_one()
    kept = several.pool or several.connections
    return Connections(open_one, kept, several.connections, meanings)


class Connection:
    """The session of a worker that writes; a new one takes its place when it is lost."""

    def __init__(
        self,
        database: Database,
        stop: threading.Event,
        clock: Callable[[], float],
        retry_s: float = 0.0,
        several: Several | None = None,
    ) -> None:
        """Connect, trying for `retry_s`; with several connections, they are one session."""
        self.database = database
        self._stop, self._clock, self._several = stop, clock, several or Several()
        self._meanings: dict[int, Meaning] = {}
        self.opened_ns: list[int] = []
        """How long it took to open each of several connections at first."""
        self._use(self._opened(retry_s))
        if isinstance(self.session, Connections):
            self.opened_ns = self.session.opened_ns

    def _opened(self, within_s: float) -> Session:
        open_one = partial(connected, self.database, self._stop, self._clock, within_s)
        return session_of(open_one, self._several, self._meanings)

    def _use(self, session: Session) -> None:
        self.session, self._replaced = session, 0
        self.in_flight = session.in_flight
        """Kept here, where each send finds it."""

    def newly_replaced(self) -> int:
        """Return how many of several connections were lost and replaced since the last call."""
        if not isinstance(self.session, Connections):
            return 0
        found = self.session.replaced - self._replaced
        self._replaced += found
        return found

    def restore(self, cause: str, within_s: float) -> None:
        """Open a new session; RunError if that takes longer, and than its `reconnect_s`."""
        self.session.close()
        try:
            self._use(self._opened(within_s))
        except BenchError as error:
            raise RunError(
                f"the connection was lost ({cause}) and not restored within"
                f" {max(within_s, self.database.reconnect_s):.0f} s: {error}"
            ) from error
