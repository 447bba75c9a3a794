"""IoTDB's tablets: the vendor's own client makes the same bytes of the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.Tablet import Tablet as VendorsTablet

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.tablet import Tablets

TYPES = {
    Type.INT16: TSDataType.INT32,
    Type.INT32: TSDataType.INT32,
    Type.INT64: TSDataType.INT64,
    Type.FLOAT32: TSDataType.FLOAT,
    Type.FLOAT64: TSDataType.DOUBLE,
    Type.BOOL: TSDataType.BOOLEAN,
    Type.TIMESTAMP: TSDataType.TIMESTAMP,
    Type.TEXT: TSDataType.STRING,
}
TIME = Column("time", Type.TIMESTAMP, Role.TIME)


def block(times, tags=None, fields=None):
    """A block with these times, and tags and fields given as name -> (type, data)."""
    columns, data = [TIME], {"time": Values(np.array(times, np.int64))}
    for role, given_columns in ((Role.TAG, tags), (Role.FIELD, fields)):
        for name, (kind, content) in (given_columns or {}).items():
            columns.append(Column(name, kind, role, nullable=content.valid is not None))
            data[name] = content
    return Block(Table("t", tuple(columns), ()), 0, np.arange(len(times)), data)


def encoded(batch, batch_rows=10**6, times=lambda values: values):
    return Tablets(batch.table.columns[1:], times).encode(batch, batch_rows)


def objects(data):
    values = [v.decode() if isinstance(v, bytes) else v for v in data.values().tolist()]
    valid = [True] * len(values) if data.valid is None else data.valid.tolist()
    return [value if there else None for value, there in zip(values, valid, strict=True)]


def vendors(batch, start, stop):
    """The bytes that the vendor's client makes of rows, which it wants in the order of time."""
    columns = batch.table.columns[1:]
    lists = []
    for column in columns:
        values = objects(batch.data[column.name].take(slice(start, stop)))
        if column.role is Role.TAG:
            values = [None if value is None else str(value) for value in values]
        lists.append(values)
    types = [TSDataType.STRING if c.role is Role.TAG else TYPES[c.type] for c in columns]
    times = batch.data["time"].array[start:stop].tolist()
    rows = [list(row) for row in zip(*lists, strict=True)]
    tablet = VendorsTablet("t", [c.name for c in columns], types, rows, times)
    return tablet.get_binary_timestamps(), tablet.get_binary_values()


def taken_apart(values, marked, rows):
    """The columns' bytes, and for each column which rows are NULL; `marked` have a bitmap."""
    if not any(marked):
        return values, [[False] * rows for _ in marked]
    size = rows // 8 + 1
    at = start = len(values) - sum(1 + size * each for each in marked)
    nulls = []
    for each in marked:
        assert values[at] == each
        bits = np.frombuffer(values[at + 1 : at + 1 + size * each], np.uint8)
        at += 1 + size * each
        unpacked = np.unpackbits(bits, bitorder="little").view(bool).tolist()
        assert not any(unpacked[rows:])
        nulls.append(unpacked[:rows] if each else [False] * rows)
    return values[:start], nulls


def expect_vendors(batch, batch_rows):
    tablets = encoded(batch, batch_rows)
    starts = range(0, len(batch), batch_rows)
    data = [batch.data[column.name] for column in batch.table.columns[1:]]
    # Ours has a bitmap for a column with a NULL in the block, theirs for one in the tablet.
    in_block = [None in objects(column) for column in data]
    for tablet, start in zip(tablets, starts, strict=True):
        stop = min(start + batch_rows, len(batch))
        in_tablet = [None in objects(column.take(slice(start, stop))) for column in data]
        times, values = vendors(batch, start, stop)
        assert tablet.times == times
        assert tablet.rows == stop - start
        ours = taken_apart(tablet.values, in_block, tablet.rows)
        assert ours == taken_apart(values, in_tablet, tablet.rows)


TEXTS = np.array([b"", b"plain", "ñandú ☃ 𝄞".encode(), b"x" * 300])


@pytest.mark.parametrize("batch_rows", [1, 7, 8, 9, 40, 100])
def test_the_vendors_client_makes_the_same_bytes(batch_rows):
    number = np.arange(40)
    batch = block(
        number * 1000 - 5000,
        {"device": (Type.TEXT, Coded(number * 0, np.array([b"d1", b"device 2"])))},
        {
            "small": (Type.INT16, Values(number.astype(np.int16) - 20)),
            "int": (Type.INT32, Values(-number.astype(np.int32) << 20)),
            "big": (Type.INT64, Values(np.int64(2**62) + number)),
            "single": (Type.FLOAT32, Coded(number % 3, np.array([0.5, -0.0, 1e-40], np.float32))),
            "double": (Type.FLOAT64, Values(number / 7)),
            "flag": (Type.BOOL, Values(number % 2 == 0)),
            "seen": (Type.TIMESTAMP, Values(number - 10**15)),
            "note": (Type.TEXT, Coded(number % 4, TEXTS)),
            "text": (Type.TEXT, Values(np.array([b"%d" % n for n in number]))),
        },
    )
    expect_vendors(batch, batch_rows)


@pytest.mark.parametrize("batch_rows", [1, 7, 8, 9, 16, 40])
def test_nulls_are_marked_as_the_vendors_client_marks_them(batch_rows):
    number = np.arange(40)
    batch = block(
        number,
        {"device": (Type.TEXT, Values(np.array([b"d1"] * 40)))},
        {
            "int": (Type.INT32, Coded(number * 0, np.array([0], np.int32), number < 0)),
            "note": (Type.TEXT, Coded(number % 4, TEXTS, number % 3 > 0)),
            "flag": (Type.BOOL, Coded(number * 0, np.array([False]), number % 8 > 0)),
            "nearly": (Type.FLOAT32, Values(np.zeros(40, np.float32), number != 23)),
            "whole": (Type.INT64, Values(number)),
        },
    )
    expect_vendors(batch, batch_rows)


@given(st.lists(st.one_of(st.none(), st.text(max_size=20)), min_size=1, max_size=30))
def test_any_texts_are_sent_as_the_vendors_client_does(texts):
    texts = [None if text is None else text.replace("\0", "") for text in texts]
    array = np.array([(text or "").encode() for text in texts])
    valid = np.array([text is not None for text in texts])
    batch = block(range(len(texts)), fields={"note": (Type.TEXT, Values(array, valid))})
    (tablet,) = encoded(batch)
    assert tablet.values == vendors(batch, 0, len(texts))[1]


def test_the_rows_of_a_device_stand_together_in_the_order_of_time_and_within_their_send():
    number = np.arange(20)
    batch = block(
        (number * 7) % 20,
        {
            "site": (Type.TEXT, Coded(number % 2, np.array([b"a", b"b"]))),
            "rack": (Type.INT16, Values((number % 3).astype(np.int16), number % 5 > 0)),
        },
        {"n": (Type.INT64, Values(number))},
    )
    tablets = encoded(batch, 10)

    for tablet, start in zip(tablets, (0, 10), strict=True):
        times = np.frombuffer(tablet.times, ">i8").tolist()
        values, _ = taken_apart(tablet.values, [False, True, False], 10)
        numbers = np.frombuffer(values[-80:], ">i8").tolist()
        assert sorted(numbers) == list(range(start, start + 10))
        assert times == [n * 7 % 20 for n in numbers]
        devices = [(n % 2, n % 3 if n % 5 else None) for n in numbers]
        together = [d for place, d in enumerate(devices) if d not in devices[:place]]
        assert devices == sorted(devices, key=together.index)
        for device in together:
            own = [t for t, d in zip(times, devices, strict=True) if d == device]
            assert own == sorted(own)


def test_a_tag_is_a_text_also_of_an_integer():
    batch = block([1, 2], {"rack": (Type.INT16, Coded(np.array([0, 0]), np.array([-5], np.int16)))})
    (tablet,) = encoded(batch)
    assert tablet.values == b"\0\0\0\2-5" * 2


def test_times_are_made_those_of_the_server():
    (tablet,) = encoded(block([1, 2]), times=lambda values: values * 1000)
    assert np.frombuffer(tablet.times, ">i8").tolist() == [1000, 2000]
