"""Text encoders: known bytes, round trips through other people's readers, boundary values."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.schema import TimeUnit, Type
from simulator.encode.numbers import Iso
from simulator.encode.rows import Frame
from simulator.encode.text import CSV, SQL, TSV, TextEncoder
from tests.fuzzing import try_cases
from tests.unit.encode.blocks import block

INT64 = np.iinfo(np.int64)


def encode(batch, text_format, batch_rows=10**6):
    encoder = TextEncoder.of(batch.table.columns, batch.table.time_unit, text_format)
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
@try_cases(50)
def test_csv_reads_back_with_the_csv_module(data, items):
    for sample in (TEXTS, items):
        number = values(range(len(sample)), np.int64)
        batch = block({"i": (Type.INT64, number), "t": (Type.TEXT, data(sample))})
        (payload,) = encode(batch, CSV)
        rows = list(csv.reader(io.StringIO(payload.decode(), newline="")))

        assert rows == [[str(i), text] for i, text in enumerate(sample)]
