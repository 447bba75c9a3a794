"""BSON, beside what the driver's own encoder and decoder make of it."""

import bson
import numpy as np
import pytest
from bson.codec_options import CodecOptions, DatetimeConversion
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.schema import TimeUnit, Type
from simulator.encode.bson import DOCUMENT_BYTES, Bson, BsonField, Constant, Embedded
from simulator.errors import UnstorableError
from tests.fuzzing import try_cases
from tests.unit.encode.blocks import block

PLAIN = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)


def fields(batch, **how):
    return [BsonField(column.name, column, **how) for column in batch.table.columns]


def encode(batch, layout, batch_rows=10**6):
    return Bson(layout, batch.table.time_unit).encode(batch, batch_rows)


def read_back(kind, data, time_unit=TimeUnit.MILLISECOND, **how):
    batch = block({"x": (kind, data)}, time_unit)
    (content,) = encode(batch, fields(batch, **how))
    return bson.decode_all(content, PLAIN)


def texts(*items):
    return np.array([item.encode() for item in items])


def test_what_the_drivers_own_encoder_makes_is_made_here():
    rows = 1000
    batch = block(
        {
            "timestamp": (Type.INT64, Values(np.arange(rows) + 1_795_232_700_000)),
            "device": (Type.TEXT, Coded(np.arange(rows) % 3, texts("a", "", "東京 🏭"))),
            "value": (Type.FLOAT32, Values(np.arange(rows, dtype=np.float32) / 64)),
            "on": (Type.BOOL, Values(np.arange(rows) % 2 == 0)),
        }
    )
    expected = [
        bson.encode(
            {
                "timestamp": bson.Int64(1_795_232_700_000 + row),
                "device": ("a", "", "東京 🏭")[row % 3],
                "value": row / 64,
                "on": row % 2 == 0,
            }
        )
        for row in range(rows)
    ]
    assert encode(batch, fields(batch), 300) == [
        b"".join(expected[start : start + 300]) for start in range(0, rows, 300)
    ]


@pytest.mark.parametrize(
    ("kind", "dtype", "code"),
    [
        (Type.INT16, np.int16, 0x10),
        (Type.INT32, np.int32, 0x10),
        (Type.INT64, np.int64, 0x12),
        (Type.TIMESTAMP, np.int64, 0x12),
    ],
)
def test_integers_keep_their_extremes(kind, dtype, code):
    info = np.iinfo(dtype)
    values = np.array([info.min, -1, 0, 1, info.max], dtype)
    batch = block({"x": (kind, Values(values))})
    (content,) = encode(batch, fields(batch))
    assert content[4] == code
    assert [document["x"] for document in bson.decode_all(content)] == values.tolist()


@pytest.mark.parametrize(("kind", "dtype"), [(Type.FLOAT32, np.float32), (Type.FLOAT64, float)])
def test_floats_keep_their_extremes(kind, dtype):
    info = np.finfo(dtype)
    values = np.array([info.max, info.min, info.tiny, info.smallest_subnormal, -0.0, 0.1], dtype)
    found = [document["x"] for document in read_back(kind, Values(values))]
    assert [value.hex() for value in found] == [float(value).hex() for value in values]


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("null", [False, True])
@given(
    items=st.lists(
        st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1
    )
)
@try_cases(60)
def test_texts_and_nulls_come_back(coded, null, items):
    levels = texts(*(item or "" for item in items))
    valid = np.array([item is not None for item in items])
    codes = np.arange(len(items))
    data = Coded(codes, levels, valid) if coded else Values(levels, valid)
    absent = {"x": None} if null else {}
    expected = [absent if item is None else {"x": item} for item in items]
    assert read_back(Type.TEXT, data, null=null) == expected


@pytest.mark.parametrize(
    ("unit", "value", "date_ms"),
    [
        (TimeUnit.SECOND, -2, -2000),
        (TimeUnit.MILLISECOND, -62_135_596_800_001, -62_135_596_800_001),
        (TimeUnit.MICROSECOND, 1999, 1),
        (TimeUnit.MICROSECOND, -1, -1),
        (TimeUnit.NANOSECOND, 1_700_000_000_123_456_789, 1_700_000_000_123),
    ],
)
def test_a_date_has_milliseconds_and_cuts_off_towards_the_past(unit, value, date_ms):
    (document,) = read_back(Type.TIMESTAMP, Values(np.array([value])), unit, date=True)
    assert int(document["x"]) == date_ms


@pytest.mark.parametrize("worst", [2**63 // 1000 + 1, -(2**63 // 1000) - 2])
def test_a_second_beyond_all_dates_is_refused_unless_it_is_null(worst):
    values = np.array([0, worst])
    with pytest.raises(UnstorableError, match=rf"x: {worst} s .* beyond MongoDB's Date"):
        read_back(Type.TIMESTAMP, Values(values), TimeUnit.SECOND, date=True)
    hidden = Values(values, np.array([True, False]))
    found = read_back(Type.TIMESTAMP, hidden, TimeUnit.SECOND, date=True)
    assert [len(document) for document in found] == [1, 0]


def test_documents_and_arrays_nest_and_count_their_own_bytes():
    batch = block(
        {
            "site": (Type.TEXT, Values(texts("n", "north"))),
            "level": (Type.INT32, Values(np.array([1, 2], np.int32), np.array([True, False]))),
        }
    )
    site, level = batch.table.columns
    layout = [
        Embedded("m", (BsonField("site", site), BsonField("level", level))),
        Embedded(
            "pairs",
            (
                Embedded("0", (Constant("key", "site"), BsonField("val", site))),
                Embedded("1", (Constant("key", "lével"), BsonField("val", level, null=True))),
            ),
            array=True,
        ),
    ]
    (content,) = encode(batch, layout)
    expected = [
        {
            "m": {"site": "n", "level": 1},
            "pairs": [{"key": "site", "val": "n"}, {"key": "lével", "val": 1}],
        },
        {
            "m": {"site": "north"},
            "pairs": [{"key": "site", "val": "north"}, {"key": "lével", "val": None}],
        },
    ]
    assert bson.decode_all(content) == expected
    assert content == b"".join(map(bson.encode, expected))


def test_a_document_longer_than_mongodb_takes_is_refused():
    longest = DOCUMENT_BYTES - len(bson.encode({"x": ""}))
    for length in (longest, longest + 1):
        batch = block({"x": (Type.TEXT, Values(np.array([b"x" * length])))})
        if length == longest:
            assert encode(batch, fields(batch)) == [bson.encode({"x": "x" * length})]
        else:
            with pytest.raises(UnstorableError, match=f"t: a row .* {DOCUMENT_BYTES + 1} bytes"):
                encode(batch, fields(batch))
