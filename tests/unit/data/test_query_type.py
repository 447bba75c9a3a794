"""Instances of queries: pure functions of the seed, the query and the number."""

import numpy as np
import pytest

from simulator.data.own_query import (
    Instant,
    OwnQuery,
    ParameterSource,
    fill,
    make_own_types,
    placeholders,
)
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
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.data.workloads import workload_class
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.data.workloads.iot import EVENTS
from simulator.data.workloads.nosql import Slim
from tests.unit.specs import dataset

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
    one, again, other = (types(seed=seed)[name] for seed in (1, 1, 2))
    found = [one.instance(number) for number in range(20)]

    assert found == [again.instance(number) for number in range(20)]
    assert len({*found}) == 20
    assert not {*found} & {other.instance(number) for number in range(20)}


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
    query_type = types()[name]
    windows = [query_type.instance(number).selection for number in range(1000)]
    since = np.array([each.since for each in windows]) - START_MS

    assert {each.until - each.since for each in windows} == {hours * HOUR_MS}
    assert since.min() >= 0
    assert since.max() <= (HOURS - hours) * HOUR_MS
    parts = np.histogram(since, 10, (0, (HOURS - hours) * HOUR_MS))[0]
    assert parts.min() > 50


@pytest.mark.parametrize(("name", "step"), [("1-host-1-hr", MINUTE_MS), ("groupby", HOUR_MS)])
def test_aligned_windows_begin_with_a_bucket(name, step):
    query_type = types(aligned=True)[name]
    windows = [query_type.instance(number).selection for number in range(200)]

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


STORED = dataset(params={"devices": 5}).with_ranges([lane_range(0, 0, 300), lane_range(1, 0, 100)])


def own(**changes):
    return OwnQuery(**{"columns": {"n": Type.INT64}, "texts": {"sql": "SELECT"}, **changes})


def instances(query, count=200, stored=STORED, name="q", **options):
    query_type = make_own_types({name: query}, stored, **options)[name]
    return [query_type.instance(number) for number in range(count)]


def column(name, stored=STORED):
    """Every stored value of a column."""
    reader = DatasetReader(stored)
    return [
        value
        for rows in stored.ranges
        for (block,) in reader.blocks((rows,))
        for value in block.data[name].values().tolist()
    ]


def test_a_parameter_of_a_column_has_values_that_are_stored():
    query = own(
        parameters={
            "device": ParameterSource(column="device_id"),
            "warm": ParameterSource(column="temperature"),
        }
    )
    found = instances(query)

    devices = {each.values["device"] for each in found}
    assert devices == {name.decode() for name in column("device_id")}
    assert {each.values["warm"] for each in found} <= {*column("temperature")}
    assert len({each.values["warm"] for each in found}) > 50


def test_numbers_and_lists_are_drawn_from_all_of_their_range():
    query = own(
        parameters={
            "n": ParameterSource(between=(-2, 2)),
            "w": ParameterSource(values=("a", 1, 2.5)),
        }
    )
    found = instances(query)

    assert {each.values["n"] for each in found} == {-2, -1, 0, 1, 2}
    assert {each.values["w"] for each in found} == {"a", 1, 2.5}


def test_a_window_begins_with_a_stored_row_or_at_a_multiple():
    found = instances(own(window_ms=700))
    aligned = instances(own(window_ms=700), aligned=True)

    times = {*column("timestamp")}
    assert all(each.values["start"].value in times for each in found)
    assert all(each.values["end"].value == each.values["start"].value + 700 for each in found)
    assert {each.values["start"].value % 700 for each in aligned} == {0}
    assert len({each.values["start"].value for each in found}) > 50


def test_instances_depend_on_seed_name_and_number_only():
    query = own(parameters={"n": ParameterSource(between=(0, 10**9))}, window_ms=10)
    other = STORED.model_copy(update={"seed": 2})

    assert instances(query, 20) == instances(query, 20)
    values = [each.values["n"] for each in instances(query, 20)]
    assert values != [each.values["n"] for each in instances(query, 20, name="other")]
    assert values != [each.values["n"] for each in instances(query, 20, other)]
    assert len({*values}) == 20


def test_a_query_without_parameters_is_always_the_same():
    assert not make_own_types({"q": own()}, STORED)["q"].varies
    assert make_own_types({"q": own(window_ms=1)}, STORED)["q"].varies


def test_rows_of_other_tables_are_not_drawn_and_nulls_are_passed_over():
    cls = workload_class("trucks")
    params = cls.params_model(scale=20, duration_ms=3_600_000)
    stored = dataset(
        workload="trucks", workload_version=cls.version, params=params.model_dump(mode="json")
    )
    stored = stored.with_ranges([RowRange(start=0, stop=2000, table=1)])
    table = DatasetReader(stored).tables[1]
    nullable = [each.name for each in table.columns if each.nullable][:3]
    assert nullable
    query = own(
        table=table.name, parameters={name: ParameterSource(column=name) for name in nullable}
    )

    for each in instances(query, 60, stored):
        assert None not in each.values.values()
    with pytest.raises(ValueError, match=r"q: found no row of readings"):
        instances(own(table="readings", window_ms=1), 1, stored)


def test_values_are_filled_in_once():
    assert placeholders("{a} {b1} {A} {a:x} {{c}}") == {"a", "b1", "c"}
    assert fill("{a}-{b}", {"a": "{b}", "b": "{a}"}) == "{b}-{a}"
    assert Instant(5).value == 5
