"""Stages of a worker: when it is active, and what it measures in each."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.ranges import lane_range
from simulator.load import durations
from simulator.load import meter as metering
from simulator.load.ask.callers import OneCaller
from simulator.load.connecting import Stopped
from simulator.load.meter import Meter, StageMeter
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.pace import Clocking, LoadStage, Pace, Timetable, paces_of
from tests.unit.load.test_asker import Scripted, always_1, asker_over, clock_of
from tests.unit.load.test_sender import Database, reader
from tests.unit.load.test_sender_in_flight import Database as InFlight

S = 10**9
MS = 10**6


def stages_of(*parts):
    names = ("workers", "duration_s", "rate_per_s")
    return tuple(LoadStage(**dict(zip(names, part, strict=False))) for part in parts)


def clocking_of(stages):
    return Clocking(stages=stages, duration_s=sum(stage.duration_s for stage in stages))


def paces(stages, place, rate=0.0):
    return paces_of(clocking_of(stages), place, 4, rate)


UP_AND_DOWN = stages_of((1, 1.0), (4, 2.0), (2, 3.0))


@pytest.mark.parametrize(
    ("index", "windows"),
    [(0, [(0, 1), (1, 3), (3, 6)]), (1, [(1, 3), (3, 6)]), (2, [(1, 3)]), (4, [])],
)
def test_a_worker_is_active_where_a_stage_has_more_workers_than_its_index(index, windows):
    found = paces(UP_AND_DOWN, index)

    assert [(each.begin_ns(0, 0) / S, each.end_ns(0) / S) for each in found] == windows


def test_active_workers_share_the_rate_and_take_turns():
    first, second, third = paces(UP_AND_DOWN, 0, 120.0)
    assert [each.rate_per_s for each in (first, second, third)] == [120.0, 30.0, 60.0]
    assert [each.turn for each in paces(UP_AND_DOWN, 1, 120.0)] == [0.25, 0.5]


def test_a_stage_with_a_rate_has_it_in_place_of_that_of_the_run():
    stages = stages_of((1, 1.0), (4, 2.0, 1000.0), (2, 3.0, 50.0))

    assert [each.rate_per_s for each in paces(stages, 0, 120.0)] == [120.0, 250.0, 25.0]
    assert [each.rate_per_s for each in paces(stages, 1)] == [250.0, 25.0]
    clocking = Clocking(stages=stages, queries_per_s=2.0).multiply(3)
    assert clocking.queries_per_s == 6.0
    assert [each.rate_per_s for each in clocking.stages] == [0.0, 3000.0, 150.0]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 40)), min_size=1, max_size=4),
    st.sampled_from([1, 10, 64]),
    st.sampled_from([0, 7 * MS, 300 * MS, 2 * S]),
)
def test_every_batch_that_falls_due_in_a_stage_is_counted_in_it(loads, batch, took_ns):
    stages = stages_of(*((workers, 1.0, 1.0 * due * batch) for workers, due in loads))
    counted = [0] * len(stages)
    for place in range(max(workers for workers, _ in loads)):
        table, meter, now_ns = (
            Timetable(paces(stages, place), 0, 0, batch),
            Meter(0, 0.0, stages),
            0,
        )
        while (due_ns := table.due_ns(now_ns, batch)) != NEVER_NS:
            now_ns = max(now_ns, due_ns) + took_ns
            meter.record(due_ns, now_ns, batch, 0)
        for kept in table.list_kept():
            meter.keep(kept)
        measured = meter.stages(lambda ns: ns / S)
        assert sum(each.count + each.unsent for each in measured) == meter.sends + meter.unsent
        for each in measured:
            assert merge_histogram([each.latency]).get_total_count() == each.count + each.unsent
            assert each.stage <= each.started_s < each.stage + 1
            counted[each.stage] += each.count + each.unsent

    assert counted == [due for _, due in loads]


def test_the_workers_of_the_first_stage_also_warm_up():
    (pace, *_) = paces(UP_AND_DOWN, 0)
    assert (pace.begin_ns(10, 15 * S), pace.end_ns(15 * S)) == (10, 16 * S)
    (late, *_) = paces(UP_AND_DOWN, 1)
    assert late.begin_ns(10, 15 * S) == 16 * S


def test_without_a_rate_a_batch_is_due_at_once_or_when_the_next_stage_begins():
    stages = stages_of((2, 1.0), (1, 1.0), (2, 1.0))
    table = Timetable(paces(stages, 1), 0, 0, 10)

    assert table.due_ns(5, 10) == 5
    assert table.free_until_ns == S
    assert table.due_ns(S, 10) == table.begin_ns == 2 * S
    assert table.free_until_ns == 3 * S
    assert table.due_ns(3 * S, 10) == NEVER_NS


def test_with_a_rate_each_stage_has_a_schedule_of_its_own():
    table = Timetable(paces(stages_of((1, 1.0), (2, 1.0)), 0, 20.0), 0, 0, 10)

    dues = [table.due_ns(now, 10) for now in (0, 0, 0, 0)]
    assert dues == [0, S // 2, S, NEVER_NS]  # 20 rows/s alone, then 10 rows/s of two
    assert table.free_until_ns == 0


def test_a_stage_ends_what_is_behind_its_schedule():
    table = Timetable(paces(stages_of((1, 1.0), (1, 1.0)), 0, 100.0), 0, 0, 10)

    assert table.due_ns(S - 1, 10) == 0
    assert table.due_ns(S + 5, 10) == S


@pytest.mark.parametrize("buffer", [2, 1 << 14])
def test_batches_count_in_the_stage_in_which_they_were_due(monkeypatch, buffer):
    for module in (durations, metering):
        monkeypatch.setattr(module, "BUFFER", buffer)
    start = 7 * S
    meter = Meter(start, 1.0, stages_of((1, 2.0), (3, 2.0)))
    for due_s, took_ms, rows in (
        (0.5, 900, 1), (1.0, 10, 2), (2.9, 500, 4), (3.0, 20, 8), (4.9, 300, 16)
    ):  # fmt: skip
        due_ns = start + int(due_s * S)
        meter.record(due_ns, due_ns + took_ms * MS, rows, 0)
    first, second = meter.stages(lambda ns: (ns - start) / S)

    assert (first.stage, first.rows, first.count) == (0, 6, 2)
    assert (first.started_s, first.ended_s) == pytest.approx((1.0, 3.4))
    assert (second.stage, second.rows, second.count) == (1, 24, 2)
    assert (second.started_s, second.ended_s) == pytest.approx((3.0, 5.2))
    assert first.rows + second.rows == meter.rows - meter.warmup_rows
    whole = merge_histogram([first.latency, second.latency])
    assert whole.encode().decode() == meter.latency()


def test_a_rate_far_too_high_leaves_billions_unsent_in_little_memory():
    table = Timetable([Pace(1e9, 0.0, 60.0)], 0, 0)
    assert table.due_ns(0) == 0
    assert table.due_ns(61 * S) == NEVER_NS
    (kept,) = table.list_kept()

    assert len(kept.late_ns) <= 1 << 17
    assert len(kept.late_ns) * kept.each == pytest.approx(60e9, rel=1e-4)
    meter = Meter(0)
    meter.keep(kept)
    assert merge_histogram([meter.latency()]).get_total_count() == meter.unsent


def test_a_stage_without_a_batch_is_left_out():
    meter = StageMeter(stages_of((1, 1.0), (1, 1.0), (1, 1.0)), 0)
    meter.record(2 * S, 5 * MS, 3 * S)
    (only,) = meter.times(lambda ns: ns / S)

    assert (only.stage, only.count, only.rows, only.started_s, only.ended_s) == (2, 1, 0, 2.0, 3.0)
    assert Meter(0).stages(float) == ()


def send_in(stages, index, database, batch=10, rate=0.0):
    sender = Sender(database, reader(), threading.Event())
    sender.start(stages=stages)
    sender.insert([lane_range(1, 0, 10**6)], BATCH, batch, *paces(stages, index, rate))
    return sender, sender.meter.stages(lambda ns: (ns - sender.meter.start_ns) / S)


def paced(cls):
    """A database that takes a moment for each batch, so that no test has many."""

    class Paced(cls):
        def connect(self):
            session = super().connect()
            send = session.send
            session.send = lambda payload: (time.sleep(0.005), send(payload))[1]
            return session

    return Paced


@pytest.mark.parametrize("rate", [0.0, 2000.0])
def test_a_sender_pauses_between_its_stages(rate):
    stages = stages_of((2, 1.0), (1, 1.0), (2, 1.0))
    sender, measured = send_in(stages, 1, paced(Database)(), rate=rate)

    assert [each.stage for each in measured] == [0, 2]
    assert sum(each.rows for each in measured) == sender.meter.rows > 0
    first, last = measured
    assert 0 <= first.started_s < 1
    assert 2 <= last.started_s < 3
    assert 0 < sender.spent.inactive_ns / S < 2
    assert merge_histogram([last.latency]).get_total_count() == last.count + last.unsent
    if rate:  # 2,000 rows/s of 2 workers, in batches of 10, for a second each
        assert [each.count + each.unsent for each in measured] == [100, 100]
        assert last.due_until_s == pytest.approx(2.0 + (last.count + 0.5) / 100, abs=0.001)


def test_batches_in_flight_are_acknowledged_before_a_pause():
    database = InFlight(sends=10**6)
    stages = stages_of((1, 0.1), (2, 0.1), (1, 0.3))
    sender = Sender(database, reader(), threading.Event())
    sender.start(stages=stages)
    seen = []
    delivery, waited = sender.delivery, sender.delivery.end_all
    delivery.end_all = lambda: (waited(), seen.append((len(delivery._window), sender.meter.rows)))
    sender.insert([lane_range(1, 0, 2000)], BATCH, 10, *paces(stages, 1))

    assert seen[0] == (0, 0)  # before its first stage
    assert all(left == 0 for left, _ in seen)


def test_a_sender_that_is_stopped_in_a_pause_ends():
    stop = threading.Event()
    sender = Sender(Database(), reader(), stop)
    stages = stages_of((1, 1000.0), (2, 1.0))
    sender.start(stages=stages)
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(Stopped):
        sender.insert([lane_range(1, 0, 100)], BATCH, 10, *paces(stages, 1))

    assert sender.meter.rows == 0


def test_queries_are_measured_by_stage_and_end_with_the_one_in_flight(monkeypatch):
    clock, reported = clock_of(monkeypatch), []
    asker = asker_over(
        OneCaller(Scripted(always_1, wait_s=0.4, fold_s=0.1)),
        report=lambda *found: reported.append(found), place=1, every=2, runs=0,
    )  # fmt: skip
    asker.warm()
    began_ns = clock.now_ns
    stages = stages_of((2, 1.2), (1, 3.0), (2, 1.0))
    times = asker.ask_in_stages(clocking_of(stages), 1, lambda ns: (ns - began_ns) / S)

    first, last = times.stages
    assert (first.stage, first.count, first.started_s, first.ended_s) == (0, 3, 0.0, 1.5)
    assert (last.stage, last.count, last.started_s, last.ended_s) == (2, 2, 4.2, 5.2)
    assert (times.runs, times.elapsed_s) == (5, 5.2)
    assert merge_histogram([first.latency]).get_max_value() == pytest.approx(400_000, rel=0.01)
    assert len(reported) == 1
    assert clock.now_ns - began_ns == 5.2 * S


def test_queries_that_did_not_begin_are_at_least_as_slow_as_the_fastest_one():
    meter = StageMeter(stages_of((1, 1.0, 4.0)), 0)
    meter.record(0, 600 * MS, 600 * MS)
    table = Timetable(paces(stages_of((1, 1.0, 4.0)), 0), 0, 0)
    assert table.due_ns(0) == 0
    assert table.due_ns(1000 * MS) == NEVER_NS  # those at 250, 500 and 750 ms did not begin
    (kept,) = table.list_kept()
    meter.keep(kept)
    (only,) = meter.times(lambda ns: ns / S)

    assert (only.count, only.unsent, only.started_s, only.ended_s) == (1, 3, 0.0, 0.6)
    assert merge_histogram([only.latency]).get_min_value() == pytest.approx(600_000, rel=0.01)


def test_many_queries_fit_into_a_meter(monkeypatch):
    for module in (durations, metering):
        monkeypatch.setattr(module, "BUFFER", 8)
    meter = StageMeter(stages_of((1, 1.0), (1, 1.0)), 0)
    for number in range(100):
        meter.record(number * 20 * MS, MS, (number + 1) * 20 * MS)

    assert [each.count for each in meter.times(float)] == [50, 50]
    assert np.all([len(meter._waiting) == 0])
