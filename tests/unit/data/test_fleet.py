"""Rows of a fleet are drawn as the same walks, whichever rows are asked for."""

import numpy as np
from hypothesis import example, given
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
@example([*range(SERIES * TICKS)])
@example([*range(5, SERIES * TICKS, SERIES)])
@try_cases(60)
def test_any_rows_hold_the_values_of_the_whole_table(rows):
    drawn = at(rows)

    assert set(drawn) == {"gauge", "counter"}
    for name, values in drawn.items():
        assert np.array_equal(values, ALL[name][rows])


def test_no_rows_have_no_values():
    assert [len(values) for values in at([]).values()] == [0, 0]
