"""What the collector writes: a check's steps, and reports one by one before a short outcome."""

import asyncio
import os
import signal
import socket

import pytest

from simulator.clock import OwnClock
from simulator.control import collector as simulator_collector
from simulator.control.collector import Collector
from simulator.data.ranges import RowRange, lane_range
from simulator.errors import RunError
from simulator.modules.null import Null, NullOptions
from simulator.protocol.events import CheckEvent, Outcome, PhaseEvent, ReportEvent, parse_event
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import InsertTask, Work
from simulator.protocol.verdict import VerifyMode
from tests.unit.specs import dataset, run_spec

MANY = 200
A_PIPES_SHARE = 4096
"""Of so many bytes a write to a pipe is not mixed with another's."""


def collector_of(work, workers=0, database=None):
    spec = run_spec(
        work=work,
        dataset=dataset(parts=max(workers, 1)),
        workers=tuple(InsertTask(timed=(lane_range(i, 0, 10),)) for i in range(workers)),
        mode="batch",
        batch_rows=10,
        verify=VerifyMode.NONE,
    )
    return Collector(spec, database or Null(NullOptions()), "token", OwnClock())


@pytest.fixture
def lines_of(capsys):
    """Serve to the end; return the outcome, and the lines that were written."""

    def serve(collector):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            outcome = asyncio.run(collector.serve(listener, None))
        return outcome, capsys.readouterr().out.splitlines()

    return serve


@pytest.fixture
def events_of(lines_of):
    """Serve to the end; return the numbers, the events, and the length of each line."""

    def serve(collector):
        outcome, lines = lines_of(collector)
        numbers, events = zip(*map(parse_event, lines), strict=True)
        assert events[-1] == outcome
        return numbers, events, [len(line) for line in lines]

    return serve


def full_report(index):
    """A report of a long run."""
    return WorkerReport(
        index=index,
        rows=10,
        latency="HISTFAAAA" * 100,
        rows_by_second=tuple(range(600)),
        uncertain=tuple(RowRange(start=i, stop=i + 1) for i in range(50)),
        ended_s=1.0,
    )


def with_reports(collector, count=MANY, fails=""):
    """Have the run measured already: every worker has reported."""

    async def measure():
        for index in range(count):
            collector._run.uids[index] = str(index)
            collector._run.report(full_report(index))
        if fails:
            raise RunError(fails)

    collector._measure = measure
    return collector


# --- reports and outcome ------------------------------------------------------------------------


def test_every_report_comes_before_the_outcome_and_nothing_after_it(events_of):
    numbers, events, _ = events_of(with_reports(collector_of(Work.INSERT, MANY)))

    assert [type(event) for event in events[-MANY - 1 :]] == [ReportEvent] * MANY + [Outcome]
    assert [event.report.index for event in events[-MANY - 1 : -1]] == list(range(MANY))
    assert list(numbers) == list(range(1, len(numbers) + 1))


def test_a_report_is_passed_on_while_others_still_insert(events_of):
    collector = collector_of(Work.INSERT, 2)

    async def measure():
        for index in range(2):
            collector._run.uids[index] = str(index)
            collector._run.report(full_report(index))
            collector._follower.follow()
            collector._writer.write(PhaseEvent(phase=f"after {index}"))

    collector._measure = measure
    _, events, _ = events_of(collector)

    shown = [getattr(event, "phase", None) or type(event) for event in events]
    assert shown[-5:] == [ReportEvent, "after 0", ReportEvent, "after 1", Outcome]
    assert events[-1].reports == 2


def test_the_outcome_does_not_grow_with_the_workers(events_of):
    *_, lengths = events_of(with_reports(collector_of(Work.INSERT, MANY)))
    *_, few = events_of(with_reports(collector_of(Work.INSERT, 1), 1))

    assert lengths[-1] < A_PIPES_SHARE
    assert lengths[-1] - few[-1] < 10


def test_the_reports_of_a_failed_run_are_reported_too(events_of):
    _, events, _ = events_of(with_reports(collector_of(Work.INSERT, 3), 2, fails="disk is full"))

    assert [event.report.index for event in events if isinstance(event, ReportEvent)] == [0, 1]
    assert (events[-1].status, events[-1].cause, events[-1].exit_code) == (
        "failed",
        "disk is full",
        1,
    )
    assert events[-1].touched


# --- a check ------------------------------------------------------------------------------------


def test_a_check_shows_each_thing_that_it_tried(events_of):
    _, events, _ = events_of(collector_of(Work.CHECK))

    assert events[0] == PhaseEvent(phase="check")
    checks = [event for event in events if isinstance(event, CheckEvent)]
    assert [check.name for check in checks] == ["reached", "durability", "permissions"]
    assert checks[0].detail == "null, 0 nodes"
    outcome = events[-1]
    assert (outcome.status, outcome.exit_code, outcome.reports) == ("done", 0, 0)
    assert not outcome.touched


class Refusing(Null):
    """Lets nobody make a table."""

    def create(self, tables, batch_rows):
        raise PermissionError("no right to create")


def test_a_check_ends_with_the_first_thing_that_is_wrong(events_of):
    _, events, _ = events_of(collector_of(Work.CHECK, database=Refusing(NullOptions())))

    checks = [event.name for event in events if isinstance(event, CheckEvent)]
    assert checks == ["reached", "durability"]
    assert (events[-1].status, events[-1].exit_code) == ("failed", 1)
    assert events[-1].cause.startswith("permissions: ")
    assert "no right to create" in events[-1].cause


class Unreachable(Null):
    """Names itself in its errors, as modules do."""

    def describe(self):
        raise self.setup_error(ConnectionRefusedError("port 9"))


def test_a_check_does_not_repeat_the_name_of_the_module(events_of):
    _, events, _ = events_of(collector_of(Work.CHECK, database=Unreachable(NullOptions())))

    assert events[-1].cause == "not reached: ConnectionRefusedError: port 9"


# --- the end ------------------------------------------------------------------------------------


def test_sigterm_ends_a_run_that_waits_for_its_workers_with_an_outcome(events_of, monkeypatch):
    monkeypatch.setattr(simulator_collector, "_LAST_REPORTS_S", 0.1)
    collector = collector_of(Work.INSERT, 2)
    measure = collector._measure

    async def measure_and_stop():
        asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGTERM)
        await measure()

    collector._measure = measure_and_stop
    _, events, _ = events_of(collector)

    assert (events[-1].status, events[-1].exit_code) == ("interrupted", 130)
    assert events[-1].cause == "stopped by the user"
