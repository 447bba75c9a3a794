"""The coordinator: who is let in, when a barrier opens, and why a run is over."""

import asyncio
import math

import pytest

from simulator.control.workers import coordinator
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.messages import (
    SILENCE_S,
    Arrival,
    Heartbeat,
    Registration,
    WorkerReport,
    heartbeat_s,
    hold_s,
)
from tests.unit.control.run import within_a_moment

pytestmark = pytest.mark.usefixtures("_no_ticks")


@pytest.fixture
def _no_ticks(monkeypatch):
    monkeypatch.setattr(coordinator, "_TICK_S", 0)


class Clock:
    """A clock that is reported the time; with `step`, it goes on at every look."""

    def __init__(self, now=1000.0, step=0.0):
        self.now = now
        self.step = step

    def __call__(self):
        self.now += self.step
        return self.now


def registration(index, version="1"):
    return Registration(index=index, version=version)


def registered(workers, clock):
    """A run whose workers are all there."""
    run = Coordinator(workers, clock)
    run.uids.update({index: f"uid-{index}" for index in range(workers)})
    return run


async def registering(run, message):
    """Register a worker, and wait for the tables."""
    run.register(message, "uid", "1")
    return await run.hold(run.tables_ready)


async def arriving(run, message):
    """Arrive at a barrier, and wait there."""
    run.arrive(message)
    return await run.hold_at_barrier(message)


async def turns(count=20):
    """Let everything that can go on do so."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_the_barrier_opens_only_when_all_are_there():
    async def scenario():
        clock = Clock()
        run = registered(3, clock)
        waits = []
        opened = []
        for index in range(3):
            opened.append([wait.done() for wait in waits])
            clock.now += 1
            arrival = Arrival(index=index, barrier="insert")
            waits.append(asyncio.create_task(arriving(run, arrival)))
            await turns()
        return run, opened, [wait.done() for wait in waits]

    run, before, after = within_a_moment(scenario())

    assert before == [[], [False], [False, False]]
    assert after == [True, True, True]
    assert run.first_arrival_s == {"insert": 1001.0}
    assert run.released_s == {"insert": 1003.0}


def test_many_workers_begin_a_little_later_all_at_once():
    async def scenario():
        run = registered(200, Clock())
        waits = [
            asyncio.create_task(arriving(run, Arrival(index=index, barrier="insert")))
            for index in range(200)
        ]
        await asyncio.gather(*waits)
        return run.released_s["insert"]

    assert within_a_moment(scenario()) == pytest.approx(1000.4)


@pytest.mark.parametrize(
    ("workers", "every_s"), [(1, 0.5), (100, 0.5), (400, 2.0), (1000, 5.0), (10_000, 5.0)]
)
def test_heartbeats_are_bounded_and_nobody_seems_silent(workers, every_s):
    assert heartbeat_s(workers) == every_s
    assert hold_s(workers) == max(every_s, 2.0)
    assert 3 * every_s <= SILENCE_S


def test_registration_waits_for_the_tables():
    async def scenario():
        run = Coordinator(1, Clock())
        wait = asyncio.create_task(registering(run, registration(0)))
        await turns()
        before = wait.done()
        run.tables_ready.set()
        await wait
        return before, run.heard_s

    assert within_a_moment(scenario()) == (False, {0: 1000.0})


def test_a_worker_of_another_version_ends_the_run():
    async def scenario():
        run = Coordinator(1, Clock())
        await registering(run, registration(0, version="2"))
        return run.cause

    cause = within_a_moment(scenario())

    assert cause == "worker 0 is version 2 and the collector 1; use one image for both"


def test_the_end_releases_all_that_wait():
    async def scenario():
        run = registered(3, Clock())
        waits = [
            asyncio.create_task(registering(run, registration(0))),
            asyncio.create_task(arriving(run, Arrival(index=1, barrier="insert"))),
            asyncio.create_task(run.wait_finished()),
        ]
        await turns()
        run.stop("the first cause")
        run.stop("a later one")
        await asyncio.gather(*waits)
        return run.cause, run.released_s

    assert within_a_moment(scenario()) == ("the first cause", {})


def watched(run, clock, step):
    """Watch a run with its clock going on until it is over."""

    async def scenario():
        run.tables_ready.set()
        clock.step = step
        await run.watch(120.0, SILENCE_S)
        return run.cause

    return within_a_moment(scenario())


def test_a_worker_that_does_not_appear_ends_the_run():
    clock = Clock()

    assert watched(Coordinator(1, clock), clock, 10) == "worker 0 did not register within 120 s"
    assert clock.now > 1000 + 120


def test_a_silent_worker_ends_the_run():
    clock = Clock()
    run = Coordinator(1, clock)
    run.uids[0] = "uid"
    run.beat(Heartbeat(index=0, phase="insert", rows=1))

    assert watched(run, clock, 1) == f"worker 0 has been silent for {SILENCE_S:.0f} s"
    assert clock.now == 1000 + SILENCE_S + 2  # it also looks when that was
    (found,) = run.list_early_end(990.0)
    assert (found.what, found.is_failure) == ("worker lost", True)
    assert found.at_s == pytest.approx(11, abs=2), "when it was last heard"


def test_why_and_when_a_run_ended_early():
    run = Coordinator(2, lambda: 1007.25)
    assert [*run.list_early_end(1000.0)] == []
    run.report(WorkerReport(index=0, error="table is full"))
    run.lose(1, "was killed")

    (found,) = run.list_early_end(1000.0)
    assert (found.at_s, found.what, found.count) == (7.2, "worker failed", 1)
    assert not run.is_wrong
    assert [*run.list_early_end(math.inf)] == []


def test_a_wrong_answer_is_known_as_one():
    run = Coordinator(2)
    run.report(WorkerReport(index=0, error="the answer is wrong", is_wrong=True))

    assert run.is_wrong


def test_a_worker_that_beats_or_has_reported_is_not_silent():
    async def scenario():
        clock = Clock()
        run = Coordinator(2, clock)
        run.uids.update({0: "a", 1: "b"})
        run.report(WorkerReport(index=1))
        watching = asyncio.create_task(run.watch(120.0, SILENCE_S))
        for rows in range(10):
            run.beat(Heartbeat(index=0, phase="insert", rows=rows))
            clock.now += SILENCE_S
            await turns()
        over = run.stopped.is_set()
        watching.cancel()
        return over

    assert within_a_moment(scenario()) is False


def test_the_loss_of_a_worker_ends_the_run_unless_it_has_reported():
    run = registered(2, Clock())
    run.report(WorkerReport(index=1))
    run.lose(1, "was killed by SIGKILL")
    assert not run.stopped.is_set()
    run.lose(0, "was killed by SIGKILL")

    assert run.cause == "worker 0 was killed by SIGKILL"


def test_a_lost_worker_is_reported_of_by_its_last_words():
    run = registered(4, Clock())
    run.beat(Heartbeat(index=2, phase="insert", rows=70, prefill_rows=9, retried=1))
    run.beat(Heartbeat(index=1, phase="prefill", prefill_rows=30))
    run.beat(Heartbeat(index=0, phase="insert", rows=5))
    whole = WorkerReport(index=0, rows=100)
    run.report(whole)

    assert run.all_reports() == (
        whole,
        WorkerReport(
            index=1,
            error="no report; last heartbeat in prefill",
            prefill_rows=30,
            is_lost=True,
        ),
        WorkerReport(
            index=2,
            error="no report; last heartbeat in insert",
            rows=70,
            prefill_rows=9,
            retried=1,
            is_lost=True,
        ),
    )


def test_last_reports_are_waited_for_only_from_workers_still_there():
    async def scenario():
        clock = Clock()
        run = registered(2, clock)
        run.beat(Heartbeat(index=0, phase="insert", rows=1))
        clock.now += 10
        run.beat(Heartbeat(index=1, phase="insert", rows=1))
        wait = asyncio.create_task(run.last_reports(3.0))
        await turns()
        before = wait.done()
        run.report(WorkerReport(index=1))
        await wait
        return before, clock.now, run.has_lost

    assert within_a_moment(scenario()) == (False, 1010.0, True)


def test_last_reports_are_not_waited_for_longer_than_the_grace():
    async def scenario():
        clock = Clock(step=0.5)
        run = Coordinator(1, clock)
        run.heard_s[0] = 10**9
        await run.last_reports(3.0)
        return clock.now

    assert within_a_moment(scenario()) < 1000 + 3.0 + 2


def test_silence_and_instants_are_read_from_different_clocks():
    async def scenario():
        instants, own = Clock(), Clock(5.0)
        run = Coordinator(1, instants, own)
        run.uids[0] = "uid"
        run.beat(Heartbeat(index=0, phase="insert", rows=1))
        await arriving(run, Arrival(index=0, barrier="insert"))
        watching = asyncio.create_task(run.watch(120.0, SILENCE_S))
        instants.now += 10_000  # the machine was suspended, or its clock was set
        await turns()
        over = run.stopped.is_set()
        own.now += SILENCE_S + 1
        await watching
        return over, run.released_s, run.heard_s, run.cause

    assert within_a_moment(scenario()) == (
        False,
        {"insert": 1000.0},
        {0: 5.0},
        f"worker 0 has been silent for {SILENCE_S:.0f} s",
    )


def test_a_stall_counts_from_the_last_row_or_from_the_phase():
    clock = Clock()
    run = Coordinator(2, clock)
    assert run.compute_stalled_s(clock.now - 3) == 3
    run.beat(Heartbeat(index=0, phase="insert", rows=1))
    clock.now += 7
    run.beat(Heartbeat(index=0, phase="insert", rows=1))
    run.beat(Heartbeat(index=1, phase="insert", rows=0))

    assert run.compute_stalled_s(clock.now - 9) == 7
    assert run.compute_stalled_s(clock.now - 2) == 2
