"""Whose the tables are, and whose rows they hold, on a real SQLite file."""

import time
from contextlib import suppress

import pytest

from simulator.control.database import marks as mark_table
from simulator.control.database import ownership
from simulator.control.database.marks import SPARE, TABLE, MarkTable
from simulator.control.database.work import DatabaseWork
from simulator.data.query import RowsQuery
from simulator.data.ranges import lane_range, merge
from simulator.errors import ConfigError, SetupError
from simulator.modules.sqlite import Sqlite, SqliteOptions, SqliteSession
from simulator.protocol.mark import State, encode
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import InsertTask, Work
from simulator.protocol.verdict import Status, VerifyMode
from tests.unit.specs import dataset, run_spec
from tests.unit.specs import mark as mark_of
from tests.unit.stored_rows import execute, write

ROWS = 50
LAST = f"rowid = (SELECT max(rowid) FROM {TABLE.name})"


@pytest.fixture(autouse=True)
def _no_look(monkeypatch):
    """Shorten the watch for other inserts to nothing."""
    monkeypatch.setattr(ownership, "LOOK_S", 0)


@pytest.fixture
def database(tmp_path):
    return Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))


def insert_spec(seed=1, **changes):
    plan = InsertTask(timed=(lane_range(0, 0, ROWS),))
    return run_spec(
        sweep_id=f"sweep-{seed}", by="anna@laptop", workers=(plan,), dataset=dataset(seed=seed),
        **changes,
    )  # fmt: skip


def insert(database, seed=1, rows=ROWS, *, ends=True, parts=1):
    """Insert as a run does; without its end, as a run does that is killed."""
    spec = insert_spec(seed)
    spec = spec.model_copy(update={"dataset": spec.dataset.model_copy(update={"parts": parts})})
    work = DatabaseWork(spec, database, lambda _: None)
    work.prepare()
    write(database, spec.after, lane_range(0, 0, rows))
    if ends:
        work.finish_insert([WorkerReport(index=0, rows=rows)])
    return spec.after


def work_of(work, database, stored, **changes):
    spec = run_spec(work=work, dataset=stored, workers=(), clean=False, **changes)
    return DatabaseWork(spec, database, lambda _: None)


def queried(database, stored, **changes):
    work_of(Work.QUERY, database, stored, **changes).prepare()


def verified(database, stored, **changes):
    work = work_of(Work.VERIFY, database, stored, verify=VerifyMode.FULL, **changes)
    work.prepare()
    work.verify_stored()
    return work.verdict


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
    execute(database, statement)

    assert verified(database, stored).status is Status.MISMATCH


def test_tables_that_were_being_dropped_are_not_compared(database):
    earlier = insert(database, seed=1)
    killed = insert_spec(seed=2)
    DatabaseWork(killed, database, lambda _: None).ownership.clear()

    for stored in (earlier, killed.after):
        with pytest.raises(SetupError, match=r"did not end"):
            verified(database, stored)


def test_without_a_mark_the_number_of_rows_decides(database):
    stored = insert(database)
    execute(database, f"DROP TABLE {TABLE.name}")
    queried(database, stored)
    execute(database, "DELETE FROM events WHERE rowid = 7")

    with pytest.raises(SetupError, match=r"hold 49 rows.*no mark in the database"):
        queried(database, stored)


def test_without_a_mark_an_insert_that_did_not_end_is_not_queried(database):
    stored = insert(database)
    execute(database, f"DROP TABLE {TABLE.name}")

    with pytest.raises(SetupError, match="did not end"):
        queried(database, stored, complete=False)


@pytest.mark.parametrize(
    "damage",
    [
        f"DELETE FROM {TABLE.name} WHERE {LAST}",
        f"UPDATE {TABLE.name} SET value = value + 1 WHERE {LAST}",
        f"UPDATE {TABLE.name} SET value = 'text'",
        f"UPDATE {TABLE.name} SET value = NULL",
        f"DROP TABLE {TABLE.name}",
        f"ALTER TABLE {TABLE.name} DROP COLUMN part",
    ],
)
def test_a_damaged_mark_is_as_none(database, damage):
    stored = insert(database)
    execute(database, damage)
    queried(database, stored)
    with pytest.raises(SetupError, match="no mark"):
        queried(database, stored.with_ranges([lane_range(0, 0, 10)]))
    book = MarkTable(database)
    book.read()
    assert not book.unread


@pytest.mark.parametrize("at_ms", [10**17, 2, -5])
def test_a_mark_of_no_time_in_which_inserts_run_is_none(database, at_ms):
    stored = insert(database)
    other = mark_of(dataset=dataset(seed=9))
    rows = ", ".join(f"({n * 1000}, {at_ms}, {n}, {v})" for n, v in enumerate(encode(other)))
    execute(database, f"INSERT INTO {TABLE.name} VALUES {rows}")
    queried(database, stored)
    assert [each.dataset for each in MarkTable(database).read().current] == [stored]


def test_more_rows_are_appended_only_to_a_complete_insert(database):
    stored = insert(database, rows=20, ends=False)
    spec = run_spec(dataset=stored, workers=(), clean=False)

    with pytest.raises(SetupError, match="did not end"):
        DatabaseWork(spec, database, lambda _: None).prepare()


def test_marks_that_the_user_drops_during_a_run_are_written_again(database):
    work = DatabaseWork(insert_spec(), database, lambda _: None)
    work.prepare()
    write(database, insert_spec().after, lane_range(0, 0, ROWS))
    execute(database, f"DROP TABLE {TABLE.name}")

    work.finish_insert([WorkerReport(index=0, rows=ROWS)])

    queried(database, insert_spec().after)
    assert work.ownership.read().newest(["events"]).state is State.COMPLETE


def test_batches_of_unknown_outcome_of_several_workers_are_in_the_mark(database):
    plans = [InsertTask(timed=(lane_range(lane, 0, 40),)) for lane in (0, 1)]
    spec = run_spec(workers=tuple(plans), dataset=dataset())
    work = DatabaseWork(spec, database, lambda _: None)
    work.prepare()
    for plan in plans:
        write(database, spec.after, *plan.timed)
    lost = [[lane_range(lane, start, 10) for start in (30, 10)] for lane in (0, 1)]

    work.finish_insert([WorkerReport(index=i, rows=20, uncertain=lost[i]) for i in (0, 1)])

    assert work.complete
    work.ownership.record(State.INCOMPLETE, uncertain=[*lost[1], *lost[0]])
    assert work.ownership.read().newest(["events"]).uncertain == merge([*lost[0], *lost[1]])


def test_the_table_stays_small_and_keeps_the_newest_mark_of_each_table(database, monkeypatch):
    monkeypatch.setattr(mark_table, "_MOST_ROWS", 60)
    first = DatabaseWork(insert_spec(), database, lambda _: None).ownership
    rooms = first._mark(State.COMPLETE).model_copy(
        update={"tables": ("rooms",), "objects": {"rooms": ("rooms",)}}
    )
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


def _dying(monkeypatch, database, at):
    """Have the call `at` that changes something in the database end the process, before or after.

    Returns a list with what was called.
    """
    called = []

    def ends(name, call):
        def calling(*arguments, **named):
            called.append(name)
            if len(called) == at // 2 + 1 and at % 2 == 0:
                raise Killed
            result = call(*arguments, **named)
            if len(called) == at // 2 + 1:
                raise Killed
            return result

        return calling

    for name in ("create", "drop"):
        monkeypatch.setattr(type(database), name, ends(name, getattr(type(database), name)))
    monkeypatch.setattr(SqliteSession, "send", ends("send", SqliteSession.send))
    return called


def test_a_crash_at_any_call_of_a_rewriting_loses_no_mark(tmp_path):
    for at in range(40):
        database = Sqlite(SqliteOptions(path=str(tmp_path / f"{at}.db")))
        rooms = {"tables": ("rooms",), "objects": {"rooms": ("rooms",)}}
        book = MarkTable(database)
        book.open()
        for seed in range(3):
            mark = DatabaseWork(insert_spec(seed), database, lambda _: None).ownership._mark(
                State.COMPLETE
            )
            book.write_last(mark)
            book.write_last(mark.model_copy(update=rooms))
        before = book.read().claiming
        with pytest.MonkeyPatch.context() as patched:
            called = _dying(patched, database, at)
            with suppress(Killed):
                book._rewrite()
        assert MarkTable(database).read().claiming == before, called
        second = MarkTable(database)
        second.open()
        assert second.read().claiming == before, called
        if at // 2 >= len(called):
            assert called == ["create", "send", "send", "drop", "create", "send", "send", "drop"]
            break
        assert not database.find_existing([SPARE.name]), called
    else:
        pytest.fail("the rewriting never ends")


def test_a_table_of_others_with_the_name_of_the_second_one_stays(database, monkeypatch):
    monkeypatch.setattr(mark_table, "_MOST_ROWS", 5)
    insert(database)
    execute(
        database,
        f"CREATE TABLE {SPARE.name} (mine TEXT)",
        f"INSERT INTO {SPARE.name} VALUES ('a')",
    )
    insert(database, 2)
    insert(database, 3)
    assert execute(database, f"SELECT * FROM {SPARE.name}") == [("a",)]
    assert MarkTable(database).read().newest(["events"]).dataset.seed == 3


def test_no_row_of_a_mark_lies_in_the_future_or_beside_another(database):
    for seed in range(4):
        insert(database, seed)
    book = MarkTable(database)
    assert len(book.read().entries) == 15
    assert len(set(book._seconds)) == len(book._seconds)


# --- who else writes them -----------------------------------------------------------------


def begun(database, seed=1, enter=lambda _: None):
    """Return the work of an insert that has prepared its tables and not ended."""
    work = DatabaseWork(insert_spec(seed), database, enter)
    work.prepare()
    return work


def looking(monkeypatch, pause):
    """Shorten the watch for other inserts, and call `pause` in each of its pauses."""
    monkeypatch.setattr(ownership, "LOOK_S", 0.2)
    monkeypatch.setattr(ownership, "_LOOK_PAUSE_S", 0.05)
    sleep = time.sleep

    def paused(seconds):
        pause()
        sleep(seconds)

    monkeypatch.setattr(ownership.time, "sleep", paused)


@pytest.mark.parametrize("renews", [True, False])
def test_an_insert_is_refused_while_the_mark_of_another_changes(database, monkeypatch, renews):
    other = begun(database)
    looking(
        monkeypatch,
        other.ownership.renew if renews else lambda: other.ownership.record(State.CHANGING),
    )
    with pytest.raises(ConfigError) as refused:
        begun(database, 2)

    named = (
        "another insert writes the same tables now (insert sweep-1 by anna@laptop, up to 50 rows"
    )
    assert named in str(refused.value)
    assert MarkTable(database).read().newest(["events"]).sweep_id == "sweep-1"


def test_an_insert_that_ends_during_the_look_or_was_killed_is_no_reason(database, monkeypatch):
    other = begun(database)
    write(database, insert_spec().after, lane_range(0, 0, ROWS))
    looking(
        monkeypatch,
        lambda: other.complete or other.finish_insert([WorkerReport(index=0, rows=ROWS)]),
    )
    killed = begun(database, 2)
    assert other.complete

    killed.ownership.renew()
    looking(monkeypatch, lambda: None)
    phases = []
    begun(database, 3, phases.append)
    assert phases == ["watch", "init"], "a wait is shown"


def test_the_next_insert_does_not_wait_for_one_that_has_failed(database, monkeypatch):
    begun(database).ownership.renew(ended=True)
    looking(monkeypatch, lambda: pytest.fail("it waits"))
    begun(database, 2)


def test_wrong_rows_and_failures_name_the_insert_that_wrote_meanwhile(database):
    first = begun(database)
    insert(database, 2, ROWS - 10, ends=False)
    first.finish_insert([WorkerReport(index=0, rows=ROWS)])
    named = "another insert, sweep-2 by anna@laptop, wrote the same tables meanwhile"

    assert first.verdict.status is Status.MISMATCH
    assert first.verdict.reason.startswith(f"{named}: ")
    harm = first.explain_harm("it failed", prepared=False)
    assert str(harm) == f"{named}, so the data is wrong: it failed"


def test_a_mismatch_that_nobody_else_explains_blames_the_database(database):
    insert(database)
    first = begun(database, 2)
    write(database, first._spec.after, lane_range(0, 0, ROWS - 1))
    first.finish_insert([WorkerReport(index=0, rows=ROWS)])

    assert first.verdict.status is Status.MISMATCH
    assert "another insert" not in first.verdict.reason


def test_a_collector_that_goes_on_renews_the_mark_of_the_lost_one(database):
    lost = begun(database)
    found = DatabaseWork(insert_spec(), database, lambda _: None)
    found.ownership.go_on(lost.prepared.known_marks)
    found.ownership.renew()
    marks = MarkTable(database).read()

    assert [*marks.renewals] == [marks.newest(["events"]).at_ms]


def test_renewals_hide_no_mark_and_take_no_second_of_one(database):
    work = begun(database)
    for _ in range(200):
        work.ownership.renew()
    write(database, insert_spec().after, lane_range(0, 0, ROWS))
    work.finish_insert([WorkerReport(index=0, rows=ROWS)])
    book = MarkTable(database)

    assert [mark.state for mark in book.read().entries] == ["complete", "writing", "clearing"]
    assert (
        max(book._seconds) - min(each for each in book._seconds if each > time.time() - 3600) < 200
    )


# --- tables that are not ours ------------------------------------------------------------

NAMES = "SELECT name FROM sqlite_master WHERE name <> 'sqlite_stat1'"
FOREIGN = ("CREATE TABLE events (mine TEXT)", "INSERT INTO events VALUES ('a'), ('b')")


def test_all_that_is_in_the_way_stands_in_one_message(database):
    execute(database, *FOREIGN, "CREATE TABLE iotbench_marks (mine TEXT)")

    with pytest.raises(ConfigError, match=r"table events \(.*\) and table iotbench_marks \("):
        DatabaseWork(insert_spec(), database, lambda _: None).prepare()


def test_marks_that_cannot_be_read_accuse_nobody_and_are_named(database, monkeypatch):
    stored = insert(database)

    def refuse(session, statement):
        if TABLE.name in str(statement) and "value" in str(statement):
            raise RuntimeError("user anna may not scroll")
        return run(session, statement)

    run = SqliteSession.run
    monkeypatch.setattr(SqliteSession, "run", refuse)
    with pytest.raises(
        SetupError, match=r"anna may not scroll: the marks in iotbench_marks cannot"
    ):
        DatabaseWork(insert_spec(seed=2), database, lambda _: None).prepare()
    work = work_of(Work.VERIFY, database, stored, verify=VerifyMode.FULL)
    work.verify_stored()
    assert work.verdict.status is Status.VERIFIED
    assert "anna may not scroll" in work.ownership.no_mark


def test_a_table_is_replaced_only_by_name(database):
    execute(database, *FOREIGN)
    execute(database, "CREATE TABLE other AS SELECT 7 AS seven")
    with pytest.raises(ConfigError, match=r"--replace-table events"):
        DatabaseWork(
            insert_spec(replace_tables=("iotbench_marks",)), database, lambda _: None
        ).prepare()
    DatabaseWork(insert_spec(replace_tables=("events",)), database, lambda _: None).prepare()
    insert(database)

    assert execute(database, "SELECT seven FROM other") == [(7,)]
    assert execute(database, "SELECT count(*) FROM events") == [(ROWS,)]


def test_a_view_is_not_replaced_even_by_name(database):
    execute(database, "CREATE VIEW events AS SELECT 1 AS one")

    with pytest.raises(ConfigError, match=r"replaces what an insert makes, and no view"):
        DatabaseWork(insert_spec(replace_tables=("events",)), database, lambda _: None).prepare()


def test_a_foreign_table_of_marks_is_replaced_by_name(database):
    execute(database, f"CREATE TABLE {TABLE.name} (something TEXT)")
    spec = insert_spec(replace_tables=(TABLE.name,))
    DatabaseWork(spec, database, lambda _: None).prepare()

    assert MarkTable(database).read().newest(["events"]).run_id == spec.run_id


def test_an_empty_table_of_marks_is_ours(database):
    MarkTable(database).open()

    assert insert(database).rows == ROWS


class Killed(BaseException):
    """Ends the process at once."""


def test_other_parts_of_the_users_are_neither_needed_nor_dropped(database):
    execute(database, "CREATE TABLE events2 AS SELECT 7 AS seven")
    insert(database, parts=2)
    insert(database)
    with pytest.raises(ConfigError, match=r"table events2 \(1 row"):
        insert(database, parts=4)

    assert execute(database, "SELECT seven FROM events2") == [(7,)]


def test_a_name_that_an_insert_has_given_up_is_no_longer_ours(database):
    insert(database, parts=4)
    insert(database)
    execute(database, "CREATE TABLE events0 AS SELECT 7 AS seven")

    with pytest.raises(ConfigError, match=r"table events0 \(1 row"):
        insert(database, parts=4)


def test_marks_of_earlier_versions_name_their_tables_by_their_dataset(database):
    insert(database, parts=4)
    book = MarkTable(database)
    kept = book.read().current
    book.replace()
    book.open()
    for mark in reversed(kept):
        book.write_last(mark.model_copy(update={"objects": {}, "signed": False}))
    insert(database, seed=2)

    names = {name for (name,) in execute(database, NAMES)}
    assert names == {TABLE.name, "events"}


def test_rows_of_a_version_without_marks_are_recognised_by_verify(database):
    stored = insert(database)
    execute(database, f"DROP TABLE {TABLE.name}")
    with pytest.raises(ConfigError, match="did not make table events"):
        insert(database, seed=2)
    assert verified(database, stored).status is Status.VERIFIED

    assert insert(database, seed=2).rows == ROWS


def test_rows_that_are_not_those_of_the_insert_are_not_recognised(database):
    stored = insert(database)
    execute(database, f"DROP TABLE {TABLE.name}")
    execute(database, "UPDATE events SET temperature = 99 WHERE rowid = 7")
    assert verified(database, stored).status is Status.MISMATCH

    with pytest.raises(ConfigError, match="did not make table events"):
        insert(database, seed=2)


def test_rows_are_added_only_to_tables_that_are_ours(database):
    stored = insert(database)
    execute(database, f"DROP TABLE {TABLE.name}")
    spec = run_spec(workers=(InsertTask(timed=(lane_range(0, ROWS, ROWS),)),), dataset=stored,
                    clean=False)  # fmt: skip

    with pytest.raises(ConfigError, match="`verify` recognises the rows"):
        DatabaseWork(spec, database, lambda _: None).prepare()
