"""The collector: its events, its phases, and the end of a warm-up."""

import asyncio
import io
import os
import threading
import time

import numpy as np
import pytest

from simulator.clock import OwnClock
from simulator.control.collector import Collector
from simulator.control.progress.phases import EventWriter
from simulator.control.progress.recent import LEAST_RATES, Steady
from simulator.data.ranges import lane_range
from simulator.modules.null import Null, NullOptions
from simulator.protocol.events import PhaseEvent, SampleEvent, parse_event
from simulator.protocol.spec import Clocking, InsertTask
from simulator.protocol.verdict import VerifyMode
from tests.unit.specs import run_spec


@pytest.fixture
def collector():
    plan = InsertTask(prefill=(lane_range(0, 0, 10),), timed=(lane_range(0, 10, 10),))
    spec = run_spec(
        workers=(plan,),
        verify=VerifyMode.NONE,
    )
    return Collector(spec, Null(NullOptions()), "token", OwnClock())


@pytest.fixture
def reported(collector, monkeypatch):
    """What the collector shows: the thread, and the phase."""
    events = []

    def emit(event):
        assert isinstance(event, PhaseEvent)
        events.append((threading.current_thread(), event.phase))

    monkeypatch.setattr(collector._phases, "_emit", emit)
    return events


def finish(collector):
    """Compact and verify, as `serve` does it."""

    async def scenario():
        collector._loop = asyncio.get_running_loop()
        await collector._in_thread(collector._finish)

    asyncio.run(scenario())


def test_only_one_thread_writes_events(collector, reported):
    finish(collector)

    assert reported == [
        (threading.current_thread(), "visible"),
        (threading.current_thread(), "compact"),
    ]


class Recorded(Null):
    """Its rows are visible at once; meanwhile the loop is busy for a second."""

    def __init__(self):
        super().__init__(NullOptions())
        self.calls = []
        self.keep_busy = None

    def visible(self, tables):
        self.calls.append("visible")
        self.keep_busy(time.sleep, 1)

    def compact(self, tables):
        self.calls.append("compact")

    def size_bytes(self, tables):
        self.calls.append("size_bytes")
        return 4096


@pytest.mark.usefixtures("reported")
def test_rows_are_visible_before_the_storage_is_compacted_and_measured(collector):
    database = collector._work._database = Recorded()

    async def scenario():
        collector._loop = asyncio.get_running_loop()
        database.keep_busy = collector._loop.call_soon_threadsafe
        await collector._in_thread(collector._finish)
        collector._phases.leave(time.time())

    asyncio.run(scenario())

    assert database.calls == ["visible", "compact", "size_bytes"]
    assert collector._work.size_bytes == 4096
    assert list(collector._phases.seconds) == ["visible", "compact"]
    assert collector._phases.seconds["visible"] < collector._phases.seconds["compact"]


def test_a_thread_that_goes_on_after_the_end_shows_nothing(collector, reported):
    collector._phases.enter("insert")
    collector._run.stop("enough")
    collector._phases.enter("visible")

    assert [phase for _, phase in reported] == ["insert"]


def test_phases_noticed_late_are_as_long_as_they_were(collector, reported):
    collector._phases.enter("prefill", at_s=100.0)
    collector._run._arrived["insert"] = {0}
    collector._run.first_arrival_s["insert"] = 103.0
    collector._run.released_s["insert"] = 104.0
    collector._follower.follow()
    collector._phases.leave(110.0)

    assert [phase for _, phase in reported] == ["prefill", "barrier", "insert"]
    assert collector._phases.seconds == {"prefill": 3.0, "barrier": 1.0, "insert": 6.0}


def test_the_insert_begins_at_the_end_of_the_warm_up(collector, reported):
    warms = {"clocking": Clocking(warmup_s=5.0)}
    collector._follower._spec = collector._spec.model_copy(update=warms)
    began = time.time() - 2
    collector._phases.enter("barrier", at_s=began - 1)
    collector._run.released_s["insert"] = began
    collector._follower.follow()
    assert [phase for _, phase in reported] == ["barrier", "warmup"]

    collector._phases.began_at_s -= 4  # as if two seconds more than the warm-up had passed
    collector._follower.follow()
    collector._phases.leave(began + 10)

    assert [phase for _, phase in reported] == ["barrier", "warmup", "insert"]
    assert collector._phases.seconds["warmup"] == pytest.approx(5.0)


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
