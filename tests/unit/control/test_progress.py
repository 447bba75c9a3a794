"""How a run gets on: its phases, the writer of its events, and the end of a warm-up."""

import io
import os
import threading
import time

import numpy as np
import pytest

from simulator.clock import OwnClock
from simulator.control.progress.follower import Follower
from simulator.control.progress.phases import EventWriter
from simulator.control.progress.recent import LEAST_RATES, Steady
from simulator.control.workers.coordinator import Coordinator
from simulator.data.ranges import lane_range
from simulator.protocol.events import PhaseEvent, ReportEvent, SampleEvent, parse_event
from simulator.protocol.messages import Arrival, WorkerReport
from simulator.protocol.spec import InsertTask
from tests.unit.specs import run_spec


class Followed:
    """An insert of two workers, on a clock of its own, and what is written about it."""

    def __init__(self, **clocking):
        self.now_s = 0.0
        plans = [
            InsertTask(prefill=(lane_range(i, 0, 10),), timed=(lane_range(i, 10, 10),))
            for i in range(2)
        ]
        spec = run_spec(workers=tuple(plans), **clocking)
        self.run = Coordinator(2, lambda: self.now_s)
        self.lines = io.StringIO()
        self.writer = EventWriter(self.lines)
        self.follower = Follower(spec, (), self.run, OwnClock(), self.writer)
        self.phases = self.follower.phases

    def events(self):
        """Close the writer; return what it has written."""
        self.writer.close()
        return [parse_event(line)[1] for line in self.lines.getvalue().splitlines()]

    def entered(self):
        """Close the writer; return the phases that were entered."""
        return list(dict.fromkeys(event.phase for event in self.events()))


def test_a_phase_that_begins_after_the_end_is_not_shown():
    followed = Followed()
    followed.phases.enter("insert")
    followed.run.stop("enough")
    followed.phases.enter("visible")

    assert followed.entered() == ["insert"]


def test_phases_noticed_late_are_as_long_as_they_were():
    followed = Followed()
    followed.phases.enter("prefill", at_s=100.0)
    for index, followed.now_s in enumerate((103.0, 104.0)):
        followed.run.arrive(Arrival(index=index, barrier="insert"))
    followed.follower.follow()
    followed.phases.leave(110.0)

    assert followed.entered() == ["prefill", "barrier", "insert"]
    assert followed.phases.seconds == {"prefill": 3.0, "barrier": 1.0, "insert": 6.0}


def test_the_insert_begins_at_the_end_of_the_warm_up():
    followed = Followed(warmup_s=5.0)
    began_s = time.time() - 2
    followed.phases.enter("barrier", at_s=began_s - 1)
    followed.run.released_s["insert"] = began_s
    followed.follower.follow()
    assert followed.phases.now == "warmup"

    followed.phases.began_at_s -= 4  # as if two seconds more than the warm-up had passed
    followed.follower.follow()
    followed.phases.leave(began_s + 10)

    assert followed.entered() == ["barrier", "warmup", "insert"]
    assert followed.phases.seconds["warmup"] == pytest.approx(5.0)


def test_a_report_is_passed_on_while_others_still_insert():
    followed = Followed()
    for index in range(2):
        followed.run.report(WorkerReport(index=index, rows=10))
        followed.follower.follow()
        followed.writer.write(PhaseEvent(phase=f"after {index}"))

    shown = [getattr(event, "phase", None) or type(event) for event in followed.events()]
    assert shown == [ReportEvent, "after 0", ReportEvent, "after 1"]


MANY = 3_000
"""More lines than a pipe holds."""


def pipe():
    reading, writing = os.pipe()
    return os.fdopen(reading, "r"), os.fdopen(writing, "w")


def written(output, count):
    writer = EventWriter(output)
    for number in range(count):
        writer.write(PhaseEvent(phase=str(number)))
    return writer


def test_a_reader_that_is_stopped_delays_nobody_and_misses_nothing():
    reader, output = pipe()
    began = time.monotonic()
    writer = written(output, MANY)
    took_s = time.monotonic() - began
    closing = threading.Thread(target=writer.close)
    closing.start()
    lines = [parse_event(reader.readline()) for _ in range(MANY)]
    closing.join(5)
    output.close()
    reader.close()

    assert took_s < 5
    assert [number for number, _ in lines] == list(range(1, MANY + 1))
    assert [event.phase for _, event in lines] == [str(number) for number in range(MANY)]


def test_a_reader_that_is_gone_ends_the_writing():
    reader, output = pipe()
    writer = written(output, MANY)
    reader.close()
    closing = threading.Thread(target=writer.close, daemon=True)
    closing.start()
    closing.join(5)

    assert not closing.is_alive()
    with pytest.raises(BrokenPipeError):
        output.close()


def test_samples_do_not_end_a_silence():
    now_s = [10.0]
    writer = EventWriter(io.StringIO(), lambda: now_s[0])
    now_s[0] = 13.0
    writer.write(SampleEvent(at_s=1.0, phase="insert", rows=1, rows_per_s=1.0))
    assert writer.silent_s == 3.0

    writer.write(PhaseEvent(phase="insert"))
    assert writer.silent_s == 0.0
    writer.close()


SEEDS = range(100)


def seconds_until_steady(rates):
    """Return after how many rates the warm-up ends; None if it does not."""
    steady = Steady()
    for number, rate in enumerate(rates, 1):
        steady.note(rate)
        if steady.is_reached:
            return number
    return None


def noisy(rates, noise, seed):
    return rates * (1 + noise * np.random.default_rng(seed).standard_normal(len(rates)))


def test_an_even_rate_is_steady_once_enough_rates_are_known():
    assert seconds_until_steady([1000.0] * 60) == LEAST_RATES


@pytest.mark.parametrize("time_constant_s", [3, 5, 10])
def test_a_rate_that_climbs_to_a_level_is_steady_when_it_is_near(time_constant_s):
    seconds = np.arange(120)
    rates = 1000 * (1 - 0.6 * np.exp(-seconds / time_constant_s))
    found = [seconds_until_steady(noisy(rates, 0.03, seed)) for seed in SEEDS]

    assert all(found)
    assert np.mean([rates[number] for number in found]) > 960
    assert np.mean(found) < 60


def test_a_rate_that_falls_all_the_time_is_not_steady():
    falling = 1000 * np.exp(-np.arange(60) / 20)
    found = [seconds_until_steady(noisy(falling, 0.02, seed)) for seed in SEEDS]

    assert found == [None] * len(found)


def test_single_dips_do_not_prevent_it():
    rates = np.full(60, 1000.0)
    rates[[6, 13, 20, 27]] = 100.0

    assert seconds_until_steady(rates) == LEAST_RATES


def test_nothing_is_not_steady():
    assert seconds_until_steady([0.0] * 60) is None
