"""Many connections of one worker, seen as one session."""

import sys
import threading
import time
from queue import SimpleQueue
from typing import ClassVar

import pytest

from simulator import host
from simulator.errors import SetupError
from simulator.load import connections as tested
from simulator.load.connections import Connections
from simulator.modules.contract import Failure, Payload
from simulator.modules.null import NullSession

PAYLOAD = Payload(1, "single", b"row")


class Broken(Exception):
    """The connection is lost."""


class Fake(NullSession):
    """A session whose sends wait until they may end."""

    opened: ClassVar[list]

    def __init__(self):
        super().__init__("none")
        self.sent, self.closed, self.ends, self.lost = 0, threading.Event(), SimpleQueue(), False
        self.opened.append(self)

    def close(self):
        self.closed.set()

    @property
    def alive(self):
        return not self.lost

    def send(self, payload):
        del payload
        self.sent += 1
        error = self.ends.get(timeout=5)
        if error:
            self.lost = isinstance(error, Broken)
            raise error

    def classify(self, error):
        return Failure.UNKNOWN if isinstance(error, Broken) else Failure.NOT_APPLIED


@pytest.fixture(autouse=True)
def opened(monkeypatch):
    monkeypatch.setattr(Fake, "opened", [], raising=False)
    return Fake.opened


def begun(session, count=1):
    """Begin some sends; return what becomes of them."""
    ended = SimpleQueue()
    for _ in range(count):
        session.begin(PAYLOAD, ended.put)
    return ended


def end_all(opened, connections, error=None):
    for each in opened[:connections]:
        each.ends.put(error)


def eventually(condition):
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_each_batch_goes_to_the_connection_that_was_free_for_longest(opened):
    session = Connections(Fake, 3, 3, {})
    assert (session.in_flight, len(session.opened_ns)) == (3, 3)
    for _ in range(2):
        ended = begun(session, 3)
        eventually(lambda: all(each.sent for each in opened))
        end_all(opened, 3)
        assert [ended.get(timeout=5) for _ in range(3)] == [None] * 3
        eventually(lambda: len(session._free) == 3)
    assert [each.sent for each in opened] == [2, 2, 2]
    session.close()
    assert all(each.closed.is_set() for each in opened)


def test_callers_of_a_pool_wait_for_a_connection(opened):
    session = Connections(Fake, 2, 5, {})
    assert session.in_flight == 5
    ended = begun(session, 5)
    eventually(lambda: sum(each.sent for each in opened) == 2)
    time.sleep(0.02)
    assert (sum(each.sent for each in opened), ended.qsize()) == (2, 0)
    for each in opened * 5:
        each.ends.put(None)
    assert [ended.get(timeout=5) for _ in range(5)] == [None] * 5
    session.close()


def test_an_error_means_what_its_own_session_says(opened):
    session = Connections(Fake, 2, 2, {})
    ended = begun(session, 2)
    opened[0].ends.put(ValueError("busy"))
    opened[1].ends.put(Broken())
    errors = [ended.get(timeout=5) for _ in range(2)]
    found = {type(each): session.classify(each) for each in errors}
    assert found == {ValueError: Failure.NOT_APPLIED, Broken: Failure.UNKNOWN}
    assert session.classify(ValueError("of nobody")) is Failure.UNKNOWN
    assert session.alive
    eventually(lambda: len(opened) == 3)  # a new one took the place of the lost one
    ended = begun(session, 2)
    for each in opened:
        each.ends.put(None)
    assert [ended.get(timeout=5) for _ in range(2)] == [None, None]
    session.close()
    assert all(each.closed.is_set() for each in opened)


def test_any_connection_answers(opened):
    def opening():
        session = Fake()
        session.run = lambda statement: [(statement, len(opened))]
        return session

    session = Connections(opening, 2, 2, {})
    assert session.run("asked") == [("asked", 2)]
    for each in opened:
        each.run = {}.__getitem__
    with pytest.raises(KeyError, match="asked"):
        session.run("asked")
    session.close()


def test_a_connection_that_cannot_be_replaced_is_the_loss_of_all(opened):
    down = threading.Event()

    def opening():
        if down.is_set():
            raise SetupError("the server is gone")
        return Fake()

    session = Connections(opening, 2, 2, {})
    down.set()
    ended = begun(session)
    end_all(opened, 2, Broken())
    assert isinstance(ended.get(timeout=5), Broken)
    assert not session.alive
    session.close()


def test_batches_that_wait_when_all_are_closed_end_as_not_sent_and_others_may_send_them(opened):
    meanings = {}
    session = Connections(Fake, 1, 3, meanings)
    ended = begun(session, 3)
    eventually(lambda: opened[0].sent)
    closing = threading.Thread(target=session.close)
    closing.start()
    eventually(lambda: not session._waiting)
    opened[0].ends.put(None)
    closing.join(5)
    assert not closing.is_alive()
    outcomes = [ended.get(timeout=5) for _ in range(3)]
    assert outcomes[0] is None
    other = Connections(Fake, 1, 3, meanings)
    assert {other.classify(error) for error in outcomes[1:]} == {Failure.NOT_APPLIED}
    assert not meanings
    other.close()


def test_one_that_cannot_be_opened_closes_the_others_and_its_error_is_raised(opened):
    numbers = iter(range(100))

    def opening():
        if next(numbers) == 3:
            raise SetupError("too many connections")
        return Fake()

    with pytest.raises(SetupError, match="too many connections"):
        Connections(opening, 50, 50, {})
    assert 3 <= len(opened) < 49  # once one has failed, no more are tried
    assert all(each.closed.is_set() for each in opened)


def test_only_some_are_opened_at_the_same_time(monkeypatch):
    monkeypatch.setattr(tested, "_OPENING", 2)
    at_once, most, lock = 0, 0, threading.Lock()

    def opening():
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.005)
        with lock:
            at_once -= 1
        return Fake()

    Connections(opening, 8, 8, {}).close()
    assert most == 2


def test_what_a_process_may_not_open_is_an_error_before_anything_is_opened(monkeypatch, opened):
    monkeypatch.setattr(tested, "allow_open_files", lambda wanted: wanted - 1)
    with pytest.raises(SetupError, match="5 connections may take 210 open files"):
        Connections(Fake, 5, 5, {})
    assert not opened


@pytest.mark.parametrize(
    ("limits", "wanted", "allowed"),
    [((1024, 4096), 500, 500), ((1024, 4096), 2000, 2000), ((1024, 4096), 9000, 4096),
     ((1024, -1), 9000, 9000), ((1024, 4096), sys.maxsize, 4096)],
)  # fmt: skip
def test_the_limit_of_open_files_is_raised_as_far_as_permitted(
    monkeypatch, limits, wanted, allowed
):
    found = []
    monkeypatch.setattr(host.resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(host.resource, "setrlimit", lambda _, new: found.append(new))
    assert host.allow_open_files(wanted) == allowed
    assert found == ([] if wanted <= limits[0] else [(allowed, limits[1])])
