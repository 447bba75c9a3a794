"""The server's own work: its times and counts, whatever the server answers."""

import threading
import time
from contextlib import contextmanager

import pytest

from simulator.control.database.background import MOST_CHANGES, BackgroundWatch
from simulator.modules.null import Null, NullOptions

TICK_S = 0.005


class Counting(Null):
    """A server that counts its checkpoints: None is a refusal, the last count stays."""

    def __init__(self, *counts):
        super().__init__(NullOptions())
        self.counts = list(counts)
        self.sessions = 0
        self.read_all = threading.Event()

    @contextmanager
    def background_work(self):
        self.sessions += 1
        yield self.read

    def read(self):
        if len(self.counts) == 1:
            self.read_all.set()
            count = self.counts[0]
        else:
            count = self.counts.pop(0)
        if count is None:
            raise OSError("no permission")
        return {"checkpoints": count}


def watched(*counts):
    """Return the server and its watch once all counts were read, and times before and after."""
    server = Counting(*counts)
    watch = BackgroundWatch(server, sample_s=TICK_S)
    watch.start()
    started_s = time.time()
    server.read_all.wait(10)
    watch.finish()
    return server, watch, started_s


@pytest.mark.parametrize(
    ("counts", "total", "changes"),
    [
        ((3, 3, 3), {"checkpoints": 0}, []),
        ((3, 4, 4, 6), {"checkpoints": 3}, [1, 2]),
        ((9, 0, 1), {"checkpoints": 1}, [1]),
        ((3, None, 5), {"checkpoints": 2}, [2]),
        ((3, None), {}, []),
    ],
)
def test_changes_are_kept_and_counted(counts, total, changes):
    _, watch, started_s = watched(*counts)

    assert watch.counts(started_s) == total
    assert [each.count for each in watch.occurrences(0)] == changes
    assert {each.what for each in watch.occurrences(0)} <= {"checkpoints"}


def test_counts_are_unknown_where_the_beginning_was_not_read():
    server, watch, started_s = watched(None, 5, 6)

    assert server.sessions == 2
    assert watch.counts(started_s - 1) == {}
    assert [each.count for each in watch.occurrences(started_s - 1)] == [1]


def test_what_was_before_an_instant_is_left_out():
    server = Counting(1, 2)
    watch = BackgroundWatch(server, sample_s=TICK_S)
    watch.start()
    server.read_all.wait(10)
    time.sleep(2 * TICK_S)
    middle_s = time.time()
    server.counts = [2, 4, 4]
    while len(server.counts) > 1:
        time.sleep(TICK_S)
    watch.finish()

    assert watch.counts(middle_s) == {"checkpoints": 2}
    (found,) = watch.occurrences(middle_s)
    assert found.count == 2
    assert 0 <= found.at_s < 5


def test_many_changes_are_joined_and_none_is_lost():
    ticks = iter(range(100_000))
    server = Counting(*range(3 * MOST_CHANGES))
    watch = BackgroundWatch(server, clock=lambda: float(next(ticks)), sample_s=0.0001)
    watch.start()
    server.read_all.wait(30)
    watch.finish()
    found = watch.occurrences(0.0)

    assert MOST_CHANGES / 4 < len(found) <= MOST_CHANGES
    assert sum(each.count for each in found) == 3 * MOST_CHANGES - 1
    assert found[-1].at_s > 2.9 * MOST_CHANGES * 0.9


def test_a_server_without_counters_is_left_alone():
    watch = BackgroundWatch(Null(NullOptions()))
    watch.start()
    watch.finish()

    assert watch.counts(time.time()) == {}
    assert watch.occurrences(0) == []


class Stuck(Null):
    """A server that does not answer."""

    def __init__(self):
        super().__init__(NullOptions())
        self.release = threading.Event()

    @contextmanager
    def background_work(self):
        self.release.wait(30)
        raise OSError("gone")
        yield


def test_a_server_that_does_not_answer_delays_a_run_for_seconds_only(monkeypatch):
    monkeypatch.setattr("simulator.control.database.background._FIRST_S", 0.05)
    server = Stuck()
    watch = BackgroundWatch(server)
    began_s = time.monotonic()
    watch.start()
    watch.finish()
    server.release.set()

    assert time.monotonic() - began_s < 2
    assert watch.counts(time.time()) == {}
