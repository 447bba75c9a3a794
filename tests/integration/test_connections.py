"""`--connections`: workers with several connections each, on SQLite and PostgreSQL."""

import pytest

from tests.integration.conftest import POSTGRES, CommandLine, rows
from tests.servers import Postgres


def lite_options(cli: CommandLine) -> tuple[str, ...]:
    return ("--target=sqlite", f"--extra-option=path={cli.folder / 'lite.db'}", "--runs=1")


def test_rows_of_all_connections_are_verified_and_the_time_to_connect_is_shown(
    cli: CommandLine,
) -> None:
    done = cli.run("insert", *lite_options(cli), "--workers=2", "--connections=5", "--batch=50",
                   "--num-inserts=5000", "--format=json", "--verify=full")  # fmt: skip
    assert done.code == 0, done.err
    (row,) = done.json["rows"]
    assert row["connect_p50_ms"] > 0
    assert "connect_p99_ms" not in row
    metrics = cli.results()[-1]["runs"][0]["metrics"]
    assert (metrics["connections"], metrics["rows"]) == (10, 10_000)
    shown = cli.run("show", str(max(cli.output.glob("*.json"))))
    assert "connections: 10, each opened in " in shown.out


def test_a_pool_is_shared_and_rows_are_also_inserted_beside_queries(cli: CommandLine) -> None:
    pooled = cli.run("insert", *lite_options(cli), "--workers=1", "--connections=6", "--pool=2",
                     "--rate=500", "--duration=2s", "--format=json")  # fmt: skip
    assert pooled.code == 0, pooled.err
    assert cli.results()[-1]["runs"][0]["metrics"]["connections"] == 2
    mixed = cli.run("mixed", *lite_options(cli), "--connections=3", "--duration=2s",
                    "--insert-rate=500", "--query-rate=5", "-v")  # fmt: skip
    assert mixed.code == 0, mixed.err
    assert "connections: 6, each opened in " in mixed.out

    refused = cli.refuse("insert", *lite_options(cli), "--connections=2", "--pool=2")
    assert "--pool: expected fewer than the 2 of --connections" in refused


def test_queries_are_asked_over_all_connections_and_verified(cli: CommandLine) -> None:
    filled = cli.run("insert", *lite_options(cli), "--workers=1", "--num-inserts=2000")
    assert filled.code == 0, filled.err
    options = ("--target=sqlite", f"--extra-option=path={cli.folder / 'lite.db'}")
    done = cli.run("query", *options, "--workers=2", "--connections=4", "--runs=3", "--burn-in=1",
                   "--format=json", "--types=count-events,temperature-min-max")  # fmt: skip
    assert done.code == 0, done.err
    for row in done.json["rows"]:
        assert row["verdict"] == "verified"
        assert row["connect_p50_ms"] > 0
        assert "connect_p99_ms" not in row
    asked = cli.results()[-1]["runs"][0]["outcome"]["workers"]
    assert {(each["runs"], each["warmup_runs"]) for one in asked for each in one["queries"]} == {
        (12, 4)
    }
    shown = cli.run("show", str(max(cli.output.glob("*-query-*.json"))))
    assert "connections: 8, each opened in " in shown.out

    pooled = cli.run("query", *options, "--connections=6", "--pool=2", "--rate=40",
                     "--duration=1s", "--types=count-events", "-v")  # fmt: skip
    assert pooled.code == 0, pooled.err
    assert "connections: 2, each opened in " in pooled.out
    assert "2 of each worker shared by 6 callers" in pooled.out

    refused = cli.refuse("query", *options, "--connections=8", "--count=15", "--workers=2",
                      "--pool=8")  # fmt: skip
    assert "--pool: expected fewer than the 8 of --connections" in refused
    assert "--count: must be at least 16, got 15" in refused


@pytest.mark.server("postgres")
def test_one_lost_connection_of_several_is_replaced_and_counted(
    pg: CommandLine, server: Postgres, server_database: str, eventually
) -> None:
    running = pg.start(
        "insert", *POSTGRES, "--workers=1", "--connections=4", "--runs=1", "--batch=1000",
        "--num-inserts=400000", "--verify=full", "--quiet",
    )  # fmt: skip
    kill_one = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        " AND query LIKE 'COPY events%' AND state = 'active' LIMIT 1"
    )
    eventually(lambda: rows(server, server_database, kill_one) == [(True,)])
    done = pg.finish(running, 120)
    result = pg.results()[-1]
    run = result["runs"][0]
    lost = [each["what"] for each in run["outcome"]["workers"][0]["failures"]]
    assert {"connections lost", "connections restored"} <= {*lost}
    assert run["metrics"]["rows"] + run["metrics"]["uncertain_rows"] == 400_000
    assert run["outcome"]["verdict"]["status"] in ("verified", "incomplete")
    assert done.code == (0 if run["outcome"]["verdict"]["status"] == "verified" else 1)


@pytest.mark.server("postgres")
def test_more_connections_than_a_server_takes_are_named(pg: CommandLine) -> None:
    done = pg.run("insert", *POSTGRES, "--workers=1", "--connections=500", "--runs=1")
    assert done.code == 1
    assert "too many clients" in done.err or "remaining connection slots" in done.err
