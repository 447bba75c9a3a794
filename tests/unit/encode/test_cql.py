"""Statements of CQL's BATCH message, read back by a small decoder."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.cql import MOST_KEY_BYTES, CqlInsert, CqlRows
from simulator.errors import UnstorableError

ID = bytes(range(16))
COLUMNS = (
    Column("at", Type.INT64, Role.TIME),
    Column("device", Type.TEXT, Role.TAG),
    Column("value", Type.INT32, Role.FIELD, nullable=True),
)


def encoder(columns=COLUMNS, partition=("device",), unit=TimeUnit.MILLISECOND, **how):
    key = (*partition, columns[0].name)
    return CqlRows(CqlInsert(ID, columns, unit, key, partition, **{"grouped": True, **how}))


def block(columns, *data, unit=TimeUnit.MILLISECOND):
    table = Table("t", columns, (), unit)
    named = dict(zip([column.name for column in columns], data, strict=True))
    return Block(table, 0, np.arange(len(data[0])), named)


def rows_of(request, columns=3):
    """The rows of a request as the values' bytes; None where a column is left as it is."""
    at, rows, content = 0, [], request.content
    for _ in range(request.rows):
        kind, size = struct.unpack_from(">BH", content, at)
        assert (kind, content[at + 3 : at + 3 + size]) == (1, ID)
        at += 3 + size
        (count,) = struct.unpack_from(">H", content, at)
        assert count == columns
        at, row = at + 2, []
        for _ in range(count):
            (length,) = struct.unpack_from(">i", content, at)
            at += 4
            if length < 0:
                assert length == -2, "a NULL would be stored"
                row.append(None)
            else:
                row.append(content[at : at + length])
                at += length
        rows.append(tuple(row))
    assert at == len(content)
    return rows


def batches(rows, devices, *, coded):
    names = np.array([b"d%d" % device for device in range(12)])
    codes = np.array(devices[:rows])
    device = Coded(codes, names) if coded else Values(names.take(codes))
    return block(
        COLUMNS,
        Values(np.arange(rows)),
        device,
        Values(np.arange(rows, dtype=np.int32), np.arange(rows) % 3 > 0),
    )


@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=60), st.integers(1, 70), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_each_send_has_its_rows_each_request_one_partition(devices, batch_rows, coded, grouped):
    rows = len(devices)
    sends = encoder(grouped=grouped).encode(batches(rows, devices, coded=coded), batch_rows)

    assert len(sends) == -(-rows // batch_rows)
    for place, requests in enumerate(sends):
        numbers = range(rows)[place * batch_rows : (place + 1) * batch_rows]
        expected = [
            (struct.pack(">q", n), b"d%d" % devices[n], struct.pack(">i", n) if n % 3 else None)
            for n in numbers
        ]
        found = [row for request in requests for row in rows_of(request)]
        assert sorted(found, key=str) == sorted(expected, key=str)
        if grouped:
            partitions = [{row[1] for row in rows_of(request)} for request in requests]
            assert partitions == [{request.routing_key} for request in requests]
            assert len(requests) == len({devices[n] for n in numbers})
        else:
            assert len(requests) == 1


def test_rows_of_a_partition_keep_their_order():
    batch = batches(9, [2, 0, 1] * 3, coded=True)
    (requests,) = encoder().encode(batch, 100)

    found = [[struct.unpack(">q", row[0])[0] for row in rows_of(request)] for request in requests]
    assert found == [[1, 4, 7], [2, 5, 8], [0, 3, 6]]


def test_a_message_of_many_partitions_is_kept_short():
    batch = batches(100, [number % 12 for number in range(100)], coded=True)
    ((whole,),) = encoder(grouped=False).encode(batch, 100)
    (requests,) = encoder(grouped=False, most_bytes=1000).encode(batch, 100)

    assert all(len(request.content) <= 1100 for request in requests)
    assert b"".join(request.content for request in requests) == whole.content
    assert {request.routing_key for request in requests} == {None}


def test_a_row_larger_than_a_message_should_be_goes_alone():
    batch = batches(3, [0, 1, 2], coded=True)
    (requests,) = encoder(grouped=False, most_bytes=1).encode(batch, 100)

    assert [request.rows for request in requests] == [1, 1, 1]


def test_single_rows_know_their_nodes_whatever_is_grouped():
    batch = batches(3, [4, 5, 4], coded=True)
    for grouped in (True, False):
        sends = encoder(grouped=grouped).encode(batch, 1)
        assert [[r.routing_key for r in requests] for requests in sends] == [
            [b"d4"],
            [b"d5"],
            [b"d4"],
        ]


def test_a_key_of_several_columns_is_packed_as_tokens_want_it():
    columns = (COLUMNS[0], COLUMNS[1], Column("rack", Type.INT16, Role.TAG))
    batch = block(
        columns,
        Values(np.arange(4)),
        Values(np.array([b"a", b"bc", b"a", b"a"])),
        Values(np.array([1, 1, 1, -1], np.int16)),
    )
    (requests,) = encoder(columns, ("device", "rack")).encode(batch, 10)

    assert sorted((request.routing_key, request.rows) for request in requests) == [
        (b"\0\1a\0\0\2\0\1\0", 2),
        (b"\0\1a\0\0\2\xff\xff\0", 1),
        (b"\0\2bc\0\0\2\0\1\0", 1),
    ]


@pytest.mark.parametrize(
    ("unit", "value", "stored"),
    [
        (TimeUnit.SECOND, -3, -3000),
        (TimeUnit.MILLISECOND, 2**62, 2**62),
        (TimeUnit.MICROSECOND, 5, 5),
        (TimeUnit.NANOSECOND, -(2**63), -(2**63)),
    ],
)
def test_instants_are_milliseconds_and_finer_ones_stay(unit, value, stored):
    columns = (Column("at", Type.TIMESTAMP, Role.TIME), COLUMNS[1])
    batch = block(columns, Values(np.array([value])), Values(np.array([b"a"])), unit=unit)
    ((request,),) = encoder(columns, unit=unit).encode(batch, 1)

    assert rows_of(request, 2) == [(struct.pack(">q", stored), b"a")]


def refused(batch, **how):
    with pytest.raises(UnstorableError) as caught:
        encoder(batch.table.columns, unit=batch.table.time_unit, **how).encode(batch, 10)
    return str(caught.value)


def test_seconds_that_milliseconds_cannot_count_are_refused():
    columns = (Column("at", Type.TIMESTAMP, Role.TIME), COLUMNS[1])
    devices = Values(np.array([b"a", b"a"]))
    batch = block(columns, Values(np.array([2**60, 0])), devices, unit=TimeUnit.SECOND)

    assert "at: a CQL timestamp counts milliseconds" in refused(batch)

    null = Values(np.array([2**60, 0]), np.array([False, True]))
    nullable = (COLUMNS[0], COLUMNS[1], Column("seen", Type.TIMESTAMP, Role.FIELD, nullable=True))
    batch = block(nullable, Values(np.array([0, 1])), devices, null, unit=TimeUnit.SECOND)
    assert encoder(nullable, unit=TimeUnit.SECOND).encode(batch, 10)


def test_what_cannot_be_a_key_is_refused():
    value = Values(np.zeros(2, np.int32))
    times = Values(np.arange(2))
    null = Values(np.array([b"a", b"b"]), np.array([True, False]))
    empty = Values(np.array([b"a", b""]))
    long = Values(np.array([b"a", b"x" * (MOST_KEY_BYTES + 1)]))

    assert "device: CQL allows no NULL" in refused(block(COLUMNS, times, null, value))
    assert "device: CQL allows no empty text" in refused(block(COLUMNS, times, empty, value))
    assert f"got a text of {MOST_KEY_BYTES + 1};" in refused(block(COLUMNS, times, long, value))


def test_a_level_that_no_row_has_is_no_reason_to_refuse():
    levels = np.array([b"a", b""])
    batch = block(
        COLUMNS,
        Values(np.arange(2)),
        Coded(np.zeros(2, np.int64), levels),
        Values(np.zeros(2, np.int32)),
    )
    assert encoder().encode(batch, 10)
