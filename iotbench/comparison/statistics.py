"""The relative difference of two sides, with an interval for few sweeps.

Runs of a sweep resemble each other, so sweeps are the units. If the sides were measured in turns,
the interval is the interval of the differences of pairs. Otherwise it is Welch's interval, widened
by the scatter of equal sweeps. All computations use logarithms, since rates and latencies vary by
factors. docs/statistics.md lists the error rates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev, variance
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sweeps: TypeAlias = Sequence[Sequence[float]]
"""The values of a side by sweep and run, in order."""
LEAST_PAIRS = 3
"""Minimum number of pairs.

With two pairs, a database that runs at two speeds often appears to differ from itself.
"""
MOST_PAIRS = 1000
"""Maximum number of pairs worth measuring."""
_LEAST_DIFFERENCES = 4
"""Minimum number of pairs for the interval of pairs; with fewer, Welch's interval is narrower."""
_NINE_OF_TEN = 0.8
"""Confidence of a two-sided interval with an upper bound that exceeds nine of ten values."""
_NODES = 64
"""Number of nodes of the quadrature, enough for ten digits."""
_HALVINGS = 60
"""Number of bisections, enough for all digits of a float."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """The scatter of equal sweeps: the standard deviation of the logarithms of their means."""

    deviation: float
    freedom: int
    """Degrees of freedom: the number of sweeps minus one."""
    runs: int
    """Number of runs in each sweep."""

    def of(self, runs: int) -> float:
        """Return the scatter of sweeps of `runs` runs: greater for fewer runs, never smaller."""
        return self.deviation * math.sqrt(max(1.0, self.runs / runs))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the other side as a share of the base: -0.1 is 10 % less."""

    change: float
    low: float | None = None
    """Lower bound of the interval; None if a side has only one value."""
    high: float | None = None
    knows_drift: bool = False
    """True if the interval includes the scatter between sweeps."""
    deviation: float | None = None
    """Standard deviation of the logarithmic differences of pairs; None if there are no pairs."""

    def is_within(self, most: float) -> bool:
        """Return whether the whole interval lies within +-`most`."""
        if self.low is None or self.high is None:
            return False
        return max(-self.low, self.high) < most

    def exceeds(self, least: float) -> bool:
        """Return whether the interval excludes 0, and the change is at least `least`."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 0 or self.high < 0) and abs(self.change) >= least

    def pairs_to_find(self, loss: float, confidence: float) -> int | None:
        """Return how many pairs detect a loss in nine of ten cases.

        None if more than `MOST_PAIRS` would be necessary.
        """
        if self.deviation is None:
            return None
        for pairs in range(LEAST_PAIRS, MOST_PAIRS + 1):
            bounds = (t_quantile(each, pairs - 1) for each in (confidence, _NINE_OF_TEN))
            if sum(bounds) * self.deviation <= -math.log1p(-loss) * math.sqrt(pairs):
                return pairs
        return None


def difference(
    base: Sweeps,
    other: Sweeps,
    confidence: float,
    *,
    in_turns: bool = False,
    scatter: tuple[Scatter, Scatter] | None = None,
) -> Difference | None:
    """Return the difference of two sides; None unless all values are above 0.

    `in_turns`: True if sweeps form pairs; `scatter`: scatter of equal sweeps of each side.
    """
    runs = [[value for sweep in side for value in sweep] for side in (base, other)]
    if not all(runs) or min(map(min, runs)) <= 0:
        return None
    means = [[fmean(map(math.log, sweep)) for sweep in side] for side in (base, other)]
    middle = fmean(means[1]) - fmean(means[0])
    if min(map(len, runs)) < 2:
        return Difference(math.expm1(middle))
    deviation = None
    if in_turns:
        deviation = stdev(after - before for before, after in zip(*means, strict=True))
        halves = [_halve_turns(means[0], means[1], confidence)]
    else:
        logs = [[math.log(value) for value in side] for side in runs]
        halves = [_halve_welch(each, confidence) for each in (logs, means)]
        halves += [_halve_scatter(scatter, (base, other), confidence)] if scatter else []
    half = max(halves)
    interval = math.expm1(middle - half), math.expm1(middle + half)
    knows_drift = in_turns or scatter is not None
    return Difference(math.expm1(middle), *interval, knows_drift, deviation)


def noise_of(scatter: Scatter) -> float:
    """Return the smallest difference between two single sweeps that is not noise."""
    bound = t_quantile(0.95, scatter.freedom) * scatter.deviation * math.sqrt(2)
    return math.expm1(bound)


def scatter_of(sweeps: Sweeps) -> Scatter:
    """Return the scatter of equal sweeps."""
    means = [fmean(map(math.log, sweep)) for sweep in sweeps]
    freedom = len(means) - 1
    largest = (max(means) - min(means)) / (math.sqrt(2) * t_quantile(0.95, freedom))
    return Scatter(max(stdev(means), largest), freedom, min(map(len, sweeps)))


def are_in_turns(base: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether sweeps with these start times form pairs of one sweep of each side."""
    order = sorted([(each, 0) for each in base] + [(each, 1) for each in other])
    pairs = zip(order[::2], order[1::2], strict=False)
    return len(base) == len(other) >= LEAST_PAIRS and all(
        first[1] != second[1] and first[0] < second[0] for first, second in pairs
    )


def precision(values: Sequence[float], confidence: float = 0.95) -> float | None:
    """Return half of Student's interval as a share of the mean; None for too few values."""
    if len(values) < 2 or not sum(values):
        return None
    error = math.sqrt(variance(values) / len(values))
    return t_quantile(confidence, len(values) - 1) * error / abs(fmean(values))


def _halve_turns(base: Sequence[float], other: Sequence[float], confidence: float) -> float:
    """Return half the width of the interval of pairs; for few pairs, of Welch's interval."""
    if len(base) < _LEAST_DIFFERENCES:
        return _halve_welch([base, other], confidence)
    pairs = [after - before for before, after in zip(base, other, strict=True)]
    return t_quantile(confidence, len(pairs) - 1) * stdev(pairs) / math.sqrt(len(pairs))


def _halve_scatter(
    scatter: tuple[Scatter, Scatter], sides: tuple[Sweeps, Sweeps], confidence: float
) -> float:
    """Return half the width of the interval that follows from the scatter of equal sweeps.

    Consecutive sweeps of a side drift together, so they count as one sweep.
    """
    runs = (max(map(len, side)) for side in sides)
    deviations = (each.of(count) for each, count in zip(scatter, runs, strict=True))
    freedom = min(each.freedom for each in scatter)
    return t_quantile(confidence, freedom) * math.hypot(*deviations)


def _halve_welch(samples: Sequence[Sequence[float]], confidence: float) -> float:
    """Return half the width of Welch's interval; 0 if a sample has only one value."""
    if min(map(len, samples)) < 2:
        return 0.0
    parts = [variance(sample) / len(sample) for sample in samples]
    whole = sum(parts)
    if not whole:  # all runs are equal, such as sizes on disk
        return 0.0
    shares = ((part / whole) ** 2 / (len(sample) - 1)
              for part, sample in zip(parts, samples, strict=True))  # fmt: skip
    return t_quantile(confidence, round(1 / sum(shares), 2)) * math.sqrt(whole)


@cache
def t_quantile(confidence: float, freedom: float) -> float:
    """Return the bound below which |t| of Student's distribution stays with this probability."""
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _integrate(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _integrate(angle: float, freedom: float) -> float:
    """Return the probability that |t| < sqrt(freedom) tan(angle): an integral of a cosine."""
    nodes, weights = _compute_quadrature()
    powers = np.cos((nodes + 1) / 2 * angle) ** (freedom - 1)
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    return math.exp(scale) * float(weights @ powers) * angle


@cache
def _compute_quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(_NODES)
