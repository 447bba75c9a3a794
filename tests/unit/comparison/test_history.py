"""Steps in a figure over time, the last good state, and thresholds for the change since it."""

import random
from datetime import timedelta

import pytest

from iotbench.comparison.history import find_steps, history_checks, trends_of
from iotbench.comparison.sides import Side
from iotbench.comparison.thresholds import Scope, parse
from iotbench.figures.figures import FIGURES
from tests.unit.output.terminal import made
from tests.unit.store.made import FIRST

pytest.importorskip("ruptures")
RATE = FIGURES["rows_per_s"]


def nights(*rates):
    """Return a result for each rate, a day apart."""
    sides = []
    for number, rate in enumerate(rates):
        run = made.timed(1000 / rate)
        created = FIRST + timedelta(days=number)
        result = made.result([run], created=created, sweep_id=f"{number:04x}")
        sides.append(Side(((None, result),), f"night-{number}"))
    return sides


def trend_of(*rates):
    (trend,) = trends_of(nights(*rates), RATE, 0.05)
    return trend


def check(text, *rates):
    sides = nights(*rates)
    problems = []
    thresholds = parse([text], Scope((sides[0].subject,), compares=True), problems)
    assert problems == []
    return [*history_checks(thresholds, sides, trends_of(sides, RATE, 0.05), 0.05)]


def scattered(generator, count, scatter, *, start=None, loss=0.0):
    """Return rates of nights; a loss begins with night `start`."""
    return [
        1e5 * generator.lognormvariate(0, scatter) * (1 - loss if start and n >= start else 1)
        for n in range(count)
    ]


def test_equal_nights_rarely_have_a_step():
    generator = random.Random(7)
    found = [find_steps(scattered(generator, 60, 0.05), 0.05) for _ in range(100)]

    assert sum(map(bool, found)) <= 5


def test_a_loss_is_found_on_its_night_or_beside_it():
    generator = random.Random(7)
    found = [
        [*find_steps(scattered(generator, 30, 0.03, start=20, loss=0.1), 0.05)] for _ in range(50)
    ]

    assert sum(len(steps) == 1 and abs(steps[0] - 20) <= 1 for steps in found) >= 48


@pytest.mark.parametrize("rates", [(), (5.0,), (5.0,) * 5, (5.0,) * 50, (1.0, 2.0, 1.0, 2.0, 9.0)])
def test_few_or_equal_values_have_no_step(rates):
    assert find_steps(rates, 0.05) == {}


def test_a_step_below_the_noise_is_none():
    assert find_steps([100.0] * 10 + [97.0] * 10, 0.05) == {}
    assert find_steps([100.0] * 10 + [97.0] * 10, 0.02) == {10: pytest.approx(-0.03)}


STEADY = (100, 101, 99, 100, 102, 98)
SLOWER = (80, 81, 79, 80, 82, 78)


@pytest.mark.parametrize(
    ("rates", "good", "is_worse"),
    [
        ((100,), range(0), False),
        ((100, 90), range(1), False),
        ((*STEADY, 70), range(6), False),  # one night is not a step yet
        ((*STEADY, *SLOWER), range(6), True),  # a loss stays one
        ((*STEADY, *SLOWER, *STEADY), range(12, 17), False),  # until it is gone
        ((*SLOWER, *STEADY), range(6, 11), False),
        ((*STEADY, *SLOWER, 90, 91, 89, 90, 92, 88), range(6), True),  # or gone in part
    ],
)
def test_a_worse_state_is_not_good(rates, good, is_worse):
    trend = trend_of(*rates)

    assert (trend.good, trend.is_worse) == (good, is_worse)


def test_more_of_a_latency_is_worse():
    sides = nights(*STEADY, *SLOWER)
    waits = [100 / value for value in (*STEADY, *SLOWER)]
    for (_, result), wait in zip((side.results[0] for side in sides), waits, strict=True):
        result.runs[0] = made.run(made.outcome(made.worker(0, latency=made.histogram(wait))))
    (trend,) = trends_of(sides, FIGURES["p50_ms"], 0.05)

    assert trend.is_worse


@pytest.mark.parametrize(
    ("text", "rates", "found", "ok"),
    [
        ("rows_per_s_change < -5%", (*STEADY, 94), "-6.0%", False),
        ("rows_per_s_change < -5%", (*STEADY, 96), "-4.0%", True),
        ("rows_per_s_change < -5%", (*STEADY, *SLOWER), "-22.0%", False),
        ("rows_per_s_change < -5%", (100,), "+0.0%", True),
        ("rows_per_s_change < -5% at workers=7", (*STEADY, 96), "rows_per_s was not", False),
        ("slower > 0", (*STEADY, 70), "0", True),
        ("slower > 0", (*STEADY, *SLOWER), "1", False),
        ("faster > 0", (*SLOWER, *STEADY), "1", False),
        ("rows_per_s < 95", (*STEADY, 94), "94 rows/s", False),
    ],
)
def test_a_threshold_looks_at_the_newest_night(text, rates, found, ok):
    (one,) = check(text, *rates)

    assert (one.found.startswith(found), one.ok) == (True, ok)
