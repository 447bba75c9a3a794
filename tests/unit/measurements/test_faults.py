"""Faults and stages as they are written, and everything that is wrong with them."""

import pytest
from pydantic import ValidationError

from iotbench.measurements.query.plan import load_problems
from iotbench.measurements.shared.faults import FaultMoment, Faults, format_moment, parse_moment
from iotbench.measurements.shared.stages import (
    counts_of,
    duration_of,
    format_stages,
    parse_stages,
    stage_conflicts,
    stage_problems,
)
from simulator.protocol.messages import MOST_STAGES
from simulator.protocol.pace import LoadStage
from tests.unit.measurements.options import changed
from tests.unit.measurements.test_plan import DEFAULTS, problems_of, runs_of
from tests.unit.measurements.test_query_plan import OPTIONS, asked
from tests.unit.specs import run_spec

KILL = {"fault": "kill-database"}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30s", FaultMoment(30.0)),
        ("1m30s", FaultMoment(90.0)),
        ("50%", FaultMoment(share=0.5)),
        ("0", FaultMoment()),
    ],
)
def test_a_moment_is_a_time_or_a_share(text, moment):
    assert parse_moment(text) == moment
    assert parse_moment(format_moment(moment)) == moment


@pytest.mark.parametrize("text", ["soon", "100%", "-3s", "50%%"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_moment(text)


@pytest.mark.parametrize(
    ("given", "instants"),
    [
        ({}, [18.0]),
        ({"at": "10s"}, [10.0]),
        ({"at": "10s", "every": "20s"}, [10.0, 30.0, 50.0]),
        ({"at": "10s", "every": "20s", "for": "10s"}, [10.0, 30.0]),
        ({"fault": "restart-database", "restart_with": "x", "at": "58s"}, [58.0]),
    ],
)
def test_it_fails_as_often_as_it_can_be_undone_within_the_time(given, instants):
    faults = Faults.model_validate(KILL | given)

    assert faults.instants_s(60.0) == instants
    assert faults.fault_problems(60.0) == []
    assert Faults().instants_s(60.0) == []


@pytest.mark.parametrize(
    ("given", "duration_s", "problem"),
    [
        ({"at": "3s"}, 60.0, "--at: applies to --fault only; add --fault"),
        ({"for": "3s"}, 60.0, "--for: applies to --fault only"),
        ({"restart_with": "x"}, 60.0, "--restart-with: applies to --fault only"),
        (KILL, 0.0, "--fault: needs a measured part of known length; add --duration"),
        (KILL | {"at": "56s"}, 60.0, "--at, --for: the fault lasts until 61 s, and the measured"),
        (KILL | {"every": "5s"}, 60.0, "--every: expected more than the 5 s of --for, got 5s"),
        (
            {"fault": "pause-database", "restart_with": "x"},
            60.0,
            "--restart-with: is for --fault kill-database, restart-database, crash-node",
        ),
        ({"fault": "fill-disk"}, 60.0, "--fault fill-disk: add the folder"),
        ({"fault": "slow-network", "delay": "0s"}, 60.0, "--fault slow-network: neither"),
        ({"fault": "cut-network", "bandwidth": "1MB"}, 60.0, "--bandwidth: is for --fault slow"),
        ({"fault": "crash-node", "restart_with": "x"}, 60.0, "--fault crash-node: add the"),
        ({"fault": "kill-worker", "disk": "/x"}, 60.0, "--disk: is for --fault fill-disk"),
    ],
)
def test_what_does_not_go_together_is_named(given, duration_s, problem):
    (found,) = Faults.model_validate(given).fault_problems(duration_s)

    assert found.startswith(problem)


def test_the_command_that_restarts_is_an_option_or_belongs_to_the_target():
    faults = Faults.model_validate({"fault": "restart-database"})
    (found,) = faults.list_unrestarted("")

    assert found.startswith("--fault restart-database: add the command")
    assert [*faults.list_unrestarted("up")] == [*Faults.model_validate(KILL).list_unrestarted("")]


def test_a_plan_says_what_fails_when():
    killed = Faults.model_validate(KILL | {"at": "10s", "every": "30s", "restart_with": "up"})
    restarted = Faults.model_validate({"fault": "restart-database", "restart_with": "up"})

    assert [*killed.outline(60.0)] == [
        "fault: kill-database at 10 s, 40 s of each run, for 5 s", "after each fault: up",
    ]  # fmt: skip
    assert next(restarted.outline(10.0)) == "fault: restart-database at 3 s of each run"


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValidationError):
        Faults.model_validate({"fault": "eat-database"})


def test_words_of_a_command_say_the_same_again():
    faults = Faults.model_validate(KILL | {"at": "25%", "every": "1m", "restart_with": "up"})

    assert faults.list_stored() == {
        "fault": ("kill-database",), "at": ("25%",), "every": ("60s",), "restart-with": ("up",),
    }  # fmt: skip


UP_AND_DOWN = parse_stages("1:30s,4:30s,1:30s")


def test_stages_are_numbers_of_workers_and_durations():
    stages = parse_stages("1:1m, 8:1h30m,10k:500ms")

    assert [(each.workers, each.duration_s) for each in stages] == [
        (1, 60.0), (8, 5400.0), (10_000, 0.5)
    ]  # fmt: skip
    assert duration_of(stages) == 5460.5
    assert counts_of(stages, (1, 4)) == (10_000,)
    assert counts_of(None, (1, 4)) == (1, 4)
    assert parse_stages(format_stages(stages)) == stages


def test_a_stage_may_have_a_rate_of_its_own():
    stages = parse_stages("8@1000:30s,8@2.5k:30s,1:1m,2@1234567.5:2000000s")

    assert [each.rate_per_s for each in stages] == [1000.0, 2500.0, 0.0, 1234567.5]
    assert format_stages(stages) == "8@1000:30s,8@2500:30s,1:60s,2@1234567.5:2000000s"
    assert parse_stages(format_stages(stages)) == stages


@pytest.mark.parametrize(
    "text",
    ["", "1", "1:", ":1m", "0:1m", "-1:1m", "1:0", "1:-5", "1.5:1m", "1:1m,", "1:1m;2:1m", "1:1x",
     "1@:1m", "1@0:1m", "1@-5:1m", "1@1e10:1m", "1@x:1m", "@5:1m", "1:1m@5",
     ",".join(["1:1s"] * (MOST_STAGES + 1))],
)  # fmt: skip
def test_what_is_no_stage_is_refused_with_an_example(text):
    with pytest.raises(
        ValueError, match=r"expected up to 100 stages .*, such as 1:1m,8@5k:5m, got "
    ):
        parse_stages(text)


def test_as_many_workers_are_active_as_the_stage_has():
    spec = run_spec(stages=UP_AND_DOWN, workers=())

    active = [spec.active_at(elapsed_s) for elapsed_s in (0, 29.9, 30, 59.9, 60, 1000)]
    assert active == [1, 1, 4, 4, 1, 1]
    assert run_spec(workers=()).active_at(5) == 0


def test_stages_start_the_most_workers_once_and_say_how_long():
    options = changed(DEFAULTS, num_inserts=None, stages=UP_AND_DOWN, workers=(4,), rate=100.0)

    assert problems_of(options) == []
    (run,) = runs_of(options)
    assert (len(run.spec.workers), run.spec.clocking.duration_s) == (4, 90.0)
    assert run.spec.clocking.stages == UP_AND_DOWN
    assert (options.subject, options.active) == ("stage", (1, 4, 1))
    assert len(runs_of(changed(options, runs=3))) == 3


def test_what_stages_exclude_is_named_all_at_once():
    wrong = changed(DEFAULTS, stages=UP_AND_DOWN, duration_s=5.0, steps=2, imports=True, runs=1)
    problems = problems_of(wrong)

    for name in ("--duration", "--num-inserts", "--steps", "--import"):
        assert sum(each.startswith(f"{name}: --stages sets the number") for each in problems) == 1
    (conflict,) = stage_conflicts(UP_AND_DOWN, {"--workers", "--batch"})
    assert conflict.startswith("--workers: --stages sets the number of active workers and the")
    assert stage_conflicts((), {"--workers"}) == []
    again = changed(DEFAULTS, num_inserts=None, stages=UP_AND_DOWN, clean=False)
    assert problems_of(again) == []
    assert problems_of(changed(again, runs=2)) == [
        "--stages: with --no-clean it takes one run; use --runs 1"
    ]


def test_stages_have_limits():
    found = [*stage_problems([LoadStage(workers=10_001, duration_s=366 * 86400 + 1)], {})]

    assert found == [
        "--stages: at most 10,000 workers, got 10,001",
        "--stages: all together at most 366d, got 3.16224e+07s",
    ]


def test_queries_in_stages_end_by_time():
    (run,) = asked(stages=UP_AND_DOWN, workers=(4,))

    clocking = run.spec.clocking
    assert (clocking.stages, clocking.duration_s) == (UP_AND_DOWN, 90.0)
    assert [task.runs for task in run.spec.asks] == [0] * 4
    wrong = changed(OPTIONS, stages=UP_AND_DOWN, duration_s=5.0, count=9, runs=2, ramp=True)
    paced = changed(OPTIONS, stages=parse_stages("2@5:1s,2@9:1s"), types=("a:3", "b"))
    assert not [each for each in load_problems(paced) if "add --rate" in each]
    part = changed(paced, stages=parse_stages("2@5:1s,2:1s"))
    assert [each for each in load_problems(part) if "add --rate" in each]
    names = [each.split(":")[0] for each in load_problems(wrong) if "--stages sets" in each]
    assert names == ["--ramp", "--runs", "--count", "--duration"]
