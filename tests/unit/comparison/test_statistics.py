"""The interval of a difference: against tables, and against noise as runs have it."""

import math
import statistics

import numpy as np
import pytest

from iotbench.comparison.statistics import (
    Difference,
    Scatter,
    are_in_turns,
    difference,
    noise_of,
    scatter_of,
    t_quantile,
)
from tests.perf.judging import MODELS, calibrated, in_turns, runs_only, shares


@pytest.mark.parametrize(
    ("confidence", "freedom", "bound"),
    [
        (0.95, 1, 12.7062),
        (0.99, 8, 3.3554),
        (0.999, 3, 12.9240),
        (0.95, 1e6, 1.9600),
    ],
)
def test_the_quantiles_are_those_of_printed_tables(confidence, freedom, bound):
    assert t_quantile(confidence, freedom) == pytest.approx(bound, abs=2e-4)


def of_runs(base, other, confidence=0.95):
    """The difference of two sweeps by their runs."""
    return difference([base], [other], confidence)


def test_the_interval_of_runs_is_that_of_welch():
    found = of_runs([100, 110, 121], [90, 99, 108.9])

    # equal variances: 4 degrees of freedom
    half = 2.77645 * math.sqrt(2 / 3) * math.log(1.1)
    assert found.change == pytest.approx(-0.1)
    assert found.low == pytest.approx(0.9 * math.exp(-half) - 1, abs=1e-5)
    assert found.high == pytest.approx(0.9 * math.exp(half) - 1, abs=1e-5)
    assert not found.exceeds(0)
    assert not found.knows_drift


def test_sweeps_of_several_runs_are_units_of_welch_if_that_is_wider():
    base, other = [[100, 100], [121, 121]], [[90, 90], [108.9, 108.9]]
    found = difference(base, other, 0.95)

    # two sweeps of a side: 2 degrees of freedom, half of the difference of the logarithms
    half = 4.30265 * math.log(1.1) * math.sqrt(2)
    assert found.high == pytest.approx(0.9 * math.exp(half) - 1, abs=1e-4)


def test_the_interval_of_pairs_is_that_of_their_differences():
    base, other = [[100], [200], [400], [800]], [[110], [220], [484], [880]]
    found = difference(base, other, 0.95, in_turns=True)

    half = 3.18245 * (math.log(1.1) / 2) / math.sqrt(4)  # of differences l, l, 2l, l
    assert found.change == pytest.approx(1.1**1.25 - 1)
    assert found.low == pytest.approx(1.1**1.25 * math.exp(-half) - 1, abs=1e-5)
    assert found.knows_drift


def test_what_equal_sweeps_differ_by_widens_the_interval_and_never_narrows_it():
    base, other = [[100, 101, 99]], [[90, 91, 89]]
    narrow, wide = Scatter(0.0001, 9, 3), Scatter(0.05, 9, 3)
    bare = difference(base, other, 0.95)
    found = difference(base, other, 0.95, scatter=(wide, wide))

    half = 2.26216 * 0.05 * math.sqrt(2)
    assert found.low == pytest.approx((1 + found.change) * math.exp(-half) - 1, abs=1e-5)
    assert (found.knows_drift, found.exceeds(0.05)) == (True, False)
    assert difference(base, other, 0.95, scatter=(narrow, narrow)).low == bare.low
    assert noise_of(wide) == pytest.approx(math.expm1(half), abs=1e-5)


def test_sweeps_of_fewer_runs_than_the_calibration_scatter_more():
    scatter = Scatter(0.05, 9, 4)

    assert [scatter.of(runs) for runs in (1, 4, 16)] == pytest.approx([0.1, 0.05, 0.05])


def test_the_scatter_of_sweeps_is_at_least_their_largest_difference():
    even = scatter_of([[math.exp(each)] for each in (-0.1, 0.0, 0.1, 0.0, -0.1, 0.1)])
    one_slow = scatter_of([[1.0]] * 9 + [[0.8]])

    assert even.deviation == pytest.approx(math.sqrt(0.04 / 5))
    assert noise_of(one_slow) >= 0.25  # 1.0 over 0.8
    assert noise_of(scatter_of([[1.0]] * 5 + [[0.8]] * 4)) >= 0.25


def test_as_many_pairs_as_are_advised_find_a_loss_in_nine_of_ten_cases():
    source = np.random.default_rng(1)

    def drawn(pairs, loss):
        logs = source.normal(scale=0.13, size=(2, pairs, 1))
        logs[1] += math.log1p(-loss)
        return difference(*np.exp(logs).tolist(), 0.95, in_turns=True)

    assert difference([[1], [2]], [[2], [1]], 0.95).pairs_to_find(0.1, 0.95) is None
    advised = statistics.median(drawn(12, 0).pairs_to_find(0.1, 0.95) for _ in range(200))
    found = [drawn(round(advised), 0.1).exceeds(0) for _ in range(1000)]
    assert 0.86 < statistics.fmean(found) < 0.94


@pytest.mark.parametrize(
    ("base", "other", "expected"),
    [
        ([1, 4, 5], [2, 3, 6], True),
        ([1, 3, 5], [2, 4, 6], True),
        ([1, 2, 3], [4, 5, 6], False),
        ([1, 4], [2, 3], False),
        ([1, 3, 5, 7], [2, 4, 6], False),
        ([1, 2, 5], [3, 4, 6], False),
        ([1, 1, 1], [1, 1, 1], False),
    ],
)
def test_sweeps_are_in_turns_if_they_are_at_least_three_pairs(base, other, expected):
    assert are_in_turns(base, other) is expected
    assert are_in_turns(other, base) is expected


def test_a_side_with_one_run_has_no_interval_and_exceeds_nothing():
    found = of_runs([100], [50, 51, 52])

    assert (found.low, found.exceeds(0)) == (None, False)
    assert found.change == pytest.approx(-0.49, abs=0.001)


def test_equal_runs_differ_by_exactly_that():
    found = of_runs([8, 8], [4, 4])

    assert (found.change, found.low, found.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert of_runs([8, 8], [8, 8]) == Difference(0, 0, 0)


@pytest.mark.parametrize("other", [[], [0.0, 1.0]])
def test_values_without_a_logarithm_are_not_compared(other):
    assert of_runs([1, 2], other) is None


FOUND_WITH = {"quiet": 3, "sweeps differ": 7, "drift": 3, "two speeds": 20, "disturbed": 15}
"""Model -> pairs of sweeps with which 10 % less is found."""


@pytest.mark.parametrize("model", MODELS, ids=lambda each: each.name)
def test_equal_pairs_are_seldom_called_different_and_ten_percent_is_found(model):
    designs = [calibrated, *map(in_turns, (3, 5, 10))]
    alarms = [shares(model, design, 600)[0] for design in designs]
    _, found, needed = shares(model, in_turns(FOUND_WITH[model.name]), 200)

    assert max(alarms) <= 0.05
    assert found >= 0.9
    assert needed <= 0.12


def test_runs_alone_err_too_often_once_sweeps_differ():
    named = {each.name: each for each in MODELS}

    assert shares(named["sweeps differ"], runs_only, 200)[0] > 0.2
    assert shares(named["two speeds"], runs_only, 200)[0] > 0.2
