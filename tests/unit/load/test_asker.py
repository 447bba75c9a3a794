"""Asking queries: what is timed, what counts as the client's time, and which answers are kept."""

import threading

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Selection
from simulator.data.query_type import QueryType, always
from simulator.data.workloads.iot import EVENTS
from simulator.errors import MismatchError
from simulator.load.ask import asker as asking
from simulator.load.ask.asker import asker_of
from simulator.load.ask.callers import OneCaller
from simulator.load.connecting import Stopped
from simulator.modules.contract import Session
from simulator.modules.contract import session as contract_session
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.messages import MOST_ANSWERS, digest_of
from simulator.protocol.pace import FASTEST, Pace
from simulator.protocol.spec import FIRST_INSTANCE, Ask

COUNT = (Aggregate(Function.COUNT),)


def counted_since(number):
    return AggregateQuery(EVENTS, COUNT, selection=Selection(since=number))


FIXED = always(AggregateQuery(EVENTS, COUNT))
VARYING = QueryType(counted_since)


class Clock:
    """Time that passes only by `sleep`."""

    def __init__(self):
        self.now_ns = 0

    def perf_counter_ns(self):
        return self.now_ns

    def perf_counter(self):
        return self.now_ns / 1e9

    def sleep(self, seconds):
        self.now_ns += round(seconds * 1e9)


def clock_of(monkeypatch):
    """Return the clock that all queries use from now on."""
    clock = Clock()
    monkeypatch.setattr(asking, "time", clock)
    monkeypatch.setattr(contract_session, "time", clock)

    def wait_until(due_ns, _):
        clock.now_ns = max(clock.now_ns, due_ns)

    monkeypatch.setattr(asking, "wait_until", wait_until)
    return clock


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    clock_of(monkeypatch)


def ignored(_query, _found):
    """Discard answers."""


def asker_over(callers, query_type=FIXED, name="q", *, report=ignored, stop=None, **given):
    """Return the asker of a type; `given` are a warm-up and fields of its task."""
    more = {key: given.pop(key) for key in ("warmup_s",) if key in given}
    return asker_of(
        Sqlite(SqliteOptions(path="unused")), callers, name, query_type,
        Ask(**{"place": 0, "every": 1, **given}),
        stop=stop or threading.Event(), report=report, **more,
    )  # fmt: skip


def always_1(_):
    return 1


class Scripted(Session):
    """Answers a count with what `rows` says, after waiting and folding for a time."""

    alive = True

    def __init__(self, rows=lambda asked: asked, wait_s=0.0, fold_s=0.0):
        self.rows, self.wait_s, self.fold_s = rows, wait_s, fold_s
        self.asked = []

    def close(self):
        pass

    def encoder(self, table, name, mode):
        raise NotImplementedError

    def send(self, payload):
        raise NotImplementedError

    def classify(self, error):
        raise NotImplementedError

    def run(self, statement):
        self.asked.append(statement.text)
        asking.time.sleep(self.wait_s)
        with self.in_client():
            asking.time.sleep(self.fold_s)
            return [(self.rows(len(self.asked)),)]


def ask(session, query_type, duration_s=0.0, *, over=None, pace=FASTEST, **given):
    """Return the times, and the reported answers as (instance, rows)."""
    reported = []

    def report(query, found):
        assert query == "q"
        assert 0 < len(found) <= MOST_ANSWERS
        reported.extend((instance, rows) for (instance, _), rows in found.items())
        assert all(digest_of(rows) == digest for (_, digest), rows in found.items())

    asker = asker_over(OneCaller(session), query_type, report=report, **given)
    return asker.ask(duration_s, over, pace), reported


def test_the_first_run_is_apart_and_the_others_are_in_the_histogram():
    session = Scripted(always_1)
    times, reported = ask(session, FIXED, runs=5)

    assert (times.runs, len(session.asked)) == (5, 6)
    assert merge_histogram([times.waits]).get_total_count() == 5
    assert reported == [(0, ((1,),))]
    assert times.answers == 1


def test_folding_is_the_clients_time_and_not_waiting():
    times, _ = ask(Scripted(wait_s=0.01, fold_s=0.03), FIXED, runs=4)

    assert (times.first_s, times.elapsed_s) == (0.01, 0.16)
    assert (times.wait_s, times.client_s) == pytest.approx((0.04, 0.12))


def test_a_worker_asks_its_share_of_the_instances():
    session = Scripted(lambda asked: asked)
    times, reported = ask(session, VARYING, place=1, every=3, runs=3)

    assert sorted(instance for instance, _ in reported) == [1, 4, 7, FIRST_INSTANCE + 1]
    assert times.answers == 4
    assert [text.split()[-1] for text in session.asked] == [str(FIRST_INSTANCE + 1), "1", "4", "7"]


def test_a_burn_in_is_checked_and_not_counted():
    session = Scripted(lambda asked: asked, wait_s=0.25)
    times, reported = ask(session, VARYING, place=1, every=3, runs=2, burn_in=2)

    firsts = [FIRST_INSTANCE + number for number in (1, 4, 7)]
    assert sorted(instance for instance, _ in reported) == [1, 4, *firsts]
    assert (times.runs, times.answers, times.first_s) == (2, 5, 0.25)
    assert (times.wait_s, times.elapsed_s) == (0.5, 0.5)
    assert merge_histogram([times.waits]).get_total_count() == 2


def test_every_different_answer_to_an_instance_is_reported():
    times, reported = ask(Scripted(lambda asked: asked % 2), FIXED, runs=9)

    assert sorted(reported) == [(0, ((0,),)), (0, ((1,),))]
    assert times.answers == 2


def test_a_type_is_asked_for_a_time():
    session = Scripted(always_1, wait_s=0.005)
    times, _ = ask(session, FIXED, runs=0, duration_s=0.1)

    assert (times.runs, times.elapsed_s) == (20, 0.1)


@pytest.mark.parametrize(("wait_s", "runs"), [(0.001, 100), (0.02, 50), (0.5, 3), (2.0, 3)])
def test_a_type_is_asked_often_enough_unless_that_takes_too_long(wait_s, runs):
    session = Scripted(always_1, wait_s=wait_s)
    times, _ = ask(session, FIXED, runs=100, fewest=3, duration_s=1.0)

    assert times.runs == runs


@pytest.mark.parametrize(("until", "runs"), [(7, 7), (0, 1)])
def test_a_query_of_a_ramp_is_asked_until_that_is_over_and_at_least_once(until, runs):
    session = Scripted(always_1)
    times, _ = ask(session, FIXED, runs=0, burn_in=2, over=lambda: len(session.asked) >= until + 3)

    assert (times.runs, len(session.asked)) == (runs, runs + 3)


@pytest.mark.parametrize(
    ("pace", "runs", "wait_s", "expected"),
    [
        (Pace(10), 0, 0.005, (10, 0.05, 1.0, ())),
        (Pace(10, 0.5), 0, 0.005, (10, 0.05, 1.05, ())),
        (Pace(10), 0, 0.2, (5, 0.2 + 0.3 + 0.4 + 0.5 + 0.6, 0.5, (0.5, 0.4, 0.3, 0.2, 0.2))),
        (Pace(10), 0, 1.5, (1, 1.5, 0.1, (1.5,) * 9)),
        (Pace(10), 25, 0.005, (25, 0.125, 2.5, ())),
        (Pace(0.5), 0, 0.005, (1, 0.005, 2.0, ())),
        (Pace(0.5, 0.9), 0, 0.005, (1, 0.005, 3.8, ())),
    ],
)
def test_with_a_rate_each_run_is_due_at_a_time_and_waits_from_then(pace, runs, wait_s, expected):
    """What was due and did not begin is as late as the end, and no faster than what was asked."""
    asked, waited_s, due_s, late_s = expected
    session = Scripted(always_1, wait_s=wait_s)
    times, _ = ask(session, FIXED, runs=runs, duration_s=1.0, pace=pace)

    assert times.runs == asked
    assert times.wait_s == pytest.approx(waited_s)
    assert times.due_s == pytest.approx(due_s)
    assert times.unsent == len(late_s)
    assert times.unsent_s == pytest.approx(sum(late_s), rel=0.001)
    waits = merge_histogram([times.waits])
    assert waits.get_total_count() == asked + len(late_s)


def test_many_answers_are_reported_before_the_end(monkeypatch):
    monkeypatch.setattr(asking, "_KEPT_VALUES", 3)
    times, reported = ask(Scripted(always_1), VARYING, runs=20)

    assert len(reported) == times.answers == 21


def test_answers_are_reported_a_message_at_a_time():
    times, reported = ask(Scripted(), VARYING, runs=2 * MOST_ANSWERS + 1)

    assert len(reported) == times.answers == 2 * MOST_ANSWERS + 2
    assert len({instance for instance, _ in reported}) == len(reported)


def test_a_stopped_run_ends_between_two_queries():
    stop = threading.Event()
    stop.set()

    with pytest.raises(Stopped):
        ask(Scripted(), FIXED, runs=5, stop=stop)


def test_an_answer_of_another_type_is_wrong():
    with pytest.raises(MismatchError, match="query q: the answer is wrong: count: expected int64"):
        ask(Scripted(lambda _: "no number"), FIXED, runs=1)


def test_a_warm_up_by_time_asks_instances_of_its_own_and_is_not_counted():
    session = Scripted(lambda asked: asked, wait_s=0.25)
    times, reported = ask(session, VARYING, runs=2, warmup_s=1.0)

    own = [FIRST_INSTANCE + number for number in range(5)]
    assert sorted(instance for instance, _ in reported) == [0, 1, *own]
    assert (times.runs, times.warmup_runs, times.answers) == (2, 4, 7)
    assert (times.wait_s, times.elapsed_s) == (0.5, 0.5)


def test_a_long_warm_up_asks_its_instances_again(monkeypatch):
    monkeypatch.setattr("simulator.protocol.spec.MOST_WARMUP", 2)
    session = Scripted(always_1, wait_s=0.25)
    times, reported = ask(session, VARYING, runs=1, warmup_s=1.5)

    assert (times.warmup_runs, len(reported)) == (6, 4)
