"""Binary COPY: known bytes, and a small decoder of our own to read everything back."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.pgcopy import PgCopy

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
EPOCH_US = 946_684_800 * 10**6
FORMATS = {
    Type.INT16: ">h",
    Type.INT32: ">i",
    Type.INT64: ">q",
    Type.FLOAT32: ">f",
    Type.FLOAT64: ">d",
    Type.BOOL: ">?",
    Type.TIMESTAMP: ">q",
}


def block(columns, time_unit=TimeUnit.MILLISECOND):
    table = Table(
        "t", tuple(Column(n, kind, Role.FIELD) for n, (kind, _) in columns.items()), (), time_unit
    )
    data = {name: data for name, (_, data) in columns.items()}
    return Block(table, 0, np.arange(len(next(iter(data.values())))), data)


def encode(batch, batch_rows=10**6):
    return PgCopy(batch.table.columns, batch.table.time_unit).encode(batch, batch_rows)


def decode(stream, kinds):
    assert stream.startswith(HEADER)
    at, rows = len(HEADER), []
    while (count := struct.unpack_from(">h", stream, at)[0]) != -1:
        assert count == len(kinds)
        at, row = at + 2, []
        for kind in kinds:
            (length,) = struct.unpack_from(">i", stream, at)
            at += 4
            if length == -1:
                row.append(None)
                continue
            raw = stream[at : at + length]
            row.append(raw.decode() if kind is Type.TEXT else struct.unpack(FORMATS[kind], raw)[0])
            at += length
        rows.append(tuple(row))
    assert at + 2 == len(stream)
    return rows


def read_back(kind, data, time_unit=TimeUnit.MILLISECOND):
    (stream,) = encode(block({"x": (kind, data)}, time_unit))
    return [value for (value,) in decode(stream, [kind])]


def test_the_bytes_are_those_of_the_format():
    batch = block(
        {
            "at": (Type.TIMESTAMP, Values(np.array([946_684_800_001]))),
            "tag": (Type.TEXT, Values(np.array([b"ab"]))),
            "gone": (Type.INT32, Values(np.array([7], np.int32), np.array([False]))),
        }
    )

    assert encode(batch) == [
        HEADER
        + bytes.fromhex("0003 00000008 00000000000003e8 00000002 6162 ffffffff")
        + bytes.fromhex("ffff")
    ]


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize(
    ("kind", "items"),
    [
        (Type.INT16, np.array([-32768, 32767, 0], np.int16)),
        (Type.INT32, np.array([-(2**31), 2**31 - 1, 0], np.int32)),
        (Type.INT64, np.array([-(2**63), 2**63 - 1, 0], np.int64)),
        (Type.FLOAT32, np.array([3.4028235e38, 1e-45, -0.0, 0.1], np.float32)),
        (Type.FLOAT64, np.array([1.7976931348623157e308, 5e-324, -0.0, 0.1])),
        (Type.BOOL, np.array([True, False])),
        (Type.TEXT, np.array([b"", b"x", "Grüße\n\t\\".encode()])),
        (Type.TEXT, np.array([b"same", b"long"])),
        (Type.TEXT, np.array([b"", b""])),
    ],
)
def test_boundary_values_read_back_unchanged(kind, items, coded):
    data = Coded(np.arange(len(items)), items) if coded else Values(items)
    expected = [text.decode() for text in items.tolist()] if kind is Type.TEXT else items.tolist()
    read = read_back(kind, data)

    assert read == expected
    assert [str(value) for value in read] == [str(value) for value in expected]  # -0.0 too

    valid = np.arange(len(items)) != 0
    data = Coded(data.codes, items, valid) if coded else Values(items, valid)
    assert read_back(kind, data) == [None, *expected[1:]]


@pytest.mark.parametrize(
    ("unit", "instant", "microseconds"),
    [
        (TimeUnit.SECOND, -62_135_596_800, -62_135_596_800 * 10**6),  # year 1
        (TimeUnit.SECOND, 253_402_300_799, 253_402_300_799 * 10**6),  # year 9999
        (TimeUnit.MILLISECOND, -1, -1000),
        (TimeUnit.MICROSECOND, -1, -1),
        (TimeUnit.NANOSECOND, -1, -1),  # cut off towards the past
        (TimeUnit.NANOSECOND, 1999, 1),
    ],
)
def test_instants_are_microseconds_since_2000(unit, instant, microseconds):
    assert read_back(Type.TIMESTAMP, Values(np.array([instant])), unit) == [microseconds - EPOCH_US]
    coded = Coded(np.array([0, 0]), np.array([instant]))
    assert read_back(Type.TIMESTAMP, coded, unit) == [microseconds - EPOCH_US] * 2


@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
            st.none() | st.integers(0, 2),
        ),
        min_size=1,
        max_size=40,
    ),
    batch_rows=st.integers(1, 50),
)
@settings(max_examples=50)
def test_pieces_are_the_same_rows_whatever_their_size(rows, batch_rows):
    numbers, texts, codes = zip(*rows, strict=True)
    levels = np.array([b"", b"b", b"cc"])
    batch = block(
        {
            "i": (
                Type.INT64,
                Values(
                    np.array([i or 0 for i in numbers]), np.array([i is not None for i in numbers])
                ),
            ),
            "t": (
                Type.TEXT,
                Values(
                    np.array([(t or "").encode() for t in texts]),
                    np.array([t is not None for t in texts]),
                ),
            ),
            "c": (
                Type.TEXT,
                Coded(
                    np.array([c or 0 for c in codes]),
                    levels,
                    np.array([c is not None for c in codes]),
                ),
            ),
        }
    )
    expected = [
        (number, text, None if code is None else levels[code].decode())
        for number, text, code in rows
    ]
    pieces = [
        decode(piece, [Type.INT64, Type.TEXT, Type.TEXT]) for piece in encode(batch, batch_rows)
    ]

    assert [row for piece in pieces for row in piece] == expected
    assert all(len(piece) == batch_rows for piece in pieces[:-1])


def test_no_rows_make_no_payload():
    assert encode(block({"x": (Type.INT64, Values(np.array([], np.int64)))})) == []
