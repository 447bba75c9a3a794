"""A database that is one file: what path it takes, and what is left of the file."""

from pathlib import Path

import pytest

from simulator.data.schema import PrimaryKey
from simulator.errors import SetupError
from simulator.modules.contract import BATCH
from simulator.modules.duckdb.database import DuckDb, DuckDbOptions
from simulator.modules.sqlite import Sqlite, SqliteOptions
from tests.contract.harness import Wideset, drop


@pytest.fixture(params=[(Sqlite, SqliteOptions), (DuckDb, DuckDbOptions)], ids=["sqlite", "duckdb"])
def opened(request, tmp_path):
    kind, options = request.param

    def open_at(path="test.db"):
        return kind(options(path=path if path.startswith(":") else str(tmp_path / path)))

    return open_at


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("no/such/folder/x.db", "mkdir -p .*no/such/folder"),
        ("note.txt", "not a (valid DuckDB )?database.*not changed"),
    ],
)
def test_a_path_that_cannot_be_opened_is_an_error_with_a_remedy(opened, tmp_path, path, remedy):
    note = tmp_path / "note.txt"
    note.write_text("this is a note, and no database at all\n" * 300)
    before, database = note.read_bytes(), opened(path)
    for attempt in (database.connect, database.describe, lambda: database.create([], 1)):
        with pytest.raises(SetupError, match=remedy) as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert note.read_bytes() == before


def test_memory_is_refused_before_anything_starts(opened):
    (problem,) = opened(":memory:").problems(PrimaryKey.DB, 1, BATCH, 1)
    assert "must be a file" in problem


def test_drop_gives_the_space_back_and_makes_no_file(opened):
    database, wide = opened(), Wideset(PrimaryKey.DB)
    path = Path(database.options.path)
    drop(database, wide.tables)
    assert not path.exists()
    wide.fill(database)
    filled = database.size_bytes(wide.tables)
    drop(database, wide.tables)
    database.create(wide.tables, 1)
    assert database.size_bytes(wide.tables) < filled
    drop(database, wide.tables)
    assert database.find_existing(["readings", "readings_id"]) == {}
