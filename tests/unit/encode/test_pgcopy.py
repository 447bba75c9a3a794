"""Binary COPY: known bytes, and a small decoder of our own to read everything back."""

import struct

import numpy as np
import pytest

from simulator.data.block import Coded, Values
from simulator.data.schema import TimeUnit, Type
from simulator.encode.pgcopy import PgCopy
from tests.unit.encode.blocks import block

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
