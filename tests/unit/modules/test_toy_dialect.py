"""A new relational database is a Dialect and what really differs: here is one, used as a user does.

The module is tests/standins/toy_sql.py. It has no more lines than an honest one needs.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests import ROOT
from tests.commands import Finished, KeptForks, run_here
from tests.standins import toy_sql

MOST_LINES = 100
CONFIG = """\
targets:
  toy: {module: "tests.standins.toy_sql:Toy", runner: local, path: toy.db}
"""


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "config.yaml").write_text(CONFIG)

    def finish(command: str, *arguments: str) -> Finished:
        words = [command, "--target=toy", "--config=config.yaml", "--output=results"]
        environment = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)}
        return run_here([*words, "--format=json", *arguments], tmp_path, environment, forks)

    with closing(KeptForks()) as forks:
        yield finish


def test_a_new_sql_dialect_takes_a_hundred_lines():
    lines = Path(toy_sql.__file__).read_text().splitlines()
    assert len(lines) <= MOST_LINES


def test_the_toy_is_filled_verified_and_queried_by_the_command_line(run, tmp_path):
    inserted = run("insert", "--workers=2", "--batch=100", "--num-inserts=1000", "--runs=1",
                   "--tables=multiple", "--verify=full")  # fmt: skip
    assert inserted.code == 0, inserted.err
    queried = run("query", "--runs=2")
    assert queried.code == 0, queried.err
    assert len(queried.json["rows"]) == 5

    stored = sqlite3.connect(tmp_path / "toy.db")
    counts = [stored.execute(f"SELECT count(*) FROM events{part}").fetchone() for part in range(4)]
    with stored:
        stored.execute("UPDATE events0 SET temperature = temperature + 1 WHERE rowid = 1")
    stored.close()
    assert sum(count for (count,) in counts) == 2000

    altered = run("query", "--runs=1")
    assert altered.code == 3, altered.err
