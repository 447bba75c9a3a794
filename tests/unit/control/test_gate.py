"""What the workers of a run may send when: in the order of its script, each for itself, once."""

import asyncio

import pytest

from simulator import __version__
from simulator.control import coordinator
from simulator.control.progress import Rejected
from simulator.data.query import Answer
from simulator.data.ranges import RowRange, lane_range
from simulator.load.meter import encoded_histogram
from simulator.protocol.messages import (
    Arrival,
    Heartbeat,
    PortionRequest,
    Registration,
    StageTimes,
    WorkerReport,
)
from simulator.protocol.spec import Clocking, LoadStage
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
    monkeypatch.setattr(coordinator, "HOLD_S", 0.0)


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


def test_a_process_is_one_worker_only():
    gate = gate_of(insert_spec(2))
    register(gate, 0)

    with pytest.raises(Rejected, match="worker 1: this process is already another worker"):
        register(gate, 1, uid_of(0))

    assert gate.run.uids == {0: uid_of(0)}


def test_an_index_outside_the_run_is_rejected(insert):
    with pytest.raises(Rejected, match=r"worker 2: this run has workers 0\.\.1"):
        register(insert, 2)

    assert set(insert.run.uids) == {0, 1}


def everything(index):
    """A message of each kind."""
    return {
        "arrive": Arrival(index=index, barrier="insert"),
        "beat": Heartbeat(index=index, phase="start"),
        "report": WorkerReport(index=index, error="x"),
        "knows": question(answer(QUERIES[0], [[1]], index=index)),
        "answer": answer(QUERIES[0], [[1]], index=index),
        "portion": PortionRequest(index=index),
    }


async def _sent(gate, kind, message, uid):
    done = getattr(gate, kind)(message, uid)
    return await done if asyncio.iscoroutine(done) else done


@pytest.mark.parametrize("kind", everything(0))
def test_only_the_registered_process_speaks_for_a_worker(insert, kind):
    with pytest.raises(Rejected, match="worker 0 is registered by another process"):
        within_a_moment(_sent(insert, kind, everything(0)[kind], STRANGER))

    assert (insert.run.reports, insert.run.beats, insert.run.waiting("insert")) == ({}, {}, 0)


@pytest.mark.parametrize("kind", everything(0))
@pytest.mark.parametrize("index", [1, 7])
def test_a_worker_that_has_not_registered_is_not_admitted(kind, index):
    gate = gate_of(insert_spec(2))
    register(gate, 0)

    with pytest.raises(Rejected, match=f"worker {index} has not registered"):
        within_a_moment(_sent(gate, kind, everything(index)[kind], uid_of(index)))

    assert (gate.run.reports, gate.run.beats, gate.run.waiting("insert")) == ({}, {}, 0)


@pytest.mark.parametrize("kind", everything(0))
def test_a_worker_waits_for_the_tables(kind):
    gate = gate_of(insert_spec(1), ready=False)
    assert not register(gate)

    with pytest.raises(Rejected, match="expected it to wait until the tables are ready"):
        within_a_moment(_sent(gate, kind, everything(0)[kind], uid_of(0)))


# --- barriers -----------------------------------------------------------------------------------


def test_a_barrier_that_the_run_does_not_have_is_rejected(insert):
    with pytest.raises(Rejected, match="came to barrier 'lunch'; expected barrier 'insert'"):
        arrive(insert, "lunch")

    assert insert.run.released_s == {}


def test_there_is_no_barrier_after_the_last(inserting):
    with pytest.raises(Rejected, match="came to barrier 'lunch'; expected its report"):
        arrive(inserting, "lunch")

    assert tuple(inserting.run.released_s) == ("insert",)


def test_barriers_come_in_the_order_of_the_queries():
    gate = gate_of(query_spec(1))
    register(gate)

    with pytest.raises(Rejected, match=f"expected barrier '{QUERIES[0]}'"):
        arrive(gate, QUERIES[1])


def test_no_worker_goes_past_a_barrier_that_has_not_opened():
    gate = gate_of(query_spec(2))
    register(gate, 0)
    register(gate, 1)
    assert not arrive(gate, QUERIES[0], 0)

    with pytest.raises(Rejected, match=f"expected it to wait at barrier '{QUERIES[0]}'"):
        arrive(gate, QUERIES[1], 0)


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
    assert insert.run.waiting("insert") == 2


def test_nobody_comes_to_a_barrier_after_the_report(insert):
    report(insert, WorkerReport(index=0, error="disk is full"))

    with pytest.raises(Rejected, match="expected nothing more, since it has reported"):
        arrive(insert, "insert", 0)


# --- heartbeats ---------------------------------------------------------------------------------


def test_heartbeats_follow_the_course_of_a_run(insert):
    beat(insert, "start")
    beat(insert, "prefill", prefill_rows=10)
    beat(insert, "barrier insert", prefill_rows=PREFILL - 1, uncertain_rows=1)
    arrive(insert, "insert", 0)
    arrive(insert, "insert", 1)
    beat(insert, "insert", prefill_rows=PREFILL - 1, uncertain_rows=1)
    beat(insert, "insert", prefill_rows=PREFILL - 1, uncertain_rows=1)
    beat(insert, "insert", rows=TIMED, prefill_rows=PREFILL - 1, uncertain_rows=1)

    assert insert.run.beats[0].rows == TIMED


@pytest.mark.parametrize(
    ("beats", "reason"),
    [
        ([("insert", {})], "is in phase 'insert'; expected barrier 'insert'"),
        ([("lunch", {})], "is in phase 'lunch'"),
        ([("start", {"rows": 1})], "counts 1 rows of 0"),
        ([("prefill", {"prefill_rows": PREFILL + 1})], "counts 31 rows of a prefill of 30"),
        ([("prefill", {"uncertain_rows": PREFILL + TIMED + 1})], "some uncertain, of 130"),
        ([("prefill", {}), ("start", {})], "went back from 'prefill'"),
        (
            [("prefill", {"prefill_rows": 9}), ("prefill", {"prefill_rows": 8})],
            r"went back from 'prefill' with 9 \+ 0 rows and 0 uncertain to 'prefill' with 8 \+ 0",
        ),
        ([("start", {"uncertain_rows": 9}), ("start", {})], "went back"),
    ],
)
def test_a_heartbeat_that_cannot_be_is_rejected(insert, beats, reason):
    *before, (phase, counts) = beats
    for earlier, earlier_counts in before:
        beat(insert, earlier, **earlier_counts)

    with pytest.raises(Rejected, match=reason):
        beat(insert, phase, **counts)

    assert len(insert.run.beats) == len(before)


def test_timed_rows_never_go_back_nor_beyond_the_plan(inserting):
    beat(inserting, "insert", rows=50)

    with pytest.raises(Rejected, match="went back"):
        beat(inserting, "insert", rows=49)
    with pytest.raises(Rejected, match="counts 101 rows of 100"):
        beat(inserting, "insert", rows=TIMED + 1)
    assert inserting.run.beats[0].rows == 50


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


def test_of_answers_one_of_which_is_wrong_none_is_kept(query):
    several = answer(QUERIES[0], [[7]], [["seven"]])

    with pytest.raises(Rejected, match="with rows of count int64"):
        query.answer(several, uid_of(0))

    assert query.knows(question(several), uid_of(0)) == (False, False)
    assert [*query.answers(QUERIES[0])] == []


def test_equal_rows_of_two_queries_are_two_answers(asked):
    """Two columns may hold equal values; the second query has names of its own."""
    nothing = [answer(query, []) for query in QUERIES]
    asked.answer(nothing[0], uid_of(0))

    assert asked.knows(question(nothing[1]), uid_of(0)) == (False,)


def test_every_different_answer_is_kept(query):
    query.answer(ANSWERS[0], uid_of(0))
    query.answer(answer(QUERIES[0], [[999]]), uid_of(0))

    assert sorted(found.rows for _, found in query.answers(QUERIES[0])) == [((999,),), ((1000,),)]


@pytest.mark.parametrize("name", [QUERIES[1], "newest-per-device", "lunch"])
def test_an_answer_to_a_query_not_yet_reached_is_rejected(query, name):
    with pytest.raises(Rejected, match=f"answers query '{name}'; expected barrier"):
        query.answer(answer(name, [[1]]), uid_of(0))
    with pytest.raises(Rejected, match=f"answers query '{name}'"):
        query.knows(question(answer(name, [[1]])), uid_of(0))


def test_an_insert_run_takes_no_answer(inserting):
    with pytest.raises(Rejected, match="answers query 'insert'"):
        inserting.answer(answer("insert", []), uid_of(0))


def test_the_digest_of_an_answer_is_that_of_its_rows(query):
    (right,) = ANSWERS[0].answers
    forged = ANSWERS[0].model_copy(
        update={"answers": (right, right.model_copy(update={"rows": ((1,),)}))}
    )

    with pytest.raises(Rejected, match="is not that of its rows"):
        query.answer(forged, uid_of(0))

    assert [*query.answers(QUERIES[0])] == []


@pytest.mark.parametrize(
    "rows", [[[]], [[1, 2]], [["1000"]], [[1000.0]], [[True]], [[1], ["1"]]], ids=str
)
def test_the_rows_of_an_answer_have_the_columns_of_the_query(query, rows):
    with pytest.raises(Rejected, match=f"'{QUERIES[0]}' with rows of count int64"):
        query.answer(answer(QUERIES[0], rows), uid_of(0))


@pytest.mark.parametrize("rows", [[], [[None]], [[1], [2]]], ids=str)
def test_a_wrong_answer_is_admitted_since_it_is_for_the_verdict_to_judge(query, rows):
    query.answer(answer(QUERIES[0], rows), uid_of(0))

    assert len([*query.answers(QUERIES[0])]) == 1


def test_a_new_answer_after_the_report_is_rejected_and_an_old_one_repeated(asked):
    report(asked, query_report())
    asked.answer(ANSWERS[1], uid_of(0))

    with pytest.raises(Rejected, match="since it has reported"):
        asked.answer(answer(QUERIES[0], [[7]]), uid_of(0))


def test_different_answers_take_a_limited_memory(query, monkeypatch):
    monkeypatch.setattr("simulator.control.gate.MOST_ANSWER_BYTES", 100)
    query.answer(answer(QUERIES[0], [[int("1" * 60)]]), uid_of(0))

    with pytest.raises(Rejected, match="all different answers of this run take more than 100"):
        query.answer(answer(QUERIES[0], [[int("2" * 60)]]), uid_of(0))

    assert len([*query.answers(QUERIES[0])]) == 1


# --- reports ------------------------------------------------------------------------------------


def test_a_run_is_finished_when_every_worker_has_reported(inserting):
    report(inserting, insert_report(0))
    assert not inserting.run._all_reported.is_set()
    report(inserting, insert_report(1))

    assert inserting.run._all_reported.is_set()
    assert not inserting.run.stopped.is_set()


def test_a_report_may_be_repeated_but_not_changed(inserting):
    report(inserting, insert_report(0))
    report(inserting, insert_report(0))

    with pytest.raises(Rejected, match="reports again, and differently"):
        report(inserting, insert_report(0, retried=1))

    assert inserting.run.reports == {0: insert_report(0)}


def test_a_worker_that_has_not_passed_the_barrier_cannot_be_done(insert):
    arrive(insert, "insert", 0)

    with pytest.raises(Rejected, match="expected it to wait at barrier 'insert'"):
        report(insert, insert_report(0, rows=0, rows_by_second=()))

    report(insert, insert_report(0, rows=0, rows_by_second=(), error="the database is gone"))
    assert insert.run.cause == "worker 0: the database is gone"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": TIMED - 1, "rows_by_second": ()}, "reports 129 rows of 130, and no error"),
        ({"rows": TIMED + 1}, "counts 101 rows of 100"),
        ({"prefill_rows": PREFILL + 1}, "counts 31 rows of a prefill of 30"),
        ({"uncertain": (RowRange(start=0, stop=1),)}, "counts 131 rows, some uncertain"),
        ({"uncertain": (RowRange(start=129, stop=131),)}, "that are not its own"),
        ({"uncertain": (RowRange(start=2**40, stop=2**40 + 1),)}, "that are not its own"),
        ({"rows_by_second": (TIMED, 1)}, "more rows by second than rows"),
        ({"queries": (times(0),)}, f"reports the queries {QUERIES[0]}"),
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


def test_a_report_is_not_behind_the_last_heartbeat(inserting):
    beat(inserting, "insert", rows=50)

    with pytest.raises(Rejected, match="reports less than its last heartbeat"):
        report(inserting, insert_report(0, rows=49, rows_by_second=(), error="gone"))


def test_a_worker_that_was_stopped_reports_what_it_has(inserting):
    inserting.run.stop("--timeout")
    report(inserting, insert_report(0, rows=5, rows_by_second=(5,)))

    assert inserting.run.reports[0].rows == 5


def test_the_report_of_a_query_run(asked):
    report(asked, query_report())

    assert asked.run._all_reported.is_set()


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        ((), "reports before it is done, and no error"),
        ((times(0),), "reports before it is done, and no error"),
        ((times(1), times(0)), "reports the queries"),
        ((times(0), times(0)), "reports the queries"),
        ((times(0), times(1, runs=1)), "ran 1 of 2 times"),
        ((times(0), times(1, answers=0)), "reports 0 answers .* has sent 1"),
        ((times(0), times(1, answers=2)), "reports 2 answers .* has sent 1"),
    ],
)
def test_a_report_of_queries_that_cannot_be_is_rejected(asked, queries, reason):
    with pytest.raises(Rejected, match=reason):
        report(asked, query_report(queries=queries))

    assert asked.run.reports == {}


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


def test_a_worker_that_is_not_let_in_waits(ramp):
    beat(ramp, f"barrier {QUERIES[0]}", 1)
    assert not arrive(ramp, QUERIES[0], 1)

    with pytest.raises(Rejected, match="it to wait at barrier"):
        arrive(ramp, QUERIES[1], 1)
    with pytest.raises(Rejected, match="it to wait at barrier"):
        ramp.answer(answer(QUERIES[0], [[1000]], index=1), uid_of(1))


def test_a_worker_may_leave_out_a_query_whose_ramp_is_over(ramp):
    ramp.run.end_ramp(QUERIES[0])
    assert arrive(ramp, QUERIES[0], 1)
    arrive(ramp, QUERIES[1], 1)
    assert arrive(ramp, QUERIES[1], 0)
    ramp.run.end_ramp(QUERIES[1])
    arrive(ramp, QUERIES[1], 1)
    report(ramp, query_report(1, queries=()))

    assert ramp.run.reports[1].queries == ()


def test_a_worker_reports_the_queries_of_a_ramp_in_order_and_none_twice(ramp):
    ramp.answer(ANSWERS[0], uid_of(0))
    ramp.run.end_ramp(QUERIES[0])
    arrive(ramp, QUERIES[1], 1)
    arrive(ramp, QUERIES[1], 0)
    ramp.answer(ANSWERS[1], uid_of(0))

    for wrong in ((times(1), times(0)), (times(0), times(0))):
        with pytest.raises(Rejected, match="reports the queries"):
            report(ramp, query_report(0, queries=wrong))
    report(ramp, query_report(0, queries=(times(1),)))


def test_without_a_ramp_no_query_may_be_left_out(asked):
    with pytest.raises(Rejected, match="reports the queries"):
        report(asked, query_report(0, queries=(times(1),)))


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


@pytest.mark.parametrize("index", [0, 1])
def test_no_worker_of_a_mixed_run_comes_to_the_barrier_of_another_kind(mixed, index):
    with pytest.raises(Rejected, match="expected barrier 'mixed'"):
        arrive(mixed, ("insert", QUERIES[0])[index], index)


def test_first_answers_are_taken_before_the_clock_starts(mixed):
    mixed.answer(asked_by_1(0), uid_of(1))
    mixed.answer(asked_by_1(1), uid_of(1))

    assert [len([*mixed.answers(query)]) for query in QUERIES] == [1, 1]
    with pytest.raises(Rejected, match="worker 0: answers query"):
        mixed.answer(ANSWERS[0], uid_of(0))


def test_a_mixed_run_ends_with_rows_and_queries_in_any_number(mixed):
    mixed.answer(asked_by_1(0), uid_of(1))
    mixed.answer(asked_by_1(1), uid_of(1))
    arrive(mixed, "mixed", 1)
    arrive(mixed, "mixed", 0)
    mixed.report(query_report(1, queries=(times(0, runs=7), times(1, runs=0))), uid_of(1))
    mixed.report(written_by_0(), uid_of(0))

    assert len(mixed.run.reports) == 2
    assert not mixed.run.stopped.is_set()


def test_a_query_of_a_mixed_run_that_is_left_out_needs_an_error(mixed):
    mixed.answer(asked_by_1(0), uid_of(1))
    arrive(mixed, "mixed", 1)
    arrive(mixed, "mixed", 0)
    with pytest.raises(Rejected, match="reports before it is done"):
        mixed.report(query_report(1, queries=(times(0),)), uid_of(1))


# --- stages ---------------------------------------------------------------------------------------


STAGES = (LoadStage(workers=1, duration_s=1.0), LoadStage(workers=2, duration_s=1.0))


def stage(number, rows=0, count=1):
    return StageTimes(
        stage=number, started_s=1.0, ended_s=2.0, rows=rows, count=count,
        latency=encoded_histogram([1000] * count),
    )  # fmt: skip


@pytest.fixture
def staged():
    """An insert run in stages whose two workers have passed the barrier."""
    spec = insert_spec(2).model_copy(update={"clocking": Clocking(stages=STAGES, duration_s=2.0)})
    gate = gate_of(spec)
    for index in range(2):
        register(gate, index)
    arrive(gate, "insert", 0)
    arrive(gate, "insert", 1)
    return gate


def test_a_worker_reports_the_stages_in_which_it_was_active(staged):
    report(staged, insert_report(0, stages=(stage(0, 40), stage(1, 60))))
    report(staged, insert_report(1, stages=(stage(1, 100),)))

    assert len(staged.run.reports) == 2


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ((stage(0, 5), stage(1, 5)), r"reports the stages \[0, 1\]"),
        ((stage(1, 5), stage(1, 5)), r"reports the stages \[1, 1\]"),
        ((stage(2, 5),), r"reports the stages \[2\]"),
        ((stage(1, TIMED + 1),), "reports more rows by stage than rows"),
    ],
)
def test_a_report_of_stages_that_cannot_be_is_rejected(staged, stages, reason):
    with pytest.raises(Rejected, match=f"worker 1: {reason}"):
        report(staged, insert_report(1, stages=stages))


def test_a_run_without_stages_reports_none(inserting):
    with pytest.raises(Rejected, match="reports the stages"):
        report(inserting, insert_report(0, stages=(stage(0),)))


@pytest.fixture
def asking_in_stages():
    """A run of two queries in stages, of which one worker has come nowhere yet."""
    spec = query_spec(1)
    tasks = tuple(task.model_copy(update={"runs": 0}) for task in spec.asks)
    gate = gate_of(spec.model_copy(update={"workers": tasks, "clocking": Clocking(stages=STAGES)}))
    register(gate)
    return gate


def test_in_stages_a_query_is_asked_first_before_its_barrier_and_no_other(asking_in_stages):
    gate = asking_in_stages
    gate.answer(ANSWERS[0], uid_of(0))
    with pytest.raises(Rejected, match="answers query"):
        gate.answer(ANSWERS[1], uid_of(0))
    arrive(gate, QUERIES[0])
    gate.answer(ANSWERS[1], uid_of(0))
    arrive(gate, QUERIES[1])

    timed = times(0, stages=(stage(0), stage(1)))
    with pytest.raises(Rejected, match="reports more runs by stage than runs"):
        report(gate, query_report(queries=(times(0, stages=(stage(0, count=3),)), times(1))))
    report(gate, query_report(queries=(timed, times(1, runs=0))))

    assert len(gate.run.reports) == 1
