"""The waiting time of a session: the time of a query is the database's or the client's."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


class Waits:
    """Counts the client's time: within `in_client`, except within `waiting`; the innermost counts.

    The first surrounds all that is done with an answer, the second each call that waits for more of
    it. While the client works on one part of an answer, the database may compute the next.
    """

    client_s: float = 0.0
    """Seconds of the client since the session was opened."""
    _is_client = False
    _since_s = 0.0

    @contextmanager
    def in_client(self) -> Iterator[None]:
        """Count the time within as the client's, not as waiting for the database."""
        before = self._turn(is_client=True)
        try:
            yield
        finally:
            self._turn(is_client=before)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time within as waiting for the database, also inside `in_client`."""
        before = self._turn(is_client=False)
        try:
            yield
        finally:
            self._turn(is_client=before)

    def await_parts(self, parts: Iterable[Item]) -> Iterator[Item]:
        """Yield parts that arrive from the database; the time until each arrives is waiting.

        A lazy reader of an answer needs it, because it is consumed within `in_client`.
        """
        arriving = iter(parts)
        while True:
            with self.waiting():
                try:
                    part = next(arriving)
                except StopIteration:
                    return
            yield part

    def _turn(self, *, is_client: bool) -> bool:
        """Count the time until now; return whether it was the client's."""
        now_s, before = time.perf_counter(), self._is_client
        if before:
            self.client_s += now_s - self._since_s
        self._is_client, self._since_s = is_client, now_s
        return before
