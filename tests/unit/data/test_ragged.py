"""Items and digits of different lengths are copied exactly, from and to any place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.digits import join
from simulator.data.octets import copy, view_items
from tests.fuzzing import try_cases


@given(st.lists(st.binary(max_size=70), min_size=1, max_size=30), st.randoms())
@try_cases(200)
def test_only_the_bytes_of_each_item_are_written(items, random):
    gaps = [random.randrange(4) for _ in items]
    lengths = np.array([len(item) for item in items])
    places = np.cumsum(lengths + gaps) - lengths
    target = np.full(int(places[-1] + lengths[-1]) + 3, 0xEE, np.uint8)
    copy(
        np.frombuffer(b"".join(items), np.uint8),
        np.cumsum(lengths) - lengths,
        lengths,
        target,
        places,
    )

    expected = b"".join(b"\xee" * gap + item for gap, item in zip(gaps, items, strict=True))
    assert target.tobytes() == expected + b"\xee" * 3


def test_one_long_item_among_short_ones():
    items = [b"a", b"x" * 19_456, b"", b"bc"]
    lengths = np.array([len(item) for item in items])
    starts = np.cumsum(lengths) - lengths
    source = np.frombuffer(b"".join(items), np.uint8)
    target = np.zeros_like(source)
    copy(source, starts, lengths, target, starts)

    assert target.tobytes() == source.tobytes()


def test_items_overlap_and_end_with_the_content():
    items = view_items(np.arange(5, dtype=np.uint8), 3)

    assert [item.tobytes() for item in items] == [b"\0\1\2", b"\1\2\3", b"\2\3\4"]
    with pytest.raises(IndexError):
        items[np.array([3])]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
ROW = st.tuples(TEXT, st.integers(-(2**63), 2**63 - 1), TEXT, st.integers(0, 10**6))


@given(st.lists(ROW, min_size=1, max_size=30))
def test_a_row_is_its_columns_one_after_the_other(rows):
    first, second, third, fourth = zip(*rows, strict=True)
    columns = [
        np.array([text.encode() for text in first]),
        np.array(second, np.int64),
        np.array([text.encode() for text in third]),
        np.array(fourth, np.int64),
    ]
    expected = [f"{a}{b}{c}{d}".encode() for a, b, c, d in rows]

    assert join(columns).tolist() == expected


def test_fixed_widths_are_not_touched():
    devices, instants = np.array([b"AAAA", b"BBBB"]), np.array([1000, 1001])

    assert join([devices, instants]).tolist() == [b"AAAA1000", b"BBBB1001"]
