"""Rows as points: known bytes, NULLs, limits of messages, and what other readers make of them."""

import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.points import MixedPoints, PointFormat, PointPiece, Points, as_text
from simulator.encode.rows import Frame
from simulator.errors import UnstorableError
from simulator.modules.graphite.wire import frame, path_lengths, pickles
from tests.fuzzing import try_cases

TIME = Column("time", Type.INT64, Role.TIME)
SITE = Column("site", Type.TEXT, Role.TAG)
RACK = Column("rack", Type.INT16, Role.TAG)
LEVEL = Column("level", Type.FLOAT64, Role.FIELD, nullable=True)
COUNT = Column("count", Type.INT64, Role.FIELD)
ON = Column("on", Type.BOOL, Role.FIELD)
TABLE = Table("t", (TIME, SITE, RACK, LEVEL, COUNT, ON), ("site", "rack", "time"))
SITES = np.array([b"a", b"bcd"])


def block(levels=(0.5, 1.25, -3.0), valid=(True, False, True), count=(7, -80, 900)):
    rows = len(levels)
    data = {
        "time": Values(np.arange(10, 10 + rows)),
        "site": Coded(np.arange(rows) % 2, SITES),
        "rack": Values(np.arange(rows, dtype=np.int16) - 1),
        "level": Values(np.array(levels, np.float64), np.array(valid)),
        "count": Values(np.array(count, np.int64)),
        "on": Values(np.arange(rows) % 2 == 0),
    }
    return Block(TABLE, 0, np.arange(rows), data)


def lines():
    pieces = {c.name: PointPiece(c.name, as_text(c.type)) for c in TABLE.columns}
    points = [
        PointFormat(
            field,
            [b"t.", pieces["site"], b".", pieces["rack"], b".%s " % field.name.encode(),
             pieces[field.name], b" ", pieces["time"], b"\n"],
        )
        for field in (LEVEL, COUNT, ON)
    ]  # fmt: skip
    return Points(points, Frame(b"", b"", b""))


def expected(batch):
    """The points, one by one in plain Python."""
    columns = {name: data.values().tolist() for name, data in batch.data.items()}
    valid = batch.data["level"].valid
    found = []
    for row in range(len(batch)):
        for field in ("level", "count", "on"):
            if field != "level" or valid[row]:
                path = f"t.{columns['site'][row].decode()}.{columns['rack'][row]}.{field}"
                found.append((path, (columns["time"][row], columns[field][row])))
    return found


def read(text):
    found = []
    for line in text.decode().splitlines():
        path, value, instant = line.split(" ")
        found.append((path, (int(instant), float(value))))
    return found


def test_a_row_is_a_point_for_each_field_that_is_not_null():
    ((text,),) = lines().encode(block(), 10, instead={})
    assert text == (
        b"t.a.-1.level 0.50 10\nt.a.-1.count 7 10\nt.a.-1.on 1 10\n"
        b"t.bcd.0.count -80 11\nt.bcd.0.on 0 11\n"
        b"t.a.1.level -3.0 12\nt.a.1.count 900 12\nt.a.1.on 1 12\n"
    )


def test_values_may_stand_for_a_columns_own():
    ((text,),) = lines().encode(block(), 10, instead={"time": np.array([1, 2, 3])})
    assert [instant for _, (instant, _) in read(text)] == [1, 1, 1, 2, 2, 3, 3, 3]


def test_what_lies_between_points_is_not_at_the_end():
    pieces = [b"<", PointPiece("count", as_text(Type.INT64)), b">;"]
    encoder = Points([PointFormat(COUNT, pieces)], Frame(b"[", b";", b"]"))
    assert encoder.encode(block(), 2, instead={}) == [[b"[<7>;<-80>]"], [b"[<900>]"]]


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 10])
@pytest.mark.parametrize("limits", [{}, {"limit_rows": 2}, {"limit_bytes": 300}])
def test_cutting_changes_nothing(batch_rows, limits):
    batch = block(range(50), [row % 3 > 0 for row in range(50)], range(50))
    sends = lines().encode(batch, batch_rows, instead={}, **limits)
    assert len(sends) == -(-50 // batch_rows)
    assert read(b"".join(b"".join(send) for send in sends)) == expected(batch)
    for send in sends:
        assert all(len(message) <= limits.get("limit_bytes", 10**6) for message in send)


@pytest.mark.parametrize("limits", [{}, {"limit_rows": 2}, {"limit_rows": 1}, {"limit_bytes": 300}])
def test_payloads_of_several_tables_have_the_rows_between_edges(limits):
    whole = block(range(50), [row % 3 > 0 for row in range(50)], range(50))
    batches = [whole.slice(0, 20), whole.slice(20, 23), whole.slice(23, 50)]
    edges = [np.array(each) for each in ([0, 9, 20, 20], [0, 0, 3, 3], [0, 7, 7, 27])]
    mixed = MixedPoints([lines()] * 3, Frame(b"[", b"\n", b"]"))
    payloads = mixed.encode(batches, edges, instead=[{}] * 3, **limits)
    assert len(payloads) == 3
    for number, messages in enumerate(payloads):
        spans = [each[number : number + 2] for each in edges]
        shares = [own.slice(*span) for own, span in zip(batches, spans, strict=True)]
        assert {(each[:1], each[-1:]) for each in messages} == {(b"[", b"]")}
        assert read(b"\n".join(each[1:-1] for each in messages)) == [
            point for share in shares for point in expected(share)
        ]
        assert all(len(each) <= limits.get("limit_bytes", 10**6) for each in messages)
        rows = sum(map(len, shares))
        assert len(messages) >= -(-rows // limits.get("limit_rows", 50))


def test_a_row_that_is_longer_than_a_message_may_be_is_refused():
    with pytest.raises(UnstorableError, match=r"t: a row takes up to \d+ bytes.*of 20"):
        lines().encode(block(), 10, instead={}, limit_bytes=20)


def test_an_empty_block_is_no_send():
    assert lines().encode(block().slice(0, 0), 10, instead={}) == []


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@try_cases(50)
@given(st.lists(st.tuples(FLOATS, st.booleans(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_every_number_comes_back(rows):
    batch = block(*zip(*rows, strict=True))
    ((text,),) = lines().encode(batch, len(rows), instead={})
    for (path, (instant, value)), (path2, (instant2, value2)) in zip(
        read(text), expected(batch), strict=True
    ):
        assert (path, instant, value) == (path2, instant2, float(value2))


@try_cases(50)
@given(st.lists(st.tuples(FLOATS, st.booleans(), st.integers(-(2**53), 2**53)), min_size=1))
def test_pickles_are_what_python_reads(rows):
    batch = block(*zip(*rows, strict=True))
    instead = {"time": batch.data["time"].array, "length of the path": path_lengths(batch)}
    (messages,) = pickles(TABLE, "t").encode(batch, len(rows), instead=instead)
    stream = frame(messages)
    (length,) = struct.unpack("!L", stream[:4])
    assert length == len(stream) - 4
    found = pickle.loads(stream[4:])
    assert found == [(path, (at, float(value))) for path, (at, value) in expected(batch)]
