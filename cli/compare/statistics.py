"""The relative difference of two samples, with an interval that holds for few runs.

Welch's t interval of the means of the logarithms: rates and latencies vary by factors, and the two
sides may vary differently. docs/results.md has the reasons and how often it errs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, variance

import numpy as np
from numpy.typing import NDArray

_NODES = 64
"""Of the quadrature: enough for ten digits."""
_HALVINGS = 60
"""As many as a float has digits."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much larger the other sample is, as a share of the base: -0.1 is 10 % less."""

    change: float
    low: float | None = None
    """The interval; None without one: a side has a single value."""
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None

    def exceeds(self, least: float) -> bool:
        """Whether the interval excludes 0, and the change is at least this large."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 0 or self.high < 0) and abs(self.change) >= least


def difference(
    base: Sequence[float], other: Sequence[float], confidence: float
) -> Difference | None:
    """Return the difference of two samples; None unless all values are above 0."""
    if not base or not other or min(*base, *other, math.inf) <= 0:
        return None
    logs = [math.log(value) for value in base], [math.log(value) for value in other]
    middle = fmean(logs[1]) - fmean(logs[0])
    if min(map(len, logs)) < 2:
        return Difference(math.expm1(middle))
    parts = [variance(sample) / len(sample) for sample in logs]
    half = _half(parts, [len(sample) - 1 for sample in logs], confidence)
    return Difference(math.expm1(middle), math.expm1(middle - half), math.expm1(middle + half))


def precision(values: Sequence[float], confidence: float = 0.95) -> float | None:
    """Return half of Student's interval of the mean, over the mean; None for fewer than two."""
    if len(values) < 2 or not sum(values):
        return None
    error = math.sqrt(variance(values) / len(values))
    return t_quantile(confidence, len(values) - 1) * error / abs(fmean(values))


def _half(parts: Sequence[float], freedoms: Sequence[int], confidence: float) -> float:
    """Return half of the width of Welch's interval; `parts` are the squared standard errors."""
    whole = sum(parts)
    if not whole:  # the runs are equal, as sizes on disk may be
        return 0.0
    shares = (part / whole for part in parts)
    freedom = 1 / sum(share**2 / each for share, each in zip(shares, freedoms, strict=True))
    return t_quantile(confidence, round(freedom, 2)) * math.sqrt(whole)


@cache
def t_quantile(confidence: float, freedom: float) -> float:
    """Return the bound that Student's t stays within, either side, with this probability."""
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: float) -> float:
    """Return the probability of |t| < sqrt(freedom) tan(angle), the integral of a cosine."""
    nodes, weights = _quadrature()
    powers = np.cos((nodes + 1) / 2 * angle) ** (freedom - 1)
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    return math.exp(scale) * float(weights @ powers) * angle


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(_NODES)
