"""Settings are repeated until the mean of their rate is known well enough."""

from pathlib import Path

import pytest

from iotbench.comparison.statistics import precision
from iotbench.config.targets.config import Target
from iotbench.plans.items import Item, MeasuredItem, Pair
from iotbench.plans.lines import find_imprecise, within_of
from iotbench.plans.plan import Plan
from iotbench.plans.record import PlanLine
from simulator.modules.sqlite import SqliteOptions
from tests.unit.output.terminal import made

PLAN = Plan.model_validate(
    {
        "name": "tiny",
        "repeats": 2,
        "until_within": "10%",
        "settings": [
            {"name": "even", "insert": {"workload": "slim"}},
            {"name": "uneven", "insert": {"workload": "slim"}},
            {"name": "fixed", "insert": {"workload": "slim"}, "repeats": 2},
            {"name": "failing", "insert": {"workload": "slim"}},
        ],
    }
)
TARGET = Target("lite", "sqlite", "local", SqliteOptions(), {})
GROUP = [Pair(setting, TARGET) for setting in PLAN.settings]
SECONDS = {"even": (1.0, 1.0), "uneven": (1.0, 1.5), "fixed": (1.0, 1.5), "failing": (1.0, None)}


def measured(seconds):
    if seconds is None:
        return MeasuredItem(cause="no server")
    run = made.run(made.outcome(made.worker(0, rows=1000, ended=10 + seconds)))
    return MeasuredItem(((Path("x.json"), made.result([run])),))


FOUND = [
    (Item(f"id-{number}", pair.setting, TARGET, number), measured(seconds))
    for pair in GROUP
    for number, seconds in enumerate(SECONDS[pair.setting.name], 1)
]


def test_only_means_that_are_not_known_well_are_repeated():
    assert [pair.setting.name for pair in find_imprecise(PLAN, GROUP, FOUND)] == ["uneven"]


def test_without_the_key_nothing_is_repeated():
    assert find_imprecise(PLAN.model_copy(update={"until_within": None}), GROUP, FOUND) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([100, 100], 0.0),
        ([95, 105], 12.706 * 7.0711 / 2**0.5 / 100),
        ([90, 100, 110], 4.3027 * 10 / 3**0.5 / 100),
        ([90, 95, 100, 105, 110], 2.7764 * 7.9057 / 5**0.5 / 100),
    ],
)
def test_it_is_half_of_students_interval_over_the_mean(values, expected):
    """The quantiles are those of the tables in textbooks."""
    assert precision(values) == pytest.approx(expected, rel=1e-3)


def test_one_value_says_nothing():
    assert precision([100]) is None
    line = PlanLine(setting="a", target="b", repeats=1, measures={}, verdict="verified")
    assert within_of(line) is None
