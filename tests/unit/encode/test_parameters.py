"""Parameters of prepared statements: known bytes, and a small decoder of our own."""

import struct

import numpy as np
import pytest

from simulator.data.block import Values
from simulator.data.schema import Type
from simulator.encode.parameters import Parameters
from tests.unit.encode.blocks import block

FIXED = {1: "<b", 2: "<h", 3: "<i", 8: "<q", 4: "<f", 5: "<d"}
TEXT = 253


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


def test_a_row_is_what_the_protocol_describes():
    (row,) = encode(block({
        "n": (Type.INT16, Values(np.array([-2], np.int16))),
        "t": (Type.TEXT, Values(np.array([b"ab"]))),
    }))  # fmt: skip

    assert row == b"\0" + b"\1" + b"\2\0" + b"\xfd\0" + b"\xfe\xff" + b"\xfd\2\0\0" + b"ab"


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
