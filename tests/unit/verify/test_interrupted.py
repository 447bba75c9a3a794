"""What an interrupted insert left, against a real SQLite file."""

import pytest

from simulator.data.ranges import lane_range
from simulator.data.schema import PrimaryKey
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.verdict import Accounts, Status
from simulator.verify.stored.accounting import Unsettled, verify_interrupted
from tests.unit.specs import dataset
from tests.unit.stored_rows import execute, store

WANTED = dataset(primary_key=PrimaryKey.DB, parts=4).with_ranges(
    [lane_range(0, 0, 300), lane_range(1, 0, 300)]
)


@pytest.fixture
def database(tmp_path):
    found = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))
    store(found, WANTED, lane_range(0, 0, 120), lane_range(1, 0, 80))
    return found


@pytest.mark.parametrize("pass_rows", [1 << 24, 100])
def test_stored_rows_are_counted(database, pass_rows):
    verdict = verify_interrupted(database, WANTED, pass_rows=pass_rows)

    assert verdict.status is Status.INCOMPLETE
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (200, 400)
    assert verdict.reason == "the interrupted insert was to write up to 600 rows: 200 are stored"
    assert verdict.checks[0].found == "200 rows of it"


@pytest.mark.parametrize("pass_rows", [1 << 24, 100])
def test_every_kind_of_wrong_row_is_named(database, pass_rows):
    execute(database, "UPDATE events0 SET temperature = 99.5 WHERE rowid = 1")
    copy = "device_id, timestamp, sequence_number, temperature"
    execute(database, f"INSERT INTO events1 ({copy}) SELECT {copy} FROM events1 WHERE rowid < 3")
    execute(database, "UPDATE events2 SET temperature = NULL WHERE rowid = 1")
    verdict = verify_interrupted(database, WANTED, pass_rows=pass_rows)

    assert verdict.status is Status.MISMATCH
    (check,) = verdict.checks
    assert check.found.startswith("198 rows of it, 1 stored in part, 2 stored twice, not expect")
    assert "99.5" in check.found


def test_a_row_that_is_stored_in_part_is_no_mismatch(database):
    execute(database, "UPDATE events2 SET temperature = NULL WHERE rowid = 1")

    assert verify_interrupted(database, WANTED).status is Status.INCOMPLETE


def test_a_value_of_another_type_is_a_mismatch(database):
    execute(database, "UPDATE events2 SET temperature = 'hot' WHERE rowid = 1")

    assert verify_interrupted(database, WANTED).status is Status.MISMATCH


def test_all_rows_are_verified_and_no_rows_are_none(database):
    stored = WANTED.with_ranges([lane_range(0, 0, 120), lane_range(1, 0, 80)])
    assert verify_interrupted(database, stored).status is Status.VERIFIED

    for part in range(4):
        execute(database, f"DELETE FROM events{part}")
    assert verify_interrupted(database, stored).uncertain_present == 0


def test_rows_after_those_that_are_stored_are_not_drawn(database):
    endless = WANTED.with_ranges([lane_range(0, 0, 1 << 40), lane_range(1, 0, 1 << 40)])
    verdict = verify_interrupted(database, endless)

    assert verdict.status is Status.INCOMPLETE
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (200, (1 << 41) - 200)


ENDLESS = lane_range(1, 0, 1 << 40)
"""The rows of a lost worker; 80 of them are stored."""
NO_LOSS = {"kept": 180, "lost": 0, "announced": False, "present": 20, "absent": 10,
           "doubled": 0, "torn": 0, "foreign": 0}  # fmt: skip


def settle(database, acknowledged, *, promised=True):
    run = WANTED.with_ranges([lane_range(0, 0, 120), ENDLESS])
    return verify_interrupted(database, run, Unsettled((ENDLESS,), acknowledged, 90, promised))


def test_a_lost_workers_rows_are_settled_by_counting(database):
    verdict = settle(database, 60)

    assert verdict.status is Status.INCOMPLETE
    assert verdict.accounts == Accounts(**NO_LOSS)
    assert verdict.reason == (
        "the insert was interrupted: 180 rows acknowledged, of which 0 lost; 20 rows of unknown"
        " outcome stored"
    )


def test_rows_that_a_lost_worker_saw_acknowledged_are_missed(database):
    verdict = settle(database, 85)

    assert verdict.status is Status.MISMATCH
    lost = {"kept": 200, "lost": 5, "present": 0, "absent": 5}
    assert verdict.accounts == Accounts(**NO_LOSS | lost)
    assert "at least 85 acknowledged rows, found 80 stored" in verdict.reason
    announced = settle(database, 85, promised=False)
    assert (announced.status, announced.accounts.lost) == (Status.INCOMPLETE, 5)


def test_rows_of_other_workers_are_missed_whatever_a_lost_one_stored(database):
    execute(database, "DELETE FROM events0 WHERE rowid = 1")
    verdict = settle(database, 60)

    assert verdict.status is Status.MISMATCH
    assert verdict.accounts == Accounts(**NO_LOSS | {"kept": 179, "lost": 1})
