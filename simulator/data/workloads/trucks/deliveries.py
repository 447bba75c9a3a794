"""The order in which a fleet sends its points: in batches, some of which are late or missing.

A batch is ten points of a member; nine are sent together, and one is missing. In each round, all
members that have joined send a batch, one after the other. So row n is a point of the pair (round,
member) number n div 9, and pairs are numbered round by round. Missing and late batches and points
are drawn from strata, so that every share is exact and any row can be drawn alone:

- of each 100 batches of a member, one is missing;
- of each 20 batches that it sends, one is late: by 1 round (in 4 of 8 cases), 2 (2 of 8), 3 or 4;
- of each batch one point is missing, and of its nine points three (in 7 of 10 batches) or two are
  late by one or two places.

In strata that the end truncates, nothing is missing or late, so all members that joined together
send equally many batches. Members join at a steady rate: initial members make all batches, the last
member makes the last batch. The last batches of all members are in the same round.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows
from simulator.data.fleet import WORTHWHILE
from simulator.data.mixer import below, key_of
from simulator.data.ranges import RowRange
from simulator.data.walks import distinct

POINTS = 10
"""Number of points in a complete batch."""
SENT = 9
"""Number of points of a batch that are sent."""
_STRATUM = 100  # batches of which one is missing
_TURNS = 20  # batches sent of which one is late
_DELAYS = np.array([1, 1, 1, 1, 2, 2, 3, 4])
_MOST_LATE = 4
_NUMBER_BITS = 37


@cache
def _list_orders() -> NDArray[np.int8]:
    """Return all orders of a batch, equally likely: which points are sent, and when.

    The sent points are three groups of three. One point of each group is late, but three batches in
    ten have a group without a late point.
    """
    late = ([1, 0, 2], [1, 2, 0], [0, 2, 1], [0, 2, 1])
    found = []
    for missing, case in product(range(POINTS), range(10)):
        sent = np.delete(np.arange(POINTS), missing).reshape(3, 3)
        for orders in product(late, repeat=3):
            chosen = [[0, 1, 2] if case == group else order for group, order in enumerate(orders)]
            found.append(np.take_along_axis(sent, np.array(chosen), axis=1).ravel())
    return np.array(found, np.int8)


def number_pairs(members: Rows, numbers: Rows) -> Rows:
    """Return a number to draw by for each pair of a member and a number below 2**37."""
    return members << _NUMBER_BITS | numbers  # with the most members it wraps, and stays unique


@dataclass(frozen=True)
class Deliveries:
    """The batches of one table."""

    table: str
    seed: int
    batches: int
    """Number of batches that a member makes from start to end."""
    members: int
    initial: int
    """Number of members at the start."""

    @cached_property
    def rows(self) -> int:
        """Number of points that are sent."""
        return int(self._sent.sum()) * SENT

    def points(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the tick and the member of each of these rows, ascending."""
        sends, places = np.divmod(rows, SENT)
        found, send_of = distinct(sends)
        rounds, members = self._find_rounds(found)
        batches = self._find_made(members, rounds - self._first[members])
        orders = below(self._make_key("order"), number_pairs(members, batches), len(_list_orders()))
        batches += self._joined[members]
        ticks = batches[send_of] * POINTS
        ticks += _list_orders()[orders[send_of], places]
        return ticks, members[send_of]

    def candidates(self, members: Rows, first: int, stop: int) -> Rows | None:
        """Return the rows of some members and ticks and a few more, ascending; None if too many."""
        joined, sent = self._joined[members], self._sent[members]
        low = np.clip(first // POINTS - joined, 0, None)
        high = (stop - 1) // POINTS - joined
        low = np.clip(low - low // _STRATUM - 2, 0, None)
        high = np.minimum(high - high // _STRATUM + _MOST_LATE, sent - 1)
        counts = np.clip(high - low + 1, 0, None)
        if stop <= first:
            counts[:] = 0
        total = int(counts.sum())
        if total * SENT * WORTHWHILE > self.rows:
            return None
        places = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        rounds = np.repeat(self._first[members] + low, counts) + places
        sends = np.sort(self._number_sends(rounds, np.repeat(members, counts)))
        return (sends[:, None] * SENT + np.arange(SENT)).ravel()

    def _find_made(self, members: Rows, ranks: Rows) -> Rows:
        """Return the batches that members send at these ranks."""
        made = self._present[members]
        turns, places = np.divmod(ranks, _TURNS)
        drawn = below(
            self._make_key("late"),
            number_pairs(members, turns),
            (_TURNS - _MOST_LATE) * len(_DELAYS),
        )
        late, delay = drawn // len(_DELAYS), _DELAYS[drawn % len(_DELAYS)]
        sent_at = late + delay
        whole = (turns + 1) * _TURNS <= self._sent[members]
        ranks = ranks + (whole & (late <= places) & (places < sent_at))
        ranks -= np.where(whole & (places == sent_at), delay, 0)
        strata, places = np.divmod(ranks, _STRATUM - 1)
        missing = below(self._make_key("missing"), number_pairs(members, strata), _STRATUM)
        whole = (strata + 1) * _STRATUM <= made
        return ranks + np.where(whole, strata + (places >= missing), made // _STRATUM)

    def _make_key(self, purpose: str) -> int:
        return key_of(self.seed, f"{self.table}.batch.{purpose}")

    @cached_property
    def _joined(self) -> Rows:
        """Number of the first batch of each member."""
        late = self.members - self.initial
        steps = np.arange(1, late + 1) * (self.batches - 1)
        return np.concatenate([np.zeros(self.initial, np.int64), -(-steps // max(late, 1))])

    @cached_property
    def _present(self) -> Rows:
        """Number of batches that each member makes."""
        return self.batches - self._joined

    @cached_property
    def _sent(self) -> Rows:
        """Number of batches that each member sends."""
        return self._present - self._present // _STRATUM

    @cached_property
    def _first(self) -> Rows:
        """Round of each member's first batch, in rising order."""
        first: Rows = self._sent[0] - self._sent
        return first

    @cached_property
    def _stages(self) -> tuple[Rows, Rows, Rows]:
        """First rounds with more members, the numbers of members, and of batches sent before."""
        starts, _ = distinct(self._first)
        members = np.searchsorted(self._first, starts, "right")
        before = np.cumsum(np.diff(starts) * members[:-1])
        return starts, members, np.concatenate([[0], before])

    def _find_rounds(self, sends: Rows) -> tuple[Rows, Rows]:
        starts, members, before = self._stages
        stage = np.searchsorted(before, sends, "right") - 1
        rounds, sending = np.divmod(sends - before[stage], members[stage])
        rounds += starts[stage]
        return rounds, sending

    def _number_sends(self, rounds: Rows, sending: Rows) -> Rows:
        starts, members, before = self._stages
        stage = np.searchsorted(starts, rounds, "right") - 1
        sends: Rows = before[stage] + (rounds - starts[stage]) * members[stage] + sending
        return sends


@dataclass(frozen=True, slots=True)
class Absent:
    """The NULL values of a table."""

    key: int
    every: int
    """Number of rows among which one has a NULL."""
    columns: tuple[str, ...]

    def present(self, rows: Rows) -> dict[str, NDArray[np.bool_]]:
        """Return for each column a mask of the rows in which it has a value."""
        strata, places = np.divmod(rows, self.every)
        drawn = below(self.key, strata, self.every * len(self.columns))
        chosen = np.where(drawn % self.every == places, drawn // self.every, -1)
        return {name: chosen != place for place, name in enumerate(self.columns)}

    def count(self, ranges: Iterable[RowRange]) -> int:
        """Return the number of NULLs in these rows."""
        return sum(self._count(item) for item in ranges)

    def _count(self, item: RowRange) -> int:
        starts = np.arange(item.start, item.stop, item.every or item.stop or 1)
        stops = np.minimum(starts + (item.take or item.stop), item.stop)
        return int((self._count_before(stops) - self._count_before(starts)).sum())

    def _count_before(self, rows: Rows) -> Rows:
        """Return the number of NULLs before each of these rows."""
        strata, places = np.divmod(rows, self.every)
        drawn = below(self.key, strata, self.every * len(self.columns)) % self.every
        return strata + (drawn < places)
