"""`mixed --fresh`: rows in flight are asked about, and a database that misses one is found."""

from typing import Any

import pytest

from tests.integration.conftest import POSTGRES, CommandLine
from tests.integration.test_mixed import filled

STALE = """
from simulator.modules.sqlite import Sqlite, SqliteSession


class Stale(Sqlite):
    '''SQLite whose queries go on reading what they have seen first.'''

    def connect(self):
        return StaleSession(super().connect().connection)


class StaleSession(SqliteSession):
    def run(self, statement):
        if "timestamp >=" in statement.text and not self.connection.in_transaction:
            self.connection.execute("BEGIN")
        return super().run(statement)
"""
LOAD = (
    "mixed", "--target=lite", "--fresh=1m", "--batch=20", "--duration=2s", "--insert-rate=1000",
    "--query-rate=60", "--format=json",
)  # fmt: skip


@pytest.fixture
def lite(cli: CommandLine) -> CommandLine:
    cli.add_modules("stale", STALE)
    cli.configure(lite={"module": "sqlite", "path": "lite.db"})
    return cli


def test_fresh_rows_are_asked_about_and_every_answer_is_checked(lite: CommandLine) -> None:
    filled(lite, "--workers=2", "--num-inserts=3000")
    planned = lite.run(*LOAD[:-1], "--dry-run")
    done = lite.run(*LOAD, "--insert-workers=2", "--warmup=500ms")

    assert planned.code == 0, planned.err
    assert "queries are about the last 0:01:00 of the rows that arrive" in planned.out + planned.err
    assert done.code == 0, done.err
    rows = {row.get("load") or row["query"]: row for row in done.json["rows"]}
    assert [*rows] == ["inserts", "fresh-count", "fresh-extremes", "fresh-newest"]
    assert {row["verdict"] for row in rows.values()} == {"verified"}
    for name in ("fresh-count", "fresh-extremes"):
        assert 0 < rows[name]["freshness_p50_ms"] <= rows[name]["freshness_p99_ms"] < 2000
    outcome = lite.results()[-1]["runs"][0]["outcome"]
    answers = {query["name"]: query["answers"] for query in outcome["queries"]}
    asked = {
        times["name"]: 1 + times["warmup_runs"] + times["runs"]
        for worker in outcome["workers"]
        for times in worker["queries"]
    }
    assert answers == asked
    stored = lite.run("verify", "--target=lite", "--format=json")
    assert stored.code == 0, stored.err


def test_a_database_that_misses_acknowledged_rows_is_found(lite: CommandLine) -> None:
    lite.configure(lite={"module": "stale:Stale", "path": "lite.db"})
    filled(lite, "--workers=1", "--num-inserts=3000")
    done = lite.run(*LOAD)

    assert done.code == 3, done.err
    rows = {row.get("load") or row["query"]: row for row in done.json["rows"]}
    assert rows["inserts"]["verdict"] == "verified"
    assert rows["fresh-count"]["verdict"] == "mismatch"
    (count, *_) = lite.results()[-1]["runs"][0]["outcome"]["queries"]
    (summary, first, *_) = count["verdict"]["checks"]
    assert summary["expected"].endswith("between what was acknowledged before and sent until then")
    assert first["expected"].startswith("at least ")
    assert first["expected"].endswith(" ms before the query began")
    assert first["found"] == "0 rows"
    assert "Traceback" not in done.err


def test_a_window_needs_rows_in_the_order_of_time(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=300", "--restart-rows=100")
    assert "are not in the order of time" in lite.refuse(*LOAD)
    assert "--align: lite keeps no aggregates" in lite.refuse(*LOAD, "--align")


@pytest.mark.server("postgres")
def test_postgres_shows_every_acknowledged_row_at_once(pg: CommandLine) -> None:
    done = pg.run(
        "insert", *POSTGRES, "--runs=1", "--workers=1", "--batch=1000", "--workload=devops",
        "--scale=10", "--start=2026-01-01", "--limit=20000", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    mixed = pg.run(
        "mixed", *POSTGRES, "--fresh=10m", "--insert-workers=2", "--query-workers=2",
        "--batch=100", "--duration=3s", "--insert-rate=4000", "--types=*-cpu,*-mem",
        "--format=json",
    )  # fmt: skip

    assert mixed.code == 0, mixed.err
    assert len(mixed.json["rows"]) == 1 + 3 + 2
    assert {row["verdict"] for row in mixed.json["rows"]} == {"verified"}


@pytest.mark.server("questdb")
def test_materialized_views_lag_behind_and_hold_nothing_that_was_not_sent(
    lite: CommandLine, server_options: dict[str, Any]
) -> None:
    options = {"module": "questdb", "aggregate_intervals_s": "1,60"}
    lite.configure(quest={**options, **server_options})
    done = lite.run(
        "insert", "--target=quest", "--runs=1", "--workers=1", "--batch=1000",
        "--num-inserts=20000", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    mixed = lite.run(
        "mixed", "--target=quest", "--fresh=10m", "--align", "--batch=50", "--duration=4s",
        "--insert-rate=1000", "--query-workers=2", "--format=json",
    )  # fmt: skip

    assert mixed.code == 0, mixed.err
    rows = {row.get("load") or row["query"]: row for row in mixed.json["rows"]}
    assert {row["verdict"] for row in rows.values()} == {"verified"}
    assert 0 < rows["fresh-count"]["freshness_p50_ms"] < 4000
    (count, *_) = lite.results()[-1]["runs"][0]["outcome"]["queries"]
    assert "events_every_1s" in count["statement"]
    asked = lite.run("query", "--target=quest", "--align", "--runs=3", "--quiet")
    assert asked.code == 0, asked.err
