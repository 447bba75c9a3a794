"""Several files, folders and patterns make one table."""

import gzip
import os
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import iotbench.rows.files.request as named_files
from iotbench.rows.files.names import table_name
from iotbench.rows.files.request import FilesRequest
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import FileReading, OnError
from simulator.errors import ConfigError
from tests.unit.rows.files.made import written

MAY, JUNE = "t,a,x\n2024-05-01,p,1\n2024-05-02,q,2\n", "x,t,a\n3.5,2024-06-01,r\n"


def test_files_of_one_table_follow_each_other_whatever_the_order_of_columns(prepare):
    file = prepare({"days/may.csv": MAY, "days/june.csv.gz": gzip.compress(JUNE.encode())})

    assert file.values["x"] == [1, 2, 3.5]
    assert file.values["a"] == ["p", "q", "r"]
    assert file.types["x"] == "float64"
    assert len(file.params.files) == 2
    assert file.params.table == "days"


def test_a_row_is_named_with_its_file(refused, prepare):
    files = {"may.csv": MAY, "june.csv": JUNE + "x1,2024-06-02,s\n2\n"}

    assert "june.csv: line 4: expected 3 cells as in the heading, found 1" in refused(files)
    file = prepare(files, on_error=OnError.SKIP)
    assert file.values["x"] == [1, 2, 3.5]
    assert [bad.first[0].partition(" of ")[0] for bad in file.params.bad_cells] == [
        "line 4",
        "line 3",
    ]
    assert "june.csv: 1" in file.params.bad_cells[0].first[0]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("t,a,y\n2024-06-01,r,1\n", "june.csv: lacks 'x', has 'y', unlike"),
        ("t,a\n2024-06-01,r\n", "june.csv: lacks 'x', unlike"),
    ],
)
def test_files_with_other_columns_are_refused(refused, other, reason):
    assert reason in refused({"may.csv": MAY, "june.csv": other})


def test_parquet_files_have_the_types_that_hold_all_their_values(prepare, refused):
    times = pa.array([0, 1], pa.timestamp("us"))
    whole, halves = written(t=times, x=[1, 2]), written(t=times, x=[0.5, None])
    file = prepare({"a.parquet": whole, "b.parquet": halves})

    assert file.values["x"] == [1.0, 2.0, 0.5, None]
    big = written(t=times, x=[2**53 + 1, 2])
    said = refused({"a.parquet": big, "b.parquet": halves})
    assert "a.parquet: column 'x': is int64, and double in other files" in said
    assert "--drop-columns x" in said
    assert "is of another kind" in refused({"a.parquet": whole, "b.csv": "t,x\n2024-05-01,1\n"})


def request(*named):
    return FilesRequest(tuple(named), FileReading(), PrimaryKey.NONE)


def test_folders_and_patterns_mean_their_files_in_order(tmp_path):
    for name in ("b.csv", "a.csv", "c.txt", ".hidden.csv", "_SUCCESS", "deep/d.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(MAY)

    def names(*named):
        return [str(path.relative_to(tmp_path)) for path in request(*named).files()]

    assert names(tmp_path) == ["a.csv", "b.csv", "c.txt", "deep/d.csv"]
    assert names(tmp_path / "*.csv") == [".hidden.csv", "a.csv", "b.csv"]
    assert names(tmp_path / "**" / "[bd].csv") == ["b.csv", "deep/d.csv"]
    assert names(tmp_path / "c.txt", tmp_path / "a.csv") == ["c.txt", "a.csv"]
    (tmp_path / "empty").mkdir()
    wrong = request(
        tmp_path / "empty", tmp_path / "*.tsv", tmp_path / "x.csv", *[tmp_path / "a.csv"] * 2
    )
    with pytest.raises(ConfigError) as caught:
        wrong.check()
    assert [problem.rpartition(": ")[2].partition(";")[0] for problem in caught.value.problems] == [
        "is a folder without files", "no file fits this pattern", "no such file", "is named twice",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "table"),
    [
        (["data.v1.csv"], "data_v1"),
        (["data.v2.csv"], "data_v2"),
        (["Dow Jones.csv.gz"], "dow_jones"),
        (["trips-2024-01.parquet", "trips-2024-02.parquet"], "trips_2024_0"),
        (["days/1.csv", "days/2.csv"], "days"),
        (["days/*.csv"], "days"),
        (["days/trips_*.csv"], "trips"),
        (["days/"], "days"),
        (["_.csv"], "data"),
    ],
)
def test_a_table_is_named_after_what_the_files_share(tmp_path, named, table):
    assert table_name([tmp_path / each for each in named]) == table


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([True, False]), pa.array([5, 0])),
        (pa.array([1, 2]), pa.array(["007", "-0"])),
        (pa.array(["1", "2"]), pa.array([1e22, 0.1])),
        (pa.array([True, False]), pa.array(["1", "0"])),
        (pa.array([1, 2]), pa.array([0, 1], pa.timestamp("us"))),
        (pa.array([1.0, 2.0]), pa.array([Decimal("1234567890123456789.12"), None])),
    ],
)
def test_parquet_values_of_another_type_are_refused_and_not_converted(refused, first, second):
    times = pa.array([0, 1], pa.timestamp("us"))
    files = {"a.parquet": written(t=times, x=first), "b.parquet": written(t=times, x=second)}

    assert "b.parquet: column 'x': is " in refused(files, time="t")


def test_parquet_files_may_lack_values_and_have_times_of_another_zone(prepare):
    plain = written(t=pa.array([0, 1], pa.timestamp("us")), x=pa.array([1, 2]))
    zoned = written(t=pa.array([5, 6], pa.timestamp("us", "Asia/Tokyo")), x=pa.nulls(2))

    file = prepare({"a.parquet": zoned, "b.parquet": zoned})
    assert file.values["x"] == [None] * 4
    file = prepare({"a.parquet": plain, "b.parquet": zoned})
    assert file.values == {"t": [0, 1, 5, 6], "x": [1, 2, None, None]}


def test_a_file_that_is_named_in_two_ways_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = tmp_path / "days"
    days.mkdir()
    (days / "may.csv").write_text(MAY)
    (tmp_path / "link.csv").symlink_to(days / "may.csv")
    (tmp_path / "hard.csv").hardlink_to(days / "may.csv")
    for other in (Path("link.csv"), Path("hard.csv"), days, days / "*.csv"):
        with pytest.raises(ConfigError, match=r"is the same file as days/may.csv; name it"):
            request(Path("days/may.csv"), other).files()


def test_what_cannot_be_read_twice_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "days").mkdir()
    (tmp_path / "days" / "gone.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "kernel.csv").symlink_to("/proc/kmsg")
    unread = "is a pipe, or a file of a device or of the kernel; save its content to a file"
    for named, problem in (
        (tmp_path / "pipe", unread),
        (tmp_path / "kernel.csv", unread),
        (Path("/proc/kmsg"), unread),
        (Path("/dev/zero"), unread),
        (Path("/sys/kernel"), unread),
        (tmp_path / "days", "no such file"),
        (Path("-"), "standard input can be read once only; save it, or name --data-format"),
        (tmp_path / "x" / "a**b*", "no file fits this pattern"),
        (Path("https://example.org/a.csv"), "only files and s3://BUCKET/KEY are read; download it"),
    ):
        with pytest.raises(ConfigError) as caught:
            request(named).files()
        assert {each.rpartition(": ")[2] for each in caught.value.problems} == {problem}
    assert "--data: https://example.org/a.csv: only" in refusal(Path("https://example.org/a.csv"))


def test_a_folder_of_everything_is_refused_and_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(named_files, "_MOST_FILES", 3)
    for name in "abcd":
        (tmp_path / name).write_text(MAY)

    assert "has more than 3 files; name fewer" in refusal(tmp_path)
    assert "has more than 3 files; name fewer" in refusal(tmp_path / "*")


def refusal(named):
    with pytest.raises(ConfigError) as caught:
        request(named).files()
    (problem,) = caught.value.problems
    return problem
