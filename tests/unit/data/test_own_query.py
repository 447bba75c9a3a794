"""Instances of own queries are a pure function of seed, query, rows and number."""

import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.own_query import (
    Instant,
    OwnQuery,
    ParameterSource,
    fill,
    make_own_types,
    placeholders,
)
from simulator.data.ranges import RowRange, lane_range
from simulator.data.schema import Type
from simulator.data.workloads import workload_class
from tests.unit.specs import dataset

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
