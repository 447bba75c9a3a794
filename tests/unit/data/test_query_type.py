"""Instances of query types: pure functions of the seed, the type and the number."""

import numpy as np
import pytest

from simulator.data.query import (
    EVERYTHING,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Selection,
)
from simulator.data.query_type import RandomParameters, always, before, impossible
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.data.workloads.iot import EVENTS
from simulator.data.workloads.nosql import Slim

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
START_MS = 1_451_606_400_123
HOURS = 30


def types(*, seed=1, aligned=False, scale=50):
    params = DevopsParams(scale=scale, duration_ms=HOURS * HOUR_MS)
    workload = Devops(params, seed, START_MS)
    return workload.query_types(workload.tables, aligned=aligned)


def hosts_of(query):
    (one,) = query.selection.one_of
    assert isinstance(one, OneOf)
    return one.values


@pytest.mark.parametrize("name", ["1-host-1-hr", "8-host-1-hr", "groupby"])
def test_an_instance_depends_on_seed_type_and_number_only(name):
    found = [types()[name].instance(number) for number in range(20)]

    assert found == [types()[name].instance(number) for number in range(20)]
    assert len({*found}) == 20
    assert not {*found} & {types(seed=2)[name].instance(number) for number in range(20)}


@pytest.mark.parametrize("hosts", [1, 2, 4, 8, 16, 32])
def test_the_hosts_of_an_instance_are_different_and_all_hosts_occur_alike(hosts):
    query_type = types()[f"{hosts}-host-1-hr"]
    found = [hosts_of(query_type.instance(number)) for number in range(1000)]

    assert all(len({*each}) == hosts for each in found)
    counts = np.unique([host for each in found for host in each], return_counts=True)[1]
    expected = 1000 * hosts / 50
    assert len(counts) == 50
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize(("name", "hours"), [("1-host-1-hr", 1), ("1-host-12-hr", 12),
                                            ("groupby", 24)])  # fmt: skip
def test_windows_lie_in_the_data_and_everywhere_in_it(name, hours):
    windows = [types()[name].instance(number).selection for number in range(1000)]
    since = np.array([each.since for each in windows]) - START_MS

    assert {each.until - each.since for each in windows} == {hours * HOUR_MS}
    assert since.min() >= 0
    assert since.max() <= (HOURS - hours) * HOUR_MS
    parts = np.histogram(since, 10, (0, (HOURS - hours) * HOUR_MS))[0]
    assert parts.min() > 50


@pytest.mark.parametrize(("name", "step"), [("1-host-1-hr", MINUTE_MS), ("groupby", HOUR_MS)])
def test_aligned_windows_begin_with_a_bucket(name, step):
    windows = [types(aligned=True)[name].instance(number).selection for number in range(200)]

    assert {each.since % step for each in windows} == {0}
    assert min(each.since for each in windows) >= START_MS
    assert max(each.until for each in windows) <= START_MS + HOURS * HOUR_MS


def test_all_of_a_fleet_can_be_chosen():
    assert RandomParameters(1, "x").among(3, 5, 5) == (0, 1, 2, 3, 4)


def test_a_fixed_query_is_always_instance_0():
    fixed = types()["count-cpu"]

    assert not fixed.varies
    assert fixed.number(17) == 0
    assert fixed.instance(0) == fixed.instance(17)
    assert always(fixed.instance(0)).instance(3) == fixed.instance(0)


def test_an_impossible_type_says_why():
    with pytest.raises(ValueError, match="no such hosts"):
        impossible("no such hosts").instance(0)


COUNT = (Aggregate(Function.COUNT),)


@pytest.mark.parametrize(
    ("selection", "until"),
    [(EVERYTHING, 5_500), (Selection(until=5_499), 5_499), (Selection(since=7_000), 5_500)],
)
def test_a_type_before_a_time_ends_there_at_the_latest(selection, until):
    query = AggregateQuery(EVENTS, COUNT, selection=selection)
    found = before(always(query), 5_500).instance(0)

    assert (found.selection.until, found.selection.since) == (until, selection.since)


def test_the_end_is_in_the_unit_of_the_table_and_newest_rows_have_one():
    assert before(always(AggregateQuery(Slim.table, COUNT)), 5_999).instance(0).selection.until == 5
    newest = before(always(NewestQuery(EVENTS, ("device_id",), ())), 5_999).instance(0)
    assert newest.selection.until == 5_999


def test_a_number_of_combinations_cannot_be_asked_before_a_time():
    found = before(always(DistinctQuery(EVENTS, EVENTS.key)), 1)

    assert found.problem == "it counts combinations of all rows, and has no range of time"


def test_a_type_without_instances_stays_so():
    assert before(impossible("the data is too short"), 1).problem == "the data is too short"
