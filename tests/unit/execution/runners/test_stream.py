"""The collector's lines become events, each once, and the reports become part of the outcome."""

import pytest

from iotbench.execution.stream import TAIL_LINES, EventStream
from simulator.protocol.events import Outcome, PhaseEvent, ProgressEvent, ReportEvent, event_line
from simulator.protocol.messages import WorkerReport

INIT, INSERT = PhaseEvent(phase="init"), PhaseEvent(phase="insert")


def taken(*lines):
    stream = EventStream()
    return stream, [event for event in map(stream.take, lines) if event]


def report(index):
    return ReportEvent(report=WorkerReport(index=index, rows=10 * index))


def outcome(reports, **more):
    return Outcome(**{"status": "done", "reports": reports, **more})


def test_events_arrive_as_they_were_sent():
    progress = ProgressEvent(phase="insert", rows=5, of=10, rows_per_s=2.5, left_s=2.0)
    lines = [event_line(i, event) for i, event in enumerate([INIT, INSERT, progress], 1)]

    assert taken(*lines)[1] == [INIT, INSERT, progress]


def test_a_stream_that_is_read_again_goes_on_where_it_broke():
    lines = [event_line(i, PhaseEvent(phase=str(i))) for i in range(1, 6)]

    _, events = taken(*lines[:3], *lines[1:])

    assert [event.phase for event in events] == list("12345")


def test_reports_that_another_collector_passes_on_again_are_one_report():
    _, (whole,) = taken(
        event_line(1, report(1)),
        event_line(2, report(0)),
        event_line(10**9 + 1, report(0)),
        event_line(10**9 + 2, report(1)),
        event_line(10**9 + 3, outcome(2)),
    )

    assert [worker.index for worker in whole.workers] == [0, 1]
    assert whole.status == "done"


def test_reports_arrive_in_any_order_and_stand_in_that_of_the_workers():
    lines = [event_line(1, report(2)), event_line(2, INSERT), event_line(3, report(0))]
    stream, _ = taken(*lines)
    failed = WorkerReport(index=5, error="the disk is full")
    stream.take(event_line(4, ReportEvent(report=failed)))

    assert [stream.has_report_of(index) for index in (0, 1, 2, 5)] == [True, False, True, False]
    whole = stream.take(event_line(5, outcome(3)))
    assert [worker.index for worker in whole.workers] == [0, 2, 5]


def test_a_done_run_whose_reports_were_lost_has_failed():
    _, (whole,) = taken(event_line(1, report(0)), event_line(3, outcome(2)))

    assert (whole.status, whole.exit_code) == ("failed", 1)
    assert whole.cause == ("the collector's log lacks the reports of 1 worker")
    assert len(whole.workers) == 1


def test_a_failed_run_keeps_its_own_cause_when_reports_were_lost():
    failed = outcome(2, status="failed", cause="disk is full", exit_code=1)

    _, (whole,) = taken(event_line(1, report(0)), event_line(3, failed))

    assert (whole.cause, len(whole.workers)) == ("disk is full", 1)


def test_a_check_has_no_reports_and_none_are_missed():
    assert taken(event_line(1, outcome(0)))[1] == [outcome(0)]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: 1 of 2",
        '7 {"event": "unknown"}',
        '7 {"event": "phase", "phase": "init"',
        "7",
        '{"event": "phase", "phase": "init"}',
    ],
)
def test_what_is_no_event_is_kept_as_the_logs_tail(line):
    stream, events = taken(f"{line}  \n")

    assert events == []
    assert list(stream.log) == [line]


def test_only_the_last_lines_are_kept_without_events_and_empty_lines():
    lines = [f"line {number}" for number in range(TAIL_LINES + 5)]
    stream, _ = taken(*lines, "  \n", event_line(1, INIT), event_line(2, report(0)))

    assert len(stream.log) == TAIL_LINES
    assert (stream.log[0], stream.log[-1]) == ("line 5", f"line {TAIL_LINES + 4}")
