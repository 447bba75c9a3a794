"""The time limit of a plan: no item begins that would end after it."""

import time
from collections.abc import Callable

from iotbench.plans.items import Item


class TimeLimit:
    """The time of a command, from its beginning; 0: no limit."""

    def __init__(self, limit_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        """Store the limit, and the clock that it refers to."""
        self._clock, self._limit_s = clock, limit_s
        self._began_s = clock()
        self._longest_s = 0.0
        """Duration of the longest measured item."""
        self.left = 0
        """Items that were not begun."""

    def allows(self, item: Item) -> bool:
        """Return whether an item would end in time if it takes as long as the longest one."""
        if not self._limit_s:
            return True
        insert = item.setting.insert
        needed_s = max(insert.warm_s + insert.timed_s, self._longest_s)
        is_in_time = self._clock() - self._began_s + needed_s <= self._limit_s
        self.left += not is_in_time
        return is_in_time

    def note(self, seconds: float) -> None:
        """Record the duration of an item."""
        self._longest_s = max(self._longest_s, seconds)
