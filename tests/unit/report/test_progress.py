"""Progress on standard error, and the estimate of the time that a sweep still takes."""

from types import SimpleNamespace

import pytest

from cli.report import progress
from cli.report.estimate import Estimate, shown_time
from cli.report.progress import Follower
from simulator.data.ranges import RowRange
from simulator.protocol.messages import AskedEvent, PhaseEvent, ProgressEvent
from simulator.protocol.spec import Kind
from tests.unit.report.made import outcome, worker


def planned(workers, rows=100, *, number=0, kind=Kind.INSERT, duration_s=0.0):
    """A run of so many workers with so many rows each, half of them prefilled."""
    half = rows // 2
    plan = SimpleNamespace(
        prefill=(RowRange(start=0, stop=half),), timed=(RowRange(start=half, stop=rows),)
    )
    spec = SimpleNamespace(
        workers=(plan,) * workers,
        inserts=(plan,) * workers,
        run_id=f"r{number}",
        kind=kind,
        dataset=SimpleNamespace(rows=7),
        duration_s=duration_s,
    )
    return SimpleNamespace(spec=spec, run=1, level=0)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0:00:00"),
        (0.2, "0:00:01"),
        (59.5, "0:01:00"),
        (2027, "0:33:47"),
        (360_000, "100:00:00"),
    ],
)
def test_a_duration_is_hours_minutes_and_seconds(seconds, shown):
    assert shown_time(seconds) == shown


def test_before_the_first_run_has_finished_its_rate_is_the_estimate():
    estimate = Estimate([planned(1), planned(2), planned(2)], Clock())

    assert estimate.left_s(None, 0.0) is None
    assert estimate.left_s(3.0, 10.0) == 3.0 + 400 / 10


def test_finished_runs_of_the_same_workers_are_the_estimate():
    clock = Clock()
    estimate = Estimate([planned(1), planned(1), planned(4), planned(4), planned(6)], clock)

    clock.now += 10
    estimate.finish()
    estimate.begin()
    assert estimate.left_s(1.0, 99.0) == 10 + 40 + 40 + 60
    clock.now += 4
    assert estimate.left_s(1.0, 99.0) == 6 + 140
    clock.now += 10
    estimate.finish()  # 14 s: on average 12 s
    estimate.begin()
    assert estimate.left_s(None, 0.0) == pytest.approx(12 * (4 + 4 + 6))
    clock.now += 20
    estimate.finish()
    estimate.begin()
    assert estimate.left_s(None, 0.0) == pytest.approx(20 + 30)
    clock.now += 60
    assert estimate.left_s(5.0, 0.0) == pytest.approx(5 + 30)  # longer than expected


def test_the_last_run_is_all_that_is_left():
    estimate = Estimate([planned(1), planned(1)], Clock())
    estimate.finish()

    assert estimate.left_s(2.0, 1.0) == 2.0
    assert estimate.left_s(None, 0.0) is None


def test_runs_that_end_by_time_are_estimated_by_it():
    clock = Clock()
    runs = [planned(1, 10**9, duration_s=10.0), planned(2, 10**9, duration_s=10.0)]
    estimate = Estimate(runs, clock)
    estimate.begin()

    assert estimate.left_s(4.0, 500.0) == 14.0
    clock.now += 12.0
    estimate.finish()
    estimate.begin()
    assert estimate.left_s(4.0, 500.0) == 4.0


def test_runs_without_rows_are_estimated_by_their_number():
    clock = Clock()
    estimate = Estimate([planned(1, 0), planned(2, 0), planned(2, 0)], clock)
    clock.now += 8
    estimate.finish()
    estimate.begin()

    assert estimate.left_s(None, 0.0) == 16


def test_lines_show_the_time_left_of_the_run_and_of_the_sweep(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_LINE_EVERY_S", -1)
    runs = [planned(1, 1, number=1), planned(2, number=2)]
    event = ProgressEvent(phase="insert", rows=1, of=1, rows_per_s=0.05, left_s=3599.2)
    with Follower(runs, quiet=False) as follower:
        follower.show(runs[0], PhaseEvent(phase="create", detail="tables"))
        follower.show(runs[0], event)
        follower.show(runs[0], outcome(worker(0, rows=1)))
        follower.show(runs[1], event.model_copy(update={"of": 20}))

    assert capsys.readouterr().err.splitlines() == [
        "[1/2] 1 worker: create: tables",
        "[1/2] 1 worker: insert: 1 of 1 row, 0 rows/s, 1:00:00 left, sweep 2:06:40 left",
        "[1/2] 1 worker: 0 rows/s, verified",
        "[2/2] 2 workers: insert: 1 of 20 rows, 0 rows/s, 1:00:00 left",
    ]


@pytest.mark.parametrize(
    ("kind", "workers", "ending"),
    [
        (Kind.QUERY, 1, "[1/1] 1 worker: 0 queries, verified"),
        (Kind.VERIFY, 0, "verify: 7 rows, verified"),
    ],
)
def test_the_end_of_a_query_and_of_a_verification(capsys, kind, workers, ending):
    run = planned(workers, kind=kind)
    with Follower([run], quiet=False) as follower:
        follower.show(run, outcome(worker(0)))

    assert capsys.readouterr().err.splitlines() == [ending]


@pytest.mark.parametrize(
    ("as_json", "line"),
    [
        (False, "[1/1] 1 worker: q: 1,200 runs, 12.3 ms on average, 345 queries/s"),
        (
            True,
            '{"event":"asked","query":"q","runs":1200,"wait_ms_avg":12.3456,"queries_per_s":345.25}',
        ),
    ],
)
def test_every_report_of_a_query_is_a_line(capsys, as_json, line):
    run = planned(1, kind=Kind.QUERY)
    event = AskedEvent(query="q", runs=1200, wait_ms_avg=12.3456, queries_per_s=345.25)
    with Follower([run], quiet=False, as_json=as_json) as follower:
        follower.show(run, event)
        follower.show(run, event)

    assert capsys.readouterr().err.splitlines() == [line] * 2


def test_quiet_shows_nothing(capsys):
    with Follower([planned(1)], quiet=True) as follower:
        follower.show(planned(1), outcome(worker(0)))

    assert capsys.readouterr().err == ""
