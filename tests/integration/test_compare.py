"""Results compared, and thresholds, from the outside."""

import json
import xml.etree.ElementTree as ET

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
ROWS = (*SQLITE, "--batch=100", "--num-inserts=2000")


def test_two_sweeps_and_their_queries_are_compared(cli: CommandLine) -> None:
    for _ in range(2):
        done = cli.run("insert", *ROWS, "--workers=1", "--runs=2")
        assert done.code == 0, done.err
        done = cli.run("query", *SQLITE, "--types=count-events,temperature-stats")
        assert done.code == 0, done.err
    inserts = cli.run("compare", "last~3", "last~1", "--output=results", "--format=json")
    queries = cli.run("compare", "last~2", "last", "--output=results")
    other = cli.run("compare", "last~1", "last", "--output=results")

    assert inserts.code == 0, inserts.err
    (comparison,) = inserts.json["comparisons"]
    assert [(row["workers"], row["runs"]) for row in comparison["rows"]] == [
        (1, {"base": 2, "other": 2})
    ]
    assert all(
        figure["low"] <= figure["change"] <= figure["high"]
        for row in comparison["rows"]
        for figure in row["figures"].values()
        if figure["low"] is not None
    )
    assert queries.code == 0, queries.err
    assert queries.out.count(" one run\n") == 4  # two queries, all of them, and their number
    assert "join the results of a side" in queries.out
    assert (other.code, other.out) == (2, "")
    assert "is a result of query" in other.err


PLAN = """
name: pair
targets: [sqlite]
repeats: 3
settings:
  - name: plain
    insert: &rows {workload: iot, workers: 1, num_inserts: 5k, batch: 500}
    query: {count: 3, types: [count-events]}
  - name: single
    insert: {<<: *rows, num_inserts: 5k, batch: 0}
    query: {count: 3, types: [count-events]}
"""


def test_the_settings_of_a_plan_are_compared_in_turns(cli: CommandLine) -> None:
    (cli.folder / "pair.yaml").write_text(PLAN)
    done = cli.run("run", "pair.yaml", "--quiet", "--output=results")
    assert done.code == 0, done.err
    (path,) = (cli.folder / "results").glob("plan-pair-*.json")
    assert f"compare them: `python run.py compare results/{path.name}`" in done.out

    name = f"results/{path.name}"
    inserts = cli.run("compare", name, "--format=json")
    queries = cli.run("compare", name, "--of=query", "--format=json")
    mixed = cli.run("compare", name, "--of=mixed")
    one = cli.run("compare", "last", "--output=results")

    for found in (inserts, queries):
        assert found.code == 0, found.err
        for row in found.json["comparisons"][0]["rows"]:
            assert (row["in_turns"], row["sweeps"]) == (True, {"base": 3, "other": 3})
    assert len(inserts.json["comparisons"]) == 1
    (row,) = inserts.json["comparisons"][0]["rows"]
    assert row["figures"]["rows_per_s"]["other"] < row["figures"]["rows_per_s"]["base"]
    assert (mixed.code, one.code) == (2, 2)
    assert "results of mixed; got 0; use --of insert or --of query" in mixed.err
    assert "expected OTHER to compare it with, or the file of a plan" in one.err


def test_a_machine_is_calibrated_and_compare_uses_it(cli: CommandLine) -> None:
    sweep = ("--workers=1", "--runs=2")
    for batch in (100, 0):
        done = cli.run("insert", *SQLITE, "--num-inserts=500", f"--batch={batch}", *sweep)
        assert done.code == 0, done.err
    before = cli.run("compare", "last~1", "last", "--output=results")
    done = cli.run(
        "calibrate", "--targets=sqlite", "--sweeps=5", "--duration=500ms", "--format=json",
        "--output=results/equal",
    )  # fmt: skip
    after = cli.run("compare", "last~1", "last", "--output=results")

    assert (before.code, done.code, after.code) == (0, 0, 0), done.err
    about = "calibration of sqlite, workers 1: 5 sweeps of 3 runs of 0.5 s, at least 0:00:08 in all"
    assert 0 < done.err.find(about) < done.err.find("[1/15] sqlite, workers-1")
    (kept,) = done.json
    assert json.loads((cli.state / "calibrations.json").read_text()) == [kept]
    assert (kept["module"], kept["workers"], len(kept["rates"])) == ("sqlite", 1, 5)
    assert "sqlite, 1 worker: differences below" not in before.out
    assert "sqlite, 1 worker: differences below" in after.out


def test_a_threshold_that_fails_is_named_with_the_number_and_exits_with_99(
    cli: CommandLine,
) -> None:
    done = cli.run(
        "insert", *ROWS, "--workers=1,2", "--runs=1", "--fail-if=rows_per_s < 1G at workers=2",
        "--fail-if=max_ms > 100s", "--junit=out.xml", "--format=json",
    )  # fmt: skip
    (suite,) = ET.parse(cli.folder / "out.xml").getroot()

    assert done.code == 99
    assert "threshold failed: rows_per_s < 1G at workers=2: " in done.err
    assert done.err.count("threshold failed") == 1
    assert done.json["exit_code"] == 0
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "1", "0")
    asked = cli.run("query", *SQLITE, "--fail-if=max_ms > 0 at query=count-*", "--junit=out.xml")
    assert asked.code == 99
    assert asked.err.count("threshold failed") == 1


def test_a_worse_exit_code_wins(cli: CommandLine) -> None:
    slow = ("--num-inserts=100k", "--batch=0", "--timeout=1s", "--runs=1", "--workers=1")
    done = cli.run(
        "insert", *SQLITE, *slow, "--fail-if=rows_per_s < 1G", "--junit=out.xml"
    )  # fmt: skip
    (suite,) = ET.parse(cli.folder / "out.xml").getroot()

    assert done.code == 1
    assert "threshold failed" not in done.err
    assert suite.get("errors") == "1"
