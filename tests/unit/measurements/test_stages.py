"""Stages as they are written, and everything that is wrong with them."""

import pytest

from iotbench.measurements.query.plan import load_problems
from iotbench.measurements.shared.stages import (
    counts_of,
    duration_of,
    format_stages,
    parse_stages,
    stage_conflicts,
    stage_problems,
)
from simulator.protocol.messages import MOST_STAGES
from simulator.protocol.spec import LoadStage
from tests.unit.measurements.options import changed
from tests.unit.measurements.test_plan import DEFAULTS, problems_of, runs_of
from tests.unit.measurements.test_query_plan import OPTIONS, asked
from tests.unit.specs import run_spec

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
        assert sum(each.startswith(f"{name}: --stages say how many") for each in problems) == 1
    (conflict,) = stage_conflicts(UP_AND_DOWN, {"--workers", "--batch"})
    assert conflict.startswith("--workers: --stages say how many workers are active, and for how")
    assert stage_conflicts((), {"--workers"}) == []
    again = changed(DEFAULTS, num_inserts=None, stages=UP_AND_DOWN, clean=False)
    assert problems_of(again) == []
    assert problems_of(changed(again, runs=2)) == [
        "--stages: with --no-clean it takes one run; use --runs 1"
    ]


def test_stages_have_limits():
    found = [*stage_problems([LoadStage(workers=5, duration_s=366 * 86400 + 1)], {}, 4)]

    assert found == [
        "--stages: at most 4 workers, got 5",
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
    names = [each.split(":")[0] for each in load_problems(wrong) if "--stages say" in each]
    assert names == ["--ramp", "--runs", "--count", "--duration"]
