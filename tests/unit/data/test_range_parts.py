"""Parts of ranges by place: what a file of records holds of its dataset."""

import numpy as np
import pytest

from simulator.data.ranges import RowRange, numbers_between, parts_between


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
