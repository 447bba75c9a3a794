"""What is said about a file: its times, columns, NULLs, numbers and lines."""

import bz2
import gzip
import lzma
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from iotbench.rows.files.cells import NULLS
from simulator.data.workloads.file import Nanoseconds, OnError
from tests.unit.rows.files.made import written

ROW = "2024-05-01T00:00:00Z"


def us(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 10**6


NOON = us(2020, 5, 11, 12)


@pytest.mark.parametrize("factor", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("is_parquet", [False, True])
def test_the_unit_of_counts_is_recognised_by_their_range(prepare, factor, is_parquet):
    counts = [NOON * factor // 10**6, (NOON // 10**6 + 60) * factor]
    content = (
        written(ts=counts, x=[1, 2]) if is_parquet else f"ts,x\n{counts[0]},1\n{counts[1]},2\n"
    )
    file = prepare(content, time="ts")

    assert file.values["ts"] == [NOON, NOON + 60 * 10**6]
    assert file.types["ts"] == "timestamp"


@pytest.mark.parametrize(
    ("cell", "unit", "expected_us"),
    [
        ("1589220000.5", "s", 1589220000_500000),
        ("1325317920.0", "s", 1325317920_000000),
        ("1589220000.123456", "s", 1589220000_123456),
        ("-1.5", "s", -1500000),
        ("1589220000000.25", "ms", 1589220000000_250),
        ("1589220000123456", "us", 1589220000123456),
    ],
)
def test_counts_with_fractions_are_times_of_the_named_column(prepare, cell, unit, expected_us):
    file = prepare(
        f"n,ts,x\n1589220000,{cell},15\n1589220001,{cell},25\n", time="ts", time_format=unit
    )

    assert file.values["ts"] == [expected_us] * 2
    assert file.types["n"] == "int64"


FINE = "t,x\n2025-01-01T23:00:00.020643808Z,1\n2025-01-01T23:00:01Z,2\n"


def test_nanoseconds_are_refused_cut_or_kept(prepare, refused):
    whole = us(2025, 1, 1, 23)
    said = refused(FINE)
    assert (
        "line 2, column 't': '2025-01-01T23:00:00.020643808Z' is not a time in microseconds" in said
    )
    assert "--nanoseconds cut or keep" in said

    cut = prepare(FINE, nanoseconds=Nanoseconds.CUT)
    assert cut.values == {"t": [whole + 20643, whole + 10**6], "x": [1, 2]}
    kept = prepare(FINE, nanoseconds=Nanoseconds.KEEP)
    assert kept.values == {"t": [whole + 20643, whole + 10**6], "x": [1, 2], "t_ns": [808, 0]}
    assert kept.types["t_ns"] == "int16"
    said = refused(FINE.replace(",x\n", ",T_ns\n"), nanoseconds=Nanoseconds.KEEP)
    assert "column 't_ns': --nanoseconds keep needs that name; rename the column" in said


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_parquet_is_read_in_a_compressed_file(prepare, pack):
    stored = written(t=pa.array([NOON], pa.timestamp("us")), x=[1])

    file = prepare(pack(stored), name="bars.parquet.gz")
    assert file.values == {"t": [NOON], "x": [1]}
    assert file.params.table == "bars"


def test_nanoseconds_of_parquet_of_counts_and_of_a_format_are_alike(prepare, refused):
    nanos = 1735772400020643808
    stored = written(t=pa.array([nanos], pa.timestamp("ns")), x=[1])
    points = prepare(f"m x=1i {nanos}\n", name="m.lp", nanoseconds=Nanoseconds.KEEP)
    assert points.values == {"time": [nanos // 1000], "x": [1], "time_ns": [808]}
    for content, said in (
        (stored, {}),
        (f"t,x\n{nanos},1\n", {"time": "t", "time_format": "ns"}),
        ("t,x\n01.01.2025 23:00:00.020643808,1\n", {"time_format": "%d.%m.%Y %H:%M:%S.%f"}),
        ("t,x\n1735772400.020643808,1\n", {"time": "t", "time_format": "s"}),
    ):
        assert "(--nanoseconds cut or keep takes it)" in refused(content, **said)
        kept = prepare(content, nanoseconds=Nanoseconds.KEEP, **said)
        assert kept.values == {"t": [nanos // 1000], "x": [1], "t_ns": [808]}


def test_hour_24_is_midnight_of_the_next_day(prepare):
    rows = "2024-02-28 23:00,1\n2024-02-28 24:00,2\n2024-02-29 24:00:00,3\n"
    expected = [us(2024, 2, 28, 23), us(2024, 2, 29), us(2024, 3, 1)]
    assert prepare("t,x\n" + rows).values["t"] == expected


@pytest.mark.parametrize("cell", NULLS)
def test_every_spelling_of_null_is_one_in_a_column_of_numbers(prepare, cell):
    file = prepare(f"t,v,s\n{ROW},1.5,a\n{ROW},{cell},{cell}\n{ROW},2,b\n")

    assert file.values["v"] == [1.5, None, 2.0]
    assert file.values["s"] == ["a", cell or None, "b"]
    assert file.params.bad_cells == ()


def test_own_markers_of_null_hold_for_every_column(prepare, refused):
    content = f"t,v,s\n{ROW},1.5,?\n{ROW},-999,b\n{ROW}, ? ,c\n"

    assert "line 4, column 'v': ' ? ' is not a finite number" in refused(content)
    file = prepare(content, null=("?", "-999"))
    assert file.values["v"] == [1.5, None, None]
    assert file.values["s"] == [None, "b", "c"]


def test_an_integer_that_no_float_is_is_refused_beside_fractions(prepare, refused):
    big = 2**53 + 1
    said = refused(f"t,v\n{ROW},{big}\n{ROW},1.5\n")
    assert f"line 2, column 'v': '{big}' is not kept by a 64-bit float, as this column has" in said
    assert prepare(f"t,v\n{ROW},{big}\n{ROW},15\n").values["v"] == [big, 15]
    assert prepare(f"t,v\n{ROW},{big - 1}\n{ROW},1.5\n").values["v"] == [2.0**53, 1.5]
    assert prepare(f"t,v\n{ROW},{big}\n{ROW},1.5\n", on_error=OnError.TEXT).values["v"] == [
        str(big),
        "1.5",
    ]


@pytest.mark.parametrize("tiny", ["1e-400", "-4.9E-999", "0." + "0" * 330 + "1"])
def test_a_number_that_a_float_makes_zero_is_refused(prepare, refused, tiny):
    said = refused(f"t,v\n{ROW},1.5\n{ROW},{tiny}\n")
    assert "line 3" in said
    assert prepare(f"t,v\n{ROW},1.5\n{ROW},0e-400\n{ROW},-0.00\n").values["v"] == [1.5, 0.0, 0.0]


def test_a_time_is_joined_of_several_columns(prepare, refused):
    content = "Date;Time;v\n16/12/2006;17:24:00;1.5\n16/12/2006;17:25:00;2\n"
    file = prepare(content, time="Date,Time", time_format="%d/%m/%Y %H:%M:%S")
    date, clock = pa.array([19844], pa.date32()), pa.array([36_000], pa.time32("s"))
    parquet_file = prepare(written(v=[1], d=date, c=clock), time="d,c")

    assert file.values == {
        "Date_Time": [us(2006, 12, 16, 17, 24), us(2006, 12, 16, 17, 25)],
        "v": [1.5, 2.0],
    }
    assert parquet_file.values == {"v": [1], "d_c": [us(2024, 5, 1, 10)]}
    assert "no column 'time' (did you mean 'Time'?)" in refused(content, time="Date,time")


def test_a_nested_column_is_left_out_by_the_option_that_the_error_names(prepare, refused):
    content = written(t=pa.array([0], pa.timestamp("us")), nested=[{"a": 1}], **{"a.b": [2]})

    assert "cannot be stored; leave it out with --drop-columns nested" in refused(content)
    assert prepare(content, drop_columns=("nested",)).values == {"t": [0], "a.b": [2]}


@pytest.mark.parametrize(
    ("arrow", "kind", "values"),
    [
        (pa.array([b"caf\xc3\xa9", None], pa.binary()), "text", ["café", None]),
        (pa.array([b"ab", b"cd"], pa.binary(2)), "text", ["ab", "cd"]),
        (pa.array([b"ab", None], pa.large_binary()), "text", ["ab", None]),
        (pa.array([Decimal("12.34"), None]), "float64", [12.34, None]),
        (pa.array([Decimal(12), None], pa.decimal128(18, 0)), "int64", [12, None]),
        (
            pa.array([Decimal("0.1"), Decimal("12.5")], pa.decimal128(38, 18)),
            "float64",
            [0.1, 12.5],
        ),
        (pa.array(np.array([0.5, 65504], np.float16)), "float32", [0.5, 65504.0]),
        (pa.nulls(2), "text", [None, None]),
    ],
)
def test_a_parquet_type_is_stored_as_what_keeps_its_values(prepare, arrow, kind, values):
    file = prepare(written(t=pa.array([0, 1], pa.timestamp("us")), x=arrow))

    assert (file.types["x"], file.values["x"]) == (kind, values)


def test_a_decimal_comma_is_read_where_it_is_said(prepare, refused):
    content = "t;x;n\n2024-05-01;1,5;1\n2024-05-02;-2;2\n2024-05-03;1e3;3\n"

    point = "t;x\n2024-05-01;1,5\n2024-05-02;2\n2024-05-03;1,234\n"
    assert "'1,5' is not a number with a decimal point (--decimal comma reads" in refused(point)
    assert prepare(point, on_error="null").values["x"] == [None, 2.0, None]
    file = prepare(content, decimal_comma=True)
    assert file.values["x"] == [1.5, -2.0, 1000.0]
    assert file.values["n"] == [1, 2, 3]
    said = refused(content + "2024-05-04;1.234;4\n", decimal_comma=True)
    assert "line 5, column 'x': '1.234' is not a number with a decimal comma" in said


def test_lines_above_comments_and_a_lacking_heading_are_no_rows(prepare, refused):
    rows = "2024-05-01,1\n# calibrated, again\n2024-05-02,2\n2024-05-03,x\n"
    content = "Station 5\nmade, by, hand\nt,v\n" + rows

    assert "line 7, column 'v': 'x' is not an integer" in refused(
        content, skip_lines=2, comment="#"
    )
    plain = prepare("# units: K, s\n" + rows[:-13], heading=False, comment="#")
    assert plain.values == {"column_1": [us(2024, 5, 1), us(2024, 5, 2)], "column_2": [1, 2]}
    assert "--no-heading" in refused(rows)
    assert "--comment: expected one character of ASCII" in refused(rows, comment="//")
    assert prepare("sep=;\nt;v\n2024-05-01;1\n").values["v"] == [1]


TWICE = f",t,a,a,v\n0,{ROW},x,y,1\n1,{ROW},x,y,2\n"
SECONDS = "".join(f"{1589220000 + n},1\n" for n in range(9))
ONLY_TEXT = {"delimiter": ";", "skip_lines": 1, "heading": False, "null": ("?",), "comment": "#"}
REFUSED = [
    ("ts,x\n1,1\n2,2\n", {"time": "ts"}, ["the numbers of 'ts' are not times from 1973 to 2099"]),
    ("ts,x\n1,1\n2,2\n", {"time": "ts"}, ["--time-format s, ms, us or ns"]),
    ("v,ts,x\n1,1589220000.5,1\n", {}, ["name the column with the time: ts"]),
    (
        f"ts,x\n{SECONDS}1589220000000,2\n", {"time": "ts"},
        [
            "line 11, column 'ts': '1589220000000' is not",
            "a count of seconds since 1970, from 1973 to 2099 as the first rows",
        ],
    ),
    (
        "ts,x\n1589220000.5,1\nsoon,2\n", {"time": "ts", "time_format": "s"},
        ["line 3, column 'ts': 'soon' is not a count of seconds since 1970"],
    ),
    (
        "ts,x\n2024,1\n2025,2\n", {"time": "ts", "time_format": "%d.%m.%Y"},
        ["line 2, column 'ts': '2024' is not a time in the format %d.%m.%Y"],
    ),
    (
        "t,x\n" + f"{ROW},1\n" * 3 + "2021-05-25 04:55:03 CST,2\n", {},
        ["line 5, column 't': '2021-05-25 04:55:03 CST' is not a timestamp"],
    ),
    (TWICE, {}, ["there are 2 columns of that name; rename all but one, or leave them out"]),
    (TWICE, {"drop_columns": ("b",)}, ["--drop-columns: no column 'b'"]),
    (
        TWICE, {"drop_columns": ("t",), "time": "t"},
        ["--drop-columns: 't' is needed for time or tags"],
    ),
    (TWICE, {"drop_columns": ("a",), "only_columns": ("t",)}, ["leave one out"]),
    (
        written(t=pa.array([0], pa.timestamp("us"))), ONLY_TEXT,
        ["--delimiter: ", "--comment: ", "--skip-lines: ", "--no-heading: ", "--null: "],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "options", "reasons"), REFUSED)
def test_what_cannot_be_read_is_refused(refused, content, options, reasons):
    said = refused(content, **options)

    assert [reason for reason in reasons if reason not in said] == []


def test_columns_are_left_out_or_chosen(prepare):
    assert list(prepare(TWICE, drop_columns=("a", "column_1")).values) == ["t", "v"]
    assert list(prepare(TWICE, only_columns=("v", "t")).values) == ["t", "v"]
