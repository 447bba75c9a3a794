"""Sends that are on their way together: how many, in which order they end, and what is counted."""

import threading

import pytest

from simulator.data.ranges import lane_range
from simulator.errors import RunError
from simulator.load.connecting import Stopped
from simulator.load.write import delivery
from simulator.load.write.delivery import MAX_UNCERTAIN_SENDS
from simulator.load.write.sender import Sender
from simulator.modules.contract import Failure
from simulator.modules.null import Null
from tests.unit.load import test_sender
from tests.unit.load.test_sender import Failed, Session, insert, numbers, reader

pytestmark = pytest.mark.usefixtures("_no_waiting")

LIMIT = 4


@pytest.fixture
def _no_waiting(monkeypatch):
    monkeypatch.setattr(delivery, "_BACKOFF_S", 0)
    monkeypatch.setattr(Null, "reconnect_s", 0)


class InFlight(Session):
    """Ends a batch only when no other may begin, the last one first."""

    in_flight = LIMIT

    def __init__(self, database):
        super().__init__(database)
        self.waiting = []
        self.threads = []

    def close(self):
        self.closed = True
        for _, _, done in self.waiting:
            done(Failed(Failure.UNKNOWN))
        self.waiting.clear()

    def begin(self, payload, done):
        assert not self.closed
        database = self.database
        database.attempts += 1
        error = database.script.pop(0) if database.script else None
        if error == "raised":
            raise Failed(Failure.NOT_APPLIED)
        self.waiting.append((payload, error, done))
        database.most = max(database.most, len(self.waiting))
        if len(self.waiting) == self.in_flight or database.attempts >= database.last:
            thread = threading.Thread(target=self._end, args=(self.waiting[::-1],))
            self.waiting = []
            self.threads.append(thread)
            thread.start()

    def _end(self, ending):
        for payload, error, done in ending:
            if error is None:
                self.database.stored += payload.data
            else:
                self.alive = self.alive and error.alive
            done(error)


class Database(test_sender.Database):
    def __init__(self, script=(), sends=0):
        super().__init__(script)
        self.most, self.last = 0, sends
        """With the last attempt everything ends."""

    def connect(self):
        self.sessions.append(InFlight(self))
        return self.sessions[-1]


def test_as_many_are_on_their_way_as_the_session_says_and_none_is_lost():
    database = Database(sends=13)
    sender = insert(database, rows=130)

    assert database.most == LIMIT
    assert sorted(database.stored) == numbers(*range(130))
    assert (sender.meter.rows, sender.meter.sends, sender.failures.retried) == (130, 13, 0)


def test_what_was_not_applied_is_sent_again_beside_the_others():
    script = [None, Failed(Failure.NOT_APPLIED), "raised", None]
    database = Database(script, sends=10)
    sender = insert(database, rows=80)

    assert sorted(database.stored) == numbers(*range(80))
    assert (sender.failures.retried, sender.failures.uncertain, sender.meter.rows) == (2, [], 80)
    assert sender.spent.backoff_ns > 0


def test_sends_that_are_lost_together_count_as_one_failure():
    most = MAX_UNCERTAIN_SENDS + LIMIT - 1
    sender = insert(Database([Failed(Failure.UNKNOWN)] * most, sends=most), rows=10 * most)
    assert len(sender.failures.uncertain) == most

    with pytest.raises(RunError, match=f"more than {most} batches"):
        insert(Database([Failed(Failure.UNKNOWN)] * (most + 1), sends=most), rows=10 * most + 10)


def test_after_a_fatal_error_what_was_on_its_way_is_still_counted():
    script = [None, Failed(Failure.UNKNOWN), Failed(Failure.FATAL), None]
    database = Database(script, sends=4)
    sender = Sender(database, reader(), threading.Event())
    sender.start()
    with pytest.raises(RunError, match="insert failed"):
        sender.insert([lane_range(1, 0, 40)], "batch", 10)

    assert sender.meter.rows + sender.failures.uncertain_rows == 30
    assert len(database.stored) == sender.meter.rows == 20


def test_what_is_on_its_way_when_the_run_is_stopped_is_counted():
    stop = threading.Event()
    database = Database(sends=3)
    sender = Sender(database, reader(), stop)
    sender.start()
    begin = InFlight.begin

    def stopping(session, payload, done):
        begin(session, payload, done)
        if database.attempts == 3:
            stop.set()

    InFlight.begin = stopping
    try:
        with pytest.raises(Stopped):
            sender.insert([lane_range(1, 0, 60)], "batch", 10)
    finally:
        InFlight.begin = begin

    assert database.attempts == 3
    assert sender.meter.rows == 30


def test_a_lost_session_ends_all_its_sends_and_the_next_one_goes_on():
    lost = Failed(Failure.UNKNOWN, alive=False)
    database = Database([lost, lost, None, None], sends=8)
    sender = insert(database, rows=80)

    uncertain = [row for item in sender.failures.uncertain for row in item.numbers()]
    assert [session.closed for session in database.sessions] == [True, False]
    assert set(numbers(*range(20))) <= set(uncertain)
    assert sorted(uncertain + database.stored) == numbers(*range(80))
    assert sender.meter.rows == len(database.stored) > 0
