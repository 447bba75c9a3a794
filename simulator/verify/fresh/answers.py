"""Compares answers about fresh rows with the rows that could be visible.

An answer must have every row acknowledged before its query began, if the database promises visible
rows, and may only have rows sent before the query ended.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.fresh import FreshType
from simulator.data.query import AggregateQuery
from simulator.data.schema import FLOATS
from simulator.errors import counted
from simulator.protocol.arrivals import NEVER_NS, NULL_DOUBLE, NULL_INTEGER
from simulator.verify.fresh.arriving import (
    BEFORE_NS,
    AnswerLog,
    ArrivalWindow,
    ArrivingRows,
    Numbers,
)

MOST_LISTED = 5
"""Maximum number of wrong answers that are described."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Cells: TypeAlias = NDArray[Any]
"""Array with an item for each answer and group."""


class Wrong(NamedTuple):
    """A wrong answer, and the expected one."""

    expected: str
    found: str


class Delays(NamedTuple):
    """The delays of batches, in ns, and the number of rows in each batch."""

    waited_ns: Numbers
    rows: Numbers


_Describe: TypeAlias = Callable[[int, int], Wrong]
"""Function that describes a wrong answer, given an answer and a group."""


@dataclass(slots=True)
class FreshOutcome:
    """The outcome of the answers to a query."""

    answers: int = 0
    right: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    """The first wrong answers."""
    began_ns: list[Numbers] = field(default_factory=list)
    ended_ns: list[Numbers] = field(default_factory=list)
    """Ends of the answers that count rows."""
    seen_ns: list[Numbers] = field(default_factory=list)
    """Time, for each of these answers, by which as many rows were acknowledged as it counts."""

    def delays(self, rows: ArrivingRows, place: int) -> tuple[Delays, Delays]:
        """Return the time from the acknowledgement to the first sight of each batch of a table.

        A batch is seen by the end of the first answer that counts as many rows as had been
        acknowledged with it. Unseen batches are returned separately, with the time until the last
        answer began.
        """
        sent, count = rows.sent, rows.rows_of(place)
        own = np.flatnonzero(sent.is_measured & (count > 0))
        acknowledged, count = sent.acknowledged_ns[own], count[own]
        none = np.empty(0, np.int64)
        ended, until = np.concatenate([none, *self.ended_ns]), np.concatenate([none, *self.seen_ns])
        order = np.argsort(ended, kind="stable")
        ended, until = ended[order], np.maximum.accumulate(until[order])
        first = np.searchsorted(until, acknowledged)
        is_seen = first < len(ended)
        last = max((int(each.max()) for each in self.began_ns if len(each)), default=BEFORE_NS)
        waited = np.full(len(own), last)
        waited[is_seen] = ended[first[is_seen]]
        waited = np.maximum(waited - acknowledged, 0)
        seen = Delays(waited[is_seen], count[is_seen])
        return seen, Delays(_find_outlasted(waited[~is_seen], seen.waited_ns), count[~is_seen])


def _find_outlasted(waited: Numbers, delays: Numbers) -> Numbers:
    """Return the longest delay that each unseen batch outlasted; if all, the batch's own time.

    Buckets are coarse: within the range of the delays, only buckets of delays are used.
    """
    known = np.sort(delays)
    beyond = np.searchsorted(known, waited, "right")
    steps = np.concatenate([np.zeros(1, np.int64), known])
    found: Numbers = np.where(beyond == len(known), waited, steps[beyond])
    return found


def check(
    rows: ArrivingRows, fresh_type: FreshType, parts: Iterable[AnswerLog], *, promised: bool
) -> FreshOutcome:
    """Compare all answers to a query.

    If `promised`, answers that begin after an acknowledgement must have the acknowledged row.
    """
    found = FreshOutcome()
    for part in parts:
        for since_ms in np.unique(part.since_ms).tolist():
            own = np.flatnonzero(part.since_ms == since_ms)
            window = rows.window(fresh_type, since_ms, int(part.ended_ns[own].max()))
            _take(_Compared(fresh_type, part, own, window, promised=promised), found)
    return found


def _take(compared: "_Compared", found: FreshOutcome) -> None:
    is_wrong = np.zeros(len(compared.began_ns), np.bool_)
    for cells, describe in compared.problems():
        for answer, group in np.argwhere(cells).tolist():
            if not is_wrong[answer] and len(found.wrong) < MOST_LISTED:
                found.wrong.append(describe(answer, group))
            is_wrong[answer] = True
    found.answers += len(is_wrong)
    found.right += int((~is_wrong).sum())
    if compared.counts_rows:
        found.began_ns.append(compared.began_ns)
        found.ended_ns.append(compared.ended_ns)
        found.seen_ns.append(compared.find_seen_ns())


class _Ordered:
    """The rows of each group, ordered by the time at which they were sent or acknowledged."""

    def __init__(self, group: Numbers, instants: Numbers, groups: int) -> None:
        self.order = np.lexsort((instants, group))
        self._instants = instants[self.order]
        self._starts = np.searchsorted(group[self.order], np.arange(groups + 1))

    def __iter__(self) -> Iterator[tuple[int, slice]]:
        """Yield each group that has rows, and the place of its rows in the order."""
        for group in np.flatnonzero(np.diff(self._starts)).tolist():
            yield group, slice(int(self._starts[group]), int(self._starts[group + 1]))

    def until(self, at: Numbers) -> _Cells:
        """Return the number of rows of each group up to each instant in `at`."""
        found = np.zeros((len(at), len(self._starts) - 1), np.int64)
        for group, own in self:
            found[:, group] = np.searchsorted(self._instants[own], at, "right")
        return found

    def accumulate_to(self, values: NDArray[Any], of: np.ufunc, counts: _Cells) -> _Cells:
        """Return the least or greatest value of the first `counts` rows of each group; else 0."""
        values, found = values[self.order], np.zeros(counts.shape, values.dtype)
        for group, own in self:
            first = counts[:, group]
            found[:, group] = of.accumulate(values[own])[np.maximum(first, 1) - 1]
        return found


class _Compared:
    """The answers of one worker about the rows since one instant, and these rows."""

    def __init__(
        self,
        fresh_type: FreshType,
        part: AnswerLog,
        own: Numbers,
        window: ArrivalWindow,
        *,
        promised: bool,
    ) -> None:
        self._type, self._window = fresh_type, window
        self.began_ns, self.ended_ns = part.began_ns[own], part.ended_ns[own]
        self.counts_rows = isinstance(fresh_type.query, AggregateQuery)
        self._keys = [*dict.fromkeys([*window.keys, *map(tuple, part.keys)])]
        place_of = {key: place for place, key in enumerate(self._keys)}
        places = np.array([place_of[tuple(key)] for key in part.keys], np.int64)
        answer_of = np.full(len(part.since_ms), -1)
        answer_of[own] = np.arange(len(own))
        of_own = answer_of[part.owner] >= 0
        answer, group = answer_of[part.owner[of_own]], places[part.key[of_own]]
        shape = len(own), len(self._keys)
        self._times = np.zeros(shape, np.int64)
        np.add.at(self._times, (answer, group), 1)
        """Number of rows of each group in each answer."""
        self._values = [self._cells(column[of_own], answer, group) for column in part.values]
        acknowledged = _Ordered(window.group, window.acknowledged_ns, shape[1])
        sent = _Ordered(window.group, window.sent_ns, shape[1])
        self._acknowledged, self._sent = acknowledged, sent
        self._least = acknowledged.until(self.began_ns - 1) if promised else np.zeros(shape, int)
        """Number of rows of each group that each answer must count."""
        self._most = sent.until(self.ended_ns)
        """Number of rows of each group that each answer may count."""

    def _cells(self, column: Numbers, answer: Numbers, group: Numbers) -> _Cells:
        cells = np.zeros(self._times.shape, np.int64)
        cells[answer, group] = column
        return cells

    def problems(self) -> Iterator[tuple[_Cells, _Describe]]:
        """Yield the wrong cells of each kind, and the function that describes one of them."""
        yield self._times > 1, self._describe_doubled
        yield from self._check_counts() if self.counts_rows else self._check_newest()

    def _check_counts(self) -> Iterator[tuple[_Cells, _Describe]]:
        counts, *ends = self._values
        yield (counts < self._least) | (counts > self._most), self._describe_miscounted
        if not ends:
            return
        values, has = self._window.values, counts > 0
        for cells, of in zip(ends, (np.minimum, np.maximum), strict=True):
            given = self._as_field(cells)
            outer = self._sent.accumulate_to(values, of, self._most)
            inner = self._acknowledged.accumulate_to(values, of, self._least)
            beyond = (of(given, outer) != outer) | self._is_null(cells)
            short = (self._least > 0) & (of(given, inner) != given)
            yield has & (beyond | short), self._describe_extreme(given, inner, outer)

    def _check_newest(self) -> Iterator[tuple[_Cells, _Describe]]:
        times, cells = self._values
        has, window = self._times > 0, self._window
        newest = self._acknowledged.accumulate_to(window.times, np.maximum, self._least)
        missed = (self._least > 0) & (~has | (times < newest))
        yield missed, self._describe_stale(times, newest)
        row = self._find_rows(times)
        given, is_row = self._as_field(cells), row >= 0
        if len(window.times):
            is_row &= (window.values[row] == given) & (
                window.sent_ns[row] <= self.ended_ns[:, None]
            )
        yield has & ~is_row, self._describe_unsent(times, given)

    def _find_rows(self, times: _Cells) -> _Cells:
        """Return the row of each group with the given time; -1 if there is none."""
        window = self._window
        if not len(window.times):
            return np.full(times.shape, -1)
        first, span = int(window.times.min()), int(np.ptp(window.times)) + 1
        wanted = times - first
        inside = (wanted >= 0) & (wanted < span)
        names = window.group * span + (window.times - first)
        order = np.argsort(names, kind="stable")
        asked = np.arange(times.shape[1]) * span + np.where(inside, wanted, 0)
        at = np.minimum(np.searchsorted(names[order], asked), len(names) - 1)
        found: _Cells = np.where(inside & (names[order][at] == asked), order[at], -1)
        return found

    def _is_null(self, cells: _Cells) -> _Cells:
        column = self._type.field
        null = NULL_DOUBLE if column and column.type in FLOATS else NULL_INTEGER
        found: _Cells = cells == null
        return found

    def _as_field(self, cells: _Cells) -> _Cells:
        column = self._type.field
        return cells.view(np.float64) if column and column.type in FLOATS else cells

    def find_seen_ns(self) -> Numbers:
        """Return the time at which as many rows were acknowledged as each answer counts; 0: none.

        An answer is assumed to have all rows of unknown outcome, so that no delay looks shorter
        than it was.
        """
        window = self._window
        is_known = window.acknowledged_ns != NEVER_NS
        known = np.sort(window.acknowledged_ns[is_known])
        unknown = np.sort(window.sent_ns[~is_known])
        total = self._values[0].sum(axis=1) - np.searchsorted(unknown, self.ended_ns, "right")
        if not len(known):
            return np.zeros(len(total), np.int64)
        found: Numbers = np.where(total > 0, known[np.clip(total, 1, len(known)) - 1], 0)
        return found

    # --- words ---------------------------------------------------------------------------------

    def _name(self, group: int) -> str:
        tags = zip(self._type.tags, self._keys[group], strict=True)
        named = ", ".join(f"{name}={value}" for name, value in tags)
        return f" of {named}" if named else ""

    def _format(self, time: int) -> str:
        unit = self._type.query.table.time_unit
        found = _EPOCH + timedelta(microseconds=int(time) * 10**6 // unit.per_second)
        return found.isoformat().replace("+00:00", "Z")

    def _describe_last(self, answer: int, group: int) -> str:
        """Describe the row acknowledged last among the rows that an answer must have."""
        window, began_ns = self._window, self.began_ns[answer]
        own = np.flatnonzero((window.group == group) & (window.acknowledged_ns < began_ns))
        row = own[np.argmax(window.acknowledged_ns[own])]
        name = f"the last one of {self._format(window.times[row])}"
        if window.acknowledged_ns[row] == BEFORE_NS:
            return f"{name}, stored before"
        before_ms = (began_ns - window.acknowledged_ns[row]) / 1e6
        return f"{name}, acknowledged {before_ms:.3g} ms before the query began"

    def _describe_doubled(self, answer: int, group: int) -> Wrong:
        return Wrong(f"one row{self._name(group)}", counted(int(self._times[answer, group]), "row"))

    def _describe_miscounted(self, answer: int, group: int) -> Wrong:
        counts, least = self._values[0], int(self._least[answer, group])
        found = counted(int(counts[answer, group]), "row")
        if counts[answer, group] < least:
            last = self._describe_last(answer, group)
            return Wrong(f"at least {counted(least, 'row')}{self._name(group)}, {last}", found)
        most = counted(int(self._most[answer, group]), "row")
        return Wrong(f"at most the {most}{self._name(group)} sent before the query ended", found)

    def _describe_extreme(self, given: _Cells, inner: _Cells, outer: _Cells) -> _Describe:
        def describe(answer: int, group: int) -> Wrong:
            low, high = outer[answer, group], inner[answer, group]
            between = f"{low} to {high}" if self._least[answer, group] else f"{low} or within"
            column = self._type.field
            name = column.name if column else ""
            return Wrong(f"{name} {between}{self._name(group)}", str(given[answer, group]))

        return describe

    def _describe_stale(self, times: _Cells, newest: _Cells) -> _Describe:
        def describe(answer: int, group: int) -> Wrong:
            least = self._format(newest[answer, group])
            last = self._describe_last(answer, group)
            has = self._times[answer, group] > 0
            found = f"one of {self._format(times[answer, group])}" if has else "none"
            return Wrong(f"a row of {least} or later{self._name(group)}: {last}", found)

        return describe

    def _describe_unsent(self, times: _Cells, given: _Cells) -> _Describe:
        def describe(answer: int, group: int) -> Wrong:
            found = f"{self._format(times[answer, group])}: {given[answer, group]}"
            return Wrong(f"a row{self._name(group)} that was sent before the query ended", found)

        return describe
