"""`insert --import`: rows as files, which real databases import by their own bulk load."""

from typing import Any

import pytest

from tests.integration.conftest import POSTGRES, CommandLine, Wait, rows
from tests.integration.test_databases import edited
from tests.integration.test_shapes import BARS, BARS_STORED
from tests.servers import Postgres

LARGE = ("--workload=ohlcv", "--years=20", "--workers=2", "--runs=1", "--import", "--quiet")
SERVERS = [
    ("postgres", "postgresql"),
    ("timescaledb", "timescaledb"),
    ("mysql", "mysql_innodb"),
    ("mysql", "mysql_myisam"),
    ("mariadb", "mariadb"),
    ("questdb", "questdb"),
]


def expect_imported(cli: CommandLine, target: list[str], workers: int) -> None:
    """Each worker imports a file of its own, which holds as many rows as there are, verified."""
    words = [*target, *BARS, "--import", f"--workers={workers}", "--runs=1", "--verify=full"]
    done = cli.run("insert", *words, "--prefill=1000")
    asked = cli.run("query", *target, "--runs=1", "--quiet")

    assert (done.code, asked.code) == (0, 0), done.err + asked.err
    result = cli.results()[0]
    (run,) = result["runs"]
    reports = run["outcome"]["workers"]
    assert result["configuration"]["import"] is True
    assert run["outcome"]["insert_mode"] == "import"
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert run["metrics"]["rows"] == BARS_STORED - 1000
    assert [report["sends"] for report in reports] == [1] * workers
    assert all(report["payload_bytes"] > 40 * report["rows"] for report in reports)
    assert cli.leftovers() == []


@pytest.mark.parametrize(
    ("server_name", "target"),
    [
        pytest.param(
            *each, id=each[1],
            marks=[] if each[1] == "postgresql" else [pytest.mark.rare],
        )
        for each in SERVERS
    ],
)  # fmt: skip
def test_two_workers_import_a_file_each(
    cli: CommandLine, server_options: dict[str, Any], target: str
) -> None:
    cli.config = edited(target, server_options, cli)
    expect_imported(cli, [f"--target={target}"], workers=2)


@pytest.mark.parametrize("target", ["duckdb", "clickhouse_embedded"])
def test_an_embedded_engine_reads_the_file_itself(cli: CommandLine, target: str) -> None:
    expect_imported(cli, [f"--target={target}", "--extra-option=path=bench"], workers=1)


@pytest.mark.server("postgres")
def test_a_fleet_of_nine_tables_in_two_parts_is_imported(pg: CommandLine) -> None:
    done = pg.run(
        "insert", *POSTGRES, "--workload=devops", "--scale=4", "--start-time=2026-06-01",
        "--end=2026-06-01T01:00:00Z", "--tables=2", "--workers=2", "--runs=1", "--import",
        "--verify=full",
    )  # fmt: skip

    assert done.code == 0, done.err
    (run,) = pg.results()[0]["runs"]
    assert [report["sends"] for report in run["outcome"]["workers"]] == [18, 18]


@pytest.mark.server("postgres")
def test_nothing_is_left_of_an_import_that_is_stopped(
    pg: CommandLine, server: Postgres, server_database: str, eventually: Wait
) -> None:
    running = pg.start("insert", *POSTGRES, *LARGE)
    writing = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    writing += " AND query LIKE 'COPY bars%' AND state = 'active'"
    eventually(lambda: rows(server, server_database, writing))
    files = [path for path in pg.temporary.rglob("*") if path.stat().st_size > 1 << 20]
    (victim,) = pg.processes("worker-0")
    victim.kill()
    done = pg.finish(running)

    assert len(files) == 2
    assert done.code == 1
    assert "worker 0 was killed by SIGKILL" in done.out
    assert pg.leftovers() == []
    (result,) = pg.results()
    assert result["manifest"]["complete"] is False


@pytest.mark.server("postgres")
def test_files_are_written_before_the_clock_starts(pg: CommandLine) -> None:
    """Within the time of the workers nothing is drawn or encoded."""
    done = pg.run("insert", *POSTGRES, *BARS, "--import", "--workers=1", "--runs=1")

    assert done.code == 0, done.err
    (report,) = pg.results()[0]["runs"][0]["outcome"]["workers"]
    assert (report["generate_s"], report["encode_s"]) == (0, 0)
    assert 0 < report["send_s"] <= report["duration_s"]
