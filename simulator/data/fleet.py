"""Rows of a fleet: each of its series has a row at every tick, and rows rise in time.

Row n of a table is (tick, series) = divmod(n, series of the table).
"""

from collections.abc import Mapping

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.query import Selection
from simulator.data.walks import Walks, distinct

_WASTE = 4
"""Maximum number of values drawn for each one used; with more, the rows are divided."""
WORTHWHILE = 2
"""Drawing a whole table in order is as fast as drawing one row in this many by its number."""


def walks_at(walks: Walks, ticks: Rows, series: Rows) -> dict[str, Array]:
    """Return each walk at these rows, given by their tick (ascending) and series.

    All combinations of the ticks and series that occur are drawn. If few of these are needed, such
    as one row at each end of the table, the rows are divided into halves, as often as it takes.
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
    """Return the rows at some ticks that have the selection's tags; None if they are too many."""
    series, numbers = len(next(iter(tags.values()))), select_members(tags, selection)
    if len(numbers) * len(ticks) * WORTHWHILE > series * all_ticks:
        return None
    rows: Rows = np.arange(ticks.start, ticks.stop)[:, None] * series + numbers
    return rows.ravel()


def select_fleet_rows(
    tags: Mapping[str, Array], selection: Selection, ticks: int, start: int, interval: int
) -> Rows | None:
    """Return the rows that have the selection's tags and times, ascending; None if too many.

    `tags` has the value of each series. The first of `ticks` instants is `start`; start and
    interval are in the table's unit of time.
    """
    chosen = selection.places(lambda t: -((start - t) // interval), ticks)
    return select_rows(tags, selection, chosen, ticks)
