"""Opens the connections of a worker, and replaces lost ones."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from simulator.errors import BenchError, RunError
from simulator.load.connections import Connections, Meaning, Open
from simulator.modules.contract import Database, Failure, Options, Session
from simulator.protocol.spec import Several

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.25
"""Maximum pause between attempts, and so the resolution of an outage's end."""


OpenSession: TypeAlias = Callable[[float], Session]
"""Function that opens one or several connections as a session, retrying for some seconds."""


class Stopped(Exception):
    """Raised when the run is over; the worker then reports its progress."""


class FailedElsewhere(Exception):
    """An error that a session in another process raised and classified."""

    def __init__(self, cause: str, failure: Failure, *, may_pass: bool = False) -> None:
        super().__init__(cause)
        self.failure, self.may_pass = failure, may_pass


def connect(
    database: Database, stop: threading.Event, clock: Callable[[], float], within_s: float = 0.0
) -> Session:
    """Open a connection; retry for `within_s`, but at least for the database's `reconnect_s`.

    Raises the last error after that time, and Stopped if the run ends meanwhile.
    """
    deadline, pause_s = clock() + max(database.reconnect_s, within_s), _FIRST_PAUSE_S
    while True:
        options = database.options
        try:
            session = database.connect()
        except BenchError:
            if clock() > deadline:
                raise
        else:
            session.is_outdated = partial(was_rotated, database, options)
            return session
        if stop.wait(pause_s):
            raise Stopped
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def was_rotated(database: Database, options: Options) -> bool:
    """Return whether the credentials of a database have been rotated since `options`."""
    return database.options is not options


def may_pass(database: Database, error: Exception) -> bool:
    """Return whether a driver's error may pass: a full disk, or a refused login."""
    return database.is_out_of_space(error) or database.is_refused_login(error)


def session_of(open_one: Open, several: Several, meanings: dict[int, Meaning]) -> Session:
    """Open one connection, or several as one session; see `Connections`."""
    if several.connections == 1:
        return open_one()
    kept = several.pool or several.connections
    return Connections(open_one, kept, several.connections, meanings)


def open_here(
    database: Database, stop: threading.Event, clock: Callable[[], float], several: Several
) -> OpenSession:
    """Return the function that opens sessions in this process."""
    meanings: dict[int, Meaning] = {}

    def open_content(within_s: float) -> Session:
        open_one = partial(connect, database, stop, clock, within_s)
        return session_of(open_one, several, meanings)

    return open_content


class WriterConnection:
    """The session of a worker that writes; `restore` replaces a lost session."""

    def __init__(self, database: Database, open_session: OpenSession, retry_s: float) -> None:
        """Connect, retrying for `retry_s`."""
        self.database, self._opened = database, open_session
        self._use(self._opened(retry_s))
        self.opened_ns: list[int] = getattr(self.session, "opened_ns", [])
        """Times to open each of several connections at the start."""

    def _use(self, session: Session) -> None:
        self.session, self._replaced = session, 0
        self.in_flight = session.in_flight
        """Maximum number of batches in flight, copied because each send reads the number."""

    def explain(self, error: Exception) -> str:
        """Return the text of an error of the session, with a remedy if one is known."""
        return str(error) if isinstance(error, FailedElsewhere) else self.database.explain(error)

    def may_pass(self, error: Exception) -> bool:
        """Return whether an error of the session may go away by itself."""
        if isinstance(error, FailedElsewhere):
            return error.may_pass
        return may_pass(self.database, error)

    def newly_replaced(self) -> int:
        """Return how many of several connections were lost and replaced since the last call."""
        if not isinstance(self.session, Connections):
            return 0
        found = self.session.replaced - self._replaced
        self._replaced += found
        return found

    def restore(self, cause: str, within_s: float) -> None:
        """Open a new session; RunError after the longer of `within_s` and `reconnect_s`."""
        self.session.close()
        try:
            self._use(self._opened(within_s))
        except BenchError as error:
            raise RunError(
                f"the connection was lost ({cause}) and not restored within"
                f" {max(within_s, self.database.reconnect_s):.0f} s: {error}"
            ) from error
