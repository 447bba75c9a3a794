"""The collector: who writes its events, and when its phases begin and end."""

import asyncio
import threading

import pytest

from simulator.clock import OwnClock
from simulator.control.collector import Collector
from simulator.data.ranges import lane_range
from simulator.modules.null import Null, NullOptions
from simulator.protocol.messages import PhaseEvent
from simulator.protocol.spec import Insert
from simulator.protocol.verdict import VerifyMode
from tests.unit.specs import run_spec


@pytest.fixture
def collector():
    plan = Insert(prefill=(lane_range(0, 0, 10),), timed=(lane_range(0, 10, 10),))
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

    monkeypatch.setattr(collector, "_emit", emit)
    return events


def finish(collector):
    """Settle and verify, as `serve` does it."""

    async def scenario():
        collector._loop = asyncio.get_running_loop()
        await collector._in_thread(collector._finish)

    asyncio.run(scenario())


def test_only_one_thread_writes_events(collector, reported):
    finish(collector)

    assert reported == [(threading.current_thread(), "settle")]


def test_a_thread_that_goes_on_after_the_end_shows_nothing(collector, reported):
    collector._enter("insert")
    collector._run.stop("enough")
    collector._enter("settle")

    assert [phase for _, phase in reported] == ["insert"]


def test_phases_noticed_late_are_as_long_as_they_were(collector, reported):
    collector._enter("prefill", at_s=100.0)
    collector._run._arrived["insert"] = {0}
    collector._run.first_arrival_s["insert"] = 103.0
    collector._run.released_s["insert"] = 104.0
    collector._follow_workers()
    collector._leave(110.0)

    assert [phase for _, phase in reported] == ["prefill", "barrier", "insert"]
    assert collector._phases_s == {"prefill": 3.0, "barrier": 1.0, "insert": 6.0}
