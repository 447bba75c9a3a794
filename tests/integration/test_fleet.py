"""Workloads devops and homes on SQLite, and runs that end by time or by rows, from the outside."""

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
    listed = cli.sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = [name for (name,) in listed if not name.startswith(("iotbench", "sqlite"))]
    return {name: sorted(row[1:] for row in cli.sql(f'SELECT * FROM "{name}"')) for name in names}


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
        ["--workers=4", "--batch=100", "--split=series"],
        ["--workers=7", "--force", "--batch=7", "--prefill=1000"],
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


def test_a_wrong_row_is_found_by_the_instances_that_read_it(cli: CommandLine) -> None:
    hour = ("--workload=devops", "--scale=1", "--start=2026-01-01", "--end=2026-01-01T02:00:00Z")
    assert cli.run("insert", *SQLITE, *hour, "--workers=1", "--batch=1000").code == 0
    cli.sql("UPDATE cpu SET usage_user = 99.5 WHERE rowid = 361")
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
