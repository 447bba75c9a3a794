"""The interval of a difference: against tables, and against noise as runs have it."""

import math

import numpy as np
import pytest

from cli.compare.comparison import NOISE
from cli.compare.statistics import Difference, difference, t_quantile
from cli.planning.options import DEFAULT_RUNS


@pytest.mark.parametrize(
    ("confidence", "freedom", "bound"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 4, 2.7764),
        (0.95, 8, 2.3060),
        (0.95, 18, 2.1009),
        (0.99, 8, 3.3554),
        (0.999, 3, 12.9240),
        (0.95, 1e6, 1.9600),
    ],
)
def test_the_quantiles_are_those_of_printed_tables(confidence, freedom, bound):
    assert t_quantile(confidence, freedom) == pytest.approx(bound, abs=2e-4)


def test_the_interval_is_that_of_welch():
    found = difference([100, 110, 121], [90, 99, 108.9], 0.95)

    # equal variances: 4 degrees of freedom
    half = 2.77645 * math.sqrt(2 / 3) * math.log(1.1)
    assert found.change == pytest.approx(-0.1)
    assert found.low == pytest.approx(0.9 * math.exp(-half) - 1, abs=1e-5)
    assert found.high == pytest.approx(0.9 * math.exp(half) - 1, abs=1e-5)
    assert not found.exceeds(0)


def test_a_side_with_one_run_has_no_interval_and_exceeds_nothing():
    found = difference([100], [50, 51, 52], 0.95)

    assert (found.has_interval, found.exceeds(0)) == (False, False)
    assert found.change == pytest.approx(-0.49, abs=0.001)


def test_equal_runs_differ_by_exactly_that():
    found = difference([8, 8], [4, 4], 0.95)

    assert (found.change, found.low, found.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert difference([8, 8], [8, 8], 0.95) == Difference(0, 0, 0)


@pytest.mark.parametrize("other", [[], [0.0, 1.0]])
def test_values_without_a_logarithm_are_not_compared(other):
    assert difference([1, 2], other, 0.95) is None


def test_a_difference_counts_only_from_the_least_on():
    small, large = [100, 100.1, 99.9], [97, 97.1, 96.9]

    assert difference(small, large, 0.95).exceeds(0.02)
    assert not difference(small, large, 0.95).exceeds(0.05)


def _sweeps(source, runs, deviation, drift):
    """Log rates of two sweeps, one after the other: each run resembles the one before it."""
    noise = np.empty(2 * runs)
    noise[0] = source.normal() * deviation
    for i in range(1, 2 * runs):
        noise[i] = 0.3 * noise[i - 1] + source.normal() * deviation * math.sqrt(1 - 0.3**2)
    noise += np.cumsum(source.normal(size=2 * runs) * drift)
    rates = np.exp(noise)
    return rates[:runs].tolist(), rates[runs:].tolist()


@pytest.mark.parametrize(("deviation", "drift"), [(0.02, 0.0), (0.03, 0.0), (0.02, 0.005)])
def test_by_default_noise_is_seldom_called_a_difference_and_ten_percent_seldom_noise(
    deviation, drift
):
    source = np.random.default_rng(1)
    pairs = [_sweeps(source, DEFAULT_RUNS, deviation, drift) for _ in range(600)]
    alarms = sum(difference(a, b, 0.95).exceeds(NOISE) for a, b in pairs)
    found = sum(difference(a, [0.9 * each for each in b], 0.95).exceeds(NOISE) for a, b in pairs)

    assert alarms / len(pairs) <= 2 / 30
    assert found / len(pairs) >= 27 / 30
