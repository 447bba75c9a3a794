"""Whose rows the tables hold, on a real SQLite file."""

import sqlite3
from contextlib import closing

import pytest

from simulator.control import marks as mark_table
from simulator.control.marks import TABLE, MarkTable
from simulator.control.upkeep import Upkeep
from simulator.data.dataset import DatasetReader
from simulator.data.query import RowsQuery
from simulator.data.ranges import lane_range
from simulator.errors import MismatchError, SetupError
from simulator.modules.base import BATCH
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.mark import State
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import Insert, Kind
from simulator.protocol.verdict import Status, VerifyMode
from tests.unit.specs import dataset, run_spec

ROWS = 50
LAST = f"rowid = (SELECT max(rowid) FROM {TABLE.name})"


@pytest.fixture
def database(tmp_path):
    return Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))


def insert_spec(seed=1, **changes):
    plan = Insert(timed=(lane_range(0, 0, ROWS),))
    return run_spec(
        sweep_id=f"sweep-{seed}", by="anna@laptop", workers=(plan,), dataset=dataset(seed=seed),
        **changes,
    )  # fmt: skip


def insert(database, seed=1, rows=ROWS, *, ends=True):
    """Insert as a run does; without its end, as a run does that is killed."""
    spec = insert_spec(seed)
    upkeep = Upkeep(spec, database, lambda _: None)
    upkeep.prepare()
    write(database, spec.after, rows)
    if ends:
        upkeep.finish_insert([WorkerReport(index=0, rows=rows)])
    return spec.after


def write(database, rows_of, rows):
    with database.connect() as session:
        for blocks in DatasetReader(rows_of).blocks([lane_range(0, 0, rows)]):
            for block in blocks:
                for payload in session.encode(block, BATCH, 10):
                    session.send(payload)


def upkeep_of(kind, database, stored, **changes):
    spec = run_spec(kind=kind, dataset=stored, workers=(), clean=False, **changes)
    return Upkeep(spec, database, lambda _: None)


def queried(database, stored, **changes):
    upkeep_of(Kind.QUERY, database, stored, **changes).prepare()


def verified(database, stored, **changes):
    upkeep = upkeep_of(Kind.VERIFY, database, stored, verify=VerifyMode.FULL, **changes)
    upkeep.prepare()
    upkeep.verify_stored()
    return upkeep.verdict


def change(database, statement):
    with closing(sqlite3.connect(database.options.path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_the_rows_of_the_insert_itself_are_accepted(database):
    stored = insert(database)
    queried(database, stored)

    assert verified(database, stored).status is Status.VERIFIED


def test_the_rows_of_another_insert_are_named_and_nobody_is_accused(database):
    mine = insert(database, seed=1)
    insert(database, seed=2)

    for ask in (queried, verified):
        with pytest.raises(SetupError, match=r"another insert: insert sweep-2 by anna@laptop"):
            ask(database, mine)


def test_the_rows_of_another_insert_that_was_killed_are_not_judged(database):
    mine = insert(database, seed=1)
    insert(database, seed=2, ends=False)

    with pytest.raises(SetupError, match="did not end or still runs: insert sweep-2"):
        queried(database, mine)


def test_an_interrupted_insert_is_not_queried(database):
    stored = insert(database, rows=20, ends=False)

    with pytest.raises(SetupError, match=r"did not end.*run insert again, or `verify`"):
        queried(database, stored)


def test_an_interrupted_insert_is_verified_as_far_as_it_went(database):
    stored = insert(database, rows=20, ends=False)
    verdict = verified(database, stored)

    assert verdict.status is Status.INCOMPLETE
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (20, 30)


def test_an_interrupted_insert_whose_rows_are_all_stored_is_complete_once_verified(database):
    stored = insert(database, ends=False)
    assert verified(database, stored, complete=False).status is Status.VERIFIED

    queried(database, stored, complete=False)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET temperature = 99 WHERE rowid = 7",
        "INSERT INTO events SELECT * FROM events WHERE rowid = 7",
    ],
)
def test_a_foreign_or_doubled_row_after_an_interrupted_insert_is_a_mismatch(database, statement):
    stored = insert(database, rows=20, ends=False)
    change(database, statement)

    assert verified(database, stored).status is Status.MISMATCH


def test_tables_that_were_being_dropped_are_not_compared(database):
    earlier = insert(database, seed=1)
    killed = insert_spec(seed=2)
    Upkeep(killed, database, lambda _: None).tenure.record(State.CLEARING)

    for stored in (earlier, killed.after):
        with pytest.raises(SetupError, match=r"did not end"):
            verified(database, stored)


def test_rows_that_differ_although_the_insert_was_complete_are_wrong(database):
    stored = insert(database)
    change(database, "DELETE FROM events WHERE rowid = 7")

    with pytest.raises(MismatchError, match=r"hold 49 rows, but .*insert sweep-1 .* is wrong"):
        queried(database, stored)
    assert verified(database, stored).status is Status.MISMATCH


def test_without_a_mark_the_number_of_rows_decides(database):
    stored = insert(database)
    change(database, f"DROP TABLE {TABLE.name}")
    queried(database, stored)
    change(database, "DELETE FROM events WHERE rowid = 7")

    with pytest.raises(SetupError, match=r"hold 49 rows.*no mark in the database"):
        queried(database, stored)


def test_without_a_mark_an_insert_that_did_not_end_is_not_queried(database):
    stored = insert(database)
    change(database, f"DROP TABLE {TABLE.name}")

    with pytest.raises(SetupError, match="did not end"):
        queried(database, stored, complete=False)


@pytest.mark.parametrize(
    "damage",
    [
        f"DELETE FROM {TABLE.name} WHERE {LAST}",
        f"UPDATE {TABLE.name} SET value = value + 1 WHERE {LAST}",
        f"UPDATE {TABLE.name} SET value = 'text'",
        f"UPDATE {TABLE.name} SET value = NULL",
        f"UPDATE {TABLE.name} SET value = -1",
        f"DROP TABLE {TABLE.name}",
        f"ALTER TABLE {TABLE.name} DROP COLUMN part",
    ],
)
def test_a_damaged_mark_is_as_none(database, damage):
    stored = insert(database)
    change(database, damage)
    queried(database, stored)
    with pytest.raises(SetupError, match="no mark"):
        queried(database, stored.with_ranges([lane_range(0, 0, 10)]))


def test_an_insert_into_a_database_whose_mark_table_is_foreign_goes_on_without_one(database):
    change(database, f"CREATE TABLE {TABLE.name} (something TEXT)")
    upkeep = Upkeep(insert_spec(), database, lambda _: None)
    upkeep.prepare()

    assert "no such column" in upkeep.tenure.no_mark


def test_more_rows_are_appended_only_to_a_complete_insert(database):
    stored = insert(database, rows=20, ends=False)
    spec = run_spec(dataset=stored, workers=(), clean=False)

    with pytest.raises(SetupError, match="did not end"):
        Upkeep(spec, database, lambda _: None).prepare()


def test_the_table_stays_small_and_keeps_the_newest_mark_of_each_table(database, monkeypatch):
    monkeypatch.setattr(mark_table, "_MOST_ROWS", 60)
    first = Upkeep(insert_spec(), database, lambda _: None).tenure
    rooms = first._mark(State.COMPLETE).model_copy(update={"tables": ("rooms",)})
    book = MarkTable(database)
    book.open()
    rooms = book.write_last(rooms)
    for seed in range(20):
        insert(database, seed)
    found = MarkTable(database).read()

    assert found.newest(["rooms"]).at_ms >= rooms.at_ms
    assert found.newest(["events"]).dataset.seed == 19
    with database.connect() as session:
        assert len(session.run(database.render(RowsQuery(TABLE)))) <= 60 + 15


def test_no_row_of_a_mark_lies_in_the_future_or_beside_another(database):
    for seed in range(4):
        insert(database, seed)
    book = MarkTable(database)
    assert len(book.read().entries) == 12
    assert len(set(book._seconds)) == len(book._seconds)
