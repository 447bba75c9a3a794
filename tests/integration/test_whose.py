"""Whose rows the tables hold: after a kill, on another machine, beside another target."""

import json
import shutil
from typing import Any

import pytest

from tests.integration.conftest import CommandLine, Wait

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
INSERT = ("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100", "--num-inserts=1000")
LONG = ("insert", *SQLITE, "--workers=1", "--runs=1", "--batch=1000", "--quiet")


def inserts(cli: CommandLine, target: str = "*") -> list[Any]:
    """Return the result files of inserts, oldest first."""
    paths = sorted(cli.output.glob(f"2*-insert-{target}-????.json"))
    return [json.loads(path.read_text()) for path in paths]


def in_progress(cli: CommandLine) -> Any:
    return inserts(cli)[-1]["in_progress"] or {}


def killed_in(phase: str, cli: CommandLine, eventually: Wait, *arguments: str) -> None:
    """Kill an insert in one of its phases, as its result file shows it: all of it at once."""
    before = len(inserts(cli))
    running = cli.start(*LONG, *arguments)
    eventually(lambda: len(inserts(cli)) > before)
    (collector,) = eventually(lambda: cli.processes("collector"))
    eventually(lambda: in_progress(cli).get("phase") == phase)
    collector.kill()
    running.kill()
    running.communicate()
    eventually(lambda: not cli.processes())


@pytest.mark.rare
def test_a_kill_in_mid_insert_is_reported(cli: CommandLine, eventually: Wait) -> None:
    killed_in("insert", cli, eventually, "--num-inserts=2000000")
    (path,) = cli.output.glob("*-insert-*.json")
    shown = cli.run("show", str(path))

    assert shown.code == 0
    assert "did not end: its command line was killed, or is still running" in shown.out
    assert "phase insert" in shown.out
    assert inserts(cli)[-1]["manifest"]["complete"] is False

    found = cli.run("verify", *SQLITE)
    assert found.code == 1
    assert "rows of the interrupted insert" in found.out
    again = cli.run(*INSERT)
    assert again.code == 0
    assert cli.run("query", *SQLITE).code == 0


def test_without_results_the_database_says_whose_rows_it_holds(cli: CommandLine) -> None:
    assert cli.run(*INSERT, "--seed=3").code == 0
    shutil.rmtree(cli.output)
    for command in ("query", "verify"):
        done = cli.run(command, *SQLITE)
        assert done.code == 0, done.err
        assert "from the mark in the database: insert 20" in done.err
        assert ", 2,000 rows, complete at" in done.err

    added = cli.run(*INSERT, "--seed=3", "--no-clean")
    assert added.code == 0, added.err
    assert inserts(cli)[-1]["manifest"]["rows"] == 4000
    assert cli.run("verify", *SQLITE).code == 0


@pytest.mark.parametrize("dropped", [("events",), ("events", "iotbench_marks")])
def test_a_dropped_table_is_wrong_data_where_a_mark_names_it(
    cli: CommandLine, dropped: tuple[str, ...]
) -> None:
    assert cli.run(*INSERT).code == 0
    for table in dropped:
        cli.sql(f"DROP TABLE {table}")

    for command in (("verify", *SQLITE), ("query", *SQLITE), (*INSERT, "--no-clean")):
        done = cli.run(*command)
        marked = len(dropped) == 1
        assert done.code == (3 if marked else 1), done.out
        assert ("was dropped or renamed" if marked else "events does not exist") in done.out
    assert cli.run(*INSERT).code == 0
