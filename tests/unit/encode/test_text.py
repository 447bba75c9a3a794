"""Text encoders: known bytes, round trips through other people's readers, boundary values."""

import csv
import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.instants import Iso
from simulator.encode.rows import Frame
from simulator.encode.text import CSV, SQL, TSV, Slot, Text

INT64 = np.iinfo(np.int64)


def block(columns, time_unit=TimeUnit.MILLISECOND):
    """Make a batch of {name: (type, data)}."""
    table = Table(
        "t", tuple(Column(n, kind, Role.FIELD) for n, (kind, _) in columns.items()), (), time_unit
    )
    data = {name: data for name, (_, data) in columns.items()}
    count = len(next(iter(data.values())))
    return Block(table, 0, np.arange(count), data)


def encode(batch, text_format, batch_rows=10**6):
    encoder = Text.of(batch.table.columns, batch.table.time_unit, text_format)
    return encoder.encode(batch, batch_rows)


def one(kind, data, text_format=CSV, time_unit=TimeUnit.MILLISECOND):
    (payload,) = encode(block({"x": (kind, data)}, time_unit), text_format)
    return payload


def values(items, dtype, valid=None):
    return Values(np.array(items, dtype), None if valid is None else np.array(valid))


SAMPLE = {
    "i": (Type.INT32, values([1, -20, 3], np.int32)),
    "t": (
        Type.TEXT,
        Coded(np.array([0, 1, 1]), np.array([b"a'b", b'c"\\']), np.array([True, True, False])),
    ),
    "b": (Type.BOOL, values([True, False, True], np.bool_, [True, True, False])),
    "f": (Type.FLOAT32, Coded(np.array([0, 1, 2]), np.array([-0.5, 20.015625, 3], np.float32))),
    "at": (Type.TIMESTAMP, values([1_795_232_700_123, -1, 0], np.int64)),
}


@pytest.mark.parametrize(
    ("text_format", "expected"),
    [
        (
            CSV,
            (
                b"1,a'b,t,-0.500000,2026-11-21 03:45:00.123+00\n"
                b'-20,"c""\\",f,20.015625,1969-12-31 23:59:59.999+00\n'
                b"3,,,3.0000000,1970-01-01 00:00:00.000+00\n"
            ),
        ),
        (
            TSV,
            (
                b"1\ta'b\tt\t-0.500000\t2026-11-21 03:45:00.123+00\n"
                b'-20\tc"\\\\\tf\t20.015625\t1969-12-31 23:59:59.999+00\n'
                b"3\t\\N\t\\N\t3.0000000\t1970-01-01 00:00:00.000+00\n"
            ),
        ),
        (
            SQL,
            (
                b"(1,'a''b',TRUE,-0.500000,'2026-11-21 03:45:00.123+00'),"
                b"(-20,'c\"\\',FALSE,20.015625,'1969-12-31 23:59:59.999+00'),"
                b"(3,NULL,NULL,3.0000000,'1970-01-01 00:00:00.000+00')"
            ),
        ),
    ],
)
def test_the_bytes_are_those_of_the_format(text_format, expected):
    assert encode(block(SAMPLE), text_format) == [expected]


def test_rows_become_statements_of_their_own():
    insert = replace(SQL, payload=Frame(b"INSERT INTO t VALUES ", b",", b";"))
    batch = block({"x": (Type.INT64, values([7, 8, 9], np.int64))})

    assert encode(batch, insert, 1) == [b"INSERT INTO t VALUES (%d);" % i for i in (7, 8, 9)]
    assert encode(batch, insert, 2)[0] == b"INSERT INTO t VALUES (7),(8);"


def test_a_payload_can_hold_many_statements():
    script = replace(SQL, row=Frame(b"INSERT (", b",", b")"), payload=Frame(b"BEGIN;", b";", b";"))

    assert one(Type.BOOL, values([True, False], np.bool_), script) == (
        b"BEGIN;INSERT (TRUE);INSERT (FALSE);"
    )


def test_a_format_that_names_its_columns_is_a_row_of_slots():
    """Objects of JSON lines, in which a NULL drops the whole member."""
    style = replace(SQL.style, null=b"", quote=b'"', true=b"true", false=b"false", instants=None)
    batch = block(
        {
            "at": (Type.TIMESTAMP, values([5, 6], np.int64)),
            "ok": (Type.BOOL, values([True, False], np.bool_, [True, False])),
        }
    )
    at, ok = batch.table.columns
    row = [Slot(at, style, b'{"at":', b"", b""), Slot(ok, style, b',"ok":', b"}\n", b"}\n")]
    encoder = Text(row, Frame(b"", b"", b""), batch.table.time_unit)

    assert encoder.encode(batch, 2) == [b'{"at":5,"ok":true}\n{"at":6}\n']


@pytest.mark.parametrize(
    ("dtype", "items"),
    [
        (np.int16, [-32768, 32767, 0, 9, 10, -9, -10]),
        (np.int32, [-(2**31), 2**31 - 1, 0]),
        (np.int64, [INT64.min, INT64.max, 0, -1, 1]),
        (np.int64, [INT64.min, INT64.min + 1]),
        (np.int64, [INT64.max]),
        (np.int64, [0]),
        (np.int64, [s * 10**e + d for e in range(19) for d in (-1, 0, 1) for s in (1, -1)]),
        (np.int64, [12345678, 12349999, 12340000]),
        (np.int64, [99999999, 100000000]),
    ],
)
def test_integers_are_exact(dtype, items):
    kind = {np.int16: Type.INT16, np.int32: Type.INT32, np.int64: Type.INT64}[dtype]
    codes = np.arange(len(items))
    expected = "".join(f"{item}\n" for item in items).encode()

    assert one(kind, values(items, dtype)) == expected
    assert one(kind, Coded(codes, np.array(items, dtype))) == expected


@given(st.lists(st.integers(INT64.min, INT64.max), min_size=1))
@settings(max_examples=50)
def test_any_integer_is_exact(items):
    assert one(Type.INT64, values(items, np.int64)).split() == [b"%d" % item for item in items]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_read_back_in_single_and_double_precision(dtype):
    info = np.finfo(dtype)
    extremes = [info.max, info.min, info.tiny, info.smallest_subnormal, 0.1, 1e16, 1e-5]
    grid = [-0.0, 0.0, 1013.265625, -19.984375, 34.5, 1e6]
    for items in (extremes, grid):
        array = np.array(items, dtype)
        lines = one(Type.FLOAT64, Values(array)).splitlines()

        assert all(b"." in line or b"e" in line for line in lines)
        read = np.array([float(line) for line in lines])
        np.testing.assert_array_equal(read, array.astype(np.float64))
        np.testing.assert_array_equal(np.signbit(read), np.signbit(array))
        np.testing.assert_array_equal(np.array([dtype(line) for line in lines]), array)


def test_floats_of_a_grid_have_one_width():
    levels = np.arange(-20 * 64, 35 * 64, dtype=np.float32) / np.float32(64)
    lines = one(Type.FLOAT32, Coded(np.arange(3520), levels)).splitlines()

    assert {len(line) for line in lines} == {len("-19.984375")}
    assert all(b"." in line for line in lines)


@pytest.mark.parametrize("unit", TimeUnit)
@pytest.mark.parametrize("style", [Iso(), Iso(b"", b"T", b"+00:00", 9)])
def test_instants_from_year_1_to_9999(unit, style):
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    moments = [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2000, 2, 29, 12, 0, 0, tzinfo=UTC),
    ]
    if unit is not TimeUnit.NANOSECOND:
        moments += [
            datetime.min.replace(tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
        ]
    counts = [(moment - epoch) // timedelta(seconds=1) * unit.per_second for moment in moments]
    last = unit.per_second - 1
    text_format = replace(CSV, style=replace(CSV.style, instants=style))

    lines = one(Type.TIMESTAMP, values([c + last for c in counts], np.int64), text_format, unit)

    decimals = min(len(str(unit.per_second)) - 1, style.decimals)
    fraction = "." + "9" * decimals if decimals else ""
    zone, middle = style.zone.decode(), style.middle.decode()
    expected = [
        f"{m:%Y-%m-%d}".zfill(10) + f"{middle}{m:%H:%M:%S}{fraction}{zone}" for m in moments
    ]
    assert lines.decode().splitlines() == expected


def test_an_instant_in_the_year_10000_is_refused():
    with pytest.raises(ValueError, match="years 1 to 9999"):
        one(Type.TIMESTAMP, values([253_402_300_800], np.int64), time_unit=TimeUnit.SECOND)


def test_what_stands_in_place_of_null_does_not_matter():
    valid = [False, True]
    instants = values([INT64.max, 0], np.int64, valid)
    floats = values([np.nan, 1.5], np.float64, valid)

    assert one(Type.TIMESTAMP, instants) == b"\n1970-01-01 00:00:00.000+00\n"
    assert one(Type.FLOAT64, floats) == b"\n1.5\n"
    assert one(Type.FLOAT64, values([1.5], np.float64, [False]), SQL) == b"(NULL)"


TEXTS = [
    "",
    "x",
    "Grüße, Ωmega 🌡",
    'say "hi"',
    "a,b",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "\\N",
    "\\.",
    " x ",
]
texts = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=1
)


def as_values(items):
    return Values(np.array([item.encode() for item in items]))


def as_coded(items):
    return Coded(np.arange(len(items)), as_values(items).array)


@pytest.mark.parametrize("data", [as_values, as_coded])
@given(items=texts)
@settings(max_examples=50)
def test_csv_reads_back_with_the_csv_module(data, items):
    for sample in (TEXTS, items):
        number = values(range(len(sample)), np.int64)
        batch = block({"i": (Type.INT64, number), "t": (Type.TEXT, data(sample))})
        (payload,) = encode(batch, CSV)
        rows = list(csv.reader(io.StringIO(payload.decode(), newline="")))

        assert rows == [[str(i), text] for i, text in enumerate(sample)]


def test_csv_reads_back_with_arrow():
    """NULL and the empty text also differ."""
    count = len(TEXTS)
    valid = np.arange(count) != 3
    batch = block(
        {
            "i": (Type.INT64, values(np.arange(count) * 100 - 300, np.int64)),
            "t": (Type.TEXT, replace(as_values(TEXTS), valid=valid)),
            "f": (Type.FLOAT64, values(np.arange(count) / 64 - 1, np.float64)),
        }
    )
    (payload,) = encode(batch, CSV)
    table = arrow_csv.read_csv(
        pa.BufferReader(payload),
        read_options=arrow_csv.ReadOptions(column_names=["i", "t", "f"]),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types={"t": pa.string()},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )

    assert table["i"].to_pylist() == [i * 100 - 300 for i in range(count)]
    assert table["t"].to_pylist() == [t if v else None for t, v in zip(TEXTS, valid, strict=True)]
    assert table["f"].to_pylist() == [i / 64 - 1 for i in range(count)]


@given(items=texts)
@settings(max_examples=50)
def test_tsv_escapes_undo(items):
    undo = {b"\\\\": b"\\", b"\\t": b"\t", b"\\n": b"\n", b"\\r": b"\r"}
    for sample in (TEXTS, items):
        lines = one(Type.TEXT, as_values(sample), TSV).split(b"\n")[:-1]
        read = [re.sub(rb"\\.", lambda escape: undo[escape[0]], line).decode() for line in lines]

        assert read == sample


@given(count=st.integers(1, 40), batch_rows=st.integers(1, 50))
@settings(max_examples=50)
def test_pieces_are_the_same_rows_whatever_their_size(count, batch_rows):
    numbers = np.arange(count) * 7
    batch = block(
        {
            "i": (Type.INT64, Values(numbers - 50, numbers % 3 != 0)),
            "t": (Type.TEXT, Coded(numbers % 3, np.array([b"", b"one", b"t,w"]))),
        }
    )
    pieces = encode(batch, CSV, batch_rows)
    values_pieces = encode(batch, SQL, batch_rows)

    assert [piece.count(b"\n") for piece in pieces[:-1]] == [batch_rows] * (len(pieces) - 1)
    assert b"".join(pieces) == b"".join(encode(batch, CSV))
    assert [b",".join(values_pieces)] == encode(batch, SQL)


def test_a_slice_of_a_block_encodes_like_its_rows():
    (whole,) = encode(block(SAMPLE), CSV)

    assert encode(block(SAMPLE).slice(1, 3), CSV) == [b"".join(whole.splitlines(keepends=True)[1:])]


def test_no_rows_make_no_payload():
    assert encode(block(SAMPLE).slice(0, 0), CSV) == []
