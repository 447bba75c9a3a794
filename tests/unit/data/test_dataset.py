"""Datasets: the same rows whatever the blocks, ranges, parts and lanes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from simulator.data.block import Values
from simulator.data.dataset import Dataset, PartsBy
from simulator.data.query import RowsQuery
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range, merge, share
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.base import Params, Workload
from simulator.data.workloads.iot import Iot
from simulator.errors import ConfigError
from tests.fuzzing import try_cases


class Pair(Workload):
    """Two tables, each with its rows' numbers."""

    name = "pair"
    version = 1
    params_model = Params

    @property
    def tables(self):
        columns = (
            Column("at", Type.INT64, Role.TIME),
            Column("tag", Type.TEXT, Role.TAG),
        )
        return tuple(Table(name, columns, ("at",)) for name in ("left", "right"))

    def draw(self, table, rows):
        tag = np.full(len(rows), table.name.encode())
        data = {"at": Values(rows), "tag": Values(tag)}
        return {column.name: data[column.name] for column in table.columns}

    def queries(self, tables):
        return {}


@pytest.fixture(scope="module", autouse=True)
def _pair():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(WORKLOADS, "pair", Pair)
        yield


def dataset(workload="iot", **changes):
    params = {"devices": 3} if workload == "iot" else {}
    fields = {
        "workload": workload,
        "workload_version": 1,
        "params": params,
        "seed": 1,
        "start_ms": 10**12,
        "primary_key": PrimaryKey.NONE,
        "parts": 1,
    }
    return Dataset(**(fields | changes))


@given(start=st.integers(0, 50), rows=st.integers(1, 200), block_rows=st.integers(1, 60))
@try_cases(50)
def test_with_four_parts_row_r_is_in_part_r_mod_4(start, rows, block_rows):
    reader = DatasetReader(dataset(parts=4))
    found = {}
    for block in reader.blocks([lane_range(1, start, rows)], block_rows):
        for batch in block:
            assert len(batch) <= block_rows
            assert batch.name == f"events{batch.part}"
            found.update(dict.fromkeys(batch.rows.tolist(), batch.part))

    first = LANE_ROWS + start
    assert found == {row: row % 4 for row in range(first, first + rows)}


@pytest.mark.parametrize(("lane", "part"), [(0, 0), (1, 1), (5, 2)])
def test_a_lane_that_is_pinned_fills_the_blocks_of_one_part(lane, part):
    reader = DatasetReader(dataset(parts=3, parts_by=PartsBy.WORKER))
    turns = [*reader.blocks([lane_range(lane, 4, 25)], 10, 5)]

    assert [[(block.part, block.name, len(block)) for block in turn] for turn in turns] == [
        [(part, f"events{part}", rows)] for rows in (10, 10, 5)
    ]
    numbers = [row for (block,) in turns for row in block.rows.tolist()]
    assert numbers == [lane * LANE_ROWS + 4 + place for place in range(25)]


@given(
    rows=st.tuples(st.integers(1, 200), st.integers(1, 200)),
    block_rows=st.integers(1, 8).map(lambda batches: 5 * batches),
    parts=st.sampled_from([1, 4]),
)
@try_cases(50)
def test_tables_of_unequal_size_are_written_in_step(rows, block_rows, parts):
    reader = DatasetReader(dataset("pair", parts=parts))
    ranges = [RowRange(start=7, stop=7 + count, table=t) for t, count in enumerate(rows)]
    found, last = {}, {}
    for turn in reader.blocks(ranges, block_rows, 5):
        for block in turn:
            assert block.data["at"].values().tolist() == block.rows.tolist()
            assert len(block) <= block_rows + 5
            assert last.get(block.name, 5) % 5 == 0  # only the last block ends within a batch
            last[block.name] = len(block)
            found.setdefault(block.table.name, []).extend(block.rows.tolist())
        done = [len(found[name]) / count for name, count in zip(found, rows, strict=True)]
        assert max(done) - min(done) <= max(5 * parts / count for count in rows)

    expected = {n: [*range(7, 7 + c)] for n, c in zip(("left", "right"), rows, strict=True)}
    assert {name: sorted(numbers) for name, numbers in found.items()} == expected


def test_an_empty_range_has_no_blocks():
    assert list(DatasetReader(dataset()).blocks([lane_range(3, 7, 0)])) == []


@given(total=st.integers(0, 10**9), parts=st.integers(1, 1000))
def test_shares_lose_nothing_and_differ_by_one_at_most(total, parts):
    shares = share(total, parts)

    assert sum(shares) == total
    assert len(shares) == parts
    assert max(shares) - min(shares) <= 1


ranges_of_rows = st.lists(
    st.builds(lane_range, st.integers(0, 2), st.integers(0, 30), st.integers(0, 10)), max_size=8
)


@given(ranges=ranges_of_rows)
def test_merged_ranges_are_the_same_rows_in_rising_ranges_apart(ranges):
    found = merge(ranges)
    rows = {row for item in ranges for row in range(item.start, item.stop)}

    assert [row for item in found for row in range(item.start, item.stop)] == sorted(rows)
    assert all(one.stop < other.start for one, other in pairwise(found))


def test_ranges_of_different_lanes_are_never_merged():
    ends, begins = lane_range(0, LANE_ROWS - 2, 2), lane_range(1, 0, 2)

    assert merge([begins, ends]) == (ends, begins)


@pytest.mark.parametrize(
    ("start", "stop"),
    [(3, 2), (0, LANE_ROWS + 1), (LANE_ROWS - 1, LANE_ROWS + 1)],
)
def test_a_range_outside_one_lane_is_refused(start, stop):
    with pytest.raises(ValidationError, match="not a range of rows"):
        RowRange(start=start, stop=stop)


def test_a_lane_ends_after_all_of_its_rows():
    held = dataset().with_ranges([lane_range(0, 0, 10), lane_range(0, 50, 10), lane_range(2, 0, 1)])

    assert held.ends() == {(0, 0): 60, (0, 2): 1}
    assert held.rows == 21


def test_a_dataset_survives_json():
    held = dataset(primary_key=PrimaryKey.CLIENT).with_ranges([lane_range(7, 3, 10)])

    assert Dataset.model_validate_json(held.model_dump_json()) == held


def test_a_dataset_of_another_workload_version_is_refused():
    with pytest.raises(ConfigError, match=rf"version 99 .* version {Iot.version}.*insert again"):
        DatasetReader(dataset(workload_version=99))


def test_an_unknown_workload_names_the_nearest():
    with pytest.raises(ConfigError, match=r"'iott' is not known .*did you mean 'iot'"):
        DatasetReader(dataset(workload="iott", params={}))


def test_a_reader_of_a_key_made_by_the_client_draws_what_it_is_made_of():
    whole = DatasetReader(dataset(primary_key=PrimaryKey.CLIENT))
    (table,), rows = whole.tables, np.arange(20)
    some = whole.narrow([RowsQuery(table, ("id",))]).draw_rows(table, rows)

    assert {*some.data} == {"id", *table.key}
    assert np.array_equal(
        some.data["id"].values(), whole.draw_rows(table, rows).data["id"].values()
    )


@given(
    stride=st.sampled_from([(0, 0), (2, 5), (1, 3)]),
    start=st.integers(0, 50),
    length=st.integers(0, 200),
    offsets=st.lists(st.integers(-5, 300_000), min_size=1, max_size=5),
)
def test_the_places_at_times_are_those_before_which_rows_are_earlier(
    stride, start, length, offsets
):
    take, every = stride
    rows = RowRange(start=start, stop=start + length, take=take, every=every)
    reader = DatasetReader(dataset(ranges=(rows,)))
    times = [reader.time_at(rows, place) for place in range(len(rows))]
    sought = [10**12 + offset for offset in offsets] + times[:1]

    assert reader.places_at(rows, sought).tolist() == [
        sum(time < each for time in times) for each in sought
    ]
