"""ClickHouse's binary formats: known bytes, the vendor's own decoder, and a small one of ours."""

import struct

import numpy as np
import pytest
from clickhouse_connect.driver import ctypes as driver
from clickhouse_connect.driver.transform import NativeTransform
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.native import Native, RowBinary, leb128
from simulator.modules.clickhouse.query import ClickhouseDialect

FORMATS = {
    Type.INT16: "<h",
    Type.INT32: "<i",
    Type.INT64: "<q",
    Type.FLOAT32: "<f",
    Type.FLOAT64: "<d",
    Type.BOOL: "<?",
    Type.TIMESTAMP: "<q",
}


def block(columns, role=Role.FIELD):
    """A block of columns given as name -> (type, data)."""
    table = Table(
        "t",
        tuple(
            Column(name, kind, role, nullable=data.valid is not None)
            for name, (kind, data) in columns.items()
        ),
        (),
        TimeUnit.MICROSECOND,
    )
    data = {name: data for name, (_, data) in columns.items()}
    return Block(table, 0, np.arange(len(next(iter(data.values())))), data)


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


def decoded(content, columns):
    """The rows of a RowBinary payload."""
    at, rows = 0, []
    while at < len(content):
        row = []
        for column in columns:
            if column.nullable:
                at += 1
                if content[at - 1]:
                    row.append(None)
                    continue
            if column.type is Type.TEXT:
                length, shift = 0, 0
                while True:
                    digit, at = content[at], at + 1
                    length |= (digit & 0x7F) << shift
                    shift += 7
                    if digit < 0x80:
                        break
                row.append(content[at : at + length].decode())
                at += length
            else:
                (value,) = struct.unpack_from(FORMATS[column.type], content, at)
                row.append(value)
                at += struct.calcsize(FORMATS[column.type])
        rows.append(tuple(row))
    assert at == len(content)
    return rows


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
    (content,) = native(block({"tag": (Type.TEXT, tags)}, Role.TAG))

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
        (Type.TEXT, np.array([b"x" * n for n in (127, 128, 16_383, 16_384, 0)])),
    ],
)
def test_boundary_values_read_back_unchanged(kind, items, coded):
    data = Coded(np.arange(len(items)), items) if coded else Values(items)
    plain = [text.decode() for text in items.tolist()] if kind is Type.TEXT else items.tolist()
    valid = np.arange(len(items)) != 0
    some = Coded(np.arange(len(items)), items, valid) if coded else Values(items, valid)

    for role in (Role.FIELD, Role.TAG):
        for values, expected in ((data, plain), (some, [None, *plain[1:]])):
            batch = block({"x": (kind, values)}, role)
            (one,), (other,) = native(batch), row_binary(batch)
            for read in (driver_reads(one), decoded(other, batch.table.columns)):
                found = [value for (value,) in read]
                assert found == expected
                assert list(map(str, found)) == list(map(str, expected))  # -0.0 too


def test_instants_are_numbers_of_the_tables_unit():
    microseconds = np.array([-62_135_596_800_000_000, -1, 253_402_300_799_999_999])
    (content,) = native(block({"at": (Type.TIMESTAMP, Values(microseconds))}))

    assert b"DateTime64(6, 'UTC')" in content
    assert content.endswith(microseconds.astype("<i8").tobytes())


@pytest.mark.parametrize(
    ("keys", "width"), [(255, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)]
)
def test_a_dictionary_has_the_narrowest_indices_that_reach_its_keys(keys, width):
    levels = np.array([b"%d" % number for number in range(keys)])
    rows = np.arange(keys)
    (content,) = native(block({"tag": (Type.TEXT, Coded(rows, levels))}, Role.TAG))

    assert content.endswith(rows.astype(f"<u{width}").tobytes())
    assert driver_reads(content) == [(text.decode(),) for text in levels.tolist()]


def test_a_dictionary_longer_than_the_rows_is_not_sent():
    levels = np.array([b"device-%d" % number for number in range(10)])
    batch = block({"tag": (Type.TEXT, Coded(np.arange(10), levels))}, Role.TAG)

    assert all(b"LowCardinality(String)" in content for content in native(batch, 10))
    assert not any(b"LowCardinality" in content for content in native(batch, 9))


@pytest.mark.parametrize("batch_rows", [1, 3, 4, 10, 100])
def test_payloads_are_cut_anywhere(batch_rows):
    valid = np.arange(10) % 3 > 0
    levels = np.array([b"a", b"longer", b""])
    batch = block(
        {
            "n": (Type.INT64, Values(np.arange(10) - 5, valid)),
            "tag": (Type.TEXT, Coded(np.arange(10) % 3, levels, valid)),
            "text": (Type.TEXT, Values(np.array([b"x" * (n * 20) for n in range(10)]))),
        },
        Role.TAG,
    )
    whole = decoded(row_binary(batch)[0], batch.table.columns)
    for payloads, read in (
        (native(batch, batch_rows), driver_reads),
        (row_binary(batch, batch_rows), lambda p: decoded(p, batch.table.columns)),
    ):
        assert len(payloads) == -(-10 // batch_rows)
        assert [tuple(row) for payload in payloads for row in read(payload)] == whole


def test_an_empty_block_makes_no_payload():
    batch = block({"n": (Type.INT64, Values(np.array([], np.int64)))})
    assert native(batch) == row_binary(batch) == []


@given(st.integers(0, 2**40))
def test_leb128_reads_back(number):
    digits = leb128(number)
    assert all(digit >= 0x80 for digit in digits[:-1])
    assert digits[-1] < 0x80
    assert sum((digit & 0x7F) << 7 * place for place, digit in enumerate(digits)) == number
