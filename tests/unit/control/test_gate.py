"""Who may speak for a worker, and what a report must account for."""

import asyncio

import pytest

from simulator import __version__
from simulator.control.script import Rejected
from simulator.control.workers import coordinator
from simulator.data.answer import Answer
from simulator.data.ranges import RowRange, lane_range
from simulator.protocol.folding import FoldRequest
from simulator.protocol.messages import Arrival, Heartbeat, Registration, WorkerReport
from simulator.protocol.pace import Clocking, LoadStage
from tests.unit.control.run import (
    ANSWERS,
    PREFILL,
    QUERIES,
    TIMED,
    answer,
    gate_of,
    insert_report,
    insert_spec,
    mixed_spec,
    query_report,
    query_spec,
    question,
    ramp_spec,
    times,
    uid_of,
    within_a_moment,
)

STRANGER = uid_of(99)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(coordinator, "hold_s", lambda _: 0.0)


def register(gate, index=0, uid=None):
    message = Registration(index=index, version=__version__)
    return within_a_moment(gate.register(message, uid or uid_of(index)))


def arrive(gate, barrier, index=0):
    return within_a_moment(gate.arrive(Arrival(index=index, barrier=barrier), uid_of(index)))


def beat(gate, phase="start", index=0, **counts):
    gate.beat(Heartbeat(index=index, phase=phase, **counts), uid_of(index))


def report(gate, made):
    gate.report(made, uid_of(made.index))


@pytest.fixture
def insert():
    """An insert run whose two workers have registered."""
    gate = gate_of(insert_spec(2))
    register(gate, 0)
    register(gate, 1)
    return gate


@pytest.fixture
def inserting(insert):
    """An insert run whose two workers have passed the barrier."""
    assert not arrive(insert, "insert", 0)
    assert arrive(insert, "insert", 1)
    return insert


@pytest.fixture
def query():
    """A query run whose worker is at the first query."""
    gate = gate_of(query_spec(1))
    register(gate)
    arrive(gate, QUERIES[0])
    return gate


@pytest.fixture
def asked(query):
    """A query run whose worker has asked both queries."""
    query.answer(ANSWERS[0], uid_of(0))
    arrive(query, QUERIES[1])
    query.answer(ANSWERS[1], uid_of(0))
    return query


# --- who ----------------------------------------------------------------------------------------


def test_a_second_process_cannot_take_the_index_of_a_worker(insert):
    with pytest.raises(Rejected, match="worker 1 is already registered by another process"):
        register(insert, 1, STRANGER)

    assert insert.run.uids[1] == uid_of(1)
    assert not insert.run.stopped.is_set()


def test_an_index_outside_the_run_is_rejected(insert):
    with pytest.raises(Rejected, match=r"worker 2: this run has workers 0\.\.1"):
        register(insert, 2)

    assert set(insert.run.uids) == {0, 1}


def everything(index):
    return {
        "arrive": Arrival(index=index, barrier="insert"),
        "beat": Heartbeat(index=index, phase="start"),
        "report": WorkerReport(index=index, error="x"),
        "knows": question(answer(QUERIES[0], [[1]], index=index)),
        "answer": answer(QUERIES[0], [[1]], index=index),
        "fold_task": FoldRequest(index=index),
    }


async def _sent(gate, kind, message, uid):
    done = getattr(gate, kind)(message, uid)
    return await done if asyncio.iscoroutine(done) else done


@pytest.mark.parametrize("kind", everything(0))
def test_only_the_registered_process_speaks_for_a_worker(insert, kind):
    with pytest.raises(Rejected, match="worker 0 is registered by another process"):
        within_a_moment(_sent(insert, kind, everything(0)[kind], STRANGER))

    assert (insert.run.reports, insert.run.beats, insert.run.count_waiting("insert")) == ({}, {}, 0)


@pytest.mark.parametrize("kind", everything(0))
@pytest.mark.parametrize("index", [1, 7])
def test_a_worker_that_has_not_registered_is_not_admitted(kind, index):
    gate = gate_of(insert_spec(2))
    register(gate, 0)

    with pytest.raises(Rejected, match=f"worker {index} has not registered"):
        within_a_moment(_sent(gate, kind, everything(index)[kind], uid_of(index)))

    assert (gate.run.reports, gate.run.beats, gate.run.count_waiting("insert")) == ({}, {}, 0)


# --- barriers -----------------------------------------------------------------------------------


def test_an_arrival_may_be_repeated_in_every_state(insert):
    assert not arrive(insert, "insert", 0)
    assert not arrive(insert, "insert", 0)
    assert arrive(insert, "insert", 1)
    assert arrive(insert, "insert", 0)
    released_s = dict(insert.run.released_s)
    report(insert, insert_report(0))
    assert arrive(insert, "insert", 0)
    assert register(insert, 0)

    assert insert.run.released_s == released_s
    assert insert.run.count_waiting("insert") == 2


# --- heartbeats ---------------------------------------------------------------------------------


def test_a_heartbeat_that_follows_the_report_changes_nothing(inserting):
    beat(inserting, "insert", rows=50)
    report(inserting, insert_report(0))
    beat(inserting, "insert", rows=40)

    assert inserting.run.beats[0].rows == 50


# --- answers ------------------------------------------------------------------------------------


def test_an_answer_is_kept_once_for_each_query(asked):
    asked.answer(ANSWERS[0], uid_of(0))

    assert asked.knows(question(ANSWERS[0]), uid_of(0)) == (True,)
    assert [*asked.answers(QUERIES[0])] == [(0, Answer(("count",), ((1000,),)))]
    assert [found.rows for _, found in asked.answers(QUERIES[1])] == [ANSWERS[1].answers[0].rows]


def test_of_several_answers_the_known_ones_are_named_and_the_others_kept(query):
    query.answer(ANSWERS[0], uid_of(0))
    several = answer(QUERIES[0], [[7]], [[1000]], [[8]], [[7]])

    assert query.knows(question(several), uid_of(0)) == (False, True, False, False)
    query.answer(several, uid_of(0))
    assert query.knows(question(several), uid_of(0)) == (True,) * 4
    assert sorted(found.rows for _, found in query.answers(QUERIES[0])) == [
        ((7,),), ((8,),), ((1000,),)
    ]  # fmt: skip


def test_equal_rows_of_two_queries_are_two_answers(asked):
    """Two columns may hold equal values; the second query has names of its own."""
    nothing = [answer(query, []) for query in QUERIES]
    asked.answer(nothing[0], uid_of(0))

    assert asked.knows(question(nothing[1]), uid_of(0)) == (False,)


@pytest.mark.parametrize("name", ["newest-per-device", "lunch"])
def test_an_answer_to_a_query_that_the_run_does_not_have_is_rejected(query, inserting, name):
    for gate in (query, inserting):
        with pytest.raises(Rejected, match=f"worker 0: this run has no query '{name}'"):
            gate.answer(answer(name, [[1]]), uid_of(0))
        with pytest.raises(Rejected, match=f"this run has no query '{name}'"):
            gate.knows(question(answer(name, [[1]])), uid_of(0))


def test_different_answers_take_a_limited_memory(query, monkeypatch):
    monkeypatch.setattr("simulator.control.workers.gate.MOST_ANSWER_BYTES", 100)
    query.answer(answer(QUERIES[0], [[int("1" * 60)]]), uid_of(0))

    with pytest.raises(Rejected, match="all different answers of this run take more than 100"):
        query.answer(answer(QUERIES[0], [[int("2" * 60)]]), uid_of(0))

    assert len([*query.answers(QUERIES[0])]) == 1


# --- reports ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": TIMED - 1, "rows_by_second": ()}, "reports 129 rows of 130, and no error"),
        ({"rows": TIMED + 1}, "reports 131 rows of 130, and no error"),
        ({"prefill_rows": PREFILL + 1}, "reports 131 rows of 130"),
        ({"uncertain": (RowRange(start=0, stop=1),)}, "reports 131 rows of 130"),
        ({"uncertain": (RowRange(start=129, stop=131),)}, "that are not its own"),
        ({"uncertain": (RowRange(start=2**40, stop=2**40 + 1),)}, "that are not its own"),
        ({"written": (RowRange(start=129, stop=131),)}, "that are not its own"),
    ],
)
def test_a_report_that_cannot_be_is_rejected(inserting, changes, reason):
    with pytest.raises(Rejected, match=reason):
        report(inserting, insert_report(0, **changes))

    assert inserting.run.reports == {}


def test_rows_of_unknown_outcome_count(inserting):
    uncertain = (RowRange(start=0, stop=10, take=1, every=3), RowRange(start=100, stop=106))
    report(
        inserting,
        insert_report(0, prefill_rows=26, rows=94, rows_by_second=(), uncertain=uncertain),
    )

    assert inserting.run.reports[0].uncertain == uncertain


def test_a_worker_that_was_stopped_reports_what_it_has(inserting):
    inserting.run.stop("--timeout")
    report(inserting, insert_report(0, rows=5, rows_by_second=(5,)))

    assert inserting.run.reports[0].rows == 5


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        ((), "reports 0 queries of 2, and no error"),
        ((times(0),), "reports 1 queries of 2, and no error"),
        ((times(0), times(0)), "reports 1 queries of 2, and no error"),
        ((times(0), times(1, runs=1)), "ran 1 of 2 times"),
        ((times(0), times(1, answers=0)), "reports 0 answers .* has sent 1"),
        ((times(0), times(1, answers=2)), "reports 2 answers .* has sent 1"),
    ],
)
def test_a_report_of_queries_that_cannot_be_is_rejected(asked, queries, reason):
    with pytest.raises(Rejected, match=reason):
        report(asked, query_report(queries=queries))

    assert asked.run.reports == {}


def test_a_query_whose_time_is_over_may_have_fewer_runs_and_never_too_few():
    spec = query_spec(1)
    tasks = tuple(task.model_copy(update={"runs": 9, "fewest": 2}) for task in spec.asks)
    gate = gate_of(spec.model_copy(update={"workers": tasks}))
    register(gate)
    for which, query in enumerate(QUERIES):
        arrive(gate, query)
        gate.answer(ANSWERS[which], uid_of(0))

    with pytest.raises(Rejected, match="ran 1 of at least 2 times"):
        report(gate, query_report(queries=(times(0, runs=9), times(1, runs=1))))
    report(gate, query_report(queries=(times(0, runs=9), times(1, runs=2))))

    assert len(gate.run.reports) == 1


# --- a ramp ---------------------------------------------------------------------------------------


@pytest.fixture
def ramp():
    """A ramp of two workers, of which one may ask the first query."""
    gate = gate_of(ramp_spec(2))
    register(gate, 0)
    register(gate, 1)
    assert not arrive(gate, QUERIES[0], 1)
    assert arrive(gate, QUERIES[0], 0)
    return gate


def test_a_worker_may_leave_out_a_query_whose_ramp_is_over(ramp):
    ramp.run.end_ramp(QUERIES[0])
    assert arrive(ramp, QUERIES[0], 1)
    arrive(ramp, QUERIES[1], 1)
    assert arrive(ramp, QUERIES[1], 0)
    ramp.run.end_ramp(QUERIES[1])
    arrive(ramp, QUERIES[1], 1)
    report(ramp, query_report(1, queries=()))

    assert ramp.run.reports[1].queries == ()


# --- mixed runs -----------------------------------------------------------------------------------


@pytest.fixture
def mixed():
    """A mixed run whose two workers have registered."""
    gate = gate_of(mixed_spec())
    register(gate, 0)
    register(gate, 1)
    return gate


def asked_by_1(which):
    return ANSWERS[which].model_copy(update={"index": 1})


def written_by_0(**changes):
    changes = {"rows": 60, "written": (lane_range(0, 1000, 60),), **changes}
    return WorkerReport(index=0, rows_by_second=(60,), **changes)


def test_a_mixed_run_starts_when_those_that_write_and_those_that_ask_are_there(mixed):
    assert mixed.run.released_s == {}
    assert not arrive(mixed, "mixed", 1)
    assert arrive(mixed, "mixed", 0)
    assert [*mixed.run.released_s] == ["mixed"]


def test_a_mixed_run_ends_with_rows_and_queries_in_any_number(mixed):
    mixed.answer(asked_by_1(0), uid_of(1))
    mixed.answer(asked_by_1(1), uid_of(1))
    arrive(mixed, "mixed", 1)
    arrive(mixed, "mixed", 0)
    mixed.report(query_report(1, queries=(times(0, runs=7), times(1, runs=0))), uid_of(1))
    mixed.report(written_by_0(), uid_of(0))

    assert len(mixed.run.reports) == 2
    assert not mixed.run.stopped.is_set()


STAGES = (LoadStage(workers=1, duration_s=1.0), LoadStage(workers=2, duration_s=1.0))


@pytest.fixture
def asking_in_stages():
    """A run of two queries in stages, of which one worker has come nowhere yet."""
    spec = query_spec(1)
    tasks = tuple(task.model_copy(update={"runs": 0}) for task in spec.asks)
    gate = gate_of(spec.model_copy(update={"workers": tasks, "clocking": Clocking(stages=STAGES)}))
    register(gate)
    return gate


def test_in_stages_a_query_may_have_no_timed_run(asking_in_stages):
    gate = asking_in_stages
    for which, query in enumerate(QUERIES):
        gate.answer(ANSWERS[which], uid_of(0))
        arrive(gate, query)
    report(gate, query_report(queries=(times(0), times(1, runs=0))))

    assert len(gate.run.reports) == 1
