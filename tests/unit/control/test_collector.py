"""The collector: who writes its events, and when its phases begin and end."""

import asyncio
import threading
import time

import pytest

from simulator.clock import OwnClock
from simulator.control.collector import Collector
from simulator.data.ranges import lane_range
from simulator.modules.null import Null, NullOptions
from simulator.protocol.events import PhaseEvent
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
