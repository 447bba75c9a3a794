"""Skewed choices: as frequent as their law says, and the same as plain Python computes them."""

import math

import numpy as np
import pytest

from simulator.data.choice import Skew, choice
from simulator.data.mixer import key_of
from tests.truth import recompute

ROWS = 200_000
SEED = 20261129
ZIPF = [(count, exponent) for count in (2, 50, 1000) for exponent in (0.5, 0.99, 2.0)]
HOTSPOTS = [(10, 0.2, 0.8), (1000, 0.01, 0.9), (7, 0.5, 0.5), (3, 0.001, 0.999)]


def chosen(count, skew, rows=ROWS):
    return choice(key_of(SEED, "column"), count, skew=skew, rows=rows)(np.arange(rows))


def expect_frequencies(found, shares):
    """Pearson's test: the statistic is not beyond the 99.9 % quantile (Wilson and Hilferty).

    Values that are expected less than five times count as one.
    """
    expected = np.array(shares) * len(found)
    observed = np.bincount(found, minlength=len(expected)).astype(float)
    rare = expected < 5
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    quantile = freedom * (1 - 2 / (9 * freedom) + 3.09 * math.sqrt(2 / (9 * freedom))) ** 3
    assert statistic < quantile, (statistic, quantile)


@pytest.mark.parametrize(("count", "exponent"), ZIPF)
def test_values_of_a_zipf_law_are_as_frequent_as_their_power(count, exponent):
    shares = np.arange(1, count + 1) ** -exponent
    shares /= shares.sum()
    found = chosen(count, Skew(law="zipf", exponent=exponent))

    expect_frequencies(found, shares)
    with pytest.raises(AssertionError):  # of another law the test fails
        expect_frequencies(found, np.roll(shares, 1))


@pytest.mark.parametrize(("count", "hot", "rows"), HOTSPOTS)
def test_a_hotspot_gets_its_share_of_the_rows_evenly(count, hot, rows):
    few = min(max(round(hot * count), 1), count)
    shares = [rows / few] * few + [(1 - rows) / max(count - few, 1)] * (count - few)

    expect_frequencies(chosen(count, Skew(law="hotspot", hot=hot, rows=rows)), shares)


def test_the_newest_value_is_the_most_frequent_and_moves_from_the_first_to_the_last():
    count = 50
    shares = np.arange(1, count + 1) ** -1.2
    found = chosen(count, Skew(law="latest", exponent=1.2))
    newest = np.arange(ROWS) * count // ROWS

    assert (newest[0], newest[-1]) == (0, count - 1)
    expect_frequencies((newest - found) % count, shares / shares.sum())
    for value in range(count):
        now = found[newest == value]
        assert np.bincount(now).argmax() == value


@pytest.mark.parametrize(
    ("skew", "weights"),
    [
        *((Skew(law="zipf", exponent=s), recompute.zipf(count, s)) for count, s in ZIPF),
        *(
            (Skew(law="hotspot", hot=hot, rows=rows), recompute.hotspot(count, hot, rows))
            for count, hot, rows in HOTSPOTS
        ),
        (Skew(law="zipf", exponent=0.99), recompute.zipf(65_536, 0.99)),
    ],
)
def test_numpy_and_plain_python_choose_the_same(skew, weights):
    choose = recompute.chooser(SEED, "column", weights)

    assert skew.weights(len(weights)) == weights
    assert chosen(len(weights), skew, 2000).tolist() == [choose(row) for row in range(2000)]


def test_without_weights_values_are_even_and_with_them_as_given():
    even = choice(5, 8)(np.arange(ROWS))
    given = choice(5, 3, (1, 0, 3))(np.arange(ROWS))

    expect_frequencies(even, [1 / 8] * 8)
    assert not (given == 1).any()
    expect_frequencies(given[given != 1] // 2, [1 / 4, 3 / 4])
    assert (
        choice(5, 1, skew=Skew(law="hotspot", hot=0.5, rows=0.5))(np.arange(9)).tolist() == [0] * 9
    )
