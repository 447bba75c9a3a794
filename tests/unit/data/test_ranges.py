"""Ranges of row numbers: distributed to workers, cut, merged, parted, without losing a row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from simulator.data.ranges import (
    RowRange,
    cover,
    distribute,
    first_rows,
    lane_range,
    list_written_ranges,
    merge,
    numbers_between,
    parts_between,
)

takes = st.lists(st.integers(0, 7), min_size=1, max_size=6).filter(any)
spans = st.tuples(st.integers(0, 40), st.integers(0, 120))


def rows_of(ranges):
    """Return the rows of ranges, in their order, as (table, number)."""
    return [(item.table, row) for item in ranges for row in item.numbers().tolist()]


@given(span=spans, takes=takes)
def test_distributed_rows_are_the_rows_and_merge_into_one_range(span, takes):
    start, rows = span
    ranges = distribute(start, start + rows, takes, table=3)

    assert len(ranges) == len(takes)
    assert sorted(rows_of(ranges)) == [(3, row) for row in range(start, start + rows)]
    whole = (RowRange(start=start, stop=start + rows, table=3),) if rows else ()
    assert merge(ranges) == whole
    assert sum(map(len, ranges)) == rows


@given(span=spans, takes=takes, size=st.integers(1, 20))
def test_pieces_are_the_range_and_it_holds_its_rows_only(span, takes, size):
    every_row = np.arange(200)
    for item in distribute(span[0], sum(span), takes):
        pieces = [*item.pieces(size)]

        assert [row for piece in pieces for row in piece.numbers()] == item.numbers().tolist()
        assert all(len(piece) <= max(size, item.take) for piece in pieces)
        assert every_row[item.holds(every_row)].tolist() == item.numbers().tolist()


def test_workers_take_turns_batch_by_batch():
    first, second = distribute(10, 25, [4, 4])

    assert first.numbers().tolist() == [10, 11, 12, 13, 18, 19, 20, 21]
    assert second.numbers().tolist() == [14, 15, 16, 17, 22, 23, 24]


@given(span=spans, takes=takes, data=st.data())
def test_what_workers_wrote_before_they_stopped_merges_without_loss(span, takes, data):
    ranges = distribute(span[0], sum(span), takes)
    stopped = [item.first(data.draw(st.integers(0, len(item)))) for item in ranges]
    found = merge(stopped)

    assert sorted(rows_of(found)) == sorted(rows_of(stopped))
    assert len(found) <= 2 * len(takes) + 1


@given(span=spans, takes=takes, low=st.integers(0, 130), high=st.integers(0, 130))
def test_a_row_is_found_by_its_place(span, takes, low, high):
    for item in distribute(span[0], sum(span), takes):
        whole = item.numbers().tolist()
        low, high = sorted((min(low, len(whole)), min(high, len(whole))))
        assert item.numbers(low, high).tolist() == whole[low:high]
        assert [item.number(place) for place in range(len(whole))] == whole
        assert item.first(high).numbers().tolist() == whole[:high]


@given(span=spans, takes=takes, low=st.integers(0, 120), rows=st.integers(1, 30))
def test_a_batch_is_covered_by_few_ranges_within_those_it_is_of(span, takes, low, rows):
    for item in distribute(span[0], sum(span), takes):
        batch = item.numbers()[low : low + rows]
        found = cover(batch, item.table)
        assert rows_of(found) == [(0, row) for row in batch.tolist()]
        assert len(found) <= 2
        assert all(part in item for part in found)


@given(parts=st.integers(2, 4), rounds=st.integers(1, 12), start=st.integers(0, 9), data=st.data())
def test_parts_that_were_written_unequally_far(parts, rounds, start, data):
    (item, _) = distribute(start, start + 2 * parts * rounds, [parts, parts])
    numbers = item.numbers()
    counts = [data.draw(st.integers(0, int((numbers % parts == p).sum()))) for p in range(parts)]
    expected = [numbers[numbers % parts == p][:count] for p, count in enumerate(counts)]
    found = list_written_ranges([item], counts)

    assert sorted(rows_of(found)) == [(0, row) for row in sorted(np.concatenate(expected).tolist())]


@pytest.mark.parametrize(
    ("counts", "left"), [([10**11], 10**11), ([10**11, 10**11 - 3], 2 * 10**11)]
)
def test_what_was_written_of_many_rows_takes_no_memory_for_each(counts, left):
    found = list_written_ranges([lane_range(0, 0, 10**12)], counts)

    assert sum(map(len, found)) == sum(counts)
    assert found[0] == lane_range(0, 0, min(counts) * len(counts))
    assert max(item.stop for item in found) <= left


def test_a_range_has_no_rows_of_other_workers():
    first, second = distribute(0, 100, [10, 10])

    assert RowRange(start=20, stop=30) in first
    assert RowRange(start=0, stop=50, take=3, every=20) in first
    assert RowRange(start=25, stop=35) not in first
    assert RowRange(start=0, stop=40) not in first
    assert RowRange(start=20, stop=30) not in second
    assert RowRange(start=20, stop=30, table=1) not in first
    assert RowRange(start=0, stop=1 << 40) not in first


@given(span=spans, count=st.integers(0, 130), cut=st.integers(0, 120))
def test_the_first_rows_of_several_ranges(span, count, cut):
    start, stop = span[0], sum(span)
    middle = min(start + cut, stop)
    ranges = [RowRange(start=start, stop=middle), *distribute(middle, stop, [2, 3])]

    assert rows_of(first_rows(ranges, count)) == rows_of(ranges)[:count]


@pytest.mark.parametrize("stride", [{"take": 2, "every": 1}, {"take": 0, "every": 5}])
def test_a_stride_that_takes_nothing_or_too_much_is_refused(stride):
    with pytest.raises(ValidationError, match="not a range of rows"):
        RowRange(start=0, stop=10, **stride)


def test_a_plain_range_is_written_as_ever():
    assert RowRange(start=1, stop=9).model_dump() == {"start": 1, "stop": 9}
    short = RowRange(start=1, stop=9, table=2, take=1, every=4)
    assert RowRange.model_validate_json(short.model_dump_json()) == short


def numbers(ranges):
    return [int(n) for item in ranges for n in item.numbers()]


@pytest.mark.parametrize("take", [0, 1, 3, 7])
def test_parts_hold_exactly_the_rows_at_their_places(take):
    every = 10 if take else 0
    ranges = [
        RowRange(start=20, stop=75, table=2, take=take, every=every),
        RowRange(start=200, stop=203, table=2),
        RowRange(start=300, stop=300, table=2),
        RowRange(start=405, stop=460, table=2, take=take, every=every),
    ]
    whole = numbers(ranges)
    for low in range(len(whole) + 1):
        for high in range(low, len(whole) + 1):
            parts = parts_between(ranges, low, high)
            assert numbers(parts) == whole[low:high]
            assert {item.table for item in parts} <= {2}
            assert len(parts) <= 2 * len(ranges)
            assert np.array_equal(numbers_between(ranges, low, high), whole[low:high])
