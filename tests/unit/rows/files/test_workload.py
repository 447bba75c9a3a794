"""A user's file: types, roles, refusals, and rows that are those of the file."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from iotbench.rows.files.columns import MAX_LEVELS, MAX_TEXT_BYTES
from iotbench.rows.files.prepare import prepare_file, reopen
from iotbench.rows.files.request import FilesRequest, conflicts
from simulator.data.block import Coded, Values
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey, Role, Type
from simulator.data.workloads.file import File, FileReading
from simulator.errors import ConfigError
from tests.unit import specs

MINUTES = [dt.datetime(2024, 1, 1, 9, minute, tzinfo=dt.UTC) for minute in range(5)]
INSTANTS = pa.array([0, 1, 2, 3, 4], pa.timestamp("s"))


@pytest.mark.parametrize(
    ("arrow", "stored"),
    [
        (pa.array([-128, 127, None], pa.int8()), Type.INT16),
        (pa.array([0, 255, None], pa.uint8()), Type.INT16),
        (pa.array([-(2**15), None, 2**15 - 1], pa.int16()), Type.INT16),
        (pa.array([0, 2**16 - 1, 1], pa.uint16()), Type.INT32),
        (pa.array([-(2**31), 2**31 - 1, None], pa.int32()), Type.INT32),
        (pa.array([0, 2**32 - 1, 1], pa.uint32()), Type.INT64),
        (pa.array([-(2**63), 2**63 - 1, None], pa.int64()), Type.INT64),
        (pa.array([0, 2**63 - 1, None], pa.uint64()), Type.INT64),
        (pa.array([0.1, -3.4e38, None], pa.float32()), Type.FLOAT32),
        (pa.array([0.1, -1e300, None], pa.float64()), Type.FLOAT64),
        (pa.array([True, False, None], pa.bool_()), Type.BOOL),
        (pa.array(["", "é", None], pa.string()), Type.TEXT),
        (pa.array(["a", "a\nb", None], pa.large_string()), Type.TEXT),
        (pa.array(["a", "b", None]).dictionary_encode(), Type.TEXT),
    ],
)
def test_a_type_is_stored_without_loss(prepare, arrow, stored):
    file = prepare(pa.table({"t": INSTANTS.slice(0, 3), "x": arrow}))

    assert file.params.columns[1].type is stored
    assert file.params.columns[1].nullable == (None in arrow.to_pylist())
    assert file.values["x"] == arrow.to_pylist()


@pytest.mark.parametrize(
    "instants",
    [
        pa.array(MINUTES, pa.timestamp("s", "UTC")),
        pa.array(MINUTES, pa.timestamp("ms")),
        pa.array(MINUTES, pa.timestamp("us", "America/New_York")),
        pa.array(MINUTES, pa.timestamp("ns")),
    ],
)
def test_an_instant_is_microseconds_in_utc(prepare, instants):
    file = prepare(pa.table({"t": instants}))

    assert file.types["t"] == "timestamp"
    assert file.values["t"] == [int(minute.timestamp()) * 10**6 for minute in MINUTES]


def test_a_date_is_its_midnight(prepare):
    file = prepare(pa.table({"t": pa.array([dt.date(1970, 1, 2)])}))

    assert file.values["t"] == [86_400_000_000]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([2**63], pa.uint64()), "row 1, column 'x y': an integer beyond 2**63 - 1"),
        (pa.array([Decimal("0.12345678901234567")]), "not a decimal that a 64-bit float keeps"),
        (pa.array([b"\xff"], pa.binary()), "row 1, column 'x y': b'\\xff' is not valid UTF-8"),
        (pa.array([1], pa.time32("ms")), "time32[ms] cannot be stored"),
        (pa.array([10**18], pa.timestamp("us")), "outside the years"),
        (pa.array([float("nan")]), "row 1, column 'x y': nan is not a finite number"),
        (pa.array([float("inf")], pa.float32()), "row 1, column 'x y': inf is not a finite number"),
        (pa.array(["a\0"]), "row 1, column 'x y': a NUL byte"),
        (pa.array(["a" * (MAX_TEXT_BYTES + 1)]), "row 1, column 'x y': a text of more than"),
        (
            pa.StringArray.from_buffers(1, *pa.array([b"\xff"]).buffers()[1:]),
            "row 1, column 'x y': b'\\xff' is not valid UTF-8",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(refused, column, expected):
    said = refused(pa.table({"t": INSTANTS.slice(0, 1), "x y": column}), time="t")

    assert "column 'x y'" in said
    assert expected in said


def test_all_problems_of_a_heading_are_reported_at_once(refused):
    said = refused(
        pa.table([INSTANTS] * 4, ["id", "t", "T", " "]),
        time="tt",
        tags=("t", "tag"),
        primary_key=PrimaryKey.DB,
    )

    assert "there are 2 columns of that name" in said
    assert "--primary-key none" in said
    assert "--time-column: no column 'tt'" in said
    assert "--tags: 't' is timestamp; expected text or numbers" in said
    assert "--tags: no column 'tag'" in said


def test_a_column_may_be_called_id_where_there_is_no_primary_key(prepare):
    assert [*prepare(pa.table({"id": INSTANTS})).values] == ["id"]


def test_the_time_is_the_only_timestamp_or_the_one_named(prepare, refused):
    both = pa.table({"a": INSTANTS, "b": INSTANTS, "n": pa.array(range(5), pa.int16())})

    assert "found several (a, b)" in refused(both)
    assert "the numbers of 'x' are not times from 1973 to 2099" in refused(
        pa.table({"a": INSTANTS, "x": [0.5] * 5}), time="x"
    )
    assert "the file has none (x is float64)" in refused(pa.table({"x": [0.5] * 5}))
    roles = {
        c.name: (c.role, c.type) for c in prepare(both, time="n", time_format="s").params.columns
    }
    assert roles["n"] == (Role.TIME, Type.TIMESTAMP)
    assert roles["a"] == (Role.FIELD, Type.TIMESTAMP)


def test_every_row_needs_a_time(refused):
    instants = pa.array([0, None], pa.timestamp("s"))

    assert "row 2, column 't': no value is not a time" in refused(pa.table({"t": instants}))


def test_a_parquet_file_without_rows_is_refused(refused):
    assert "bars.parquet: has no rows" in refused(pa.table({"t": INSTANTS.slice(0, 0)}))


def big(rows):
    """A table of several portions with NULLs, few and many different texts."""
    numbers = np.arange(rows)
    return pa.table(
        {
            "t": pa.array(numbers, pa.timestamp("s")),
            "price": pa.array(numbers / 3, mask=numbers % 7 == 3),
            "host": pa.array([f"host-{n % 100}" if n % 11 else None for n in range(rows)]),
            "note": pa.array(["" if n % 5 == 0 else f"note {n}" for n in range(rows)]),
        }
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_drawn_rows_are_the_file_s_whatever_the_range(prepare, suffix, tmp_path):
    rows = MAX_LEVELS + 30_000
    table = big(rows)
    content = table
    if suffix == "csv":
        csv.write_csv(table, tmp_path / "bars.csv")  # NULL is an empty cell, "" is quoted
        content = (tmp_path / "bars.csv").read_bytes()
    file = prepare(content, tags=("host",))
    coded = {column.name: column.coded for column in file.params.columns}
    assert coded == {"t": False, "price": False, "host": True, "note": False}
    for numbers in ([0], [rows - 1], range(rows), range(3, rows, 4), range(65_530, 65_550)):
        expected = table.take(pa.array(numbers)).drop_columns("t").to_pydict()
        assert file.draw(numbers) == {"t": [n * 10**6 for n in numbers], **expected}


def test_values_of_a_file_are_its_cells_without_nulls(prepare, monkeypatch):
    monkeypatch.setattr("simulator.data.workloads.file._COUNTED_ROWS", 1000)
    table = big(5000)
    reader = DatasetReader(stored(prepare(table).params))
    for item in (
        RowRange(start=0, stop=5000),
        RowRange(start=17, stop=2500),
        RowRange(start=3, stop=5000, take=20, every=80),
    ):
        taken = table.take(pa.array(item.numbers()))
        nulls = sum(taken[name].null_count for name in taken.column_names)
        assert nulls > 0
        assert reader.values([item]) == 4 * len(item) - nulls


def test_levels_are_one_array_for_all_batches(prepare):
    file = prepare(big(100), tags=("host",)).workload
    first, second = (file.draw(file.tables[0], np.array([row]))["host"] for row in (1, 50))

    assert isinstance(first, Coded)
    assert first.levels is second.levels
    assert isinstance(file.draw(file.tables[0], np.array([1]))["price"], Values)


def test_the_key_is_tags_and_time_if_no_two_rows_agree_in_them(prepare):
    twice = pa.table({"t": INSTANTS.take(pa.array([0, 0, 1])), "tag": ["a", "b", "a"]})

    assert prepare(twice).workload.tables[0].key == ()
    assert prepare(twice, tags=("tag",)).workload.tables[0].key == ("tag", "t")
    null = pa.table({"t": INSTANTS.slice(0, 2), "tag": ["a", None]})
    assert prepare(null, tags=("tag",)).workload.tables[0].key == ()


def test_a_key_made_by_the_client_needs_rows_that_differ_when_written_out(prepare, refused):
    time, tags = pa.array([11, 1]), ["a", "a1"]
    twice = pa.table({"t": pa.array([1, 1])})

    said = refused(twice, time="t", time_format="us", primary_key=PrimaryKey.CLIENT)
    assert "needs (t) to be different in every row" in said
    said = refused(
        pa.table({"t": time, "tag": tags}),
        time="t",
        time_format="us",
        tags=("tag",),
        primary_key=PrimaryKey.CLIENT,
    )
    assert "(t, tag), concatenated, are equal for two rows" in said
    alone = pa.table({"t": time})
    file = prepare(alone, time="t", time_format="us", primary_key=PrimaryKey.CLIENT)
    assert file.params.unique


def test_queries_follow_from_the_columns(prepare):
    table = pa.table(
        {
            "t": INSTANTS,
            "site": ["a", "b", "a", "b", "a"],
            "huge": pa.array([2**62] * 5),
            "on": [True] * 5,
            "x": [0.5] * 5,
            "y": pa.array(range(5)),
            "z": pa.array(range(5)),
        }
    )
    tagged = prepare(table, tags=("site",)).workload
    assert list(tagged.queries(tagged.tables)) == [
        *("count-bars", "x-min-max", "x-stats", "x-stats-per-site"),
        *("y-min-max", "y-stats", "y-stats-per-site", "newest-per-site"),
    ]
    plain = prepare(table).workload
    assert list(plain.queries(plain.tables)) == [
        *("count-bars", "x-min-max", "x-stats", "y-min-max", "y-stats")
    ]


def test_options_that_a_file_rules_out_are_all_reported():
    given = {"--data": "x.csv", "--seed": 1, "--steps": 2, "--clean": False, "--batch": 5}

    problems = conflicts(given)
    assert [problem.split(":")[0] for problem in problems] == ["--steps", "--seed", "--no-clean"]
    assert conflicts({"--data": "x.csv", "--clean": True}) == []
    assert [p.split(":")[0] for p in conflicts({"--tags": "a"})] == ["--tags"]


def stored(params):
    """A dataset as a result file holds it."""
    dataset = specs.dataset(
        workload=File.name,
        workload_version=File.version,
        params=params.model_dump(mode="json"),
        seed=0,
    )
    return Dataset.model_validate_json(json.dumps(dataset.model_dump(mode="json")))


def test_a_stored_file_is_reopened_as_it_was(tmp_path):
    path = tmp_path / "bars.parquet"
    parquet.write_table(big(50), path)
    request = FilesRequest((path,), FileReading(tags=("host",)), PrimaryKey.NONE)
    with prepare_file(request, quiet=True) as params:
        before = stored(params)
    with reopen(before, quiet=True) as dataset:
        (table,) = DatasetReader(dataset).tables
        assert [tag.name for tag in table.tags] == ["host"]

    parquet.write_table(big(51), path)
    with pytest.raises(ConfigError, match="has changed"), reopen(before, quiet=True):
        pass
    path.unlink()
    with (
        pytest.raises(ConfigError, match="no such file: the answers cannot"),
        reopen(before, quiet=True),
    ):
        pass
