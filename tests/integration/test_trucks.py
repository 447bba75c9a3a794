"""Workload trucks on SQLite, from the outside."""

import re

from tests.integration.conftest import CommandLine
from tests.integration.test_fleet import SQLITE

DAY = ("--start=2026-06-01", "--end=2026-06-02T01:00:00Z", "--interval=120s")
TRUCKS = ("--workload=trucks", "--scale=8", "--initial-scale=3", *DAY)


def test_what_trucks_cannot_do_is_refused(cli: CommandLine) -> None:
    split = cli.run("insert", *SQLITE, *TRUCKS, "--split=series")
    rare = (*TRUCKS[:2], "--initial-scale=9", *DAY[:2], "--interval=4h")
    short = cli.run("insert", *SQLITE, *rare)
    assert (split.code, short.code) == (2, 2)
    assert "--split series: the series of workload trucks do not take turns" in split.err
    assert re.search("6 intervals, and a truck sends ten at once", short.err)

    hours = (*TRUCKS[:-2], "--end=2026-06-01T03:00:00Z", "--interval=120s")
    assert cli.run("insert", *SQLITE, *hours, "--workers=1", "--batch=100").code == 0
    asked = cli.refuse("query", *SQLITE[:3], "--types=long-driving-sessions")
    assert "long-driving-sessions cannot be asked of this data: it asks about 4 h" in asked


def test_the_queries_of_trucks_are_verified_and_a_wrong_answer_is_found(cli: CommandLine) -> None:
    assert cli.run("insert", *SQLITE, *TRUCKS, "--workers=1", "--batch=500").code == 0
    words = (*SQLITE[:3], "--workers=1", "--runs=2")
    asked = cli.run("query", *words)
    assert asked.code == 0, asked.err
    assert len(verdicts(cli)) == 13 + 2
    assert {*verdicts(cli).values()} == {"verified"}

    # A truck stands still for two hours, which changes answers and no number of rows.
    cli.sql(
        "UPDATE readings SET velocity = 0 WHERE name = 'truck_1' AND time BETWEEN "
        "(SELECT max(time) - 10000000 FROM readings) AND "
        "(SELECT max(time) - 2800000 FROM readings)"
    )
    types = ("avg-daily-driving-duration", "avg-daily-driving-session", "breakdown-frequency")
    asked = cli.run("query", *words, f"--types={','.join(types)}")
    assert asked.code == 3
    assert verdicts(cli) == dict(zip(types, ("mismatch", "mismatch", "verified"), strict=True))


def verdicts(cli: CommandLine) -> dict[str, str]:
    """Return the verdict on each query of the last run."""
    queries = cli.results()[-1]["runs"][-1]["outcome"]["queries"]
    return {each["name"]: each["verdict"]["status"] for each in queries}
