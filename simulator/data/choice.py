"""Choices of one of several values for each row: evenly, by weights, or skewed by a law.

A choice is a pure function of a key and the row: a random fraction 0 <= u < 1 chooses the first
value with a cumulative share above u. Weights of a law are whole numbers, so shares are the same on
every machine.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows
from simulator.data.mixer import below, draw, fractions
from simulator.frozen import Frozen

Choose = Callable[[Rows], NDArray[np.int64]]
_UNIT = 1 << 32


class Skew(Frozen):
    """A law by which the first of some values are more frequent than the others."""

    law: Literal["zipf", "hotspot", "latest"]
    """Name of the law; `latest` is `zipf` with the newest value first, as of each row."""
    exponent: float = 0.0
    """Exponent of `zipf`: the relative frequency of value r, counted from 1, is r ** -exponent."""
    hot: float = 0.0
    """The share of values in a `hotspot`."""
    rows: float = 0.0
    """The share of rows with a value of the hotspot."""

    def weights(self, count: int) -> list[int]:
        """Return the relative frequency of each of `count` values."""
        if self.law == "hotspot":
            hot = min(max(round(self.hot * count), 1), count)
            cold = max(count - hot, 1)
            often, seldom = round(_UNIT * self.rows / hot), round(_UNIT * (1 - self.rows) / cold)
            return [often] * hot + [seldom] * (count - hot)
        # Plain Python: powers of NumPy differ by machine in the last bit.
        return [round(_UNIT / rank**self.exponent) for rank in range(1, count + 1)]


def choice(
    key: int, count: int, weights: Sequence[float] = (), skew: Skew | None = None, rows: int = 1
) -> Choose:
    """Return the function that chooses a number 0 <= n < count for each of `rows` rows."""
    if skew:
        weights = skew.weights(count)
    if not weights:
        return lambda chosen: below(key, chosen, count)
    ends = np.cumsum(weights)
    edges = ends[:-1] / ends[-1]

    def choose(chosen: Rows) -> NDArray[np.int64]:
        return np.searchsorted(edges, fractions(draw(key, chosen)), "right").astype(np.int64)

    if skew and skew.law == "latest":
        return lambda chosen: (chosen * count // rows - choose(chosen)) % count
    return choose
