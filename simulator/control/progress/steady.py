"""The end of a run's warm-up: the moment when the rate of all workers has become steady.

Only the latter half of the rates counts, so that the warm-up itself does not: if the line through
it neither rises nor falls by much, the rate is steady. The line is the Theil-Sen estimator, the
median of the slopes between all pairs, which single dips such as checkpoints do not bend.
"""

import numpy as np

LEAST_RATES = 10
"""About one a second; fewer show nothing."""
AHEAD_S = 2.0
"""Lead time with which workers hear when the measured part begins: some heartbeats."""
_MOST_CHANGE = 0.07
"""Largest change relative to the mean, from the first to the last rate considered."""


class Steady:
    """The rates of all workers in the warm-up."""

    def __init__(self) -> None:
        self._rates: list[float] = []

    def note(self, rows_per_s: float) -> None:
        """Add the rate of the last second or two."""
        self._rates.append(rows_per_s)

    @property
    def is_reached(self) -> bool:
        """True if the rate has become steady."""
        rates = np.asarray(self._rates[len(self._rates) // 2 :])
        if len(self._rates) < LEAST_RATES or not rates.mean():
            return False
        first, second = np.triu_indices(len(rates), 1)
        slope = float(np.median((rates[second] - rates[first]) / (second - first)))
        return bool(abs(slope) * (len(rates) - 1) <= _MOST_CHANGE * rates.mean())
