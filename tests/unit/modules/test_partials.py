"""Answers that come in portions, put together."""

import pytest

from simulator.data.query import RowsQuery, outputs
from simulator.data.workloads.iot import EVENTS
from simulator.modules.shared import partials as fold
from simulator.modules.shared.partials import Collected, Different, Newest

SEQUENCE = [column for column in outputs(RowsQuery(EVENTS)) if column.name == "sequence_number"]


def numbers(start, stop):
    return [(number,) for number in range(start, stop)]


def test_rows_stay_in_the_order_in_which_they_come():
    collected = Collected()
    collected.add([(3,), (1,)])
    collected.add([(2,)])

    assert collected.rows() == [(3,), (1,), (2,)]


def test_the_newest_row_of_a_tag_may_come_first_or_last():
    newest = Newest()
    newest.add([("a", 7, 1.5), ("b", 1, 0.5)])
    newest.add([("a", 5, 2.5), ("b", 2, None)])

    assert newest.rows() == [("a", 1.5), ("b", None)]


@pytest.mark.parametrize("many", [0, 4, 1_000_000])
def test_different_rows_are_counted_once_however_many_wait(monkeypatch, many):
    monkeypatch.setattr(fold, "_MANY", many)
    different = Different(SEQUENCE)
    for start in (0, 3, 5):
        different.add(numbers(start, start + 5))
        different.end_part()

    assert different.rows() == [(10,)]
    different.add(numbers(9, 11))
    assert different.rows() == [(11,)]


def test_rows_of_parts_that_have_nothing_in_common_are_forgotten():
    different = Different(SEQUENCE, apart=True)
    for start in (0, 100):
        different.add(numbers(start, start + 5))
        different.add(numbers(start + 3, start + 8))
        different.end_part()
        assert not len(different._seen)

    assert different.rows() == [(16,)]
