"""`--warmup`: what is stored and checked, and left out of every figure, on SQLite."""

import pytest

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
LOAD = ("--workers=2", "--runs=1", "--batch=10", "--rate=2000")


def test_rows_of_a_warm_up_are_verified_and_in_no_figure(cli: CommandLine) -> None:
    done = cli.run(
        "insert", *SQLITE, *LOAD, "--warmup=1s", "--duration=1s", "--verify=full", "--format=json"
    )

    assert done.code == 0, done.err
    (result,) = cli.results()
    (run,) = result["runs"]
    metrics, outcome = run["metrics"], run["outcome"]
    assert outcome["verdict"]["status"] == "verified"
    assert 1800 <= metrics["warmup_rows"] <= 2200
    assert 1800 <= metrics["rows"] <= 2200
    assert result["manifest"]["rows"] == metrics["rows"] + metrics["warmup_rows"]
    assert metrics["rows_per_s"] == pytest.approx(2000, rel=0.15)
    assert metrics["latency"]["sends"] == metrics["rows"] / 10
    assert 0.9 < outcome["phases_s"]["warmup"] < 1.2
    assert 0.8 < outcome["phases_s"]["insert"] < 1.2
    assert list(outcome["phases_s"]).index("warmup") < list(outcome["phases_s"]).index("insert")
    assert metrics["overlap"] > 0.8
    assert metrics["evenness"] > 0.8

    shown = cli.run("show", "last")
    rows = metrics["warmup_rows"]
    assert f"warm-up: 1 s before each run is measured: {rows:,} rows in all, stored" in shown.out
    assert "workers: all 2 sending in " in shown.out

    asked = cli.run(
        "query", *SQLITE, "--types=count-events", "--warmup=1s", "--runs=3", "--format=json"
    )
    assert asked.code == 0, asked.err
    (worker,) = cli.results()[-1]["runs"][0]["outcome"]["workers"]
    (times,) = worker["queries"]
    assert times["runs"] == 3
    assert times["warmup_runs"] > 3
    assert asked.json["rows"][0]["verdict"] == "verified"
    assert "warm-up: 1 s of each query by each worker" in cli.run("show", "last").out


def test_a_warm_up_ends_once_the_rate_is_steady(cli: CommandLine) -> None:
    done = cli.run(
        "insert", *SQLITE, *LOAD, "--warmup-until-steady=1m", "--duration=1s", "--format=json"
    )

    assert done.code == 0, done.err
    (result,) = cli.results()
    (run,) = result["runs"]
    metrics, outcome = run["metrics"], run["outcome"]
    assert outcome["steady"] is True
    assert 10 < outcome["phases_s"]["warmup"] < 20
    assert 0.8 < outcome["phases_s"]["insert"] < 1.2
    assert metrics["rows_per_s"] == pytest.approx(2000, rel=0.15)
    assert metrics["warmup_rows"] == pytest.approx(2000 * outcome["phases_s"]["warmup"], rel=0.1)
    assert result["manifest"]["rows"] == metrics["rows"] + metrics["warmup_rows"]
    assert outcome["verdict"]["status"] == "verified"
    assert "s until the rate was steady: " in cli.run("show", "last").out


@pytest.mark.rare
def test_a_warm_up_that_cannot_be_measured_is_refused_or_named(cli: CommandLine) -> None:
    wrong = cli.refuse("insert", *SQLITE, "--warmup=10s")
    assert "--warmup: it may last longer than the default of 10,000 rows" in wrong
    steps = cli.refuse("insert", *SQLITE, "--workers=1", "--steps=2", "--warmup=1s")
    assert "--steps: counts rows; leave --warmup out" in steps
    both = cli.refuse("insert", *SQLITE, "--warmup=1s", "--warmup-until-steady=5s", "--duration=1s")
    assert "--warmup, --warmup-until-steady: both set the length of the warm-up" in both
    assert "--warmup-until-steady: in less than 15s no rate is seen to be steady" in both
    staged = cli.refuse("insert", *SQLITE, "--warmup-until-steady=1m", "--stages=1:1s,2:1s")
    assert "--warmup-until-steady: --stages begin at a fixed time; use --warmup" in staged
    assert not cli.results()

    over = cli.run("insert", *SQLITE, *LOAD, "--num-inserts=100", "--warmup=30s")
    assert over.code == 1
    assert "--warmup: all rows were inserted within its 30 s, so nothing was measured" in over.err
    ramp = cli.run("query", *SQLITE, "--ramp", "--response-limit=1s", "--warmup=1s")
    assert ramp.code != 0
