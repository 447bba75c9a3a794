"""Asking types in turn: on a schedule, until the time is over, and late queries have waited."""

import threading

import pytest

from simulator.load.ask import asker as asking
from simulator.load.ask import asking as turning
from simulator.load.ask.asking import Turns, order_turns
from simulator.load.ask.callers import OneCaller
from simulator.load.connecting import Stopped
from simulator.modules.contract import session as contract_session
from simulator.protocol import pace as pacing
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.pace import Pace
from tests.unit.load.test_asker import FIXED, VARYING, Clock, Scripted, asker_over


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    for module in (asking, contract_session, pacing, turning):
        monkeypatch.setattr(module, "time", clock)
    return clock


class Stop(threading.Event):
    """Waits on the clock of the test."""

    def wait(self, timeout=None):
        asking.time.sleep(timeout + 0.0002)  # as if a timer were exact
        return self.is_set()


def turns(session, pace, types=(FIXED, VARYING), first=0, stop=None, **warmup):
    callers, given = OneCaller(session), {"runs": 0, "most": 5}
    given["warmup_s"] = warmup.get("warmup_s", 0.0)
    askers = [
        asker_over(callers, each, f"q{n}", stop=stop, **given) for n, each in enumerate(types)
    ]
    for asker in askers:
        asker.ask_first()
    session.asked.clear()
    return Turns(askers, callers, pace, first, **warmup)


def rows(asked):
    return asked


def test_types_take_turns_and_each_goes_through_its_instances():
    session = Scripted(rows, wait_s=0.01)
    asked = turns(session, Pace(duration_s=0.1))
    asked.ask(Stop())
    first, second = asked.times()

    assert (first.runs, second.runs, asked.waits.count) == (5, 5, 10)
    assert first.elapsed_s == second.elapsed_s == pytest.approx(0.1)
    ends = [text.rpartition(" ")[2] for text in session.asked[1::2]]
    assert ends == ["0", "1", "2", "3", "4"]


def test_workers_begin_with_different_types():
    session = Scripted(rows, wait_s=0.06)
    asked = turns(session, Pace(duration_s=0.1), first=1)
    asked.ask(Stop())

    assert "timestamp" in session.asked[0]
    assert "timestamp" not in session.asked[1]


def test_queries_are_due_on_a_schedule_and_none_begins_after_the_end():
    session = Scripted(rows, wait_s=0.01)
    asked = turns(session, Pace(10.0, 0.5, 1.0), types=(FIXED,))
    began_s = asking.time.perf_counter()
    asked.ask(Stop())
    (times,) = asked.times()

    assert times.runs == 10
    assert asking.time.perf_counter() - began_s == pytest.approx(1.0, abs=0.001)
    assert times.wait_s == pytest.approx(0.1, abs=0.005)


def test_a_query_behind_schedule_has_waited_since_it_was_due():
    session = Scripted(rows, wait_s=0.2)
    asked = turns(session, Pace(10.0, 0.0, 1.0), types=(FIXED,))
    asked.ask(Stop())
    (times,) = asked.times()

    waited = merge_histogram([times.waits])
    assert times.runs == 5
    assert waited.get_min_value() == pytest.approx(200_000, rel=0.01)
    assert waited.get_max_value() == pytest.approx(600_000, rel=0.01)
    assert times.elapsed_s == pytest.approx(1.0)


def test_a_time_that_is_too_short_leaves_a_type_out():
    session = Scripted(rows, wait_s=0.2)
    asked = turns(session, Pace(duration_s=0.1))
    asked.ask(Stop())

    assert [times.runs for times in asked.times()] == [1, 0]
    assert [times.answers for times in asked.times()] == [1, 1]


def test_a_stop_ends_the_wait_for_the_schedule():
    stop = Stop()
    asked = turns(Scripted(rows), Pace(0.01, 0.5, 1000.0), stop=stop)
    stop.set()
    with pytest.raises(Stopped):
        asked.ask(stop)


def test_what_is_due_in_the_warmup_is_asked_and_not_timed():
    session, measured_s = Scripted(rows, wait_s=0.01), []
    asked = turns(
        session, Pace(10.0, 0.5, 1.0), types=(VARYING,), warmup_s=0.5,
        when_measured=lambda: measured_s.append(asking.time.perf_counter()),
    )  # fmt: skip
    began_s = asking.time.perf_counter()
    asked.ask(Stop())
    (times,) = asked.times()

    assert (times.warmup_runs, times.runs, asked.waits.count) == (5, 10, 15)
    assert measured_s == [pytest.approx(began_s + 0.55, abs=0.001)]
    assert times.elapsed_s == pytest.approx(0.91, abs=0.001)
    assert times.wait_s == pytest.approx(0.1, abs=0.005)
    assert asked.waits.sum_ns / 1e9 == pytest.approx(0.15, abs=0.005)
    first_ones, timed = session.asked[:5], session.asked[5:]
    assert {*first_ones}.isdisjoint(timed)


def test_a_warmup_that_a_query_outlasts_leaves_nothing_timed():
    session, measured = Scripted(rows, wait_s=2.0), []
    asked = turns(
        session, Pace(duration_s=1.0), types=(FIXED,), warmup_s=0.5,
        when_measured=lambda: measured.append(1),
    )  # fmt: skip
    asked.ask(Stop())
    (times,) = asked.times()

    assert (times.warmup_runs, times.runs, times.elapsed_s, measured) == (1, 0, 0, [1])


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ({}, "012"),
        ({"q0": 3}, "00120"),
        ({"q0": 90, "q1": 10, "q2": 10}, "0000" + "0120" + "000"),
        ({"q1": 2, "q2": 2}, "12012"),
    ],
)
def test_a_type_with_a_weight_has_so_many_turns_evenly_spread(weights, order):
    callers = OneCaller(Scripted(rows))
    askers = [asker_over(callers, FIXED, f"q{n}", runs=0) for n in range(3)]

    assert "".join(each.name[1:] for each in order_turns(askers, weights)) == order


def test_queries_that_were_not_sent_are_shared_by_weight_too():
    asked = turns(Scripted(rows, wait_s=2.0), Pace(4.0, duration_s=2.0), weights={"q0": 3})
    asked.ask(Stop())
    first, second = asked.times()

    assert (first.runs + first.unsent, second.runs + second.unsent) == (6, 2)
