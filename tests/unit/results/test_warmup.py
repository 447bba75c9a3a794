"""A warm-up is found in drawn courses that have one, and seldom in those that have none."""

import numpy as np
import pytest

from iotbench.results.warmup import LEAST_S, find_warmup

COURSES = 200


def course(draw, seconds, noise=0.05, alike=0.3):
    """Rates with normal noise, each correlated with the one before."""
    away = draw.standard_normal(seconds)
    for second in range(1, seconds):
        away[second] = alike * away[second - 1] + np.sqrt(1 - alike**2) * away[second]
    return 1e5 * np.maximum(1 + noise * away, 0.01)


def dips(draw, seconds):
    """Rates that halve for some seconds now and again, as at checkpoints."""
    period, length = int(draw.integers(15, 60)), int(draw.integers(2, 6))
    within = (np.arange(seconds) + draw.integers(0, period)) % period < length
    return np.where(within, 0.5, 1.0) * course(draw, seconds, 0.02)


STEADY = {
    "little noise": course,
    "noise": lambda draw, seconds: course(draw, seconds, 0.2),
    "slow noise": lambda draw, seconds: course(draw, seconds, 0.1, 0.8),
    "dips": dips,
    "drift": lambda draw, seconds: course(draw, seconds) * np.linspace(1.1, 0.9, seconds),
    "decline": lambda draw, seconds: course(draw, seconds) / np.sqrt(1 + np.arange(seconds) / 20),
}


@pytest.mark.parametrize("seconds", [60, 300])
@pytest.mark.parametrize("kind", STEADY)
def test_at_most_five_in_a_hundred_courses_without_a_warm_up_raise_an_alarm(kind, seconds):
    draw = np.random.default_rng(7)
    alarms = sum(find_warmup(STEADY[kind](draw, seconds)) is not None for _ in range(COURSES))

    assert alarms <= 0.05 * COURSES


@pytest.mark.parametrize("seconds", [60, 300])
@pytest.mark.parametrize(("share", "level"), [(0.1, 0.5), (0.2, 0.7), (0.3, 1.4)])
def test_most_warm_ups_are_found(share, level, seconds):
    draw = np.random.default_rng(8)
    length_s = int(share * seconds)
    start = np.where(np.arange(seconds) < length_s, level, 1.0)
    found = [find_warmup(start * course(draw, seconds, 0.03)) for _ in range(100)]
    known = [each for each in found if each]

    assert len(known) >= 85
    near = [each for each in known if length_s <= each.seconds <= length_s + 0.1 * seconds]
    assert len(near) >= 0.8 * len(known)
    assert np.median([each.rate_before / each.rate_after for each in near]) == pytest.approx(
        level, rel=0.1
    )


def test_a_rising_start_is_a_warm_up():
    draw = np.random.default_rng(9)
    found = find_warmup(course(draw, 120, 0.03) * (1 - 0.6 * np.exp(-np.arange(120) / 8)))

    assert found is not None
    assert 12 <= found.seconds <= 48
    assert found.effect(120) < -0.02


def test_a_short_course_shows_nothing():
    rates = [1.0] * 10 + [2.0] * (LEAST_S - 10)

    assert find_warmup(rates) is not None
    assert find_warmup(rates[1:]) is None
    assert find_warmup([]) is None


def test_a_course_without_noise_or_rows_is_steady():
    assert find_warmup([5.0] * 90) is None
    assert find_warmup([0.0] * 90) is None
    assert find_warmup([100.0] + [0.0] * 89) is None
