"""Rows of a fleet are drawn as the same walks, whichever rows are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.fleet import walks_at
from simulator.data.walks import Clamped, Counter, Distribution, Precision, Walks
from tests.fuzzing import try_cases

SERIES, TICKS = 7, 3000
WALKS = Walks(
    "t", {"gauge": Clamped(0, 1, 0, 100), "counter": Counter(5)}, 1,
    Distribution.UNPINNED, Precision.FULL,
)  # fmt: skip
ALL = {
    name: values.ravel() for name, values in WALKS.draw(np.arange(TICKS), np.arange(SERIES)).items()
}


def at(rows):
    return walks_at(WALKS, *np.divmod(np.array(rows, np.int64), SERIES))


@given(st.sets(st.integers(0, SERIES * TICKS - 1), min_size=1, max_size=60).map(sorted))
@try_cases(60)
def test_any_rows_hold_the_values_of_the_whole_table(rows):
    drawn = at(rows)

    assert set(drawn) == {"gauge", "counter"}
    for name, values in drawn.items():
        assert np.array_equal(values, ALL[name][rows])


@pytest.mark.parametrize(
    "rows",
    [
        range(SERIES * TICKS),
        range(3, 500),
        range(5, SERIES * TICKS, SERIES),
        [0, SERIES * TICKS - 1],
        [*range(20), *range(9000, 9020)],
    ],
)
def test_blocks_strides_and_ends_hold_the_values_of_the_whole_table(rows):
    for name, values in at(rows).items():
        assert np.array_equal(values, ALL[name][list(rows)])


def test_no_rows_have_no_values():
    assert [len(values) for values in at([]).values()] == [0, 0]
