"""Random walks as a pure function of (key, tick): any tick can be drawn alone.

A free walk is 0 at tick 0 and has steps of mean 0 and deviation 1. It is a tree of bridges. A node
of a level spans eight places, and the level above gives its two ends. Eight hashed normal draws
lead from the left end; the distance by which they miss the right end is spread evenly over them. If
the ends are as far apart as eight independent steps, the eight steps are independent and normal
again. A tick takes five nodes; neighbouring ticks share them. The ends of the highest level are
drawn independently, every 32,768 ticks (3.8 days at an interval of 10 s).

Free walks are integer arithmetic on a table of 4,096 quantiles; other walks add products, sums and
roundings of doubles. So every machine draws the same bits, however rows are grouped into blocks.

Moments, tested: mean 0 within 0.002, deviation 1 and kurtosis 3 within 1 %, correlation of
neighbouring steps 0 within 0.01, variance over n ticks n within 5 % up to 2,000 ticks.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows
from simulator.data.mixer import Hashes, draw_each, fractions, key_of

Free: TypeAlias = NDArray[np.int32]
Doubles: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

FRACTION_BITS = 16
"""A free walk is a multiple of 2**-16 of its deviation."""

_SPAN_BITS = 3
_SPAN = 1 << _SPAN_BITS
_LEVELS = 5
_LANES = 4  # 16-bit lanes of a hash, of which the upper 12 bits are a draw
_LANE_BITS = 16
_QUANTILE_BITS = 12
_LEVEL_BITS = 4
_FINE, _START = 14, 15  # draws that belong to no level
_PASS_NODES = 16_384
"""Number of nodes drawn at once, to amortise NumPy calls and to fit into the CPU cache."""

LEAST_STEP = -5
"""Lower limit of a step in a free walk, so that a counter with mean step 5 never falls."""

BEYOND = math.sqrt(0.5)
"""Number of deviations beyond its clamps at which a clamped walk is reflected.

Cut to its clamps, such a walk is on a clamp as often as a walk that is clamped step by step. A walk
with density d next to a clamp is on the clamp with probability sqrt(1/2) * deviation * d, by
Spitzer's identity for P(no partial sum is positive).
"""


class Distribution(StrEnum):
    """The movement of clamped walks."""

    UNPINNED = "unpinned"
    """Reflected at both bounds, without drift: all values are equally likely."""
    DOCUMENTED = "documented"
    """Moved by the document's code: walks with a drift reach a clamp and then stay on it."""


class Precision(StrEnum):
    """The number of bits in a measured value."""

    GRID = "grid"
    """Multiples of a power of two, about 13 bits; sums are exact in any order."""
    FULL = "full"
    """Doubles without constant bits; 49 bits of a value between 0 and 100 are drawn."""


def free_walks(keys: Hashes, ticks: Rows) -> Free:
    """Return free walks at these ticks, ascending: a row for each tick, a column for each key."""
    found = np.empty((len(ticks), len(keys)), np.int32)
    step = max(1, _PASS_NODES // (len(ticks) // _SPAN + 1))
    for start in range(0, len(keys), step):
        found[:, start : start + step] = _draw_places(keys[start : start + step], ticks, 0)
    return found


def _draw_places(keys: Hashes, places: Rows, level: int) -> Free:
    """Return the walks at these places of a level, which are 8**level ticks apart."""
    if level == _LEVELS:
        draws = _draw_hashes(keys, places, level) >> np.uint64(64 - _QUANTILE_BITS)
        ends: Free = _make_quantiles(level).take(draws.view(np.int64))
        ends[places == 0] = 0
        return ends
    nodes, node_of = distinct(places >> _SPAN_BITS)
    borders, border_of = distinct(np.stack([nodes, nodes + 1], axis=1).ravel())
    ends = _draw_places(keys, borders, level + 1)
    left, rise = ends[border_of[::2]], ends[border_of[1::2]]
    rise -= left
    drawn, least = _sum_draws(keys, nodes, level)
    rise -= drawn[_SPAN]
    if level == 0:
        _straighten(drawn, rise, least)
    place = places & (_SPAN - 1)
    found = rise[node_of]
    found *= place.astype(np.int32)[:, None]
    found >>= _SPAN_BITS
    found += left[node_of]
    found += drawn[place, node_of]
    return found


def _sum_draws(keys: Hashes, nodes: Rows, level: int) -> tuple[Free, Free]:
    """Return the sums of the first 0..8 draws of each node, and the least draw of each node."""
    sums = np.zeros((_SPAN + 1, len(nodes), len(keys)), np.int32)
    least = np.zeros((len(nodes), len(keys)), np.int32)
    quantiles, mask = _make_quantiles(level), np.uint64((1 << _QUANTILE_BITS) - 1)
    for word, lane in product(range(_SPAN // _LANES), range(_LANES)):
        if lane == 0:
            hashes = _draw_hashes(keys, nodes << 1 | word, level)
        shift = np.uint64(_LANE_BITS * lane + _LANE_BITS - _QUANTILE_BITS)
        drawn = quantiles.take(((hashes >> shift) & mask).view(np.int64))
        place = word * _LANES + lane
        np.add(sums[place], drawn, out=sums[place + 1])
        np.minimum(least, drawn, out=least)
    return sums, least


def _straighten(drawn: Free, rise: Free, least: Free) -> None:
    """Replace nodes with a step below LEAST_STEP, one in 400,000, by straight lines.

    A straight line is not too steep: no draw is beyond 3.7 deviations, so eight ticks fall by 33 at
    most.
    """
    steep = least + (rise >> _SPAN_BITS) < LEAST_STEP << FRACTION_BITS
    if steep.any():
        rise[steep] += drawn[_SPAN, steep]
        drawn[:, steep] = 0


def _draw_hashes(keys: Hashes, numbers: Rows, purpose: int) -> Hashes:
    return draw_each(keys, numbers << _LEVEL_BITS | purpose)


def distinct(ascending: Rows) -> tuple[Rows, Rows]:
    """Return the distinct values, and, for each item, the index of its distinct value."""
    first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first], np.cumsum(first) - 1


@cache
def _make_quantiles(level: int) -> Free:
    """Return equally likely normal quantiles of deviation sqrt(8**level)."""
    count = 1 << _QUANTILE_BITS
    normal = NormalDist()
    found = [normal.inv_cdf((place + 0.5) / count) for place in range(count)]
    unit = (1 << FRACTION_BITS) * math.sqrt(_SPAN**level)
    unit /= math.sqrt(math.fsum(quantile * quantile for quantile in found) / count)
    return np.array([round(quantile * unit) for quantile in found], np.int32)


@dataclass(frozen=True, slots=True)
class Counter:
    """A walk that rises from 0 by steps of this mean (>= 5) and deviation 1, cut to integers."""

    mean: int

    def __post_init__(self) -> None:
        if self.mean < -LEAST_STEP:
            raise ValueError(f"a counter with steps of {self.mean} may fall")


@dataclass(frozen=True, slots=True)
class Drifting:
    """A walk from 0 by steps of this mean and deviation 1, without bounds."""

    mean: float


@dataclass(frozen=True, slots=True)
class Clamped:
    """A walk between bounds by steps of this mean and deviation."""

    mean: float
    deviation: float
    low: float
    high: float
    start: float | None = None
    """Start of the document's walk; None: uniform between the bounds."""


@dataclass(frozen=True, slots=True)
class UpDown:
    """A walk up to one bound, then down to the other, by steps of this mean and deviation.

    The walk turns exactly at the bounds, in both distributions; an unpinned walk starts anywhere
    between them.
    """

    mean: float
    deviation: float
    low: float
    high: float
    start: float
    """Start of the document's walk."""


Gauge: TypeAlias = Drifting | Clamped | UpDown
Walk: TypeAlias = Counter | Gauge


class Walks:
    """The walks of some columns, one for each series."""

    def __init__(
        self,
        table: str,
        walks: Mapping[str, Walk],
        seed: int,
        distribution: Distribution,
        precision: Precision,
    ) -> None:
        """Store the walks by name; a walk draws with a key of seed, table and name."""
        self._table = table
        self._walks = walks
        self._seed = seed
        self._distribution = distribution
        self._precision = precision
        self._keys_of = {name: key_of(seed, f"{table}.{name}") for name in walks}
        self._counters = {n: w for n, w in walks.items() if isinstance(w, Counter)}
        self._gauges = {n: w for n, w in walks.items() if not isinstance(w, Counter)}

    def only(self, names: Collection[str]) -> "Walks":
        """Return some of these walks; their values do not depend on the selection."""
        some = {name: walk for name, walk in self._walks.items() if name in names}
        if len(some) == len(self._walks):
            return self
        return Walks(self._table, some, self._seed, self._distribution, self._precision)

    def draw(self, ticks: Rows, series: Rows) -> dict[str, Whole | Doubles]:
        """Return each walk: a row for each tick, ascending, and a column for each of the series.

        Counters are integers, all other walks doubles.
        """
        return {**self._draw_counters(ticks, series), **self._draw_gauges(ticks, series)}

    def _make_keys(self, names: Iterable[str], series: Rows) -> Hashes:
        """Return a key for each walk: all series of the first name, then of the next."""
        keys = np.array([self._keys_of[name] for name in names], np.uint64)
        return draw_each(keys, series).T.ravel()

    def _draw_counters(self, ticks: Rows, series: Rows) -> dict[str, Whole]:
        if not self._counters:
            return {}
        drawn = free_walks(self._make_keys(self._counters, series), ticks)
        cuts = zip(self._counters.items(), np.hsplit(drawn, len(self._counters)), strict=True)
        shift = ticks[:, None] << FRACTION_BITS
        return {name: (free + shift * walk.mean) >> FRACTION_BITS for (name, walk), free in cuts}

    def _draw_gauges(self, ticks: Rows, series: Rows) -> dict[str, Doubles]:
        if not self._gauges:
            return {}
        keys = self._make_keys(self._gauges, series)
        drawn = free_walks(keys, ticks).astype(np.float64)
        if self._precision is Precision.FULL:
            drawn += fractions(_draw_hashes(keys, ticks, _FINE))
        starts = fractions(_draw_hashes(keys, np.zeros(1, np.int64), _START))
        count = len(self._gauges)
        parts = zip(np.hsplit(drawn, count), np.hsplit(starts[0], count), strict=True)
        return {
            name: self._move(walk, free, start, ticks)
            for (name, walk), (free, start) in zip(self._gauges.items(), parts, strict=True)
        }

    def _move(self, walk: Gauge, free: Doubles, start: Doubles, ticks: Rows) -> Doubles:
        """Return a walk made of a free walk, which is in units of 2**-16."""
        unit = 2.0**-FRACTION_BITS
        if isinstance(walk, Drifting):
            moved = free * unit
            moved += (ticks * walk.mean)[:, None]
            return moved
        width = walk.high - walk.low
        if isinstance(walk, UpDown):
            moved = free * (walk.deviation * unit) + (ticks * walk.mean)[:, None]
            documented = self._distribution is Distribution.DOCUMENTED
            moved += walk.start if documented else walk.low + start * (2 * width)
            return reflect(moved, walk.low, walk.high)
        uniform = walk.low + start * width
        if self._distribution is Distribution.UNPINNED:
            # Steps are as long as the document's, without drift, as if each sign were drawn.
            deviation = math.sqrt(walk.mean**2 + walk.deviation**2)
            return reflect(free * (deviation * unit) + uniform, walk.low, walk.high)
        moved = free * (walk.deviation * unit)
        moved += uniform if walk.start is None else walk.start
        if walk.mean:
            moved += (ticks * walk.mean)[:, None]
        else:
            beyond = BEYOND * walk.deviation
            moved = reflect(moved, walk.low - beyond, walk.high + beyond)
        np.clip(moved, walk.low, walk.high, out=moved)
        return moved


def reflect(values: Doubles, low: float, high: float | Doubles) -> Doubles:
    """Fold values back at both bounds as often as needed, in place."""
    period = 2 * (high - low)
    values -= low
    values /= period
    values -= np.rint(values)
    np.abs(values, out=values)
    values *= period
    values += low
    return values
