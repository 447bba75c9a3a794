"""Declared tables: values are functions of the row, as frequent as declared, and tags stay."""

import numpy as np
import pytest

from iotbench.measurements.insert.workload_file import read_workload
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.data.walks import Precision
from tests.unit.specs import dataset

ROWS = 60_000
TEXT = """
duration: 600s
tables:
  meters:
    series: 100
    interval: 1s
    tags:
      meter:
      site: {values: [north, south], weights: [9, 1]}
      zone: {count: 7, name: "z{}"}
    fields:
      normal: {type: float64, normal: [230, 15], step: 0.125}
      exponential: {type: float32, exponential: 3}
      uniform: {type: float64, uniform: [-1, 1]}
      grid: {type: float64, uniform: [0, 1], step: 0.25}
      whole: {type: int32, uniform: [-5, 5]}
      rounded: {type: int16, normal: [0, 1e9]}
      listed: {type: int64, values: [1, 20, 300], weights: [1, 0, 3]}
      flag: {type: bool, true_share: 30%}
      state: {type: text, values: [idle, busy]}
      note: {type: text, length: [0, 8], distinct: 50, nulls: 25%}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    path = tmp_path_factory.mktemp("declared") / "meters.yaml"
    path.write_text(TEXT)
    params = read_workload(str(path)).model_dump(mode="json")
    return DatasetReader(dataset(workload="declared", params=params))


@pytest.fixture(scope="module")
def block(reader):
    return reader.draw_rows(reader.tables[0], np.arange(ROWS))


def values(block, name):
    return block.data[name].values()


def test_a_row_is_the_same_however_it_is_drawn(reader, block):
    table = reader.tables[0]
    few = np.array([7, 8, 9999, 40_000])
    alone = reader.draw_rows(table.only({"normal", "note"}), few)
    turns = [
        each for turn in reader.blocks([RowRange(start=0, stop=ROWS)], 640, 64) for each in turn
    ]

    assert reader.sizes == (ROWS,)
    for name in ("normal", "note"):
        assert (alone.data[name].values() == values(block, name)[few]).all()
    for column in table.columns:
        together = np.concatenate([each.data[column.name].values() for each in turns])
        assert (together == values(block, column.name)).all(), column.name


def test_each_series_keeps_its_tags_and_has_a_row_in_each_interval(reader, block):
    table = reader.tables[0]
    assert table.key == ("meter", "time")
    assert len(np.unique(values(block, "meter"))) == 100
    assert values(block, "meter")[3] == values(block, "meter")[103] == b"meter-03"
    assert np.diff(values(block, "time")[::100]).tolist() == [1000] * 599
    for name in ("site", "zone"):
        assert (values(block, name)[:100] == values(block, name)[-100:]).all()
    assert set(values(block, "zone")) <= {b"z%d" % number for number in range(7)}
    assert 70 <= np.count_nonzero(values(block, "site")[:100] == b"north") <= 99


def test_values_are_as_frequent_as_declared(block):
    normal, flag = values(block, "normal"), values(block, "flag")
    assert abs(normal.mean() - 230) < 0.5
    assert abs(normal.std() - 15) < 0.5
    assert (normal % 0.125 == 0).all()
    assert abs(values(block, "exponential").mean() - 3) < 0.1
    assert -1 <= values(block, "uniform").min() < -0.99
    assert 0.99 < values(block, "uniform").max() < 1
    assert np.unique(values(block, "grid")).tolist() == [0, 0.25, 0.5, 0.75]
    assert np.unique(values(block, "whole")).tolist() == [*range(-5, 6)]
    assert (values(block, "rounded").min(), values(block, "rounded").max()) == (-32768, 32767)
    assert np.unique(values(block, "listed")).tolist() == [1, 300]
    assert abs((values(block, "listed") == 1).mean() - 0.25) < 0.02
    assert abs(flag.mean() - 0.3) < 0.02
    note = block.data["note"]
    assert abs(note.valid.mean() - 0.75) < 0.02
    assert 40 <= len(np.unique(note.present())) <= 50
    assert max(map(len, note.present().tolist())) == 8


def test_columns_say_whether_sums_are_exact_and_how_long_texts_are(reader):
    columns = {column.name: column for column in reader.tables[0].columns}
    exact = {
        name for name, c in columns.items() if c.type in (Type.FLOAT32, Type.FLOAT64) and c.exact
    }

    assert exact == {"normal", "grid"}
    assert columns["state"].max_characters == 4
    assert columns["note"].nullable
    assert reader.precision is Precision.FULL


def test_queries_fit_the_table(reader):
    assert {*reader.query_types()} == {
        "count", "normal-min-max", "normal-stats", "normal-stats-per-site",
        "exponential-min-max", "exponential-stats", "exponential-stats-per-site",
        "newest-per-series", "newest-of-one-series",
    }  # fmt: skip


SKEWED = """
duration: 600s
tables:
  meters:
    series: 100
    interval: 1s
    {skew}
    tags: {{meter: , zone: {{count: 5}}}}
    fields: {{watts: {{type: float64, uniform: [0, 1], step: 0.25}}}}
"""


def skewed(tmp_path, skew):
    path = tmp_path / "skewed.yaml"
    path.write_text(SKEWED.format(skew=skew))
    params = read_workload(str(path)).model_dump(mode="json")
    return DatasetReader(dataset(workload="declared", params=params))


@pytest.mark.parametrize("skew", ["zipf: 0.99", "hotspot: [10%, 90%]", "latest: 1.2"])
def test_rows_of_a_skewed_table_draw_their_series_each_at_a_time_of_its_own(tmp_path, skew):
    reader = skewed(tmp_path, skew)
    (table,) = reader.tables
    block = reader.draw_rows(table, np.arange(ROWS))
    few = np.array([7, 8, 9999, 40_000])

    assert (reader.sizes, reader.series(0), table.distinct_times) == ((ROWS,), 0, True)
    assert values(block, "time").tolist() == [*range(0, 600_000, 10)]
    for column in table.columns:
        alone = reader.draw_rows(table, few).data[column.name].values()
        assert (alone == values(block, column.name)[few]).all(), column.name
    pairs = {*zip(values(block, "meter").tolist(), values(block, "zone").tolist(), strict=True)}
    assert len(pairs) == 100  # a series keeps its tags


def test_a_skewed_table_has_no_row_after_its_duration(tmp_path):
    reader = skewed(tmp_path, "zipf: 1\n    time: at").sizes
    odd = skewed(tmp_path, "zipf: 1").tables[0]
    assert reader == (ROWS,)
    path = tmp_path / "odd.yaml"
    path.write_text(SKEWED.format(skew="zipf: 1").replace("interval: 1s", "interval: 7s"))
    params = read_workload(str(path)).model_dump(mode="json")
    read = DatasetReader(dataset(workload="declared", params=params))
    (size,) = read.sizes
    last = read.draw_rows(read.tables[0], np.array([size - 1])).data[odd.time.name].values()

    assert (size, 599_900 <= last[0] < 600_000) == (8572, True)


@pytest.mark.parametrize(
    ("skew", "often"), [("zipf: 1", 0), ("hotspot: [1%, 90%]", 0), ("latest: 1", 99)]
)
def test_a_query_about_one_series_asks_the_frequent_ones_more_often(tmp_path, skew, often):
    one = skewed(tmp_path, skew).query_types()["newest-of-one-series"]
    (asked,) = zip(*(one.instance(n).selection.one_of for n in range(500)), strict=True)
    names = [each.values[0] for each in asked]
    even = skewed(tmp_path, "time: time").query_types()["newest-of-one-series"]
    evenly = [even.instance(n).selection.one_of[0].values[0] for n in range(500)]

    assert max(set(names), key=names.count) == f"meter-{often:02d}"
    assert names.count(f"meter-{often:02d}") > 70
    assert max(map(evenly.count, evenly)) < 20


def test_files_without_a_skew_have_the_digest_that_they_had(tmp_path):
    path = tmp_path / "old.yaml"
    path.write_text("duration: 1m\ntables: {t: {series: 1, interval: 1s, fields: {f: {type: bool,"
                    " true_share: 0.5}}}}\n")  # fmt: skip

    assert read_workload(str(path)).digest == "37f832a2f238"
