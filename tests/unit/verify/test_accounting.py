"""Every row is accounted for, against a real SQLite file with lost, doubled and foreign rows."""

import pytest

from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.verdict import Accounts, Status, VerifyMode
from simulator.verify.stored.accounting import Accountant
from simulator.verify.stored.comparison import verify
from tests.unit.specs import dataset
from tests.unit.stored_rows import execute, store

STORED = dataset(primary_key=PrimaryKey.DB).with_ranges([lane_range(0, 0, 1000)])
UNCERTAIN = [lane_range(0, 900, 100)]
NO_LOSS = {"kept": 900, "lost": 0, "announced": False, "present": 100, "absent": 0,
           "doubled": 0, "torn": 0, "foreign": 0}  # fmt: skip


@pytest.fixture
def database(tmp_path):
    found = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))
    store(found, STORED)
    return found


def verdict_of(database, *, promised=True, uncertain=UNCERTAIN):
    return verify(database, STORED, uncertain, VerifyMode.FULL, promised=promised)


def test_rows_that_are_all_stored_are_verified(database):
    verdict = verdict_of(database)

    assert verdict.status is Status.VERIFIED
    assert verdict.accounts == Accounts(**NO_LOSS)
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (100, 0)


def test_rows_that_were_never_acknowledged_may_be_absent(database):
    execute(database, "DELETE FROM events WHERE id > 960")
    verdict = verdict_of(database)

    assert verdict.status is Status.VERIFIED
    assert verdict.accounts == Accounts(**NO_LOSS | {"present": 60, "absent": 40})
    assert verdict.uncertain_absent == 40


def test_a_loss_against_the_promise_is_a_mismatch(database):
    execute(database, "DELETE FROM events WHERE id BETWEEN 101 AND 120")
    verdict = verdict_of(database)

    assert verdict.status is Status.MISMATCH
    assert verdict.accounts == Accounts(**NO_LOSS | {"kept": 880, "lost": 20})
    assert verdict.reason == (
        "events: every row: expected 900 acknowledged rows, once each, found 880 acknowledged"
        " rows, 20 lost (100, 101, 102, ...), 100 of unknown outcome"
    )


def test_an_announced_loss_is_said_and_is_no_success(database):
    execute(database, "DELETE FROM events WHERE id BETWEEN 101 AND 120")
    verdict = verdict_of(database, promised=False)

    assert verdict.status is Status.INCOMPLETE
    assert verdict.reason == "20 rows acknowledged, and lost as the server announces"


@pytest.mark.parametrize("promised", [True, False])
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("INSERT INTO events SELECT id + 5000, {columns} FROM events WHERE id < 4", "doubled"),
        ("UPDATE events SET temperature = temperature + 1000 WHERE id = 7", "foreign"),
    ],
)
def test_what_nobody_may_store_is_wrong_whatever_is_promised(database, statement, found, promised):
    columns = ", ".join(column.name for column in DatasetReader(STORED).tables[0].columns)
    execute(database, statement.format(columns=columns))
    verdict = verdict_of(database, promised=promised)

    assert verdict.status is Status.MISMATCH
    assert getattr(verdict.accounts, found) > 0


@pytest.mark.parametrize("pass_rows", [7, 100, 10_000])
def test_passes_add_up(database, pass_rows):
    execute(database, "DELETE FROM events WHERE id % 10 = 0")
    with database.connect() as session:
        (table,) = DatasetReader(STORED).tables
        accountant = Accountant(database, session, STORED, table, UNCERTAIN, pass_rows=pass_rows)
        found = accountant.account()

    assert (found.kept, found.lost, found.present, found.absent) == (810, 90, 90, 10)
    assert len(found.first_lost) == 3
    found.first_lost = [9]
    assert str(found) == "810 acknowledged rows, 90 lost (9, ...), 90 of unknown outcome"
