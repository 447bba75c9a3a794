"""Who asks over the connections of a worker: the worker itself, or several callers at once."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias

from simulator.load.connections import Connections
from simulator.modules.base import Session

Call: TypeAlias = Callable[[Session], None]
"""What a caller does with a connection."""


class Callers(Protocol):
    """Those who ask; the worker has them begin one after the other."""

    lock: threading.Lock
    """Of what callers write down."""

    def wait_for_one(self) -> None:
        """Wait until a caller is free."""

    def call(self, call: Call) -> None:
        """Have a free caller do something; what it raises is raised now, or later."""

    def wait_for_all(self) -> None:
        """Wait until every caller is free; raise what the first one has raised that failed."""

    def cpu_s(self) -> float:
        """Return the CPU time so far that callers share; 0: there is one, or it is not known."""


class OneCaller:
    """The worker itself, over its only connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.lock = threading.Lock()

    def wait_for_one(self) -> None:
        """Do nothing: a call has ended once it returns."""

    def call(self, call: Call) -> None:
        """Call at once."""
        call(self._session)

    def wait_for_all(self) -> None:
        """Do nothing."""

    def cpu_s(self) -> float:
        """Return 0: what the client takes is measured for each call."""
        return 0.0


class SeveralCallers:
    """As many as the connections have; each asks in a thread of its connection."""

    def __init__(self, connections: Connections, *, embedded: bool) -> None:
        """`embedded`: the CPU time of this process is also that of the database."""
        self._connections, self._embedded = connections, embedded
        self.lock = threading.Lock()
        self._free = threading.Semaphore(connections.in_flight)
        self._failure: Exception | None = None

    def wait_for_one(self) -> None:
        """Wait until a caller is free."""
        with self._free:  # only the worker's own thread takes them
            self._expect_no_failure()

    def call(self, call: Call) -> None:
        """Give a call to the connection that has been free for longest, or to the next one."""
        self._free.acquire()
        self._connections.have(partial(self._carried_out, call), self._ended)

    def _carried_out(self, call: Call, session: Session) -> None:
        try:
            call(session)
        except Exception as error:  # noqa: BLE001 - raised where the worker waits
            self._failure = self._failure or error

    def _ended(self, _: Exception | None) -> None:
        self._free.release()

    def wait_for_all(self) -> None:
        """Wait until every caller is free; raise what the first one has raised that failed."""
        callers = self._connections.in_flight
        for _ in range(callers):
            self._free.acquire()
        self._free.release(callers)
        self._expect_no_failure()

    def _expect_no_failure(self) -> None:
        if self._failure:
            raise self._failure

    def cpu_s(self) -> float:
        """Return that of this process."""
        return 0.0 if self._embedded else time.process_time()


def callers_of(session: Session, *, embedded: bool = False) -> Callers:
    """Return who asks over a session, which may be several connections."""
    if isinstance(session, Connections):
        return SeveralCallers(session, embedded=embedded)
    return OneCaller(session)
