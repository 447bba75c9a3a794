"""The collector's work on the database after the clock has stopped."""

import pytest

from simulator.control.database.work import DatabaseWork, _complete
from simulator.data.ranges import RowRange, lane_range
from simulator.errors import RunError
from simulator.modules.null import Null, NullOptions
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import Clocking, InsertTask
from simulator.protocol.verdict import Status, Verdict, VerifyMode
from tests.unit.specs import run_spec

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
    assert _complete(Verdict(status=status, uncertain_absent=absent), uncertain) is complete


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
