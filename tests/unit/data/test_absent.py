"""NULLs of strata: one in each, counted without drawing the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.ranges import RowRange
from simulator.data.workloads.trucks.deliveries import Absent

ABSENT = Absent(key=12345, every=10, columns=("a", "b", "c"))


def absences(rows):
    return {name: ~present for name, present in ABSENT.present(rows).items()}


def test_each_stratum_has_one_null_and_all_columns_and_places_occur_alike():
    found = absences(np.arange(30_000))
    total = np.sum([*found.values()], axis=0)

    assert (total.reshape(-1, 10).sum(axis=1) == 1).all()
    for column in found.values():
        assert column.sum() == pytest.approx(1000, abs=120)
    assert total.reshape(-1, 10).sum(axis=0) == pytest.approx(np.full(10, 300), abs=80)


@given(
    start=st.integers(0, 500),
    rows=st.integers(0, 300),
    stride=st.none() | st.tuples(st.integers(1, 40), st.integers(0, 60)),
)
def test_nulls_are_counted_in_any_range(start, rows, stride):
    take, every = (0, 0) if stride is None else (stride[0], sum(stride))
    item = RowRange(start=start, stop=start + rows, take=take, every=every)
    found = absences(item.numbers())

    assert ABSENT.count([item]) == sum(int(column.sum()) for column in found.values())
