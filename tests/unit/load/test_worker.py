"""A worker reports what it has done, also when it did not get to the end."""

import threading

from simulator.clock import OwnClock
from simulator.data.ranges import RowRange, lane_range
from simulator.errors import RunError
from simulator.host import boot_id
from simulator.load.worker import Worker
from simulator.modules.base import Failure
from simulator.modules.null import Null, NullOptions, NullSession
from simulator.protocol.messages import PortionReply, Reply
from simulator.protocol.spec import WorkerPlan
from tests.unit.specs import run_spec


class Client:
    """A collector that lets everybody go on."""

    clock_offset_s = 0.0

    def __init__(self):
        self.reports = []

    def post(self, path, message):
        if path == "/report":
            self.reports.append(message)
        return Reply(now_s=0.0, boot_id=boot_id())

    def give_up(self):
        pass

    def repeat_nothing(self):
        pass

    def portion(self, folded):
        return PortionReply(over=True)


class Losing(Client):
    """A collector that is gone for a moment while rows are inserted."""

    def __init__(self):
        super().__init__()
        self.lost = threading.Event()

    def post(self, path, message):
        if path == "/heartbeat" and message.phase == "insert":
            self.lost.set()
            raise RunError("the collector cannot be reached")
        return super().post(path, message)


class Failing(Null):
    """Takes some sends; then comes an error."""

    def __init__(self, sends, failure=Failure.FATAL):
        super().__init__(NullOptions())
        self.sends = sends
        self.failure = failure

    def connect(self):
        return FailingSession(self)


class FailingSession(NullSession):
    def __init__(self, database):
        super().__init__(database.options.encode)
        self._database = database

    def send(self, payload):
        self._database.sends -= 1
        if self._database.sends < 0:
            raise OSError("disk is full")

    def classify(self, error):
        return self._database.failure


def report_of(database, client=None):
    plan = WorkerPlan(prefill=(lane_range(0, 0, 3000),), timed=(lane_range(0, 3000, 5000),))
    spec = run_spec(
        workers=(plan,),
        batch_rows=1000,
    )
    client = client or Client()
    done = Worker(spec, database, client, 0, OwnClock()).run()
    (report,) = client.reports
    return done, report


def test_a_worker_reports_prefilled_and_timed_rows_apart():
    done, report = report_of(Failing(sends=100))

    assert (done, report.error) == (True, None)
    assert (report.prefill_rows, report.rows, report.sends) == (3000, 5000, 5)


def test_a_prefill_that_fails_is_reported_as_far_as_it_came():
    done, report = report_of(Failing(sends=2))

    assert (done, report.error) == (False, "insert failed: OSError: disk is full")
    assert (report.prefill_rows, report.rows) == (2000, 0)


def test_an_insert_that_fails_is_reported_as_far_as_it_came():
    done, report = report_of(Failing(sends=3 + 4))

    assert not done
    assert (report.prefill_rows, report.rows) == (3000, 4000)
    assert sum(report.rows_by_second) == 4000


def test_uncertain_rows_are_reported():
    done, report = report_of(Failing(sends=3 + 4, failure=Failure.UNKNOWN))

    assert done
    assert report.uncertain == (RowRange(start=7000, stop=8000),)
    assert report.rows == 4000


class WaitingSession(FailingSession):
    def send(self, payload):
        if self._database.sends == 100 - 4:
            self._database.lost.wait(10)
        super().send(payload)


def test_a_worker_that_has_lost_the_collector_does_not_claim_to_be_done():
    client = Losing()
    database = Failing(sends=100)
    database.lost = client.lost
    database.connect = lambda: WaitingSession(database)
    done, report = report_of(database, client)

    assert (done, report.error) == (False, "the collector cannot be reached")
    assert report.rows < 5000
