"""ClickHouse's binary formats: known bytes, the vendor's own decoder, and a small one of ours."""

import numpy as np
import pytest
from clickhouse_connect.driver import ctypes as driver
from clickhouse_connect.driver.transform import NativeTransform
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.schema import Role, TimeUnit, Type
from simulator.encode.native import Native, RowBinary, leb128
from simulator.modules.clickhouse.query import ClickhouseDialect
from tests.unit.encode.blocks import block


def native(batch, batch_rows=10**6):
    dialect = ClickhouseDialect(low_cardinality=True)
    return Native(batch.table.columns, dialect.types_of(batch.table)).encode(batch, batch_rows)


class Response:
    def __init__(self, content):
        self.gen = iter([content])

    def close(self):
        pass


def driver_reads(content):
    """What the vendor's client makes of a block, row by row."""
    return NativeTransform.parse_response(driver.RespBuffCls(Response(content))).result_rows


def row_binary(batch, batch_rows=10**6):
    return RowBinary(batch.table.columns).encode(batch, batch_rows)


def test_known_bytes_of_native():
    batch = block(
        {
            "n": (Type.INT32, Values(np.array([1, -1], np.int32))),
            "tag": (Type.TEXT, Values(np.array([b"ab", b""]))),
            "gone": (Type.INT16, Values(np.array([7, 8], np.int16), np.array([False, True]))),
        }
    )

    (content,) = native(batch)
    assert content == (
        b"\x03\x02"
        b"\x01n\x05Int32\x01\x00\x00\x00\xff\xff\xff\xff"
        b"\x03tag\x06String\x02ab\x00"
        b"\x04gone\x0fNullable(Int16)\x01\x00\x07\x00\x08\x00"
    )


def test_known_bytes_of_a_dictionary():
    levels = np.array([b"a", b"bc"])
    tags = Coded(np.array([1, 0, 1]), levels, np.array([True, False, True]))
    (content,) = native(block({"tag": (Type.TEXT, tags)}, role=Role.TAG))

    kind = b"LowCardinality(Nullable(String))"
    assert content == (
        b"\x01\x03\x03tag" + bytes([len(kind)]) + kind + (1).to_bytes(8, "little")  # its version
        + (0x600).to_bytes(8, "little")  # indices of one byte, new keys of its own
        + (3).to_bytes(8, "little") + b"\x00\x01a\x02bc"  # the first key means NULL
        + (3).to_bytes(8, "little") + b"\x02\x00\x02"
    )  # fmt: skip


def test_known_bytes_of_row_binary():
    batch = block(
        {
            "tag": (Type.TEXT, Values(np.array([b"ab", b""]))),
            "gone": (Type.INT16, Values(np.array([7, 8], np.int16), np.array([False, True]))),
        }
    )

    assert row_binary(batch) == [b"\x02ab\x01" + b"\x00\x00\x08\x00"]


def test_instants_are_numbers_of_the_tables_unit():
    microseconds = np.array([-62_135_596_800_000_000, -1, 253_402_300_799_999_999])
    (content,) = native(block({"at": (Type.TIMESTAMP, Values(microseconds))}, TimeUnit.MICROSECOND))

    assert b"DateTime64(6, 'UTC')" in content
    assert content.endswith(microseconds.astype("<i8").tobytes())


@pytest.mark.parametrize(
    ("keys", "width"), [(255, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)]
)
def test_a_dictionary_has_the_narrowest_indices_that_reach_its_keys(keys, width):
    levels = np.array([b"%d" % number for number in range(keys)])
    rows = np.arange(keys)
    (content,) = native(block({"tag": (Type.TEXT, Coded(rows, levels))}, role=Role.TAG))

    assert content.endswith(rows.astype(f"<u{width}").tobytes())
    assert driver_reads(content) == [(text.decode(),) for text in levels.tolist()]


def test_a_dictionary_longer_than_the_rows_is_not_sent():
    levels = np.array([b"device-%d" % number for number in range(10)])
    batch = block({"tag": (Type.TEXT, Coded(np.arange(10), levels))}, role=Role.TAG)

    assert all(b"LowCardinality(String)" in content for content in native(batch, 10))
    assert not any(b"LowCardinality" in content for content in native(batch, 9))


@given(st.integers(0, 2**40))
def test_leb128_reads_back(number):
    digits = leb128(number)
    assert all(digit >= 0x80 for digit in digits[:-1])
    assert digits[-1] < 0x80
    assert sum((digit & 0x7F) << 7 * place for place, digit in enumerate(digits)) == number
