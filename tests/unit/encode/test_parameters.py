"""Parameters of prepared statements: known bytes, and a small decoder of our own."""

import struct

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Texts, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.parameters import Parameters

FIXED = {1: "<b", 2: "<h", 3: "<i", 8: "<q", 4: "<f", 5: "<d"}
TEXT = 253


def block(columns):
    table = Table(
        "t",
        tuple(Column(n, kind, Role.FIELD) for n, (kind, _) in columns.items()),
        (),
        TimeUnit.MILLISECOND,
    )
    data = {name: data for name, (_, data) in columns.items()}
    return Block(table, 0, np.arange(len(next(iter(data.values())))), data)


def encode(batch, rows=1):
    return Parameters(batch.table.columns, batch.table.time_unit).encode(batch, rows)


def decode(row, count):
    bitmap = row[: -(-count // 8)]
    at = len(bitmap)
    assert row[at] == 1  # the types follow
    types = [struct.unpack_from("<BB", row, at + 1 + 2 * i) for i in range(count)]
    at += 1 + 2 * count
    found = []
    for place, (kind, flags) in enumerate(types):
        assert flags == 0
        if bitmap[place // 8] >> (place % 8) & 1:
            found.append(None)
        elif kind == TEXT:
            assert row[at] == 253
            length = int.from_bytes(row[at + 1 : at + 4], "little")
            found.append(row[at + 4 : at + 4 + length])
            at += 4 + length
        else:
            found.append(*struct.unpack_from(FIXED[kind], row, at))
            at += struct.calcsize(FIXED[kind])
    assert at == len(row)
    return found


def texts(*values):
    lengths = np.array([*map(len, values)])
    content = np.frombuffer(b"".join(values), np.uint8)
    return Texts(content, np.cumsum(lengths) - lengths, lengths)


def test_a_row_is_what_the_protocol_describes():
    (row,) = encode(block({
        "n": (Type.INT16, Values(np.array([-2], np.int16))),
        "t": (Type.TEXT, Values(np.array([b"ab"]))),
    }))  # fmt: skip

    assert row == b"\0" + b"\1" + b"\2\0" + b"\xfd\0" + b"\xfe\xff" + b"\xfd\2\0\0" + b"ab"


def test_every_type_is_read_back():
    valid = np.array([True, False, True])
    columns = {
        "small": (Type.INT16, Values(np.array([-32768, 0, 32767], np.int16))),
        "medium": (Type.INT32, Values(np.array([-(2**31), 0, 2**31 - 1], np.int32))),
        "big": (Type.INT64, Values(np.array([-(2**63), 0, 2**63 - 1]), valid)),
        "single": (Type.FLOAT32, Values(np.array([1.5, 0, -0.1], np.float32))),
        "double": (Type.FLOAT64, Values(np.array([0.1, 5e-324, -1e308]), valid)),
        "flag": (Type.BOOL, Values(np.array([True, False, True]))),
        "tag": (Type.TEXT, Coded(np.array([1, 0, 1]), np.array([b"", b"longer"]))),
        "text": (Type.TEXT, Values(np.array([b"", b"abc", b"\xc3\xa9"]), valid)),
        "long": (Type.TEXT, texts(b"x" * 70_000, b"", b"'\\")),
        "at": (Type.TIMESTAMP, Values(np.array([0, 1, 1_767_225_600_123]), valid)),
    }
    rows = encode(block(columns))

    assert decode(rows[0], 10) == [
        -32768, -(2**31), -(2**63), 1.5, 0.1, 1, b"longer", b"", b"x" * 70_000,
        b"1970-01-01 00:00:00.000",
    ]  # fmt: skip
    assert decode(rows[1], 10) == [0, 0, None, 0.0, None, 0, b"", None, b"", None]
    assert decode(rows[2], 10) == [
        32767, 2**31 - 1, 2**63 - 1, pytest.approx(-0.1), -1e308, 1, b"longer", b"\xc3\xa9",
        b"'\\", b"2026-01-01 00:00:00.123",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [1, 8, 9, 17])
def test_each_null_has_a_bit_of_its_own(count):
    for null in range(count):
        columns = {
            f"c{place}": (
                Type.INT32,
                Values(np.array([place], np.int32), np.array([place != null])),
            )
            for place in range(count)
        }
        (row,) = encode(block(columns))
        expected = [None if place == null else place for place in range(count)]
        assert decode(row, count) == expected


def test_pieces_have_the_rows_asked_for():
    batch = block({"n": (Type.INT64, Values(np.arange(10)))})

    assert [len(piece) for piece in encode(batch, 4)] == [4 * 12, 4 * 12, 2 * 12]
    assert encode(batch.slice(0, 0)) == []
