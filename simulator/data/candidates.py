"""Which rows of a fleet a selection can match, so that only those are drawn.

Row n of a table is (tick, series) = divmod(n, series of the table).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.query import Selection

_WORTHWHILE = 2
"""Drawing the whole table in order is as fast as drawing this part of it by row numbers."""


@dataclass(frozen=True, slots=True)
class FleetTable:
    """The tags of each series of a table, and its instants."""

    tags: Mapping[str, Array]
    """Tag -> the value of each series."""
    series: int
    ticks: int
    start: int
    interval: int
    """Both in the table's unit of time."""

    def candidates(self, selection: Selection) -> Rows | None:
        """Return the rows that have the selection's tags and times, ascending; None if too many."""
        chosen = np.ones(self.series, np.bool_)
        for one in selection.one_of:
            values = np.array([value.encode() for value in one.values])
            chosen &= np.isin(self.tags[one.column], values)
        series = np.flatnonzero(chosen)
        first = 0 if selection.since is None else self._ticks_before(selection.since)
        stop = self.ticks if selection.until is None else self._ticks_before(selection.until)
        if len(series) * (stop - first) * _WORTHWHILE > self.series * self.ticks:
            return None
        rows: Rows = np.arange(first, stop)[:, None] * self.series + series
        return rows.ravel()

    def _ticks_before(self, instant: int) -> int:
        return min(max(-((self.start - instant) // self.interval), 0), self.ticks)
