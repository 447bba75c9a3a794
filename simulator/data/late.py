"""The order of sending if a share of the rows is late (`--out-of-order`).

Rows form strata, and strata form groups. Each stratum has the same number of late rows. A late row
is sent in place of a late row one to three groups later, two on average; all other rows keep their
order. Places are numbered in the order of sending. `rows_at` and `places_of` are inverse functions
that need no other rows.
"""

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simulator.data.block import Rows
from simulator.data.mixer import below, draw, key_of
from simulator.frozen import Frozen

GROUPS = 3
"""Maximum delay of a late row in groups; the minimum is one group."""
_APART = 2
"""Mean number of groups by which a late row is sent later."""
_PATTERNS = 256
"""Number of ways to choose the late rows of a stratum."""
MOST_STRATUM_ROWS = 1000
_MOST_LATE = 1 << 31
"""Maximum number of late rows in a group, so that their products fit into 64 bits."""


class Late(Frozen):
    """The share of late rows, and their largest delay."""

    rows: int = Field(ge=1)
    """Number of late rows among each `of` rows."""
    of: int = Field(ge=2, le=MOST_STRATUM_ROWS)
    by_ms: int = Field(ge=1)


@dataclass(frozen=True)
class LateOrder:
    """The order in which the rows of one lane of a table are sent."""

    late: Late
    total: int
    """Number of rows in the lane."""
    strata: int
    """Number of strata in a group."""
    key: int

    @staticmethod
    def fit(late: Late, total: int, rows_by: int, seed: int, table: str) -> "LateOrder":
        """Return an order with a longest delay of about `rows_by` rows; check its `problem`."""
        groups = GROUPS if rows_by < total else 1
        strata = min(rows_by // (groups * late.of), _MOST_LATE // late.rows)
        return LateOrder(late, total, strata, key_of(seed, f"{table}.late"))

    @property
    def problem(self) -> str:
        """Reason why no rows can be late; empty if rows can be late."""
        if not self.strata:
            return f"has fewer than the {GROUPS * self.late.of:,} rows in that time that are needed"
        if self.groups < GROUPS:
            return f"has {self.total:,} rows, all of them in about that time"
        return ""

    @property
    def group_rows(self) -> int:
        """Number of rows in a group."""
        return self.strata * self.late.of

    @property
    def begins(self) -> int:
        """Number of places before the first place of a late row."""
        return _APART * self.strata * (self.late.of - self.late.rows)

    @property
    def groups(self) -> int:
        """Number of whole groups; the rows after the last one are in order."""
        return self.total // self.group_rows

    def rows_at(self, places: Rows) -> Rows:
        """Return the rows at these places, numbered from 0."""
        k, of, late = self.late.rows, self.late.of, self._late
        punctual = of - k
        found = places.copy()
        early = np.flatnonzero(places < self.begins)
        strata, ranks = np.divmod(places[early], punctual)
        found[early] = strata * of + self._punctual[self._choose_pattern(strata), ranks]
        slots = places + _APART * late
        at = np.flatnonzero((places >= self.begins) & (places < self._end - _APART * late))
        strata, within = np.divmod(slots[at], of)
        ranks = self._ranks[self._choose_pattern(strata), within].astype(np.int64)
        is_late = ranks < 0
        found[at] = slots[at]
        chosen = strata[is_late]
        numbers = chosen % self.strata * k + ~ranks[is_late]
        found[at[is_late]] = self._find_late_rows(chosen // self.strata, numbers)
        tail = np.flatnonzero((places >= self._end - _APART * late) & (places < self._end))
        groups, numbers = np.divmod(places[tail] - (self._end - _APART * late), late)
        found[tail] = self._find_late_rows(groups + self.groups, numbers)
        return found

    def places_of(self, rows: Rows) -> Rows:
        """Return the places of these rows."""
        k, of, late = self.late.rows, self.late.of, self._late
        found = rows.copy()
        at = np.flatnonzero(rows < self._end)
        strata, within = np.divmod(rows[at], of)
        ranks = self._ranks[self._choose_pattern(strata), within].astype(np.int64)
        is_late, is_early = ranks < 0, strata < _APART * self.strata
        punctual = strata * (of - k) + ranks
        found[at] = np.where(is_early, punctual, rows[at] - _APART * late)
        groups, chosen = np.divmod(strata[is_late], self.strata)
        groups += _APART
        numbers = chosen * k + ~ranks[is_late]
        numbers = (numbers - self._shift(groups)) % late * self._inverse % late
        strata, ranks = np.divmod(numbers, k)
        strata += groups * self.strata
        after = self._end + (groups - self.groups - _APART) * late + numbers
        inside = groups < self.groups
        within = self._lates[self._choose_pattern(strata), ranks]
        found[at[is_late]] = np.where(inside, strata * of + within - _APART * late, after)
        return found

    def _find_late_rows(self, groups: Rows, numbers: Rows) -> Rows:
        """Return the late rows sent in these groups; `numbers` count late places in a group."""
        numbers = (numbers * self._factor + self._shift(groups)) % self._late
        strata, ranks = np.divmod(numbers, self.late.rows)
        strata += (groups - _APART) * self.strata
        found: Rows = strata * self.late.of + self._lates[self._choose_pattern(strata), ranks]
        return found

    def _choose_pattern(self, strata: Rows) -> Rows:
        return below(self.key, strata, _PATTERNS)

    def _shift(self, groups: Rows) -> Rows:
        return below(self.key ^ 1, groups, self._late)

    @property
    def _late(self) -> int:
        """Number of late rows in a group."""
        return self.strata * self.late.rows

    @property
    def _end(self) -> int:
        """Number of rows in all whole groups."""
        return self.groups * self.group_rows

    @cached_property
    def _factor(self) -> int:
        """Factor that maps late places of a group to late rows, so that delays vary evenly."""
        found = max(round(self._late * 0.618), 1)
        while gcd(found, self._late) > 1:
            found += 1
        return found

    @cached_property
    def _inverse(self) -> int:
        return pow(self._factor, -1, self._late) if self._late > 1 else 0

    @cached_property
    def _lates(self) -> NDArray[np.int64]:
        """The late places of each pattern, ascending."""
        places = np.arange(_PATTERNS * self.late.of)
        drawn = draw(self.key ^ 2, places).reshape(_PATTERNS, self.late.of)
        found: NDArray[np.int64] = np.sort(np.argsort(drawn, axis=1)[:, : self.late.rows], axis=1)
        return found

    @cached_property
    def _ranks(self) -> NDArray[np.int64]:
        """Rank of each place among the punctual places of a pattern; ~rank for a late place."""
        is_late = np.zeros((_PATTERNS, self.late.of), np.bool_)
        np.put_along_axis(is_late, self._lates, values=True, axis=1)
        found: NDArray[np.int64] = np.where(
            is_late, ~(np.cumsum(is_late, axis=1) - 1), np.cumsum(~is_late, axis=1) - 1
        )
        return found

    @cached_property
    def _punctual(self) -> NDArray[np.int64]:
        """The punctual places of each pattern, ascending."""
        return np.nonzero(self._ranks >= 0)[1].reshape(_PATTERNS, -1)
