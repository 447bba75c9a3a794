"""What is left of a dataset whose rows are corrected and deleted by their time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Texts, Values, replace
from simulator.data.changes import correct, in_unit, portion, retags_of, since, update_tags
from simulator.data.query import OneOf, Selection
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey, TimeUnit
from simulator.data.workloads import workload_class
from tests.unit import specs

ROWS = 200


def made(workload="iot", ranges=(), **params):
    cls = workload_class(workload)
    return specs.dataset(
        workload=cls.name,
        workload_version=cls.version,
        params=params,
        seed=5,
        start_ms=10**12,
        primary_key=PrimaryKey.CLIENT,
        ranges=ranges or (RowRange(start=0, stop=ROWS),),
    )


def drawn(dataset, item=None, place=0):
    reader = DatasetReader(dataset)
    item = item or dataset.ranges[0]
    block = reader.draw_rows(reader.tables[place], item.numbers())
    return {name: column.values().tolist() for name, column in block.data.items()}


strides = st.builds(
    lambda start, rows, take, more: RowRange(
        start=start, stop=start + rows, take=take, every=take + more
    ),
    st.integers(0, 50), st.integers(1, 300), st.integers(1, 7), st.integers(1, 9),
)  # fmt: skip


@given(strides, st.integers(-10, 2000))
def test_exactly_the_rows_before_a_time_are_gone(item, seconds):
    dataset = made(ranges=(item, RowRange(start=LANE_ROWS, stop=LANE_ROWS + 20)), tick_ms=1000)
    begin_ms = 10**12 + seconds * 1000 + 1
    left = since(dataset, begin_ms)
    for one in dataset.ranges:
        numbers, times = one.numbers(), drawn(dataset, one)["timestamp"]
        kept = {n for n, time in zip(numbers.tolist(), times, strict=True) if time >= begin_ms}
        assert {*numbers[left.holds(0, numbers)].tolist()} == kept
    assert since(left, begin_ms) == left


@pytest.mark.parametrize(
    ("time_ms", "unit", "expected"),
    [(1500, TimeUnit.SECOND, 2), (2000, TimeUnit.SECOND, 2), (-1500, TimeUnit.SECOND, -1),
     (1500, TimeUnit.MILLISECOND, 1500), (2, TimeUnit.NANOSECOND, 2_000_000)],
)  # fmt: skip
def test_a_time_is_the_first_instant_that_is_not_before_it(time_ms, unit, expected):
    assert in_unit(time_ms, unit) == expected


@pytest.mark.parametrize("workload", ["iot", "cpu"])
def test_corrected_rows_differ_in_their_fields_alone(workload):
    before = made(workload)
    changed = correct(before, [RowRange(start=0, stop=ROWS, take=1, every=4)])
    old, new = drawn(before), drawn(changed)
    table = DatasetReader(before).tables[0]
    fields = {column.name for column in table.fields}
    at = np.arange(ROWS) % 4 == 0
    for name in old:
        pairs = np.array(old[name]), np.array(new[name])
        same = pairs[0] == pairs[1]
        assert same[~at].all(), name
        assert same.all() != (name in fields), name
    assert set(old["id"]) == set(new["id"])


def test_the_last_correction_of_a_row_counts_and_parts_of_a_block_agree_with_the_whole():
    once = correct(made(), [RowRange(start=0, stop=100)])
    twice = correct(once, [RowRange(start=50, stop=150)])
    fields = {each.name for each in DatasetReader(once).tables[0].fields}
    first, second = drawn(once), drawn(twice)
    for name in fields:
        assert first[name][:50] == second[name][:50]
        assert first[name][50:100] != second[name][50:100]
        assert first[name][150:] == second[name][150:]
        piece = drawn(twice, RowRange(start=60, stop=90))
        assert piece[name] == second[name][60:90]


def test_a_reader_of_some_columns_draws_the_same_corrections():
    dataset = correct(made(), [RowRange(start=0, stop=50)])
    reader = DatasetReader(dataset)
    (query,) = [q for n, q in reader.queries().items() if n == "temperature-min-max"]
    (table,) = reader.narrow([query]).tables
    block = reader.narrow([query]).draw_rows(table, np.arange(ROWS))
    assert block.data["temperature"].values().tolist() == drawn(dataset)["temperature"]


@given(st.lists(strides, min_size=1, max_size=3), st.floats(0.001, 0.999))
def test_a_portion_is_rows_of_the_ranges_and_about_as_many_as_wanted(ranges, share):
    shifted = [
        item.model_copy(update={"start": item.start + n * 1000, "stop": item.stop + n * 1000})
        for n, item in enumerate(ranges)
    ]
    found = portion(shifted, share)
    rows = sum(map(len, shifted))
    every = round(1 / share)
    assert rows // every - len(ranges) <= sum(map(len, found)) <= rows // every + len(ranges)
    assert all(any(piece in item for item in shifted) for piece in found)


KINDS = {
    "values": (Values(np.array([1.5, 2.5, 3.5])), Values(np.array([9.5]))),
    "coded": (
        Coded(np.array([0, 1, 0]), np.array([b"a", b"b"])),
        Coded(np.array([0]), np.array([b"longer"])),
    ),
    "texts": (
        Texts(np.frombuffer(b"abbccc", np.uint8), np.array([0, 1, 3]), np.array([1, 2, 3])),
        Texts(np.frombuffer(b"xyz!", np.uint8), np.array([1]), np.array([3])),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_replaced_values_of_a_column(kind):
    column, new = KINDS[kind]
    expected = column.values().tolist()
    expected[1] = new.values().tolist()[0]
    found = replace(column, np.array([1]), new)
    assert found.values().tolist() == expected
    assert found.valid is None
    assert replace(column.take(np.array([1])), np.array([0]), new) is new


def test_null_takes_the_place_of_a_value_and_a_value_that_of_null():
    column = Values(np.array([1, 2, 3]), np.array([True, False, True]))
    found = replace(column, np.array([0, 1]), Values(np.array([7, 8]), np.array([False, True])))
    assert found.valid.tolist() == [False, True, True]
    assert found.values().tolist()[1:] == [8, 3]
    plain = replace(Values(np.array([1, 2])), np.array([0]), Values(np.array([5])))
    assert plain.valid is None


def fleet(**params):
    return made("cpu", (RowRange(start=0, stop=60),), scale=6, **params)


def test_tags_of_some_series_are_updated_to_values_that_the_table_may_hold():
    before = fleet()
    (retag,) = retags_of(before, 0.5)
    assert (retag.tag, retag.by, len(retag.values)) == ("region", "hostname", 3)
    old, new = drawn(before), drawn(update_tags(before, [retag]))
    for row, name in enumerate(old["hostname"]):
        wanted = retag.values.get(name.decode(), old["region"][row].decode())
        assert new["region"][row].decode() == wanted
        assert (new["region"][row] != old["region"][row]) == (name.decode() in retag.values)
        assert new["region"][row] in old["region"]
    assert {n: v for n, v in old.items() if n != "region"} == {
        n: v for n, v in new.items() if n != "region"
    }


def test_a_reader_without_the_name_of_the_series_knows_updated_tags_all_the_same():
    dataset = update_tags(fleet(), retags_of(fleet(), 0.5))
    reader = DatasetReader(dataset)
    table = reader.tables[0].only({"region"})
    reader.tables = (table,)
    block = reader.draw_rows(table, np.arange(60))
    assert {*block.data} == {"region", "time"}
    assert block.data["region"].values().tolist() == drawn(dataset)["region"]


def test_rows_are_not_named_by_the_value_of_a_tag_that_was_updated():
    before = fleet()
    changed = DatasetReader(update_tags(before, retags_of(before, 0.5)))
    (table,) = changed.tables
    by_host = Selection(one_of=(OneOf("hostname", ("host_1",)),))
    by_region = Selection(one_of=(OneOf("region", ("eu-central-1",)),))
    assert changed.candidates(table, by_host) is not None
    assert changed.candidates(table, by_region) is None


def test_without_a_tag_beside_the_name_of_the_series_there_is_no_update():
    assert retags_of(made(), 0.5) == []
    assert retags_of(made("cpu", (RowRange(start=0, stop=9),), scale=1), 0.5) == []
