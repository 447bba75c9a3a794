"""Windows of stored rows, and statistics of one row."""

from itertools import pairwise

import numpy as np
import pytest

from simulator.data.query import Aggregate, AggregateQuery, DistinctQuery, Function, RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.iot import EVENTS
from simulator.errors import MismatchError
from simulator.modules import open_database
from simulator.modules.contract import Unsupported
from simulator.protocol.folding import StoredWindow
from simulator.verify.stored.reader import MOST_WINDOWS, WINDOW_ROWS, windows_of
from simulator.verify.stored.statistics import one_row
from simulator.verify.truth.fingerprint import EveryRow, Fingerprint
from simulator.verify.truth.folding import FoldTasks, fold_here
from simulator.verify.truth.record import to_bytes
from tests.unit import specs


def dataset(rows):
    return specs.dataset(
        start_ms=1_700_000_000_000, primary_key=PrimaryKey.DB, ranges=[RowRange(start=0, stop=rows)]
    )


@pytest.fixture
def database(tmp_path):
    return open_database("sqlite", {"path": str(tmp_path / "x.db")}, {})


@pytest.mark.parametrize(
    ("rows", "number"),
    [(10, 1), (2 * WINDOW_ROWS - 1, 1), (3 * WINDOW_ROWS, 3), (100 * WINDOW_ROWS, MOST_WINDOWS)],
)
def test_windows_follow_one_another_and_have_all_times(database, rows, number):
    found = [*windows_of(database, dataset(rows))]

    assert len(found) == number
    assert (found[0].since, found[-1].until) == (None, None)
    assert all(a.until == b.since for a, b in pairwise(found))
    inner = [window.since for window in found[1:]]
    assert inner == sorted({*inner})


def test_a_database_that_cannot_choose_by_time_reads_all_rows_at_once(database, monkeypatch):
    def unsupported(_):
        raise Unsupported("no ranges of time")

    monkeypatch.setattr(database, "render", unsupported)
    assert [*windows_of(database, dataset(100 * WINDOW_ROWS))] == [StoredWindow(table=0)]


class Stored:
    """Stored rows, of which each window has one."""

    def __init__(self):
        self.read = []

    def fingerprint(self, window, wanted):
        assert wanted()
        self.read.append(window.since)
        return print_of(window.since or 0)


def print_of(*numbers):
    found = Fingerprint()
    found.add(np.array(numbers, np.uint64) << np.uint64(50))
    return found


def tasks(stored, windows):
    table = DatasetReader(dataset(1000)).tables[0]
    found = FoldTasks([RowsQuery(table)], dataset(1000), windows, stored.fingerprint)
    return found, table


def bytes_of(table, fingerprint):
    every = EveryRow(RowsQuery(table))
    every.append(fingerprint.parts())
    return to_bytes([every])


def test_each_window_counts_once_wherever_it_is_read():
    stored, windows = Stored(), [StoredWindow(table=0, since=number) for number in range(1, 5)]
    shared, table = tasks(stored, windows)
    brought, lost = shared.take(), shared.take()
    shared.merge_bytes(brought.number, bytes_of(table, print_of(1)))
    fold_here(shared, 2)
    shared.merge_bytes(lost.number, bytes_of(table, print_of(2)))  # comes too late

    assert (brought.window, lost.window) == (windows[0], windows[1])
    assert sorted(stored.read) == [2, 3, 4]
    assert not len(shared.fingerprint_stored(table).find_differing(print_of(1, 2, 3, 4)))
    assert shared.fingerprint_expected(table).counts.sum() == 1000


@pytest.mark.parametrize("content", [b"", b"{}\n", b"nothing"])
def test_what_is_no_fingerprint_is_refused(content):
    stored = Stored()
    shared, table = tasks(stored, [StoredWindow(table=0, since=1)])
    task = shared.take()
    with pytest.raises(ValueError, match="_Head"):
        shared.merge_bytes(task.number, content)
    short = bytes_of(table, print_of(1))[:-8]
    with pytest.raises(ValueError, match="is not there"):
        shared.merge_bytes(task.number, short)

    fold_here(shared, 1)
    assert stored.read == [1]


COUNT = AggregateQuery(EVENTS, (Aggregate(Function.COUNT),))


@pytest.mark.parametrize("query", [COUNT, DistinctQuery(EVENTS, EVENTS.key)])
def test_the_one_row_is_returned_and_any_other_number_is_a_mismatch(query):
    assert one_row(query, [(7,)]) == (7,)
    for rows in ([], [(7,), (7,)]):
        words = f"events: count: expected an answer of one row, got {len(rows)} rows"
        with pytest.raises(MismatchError, match=words):
            one_row(query, rows)
