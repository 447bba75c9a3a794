"""Several callers of one worker: each asks over a connection of its own, or of a pool."""

import threading
import time

import pytest

from simulator.errors import RunError
from simulator.load.ask.asking import Turns
from simulator.load.ask.callers import OneCaller, Persistence, callers_of
from simulator.load.connections import Connections
from simulator.modules.null import NullSession
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.pace import FASTEST, Pace
from simulator.protocol.spec import FIRST_INSTANCE
from tests.unit.load.test_asker import FIXED, VARYING, asker_over

WAIT_S = 0.05


class Counting(NullSession):
    """Answers after a time, or once all the others ask as well, and knows who asked how often."""

    def __init__(self, wait_s=WAIT_S, fails_at=0, together=None):
        super().__init__("none")
        self.asked, self.threads, self.wait_s, self.fails_at = 0, set(), wait_s, fails_at
        self.together = together

    def run(self, statement):
        self.asked += 1
        self.threads.add(threading.get_ident())
        if self.together and str(FIRST_INSTANCE) not in statement.text:  # the first run is alone
            self.together.wait(10)
        time.sleep(self.wait_s)
        if self.asked == self.fails_at:
            raise ValueError("the server is on fire")
        return [(1,)]


@pytest.fixture
def opened():
    return []


@pytest.fixture
def several(opened):
    """Return what opens connections for callers, who are closed at the end."""
    made = []

    def opening(callers, pool=0, **how):
        def open_one():
            opened.append(Counting(**how))
            return opened[-1]

        made.append(Connections(open_one, pool or callers, callers, {}))
        return callers_of(made[-1])

    yield opening
    for each in made:
        each.close()


def ask(callers, query_type=FIXED, duration_s=0.0, pace=FASTEST, **given):
    reported = []
    asker = asker_over(callers, query_type, report=lambda _, found: reported.extend(found), **given)
    return asker.ask(duration_s, pace=pace), reported


def test_a_worker_with_one_connection_is_the_only_caller():
    assert isinstance(callers_of(Counting()), OneCaller)
    assert callers_of(Counting(), embedded=True).cpu_s() == 0.0
    assert callers_of(Counting()).cpu_s() > 0.0


def test_each_run_is_asked_once_and_connections_take_turns(several, opened):
    together = threading.Barrier(5)
    callers = several(5, wait_s=0.0, together=together)
    times, reported = ask(callers, query_type=VARYING, runs=20)

    assert (times.runs, times.answers) == (20, 21)
    assert merge_histogram([times.waits]).get_total_count() == 20
    assert len(reported) == 21
    assert sorted(each.asked for each in opened) == [4, 4, 4, 4, 5]
    assert len({thread for each in opened for thread in each.threads}) == 5
    assert times.cpu_s > 0


def test_callers_of_a_pool_wait_for_a_connection_and_the_wait_counts(several, opened):
    times, _ = ask(several(4, pool=1), runs=12)

    assert len(opened) == 1
    waits = merge_histogram([times.waits])
    assert waits.get_min_value() >= 0.9e6 * WAIT_S
    assert waits.get_value_at_percentile(90) >= 3.9e6 * WAIT_S


def test_a_schedule_is_kept_by_as_many_connections_as_that_takes(several):
    times, _ = ask(several(8), duration_s=0.5, pace=Pace(60.0), runs=0)

    assert 10 < times.runs <= 30  # one alone would reach 10


def test_the_failure_of_one_ends_the_run_of_all(several, opened):
    with pytest.raises(RunError, match="query q: ValueError: the server is on fire"):
        ask(several(3, fails_at=3), runs=1000)
    assert sum(each.asked for each in opened) < 20


def test_types_are_asked_in_turn_by_all_callers(several, opened):
    callers = several(4)
    askers = [asker_over(callers, each, warmup_s=0.1, runs=0) for each in (FIXED, VARYING)]
    for each in askers:
        each.ask_first()
    turns = Turns(askers, callers, Pace(duration_s=0.3), warmup_s=0.1)
    turns.ask(threading.Event())
    first, second = turns.times()

    asked = sum(each.asked for each in opened) - 2
    assert (
        turns.waits.count == asked == sum(each.runs + each.warmup_runs for each in (first, second))
    )
    assert abs(first.runs + first.warmup_runs - second.runs - second.warmup_runs) <= 1
    assert first.runs + second.runs > 6  # as many as one alone would reach
    assert first.elapsed_s == second.elapsed_s > 0
    assert first.cpu_s == second.cpu_s > 0


class Failing(Counting):
    """A connection that is lost after some answers; those opened later are not."""

    def __init__(self, answers=None):
        super().__init__(wait_s=0.0)
        self.answers = answers

    @property
    def alive(self):
        return self.answers is None or self.asked <= self.answers

    def run(self, statement):
        found = super().run(statement)
        if not self.alive:
            raise ConnectionError("lost")
        return found


def persistent(retry_s, reopen=Failing):
    return Persistence(reopen, threading.Event(), time.monotonic, retry_s)


def test_a_query_that_fails_is_asked_again_by_a_new_connection():
    persistence = persistent(10.0)
    times, _ = ask(OneCaller(Failing(3), persistence), runs=10)

    assert times.runs == 10
    assert persistence.failed == 1


def test_a_query_of_several_connections_is_asked_again():
    made = []

    def open_one():
        made.append(Failing(3 if len(made) < 2 else None))
        return made[-1]

    connections = Connections(open_one, 2, 2, {})
    persistence = persistent(10.0, open_one)
    try:
        times, _ = ask(callers_of(connections, persistence), runs=20)
    finally:
        connections.close()

    assert times.runs == 20
    assert persistence.failed == 2
    assert connections.replaced == 2


def test_patience_begins_again_after_a_success():
    clock = iter([0.0, 4.0, 5.0, 100.0, 104.0])
    persistence = Persistence(Failing, threading.Event(), lambda: next(clock), 5.0)

    assert persistence.again(OSError())
    assert persistence.again(OSError())
    assert not persistence.again(OSError())
    persistence.note_success()
    assert persistence.again(OSError())
    assert persistence.again(OSError())
    assert persistence.failed == 4


@pytest.mark.parametrize("several", [False, True])
def test_a_failure_is_raised_once_patience_is_over(several):
    session = Failing(0)
    persistence = persistent(0.2, lambda: Failing(0))
    callers = Connections(lambda: Failing(0), 2, 2, {}) if several else session
    with pytest.raises(RunError, match=r"query q: .*lost"):
        ask(callers_of(callers, persistence), runs=1)
    callers.close()
