"""Clusters, many series and many tables, and parts of fleets, from the outside: on SQLite."""

import pytest

from tests.integration.conftest import CommandLine, combined
from tests.integration.test_fleet import SQLITE, stored

START = "--start=2026-01-01"
LOADS = {
    "dashboard": ("--scale=12", "--end=2026-01-01T01:10:00Z", "--interval=60s"),
    "metaquery": ("--cardinality=1500",),
    "multi-measurement": ("--scale=1",),
}
ROWS = {"dashboard": 11 * 12 * 70, "metaquery": 49**2, "multi-measurement": 2500}
QUERIES = {"dashboard": 14 + 11, "metaquery": 10, "multi-measurement": 2}


@pytest.mark.parametrize("workload", LOADS)
def test_rows_of_several_workers_and_all_answers_are_verified(
    cli: CommandLine, workload: str
) -> None:
    words = (f"--workload={workload}", START, *LOADS[workload], "--workers=3", "--batch=7")
    done = cli.run("insert", *SQLITE, *words)
    assert done.code == 0, done.err
    assert cli.results()[0]["manifest"]["rows"] == ROWS[workload]
    assert sum(map(len, stored(cli).values())) == ROWS[workload]

    asked = cli.run("query", *SQLITE[:2], "--count=3", "--format=json", "--quiet")
    assert asked.code == 0, asked.err
    assert [row["verdict"] for row in asked.json["rows"]] == ["verified"] * QUERIES[workload]


@pytest.mark.parametrize("workload", combined(LOADS, often=[("multi-measurement",)]))
def test_a_file_of_records_has_the_same_rows(cli: CommandLine, workload: str) -> None:
    path = cli.folder / "rows.lp"
    words = (f"--workload={workload}", START, *LOADS[workload])
    made = cli.run("generate", "--format=influx", f"--output={path}", *words)
    assert made.code == 0, made.err
    assert path.read_bytes().count(b"\n") == ROWS[workload]
    taken = cli.run(
        "insert", "--target=null", "--runs=1", f"--data={path}", "--data-format=influx",
        "--workers=2",
    )  # fmt: skip
    assert taken.code == 0, taken.err
    direct = cli.run("insert", "--target=null", "--runs=1", *words, "--workers=1")
    assert direct.code == 0, direct.err

    sent, drawn = (result["manifest"] for result in cli.results())
    assert (sent["rows"], sent["dataset"]["params"]) == (drawn["rows"], drawn["dataset"]["params"])
