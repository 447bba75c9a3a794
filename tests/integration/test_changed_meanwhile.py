"""Tables that something else changes while a command runs."""

import sqlite3
from contextlib import suppress
from typing import Any

import pytest

from tests.integration.conftest import CommandLine, Wait

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet", "--runs=1")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("ALTER TABLE events RENAME TO mine", "events: expected what the insert created, found no"),
        ("ALTER TABLE events RENAME temperature TO t", "events.temperature: expected REAL, found "),
    ],
)
def test_tables_that_change_during_an_insert_are_wrong_data(
    cli: CommandLine, eventually: Wait, statement: str, found: str
) -> None:
    def stored() -> list[Any]:
        with suppress(sqlite3.OperationalError):  # before the table is there
            return cli.sql("SELECT 1 FROM events LIMIT 1")
        return []

    load = ("--workers=1", "--batch=10", "--rate=500", "--duration=60s")
    running = cli.start("insert", *SQLITE, *load)
    eventually(stored)
    cli.sql(statement)
    done = cli.finish(running)

    assert done.code == 3, done.err
    assert f"something else changed the tables during the run, so the data is wrong: {found}" in (
        done.err
    )


def test_an_answer_that_is_no_number_is_wrong_data(cli: CommandLine) -> None:
    load = ("--workers=1", "--batch=100", "--num-inserts=500")
    assert cli.run("insert", *SQLITE, *load).code == 0
    cli.sql("UPDATE events SET temperature = 'x' WHERE rowid = 7")
    done = cli.run("query", *SQLITE)

    assert done.code == 3, done.err
    assert "the answer is wrong: max_temperature: expected float32, got 'x'" in done.err
