"""Repeats of a sweep over time: the steps of a figure, and its last good state.

A state is the repeats between two steps. A state that is worse than the good state before it is not
good, so a loss is reported until it is gone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np

from iotbench.comparison.comparison import Judgement
from iotbench.comparison.sides import Side
from iotbench.comparison.statistics import difference
from iotbench.comparison.thresholds import CHANGE, COUNTS, Threshold, ThresholdCheck, checks_of
from iotbench.figures.figures import Better, Figure, find_figure
from iotbench.figures.rows import Place
from iotbench.measurements import summary_of

_LEAST = 3
"""Minimum number of repeats in a state, so that one bad night is not a step."""
_PENALTY = 2.0
"""Price of a step in units of the kernel, which does not depend on the scatter."""
_CONFIDENCE = 0.999
"""Confidence with which the states on both sides of a step differ.

It is high because the best of many possible steps are tested."""


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure of one row over time."""

    place: Place
    figure: Figure
    sides: tuple[Side, ...]
    """Repeats that have the row, the oldest first; the repeats of a plan are one."""
    values: tuple[float, ...]
    steps: Mapping[int, float]
    """Number of the repeat that begins a state -> change of the mean since the state before."""
    good: range
    """Repeats of the last good state before the newest repeat; empty if that is the only one."""

    @property
    def change(self) -> float | None:
        """Change from the last good state to the newest repeat; None without a good state."""
        before = [self.values[number] for number in self.good]
        return self.values[-1] / fmean(before) - 1 if before else None

    @property
    def is_worse(self) -> bool:
        """True if the last step led out of the last good state, and not back."""
        return bool(self.steps) and self.good.start != max(self.steps)


def trends_of(sides: Sequence[Side], figure: Figure, noise: float) -> list[Trend]:
    """Return the trend of each row of the newest side that has the figure, above 0."""
    found: dict[Place, dict[int, float]] = defaultdict(dict)
    for number, side in enumerate(sides):
        measured = defaultdict(list)
        for _, result in side.results:
            for row in summary_of(result).every:
                if value := row.value(figure.name):
                    measured[row.place].append(value)
        for place, each in measured.items():
            found[place][number] = fmean(each)
    trends = []
    for place, points in found.items():
        if len(sides) - 1 not in points:
            continue
        values = tuple(points.values())
        steps = find_steps(values, noise)
        good = _find_good(values, [*steps], figure.better, noise)
        own = tuple(sides[number] for number in points)
        trends.append(Trend(place, figure, own, values, steps, good))
    return trends


def find_steps(values: Sequence[float], noise: float) -> dict[int, float]:
    """Return number of the value that begins a state -> change since the state before.

    Kernel change-point detection proposes the steps. A step is removed if its interval includes 0
    or its change is below `noise`, the smallest step first.
    """
    from ruptures import KernelCPD  # noqa: PLC0415 - of an extra, and slow to load

    if len(values) < 2 * _LEAST:
        return {}
    logs = np.log(values)[:, np.newaxis]
    bounds = KernelCPD(kernel="rbf", min_size=_LEAST).fit(logs).predict(pen=_PENALTY)
    bounds = [0, *bounds]
    while len(bounds) > 2:
        changes = {}
        unsure = []
        for (start, step), (_, stop) in pairwise(pairwise(bounds)):
            before, after = ([[v] for v in values[a:b]] for a, b in ((start, step), (step, stop)))
            change = difference(before, after, _CONFIDENCE)
            assert change  # the values are above 0
            changes[step] = change.change
            unsure += [] if change.exceeds(noise) else [step]
        if not unsure:
            return changes
        bounds.remove(min(unsure, key=lambda step: abs(changes[step])))
    return {}


def _find_good(values: Sequence[float], steps: list[int], better: Better, noise: float) -> range:
    good = range(0)
    for start, stop in pairwise([0, *steps, len(values) - 1]):
        change = fmean(values[start:stop]) / fmean(values[n] for n in good) - 1 if good else 0.0
        loss = -change if better is Better.HIGHER else change
        good = range(start, stop) if loss < noise else good
    return good


def history_checks(
    thresholds: Iterable[Threshold], sides: Sequence[Side], trends: Sequence[Trend], noise: float
) -> Iterator[ThresholdCheck]:
    """Yield the checks of the newest side, and of its changes since the last good state.

    `trends`: the rows to check. Without an earlier result, a change is none.
    """
    label, places = sides[-1].label, [trend.place for trend in trends]
    for threshold in thresholds:
        name = threshold.figure.removesuffix(CHANGE)
        if threshold.figure in COUNTS:
            is_bad = COUNTS[threshold.figure] is Judgement.SLOWER
            count = sum(trend.is_worse if is_bad else trend.good.start > 0 for trend in trends)
            ok = not threshold.is_reached(count)
            yield ThresholdCheck(threshold.text, label, str(count), ok)
        elif name != threshold.figure and sides[0].subject.has(name):
            found = trends_of(sides, find_figure(name), noise)
            about = [t for t in found if t.place in places and threshold.is_about(t.place)]
            for trend in about:
                change = trend.change or 0.0
                ok = not threshold.is_reached(change)
                yield ThresholdCheck(
                    threshold.text, f"{label}, {trend.place}", f"{change:+.1%}", ok
                )
            if not about:
                yield ThresholdCheck(threshold.text, label, f"{name} was not measured", ok=False)
    for _, result in sides[-1].results:
        yield from checks_of(thresholds, summary_of(result), place=f"{result.sweep_id}, ")
