"""Bars of stocks, and rows without a natural key, from the outside: on SQLite."""

import re

import pytest

from tests.integration.conftest import CommandLine, combined
from tests.integration.test_fleet import SQLITE, stored

BARS = ("--workload=ohlcv", "--years=0.1", "--symbols=2", "--start=2026-06-01")
BARS_STORED = 2 * 27 * 390
ROWS_EACH = 3000
NOSQL = ("slim", "light", "large")


def expect_verified(cli: CommandLine, *target: str, queries: int) -> None:
    asked = cli.run("query", *target, "--runs=2", "--quiet")
    assert asked.code == 0, asked.err
    (run,) = cli.results()[-1]["runs"]
    verdicts = {each["name"]: each["verdict"] for each in run["outcome"]["queries"]}
    assert len(verdicts) == queries
    assert {verdict["status"] for verdict in verdicts.values()} == {"verified"}


@pytest.mark.parametrize("workload", combined(NOSQL, often=[("light",)]))
def test_rows_without_a_key_are_verified_and_continued(cli: CommandLine, workload: str) -> None:
    insert = ("insert", *SQLITE, f"--workload={workload}", "--workers=3", "--batch=100")
    first = cli.run(*insert, f"--num-inserts={ROWS_EACH}", "--start=2026-06-01")
    second = cli.run(*insert, f"--num-inserts={ROWS_EACH}", "--no-clean")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert [len(rows) for rows in stored(cli).values()] == [2 * 3 * ROWS_EACH]
    expect_verified(cli, "--target=sqlite", "--extra-option=path=bench.db", queries=2)


def test_shards_are_tables_of_the_workers_and_light_has_its_index(cli: CommandLine) -> None:
    shards = ("--tables=3", "--tables-by=worker", "--workers=3", "--num-inserts=500")
    words = ("--workload=light", *shards, "--batch=100", "--extra-option=create_indices=true")
    done = cli.run("insert", *SQLITE, *words)

    assert done.code == 0, done.err
    assert {name: len(rows) for name, rows in stored(cli).items()} == {
        f"light{part}": 500 for part in range(3)
    }
    (index,) = cli.sql("PRAGMA index_list(light1)")
    (column,) = cli.sql(f"PRAGMA index_info({index[1]})")
    assert column[2] == "val1"
    expect_verified(cli, "--target=sqlite", "--extra-option=path=bench.db", queries=2)


def test_equal_rows_are_counted(cli: CommandLine) -> None:
    rows = ("--num-inserts=100k", "--rows-per-second=1M", "--start=2026-06-01")
    words = ("--workload=light", "--workers=2", "--batch=10000", *rows)
    done = cli.run("insert", *SQLITE, *words)
    assert done.code == 0, done.err
    columns = "timestamp, val1, val2"
    equal = f"SELECT max(id) FROM light GROUP BY {columns} HAVING count(*) = 2 ORDER BY 1"
    ids = [row[0] for row in cli.sql(equal)]
    assert len(ids) > 5
    cli.sql(f"DELETE FROM light WHERE id = {ids[0]}")
    cli.sql(f"INSERT INTO light ({columns}) SELECT {columns} FROM light WHERE id = {ids[1]}")
    verify = ("verify", "--target=sqlite", "--extra-option=path=bench.db", "--verify=full")
    found = cli.run(*verify)

    assert found.code == 3
    assert re.search(r"missing 1 \(\d+\); not expected 1 \(", found.out), found.out


@pytest.mark.parametrize(
    ("workload", "key"),
    [
        ("slim", "none"),
        pytest.param("light", "db", marks=pytest.mark.rare),
        pytest.param("iot", "db", marks=pytest.mark.rare),
    ],
)
def test_the_workload_names_its_primary_key(cli: CommandLine, workload: str, key: str) -> None:
    for given, expected in (((), key), (("--primary-key=none",), "none")):
        words = (f"--workload={workload}", "--workers=1", "--num-inserts=10", *given)
        done = cli.run("insert", *SQLITE, *words)
        assert done.code == 0, done.err
        assert cli.results()[-1]["configuration"]["primary_key"] == expected
        table = "events" if workload == "iot" else workload
        columns = [row[1] for row in cli.sql(f"PRAGMA table_info({table})")]
        assert ("id" in columns) == (expected == "db")
