"""Callers ask queries over the connections of a worker, and repeat a query that fails."""

import threading
from collections.abc import Callable
from typing import TypeAlias

from simulator.errors import RunError
from simulator.load.connections import Connections
from simulator.load.timings import cpu_clock
from simulator.modules.contract import Session

_PAUSE_S = 0.05


def _unwrap(error: Exception) -> Exception:
    """Return the driver's error behind an error of this program."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error


class Persistence:
    """Decides for how long failed queries are repeated, and counts the repetitions."""

    def __init__(
        self,
        reopen: Callable[[], Session],
        stop: threading.Event,
        clock: Callable[[], float],
        retry_s: float,
        may_pass: Callable[[Exception], bool] | None = None,
    ) -> None:
        """Store the function that returns a new connection in place of a lost one.

        `may_pass` decides after which errors of the driver a query is repeated; default: all.
        """
        self._may_pass = may_pass
        self._reopen = reopen
        self._stop, self._clock, self._retry_s = stop, clock, retry_s
        self._until_s: float | None = None
        self._lock = threading.Lock()
        self.failed = 0
        """Number of failed attempts that were repeated."""

    def again(self, error: Exception) -> bool:
        """Wait a moment after a failure; return whether to try again."""
        if self._may_pass and not self._may_pass(_unwrap(error)):
            return False
        with self._lock:
            now_s = self._clock()
            self._until_s = self._until_s or now_s + self._retry_s
            if now_s >= self._until_s or self._stop.is_set():
                return False
            self.failed += 1
        return not self._stop.wait(_PAUSE_S)

    def note_success(self) -> None:
        """Count the time for repetitions from the next failure on."""
        self._until_s = None

    def replace_lost(self, session: Session, error: Exception) -> Session:
        """Return the session after an error, or a new one if it was lost."""
        session.classify(_unwrap(error))
        if session.is_usable:
            return session
        session.close()
        return self._reopen()


Call: TypeAlias = Callable[[Session], None]
"""Function that a caller runs with its connection."""


class OneCaller:
    """The worker itself, over its only connection."""

    def __init__(
        self, session: Session, persistence: Persistence | None = None, *, embedded: bool = False
    ) -> None:
        """Store the persistence; without it, the first failure is raised."""
        self._session, self._persistence = session, persistence
        self.cpu_s = cpu_clock(embedded=embedded)
        self.lock = threading.Lock()
        """Lock for the records of callers."""

    def wait_for_one(self) -> None:
        """Do nothing: a call has ended once it returns."""

    wait_for_all = wait_for_one

    def call(self, call: Call) -> None:
        """Call at once, and again after a failure, over a new connection if the old one is lost."""
        while True:
            try:
                call(self._session)
            except Exception as error:
                if not self._persistence or not self._persistence.again(error):
                    raise
                self._session = self._persistence.replace_lost(self._session, error)
            else:
                if self._persistence:
                    self._persistence.note_success()
                return

    def close(self) -> None:
        """Close the connection."""
        self._session.close()


class SeveralCallers:
    """Callers in threads, one for each connection."""

    def __init__(
        self, connections: Connections, persistence: Persistence | None, *, embedded: bool
    ) -> None:
        """Start the callers; with `embedded`, this process's CPU time includes the database's."""
        self._connections, self._persistence = connections, persistence
        self.cpu_s = cpu_clock(embedded=embedded)
        self.lock = threading.Lock()
        self._free = threading.Semaphore(connections.in_flight)
        self._failure: Exception | None = None

    def wait_for_one(self) -> None:
        """Wait until a caller is free."""
        with self._free:  # only the worker's own thread takes them
            self._expect_no_failure()

    def call(self, call: Call) -> None:
        """Pass a call to the connection that has been free for longest, or to the next free one."""
        self._free.acquire()
        self._attempt(call)

    def _attempt(self, call: Call) -> None:
        failures: list[Exception] = []

        def carry_out(session: Session) -> None:
            try:
                call(session)
            except RunError as error:
                failures.append(error)
                raise _unwrap(error) from None  # the session classifies it

        self._connections.have(carry_out, lambda error: self._end(call, error, failures))

    def _end(self, call: Call, error: Exception | None, failures: list[Exception]) -> None:
        """Free the caller, or repeat the call: a lost connection has already been replaced."""
        persistence = self._persistence
        if error is not None:
            self._connections.classify(error)  # forgets the kept meaning of the error
            if persistence and self._connections.alive and persistence.again(error):
                self._attempt(call)
                return
            self._failure = self._failure or (failures or [error])[0]
        elif persistence:
            persistence.note_success()
        self._free.release()

    def wait_for_all(self) -> None:
        """Wait until every caller is free; raise the first failure."""
        callers = self._connections.in_flight
        for _ in range(callers):
            self._free.acquire()
        self._free.release(callers)
        self._expect_no_failure()

    def _expect_no_failure(self) -> None:
        if self._failure:
            raise self._failure

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()


Callers: TypeAlias = OneCaller | SeveralCallers
"""The callers of a worker. The worker starts their calls one after the other."""


def callers_of(
    session: Session, persistence: Persistence | None = None, *, embedded: bool = False
) -> Callers:
    """Return the callers of a session; a session may be several connections."""
    if isinstance(session, Connections):
        return SeveralCallers(session, persistence, embedded=embedded)
    return OneCaller(session, persistence, embedded=embedded)
