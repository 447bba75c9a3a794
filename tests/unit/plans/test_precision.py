"""Settings are repeated until the mean of their rate is known well enough."""

import pytest

from iotbench.comparison.statistics import precision
from iotbench.plans.items import Item, MeasuredItem
from iotbench.plans.lines import find_imprecise, within_of
from iotbench.plans.record import PlanLine
from tests.unit.plans.made import finished, pairs_of, plan_of

PLAN = plan_of(
    "even", "uneven", {"name": "fixed", "repeats": 2}, "failing", repeats=2, until_within="10%"
)
GROUP = pairs_of(PLAN)
SECONDS = {"even": (1.0, 1.0), "uneven": (1.0, 1.5), "fixed": (1.0, 1.5), "failing": (1.0, None)}
FOUND = [
    (
        Item(f"id-{number}", pair.setting, pair.target, number),
        finished(seconds) if seconds else MeasuredItem(cause="no server"),
    )
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
