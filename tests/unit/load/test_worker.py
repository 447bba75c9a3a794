"""A worker reports what it has done, also when it did not get to the end."""

import threading
import time
from base64 import b64decode
from dataclasses import replace

import pytest

from simulator.clock import OwnClock
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.errors import RunError
from simulator.host import boot_id
from simulator.load import worker
from simulator.load.faults.network import Network
from simulator.load.worker import Worker
from simulator.modules.contract import BATCH, Failure
from simulator.modules.null import Null, NullOptions, NullSession
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.folding import FoldReply
from simulator.protocol.messages import Reply
from simulator.protocol.spec import Ask, InsertTask, QueryLoad, Ramp, Work
from simulator.verify.truth.folding import truths
from simulator.verify.truth.needed import statistics_of
from simulator.verify.truth.oracle import Oracle
from tests.unit.specs import dataset, run_spec


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

    def fold_task(self, folded):
        return FoldReply(over=True)


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


def report_of(database, client=None, batch_rows=1000):
    timed = lane_range(0, 3000, 5000 if batch_rows > 1 else 50)
    plan = InsertTask(prefill=(lane_range(0, 0, 3000),), timed=(timed,))
    spec = run_spec(workers=(plan,), mode=BATCH, batch_rows=batch_rows)
    client = client or Client()
    done = Worker(spec, client, 0, OwnClock(), Network(database, None)).run()
    (report,) = client.reports
    return done, report


def test_a_worker_reports_prefilled_and_timed_rows_apart():
    done, report = report_of(Failing(sends=100))

    assert (done, report.error) == (True, None)
    assert (report.prefill_rows, report.rows, report.sends) == (3000, 5000, 5)


def test_a_prefill_has_batches_of_the_modules_size_whatever_the_timed_ones_have():
    class Large(Failing):
        capabilities = replace(Null.capabilities, prefill_rows=1500)

    database = Large(sends=100)
    done, report = report_of(database, batch_rows=1)

    assert (done, report.prefill_rows, report.rows) == (True, 3000, 50)
    assert 100 - database.sends == 3000 / 1500 + 50


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


# --- after the report -----------------------------------------------------------------------------

MORE = lane_range(9, 0, 3000)


class Asking(Client):
    """A collector that has tasks folded; `spoilt` ends it instead."""

    def __init__(self, *given, spoilt=None):
        super().__init__()
        self.given, self.spoilt, self.folded = [*given], spoilt, []

    def fold_task(self, folded):
        assert self.reports
        self.folded.append(folded)
        if self.spoilt:
            raise self.spoilt
        return self.given.pop(0) if self.given else FoldReply(over=True)


def test_a_worker_that_has_reported_folds_what_the_collector_gives():
    halves = lane_range(9, 0, 1000), lane_range(9, 1000, 2000)
    client = Asking(
        FoldReply(number=4, queries=(("", 0),), ranges=halves[:1]),
        FoldReply(),
        FoldReply(number=7, queries=(("", 0),), ranges=halves[1:]),
    )
    done, report = report_of(Failing(sends=100), client)
    first, *folded = client.folded
    source = dataset(ranges=(MORE,))
    query = statistics_of(DatasetReader(source).tables[0])
    total = Oracle([query])
    for each in (folded[0], folded[2]):
        total.merge(total.from_bytes(b64decode(each.content)))

    assert (done, report.error, first, folded[1]) == (True, None, None, None)
    assert [each.number for each in (folded[0], folded[2])] == [4, 7]
    assert total.truth(query) == truths([query], source)[query]


@pytest.mark.parametrize("spoilt", [RunError("the collector refused /fold"), OSError("x")])
def test_a_worker_that_cannot_help_has_done_its_part(capsys, spoilt):
    done, report = report_of(Failing(sends=100), Asking(spoilt=spoilt))

    assert (done, report.error) == (True, None)
    assert capsys.readouterr().err == f"cannot help the collector: {spoilt}\n"


def test_a_worker_that_has_failed_does_not_help():
    client = Asking()
    report_of(Failing(sends=2), client)

    assert client.folded == []


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


class Ramped(Client):
    """A collector whose ramps of `over` end before the worker is let in."""

    def __init__(self, *over):
        super().__init__()
        self.ended = over
        self.over = ""
        self.asked = []

    def post(self, path, message):
        if path == "/barrier":
            self.asked.append(message.barrier)
            self.over = message.barrier if message.barrier in self.ended else self.over
        if path == "/heartbeat" and message.runs:
            self.over = message.phase
        return super().post(path, message).model_copy(update={"over": self.over})

    def answers(self, query, found):
        pass


RAMP = Ramp(step=1, interval_s=1.0, window_s=1.0, limit_s=0.1)


@pytest.fixture
def asking(tmp_path):
    """Return the report of a worker that asks queries of a real file."""
    database = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))
    database.create(DatasetReader(dataset()).tables, 0)

    def ask(client, *names, runs=0, ramp=RAMP):
        load = QueryLoad(queries=dict.fromkeys(names, ""), ramp=ramp)
        tasks = (Ask(place=0, every=1, runs=runs),)
        spec = run_spec(work=Work.QUERY, workers=tasks, load=load)
        assert Worker(spec, client, 0, OwnClock(), Network(database, None)).run()
        (report,) = client.reports
        return report

    return ask


def test_a_worker_asks_only_the_queries_whose_ramps_it_takes_part_in(asking, monkeypatch):
    monkeypatch.setattr(worker, "heartbeat_s", lambda _: 0.01)
    names = ("count-events", "temperature-min-max", "temperature-stats")
    client = Ramped(names[1])
    report = asking(client, *names)

    assert (report.error, client.asked) == (None, [*names])
    assert [times.name for times in report.queries] == [names[0], names[2]]


def test_a_worker_that_is_never_let_in_reports_nothing(asking):
    report = asking(Ramped("count-events"), "count-events")

    assert (report.queries, report.started_s) == ((), None)


class Later(Ramped):
    """A collector that lets the worker begin a little later."""

    begin_s = 0.0

    def post(self, path, message):
        reply = super().post(path, message)
        self.begin_s = self.begin_s or time.time() + 0.3
        return reply.model_copy(update={"begin_s": self.begin_s}) if path == "/barrier" else reply


def test_a_worker_begins_when_the_collector_says(asking):
    client = Later()
    report = asking(client, "count-events", runs=1, ramp=None)

    assert 0 <= report.started_s - client.begin_s < 0.2


@pytest.mark.parametrize(("warmup_s", "counts"), [(0.0, True), (0.05, False)])
def test_computing_before_the_start_of_a_schedule_counts_for_what_is_due_then(warmup_s, counts):
    class Busy(NullSession):
        def encode(self, *block):
            until_s = time.process_time() + 0.3
            while time.process_time() < until_s:
                pass
            return super().encode(*block)

    class Computing(Null):
        def connect(self):
            return Busy(self.options.encode)

    plan = InsertTask(timed=(lane_range(0, 0, 100),))
    spec = run_spec(
        workers=(plan,), mode=BATCH, batch_rows=10, warmup_s=warmup_s, rows_per_s=1000.0
    )
    client = Client()
    assert Worker(spec, client, 0, OwnClock(), Network(Computing(NullOptions()), None)).run()
    (report,) = client.reports

    assert (report.cpu_s >= 0.3) is counts
