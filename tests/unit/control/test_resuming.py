"""A collector in the place of a lost one: the journal brings it to where the run is."""

import io

import numpy as np
import pytest

from simulator import __version__, clock
from simulator.clock import ahead_s
from simulator.control import journal
from simulator.control.collector import resume
from simulator.control.journal import Began, Journal, Steadied, TablesPrepared
from simulator.control.progress.follower import Follower
from simulator.control.progress.phases import EventWriter
from simulator.control.workers import coordinator
from simulator.data.fresh import fresh_types
from simulator.data.reader import DatasetReader
from simulator.errors import RunError
from simulator.host import boot_id
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.events import QueryRamp, RampEnd
from simulator.protocol.messages import Arrival, Heartbeat, Registration
from simulator.protocol.numbers import pack
from tests.unit.control.run import (
    ANSWERS,
    QUERIES,
    answer,
    gate_of,
    insert_report,
    insert_spec,
    mixed_spec,
    query_report,
    query_spec,
    question,
    ramp_spec,
    uid_of,
    within_a_moment,
)

NONE = pack(np.empty((0, 0), np.int64))
PREPARED = TablesPrepared(server=None, touched=True, is_set_up=False, size_before_bytes=None)


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """Nobody is held, and a clock that was adopted is that of one test."""
    monkeypatch.setattr(coordinator, "hold_s", lambda _: 0.0)
    monkeypatch.setattr(clock, "_ahead_s", [])


class Run:
    """A run whose collectors write one journal."""

    def __init__(self, spec, file=None):
        self.spec = spec
        self.file = file or io.BytesIO()
        self.begin()

    def begin(self):
        """Begin with another collector, which knows what the journal says."""
        self.gate = gate_of(self.spec, journal=Journal(self.file))
        self.run = self.gate.run
        queries = self.gate.script.queries
        self.lines = io.StringIO()
        writer = EventWriter(self.lines)
        self.follower = Follower(self.spec, queries, self.run, lambda: 0.0, writer)
        self.resumed = resume(self.gate, self.follower)

    def register(self, *indexes):
        for index in indexes:
            message = Registration(index=index, version=__version__)
            within_a_moment(self.gate.register(message, uid_of(index)))

    def arrive(self, barrier, *indexes):
        for index in indexes:
            arrival = Arrival(index=index, barrier=barrier)
            within_a_moment(self.gate.arrive(arrival, uid_of(index)))

    def may_pass(self, barrier, index):
        message = Arrival(index=index, barrier=barrier)
        return within_a_moment(self.gate.arrive(message, uid_of(index)))


def test_the_first_collector_has_nothing_to_go_on_from():
    run = Run(insert_spec(2))

    assert run.resumed.replaced_s == ()
    assert run.resumed.prepared is None
    assert run.file.getvalue().startswith(b"Began ")


def test_workers_barriers_and_reports_are_as_they_were():
    run = Run(insert_spec(2))
    run.register(0, 1)
    run.run.journal.note(PREPARED)
    run.arrive("insert", 0, 1)
    run.gate.report(insert_report(1), uid_of(1))
    before = run.run
    run.begin()

    assert len(run.resumed.replaced_s) == 1
    assert run.resumed.prepared == PREPARED
    assert run.run.uids == before.uids
    assert run.run.released_s == pytest.approx(before.released_s, abs=0.01)
    assert run.run.first_arrival_s == pytest.approx(before.first_arrival_s, abs=0.01)
    assert run.run.reports == {1: insert_report(1)}
    assert run.may_pass("insert", 0)


def test_a_barrier_that_was_closed_opens_for_those_that_were_there_and_the_last_one():
    run = Run(insert_spec(3))
    run.register(0, 1, 2)
    run.arrive("insert", 0, 1)
    run.begin()

    assert not run.may_pass("insert", 0)
    assert run.may_pass("insert", 2)
    assert run.may_pass("insert", 0)


def test_answers_are_here_and_a_report_may_rely_on_them():
    run = Run(query_spec(2))
    run.register(0, 1)
    for query, found in zip(QUERIES, ANSWERS, strict=True):
        run.arrive(query, 0, 1)
        run.gate.answer(found, uid_of(0))
        same = found.model_copy(update={"index": 1})
        assert run.gate.knows(question(same), uid_of(1)) == (True,)
    run.begin()
    run.gate.report(query_report(0), uid_of(0))
    run.gate.report(query_report(1), uid_of(1))

    assert set(run.run.reports) == {0, 1}
    (found,) = run.gate.answers(QUERIES[0])
    assert found[1].rows == ((1000,),)


def test_what_is_replayed_is_not_written_again_however_often():
    run = Run(query_spec(1))
    run.register(0)
    run.arrive(QUERIES[0], 0)
    run.gate.answer(ANSWERS[0], uid_of(0))
    lines = run.file.getvalue().count(b"\n")
    run.begin()
    run.begin()

    assert run.file.getvalue().count(b"\n") == lines + 2
    assert len(run.resumed.replaced_s) == 2


def test_messages_that_are_repeated_do_not_make_the_journal_longer():
    run = Run(insert_spec(2))
    run.register(0, 1)
    run.arrive("insert", 0)
    size = len(run.file.getvalue())
    run.register(0)
    run.arrive("insert", 0)
    run.gate.beat(Heartbeat(index=0, phase="insert", rows=5), uid_of(0))

    assert len(run.file.getvalue()) == size


def test_the_phases_and_the_end_of_the_warm_up_go_on():
    run = Run(insert_spec(1))
    phases = run.follower.phases
    phases.enter("init", at_s=1000.0)
    phases.enter("barrier", at_s=1004.0)
    run.run.journal.note(Steadied(measured_s=1010.5))
    run.begin()
    phases = run.follower.phases

    assert (phases.now, phases.began_at_s, phases.seconds) == ("barrier", 1004.0, {"init": 4.0})
    assert run.run.measured_s == 1010.5


def test_a_line_that_was_not_written_to_its_end_counts_as_not_written():
    run = Run(insert_spec(2))
    run.register(0)
    whole = len(run.file.getvalue())
    run.register(1)
    run.file.truncate(whole + 40)
    run.begin()

    assert set(run.run.uids) == {0}
    run.register(1)
    run.begin()
    assert set(run.run.uids) == {0, 1}


def test_a_step_of_the_clock_before_the_new_collector_moves_no_instant():
    run = Run(insert_spec(1))
    before_s = ahead_s()
    clock._ahead_s[:] = [before_s + 7200.0]
    run.begin()

    assert ahead_s() == before_s


def test_the_clock_of_another_machine_is_not_taken_over():
    file = io.BytesIO()
    Journal(file).note(Began(boot_id="another", ahead_s=5.0))
    Run(insert_spec(1), file)

    assert boot_id() != "another"
    assert ahead_s() != 5.0


class Full(io.BytesIO):
    """A file on a disk that has no more space at some time."""

    most = 600

    def write(self, data):
        if len(self.getvalue()) + len(data) > self.most:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_journal_that_could_not_be_kept_is_not_gone_on_from():
    run = Run(query_spec(1), Full())
    run.register(0)
    run.gate.answer(answer(QUERIES[0], [[text] for text in "x" * 300]), uid_of(0))
    run.arrive(QUERIES[0], 0)  # nothing is kept any more, though there would be space

    with pytest.raises(RunError, match=r"the collector was lost, and .* took too much space"):
        run.begin()


def test_a_journal_has_a_limit(monkeypatch):
    monkeypatch.setattr(journal, "MOST_BYTES", 500)
    run = Run(insert_spec(9))
    run.register(*range(9))

    with pytest.raises(RunError, match="took too much space"):
        run.begin()


def test_what_workers_have_reported_of_fresh_rows_is_here():
    mixed = mixed_spec()
    name = next(iter(fresh_types(DatasetReader(mixed.dataset))))
    load = mixed.load.model_copy(update={"fresh_ms": 1000, "queries": {name: ""}})
    run = Run(mixed.model_copy(update={"load": load}))
    run.register(0, 1)
    sent = SentBatches(index=0, part=0, last=True, batches=NONE, runs=NONE)
    answers = FreshAnswers(index=1, query=name, part=0, count=7, answers=NONE, values=NONE)
    run.gate.take_part(sent, uid_of(0))
    run.gate.take_part(answers, uid_of(1))
    run.gate.take_part(answers, uid_of(1))
    run.begin()

    assert run.gate.arrivals.has_sent(0)
    assert run.gate.arrivals.count_answered(name, 1) == 7


# --- ramps --------------------------------------------------------------------------------------


def asked(run, runs, index=0):
    beat = Heartbeat(index=index, phase=QUERIES[0], runs=runs, waited_s=0.01 * runs)
    run.run.beat(beat)


def test_a_ramp_goes_on_with_as_many_workers_and_keeps_its_steps():
    run = Run(ramp_spec(3))
    run.register(0, 1, 2)
    run.arrive(QUERIES[0], 0, 1, 2)
    now_s = 0.0
    run.follower.ramping._clock = lambda: now_s
    for second in range(2):
        now_s = float(second)
        asked(run, 10 * (second + 1))
        run.follower.ramping.tick()
    let_in = run.run.let_in(QUERIES[0])
    assert 1 < let_in < 3
    run.begin()

    assert run.run.let_in(QUERIES[0]) == let_in
    assert run.may_pass(QUERIES[0], let_in - 1)
    assert not run.may_pass(QUERIES[0], let_in)
    ramping = run.follower.ramping
    assert [step.workers for step in ramping._steps[QUERIES[0]]] == [*range(1, let_in)]


def test_a_ramp_that_was_over_is_over():
    run = Run(ramp_spec(2))
    run.register(0, 1)
    run.arrive(QUERIES[0], 0, 1)
    ramp = QueryRamp(query=QUERIES[0], workers=1, end=RampEnd.LIMIT, wait_ms_avg=20.0, steps=())
    run.run.journal.note(journal.Ramped(ramp=ramp))
    run.begin()

    assert run.follower.ramping.found == [ramp]
    assert run.run.over == QUERIES[0]
    assert run.may_pass(QUERIES[0], 1)
