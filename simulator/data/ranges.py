"""Ranges of row numbers: the share of a worker, and the rows of a dataset.

Workers that share a table take turns, so that it is written in the order of time: worker w of W
writes the batches w, w + W, w + 2 W, ... Such a share is a range with a stride.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_serializer, model_validator

from simulator.data.block import Rows
from simulator.frozen import Frozen

LANE_BITS = 40
LANE_ROWS = 1 << LANE_BITS
"""Number of rows in a lane.

A worker of a workload without an end writes the rows lane * LANE_ROWS + sequence.
"""
MOST_ROWS = 1 << 62
"""Upper limit of row numbers, which leaves room for arithmetic in 64 bits."""


_FEW_ROWS = 4096


class RowRange(Frozen):
    """Rows of one table from start to stop, half open: all, or the first `take` of each `every`."""

    start: int = Field(ge=0, lt=1 << 63)
    stop: int = Field(ge=0, lt=1 << 63)
    table: int = Field(0, ge=0, lt=1 << 20)
    """The table's place in the workload."""
    take: int = Field(0, ge=0, lt=1 << 63)
    every: int = Field(0, ge=0, lt=1 << 63)
    """Number of rows in a round; rounds begin at `start`. 0, like `take`: all rows."""

    @model_validator(mode="after")
    def _in_one_lane(self) -> "RowRange":
        lane = self.start >> LANE_BITS
        if not self.start <= self.stop <= (lane + 1) * LANE_ROWS <= MOST_ROWS:
            raise ValueError(f"not a range of rows: {self.start}..{self.stop}")
        if self.take > self.every or (self.every and not self.take):
            raise ValueError(f"not a range of rows: {self.take} of each {self.every}")
        return self

    @model_serializer
    def _short(self) -> dict[str, int]:
        fields = ("start", "stop", "table", "take", "every")
        return {f: v for f in fields if (v := getattr(self, f)) or f in ("start", "stop")}

    def __len__(self) -> int:
        return self._count(self.stop)

    def _count(self, stop: int) -> int:
        rounds, rest = divmod(stop - self.start, self.every or 1)
        return rounds * self.take + min(rest, self.take) if self.every else rounds

    def number(self, place: int) -> int:
        """Return the number of the row at this place; the first row is at place 0."""
        if not self.every:
            return self.start + place
        return self.start + place // self.take * self.every + place % self.take

    def numbers(self, low: int = 0, high: int | None = None) -> Rows:
        """Return the numbers of the rows at the places low..high."""
        return self.numbers_at(np.arange(low, len(self) if high is None else high))

    def numbers_at(self, places: Rows) -> Rows:
        """Return the numbers of the rows at these places."""
        if self.every:
            places = places + places // self.take * (self.every - self.take)
        return places + self.start

    def part(self, low: int, high: int) -> list["RowRange"]:
        """Return ranges of the rows at the places low..high: one, or two with a stride."""
        begun = high if not self.every else min(-(-low // self.take) * self.take, high)
        found = []
        if low < begun:  # in a round that began before
            start, stop = self.number(low), self.number(begun - 1) + 1
            found = [RowRange(start=start, stop=stop, table=self.table)]
        if begun < high:
            ends = {"start": self.number(begun), "stop": self.number(high - 1) + 1}
            found.append(self.model_copy(update=ends))
        return found

    def first(self, count: int) -> "RowRange":
        """Return the range of the first `count` rows of this range."""
        if count >= len(self):
            return self
        stop = self.number(count - 1) + 1 if count else self.start
        return self.model_copy(update={"stop": stop})

    def pieces(self, rows: int) -> Iterator["RowRange"]:
        """Cut the range into ranges of at most `rows` rows, or of one longer round."""
        rounds = max(rows // (self.take or 1), 1)
        step = rounds * (self.every or 1)
        for start in range(self.start, self.stop, step):
            stop = min(start + step, self.stop)
            yield self.model_copy(update={"start": start, "stop": stop})

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return a mask: True for the row numbers of this table that are in the range."""
        inside: NDArray[np.bool_] = (rows >= self.start) & (rows < self.stop)
        if self.every:
            inside &= (rows - self.start) % self.every < self.take
        return inside

    def __contains__(self, other: "RowRange") -> bool:
        """Return whether this range has all rows of another range."""
        if not len(other):
            return True
        last = other.number(len(other) - 1)
        if other.table != self.table or not self.start <= other.start <= last < self.stop:
            return False
        if not self.every:
            return True
        into = (other.start - self.start) % self.every
        alike = other.every == self.every and into + other.take <= self.take
        if alike or into + last - other.start < self.take:
            return True
        return len(other) <= _FEW_ROWS and bool(self.holds(other.numbers()).all())


def sum_rows(ranges: Iterable[RowRange]) -> int:
    """Return the number of rows in ranges."""
    return sum(map(len, ranges))


def find_held(ranges: Iterable[RowRange], table: int, rows: Rows) -> NDArray[np.bool_]:
    """Return a mask of rows of a table, given by its place: True for rows in the ranges."""
    inside = np.zeros(len(rows), np.bool_)
    for item in ranges:
        if item.table == table:
            inside |= item.holds(rows)
    return inside


def numbers_between(ranges: Iterable[RowRange], low: int, high: int) -> Rows:
    """Return the numbers of the rows at the places low..high of consecutive ranges."""
    found = []
    for item in ranges:
        rows = len(item)
        if low < rows and high > 0:
            found.append(item.numbers(max(low, 0), min(high, rows)))
        low, high = low - rows, high - rows
    return found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.int64), *found])


def parts_between(ranges: Iterable[RowRange], low: int, high: int) -> list[RowRange]:
    """Return ranges of the rows at the places low..high of consecutive ranges."""
    found: list[RowRange] = []
    for item in ranges:
        rows = len(item)
        if low < min(high, rows) and high > 0:
            found += item.part(max(low, 0), min(high, rows))
        low, high = low - rows, high - rows
    return found


def lane_range(lane: int, start: int, rows: int) -> RowRange:
    """Return `rows` rows of a lane from sequence number `start` on."""
    first = lane * LANE_ROWS + start
    return RowRange(start=first, stop=first + rows)


def share(total: int, parts: int) -> list[int]:
    """Split `total` into `parts` shares that differ by at most one."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def distribute(start: int, stop: int, takes: Sequence[int], table: int = 0) -> list[RowRange]:
    """Distribute the rows start..stop in rounds, with `takes[w]` rows for each worker w in turn."""
    every = sum(takes)
    turns = zip(takes, accumulate(takes, initial=start), strict=False)
    return [_distribute(first, stop, table, take, every) for take, first in turns]


def _distribute(first: int, stop: int, table: int, take: int, every: int) -> RowRange:
    start = min(first, stop)
    if take == every:
        return RowRange(start=start, stop=stop, table=table)
    if stop - start <= every or not take:  # no more than one round
        return RowRange(start=start, stop=min(start + take, stop), table=table)
    return RowRange(start=start, stop=stop, table=table, take=take, every=every)


def first_rows(ranges: Iterable[RowRange], count: int) -> list[RowRange]:
    """Return the ranges of the first `count` rows of these ranges."""
    kept = []
    for item in ranges:
        kept.append(item.first(count))
        count -= len(kept[-1])
    return [item for item in kept if len(item)]


def list_written_ranges(ranges: Sequence[RowRange], counts: Sequence[int]) -> list[RowRange]:
    """Return the written rows of one table: the first `counts[p]` rows of each part p."""
    parts, total = len(counts), sum(map(len, ranges))
    if sum(counts) == total:
        return list(ranges)
    low, high = min(counts) * parts, min(max(counts) * parts, total)
    found = first_rows(ranges, low)
    numbers = numbers_between(ranges, low, high)
    for part, count in enumerate(counts):
        mine = numbers[numbers % parts == part][: count - min(counts)]
        found += cover(mine, ranges[0].table)
    return found


def cover(numbers: Rows, table: int) -> list[RowRange]:
    """Return ranges of exactly these rising rows; one or two for a batch."""
    if not len(numbers):
        return []
    gaps = np.diff(numbers)
    step = int(gaps.min()) if len(gaps) else 1
    firsts = np.concatenate([[0], np.flatnonzero(gaps != step) + 1])
    lasts = np.concatenate([firsts[1:] - 1, [len(numbers) - 1]])
    starts, stops = numbers[firsts].tolist(), (numbers[lasts] + 1).tolist()
    if step > 1:
        return [RowRange(start=a, stop=b, table=table, take=1, every=step)
                for a, b in zip(starts, stops, strict=True)]  # fmt: skip
    head = [RowRange(start=starts[0], stop=stops[0], table=table)]
    every, take = {*np.diff(starts[1:])}, {*(lasts - firsts)[1:-1] + 1}
    if len(every) == len(take) == 1 and stops[-1] - starts[-1] <= (whole := int(*take)):
        body = RowRange(start=starts[1], stop=stops[-1], table=table, take=whole, every=int(*every))
        return [*head, body]
    others = zip(starts[1:], stops[1:], strict=True)
    return head + [RowRange(start=a, stop=b, table=table) for a, b in others]


def merge(ranges: Iterable[RowRange]) -> tuple[RowRange, ...]:
    """Return the same rows in as few ranges as possible, without empty ones."""
    plain: list[RowRange] = []
    strided: list[RowRange] = []
    for item in ranges:
        if item.every and item.stop - item.start > 2 * item.every:
            strided.append(item)
        else:
            plain += _list_runs(item)
    strided.sort(key=lambda item: (item.table, item.every, item.start))
    left: list[RowRange] = []
    for _, chain in groupby(_number_chains(strided), key=lambda pair: pair[0]):
        whole, rest = _rejoin([item for _, item in chain])
        plain += whole
        left += rest
    return tuple(sorted((*_join(plain), *left), key=lambda item: (item.table, item.start)))


def _list_runs(item: RowRange) -> list[RowRange]:
    """Return each run of consecutive rows of a range, as a range."""
    if not item.every:
        return [item]
    firsts = range(item.start, item.stop, item.every)
    stops = ((first, min(first + item.take, item.stop)) for first in firsts)
    return [RowRange(start=first, stop=stop, table=item.table) for first, stop in stops]


def _number_chains(strided: Sequence[RowRange]) -> list[tuple[int, RowRange]]:
    """Number chains of ranges that take turns: each begins where the previous one stops."""
    chains: list[tuple[int, RowRange]] = []
    taken = 0
    for item in strided:
        before = chains[-1][1] if chains else None
        follows = (
            before is not None
            and (before.table, before.every) == (item.table, item.every)
            and item.start == before.start + before.take
            and taken + item.take <= item.every
        )
        taken = (taken if follows else 0) + item.take
        number = chains[-1][0] if chains else 0
        chains.append((number if follows else number + 1, item))
    return chains


def _rejoin(chain: Sequence[RowRange]) -> tuple[list[RowRange], list[RowRange]]:
    """Join the rounds that all ranges of a chain have; return them, and the rest of each range."""
    first = chain[0]
    every = first.every
    if sum(item.take for item in chain) < every:  # the others have fewer rounds: two at most
        few = [item for item in chain if item.stop - item.start <= 3 * every]
        return [run for item in few for run in _list_runs(item)], [i for i in chain if i not in few]
    rounds = min((item.stop - item.start + every - item.take) // every for item in chain)
    start, table = first.start, first.table
    whole = [RowRange(start=start, stop=start + rounds * every, table=table)] if rounds else []
    rest: list[RowRange] = []
    for item in chain:
        begin = item.start + rounds * every
        if begin >= item.stop:
            continue
        left = _distribute(begin, item.stop, table, item.take, every)
        (rest if left.every else whole).append(left)
    return whole, rest


def _join(plain: Iterable[RowRange]) -> list[RowRange]:
    """Join ranges without stride that touch or overlap, within a lane."""
    out: list[RowRange] = []
    for item in sorted(filter(len, plain), key=lambda item: (item.table, item.start)):
        last = out[-1] if out else None
        if (
            last
            and last.table == item.table
            and last.stop >= item.start
            and last.start >> LANE_BITS == item.start >> LANE_BITS
        ):
            out[-1] = last.model_copy(update={"stop": max(last.stop, item.stop)})
        else:
            out.append(item)
    return out


def runs_of(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Yield the first row, the number and the step of rows at equal distances."""
    if len(rows) < 2:
        yield from ((int(row), 1, 1) for row in rows)
        return
    steps = np.diff(rows)
    if (steps == steps[0]).all():
        yield int(rows[0]), len(rows), int(steps[0])
        return
    for run in np.split(rows, np.flatnonzero(steps != steps[0]) + 1):
        if len(run):
            yield int(run[0]), len(run), int(steps[0])
