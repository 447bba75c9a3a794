"""What `query` asks and how it is reported: types by pattern, burn-in, intervals, all together."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.commands import KeptForks
from tests.integration.conftest import CommandLine

TARGET = ("--target=sqlite", "--extra-option=path=bench.db")
HOSTS = 4


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """A command line with two hours of a fleet in SQLite, which the tests only query."""
    with closing(KeptForks()) as forks:
        cli = CommandLine(tmp_path_factory.mktemp("asking"), forks=forks)
        done = cli.run(
            "insert", *TARGET, "--workload=devops", f"--scale={HOSTS}", "--start=2026-01-01",
            "--end=2026-01-01T02:00:00Z", "--interval=60s", "--workers=1", "--batch=500",
            "--runs=1", "--quiet",
        )  # fmt: skip
        assert done.code == 0, done.err
        yield cli


def test_patterns_choose_types_and_a_burn_in_is_checked(stored: CommandLine) -> None:
    asked = stored.run(
        "query", *TARGET, "--types=*-host-1-hr,count-cpu", "--workers=2", "--count=10",
        "--burn-in=3", "--format=json",
    )  # fmt: skip

    assert asked.code == 0, asked.err
    names = [row["query"] for row in asked.json["rows"]]
    assert names == ["1-host-1-hr", "2-host-1-hr", "4-host-1-hr", "count-cpu"]
    assert {row["timed"] for row in asked.json["rows"]} == {10}
    (total,) = asked.json["all_queries"]
    assert (total["timed"], total["verdict"]) == (40, "verified")
    assert "query 8-host-1-hr is left out: it asks about 8 hosts" in asked.err
    queries = stored.results()[-1]["runs"][0]["outcome"]["queries"]
    assert {query["name"]: query["answers"] for query in queries} == {
        **dict.fromkeys(names[:3], 10 + 2 * (1 + 3)),
        "count-cpu": 1,
    }


def test_the_table_has_all_queries_together_in_80_columns(stored: CommandLine) -> None:
    asked = stored.run("query", *TARGET, "--types=1-host-1-hr,count-*", "--quiet")
    lines = asked.out.splitlines()
    (total,) = [line for line in lines if line.startswith("all queries")]

    assert total.endswith("verified")
    assert lines.index(total) < lines.index("", lines.index(total))
    assert max(map(len, lines[: lines.index(total) + 1])) <= 80


@pytest.mark.parametrize("form", ["table", "json"])
def test_each_interval_of_queries_is_a_line(stored: CommandLine, form: str) -> None:
    asked = stored.run(
        "query", *TARGET, "--types=count-cpu", "--duration=2s", "--print-interval=5",
        f"--format={form}",
    )  # fmt: skip

    assert asked.code == 0, asked.err
    if form == "table":
        lines = [line for line in asked.err.splitlines() if "count-cpu: " in line]
        assert all(line.endswith(" queries/s") for line in lines)
        assert len(lines) > 1
        return
    events = [json.loads(line) for line in asked.err.splitlines() if line.startswith("{")]
    runs = [event["runs"] for event in events]
    assert len(runs) > 1
    assert runs == sorted(set(runs))
    assert runs[-1] <= asked.json["rows"][0]["timed"]
    assert {event["query"] for event in events} == {"count-cpu"}


def test_queries_on_a_schedule_wait_from_when_they_are_due(cli: CommandLine) -> None:
    path = f"--extra-option=path={cli.folder / 'rate.db'}"
    filled = cli.run("insert", "--target=sqlite", path, "--workers=1", "--runs=1", "--batch=500",
                     "--num-inserts=2000", "--quiet")  # fmt: skip
    assert filled.code == 0, filled.err
    asked = ("query", "--target=sqlite", path, "--types=count-events", "--format=json")
    done = cli.run(*asked, "--workers=2", "--rate=40", "--duration=2s")
    assert done.code == 0, done.err
    (row,) = done.json["rows"]
    assert row["verdict"] == "verified"
    assert 35 < row["queries_per_s"] < 45
    assert 70 <= row["timed"] <= 82
    assert cli.run(*asked, "--workers=1", "--rate=1M", "--duration=1s").code == 0
    assert any("reached only" in warning for warning in cli.results()[-1]["warnings"])
    refused = cli.refuse(*asked, "--rate=5", "--ramp", "--response-limit=1s")
    assert "--rate: a ramp lets in workers that ask as fast as they can" in refused


def test_types_with_weights_are_asked_so_many_times_as_often(stored: CommandLine) -> None:
    types = "--types=1-host-1-hr:3,count-cpu"
    asked = stored.run("query", *TARGET, types, "--workers=2", "--count=10", "--format=json")
    assert asked.code == 0, asked.err
    assert {row["query"]: row["timed"] for row in asked.json["rows"]} == {
        "1-host-1-hr": 30, "count-cpu": 10,
    }  # fmt: skip
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
    (total,) = asked.json["all_queries"]
    assert (total["timed"], total["verdict"]) == (40, "verified")
    (verdict, _) = stored.results()[-1]["runs"][0]["outcome"]["queries"]
    assert verdict["answers"] == 30 + 2

    shown = stored.run("query", *TARGET, types, "--rate=20", "--duration=1s")
    assert shown.code == 0, shown.err
    assert "of 80 queries: 1-host-1-hr 75.0%, count-cpu 25.0%" in shown.err + shown.out
