"""Courses, occurrences and outages in a terminal."""

import pytest

from iotbench.figures.figures import FIGURES
from iotbench.measurements import kind_of, summary_of
from iotbench.measurements.warnings import warnings_of
from iotbench.output.terminal.course import Course, format_seconds, marks_of, occurrences_of
from iotbench.output.terminal.notes import facts_of
from iotbench.results.faults import Outage
from iotbench.results.metrics import add_outages
from simulator.protocol.events import Occurrence, PhaseEvent, ProgressEvent, SampleEvent
from simulator.protocol.messages import BatchFailures, Failed
from simulator.protocol.spec import PlannedFault, QueryLoad, Work
from simulator.protocol.verdict import Accounts, Status, Verdict
from tests.unit.output.terminal import made
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


CHECKPOINTS = [Occurrence(at_s=float(at), what="checkpoints") for at in range(3, 30, 3)]


def failing(second, count, what=Failed.RETRIED):
    return BatchFailures(second=second, what=what, count=count)


def test_failures_of_all_workers_are_joined_and_stand_in_the_order_of_time():
    workers = [
        made.worker(0, failures=(failing(2, 1), failing(7, 1, Failed.LOST))),
        made.worker(1, failures=(failing(2, 4),)),
    ]
    found = occurrences_of(made.outcome(*workers, occurrences=tuple(CHECKPOINTS[:1])))

    assert [(each.at_s, each.what, each.count, each.is_failure) for each in found] == [
        (2.5, "batches retried", 5, True),
        (3.0, "checkpoints", 1, False),
        (7.5, "connections lost", 1, True),
    ]


def test_seconds_of_a_few_are_listed_and_of_many_only_the_ends():
    assert format_seconds(CHECKPOINTS[:3]) == "at 3, 6, 9 s"
    assert format_seconds(CHECKPOINTS) == "in 9 seconds from 3 s to 27 s"


def test_the_lines_below_a_table_name_the_seconds():
    quiet = made.run(made.outcome(background={"checkpoints": 0}))
    busy = made.run(
        made.outcome(
            made.worker(0, failures=(failing(2, 3),)),
            background={"checkpoints": 2},
            occurrences=tuple(CHECKPOINTS[:2]),
        ),
        number=2,
    )
    facts = dict(facts_of(made.result([quiet, busy])))

    assert facts["server's own work"] == (
        "checkpoints: 2, in the timed parts of 2 runs (1 worker, run 2: at 3, 6 s)"
    )
    assert facts["failures"] == "batches retried: 3 (1 worker, run 2: at 2 s)"
    assert "failures" not in dict(facts_of(made.result([quiet])))
    alone = dict(facts_of(made.result([busy])))
    assert alone["server's own work"].endswith("of 1 run (at 3, 6 s)")


OUTAGE = Outage(
    fault="kill-database", began_s=10.0, undone_s=12.0, silent_s=2.5, first_after_s=0.5,
    recovery_s=3.0, settled_s=4.0, rows_per_s_before=2000.0, p99_inside_ms=2400.0,
    p99_outside_ms=7.25,
)  # fmt: skip
FOR_GOOD = OUTAGE.model_copy(
    update={"recovery_s": None, "settled_s": None, "silent_s": 9.0, "p99_inside_ms": None}
)
KEPT = {"kept": 1980, "lost": 0, "announced": False, "present": 15, "absent": 5, "doubled": 0,
        "torn": 0, "foreign": 0}  # fmt: skip


def run(*outages, **accounts):
    verdict = Verdict(status=Status.VERIFIED, accounts=Accounts(**KEPT | accounts))
    found = made.run(made.outcome(made.worker(0, rows=2000, retried=1), verdict=verdict))
    metrics = add_outages(found.metrics, outages, verdict.accounts)
    return found.model_copy(update={"outages": outages, "metrics": metrics})


def facts(*runs):
    result = made.result([*runs])
    return [text for name, text in kind_of(result).facts(result) if "workers" not in name]


def test_an_outage_is_a_line_and_so_are_the_rows():
    outage, rows = facts(run(OUTAGE))

    assert outage.split("; ") == [
        "from 10.0 s to 12.0 s",
        "2.50 s without an acknowledgement",
        "the first one 0.50 s after its end",
        "back at 95 % of 2,000 rows/s after 3.0 s",
        "p99 2,400 ms until latency was back, after 4.0 s, and 7.25 ms otherwise",
    ]
    assert rows.split("; ") == [
        "1,980 acknowledged, of which 0 lost",
        "20 of unknown outcome, of which 15 stored",
        "0 stored twice",
        "0 never sent",
    ]


def test_an_outage_without_an_end_says_so():
    (outage, _) = facts(run(FOR_GOOD))

    assert outage.endswith("not back at 95 % of 2,000 rows/s")


@pytest.mark.parametrize(
    ("announced", "said"), [(True, "as the server announces"), (False, "against its promise")]
)
def test_a_loss_is_held_against_what_the_server_says(announced, said):
    *_, rows = facts(run(OUTAGE, kept=1900, lost=80, announced=announced))

    assert f"1,980 acknowledged, of which 80 lost ({said})" in rows


def test_each_of_several_runs_is_named():
    assert [text[:14] for text in facts(run(OUTAGE), run(OUTAGE))] == ["1 worker, run "] * 4


def test_the_picture_marks_the_fault_its_end_and_the_recovery():
    marks = [(mark.at_s, mark.what, mark.is_failure) for mark in marks_of(run(OUTAGE))]

    assert marks == [
        (10.0, "kill-database", True),
        (12.0, "kill-database: undone", False),
        (13.0, "kill-database: rate restored", False),
    ]
    assert len(marks_of(run(FOR_GOOD))) == 2


def test_figures_are_those_of_the_worst_outage():
    worse = OUTAGE.model_copy(update={"silent_s": 6.0, "recovery_s": 8.0})
    (row,) = summary_of(made.result([run(OUTAGE, worse, lost=3, kept=1977)])).rows

    values = {name: row.value(name) for name in FIGURES if row.value(name) is not None}
    assert (values["silent_s"], values["recovery_s"]) == (6.0, 8.0)
    assert (values["first_after_s"], values["settled_s"]) == (0.5, 4.0)
    assert (values["outage_p99_ms"], values["lost_rows"]) == (2400.0, 3)
    (row,) = summary_of(made.result([run(OUTAGE, FOR_GOOD)])).rows
    assert row.value("recovery_s") is None
    (row,) = summary_of(made.result([made.run()])).rows
    assert row.value("silent_s") is None


def test_what_was_made_to_fail_is_no_surprise():
    plain = made.result([run()])
    failed = made.result([run(OUTAGE)])

    assert any("failed without effect" in text for text in warnings_of(plain))
    assert not any("failed without effect" in text for text in warnings_of(failed))
