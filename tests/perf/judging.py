"""How often `compare` errs, and which difference it finds, on drawn runs.

    python tests/perf/judging.py [--pairs 2000] [--write]

Runs of a sweep resemble each other, sweeps differ by more than their runs, machines drift, and some
databases have two speeds. Each model draws runs in the order in which they are measured; a design
decides about two equal sides, and about one that is 10 % slower. `--write` puts the tables into
docs/statistics.md.
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from numpy.typing import NDArray

from iotbench.comparison.comparison import CONFIDENCE, NOISE
from iotbench.comparison.statistics import LEAST_PAIRS, Difference, difference, scatter_of
from iotbench.comparison.turns import LOOKS, MOST_REPEATS

DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"
BEGIN, END = "<!-- simulation -->\n", "<!-- /simulation -->\n"
RUNS = 5
"""Of a sweep, as `insert` has them."""
CALIBRATED = 10, 3
"""Sweeps and runs of `calibrate`."""
PAIRS = (3, 4, 5, 7, 10, 15, 20, 30)
"""Sweeps of one run, of each side, in turns."""
SLOWER = 0.9


@dataclass(frozen=True)
class Model:
    """How rates vary, as shares of the rate."""

    name: str
    run: float
    """Standard deviation of a run in its sweep; neighbours correlate by 0.5."""
    sweep: float = 0.0
    """Of the sweeps, in addition."""
    walk: float = 0.0
    """Of the step from a run to the next, which stays."""
    trend: float = 0.0
    """From a run to the next."""
    slow: float = 0.0
    """How much slower three of ten sweeps are."""
    hit: float = 0.0
    """Mean loss of each fifth run, at random."""

    def drawn(self, source: np.random.Generator, sweeps: int, runs: int) -> NDArray[np.float64]:
        """Return the logarithms of the rates of sweeps that follow each other."""
        noise = source.normal(size=(sweeps, runs)) * self.run
        for i in range(1, runs):
            noise[:, i] = 0.5 * noise[:, i - 1] + math.sqrt(0.75) * noise[:, i]
        noise += source.normal(size=(sweeps, 1)) * self.sweep
        noise += math.log1p(-self.slow) * (source.random((sweeps, 1)) < 0.3)
        noise -= source.exponential(self.hit, noise.shape) * (source.random(noise.shape) < 0.2)
        steps = source.normal(size=noise.size) * self.walk + self.trend
        return noise + np.cumsum(steps).reshape(noise.shape)


MODELS = (
    Model("quiet", run=0.02, sweep=0.01),
    Model("sweeps differ", run=0.03, sweep=0.03),
    Model("drift", run=0.02, sweep=0.01, walk=0.005, trend=0.002),
    Model("two speeds", run=0.02, sweep=0.01, slow=0.15),
    Model("disturbed", run=0.03, sweep=0.02, hit=0.1),
)
Design: TypeAlias = Callable[[Model, np.random.Generator], tuple[float, float]]
"""Draws two equal sides; returns the middle and half of the interval of their difference."""


def _decided(found: Difference | None) -> tuple[float, float]:
    """Return the middle and half of the interval, on logarithms."""
    assert found
    assert found.low is not None
    middle = math.log1p(found.change)
    return middle, middle - math.log1p(found.low)


def runs_only(model: Model, source: np.random.Generator) -> tuple[float, float]:
    """Decide by the runs of two sweeps, which is not done any more."""
    base, other = np.exp(model.drawn(source, 2, RUNS)).tolist()
    return _decided(difference([base], [other], CONFIDENCE))


def calibrated(model: Model, source: np.random.Generator) -> tuple[float, float]:
    """Decide about two sweeps, one after the other, on a machine that was calibrated."""
    sweeps, runs = CALIBRATED
    drawn = model.drawn(source, sweeps + 4, RUNS)
    known = scatter_of(np.exp(drawn[:sweeps, :runs]).tolist())
    base, other = np.exp(drawn[-2:]).tolist()
    return _decided(difference([base], [other], CONFIDENCE, scatter=(known, known)))


def in_turns(pairs: int) -> Design:
    """Return the design of so many pairs of sweeps of one run, every other one backwards."""

    def decide(model: Model, source: np.random.Generator) -> tuple[float, float]:
        drawn = np.exp(model.drawn(source, 2 * pairs, 1)).reshape(pairs, 2)
        drawn[1::2] = drawn[1::2, ::-1]
        base, other = ([[value] for value in side] for side in drawn.T.tolist())
        return _decided(difference(base, other, CONFIDENCE, in_turns=True))

    return decide


def shares(model: Model, design: Design, pairs: int) -> tuple[float, float, float]:
    """Return the shares of equal sides called different and of 10 % slower ones that are found.

    The third number is the difference that is found in nine of ten pairs.
    """
    source = np.random.default_rng(20261128)
    found = np.array([design(model, source) for _ in range(pairs)])
    middle, half = found.T
    least = np.maximum(half, math.log1p(NOISE))
    alarms = float(np.mean(np.abs(middle) > least))
    slowed = middle + math.log(SLOWER)
    is_found = (slowed < -half) & (slowed < math.log1p(-NOISE))
    needed = math.expm1(float(np.quantile(least - middle, 0.9)))
    return alarms, float(np.mean(is_found)), needed


def until_known(model: Model, factor: float, pairs: int) -> tuple[float, float]:
    """Return the share of calls as `insert` on several targets makes them, and the mean repeats.

    One side is slower by the factor.
    """
    source = np.random.default_rng(20261129)
    calls, repeats = 0, 0
    strict = 1 - (1 - CONFIDENCE) / LOOKS
    for _ in range(pairs):
        drawn = model.drawn(source, 2 * MOST_REPEATS, 1).reshape(MOST_REPEATS, 2)
        drawn[1::2] = drawn[1::2, ::-1]
        rates = np.exp(drawn) * (1.0, factor)
        done = LEAST_PAIRS
        while True:
            base, other = ([[value] for value in side] for side in rates[:done].T.tolist())
            found = difference(base, other, strict, in_turns=True)
            assert found
            if found.exceeds(NOISE) or found.is_within(NOISE) or done == MOST_REPEATS:
                break
            done = min(2 * done, MOST_REPEATS)
        calls += found.exceeds(NOISE)
        repeats += done
    return calls / pairs, repeats / pairs


def tables(pairs: int) -> str:
    """Return what each design comes to under each model, as Markdown."""
    names = " | ".join(each.name for each in MODELS)
    rule = "|---" * (len(MODELS) + 1) + "|"
    designs = {
        f"one sweep of {RUNS} runs a side, by its runs alone (not judged any more)": runs_only,
        f"one sweep of {RUNS} runs a side, calibrated": calibrated,
        **{f"{count} pairs in turns": in_turns(count) for count in PAIRS},
    }
    calls, needed = [], []
    for name, design in designs.items():
        found = [shares(each, design, pairs) for each in MODELS]
        cells = (f"{alarms:.1%} / {hits:.0%}" for alarms, hits, _ in found)
        calls.append(f"| {name} | {' | '.join(cells)} |")
        if design is not runs_only:
            needed.append(f"| {name} | {' | '.join(f'{least:.0%}' for *_, least in found)} |")
    lines = [f"Calls of {pairs:,} equal pairs that are wrong / 10 % slower sides that are found:",
             "", f"| Design | {names} |", rule, *calls, "",
             "The difference that is found in nine of ten pairs:", "",
             f"| Design | {names} |", rule, *needed, "",
             f"`insert` on two targets, {LEAST_PAIRS} to {MOST_REPEATS} repeats, calls / repeats:",
             "", f"| Sides | {names} |", rule, *_list_until_known(pairs)]  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def _list_until_known(pairs: int) -> list[str]:
    lines = []
    for name, factor in (("equal", 1.0), ("10 % slower", SLOWER), ("half as fast", 0.5)):
        found = [until_known(each, factor, pairs) for each in MODELS]
        cells = (f"{calls:.1%} / {repeats:.1f}" for calls, repeats in found)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def written(text: str, table: str, begin: str = BEGIN, end: str = END) -> str:
    """Return the page with other tables between its marks."""
    head, _, rest = text.partition(begin)
    return head + begin + "\n" + table + "\n" + end + rest.partition(end)[2]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000, help="drawn for each cell")
    parser.add_argument("--write", action="store_true", help="into docs/statistics.md")
    given = parser.parse_args()
    found = tables(given.pairs)
    print(found, end="")
    if given.write:
        DOCS.write_text(written(DOCS.read_text(), found))


if __name__ == "__main__":
    main()
