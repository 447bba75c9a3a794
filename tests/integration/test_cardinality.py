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


@pytest.mark.rare
def test_a_part_of_a_fleet_is_chosen_by_its_first_host_and_its_series(cli: CommandLine) -> None:
    part = ("--workload=devops", "--cardinality=30", "--scale-offset=70", START)
    words = (*part, "--end=2026-01-01T01:00:00Z", "--workers=2", "--batch=100")
    done = cli.run("insert", *SQLITE, *words, "--limit=5000")
    more = cli.run("insert", *SQLITE, *words, "--no-clean")
    asked = cli.run("query", *SQLITE[:2], "--types=1-host-1-hr", "--count=9", "--format=json")

    assert (done.code, more.code, asked.code) == (0, 0, 0), done.err + more.err + asked.err
    assert [row["verdict"] for row in asked.json["rows"]] == ["verified"]
    manifest = cli.results()[1]["manifest"]
    assert manifest["rows"] == 9 * 3 * 360
    params = manifest["dataset"]["params"]
    assert (params["scale"], params["cardinality"], params["scale_offset"]) == (3, 30, 70)
    hosts = {row[1] for rows in stored(cli).values() for row in rows}
    assert hosts == {"host_70", "host_71", "host_72"}
