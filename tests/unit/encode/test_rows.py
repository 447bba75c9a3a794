"""Rows as shares one after the other, levels that are remembered, and Python objects."""

import gc
import weakref
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.schema import TimeUnit, Type
from simulator.encode.columns import LIMIT, LevelCache
from simulator.encode.objects import InstantType, Objects
from simulator.encode.rows import Frame, Share, Spans, blank, cut, lay_out, pack
from tests.fuzzing import try_cases
from tests.unit.encode.blocks import block


def constant(content):
    return Share([np.frombuffer(content, f"V{len(content)}")], None)


def padded(items, more=0):
    """Make a share whose items are followed by other bytes."""
    width = max(map(len, items), default=0) + more or 1
    array = np.frombuffer(b"".join(item.ljust(width, b"#") for item in items), f"V{width}")
    return Share([array], np.array([len(item) for item in items]))


def spans(items):
    lengths = np.array([len(item) for item in items])
    content = np.frombuffer(b"".join(items) or b"#", np.uint8)
    return Spans(content, np.cumsum(lengths) - lengths, lengths)


@st.composite
def tables(draw):
    """Draw shares, and the bytes of each in every row."""
    rows = draw(st.integers(1, 12))
    shares, columns = [], []
    for kind in draw(st.lists(st.sampled_from("cfnps"), min_size=1, max_size=7)):
        if kind == "c":
            content = draw(st.binary(min_size=1, max_size=40))
            shares.append(constant(content))
            columns.append([content] * rows)
            continue
        if kind == "n":
            numbers = np.arange(rows * 2, dtype=">i4")[::2]
            shares.append(Share([numbers], None))
            columns.append([int(number).to_bytes(4, "big") for number in numbers])
            continue
        size = draw(st.integers(1, 9))
        least = size if kind == "f" else 0
        items = draw(
            st.lists(st.binary(min_size=least, max_size=size), min_size=rows, max_size=rows)
        )
        columns.append(items)
        if kind == "f":
            shares.append(Share([np.frombuffer(b"".join(items), f"V{size}")], None))
        elif kind == "p":
            shares.append(padded(items, draw(st.integers(0, 30))))
        else:
            shares.append(spans(items))
    return shares, [b"".join(row) for row in zip(*columns, strict=True)]


@given(tables(), st.integers(1, 15))
@try_cases(500)
def test_rows_are_laid_out_without_padding(table, batch_rows):
    shares, rows = table
    laid = lay_out(shares, len(rows))
    batches = [rows[start : start + batch_rows] for start in range(0, len(rows), batch_rows)]

    assert cut(laid, batch_rows) == list(map(b"".join, batches))
    assert cut(laid, len(rows), Frame(b"<", b"", b">")) == [b"<" + b"".join(rows) + b">"]
    assert sum(share.size_bytes(len(rows)) for share in shares) == len(b"".join(rows))


@given(tables(), st.data())
@try_cases(200)
def test_rows_are_taken_in_any_order(table, data):
    shares, rows = table
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    laid = lay_out([share.take(np.array(order)) for share in shares], len(order))

    assert laid.content.tobytes() == b"".join(rows[place] for place in order)


@given(tables())
@try_cases(200)
def test_shares_are_packed_into_one(table):
    shares, rows = table
    one = pack([share for share in shares if isinstance(share, Share)], len(rows))
    if all(isinstance(share, Share) for share in shares):
        assert lay_out([one], len(rows)).content.tobytes() == b"".join(rows)
        lengths = {len(row) for row in rows}
        assert (one.used is None) == (len(lengths) == 1 and lengths != {0})


def test_a_null_takes_no_byte():
    valid = np.array([True, False, True])
    shares = [constant(b"ab"), padded([b"c", b"de", b""], 2), spans([b"f", b"gh", b"i"])]
    laid = lay_out([constant(b"|"), *(blank(share, valid) for share in shares)], 3)

    assert laid.content.tobytes() == b"|abcf||abi"


def test_memory_is_bounded():
    rendered = LevelCache(len)
    first = np.arange(3)
    gone = weakref.ref(first)
    rendered(first)
    del first
    for size in range(3 * LIMIT):
        rendered(np.arange(size))
    gc.collect()

    assert len(rendered) == LIMIT
    assert gone() is None


def test_levels_in_use_stay():
    calls = []
    rendered = LevelCache(lambda levels: calls.append(levels) or len(levels))
    used = np.arange(3)
    for size in range(3 * LIMIT):
        assert rendered(used) == 3
        rendered(np.zeros(size))

    assert sum(levels is used for levels in calls) == 1


def test_an_array_at_the_same_address_is_not_taken_for_the_old_one():
    """CPython reuses addresses at once; holding the levels makes that impossible."""
    rendered = LevelCache(lambda levels: levels.sum())
    for number in range(10 * LIMIT):
        assert rendered(np.array([number])) == number


def encode(columns, batch_rows=100, unit=TimeUnit.MILLISECOND, instant=InstantType.INTEGER):
    batch = block(columns, unit)
    return Objects(batch.table.columns, unit, instant).encode(batch, batch_rows)


def test_every_type_becomes_its_python_type():
    valid = np.array([True, False])
    columns = {
        "i": (Type.INT64, Values(np.array([-(2**63), 2**63 - 1]))),
        "f": (Type.FLOAT32, Coded(np.array([1, 0]), np.array([-0.5, 20.25], np.float32))),
        "b": (Type.BOOL, Values(np.array([True, False]))),
        "t": (Type.TEXT, Values(np.array(["Grüße".encode(), b""]))),
        "c": (Type.TEXT, Coded(np.array([0, 0]), np.array([b"tag"]), valid)),
        "n": (Type.INT16, Values(np.array([3, 4], np.int16), valid)),
        "at": (Type.TIMESTAMP, Values(np.array([-1, 1]))),
    }
    rows = encode(columns)

    assert rows == [
        [
            (-(2**63), 20.25, True, "Grüße", "tag", 3, -1),
            (2**63 - 1, -0.5, False, "", None, None, 1),
        ]
    ]
    assert [type(value) for value in rows[0][0]] == [int, float, bool, str, str, int, int]


@pytest.mark.parametrize("unit", TimeUnit)
def test_instants_become_datetimes(unit):
    seconds = np.array([-1, 1_795_232_700])
    if unit is not TimeUnit.NANOSECOND:
        seconds = np.append(seconds, [-62_135_596_800, 253_402_300_799])
    columns = {"at": (Type.TIMESTAMP, Values(seconds * unit.per_second))}
    expected = [
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2026, 11, 21, 3, 45, tzinfo=UTC),
    ]
    if unit is not TimeUnit.NANOSECOND:
        expected += [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)]

    (aware,) = encode(columns, unit=unit, instant=InstantType.AWARE)
    (naive,) = encode(columns, unit=unit, instant=InstantType.NAIVE)

    assert [moment for (moment,) in aware] == expected
    assert [moment for (moment,) in naive] == [moment.replace(tzinfo=None) for moment in expected]


def test_what_stands_in_place_of_null_does_not_matter():
    data = Values(np.array([2**63 - 1, 0]), np.array([False, True]))
    rows = encode({"at": (Type.TIMESTAMP, data)}, unit=TimeUnit.SECOND, instant=InstantType.AWARE)

    assert rows == [[(None,), (datetime(1970, 1, 1, tzinfo=UTC),)]]
