"""When a warm-up may end, on drawn courses of rates."""

import numpy as np
import pytest

from simulator.control.progress.recent import LEAST_RATES, Steady

SEEDS = range(100)


def seconds_until_steady(rates):
    """Return after how many rates the warm-up ends; None if it does not."""
    steady = Steady()
    for number, rate in enumerate(rates, 1):
        steady.note(rate)
        if steady.is_reached:
            return number
    return None


def noisy(rates, noise, seed):
    return rates * (1 + noise * np.random.default_rng(seed).standard_normal(len(rates)))


def test_an_even_rate_is_steady_once_enough_rates_are_known():
    assert seconds_until_steady([1000.0] * 60) == LEAST_RATES


@pytest.mark.parametrize("time_constant_s", [3, 5, 10])
def test_a_rate_that_climbs_to_a_level_is_steady_when_it_is_near(time_constant_s):
    seconds = np.arange(120)
    rates = 1000 * (1 - 0.6 * np.exp(-seconds / time_constant_s))
    found = [seconds_until_steady(noisy(rates, 0.03, seed)) for seed in SEEDS]

    assert all(found)
    assert np.mean([rates[number] for number in found]) > 960
    assert np.mean(found) < 60


def test_a_rate_that_falls_all_the_time_is_not_steady():
    falling = 1000 * np.exp(-np.arange(60) / 20)
    found = [seconds_until_steady(noisy(falling, 0.02, seed)) for seed in SEEDS]

    assert found == [None] * len(found)


def test_single_dips_do_not_prevent_it():
    rates = np.full(60, 1000.0)
    rates[[6, 13, 20, 27]] = 100.0

    assert seconds_until_steady(rates) == LEAST_RATES


def test_nothing_is_not_steady():
    assert seconds_until_steady([0.0] * 60) is None
