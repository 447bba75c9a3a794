"""A course: each event with what is known at that moment."""

import pytest

from iotbench.output.terminal.course import Course
from simulator.protocol.events import PhaseEvent, ProgressEvent, SampleEvent
from simulator.protocol.spec import PlannedFault, QueryLoad, Work
from tests.unit.output.terminal.made import outcome, worker
from tests.unit.output.terminal.test_progress import Clock, planned

DONE = ProgressEvent(phase="insert", rows=5, of=10, rows_per_s=1.0, left_s=5.0)
SAMPLE = SampleEvent(at_s=1.0, phase="insert", rows=5)


def test_a_moment_keeps_what_the_events_before_it_said_of_the_phase():
    run = planned(2)
    course = Course([run])
    course.follow(run, PhaseEvent(phase="insert", detail="soon"))
    course.follow(run, DONE)
    now = course.follow(run, SAMPLE)

    assert (now.number, now.of, now.workers, now.phase) == (1, 1, 2, "insert")
    assert (now.progress, now.sample, now.left_s, now.sweep_left_s) == (DONE, SAMPLE, 5.0, 5.0)


def test_a_new_phase_and_a_new_run_know_nothing_of_the_one_before():
    runs = [planned(1, number=0), planned(1, number=1)]
    course = Course(runs)
    for event in (DONE, SAMPLE):
        course.follow(runs[0], event)
    later = course.follow(runs[0], PhaseEvent(phase="compact"))
    course.follow(runs[0], outcome(worker(0)))
    second = course.follow(runs[1], PhaseEvent(phase="compact"))

    assert (later.progress, later.sample, later.left_s) == (None, None, None)
    assert (second.number, second.phase, second.sample) == (2, "compact", None)


def asking(load, **timed):
    clock = Clock()
    run = planned(1, work=Work.QUERY, load=load, **timed)
    course = Course([run], clock)

    def follow(query, count, after_s):
        clock.now += after_s
        event = SampleEvent(at_s=clock.now, phase="query", query=query, runs=count)
        return course.follow(run, event).left_s

    return follow


def test_queries_of_a_known_number_are_estimated_by_their_share():
    follow = asking(QueryLoad(queries={"a": "", "b": ""}))

    assert follow("a", 0, 0.0) is None
    assert follow("a", 5, 3.0) == pytest.approx(9.0)
    assert follow("b", 5, 6.0) == pytest.approx(3.0)


def test_queries_that_end_by_time_are_estimated_by_it():
    follow = asking(QueryLoad(queries={"a": "", "b": ""}), duration_s=10.0)

    assert follow("a", 5, 1.0) == pytest.approx(20.0)
    assert follow("a", 5, 4.0) == pytest.approx(16.0)
    assert follow("b", 5, 7.0) == pytest.approx(10.0)
    assert follow("b", 5, 12.0) == 0.0


def test_a_fault_is_shown_while_it_lasts():
    clock = Clock()
    run = planned(1, fault=PlannedFault(name="cut-network", instants_s=(10, 30), lasts_s=5))
    course = Course([run], clock)
    course.follow(run, PhaseEvent(phase="warmup"))
    shown = []
    for at_s in (100, 109, 112, 115, 116, 131, 140):
        clock.now = at_s
        event = SampleEvent(at_s=at_s, phase="insert", rows=5)
        shown.append(course.follow(run, event).fault)

    assert shown == ["", "", "cut-network", "cut-network", "", "cut-network", ""]
    assert course.follow(run, PhaseEvent(phase="verify")).fault == ""
