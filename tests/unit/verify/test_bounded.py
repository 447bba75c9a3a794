"""Marks that claim far more rows than a table holds: `verify` names that, and soon ends."""

import pytest

from simulator.control.database.work import DatabaseWork
from simulator.data.ranges import RowRange
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.mark import State
from simulator.protocol.spec import Work
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored import accounting
from simulator.verify.stored.accounting import verify_interrupted
from simulator.verify.stored.comparison import verify
from tests.unit.specs import dataset, mark, run_spec
from tests.unit.stored_rows import store

ROWS, CLAIMED = 500, 10**11


@pytest.fixture
def sqlite(tmp_path):
    """A table with the first rows of a dataset that claims many more."""
    database = Sqlite(SqliteOptions(path=str(tmp_path / "x.db")))
    store(database, dataset(), RowRange(start=0, stop=ROWS), batch_rows=100)
    return database


@pytest.fixture
def claimed():
    return dataset().with_ranges([RowRange(start=0, stop=CLAIMED)])


@pytest.mark.parametrize("mode", [VerifyMode.COUNTS, VerifyMode.FULL])
def test_a_claim_of_many_more_rows_is_a_mismatch_before_they_are_drawn(sqlite, claimed, mode):
    verdict = verify(sqlite, claimed, (), mode)

    assert verdict.status is Status.MISMATCH
    assert [(c.name, c.expected, c.found) for c in verdict.checks] == [
        ("events: count", str(CLAIMED), str(ROWS))
    ]
    assert "since most of the rows are missing" in str(verdict)


def test_rows_of_unknown_outcome_may_be_missing_however_many_a_mark_claims(sqlite, claimed):
    sqlite_mark = mark(
        state=State.INCOMPLETE, dataset=claimed, uncertain=(RowRange(start=0, stop=CLAIMED),)
    )
    work = DatabaseWork(
        run_spec(
            work=Work.VERIFY, workers=(), dataset=claimed, verify=VerifyMode.FULL, complete=False
        ),
        sqlite,
        lambda _: None,
    )
    work.ownership._record(sqlite_mark)
    work.verify_stored()

    assert work.verdict
    assert work.verdict.status is Status.INCOMPLETE
    assert f"{ROWS} are stored" in work.verdict.reason


def test_a_foreign_row_is_named_without_drawing_all_that_may_be_stored(
    sqlite, claimed, monkeypatch
):
    monkeypatch.setattr(accounting, "_MOST_SILENT", 50_000)
    sqlite.carry_out("UPDATE events SET temperature = 99.5 WHERE rowid = 7")
    verdict = verify_interrupted(sqlite, claimed)

    assert verdict.status is Status.MISMATCH
    assert "not expected 1 (" in str(verdict)


def test_a_range_that_was_written_late_is_found_behind_what_was_not(sqlite, monkeypatch):
    """A lane that stalled at once beside one that went on."""
    monkeypatch.setattr(accounting, "_MOST_SILENT", 50_000)
    both = dataset().with_ranges([
        RowRange(start=1 << 40, stop=(1 << 40) + CLAIMED), RowRange(start=0, stop=CLAIMED),
    ])  # fmt: skip
    verdict = verify_interrupted(sqlite, both)

    assert verdict.status is Status.INCOMPLETE
    assert f"{ROWS} are stored" in verdict.reason
