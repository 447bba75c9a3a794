"""The collector's work on the database, the server's own work, and query plans."""

import threading
import time
from contextlib import contextmanager
from types import MappingProxyType

import pytest

from simulator.control.database.background import MOST_CHANGES, BackgroundWatch
from simulator.control.database.query_plans import MOST_STATEMENTS, explain_queries
from simulator.control.database.work import DatabaseWork, _is_complete
from simulator.data.own_query import OwnQuery, make_own_types
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.errors import RunError
from simulator.modules.contract import QueryPlan
from simulator.modules.null import Null, NullOptions
from simulator.modules.sqlite import Sqlite, SqliteOptions, SqliteSession
from simulator.protocol.messages import WorkerReport
from simulator.protocol.pace import Clocking
from simulator.protocol.spec import InsertTask, QueryLoad
from simulator.protocol.verdict import Status, Verdict, VerifyMode
from tests.unit.specs import dataset, run_spec

TEN = RowRange(start=0, stop=10)


@pytest.fixture
def work():
    plan = InsertTask(timed=(lane_range(0, 0, 20),))
    spec = run_spec(workers=(plan,), verify=VerifyMode.NONE)
    return DatabaseWork(spec, Null(NullOptions()), lambda _: None)


def test_without_verification_the_run_is_not_verified(work):
    work.finish_insert([WorkerReport(index=0, rows=20)])

    assert work.verdict.status is Status.OFF


def test_without_verification_rows_of_unknown_outcome_leave_the_verdict_unknown(work):
    report = WorkerReport(index=0, rows=10, uncertain=(TEN,), uncertain_cause="reset by peer")
    work.finish_insert([report])

    assert work.verdict.status is Status.UNKNOWN
    assert work.verdict.reason.startswith("10 rows of unknown outcome")


def test_a_run_in_which_no_row_was_acknowledged_fails_with_the_last_error(work):
    report = WorkerReport(index=0, uncertain=(TEN,), uncertain_cause="XX000: table is blocked")

    with pytest.raises(RunError, match=r"no row was acknowledged.*XX000: table is blocked"):
        work.finish_insert([report])
    assert work.verdict is None


@pytest.mark.parametrize(
    ("uncertain", "status", "absent", "complete"),
    [
        ([], Status.VERIFIED, 0, True),
        ([], Status.MISMATCH, 0, True),
        ([], Status.OFF, 0, True),
        ([TEN], Status.VERIFIED, 0, True),
        ([TEN], Status.INCOMPLETE, 3, False),
        ([TEN], Status.MISMATCH, 3, False),
        ([TEN], Status.UNKNOWN, 0, False),
        ([TEN], Status.OFF, 0, False),
    ],
)
def test_an_insert_is_complete_only_if_no_row_is_in_doubt(uncertain, status, absent, complete):
    assert _is_complete(Verdict(status=status, uncertain_absent=absent), uncertain) is complete


def test_a_run_that_ended_within_its_warm_up_has_measured_nothing(work):
    work._spec = work._spec.model_copy(update={"clocking": Clocking(warmup_s=2.5)})

    with pytest.raises(RunError, match=r"--warmup: all rows .* within its 2.5 s.*use a shorter"):
        work.finish_insert([WorkerReport(index=0, rows=20, warmup_rows=20)])
    work.finish_insert([WorkerReport(index=0, rows=20, warmup_rows=19)])


def test_nothing_is_dropped_where_nothing_was_made_before(monkeypatch, tmp_path):
    dropped = []
    monkeypatch.setattr(Sqlite, "drop", lambda _, names: dropped.append({*names}))
    database = Sqlite(SqliteOptions(path=str(tmp_path / "new.db")))
    spec = run_spec(workers=(InsertTask(timed=(lane_range(0, 0, 20),)),))

    DatabaseWork(spec, database, lambda _: None).prepare()

    assert set() not in dropped


TICK_S = 0.005


class Counting(Null):
    """A server that counts its checkpoints: None is a refusal, the last count stays."""

    def __init__(self, *counts):
        super().__init__(NullOptions())
        self.counts = list(counts)
        self.sessions = 0
        self.read_all = threading.Event()

    @contextmanager
    def background_work(self):
        self.sessions += 1
        yield self.read

    def read(self):
        if len(self.counts) == 1:
            self.read_all.set()
            count = self.counts[0]
        else:
            count = self.counts.pop(0)
        if count is None:
            raise OSError("no permission")
        return {"checkpoints": count}


def watched(*counts):
    """Return the server and its watch once all counts were read, the first one at 0, by ticks."""
    server = Counting(*counts)
    watch = BackgroundWatch(server, clock=iter(range(10**6)).__next__, sample_s=TICK_S)
    watch.start()
    server.read_all.wait(10)
    watch.finish()
    return server, watch


@pytest.mark.parametrize(
    ("counts", "total", "changes"),
    [
        ((3, 3, 3), {"checkpoints": 0}, []),
        ((3, 4, 4, 6), {"checkpoints": 3}, [1, 2]),
        ((9, 0, 1), {"checkpoints": 1}, [1]),
        ((3, None, 5), {"checkpoints": 2}, [2]),
        ((3, None), {}, []),
    ],
)
def test_changes_are_kept_and_counted(counts, total, changes):
    _, watch = watched(*counts)

    assert watch.counts(0) == total
    assert [each.count for each in watch.occurrences(0)] == changes
    assert {each.what for each in watch.occurrences(0)} <= {"checkpoints"}


def test_counts_are_unknown_where_the_beginning_was_not_read():
    server, watch = watched(None, 5, 6)

    assert server.sessions == 2
    assert watch.counts(-1) == {}
    assert [each.count for each in watch.occurrences(-1)] == [1]


def test_what_was_before_an_instant_is_left_out():
    _, watch = watched(1, 2, 2, 4, 4)

    assert watch.counts(1) == {"checkpoints": 2}
    (found,) = watch.occurrences(1)
    assert (found.count, found.at_s) == (2, 2)


def test_many_changes_are_joined_and_none_is_lost():
    ticks = iter(range(100_000))
    server = Counting(*range(3 * MOST_CHANGES))
    watch = BackgroundWatch(server, clock=lambda: float(next(ticks)), sample_s=0.0001)
    watch.start()
    server.read_all.wait(30)
    watch.finish()
    found = watch.occurrences(0.0)

    assert MOST_CHANGES / 4 < len(found) <= MOST_CHANGES
    assert sum(each.count for each in found) == 3 * MOST_CHANGES - 1
    assert found[-1].at_s > 2.9 * MOST_CHANGES * 0.9


def test_a_server_without_counters_is_left_alone():
    watch = BackgroundWatch(Null(NullOptions()))
    watch.start()
    watch.finish()

    assert watch.counts(time.time()) == {}
    assert watch.occurrences(0) == []


class Stuck(Null):
    """A server that does not answer."""

    def __init__(self):
        super().__init__(NullOptions())
        self.release = threading.Event()

    @contextmanager
    def background_work(self):
        self.release.wait(30)
        raise OSError("gone")
        yield


def test_a_server_that_does_not_answer_delays_a_run_for_seconds_only(monkeypatch):
    monkeypatch.setattr("simulator.control.database.background._FIRST_S", 0.05)
    server = Stuck()
    watch = BackgroundWatch(server)
    began_s = time.monotonic()
    watch.start()
    watch.finish()
    server.release.set()

    assert time.monotonic() - began_s < 2
    assert watch.counts(time.time()) == {}


DATA = dataset()
READER = DatasetReader(DATA)
TYPES = READER.query_types()


@pytest.fixture
def database(tmp_path):
    found = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))
    found.create(READER.tables, 10)
    return found


def plans_of(database, *names, own=MappingProxyType({})):
    types = {**TYPES, **make_own_types(own, DATA)}
    load = QueryLoad(queries=dict.fromkeys((*names, *own), ""), own=dict(own))
    return list(explain_queries(database, load, types))


def own(text):
    return {"mine": OwnQuery(columns={"n": Type.INT64}, texts={"sqlite": text})}


def test_a_query_that_fails_has_the_reason_and_the_others_have_plans(database):
    right, failed = plans_of(database, "count-events", own=own("SELECT absent FROM events"))

    assert right.statements
    assert failed.statements == ()
    assert "no such column: absent" in failed.problem


def test_an_own_query_cannot_write_while_it_is_explained(database, monkeypatch):
    asked = []
    explain = SqliteSession.query_plans

    def writing(session, statement):
        session.connection.execute("DELETE FROM events")
        asked.append(statement)
        yield from explain(session, statement)

    monkeypatch.setattr(SqliteSession, "query_plans", writing)

    (found,) = plans_of(database, own=own("SELECT count(*) FROM events"))

    assert "readonly" in found.problem
    assert asked == []


def test_the_first_statements_of_many_are_explained_and_long_plans_cut(database, monkeypatch):
    asked = []

    def many(*_):
        for number in range(100):
            asked.append(number)
            yield QueryPlan(f"statement {number}", "x" * 100_000, "y" * 100_000)

    monkeypatch.setattr(SqliteSession, "query_plans", many)

    (found,) = plans_of(database, "count-events")

    assert found.more
    assert [plan.statement for plan in found.statements] == [
        f"statement {number}" for number in range(MOST_STATEMENTS)
    ]
    assert len(asked) == MOST_STATEMENTS + 1
    size = sum(len(plan.text) for plan in found.statements)
    assert (1 << 14) <= size <= (1 << 14) + 100
    assert found.statements[0].text.endswith("\n...")
