"""Rows of a fleet: each of its series has a row at every tick, and rows rise in time.

Row n of a table is (tick, series) = divmod(n, series of the table).
"""

from collections.abc import Mapping

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.query import Selection
from simulator.data.walks import Walks, distinct

_WASTE = 4
"""Maximum ratio of drawn to used values; above it, the rows are divided."""
WORTHWHILE = 2
"""Cost of drawing a row by number, relative to drawing it in the order of the table."""


def walks_at(walks: Walks, ticks: Rows, series: Rows) -> dict[str, Array]:
    """Return each walk at these rows, given by their tick (ascending) and series.

    All combinations of the given ticks and series are drawn. If few of the combinations are needed,
    such as one row at each end of the table, the rows are halved repeatedly.
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


def select_members(tags: Mapping[str, Array], selection: Selection) -> Rows:
    """Return the numbers of the series that have the selection's tags."""
    chosen = np.ones(len(next(iter(tags.values()))), np.bool_)
    for one in selection.one_of:
        values = np.array([value.encode() for value in one.values])
        chosen &= np.isin(tags[one.column], values)
    return np.flatnonzero(chosen)


def select_rows(
    tags: Mapping[str, Array], selection: Selection, ticks: range, all_ticks: int
) -> Rows | None:
    """Return the rows with the selection's tags at some ticks; None if there are too many."""
    series, numbers = len(next(iter(tags.values()))), select_members(tags, selection)
    if len(numbers) * len(ticks) * WORTHWHILE > series * all_ticks:
        return None
    rows: Rows = np.arange(ticks.start, ticks.stop)[:, None] * series + numbers
    return rows.ravel()


def select_fleet_rows(
    tags: Mapping[str, Array], selection: Selection, ticks: int, start: int, interval: int
) -> Rows | None:
    """Return the rows with the selection's tags and times, ascending; None if too many.

    `tags` has the value of each series. The first of `ticks` instants is `start`; both `start` and
    `interval` are in the table's unit of time.
    """
    chosen = selection.places(lambda t: -((start - t) // interval), ticks)
    return select_rows(tags, selection, chosen, ticks)
