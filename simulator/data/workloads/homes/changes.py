"""Changes of the configuration of homes in workload `homes`, in the order of time.

A home has its first configuration at the start. Change 1 follows after at least an hour. A change
has a stratum of 6.5 h and happens in its first 5.5 h. So changes of a home are 1 to 12 h apart,
6.5 h on average, and any change can be drawn alone. In each stratum the homes take turns, beginning
with another home each time, and spread evenly over the 5.5 h. So row n is (stratum, turn) =
divmod(n, homes), and rows rise in time.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.data.block import Rows
from simulator.data.mixer import below

_MINUTE_MS = 60_000
FIRST_MS = 60 * _MINUTE_MS
EVERY_MS = 390 * _MINUTE_MS
WITHIN_MS = 330 * _MINUTE_MS
LEAST_GAP_MS = EVERY_MS - WITHIN_MS
_PRIME = (1 << 31) - 1
"""A prime above the number of homes, so that multiplication by it permutes the homes."""


@dataclass(frozen=True)
class HomeChanges:
    """All changes before an end; rows 0 to homes - 1 are the first configurations."""

    homes: int
    interval_ms: int
    """Unit of the times at which changes are seen; at most `LEAST_GAP_MS`, so that times differ."""
    end_ms: int
    """Time from the start to the end, a multiple of the interval."""
    time_key: int
    turn_key: int

    @cached_property
    def rows(self) -> int:
        """The number of all changes."""
        return self.before(self.end_ms)

    def before(self, instant_ms: int) -> int:
        """Return the number of changes seen before an instant, which is counted from the start."""
        instant_ms = -(-instant_ms // self.interval_ms) * self.interval_ms
        if instant_ms <= FIRST_MS:
            return self.homes if instant_ms > 0 else 0
        stratum, into = divmod(instant_ms - FIRST_MS, EVERY_MS)
        earlier = (stratum + 1) * self.homes
        if into >= WITHIN_MS:
            return earlier + self.homes
        turn = into * self.homes // WITHIN_MS
        offsets = self._draw_offsets(np.array([earlier + turn]), np.array([turn]))
        return earlier + turn + int(offsets[0] < into)

    def seen_ms(self, rows: Rows) -> Rows:
        """Return the times, from the start on, at which the changes of these rows are seen."""
        strata, turns = np.divmod(rows, self.homes)
        times = (strata - 1) * EVERY_MS + FIRST_MS + self._draw_offsets(rows, turns)
        times[strata == 0] = 0
        return times // self.interval_ms * self.interval_ms

    def homes_at(self, rows: Rows) -> Rows:
        """Return the homes of these changes."""
        strata, turns = np.divmod(rows, self.homes)
        return (turns + self._draw_shifts(strata)) * (_PRIME % self.homes) % self.homes

    def rows_of_homes(self, homes: Rows, first: int, stop: int) -> Rows:
        """Return the rows of these homes from `first` to `stop`, ascending."""
        strata = np.arange(first // self.homes, -(-stop // self.homes))[:, None]
        turns = (
            homes * pow(_PRIME, -1, self.homes) - self._draw_shifts(strata.ravel())[:, None]
        ) % self.homes
        rows = np.sort((strata * self.homes + turns).ravel())
        return rows[(rows >= first) & (rows < stop)]

    def _draw_offsets(self, rows: Rows, turns: Rows) -> Rows:
        """Return the time of each change in its stratum; times rise with the turn."""
        return (turns * WITHIN_MS + below(self.time_key, rows, WITHIN_MS)) // self.homes

    def _draw_shifts(self, strata: Rows) -> Rows:
        return below(self.turn_key, strata, self.homes)
