"""Detection of a warm-up in the rates of a run by second.

The marginal standard error rule (MSER) cuts off the start of the course so that the mean of the
rest becomes as precise as possible. The start is a warm-up only if its mean differs from the mean
of the rest by more than the scatter between groups of seconds, and by enough to change the rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_S = 60
"""Minimum length of a course in which a warm-up can be found."""
_GROUPS = 20
"""Minimum number of groups into which the seconds are joined."""
_LEAST_AFTER = 1.5
"""Minimum length of the rest, as a multiple of the warm-up's length.

With a shorter rest, the rate is considered never to settle."""
_NEARLY_BEST = 1.1
"""Factor on the least error; the shortest start with an error up to the product is chosen."""
_RECURS = 0.6
"""Share of the warm-up's distance from the rest; a later part at this distance is a recurrence."""
_GOES_ON = 0.2
"""Maximum drift between the halves of the rest, as a share of the warm-up's distance."""
_DEVIATIONS = 5.0
_LEAST_STEP = 0.10
"""Minimum difference between the rate in the warm-up and the rate in the rest."""
_LEAST_EFFECT = 0.02
"""Minimum difference between the rate of the whole course and the rate in the rest."""


@dataclass(frozen=True, slots=True)
class Warmup:
    """The part at the start of a course that differs from the rest."""

    seconds: int
    rate_before: float
    rate_after: float

    def effect(self, length_s: int) -> float:
        """Return the relative difference between the rate of a whole course and of the rest."""
        if not self.rate_after:
            return 0.0
        return self.seconds / length_s * (self.rate_before / self.rate_after - 1)


def find_warmup(rates: Sequence[float]) -> Warmup | None:
    """Return the warm-up in rates by second; None if the course is steady or short."""
    if len(rates) < LEAST_S:
        return None
    each = len(rates) // _GROUPS
    whole = np.asarray(rates[: len(rates) // each * each], float)
    groups = whole.reshape(-1, each).mean(axis=1)
    cut = _choose_cut(groups)
    before, after = groups[:cut], groups[cut:]
    if not cut or len(after) < _LEAST_AFTER * cut:
        return None
    warmup = Warmup(cut * each, float(before.mean()), float(np.mean(rates[cut * each :])))
    if not warmup.rate_after or abs(warmup.rate_before / warmup.rate_after - 1) < _LEAST_STEP:
        return None
    if abs(warmup.effect(len(rates))) < _LEAST_EFFECT:
        return None
    if _does_recur(before, after) or _does_continue(before, after):
        return None
    return warmup if _measure_distance(before, after) >= _DEVIATIONS else None


def _choose_cut(groups: NDArray[np.float64]) -> int:
    """Return the number of groups that MSER cuts off, at most half of all groups."""
    cuts = range(len(groups) // 2 + 1)
    errors = [float(np.var(groups[cut:])) / (len(groups) - cut) for cut in cuts]
    enough = _NEARLY_BEST * min(errors)
    return next(cut for cut, error in zip(cuts, errors, strict=True) if error <= enough)


def _does_recur(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Return whether a later part is as distant from the mean as the start, as with checkpoints."""
    windows = np.convolve(after, np.full(len(before), 1 / len(before)), "valid")
    away = np.sign(before.mean() - after.mean()) * (windows - after.mean())
    return bool(away.max() > _RECURS * abs(before.mean() - after.mean()))


def _does_continue(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Return whether the rest continues to change in the same direction, as with drift."""
    middle = len(after) // 2
    change = float(after[middle:].mean() - after[:middle].mean())
    step = float(after.mean() - before.mean())
    return bool(change * np.sign(step) > _GOES_ON * abs(step))


def _measure_distance(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Return the distance of the means in standard errors; neighbouring values are correlated."""
    centred = after - after.mean()
    variance = float(np.mean(centred**2))
    if not variance:
        return np.inf
    alike = max(float(np.mean(centred[1:] * centred[:-1])) / variance, 0.0)
    independent = (1 - alike) / (1 + alike)
    numbers = [max(len(part) * independent, 1.0) for part in (before, after)]
    error = np.sqrt(variance * sum(1 / number for number in numbers))
    return float(abs(before.mean() - after.mean()) / error)
