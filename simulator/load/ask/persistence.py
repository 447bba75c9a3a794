"""A worker's reaction to queries that fail during a fault: it retries, as an application does."""

import threading
from collections.abc import Callable

from simulator.modules.contract import Session

_PAUSE_S = 0.05


def driver_error(error: Exception) -> Exception:
    """Return the driver's error that an error of this program is about."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error


class Persistence:
    """Retries of failed queries: for how long, and how often."""

    def __init__(
        self,
        reopen: Callable[[], Session],
        stop: threading.Event,
        clock: Callable[[], float],
        retry_s: float,
        may_pass: Callable[[Exception], bool] | None = None,
    ) -> None:
        """`reopen` returns a new connection in place of one that is lost.

        `may_pass`: whether a query is asked again after a driver's error; default: after each.
        """
        self._may_pass = may_pass
        self._reopen = reopen
        self._stop, self._clock, self._retry_s = stop, clock, retry_s
        self._until_s: float | None = None
        self._lock = threading.Lock()
        self.failed = 0
        """Attempts that failed, and were made again."""

    def again(self, error: Exception) -> bool:
        """Wait a moment after a failure; return whether to try again."""
        if self._may_pass and not self._may_pass(driver_error(error)):
            return False
        with self._lock:
            now_s = self._clock()
            self._until_s = self._until_s or now_s + self._retry_s
            if now_s >= self._until_s or self._stop.is_set():
                return False
            self.failed += 1
        return not self._stop.wait(_PAUSE_S)

    def note_success(self) -> None:
        """Restart the time with the next failure."""
        self._until_s = None

    def usable(self, session: Session, error: Exception) -> Session:
        """Return the session after an error, or a new one in place of one that is lost."""
        session.classify(driver_error(error))
        if session.is_usable:
            return session
        session.close()
        return self._reopen()
