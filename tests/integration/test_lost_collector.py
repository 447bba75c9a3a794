"""A collector that is killed: another one goes on with the run, whose numbers are whole."""

import sqlite3
import time
from contextlib import suppress
from typing import Any

import pytest

from tests.integration.conftest import CommandLine, Wait

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")


def kill_collector(cli: CommandLine, eventually: Wait) -> None:
    """Kill the collector, and wait until another process has taken its place."""
    (victim,) = cli.processes("collector")
    victim.kill()
    eventually(lambda: [p for p in cli.processes("collector") if p.pid != victim.pid])


def replaced(result: Any, times: int = 1) -> bool:
    """Return whether the result says that a collector was replaced so often after the beginning."""
    found = [each["what"] for run in result["runs"] for each in run["outcome"]["occurrences"]]
    return found == times * ["collector replaced"]


def test_an_insert_goes_on_and_every_row_is_verified(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100",
                        "--rate=5000", "--num-inserts=6000", "--verify=full")  # fmt: skip
    cli.await_both_writing(eventually)
    kill_collector(cli, eventually)
    done = cli.finish(running)

    assert done.code == 0, done.out + done.err
    (result,) = cli.results()
    assert result["status"] == "done"
    assert result["manifest"]["complete"]
    assert replaced(result)
    run = result["runs"][0]
    assert run["metrics"]["rows"] == 12_000
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert {"init", "barrier", "insert", "verify"} <= run["outcome"]["phases_s"].keys()
    assert run["outcome"]["phases_s"]["insert"] > 2
    assert "failures: collector replaced: 1 (at " in cli.run("show", "last").out
    assert cli.leftovers() == []


def test_it_may_be_killed_in_every_phase(cli: CommandLine, eventually: Wait) -> None:
    """At random moments, but never four times: the third one brings the run to its end."""
    running = cli.start("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100", "--rate=8000",
                        "--prefill=20000", "--num-inserts=20000", "--verify=full")  # fmt: skip
    eventually(lambda: cli.processes("collector"))
    time.sleep(0.3)
    for _ in range(3):
        kill_collector(cli, eventually)
        time.sleep(1.2)
    done = cli.finish(running)

    assert done.code == 0, done.out + done.err
    (result,) = cli.results()
    run = result["runs"][0]
    assert run["metrics"]["rows"] == 40_000
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert cli.sql("SELECT count(*), count(DISTINCT id) FROM events") == [(60_000, 60_000)]
    assert cli.leftovers() == []


def test_a_collector_that_is_killed_while_it_verifies_verifies_again(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *SQLITE, "--workers=1", "--runs=1", "--batch=1000",
                        "--num-inserts=200000", "--verify=full")  # fmt: skip

    def all_stored() -> bool:
        with suppress(sqlite3.Error):
            return cli.sql("SELECT count(*) FROM events") == [(200_000,)]
        return False

    eventually(all_stored)
    kill_collector(cli, eventually)
    done = cli.finish(running)

    assert done.code == 0, done.out + done.err
    (result,) = cli.results()
    assert result["runs"][0]["outcome"]["verdict"]["status"] == "verified"
    assert result["runs"][0]["metrics"]["rows"] == 200_000


@pytest.mark.rare
def test_a_timeout_counts_from_the_first_collector(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100",
                        "--num-inserts=50000000", "--timeout=12")  # fmt: skip
    cli.await_both_writing(eventually)
    kill_collector(cli, eventually)
    done = cli.finish(running)

    assert done.code == 1
    assert "--timeout: the run was not done after 12 s, in phase insert" in done.out
    assert cli.leftovers() == []
