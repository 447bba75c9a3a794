"""NULLs drawn from strata: one row of each stratum has a NULL, in one of some columns."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows
from simulator.data.mixer import below
from simulator.data.ranges import RowRange


@dataclass(frozen=True, slots=True)
class Absent:
    """The NULL values of a table."""

    key: int
    every: int
    """Rows of which one has a NULL."""
    columns: tuple[str, ...]

    def present(self, rows: Rows) -> dict[str, NDArray[np.bool_]]:
        """Return for each column in which of these rows it has a value."""
        strata, places = np.divmod(rows, self.every)
        drawn = below(self.key, strata, self.every * len(self.columns))
        chosen = np.where(drawn % self.every == places, drawn // self.every, -1)
        return {name: chosen != place for place, name in enumerate(self.columns)}

    def count(self, ranges: Iterable[RowRange]) -> int:
        """Return how many values are NULL in these rows."""
        return sum(self._count(item) for item in ranges)

    def _count(self, item: RowRange) -> int:
        starts = np.arange(item.start, item.stop, item.every or item.stop or 1)
        stops = np.minimum(starts + (item.take or item.stop), item.stop)
        return int((self._before(stops) - self._before(starts)).sum())

    def _before(self, rows: Rows) -> Rows:
        """Return how many NULLs are in the rows before each of these."""
        strata, places = np.divmod(rows, self.every)
        drawn = below(self.key, strata, self.every * len(self.columns)) % self.every
        return strata + (drawn < places)
