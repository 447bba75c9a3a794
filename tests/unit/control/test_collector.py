"""A collector that serves its run to the end: its events, and the outcome after them."""

import asyncio
import io
import socket
import threading
import time

import pytest

from simulator import __version__
from simulator.clock import OwnClock, ahead_s
from simulator.control import collector as simulator_collector
from simulator.control.collector import Collector
from simulator.control.journal import Began, Journal, TablesPrepared
from simulator.control.progress.phases import EventWriter
from simulator.data.ranges import RowRange, lane_range
from simulator.host import boot_id
from simulator.modules.null import Null, NullOptions
from simulator.protocol.events import CheckEvent, Outcome, PhaseEvent, ReportEvent, parse_event
from simulator.protocol.messages import Arrival, Registration, WorkerReport
from simulator.protocol.spec import InsertTask, Work
from simulator.protocol.verdict import VerifyMode
from tests.unit.specs import dataset, run_spec

MANY = 200
A_PIPES_SHARE = 4096
"""Largest write to a pipe, in bytes, that is not mixed with the write of another process."""
ROWS = 60


@pytest.fixture(autouse=True)
def _last_reports_come_soon(monkeypatch):
    monkeypatch.setattr(simulator_collector, "_LAST_REPORTS_S", 0.1)


def report_of(index, **changes):
    """Return the report of a long run."""
    given = {
        "index": index,
        "rows": ROWS,
        "latency": "HISTFAAAA" * 100,
        "rows_by_second": tuple(range(600)),
        "ended_s": 1.0,
    }
    return WorkerReport(**given | changes)


def collector_of(work, workers=0, database=None, reports=()):
    """Return a collector; with reports, it goes on with a run that workers have reported of."""
    spec = run_spec(
        work=work,
        dataset=dataset(parts=max(workers, 1)),
        workers=tuple(InsertTask(timed=(lane_range(i, 0, ROWS),)) for i in range(workers)),
        mode="batch",
        batch_rows=10,
        verify=VerifyMode.NONE,
    )
    journal = Journal(io.BytesIO())
    if reports:
        journal.note(Began(boot_id=boot_id(), ahead_s=ahead_s()))
        journal.note(
            TablesPrepared(server=None, touched=True, is_set_up=False, size_before_bytes=None)
        )
        for index in range(workers):
            journal.note(Registration(index=index, version=__version__), f"{index:032x}")
            journal.note(Arrival(index=index, barrier="insert"), f"{index:032x}")
        for report in reports:
            journal.note(report, f"{report.index:032x}")
    return Collector(spec, database or Null(NullOptions()), "token", OwnClock(), journal)


@pytest.fixture
def runner():
    """Return the event loop that runs the collector."""
    with asyncio.Runner() as made:
        yield made


@pytest.fixture
def events_of(runner, capsys):
    """Serve to the end; return the numbers, the events, and the length of each line."""

    def serve(collector, meanwhile=lambda: None):
        async def scenario():
            with socket.create_server(("127.0.0.1", 0)) as listener:
                serving = asyncio.create_task(collector.serve(listener, None))
                await asyncio.sleep(0.2)
                meanwhile()
                return await serving

        outcome = runner.run(scenario())
        lines = capsys.readouterr().out.splitlines()
        numbers, events = zip(*map(parse_event, lines), strict=True)
        assert events[-1] == outcome
        return numbers, events, [len(line) for line in lines]

    return serve


# --- reports and outcome ------------------------------------------------------------------------


def test_every_report_comes_before_the_outcome_and_nothing_after_it(events_of):
    uncertain = tuple(RowRange(start=i, stop=i + 1) for i in range(50))
    reports = [report_of(0, rows=10, uncertain=uncertain), *map(report_of, range(1, MANY))]
    numbers, events, _ = events_of(collector_of(Work.INSERT, MANY, reports=reports))

    assert [each.report for each in events if isinstance(each, ReportEvent)] == reports
    assert isinstance(events[-1], Outcome)
    assert list(numbers) == list(range(numbers[0], numbers[0] + len(numbers)))
    assert (events[-1].status, events[-1].reports) == ("done", MANY)


def test_the_outcome_does_not_grow_with_the_workers(events_of):
    lengths = [
        events_of(collector_of(Work.INSERT, n, reports=[*map(report_of, range(n))]))[2][-1]
        for n in (1, MANY)
    ]

    assert lengths[1] < A_PIPES_SHARE
    assert lengths[1] - lengths[0] < 10


def test_the_reports_of_a_failed_run_are_reported_too(events_of):
    reports = [report_of(0), report_of(1, rows=0, error="disk is full")]
    _, events, _ = events_of(collector_of(Work.INSERT, 3, reports=reports))

    assert [event.report.index for event in events if isinstance(event, ReportEvent)] == [0, 1]
    assert (events[-1].status, events[-1].cause, events[-1].exit_code) == (
        "failed",
        "worker 1: disk is full",
        1,
    )
    assert events[-1].touched


# --- phases -------------------------------------------------------------------------------------


def test_only_one_thread_writes_events(events_of, monkeypatch):
    threads, write = set(), EventWriter.write

    def noted(writer, event):
        threads.add(threading.current_thread())
        write(writer, event)

    monkeypatch.setattr(EventWriter, "write", noted)
    events_of(collector_of(Work.INSERT, 1, reports=[report_of(0)]))

    assert threads == {threading.current_thread()}


class Recorded(Null):
    """Its rows are visible at once; meanwhile the loop of the collector is busy for a while."""

    def __init__(self, loop):
        super().__init__(NullOptions())
        self.calls = []
        self.loop = loop

    def visible(self, tables):
        self.calls.append("visible")
        self.loop.call_soon_threadsafe(time.sleep, 0.5)

    def compact(self, tables):
        self.calls.append("compact")

    def size_bytes(self, tables):
        self.calls.append("size_bytes")
        return 4096


def test_rows_are_visible_before_the_storage_is_compacted_and_measured(events_of, runner):
    database = Recorded(runner.get_loop())
    _, events, _ = events_of(collector_of(Work.INSERT, 1, database, reports=[report_of(0)]))

    assert database.calls == ["visible", "compact", "size_bytes"]
    assert events[-1].size_bytes == 4096
    assert events[-1].phases_s["visible"] < 0.5 <= events[-1].phases_s["compact"]


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
