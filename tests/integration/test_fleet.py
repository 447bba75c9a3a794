"""Workloads devops and homes on SQLite, and runs that end by time or by rows, from the outside."""

import sqlite3

import pytest

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet", "--runs=1", "--verify=full")
FLEET = ("--workload=devops", "--scale=6", "--start=2026-01-01", "--end=2026-01-01T00:30:00Z")
HOMES = ("--workload=homes", "--scale=3", "--start=2026-01-01", "--end=2026-01-01T05:00:00Z",
         "--interval=10m")  # fmt: skip
POINTS = 6 * 180
TABLES = 9


def stored(cli: CommandLine) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table, sorted."""
    with sqlite3.connect(cli.folder / "bench.db") as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [name for (name,) in listed if not name.startswith(("iotbench", "sqlite"))]
        return {
            name: sorted(row[1:] for row in connection.execute(f'SELECT * FROM "{name}"'))
            for name in names
        }


@pytest.mark.parametrize(
    ("fleet", "sizes"),
    [
        (FLEET, [POINTS] * TABLES),
        pytest.param(
            HOMES,
            [600, 600, 600, 1200, 1200, 90, 90, 90, 5, 90, 90, 180, 150],
            marks=pytest.mark.rare,
        ),
    ],
    ids=["devops", "homes"],
)
def test_any_number_of_workers_stores_the_same_rows(
    cli: CommandLine, fleet: tuple[str, ...], sizes: list[int]
) -> None:
    found = []
    for words in (
        ["--workers=1", "--batch=100"],
        ["--workers=4", "--batch=7"],
        ["--workers=4", "--batch=100", "--split=series"],
        ["--workers=7", "--force", "--batch=0", "--prefill=1000"],
    ):
        done = cli.run("insert", *SQLITE, *fleet, *words)
        assert done.code == 0, done.err
        found.append((cli.results()[-1]["manifest"], stored(cli)))

    manifests, tables = zip(*found, strict=True)
    assert [len(rows) for rows in tables[0].values()] == sizes
    assert all(each == tables[0] for each in tables)
    assert all(each["dataset"]["ranges"] == manifests[0]["dataset"]["ranges"] for each in manifests)
    assert manifests[0]["rows"] == sum(sizes)

    asked = cli.run("query", "--target=sqlite", "--extra-option=path=bench.db", "--format=json")
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}


@pytest.mark.rare
def test_the_documents_queries_are_asked_with_random_hosts_and_times(cli: CommandLine) -> None:
    day = ("--workload=devops", "--scale=9", "--start=2026-01-01", "--end=2026-01-02T01:00:00Z")
    done = cli.run("insert", *SQLITE, *day, "--interval=60s", "--workers=2", "--batch=1000")
    assert done.code == 0, done.err

    names = "1-host-1-hr,8-host-1-hr,1-host-12-hr,groupby"
    target = ("--target=sqlite", "--extra-option=path=bench.db", "--format=json")
    asked = cli.run(
        "query", *target, f"--types={names}", "--workers=1,3", "--count=30", "--print-answers=2"
    )
    assert asked.code == 0, asked.err
    assert [(row["query"], row["workers"]) for row in asked.json["rows"]] == [
        (name, workers) for workers in (1, 3) for name in names.split(",")
    ]
    assert {(row["verdict"], row["timed"]) for row in asked.json["rows"]} == {("verified", 30)}
    runs = cli.results()[-1]["runs"]
    compared = [{q["answers"] for q in run["outcome"]["queries"]} for run in runs]
    assert compared == [{30 + 1}, {30 + 3}]
    assert len({answer["statement"] for answer in asked.json["answers"]}) == 4 * 2

    timed = cli.run("query", *target, "--types=1-host-1-hr", "--duration=1s", "--align")
    (row,) = timed.json["rows"]
    assert (timed.code, row["verdict"]) == (0, "verified")
    assert row["timed"] > 1

    refused = cli.refuse("query", *target, "--types=16-host-1-hr", "--runs=2", "--count=3")
    assert "16-host-1-hr cannot be asked of this data: it asks about 16 hosts" in refused
    assert "--runs, --count: each says how much is asked" in refused


def test_a_wrong_row_is_found_by_the_instances_that_read_it(cli: CommandLine) -> None:
    hour = ("--workload=devops", "--scale=1", "--start=2026-01-01", "--end=2026-01-01T02:00:00Z")
    assert cli.run("insert", *SQLITE, *hour, "--workers=1", "--batch=1000").code == 0
    with sqlite3.connect(cli.folder / "bench.db") as connection:
        connection.execute("UPDATE cpu SET usage_user = 99.5 WHERE rowid = 361")
    asked = cli.run(
        "query", "--target=sqlite", "--extra-option=path=bench.db", "--format=json",
        "--types=1-host-1-hr,count-cpu", "--count=100",
    )  # fmt: skip

    assert asked.code == 3
    assert [row["verdict"] for row in asked.json["rows"]] == ["mismatch", "verified"]
    assert "expected 101 answers equal to the truth" in asked.json["mismatches"][0]


def test_a_fleet_is_inserted_in_parts(cli: CommandLine) -> None:
    first = cli.run("insert", *SQLITE, *FLEET, "--workers=2", "--batch=50", "--limit=3000")
    second = cli.run("insert", *SQLITE, *FLEET, "--workers=3", "--batch=50", "--no-clean")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert [r["manifest"]["rows"] for r in cli.results()] == [3000, POINTS * TABLES]


@pytest.mark.rare
def test_only_the_same_fleet_is_continued(cli: CommandLine) -> None:
    ten_minutes = ("--workload=devops", "--end=2026-01-01T00:10:00Z", "--start=2026-01-01")
    cli.run("insert", *SQLITE, *ten_minutes, "--workers=1", "--limit=100")
    kept = cli.run("insert", *SQLITE, "--workload=devops", "--workers=1", "--no-clean")
    another = cli.run(
        "insert", *SQLITE, *ten_minutes[:2], "--start=2026-01-01T00:05:00Z", "--scale=8",
        "--workers=1", "--no-clean",
    )  # fmt: skip
    cli.run("insert", *SQLITE, *ten_minutes, "--workers=1", "--no-clean")
    whole = cli.run("insert", *SQLITE, *ten_minutes, "--workers=1", "--no-clean")

    assert (kept.code, another.code, whole.code) == (2, 2, 2)
    assert kept.err.startswith("error: --end: the last insert has 2026-01-01T00:10:00Z, got")
    assert [line.split(": ")[1] for line in another.err.splitlines()] == [
        "--start-time", "--scale", "--end"
    ]  # fmt: skip
    assert "the tables already hold all 540 rows of workload devops" in whole.err
    assert [r["manifest"]["rows"] for r in cli.results()] == [100, 540]


@pytest.mark.rare
def test_a_run_that_ends_by_time_leaves_what_was_sent(cli: CommandLine) -> None:
    insert = ("insert", *SQLITE, "--workers=2", "--batch=20", "--rate=2000")
    first = cli.run(*insert, "--duration=2s")
    second = cli.run(*insert, "--duration=1s", "--no-clean")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    one, both = (result["manifest"]["rows"] for result in cli.results())
    assert 3000 < one <= 4040
    assert one + 1000 < both <= one + 2040
    assert len(stored(cli)["events"]) == both
    assert cli.run("query", "--target=sqlite", "--extra-option=path=bench.db").code == 0
    assert cli.run("verify", "--target=sqlite", "--extra-option=path=bench.db").code == 0
