"""Connects a worker to the database, which the collector has reached before it."""

import threading
from collections.abc import Callable

from simulator.errors import BenchError
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
