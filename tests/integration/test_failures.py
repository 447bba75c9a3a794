"""Whatever goes wrong is named in seconds, the result file is there, and nothing is left."""

import re
import signal
import sqlite3
import time
from contextlib import closing

import pytest

from simulator.forks import MOST_COLLECTORS
from tests.integration.conftest import CommandLine, Wait

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
LONG = (*SQLITE, "--workers=2", "--runs=2", "--batch=100", "--num-inserts=50000000")


def test_a_killed_worker_is_named_and_everything_ends(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    (victim,) = cli.processes("worker-1")
    victim.kill()
    start = time.monotonic()
    done = cli.finish(running)

    assert time.monotonic() - start < 10
    assert done.code == 1
    assert "worker 1 was killed by SIGKILL" in done.out
    (result,) = cli.results()
    assert result["status"] == "failed"
    assert result["manifest"]["complete"] is False
    workers = result["runs"][0]["outcome"]["workers"]
    assert [worker["rows"] > 0 for worker in workers] == [True, True]
    accounts = result["runs"][0]["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] == sum(worker["rows"] for worker in workers)
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    with closing(sqlite3.connect(cli.folder / "bench.db")) as stored:
        (rows,) = stored.execute("SELECT count(*) FROM events").fetchone()
    assert rows == accounts["kept"] + accounts["present"]
    assert f"{accounts['kept']:,} rows acknowledged, of which 0 lost" in done.out
    (lost,) = result["runs"][0]["outcome"]["occurrences"]
    assert (lost["what"], lost["is_failure"]) == ("worker lost", True)
    assert 0 < lost["at_s"] < 60
    assert cli.leftovers() == []


def test_a_collector_that_is_killed_again_and_again_is_named(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    killed = cli.kill_collectors(running)
    done = cli.finish(running)

    assert killed == MOST_COLLECTORS
    assert done.code == 1
    assert (
        "the collector was killed by SIGKILL, as 3 before it, before the run was over" in done.out
    )
    (result,) = cli.results()
    assert result["status"] == "failed"
    workers = result["runs"][0]["outcome"]["workers"]
    assert [worker["rows"] > 0 for worker in workers] == [True, True]
    assert result["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


def test_the_timeout_ends_an_insert_which_is_verified_as_far_as_it_went(cli: CommandLine) -> None:
    done = cli.run("insert", *LONG, "--timeout=2")
    asked = cli.run("query", *SQLITE)
    verified = cli.run("verify", *SQLITE)

    assert (done.code, asked.code, verified.code) == (1, 1, 1)
    assert "--timeout" in done.out
    assert "rows acknowledged" in done.out
    assert cli.results()[0]["runs"][0]["metrics"]["rows"] > 0
    assert "did not end, or not all of its rows are stored" in asked.out
    assert "run insert again, or `verify`" in " ".join(asked.out.split())
    assert "rows of the interrupted insert" in verified.out
    assert "the interrupted insert was to write up to 100,000,000 rows: " in verified.out
    assert cli.leftovers() == []


def test_a_database_that_does_not_answer_is_named_when_the_time_is_up(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG, "--timeout=6")
    cli.await_both_writing(eventually)
    with closing(sqlite3.connect(cli.folder / "bench.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 10000")
        other.execute("BEGIN IMMEDIATE")
        done = cli.finish(running)

    assert done.code == 1
    assert re.search(
        r"--timeout: the run was not done after 6 s, in phase insert; the database has"
        r" acknowledged no row for \d s;",
        done.out,
    )
    assert cli.leftovers() == []


def test_refused_batches_are_tried_again_for_as_long_as_the_user_says(
    cli: CommandLine, eventually: Wait
) -> None:
    short = "--extra-option=busy_timeout_s=0.1"  # without --retry-for it fails after 3 s
    running = cli.start(
        "insert", "--target=sqlite", "--extra-option=path=bench.db", short, "--quiet",
        "--workers=1", "--runs=1", "--batch=100", "--duration=6s", "--retry-for=1m",
        "--verify=full",
    )  # fmt: skip
    eventually(lambda: cli.processes("worker"))
    eventually((cli.folder / "bench.db-wal").exists)
    time.sleep(1)
    with closing(sqlite3.connect(cli.folder / "bench.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 10000")
        other.execute("BEGIN IMMEDIATE")
        time.sleep(4)
        other.execute("ROLLBACK")
    done = cli.finish(running, 60)

    assert done.code == 0, done.out + done.err
    (result,) = cli.results()
    assert result["configuration"]["retry_for_s"] == 60
    (run,) = result["runs"]
    metrics = run["metrics"]
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert metrics["retried"] >= 6
    assert 2.5 < metrics["backoff_s"] < 6.5  # the last pause ends up to 2 s late
    assert metrics["latency"]["max_ms"] >= 3900  # the wait is part of the batch's latency
    assert metrics["client_share"] < 0.5  # and no work of the client
    assert any("repeated, after pauses of" in warning for warning in result["warnings"])
    assert cli.leftovers() == []


@pytest.mark.parametrize(
    "after_s",
    [0.3, 0.9, 3.0, *(pytest.param(moment, marks=pytest.mark.rare) for moment in (0.15, 0.6, 1.5))],
)
def test_ctrl_c_at_any_moment_leaves_nothing(cli: CommandLine, after_s: float) -> None:
    running = cli.start("insert", *LONG)
    time.sleep(after_s)
    running.send_signal(signal.SIGINT)
    done = cli.finish(running)

    assert done.code in (130, -signal.SIGINT)
    assert cli.leftovers() == []
    assert all(result["status"] == "interrupted" for result in cli.results())


def test_a_killed_command_line_takes_its_processes_with_it(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    running.kill()
    running.communicate()

    eventually(lambda: not cli.processes())
    assert list(cli.temporary.rglob("*")) == []
    cleaned = cli.run("cleanup")
    assert cleaned.code == 0
    assert "removed lock" in cleaned.out
    assert "nothing to remove on this machine" in cli.run("cleanup").out
    assert cli.leftovers() == []


def test_options_that_query_does_not_take_are_reported(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    several = cli.refuse("query", *SQLITE, "--runs=2", "--count=5")
    none = cli.refuse("query", *SQLITE, "--types=")

    assert "--runs, --count: each sets how much is asked; use one of them" in several
    assert "--types: expected names separated by commas, got ''" in none


def test_an_output_folder_that_cannot_be_written_is_found_before_the_run(cli: CommandLine) -> None:
    (cli.folder / "results").write_text("a file, not a folder")
    said = cli.refuse("insert", *SQLITE, "--workers=1", "--num-inserts=10")

    assert "--output" in said
    assert not (cli.folder / "bench.db").exists()


def test_a_manifest_of_another_workload_version_is_refused(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    (file,) = cli.output.glob("*.json")
    file.write_text(file.read_text().replace('"workload_version": 1', '"workload_version": 7'))
    said = cli.refuse("query", *SQLITE)

    assert "version 7" in said


def test_a_query_without_an_insert_says_what_to_do(cli: CommandLine) -> None:
    assert "insert --target sqlite" in cli.refuse("query", *SQLITE)
    assert "config.yaml" in cli.refuse("query", *SQLITE, "--dataset=config.yaml")


def test_a_query_that_the_database_refuses_is_named(cli: CommandLine) -> None:
    cli.configure(sqlite={"module": "sqlite", "queries": {"temperature-stats": "SELEC 1"}})
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    done = cli.run("query", *SQLITE)

    assert done.code == 1
    assert "query temperature-stats: " in done.out
    assert 'near "SELEC": syntax error' in done.out
    assert "rows acknowledged" not in done.out


def test_a_second_run_on_the_same_file_is_refused_and_named(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    elsewhere = cli.folder / "other checkout"
    elsewhere.mkdir()
    other = CommandLine(elsewhere, environment={"XDG_STATE_HOME": str(cli.state.parent)})
    refused = [
        other.run("insert", "--target=sqlite", f"--extra-option=path={cli.folder / 'bench.db'}"),
        cli.run("query", *SQLITE),
    ]
    checked = cli.run("check", *SQLITE[:2])
    running.send_signal(signal.SIGINT)
    cli.finish(running)

    assert "another run is in progress on this database" in refused[0].err
    assert f"process {running.pid}" in refused[0].err
    assert [done.code for done in refused] == [2, 2]
    assert not other.output.exists()
    assert checked.code == 0
    assert cli.leftovers() == []


def test_a_missing_driver_is_reported_before_anything_starts(cli: CommandLine) -> None:
    cli.add_modules(
        "mine",
        "from simulator.modules.null import Null\n\n\nclass Mine(Null):\n    name = 'mine'\n\n"
        "    def connect(self):\n        import no_such_driver\n",
    )
    cli.configure(own={"module": "mine:Mine"})
    for command in ("insert", "check"):
        done = cli.run(command, "--target=own")

        assert done.code == 2
        assert "the Python package no_such_driver cannot be imported" in done.err
        assert "pip install" in done.err
    assert not cli.output.exists()


def test_a_missing_helm_is_reported_before_anything_starts(cli: CommandLine) -> None:
    cli.environment["PATH"] = "/nowhere"
    said = cli.refuse("insert", "--target=postgresql")

    assert "helm is not on the PATH" in said
    assert not cli.output.exists()


def test_a_server_that_is_not_reached_is_reported_as_such(cli: CommandLine) -> None:
    nowhere = "host=127.0.0.1 port=1 dbname=a user=a"
    cli.configure(pg={"module": "postgres", "connection_string": nowhere})
    done = cli.run("check", "--target=pg")

    assert done.code == 1
    assert "pg: not reached: " in done.err
    assert "refused" in done.err
    assert "reached       " not in done.out
