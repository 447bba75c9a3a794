"""`--stages`: one run whose number of active workers changes, on real databases."""

import re
from itertools import accumulate
from typing import Any

import pytest

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
UP_AND_DOWN = ((1, 0.8), (3, 0.8), (2, 0.8))
STAGES = "--stages=" + ",".join(f"{workers}:{length}s" for workers, length in UP_AND_DOWN)
CLOCKS_S = 0.5
"""By how much the workers' clocks may differ, as they notice the common start."""


def stages_of(worker: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {stage["stage"]: stage for stage in worker["stages"]}


def expect_active(outcome: dict[str, Any], measured: list[dict[int, dict[str, Any]]]) -> None:
    """Check by the recorded times that each worker began batches or queries in its stages only."""
    begins = [0.0, *accumulate(length for _, length in UP_AND_DOWN)]
    for index, stages in enumerate(measured):
        assert set(stages) <= {n for n, (workers, _) in enumerate(UP_AND_DOWN) if index < workers}
        for number, stage in stages.items():
            began_s = stage["started_s"] - outcome["released_s"]
            assert begins[number] - 0.01 < began_s < begins[number + 1] + CLOCKS_S
            assert stage["ended_s"] >= stage["started_s"]


def expect_inserted(cli: CommandLine, done: Any) -> dict[str, Any]:
    """Check an insert in stages; return its only run."""
    assert done.code == 0, done.err
    result = cli.results()[-1]
    (run,) = result["runs"]
    outcome = run["outcome"]
    assert outcome["verdict"]["status"] in ("verified", "not verified")
    assert len(outcome["workers"]) == 3
    measured = [stages_of(worker) for worker in outcome["workers"]]
    expect_active(outcome, measured)
    for worker, stages in zip(outcome["workers"], measured, strict=True):
        assert sum(stage["rows"] for stage in stages.values()) == worker["rows"]
        assert sum(stage["count"] for stage in stages.values()) == worker["sends"]

    shown = done.json["rows"]
    assert [(row["stage"], row["workers"]) for row in shown] == [(1, 1), (2, 3), (3, 2)]
    assert all(row["rows"] > 0 for row in shown)
    assert all(0 < row["p50_ms"] <= row["max_ms"] for row in shown)
    for row in shown:
        assert row["rows_per_s"] == pytest.approx(row["rows"] / row["timed_s"])
    assert sum(row["rows"] for row in shown) == run["metrics"]["rows"]
    return run


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(("--batch=10",), marks=pytest.mark.rare),
        pytest.param(("--batch=0",), marks=pytest.mark.rare),
        ("--batch=10", "--rate=300"),
    ],
)
def test_the_rows_of_all_stages_are_those_that_are_verified(
    cli: CommandLine, mode: tuple[str, ...]
) -> None:
    done = cli.run("insert", *SQLITE, STAGES, *mode, "--verify=full", "--format=json")
    run = expect_inserted(cli, done)

    assert run["outcome"]["verdict"]["status"] == "verified"
    assert cli.results()[-1]["manifest"]["rows"] == run["metrics"]["rows"]
    assert run["metrics"]["overlap"] is None
    table = cli.run("show", "last").out
    assert "Stage" in table
    assert "stages=1:0.8s,3:0.8s,2:0.8s" in table


def test_each_stage_has_its_rate_and_counts_all_that_fell_due(cli: CommandLine) -> None:
    rates = "--stages=2@200:1s,2@800:1s,1:500ms"
    words = ("insert", *SQLITE, rates, "--rate=100", "--batch=10")
    dry = cli.run(*words, "--dry-run").out
    done = cli.run(*words, "--verify=full", "--format=json")
    asked = cli.run(
        "query", *SQLITE, "--stages=1@20:1s,2@60:1s", "--types=count-events:2", "--format=json"
    )

    assert (done.code, asked.code) == (0, 0), done.err + asked.err
    assert "stages: 2 workers at 200/s for" in dry
    assert "rate: by stage" in dry
    inserted, queried = (result["runs"][0]["outcome"]["workers"] for result in cli.results())
    for workers, due in (
        (inserted, [20, 80, 5]),
        ([worker["queries"][0] for worker in queried], [40, 120]),
    ):
        counted = [0] * len(due)
        for stage in (stage for worker in workers for stage in worker["stages"]):
            counted[stage["stage"]] += stage["count"] + stage["unsent"]
        assert counted == [pytest.approx(each, abs=1) for each in due]
    for row, most in zip(done.json["rows"], (200, 800, 100), strict=True):
        assert 0 < row["rows_per_s"] <= most + 20
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
    configuration = cli.results()[0]["configuration"]
    assert configuration["stages"] == "2@200:1s,2@800:1s,1:0.5s"


def test_stages_follow_the_warm_up_of_the_first_workers(cli: CommandLine) -> None:
    done = cli.run(
        "insert", *SQLITE, "--stages=1:2s,2:1s", "--warmup=1s", "--batch=10", "--format=json",
        "--metrics-out=metrics.txt",
    )  # fmt: skip
    assert done.code == 0, done.err
    (run,) = cli.results()[-1]["runs"]
    first, second = run["outcome"]["workers"]

    assert first["warmup_rows"] > 0 == second["warmup_rows"]
    assert sum(row["rows"] for row in done.json["rows"]) == run["metrics"]["rows"]
    began_s = stages_of(second)[1]["started_s"] - run["outcome"]["released_s"]
    assert 2.99 < began_s < 4
    assert cli.results()[-1]["manifest"]["rows"] == run["metrics"]["rows"] + first["warmup_rows"]
    metrics = (cli.folder / "metrics.txt").read_text()
    active = re.findall(r"^iotbench_active_workers\{.*\} (\S+) ", metrics, re.MULTILINE)
    assert {*active} == {"1", "2"}


def test_what_stores_nothing_has_stages_too(cli: CommandLine) -> None:
    stages = "--stages=1:1s,3:1s,2:1s"
    done = cli.run("insert", "--target=null", "--quiet", stages, "--batch=1000", "--format=json")

    assert done.code == 0, done.err
    (run,) = cli.results()[-1]["runs"]
    shown = done.json["rows"]
    assert [row["workers"] for row in shown] == [1, 3, 2]
    assert all(row.get("rows") for row in shown), (shown, run["outcome"])
    assert sum(row["rows"] for row in shown) == run["metrics"]["rows"]


def test_a_plan_has_stages_and_its_command_repeats_them(cli: CommandLine) -> None:
    plan = cli.folder / "plan.yaml"
    plan.write_text(
        """
name: staged
targets: [sqlite]
repeats: 1
settings:
  - name: up
    insert: {workload: iot, batch: 10, stages: "1:400ms,2:400ms"}
    query: {types: [count-events], stages: "1:300ms,2:300ms"}
    options: {path: plan.db}
thresholds: [rows_per_s < 1 at workers=2]
"""
    )
    done = cli.run("run", str(plan), "--trust", "--quiet")
    assert done.code == 0, done.err
    kinds = {each["kind"]: each for each in cli.results() if "kind" in each}
    options = kinds["insert"]["command"]["options"]
    assert options["stages"] == ["1:0.4s,2:0.4s"]
    assert "workers" not in options
    assert len(kinds["query"]["runs"][0]["stages"]) == 2
