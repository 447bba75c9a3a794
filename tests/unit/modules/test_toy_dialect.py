"""A new relational database is a Dialect and what really differs: here is one, used as a user does.

The module is tests/standins/toy_sql.py. It has no more lines than an honest one needs.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.modules.contract import Failure
from tests import ROOT
from tests.standins import toy_sql

MOST_LINES = 100
CONFIG = """\
targets:
  toy: {module: "tests.standins.toy_sql:Toy", runner: local, path: toy.db}
"""


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "config.yaml").write_text(CONFIG)

    def finish(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable, str(ROOT / "run.py"), command, "--target=toy",
                f"--config={tmp_path / 'config.yaml'}", f"--output={tmp_path / 'results'}",
                "--format=json", *arguments,
            ],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    return finish


def test_a_new_sql_dialect_takes_a_hundred_lines():
    lines = Path(toy_sql.__file__).read_text().splitlines()
    assert len(lines) <= MOST_LINES


def test_the_toy_is_filled_verified_and_queried_by_the_command_line(run, tmp_path):
    inserted = run("insert", "--workers=2", "--batch=100", "--num-inserts=1000", "--runs=1",
                   "--tables=multiple", "--verify=full")  # fmt: skip
    assert inserted.returncode == 0, inserted.stderr
    queried = run("query", "--runs=2")
    assert queried.returncode == 0, queried.stderr
    assert len(json.loads(queried.stdout)["rows"]) == 5

    stored = sqlite3.connect(tmp_path / "toy.db")
    counts = [stored.execute(f"SELECT count(*) FROM events{part}").fetchone() for part in range(4)]
    with stored:
        stored.execute("UPDATE events0 SET temperature = temperature + 1 WHERE rowid = 1")
    stored.close()
    assert sum(count for (count,) in counts) == 2000

    altered = run("query", "--runs=1")
    assert altered.returncode == 3, altered.stderr


def test_a_row_that_the_toy_drops_stops_the_run(run, tmp_path):
    sizes = "--workers=1", "--batch=10", "--num-inserts=100", "--runs=1", "--tables=single"
    assert run("insert", *sizes).returncode == 0
    stored = sqlite3.connect(tmp_path / "toy.db")
    stored.execute(
        "CREATE TRIGGER skip BEFORE INSERT ON events WHEN NEW.sequence_number % 10 = 7 "
        "BEGIN SELECT RAISE(IGNORE); END"
    )
    stored.close()
    done = run("insert", "--no-clean", *sizes)
    assert done.returncode == 1
    assert "the server acknowledged 9 of 10 rows; look for triggers" in done.stderr


def test_what_the_toys_errors_mean():
    session = toy_sql.Session(sqlite3.connect(":memory:"))
    locked, full = (
        sqlite3.OperationalError(f"database is {state}") for state in ("locked", "full")
    )
    assert session.classify(locked) is Failure.NOT_APPLIED
    assert session.classify(full) is Failure.FATAL
    session.close()
