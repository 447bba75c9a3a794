"""Progress on standard error, and the estimate of the time that a sweep still takes."""

from types import SimpleNamespace

import pytest

from iotbench.config.input.quantities import format_time
from iotbench.output.terminal import progress
from iotbench.output.terminal.course import Course, Estimate
from iotbench.output.terminal.progress import ProgressDisplay
from simulator.data.ranges import RowRange
from simulator.protocol.events import (
    AskedEvent,
    AskedSample,
    PhaseEvent,
    ProgressEvent,
    SampleEvent,
)
from simulator.protocol.pace import Clocking
from simulator.protocol.spec import QueryLoad, Work
from tests.unit.output.terminal.made import outcome, worker


def planned(
    workers, rows=100, *, number=0, work=Work.INSERT, duration_s=0.0, load=None, fault=None
):
    """A run of so many workers with so many rows each, half of them prefilled."""
    half = rows // 2
    plan = SimpleNamespace(
        prefill=(RowRange(start=0, stop=half),), timed=(RowRange(start=half, stop=rows),)
    )
    spec = SimpleNamespace(
        workers=(plan,) * workers,
        inserts=(plan,) * workers,
        run_id=f"r{number}",
        work=work,
        dataset=SimpleNamespace(rows=7),
        clocking=Clocking(duration_s=duration_s),
        load=load or QueryLoad(),
        asks=(SimpleNamespace(runs=10),) * workers,
        fault=fault,
        barrier=work.value,
    )
    return SimpleNamespace(spec=spec, run=1, level=0)


def shown(runs, events, **options):
    """Have a follower show events, each of one of the runs."""
    course = Course(runs)
    with ProgressDisplay(quiet=False, **options) as follower:
        for run, event in events:
            follower.take(course.follow(run, event))


def test_a_width_of_0_hides_no_line(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "0")
    run = planned(1)
    shown([run], [(run, outcome(worker(0)))])

    assert capsys.readouterr().err.startswith("[1/1] 1 worker: ")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00:00"),
        (0.2, "0:00:01"),
        (59.5, "0:01:00"),
        (2027, "0:33:47"),
        (360_000, "100:00:00"),
    ],
)
def test_a_duration_is_hours_minutes_and_seconds(seconds, text):
    assert format_time(seconds) == text


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
    events = [
        (runs[0], PhaseEvent(phase="create", detail="tables")),
        (runs[0], event),
        (runs[0], outcome(worker(0, rows=1))),
        (runs[1], event.model_copy(update={"of": 20})),
    ]
    shown(runs, events)

    assert capsys.readouterr().err.splitlines() == [
        "[1/2] 1 worker: create: tables",
        "[1/2] 1 worker: insert: 1 of 1 row, 0 rows/s, 1:00:00 left, sweep 2:06:40 left",
        "[1/2] 1 worker: 0 rows/s, verified",
        "[2/2] 2 workers: insert: 1 of 20 rows, 0 rows/s, 1:00:00 left",
    ]


@pytest.mark.parametrize(
    ("work", "workers", "ending"),
    [
        (Work.QUERY, 1, "[1/1] 1 worker: 0 queries, verified"),
        (Work.VERIFY, 0, "verify: 7 rows, verified"),
    ],
)
def test_the_end_of_a_query_and_of_a_verification(capsys, work, workers, ending):
    run = planned(workers, work=work)
    shown([run], [(run, outcome(worker(0)))])

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
    run = planned(1, work=Work.QUERY)
    event = AskedEvent(query="q", runs=1200, wait_ms_avg=12.3456, queries_per_s=345.25)
    shown([run], [(run, event)] * 2, as_json=as_json)

    assert capsys.readouterr().err.splitlines() == [line] * 2


def test_quiet_shows_nothing(capsys):
    with ProgressDisplay(quiet=True) as follower:
        follower.take(Course([planned(1)]).follow(planned(1), outcome(worker(0))))

    assert capsys.readouterr().err == ""


SAMPLE = SampleEvent(
    at_s=1.0, phase="insert", rows=50, rows_per_s=1_614_292.4, p50_ms=1.0, p99_ms=2.617, errors=3
)


@pytest.mark.parametrize("errors", [0, 3, 1234])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_a_terminal_shows_fits_into_its_width(errors, width):
    runs = [planned(16, number=number) for number in range(25)]
    course = Course(runs)
    for run in runs[:24]:
        course.follow(run, outcome(worker(0, rows=1)))
    course.follow(
        runs[24], ProgressEvent(phase="insert", rows=1, of=2, rows_per_s=1.0, left_s=3600.0)
    )
    moment = course.follow(runs[24], SAMPLE.model_copy(update={"errors": errors}))
    head = f"{progress._format_head(moment)} insert"
    text = progress._fit(moment, width - len(head) - 4)

    assert text.startswith("1,614,292 rows/s, p99 2.62 ms")
    assert text.endswith("1:00:00 left")
    assert ("errors" in text) == bool(errors or width == 120)
    assert errors or width == 60 or len(head) + 4 + len(text) <= width


BESIDE = AskedSample(runs=40, queries_per_s=29.5, p50_ms=5.0, p99_ms=43.4)
MIXED = SAMPLE.model_copy(update={"phase": "mixed", "asked": BESIDE})


TWO = QueryLoad(queries={"a": "", "b": ""})
ASKED = SampleEvent(at_s=1.0, phase="query", query="a", runs=1, queries_per_s=2.5, p99_ms=400)


@pytest.mark.parametrize(
    ("sample", "line"),
    [
        (SAMPLE, "50 of 100 rows, 10 rows/s, p99 2.62 ms"),
        (
            MIXED,
            "50 of 100 rows, 10 rows/s, p99 2.62 ms, 29.5 queries/s, p99 43.4 ms",
        ),
        (ASKED, "a, 1 of 2, 1 run, 2.50 queries/s, p99 400 ms"),
    ],
)
def test_a_line_has_rates_the_latency_of_the_last_seconds_and_the_errors_so_far(
    monkeypatch, capsys, sample, line
):
    monkeypatch.setattr(progress, "_LINE_EVERY_S", -1)
    run = planned(1, work=Work(sample.phase), load=TWO)
    done = ProgressEvent(phase=sample.phase, rows=50, of=100, rows_per_s=9.6, left_s=5.0)
    shown([run], [(run, sample), *[(run, done)] * (not sample.query)])

    text = capsys.readouterr().err.splitlines()[-1]
    assert text.startswith(f"[1/1] 1 worker: {sample.phase}: {line}")
    assert sample.query or text.endswith(f"{line}, 3 errors, 0:00:05 left")


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (40, "1,614,292 rows/s, 29.5 queries/s"),
        (50, "1,614,292 rows/s, p99 2.62 ms, 29.5 queries/s"),
        (66, "1,614,292 rows/s, p99 2.62 ms, 29.5 queries/s, p99 43.4 ms"),
        (70, "1,614,292 rows/s, p99 2.62 ms, 29.5 queries/s, p99 43.4 ms, 0 errors"),
    ],
)
def test_a_narrow_terminal_shows_the_rates_of_both(width, text):
    run = planned(1, work=Work.MIXED)
    moment = Course([run]).follow(run, MIXED.model_copy(update={"errors": 0}))

    assert progress._fit(moment, width) == text
