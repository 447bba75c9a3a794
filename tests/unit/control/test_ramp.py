"""The ramp: when workers are let in, when it is over, and with how many."""

import pytest

from simulator.control.progress.ramp import ProgressSample, Ramping, average_s, decide
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.events import RampEnd
from simulator.protocol.messages import Arrival, Heartbeat
from simulator.protocol.spec import Ramp

RAMP = Ramp(step=1, interval_s=10.0, window_s=30.0, limit_s=0.1)


def may_pass(run, barrier, index):
    gate = run._gates.get(barrier, {}).get(index)
    return gate is not None and gate.is_set()


def samples(*waits_s, every_s=1.0):
    """Return a sample each second, between which one answer took so long."""
    found = [ProgressSample(0.0, 0, 0.0)]
    for wait_s in waits_s:
        before = found[-1]
        found.append(
            ProgressSample(before.at_s + every_s, before.runs + 1, before.waited_s + wait_s)
        )
    return found


def test_the_average_is_that_of_the_window():
    found = samples(*[9.0] * 5, *[1.0] * 5, *[3.0] * 5)

    assert average_s(found, 5.0) == 3.0
    assert average_s(found, 10.0) == 2.0
    assert average_s(found, 100.0) == pytest.approx(13 / 3)
    assert average_s(found[:1], 5.0) is None
    assert average_s([*found, ProgressSample(30.0, 15, 65.0)], 5.0) is None


@pytest.mark.parametrize(
    ("waits_s", "given", "expected"),
    [
        ([0.05] * 9, {}, False),
        ([0.05] * 10, {}, True),
        ([0.05] * 10, {"released_at_s": 5.0}, False),
        ([0.05] * 10, {"waiting": 0}, RampEnd.ALL),
        ([0.1] * 10, {}, True),
        ([0.11] * 10, {}, RampEnd.LIMIT),
        ([0.11] * 10, {"waiting": 0}, RampEnd.LIMIT),
        ([0.11] * 9, {}, False),
        ([0.3] * 2, {}, False),
        ([0.31], {}, RampEnd.ABORT),
        ([0.05] * 40 + [0.11] * 30, {"released_at_s": 50.0}, RampEnd.LIMIT),
        ([0.05] * 40 + [0.11] * 10, {"released_at_s": 40.0}, True),
        ([], {"waiting": 0}, False),
    ],
)
def test_what_follows_from_the_answers(waits_s, given, expected):
    given = {"released_at_s": 0.0, "waiting": 3, **given}
    assert decide(RAMP, samples(*waits_s), **given) is expected


class Database:
    """Workers that ask a database whose response time is a function of their number."""

    def __init__(self, response_s, workers=4, step=1, queries=("a",), ramp=RAMP):
        self.now_s = 100.0
        self.response_s = response_s
        self.ramp = ramp.model_copy(update={"step": step})
        self.run = Coordinator(workers, lambda: self.now_s, at_once=step)
        self.ramping = Ramping(self.ramp, self.run, lambda: self.now_s)
        self.queries = queries
        self.counts = dict.fromkeys(range(workers), (0, 0.0))

    def arrive(self, query):
        for index in range(self.run.workers):
            self.run.arrive(Arrival(index=index, barrier=query))

    def beat(self, query):
        """Let a second pass, in which everyone who was let in asks."""
        self.now_s += 1.0
        asking = [index for index in self.counts if may_pass(self.run, query, index)]
        wait_s = self.response_s(len(asking))
        for index in asking:
            runs, waited_s = self.counts[index]
            more = round(1.0 / wait_s)
            self.counts[index] = runs + more, waited_s + more * wait_s
            runs, waited_s = self.counts[index]
            self.run.beat(Heartbeat(index=index, phase=query, runs=runs, waited_s=waited_s))

    def ramped(self):
        for query in self.queries:
            self.counts = dict.fromkeys(self.counts, (0, 0.0))
            self.arrive(query)
            for _ in range(1000):
                self.ramping.tick()
                if self.run.over == query:
                    break
                self.beat(query)
        return self.ramping.found


def test_workers_are_let_in_until_the_average_passes_the_limit():
    (found,) = Database(lambda workers: 0.05 * workers, ramp=RAMP_OF_STEPS).ramped()

    assert (found.query, found.workers, found.end) == ("a", 3, RampEnd.LIMIT)
    assert [step.workers for step in found.steps] == [1, 2, 3]
    assert [step.wait_ms_avg for step in found.steps] == pytest.approx([50, 100, 150])
    assert found.wait_ms_avg == pytest.approx(150)
    assert [step.queries_per_s for step in found.steps] == pytest.approx([20, 20, 21])


RAMP_OF_STEPS = RAMP.model_copy(update={"window_s": 5.0})


def test_several_workers_are_let_in_together():
    (found,) = Database(lambda _: 0.05, workers=7, step=3).ramped()

    assert (found.workers, found.end) == (7, RampEnd.ALL)
    assert [step.workers for step in found.steps] == [3, 6, 7]


def test_three_times_the_limit_ends_a_ramp_before_its_interval():
    database = Database(lambda workers: 0.05 if workers == 1 else 0.5, ramp=RAMP_OF_STEPS)
    (found,) = database.ramped()

    assert (found.workers, found.end) == (2, RampEnd.ABORT)
    assert found.wait_ms_avg > 300
    assert database.now_s < 100 + 2 * RAMP.interval_s


def test_each_query_has_a_ramp_of_its_own():
    database = Database(lambda workers: 0.05 * workers, queries=("a", "b"), ramp=RAMP_OF_STEPS)
    found = database.ramped()

    assert [(each.query, each.workers) for each in found] == [("a", 3), ("b", 3)]
    assert database.run.over == "b"


def test_at_the_end_of_a_ramp_those_that_wait_may_go_on():
    database = Database(lambda _: 0.5)
    database.arrive("a")
    before = [may_pass(database.run, "a", index) for index in range(4)]
    database.ramped()

    assert before == [True, False, False, False]
    assert all(may_pass(database.run, "a", index) for index in range(4))
