"""The choice of the next rate: the curve first, then bisection above the highest that holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

CURVE = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Rates that are measured first, as shares of the rate without a schedule."""
KEPT_UP = 0.97
"""Share of the rate that a repeat must reach to have kept the schedule."""
_STEP_UP, _STEPS_UP = 1.25, 4
_STEP_DOWN = 0.25
_KNEE = 2.0


class Bound(StrEnum):
    """The bound that a rate reached first if it does not hold."""

    DATABASE = "database"
    """Batches waited for it, and the schedule was not kept."""
    CLIENT = "client"
    """The workers were busy drawing and encoding, and the schedule was not kept."""
    OBJECTIVE = "objective"
    """The schedule was kept, but the objective was not met."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One repeat at one rate."""

    per_s: float
    """Acknowledged rows/s, or answers/s."""
    p50_ms: float
    p99_ms: float
    client_share: float
    met: bool
    """True if the objective was met."""
    sends: int = 0
    unsent: int = 0
    """Batches or queries that fell due and did not begin before the end."""


@dataclass(frozen=True, slots=True)
class Level:
    """A rate, and its repeats."""

    rate_per_s: float
    trials: tuple[Trial, ...]

    def bound(self, trial: Trial) -> Bound | None:
        """Return the bound that a repeat reached; None if it held."""
        if trial.per_s < KEPT_UP * self.rate_per_s:
            return Bound.CLIENT if trial.client_share > 0.5 else Bound.DATABASE
        return None if trial.met else Bound.OBJECTIVE

    @property
    def held(self) -> int:
        """Number of repeats that held."""
        return sum(self.bound(trial) is None for trial in self.trials)

    @property
    def holds(self) -> bool:
        """True if most repeats held."""
        return 2 * self.held > len(self.trials)

    @property
    def reached(self) -> Bound | None:
        """Bound that most of the failing repeats reached; None if the rate holds."""
        found = [bound for trial in self.trials if (bound := self.bound(trial))]
        return None if self.holds else max(Bound, key=found.count)

    @property
    def p50_ms(self) -> float:
        """Mean of the repeats."""
        return fmean(trial.p50_ms for trial in self.trials)

    @property
    def p99_ms(self) -> float:
        """Mean of the repeats."""
        return fmean(trial.p99_ms for trial in self.trials)


@dataclass(frozen=True, slots=True)
class Bracket:
    """The highest rate that holds, and the lowest one above it that does not."""

    holds: Level | None
    fails: Level | None


def bracket_of(levels: Sequence[Level]) -> Bracket:
    """Return the bracket; a rate that fails below one that holds is a matter of chance."""
    holding = [level for level in levels if level.holds]
    best = max(holding, key=lambda level: level.rate_per_s, default=None)
    least = best.rate_per_s if best else 0.0
    above = [level for level in levels if not level.holds and level.rate_per_s > least]
    return Bracket(best, min(above, key=lambda level: level.rate_per_s, default=None))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits and the precision of the search for a capacity."""

    ceiling_per_s: float
    """Rate reached without a schedule."""
    lowest_per_s: float
    """Lowest rate with enough batches for a percentile."""
    tolerance: float
    """Width of the bracket over its upper end, 0..1."""


def next_rate(bounds: Bounds, levels: Sequence[Level]) -> float | None:
    """Return the next rate to measure; None once the bracket is narrow enough."""
    tried = {level.rate_per_s for level in levels}
    lowest = _round(bounds.lowest_per_s)
    for share in CURVE:
        rate = max(_round(share * bounds.ceiling_per_s), lowest)
        if rate not in tried:
            return rate
    bracket = bracket_of(levels)
    if bracket.holds is None:
        lower = max(_round(min(tried) * _STEP_DOWN), lowest)
        return lower if lower not in tried else None
    low = bracket.holds.rate_per_s
    if bracket.fails is None:
        beyond = sum(rate > _round(bounds.ceiling_per_s) for rate in tried)
        return _round(low * _STEP_UP) if beyond < _STEPS_UP else None
    high = bracket.fails.rate_per_s
    middle = _round((low + high) / 2)
    narrow = high - low <= bounds.tolerance * high or middle in tried
    return None if narrow else middle


def knee_of(levels: Sequence[Level]) -> Level | None:
    """Return the highest rate with a p99 of at most twice the p99 at the lowest rate."""
    ordered = sorted(levels, key=lambda level: level.rate_per_s)
    found = None
    for level in ordered:
        if level.p99_ms > _KNEE * ordered[0].p99_ms or (
            level.reached not in {None, Bound.OBJECTIVE}
        ):
            break
        found = level
    return found


def _round(rate: float) -> float:
    """Return a rate with three significant digits, at least 1."""
    return max(float(f"{rate:.3g}"), 1.0)
