"""Rows of a fleet: each of its series has a row at every tick, and rows rise in time.

Row n of a table is (tick, series) = divmod(n, series of the table).
"""

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.walks import Walks, distinct

_WASTE = 4
"""Values drawn for each one that is used, at most, before the rows are divided."""


def walks_at(walks: Walks, ticks: Rows, series: Rows) -> dict[str, Array]:
    """Return each walk at these rows, given by their tick (ascending) and series.

    Drawn are all combinations of the ticks and series that occur. Rows that are few among those,
    such as one at each end of the table, are divided into halves, as often as it takes.
    """
    if not len(ticks):
        return {name: values.ravel() for name, values in walks.draw(ticks, series).items()}
    instants, instant_of = distinct(ticks)
    first = int(series.min())
    present = np.zeros(int(series.max()) - first + 1, np.bool_)
    present[series - first] = True
    members = np.flatnonzero(present)
    if len(instants) * len(members) > _WASTE * len(ticks):
        middle = len(ticks) // 2
        lower = walks_at(walks, ticks[:middle], series[:middle])
        upper = walks_at(walks, ticks[middle:], series[middle:])
        return {name: np.concatenate([lower[name], upper[name]]) for name in lower}
    member_of = np.cumsum(present) - 1
    places = instant_of * len(members) + member_of[series - first]
    start, stop = int(places[0]), int(places[-1]) + 1
    chosen = slice(start, stop) if stop - start == len(places) else places
    drawn = walks.draw(instants, members + first)
    return {name: values.ravel()[chosen] for name, values in drawn.items()}
