"""Reads the counters of the server's background work once a second during the run."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import NamedTuple

from simulator.clock import now_s
from simulator.modules.contract import Database, ReadCounters
from simulator.protocol.events import Occurrence

SAMPLE_S = 1.0
MOST_CHANGES = 500
"""Maximum number of changes in a result; further changes are joined with their neighbours."""
_FIRST_S = 5.0
"""Maximum wait for the first counters, and after the run for the last ones."""
_LONGEST_PAUSE_S = 30.0
"""Maximum pause between attempts to read counters that a server refuses to show."""


class _Change(NamedTuple):
    at_s: float
    """Time at which the change was seen, in seconds since 1970."""
    name: str
    times: int


class BackgroundWatch:
    """Follows the counters of one server in a thread; a run never depends on them."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = now_s,
        sample_s: float = SAMPLE_S,
    ) -> None:
        self._database = database
        self._clock = clock
        self._sample_s = self._pause_s = sample_s
        self._over = threading.Event()
        self._read = threading.Event()
        """Event that is set after the first attempt to read the counters."""
        self._thread = threading.Thread(target=self._watch, name="background work", daemon=True)
        self._since_s: float | None = None
        """Time at which the counters were first read."""
        self._is_whole = False
        """True if the counters were also read at the end."""
        self._last: dict[str, int] = {}
        self._changes: list[_Change] = []

    def start(self) -> None:
        """Start to read the counters about once a second; wait for the first time."""
        self._thread.start()
        self._read.wait(_FIRST_S)

    def finish(self) -> None:
        """Read the counters for the last time."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(_FIRST_S)

    def counts(self, since_s: float) -> dict[str, int]:
        """Return how often the server has done each kind of work since an instant, if known."""
        if self._since_s is None or self._since_s > since_s or not self._is_whole:
            return {}
        return {
            name: sum(c.times for c in self._changes if c.name == name and c.at_s > since_s)
            for name in self._last
        }

    def occurrences(self, since_s: float) -> list[Occurrence]:
        """Return the server's work since an instant, with times relative to the instant."""
        changes = [c for c in self._changes if c.at_s > since_s]
        joined = changes
        for doublings in count(1):
            if len(joined) <= MOST_CHANGES:
                break
            joined = _join(changes, since_s, self._sample_s * 2**doublings)
        return [
            Occurrence(at_s=round(each.at_s - since_s, 1), what=each.name, count=each.times)
            for each in joined
        ]

    def _watch(self) -> None:
        """Read the counters until the end; after an error, retry after growing pauses."""
        while not self._over.is_set():
            with suppress(Exception), self._database.background_work() as counters:
                if not self._follow(counters):
                    self._read.set()
                    return
            self._read.set()
            self._over.wait(self._pause_s)
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    def _follow(self, counters: ReadCounters) -> bool:
        """Read the counters until the end; return whether the server has any."""
        while True:
            is_last = self._over.is_set()
            self._note(counters())
            self._read.set()
            if is_last:
                self._is_whole = True
            if is_last or not self._last:
                return bool(self._last)
            self._over.wait(self._sample_s)

    def _note(self, found: Mapping[str, int]) -> None:
        now_s, self._pause_s = self._clock(), self._sample_s
        for name, total in found.items():
            before = self._last.get(name, total)
            # A server that was started again counts from 0.
            more = total - before if total >= before else total
            if more:
                self._changes.append(_Change(now_s, name, more))
        self._last |= found
        if self._since_s is None:
            self._since_s = now_s


def _join(changes: list[_Change], since_s: float, width_s: float) -> list[_Change]:
    """Join the changes of each counter within the same interval, at the time of the first one."""
    found: dict[tuple[str, int], _Change] = {}
    for each in changes:
        key = each.name, int((each.at_s - since_s) / width_s)
        known = found.get(key)
        found[key] = known._replace(times=known.times + each.times) if known else each
    return list(found.values())
