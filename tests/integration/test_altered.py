"""One altered row, found by the commands themselves on several databases."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from tests.integration import test_postgres
from tests.integration.conftest import CommandLine

HOTTEST = "SELECT max(temperature) FROM events"
ALTER = f"UPDATE events SET temperature = temperature + 1 WHERE temperature = ({HOTTEST})"


def altering(cli: CommandLine, request: pytest.FixtureRequest, target: str) -> Callable[[], Any]:
    """Return what alters a row, and have the command line reach the database."""
    path = cli.folder / "bench.db"
    if target == "postgresql":
        server, name = (request.getfixturevalue(each) for each in ("server", "server_database"))
        test_postgres.reaching(cli, server, name)
        return lambda: server.execute(ALTER, database=name)
    library = sqlite3 if target == "sqlite" else pytest.importorskip(target)

    def alter() -> None:
        with closing(library.connect(str(path))) as connection:
            connection.execute(ALTER)
            connection.commit()

    return alter


@pytest.mark.parametrize(
    ("server_name", "target"), [("", "sqlite"), ("", "duckdb"), ("postgres", "postgresql")]
)
def test_verify_and_query_end_with_3_after_a_row_was_altered(
    cli: CommandLine, request: pytest.FixtureRequest, server_name: str, target: str
) -> None:
    alter = altering(cli, request, target)
    path = () if server_name else (f"--target={target}", "--extra-option=path=bench.db")
    words = (*(path or test_postgres.TARGET), "--quiet", "--runs=1")
    done = cli.run("insert", *words, "--workers=1", "--batch=100", "--num-inserts=500")
    assert done.code == 0, done.err
    assert cli.run("query", *words).code == 0
    alter()

    verified = cli.run("verify", *words[:-1], "--verify=full")
    asked = cli.run("query", *words)

    assert (verified.code, asked.code) == (3, 3), verified.err + asked.err
    assert re.search(r"missing 1 \(\d+\); not expected 1 \(", verified.out), verified.out
    assert "mismatch" in asked.out
