"""Senders: what they do when a batch fails, and what they count."""

import threading
import time

import numpy as np
import pytest

from simulator.data.block import Block, Values
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError, SetupError
from simulator.load.connecting import Stopped
from simulator.load.write import delivery, preparing
from simulator.load.write.delivery import MAX_ATTEMPTS, MAX_UNCERTAIN_SENDS
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH, SINGLE, Failure, Payload
from simulator.modules.null import Null, NullOptions
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.pace import Pace
from tests.unit import specs

pytestmark = pytest.mark.usefixtures("_no_waiting")


@pytest.fixture
def _no_waiting(monkeypatch):
    monkeypatch.setattr(delivery, "_BACKOFF_S", 0)
    monkeypatch.setattr(Database, "reconnect_s", 0)


class Failed(Exception):
    """A driver's error, whose meaning is known."""

    def __init__(self, failure, *, alive=True):
        super().__init__(f"scripted {failure}")
        self.failure = failure
        self.alive = alive


class Database(Null):
    """Takes rows as its script says: each send takes the next item, an error or None."""

    def __init__(self, script=(), connects=()):
        super().__init__(NullOptions())
        self.script = list(script)
        self.connects = list(connects)
        """What the connections after the first come to: an error, or None."""
        self.attempts = 0
        self.sessions = []
        self.stored = []

    def connect(self):
        if self.sessions and self.connects:
            error = self.connects.pop(0)
            if error:
                raise error
        self.sessions.append(Session(self))
        return self.sessions[-1]

    def explain(self, error):
        return f"the server said: {error}"


class Session:
    in_flight = 1
    makes_objects = False

    @property
    def is_usable(self):
        return self.alive and not self.is_outdated()

    @staticmethod
    def is_outdated():
        return False

    def __init__(self, database):
        self.database = database
        self.alive = True
        self.closed = False

    def close(self):
        self.closed = True

    def encode(self, block, mode, batch_rows):
        rows = block.rows.tolist()
        starts = range(0, len(rows), batch_rows)
        pieces = [rows[start : start + batch_rows] for start in starts]
        return [Payload(len(piece), mode, piece, 8 * len(piece)) for piece in pieces]

    def send(self, payload):
        assert self.alive
        assert not self.closed
        self.database.attempts += 1
        error = self.database.script.pop(0) if self.database.script else None
        if error:
            self.alive = error.alive
            raise error
        self.database.stored.append((payload.mode, payload.data))

    def classify(self, error):
        return error.failure


def reader(parts=1):
    dataset = specs.dataset(parts=parts)
    return DatasetReader(dataset)


def insert(database, rows=30, batch=10, *, parts=1, rate=0.0, stop=None, retry_s=0.0):
    sender = Sender(database, reader(parts), stop or threading.Event(), retry_s=retry_s)
    sender.start()
    sender.insert([lane_range(1, 0, rows)], BATCH, batch, Pace(rate))
    return sender


def counts(sender):
    """Return the rows that were acknowledged, the batches sent again, and the uncertain rows."""
    failures = sender.failures
    return sender.meter.rows, failures.retried, failures.uncertain_rows


def numbers(*sequences):
    return [LANE_ROWS + sequence for sequence in sequences]


NOT_APPLIED = Failed(Failure.NOT_APPLIED)
UNKNOWN = Failed(Failure.UNKNOWN)
FATAL = Failed(Failure.FATAL)


def test_every_row_is_sent_once_in_order():
    database = Database()
    sender = insert(database, rows=25)

    assert database.stored == [
        (BATCH, numbers(*range(10))),
        (BATCH, numbers(*range(10, 20))),
        (BATCH, numbers(*range(20, 25))),
    ]
    assert (sender.meter.rows, sender.meter.sends, sender.failures.retried) == (25, 3, 0)
    assert sender.meter.payload_bytes == 8 * 25


def test_a_batch_that_was_not_applied_is_sent_again_and_counts_once():
    """The second batch has an unknown outcome."""
    database = Database([NOT_APPLIED] * 3 + [None, UNKNOWN])
    sender = insert(database, rows=30)

    assert [data for _, data in database.stored] == [numbers(*range(10)), numbers(*range(20, 30))]
    assert sender.failures.uncertain == [RowRange(start=LANE_ROWS + 10, stop=LANE_ROWS + 20)]
    assert counts(sender) == (20, 3, 10)
    assert sender.meter.payload_bytes == 8 * 20
    assert merge_histogram([sender.meter.latency()]).get_total_count() == 2


def test_physical_tables_take_turns():
    database = Database()
    insert(database, rows=12, batch=2, parts=4)

    found = [data for _, data in database.stored]
    assert found[:4] == [numbers(n, n + 4) for n in range(4)]
    assert found[4:] == [numbers(n) for n in range(8, 12)]


@pytest.mark.parametrize("batch", [1, 7, 8192, 20_000])
def test_nothing_is_lost_whatever_the_batch(batch):
    database = Database()
    insert(database, rows=20_001, batch=batch)

    assert [row for _, data in database.stored for row in data] == numbers(*range(20_001))
    assert {len(data) for _, data in database.stored[:-1]} <= {batch}


def test_the_pauses_before_repeated_sends_are_added_and_are_not_the_clients_time(monkeypatch):
    monkeypatch.setattr(delivery, "_BACKOFF_S", 0.01)
    pauses_s = 0.01 + 0.02 + 0.01

    sender = insert(Database([NOT_APPLIED, NOT_APPLIED, None, NOT_APPLIED]))
    assert sender.spent.send_ns >= sender.spent.backoff_ns >= 1e9 * pauses_s
    assert insert(Database([None, UNKNOWN])).spent.backoff_ns == 0


def test_attempts_are_bounded():
    database = Database([NOT_APPLIED] * 100)
    with pytest.raises(RunError, match=f"failed {MAX_ATTEMPTS} times in a row.*the server said"):
        insert(database)

    assert database.attempts == MAX_ATTEMPTS


def test_with_a_time_to_retry_attempts_are_bounded_by_it_alone():
    database = Database([NOT_APPLIED] * 100)
    sender = insert(database, retry_s=60.0)

    assert (sender.failures.retried, sender.failures.errors, sender.meter.rows) == (100, 100, 30)
    assert [row for _, data in database.stored for row in data] == numbers(*range(30))


def test_the_time_to_retry_is_that_of_each_batch_and_ends():
    database = Database([*[NOT_APPLIED] * 20, None, *[NOT_APPLIED] * 500])

    def a_second_for_each_attempt():
        return float(database.attempts)

    sender = Sender(database, reader(), threading.Event(), a_second_for_each_attempt, 30.0)
    sender.start()
    with pytest.raises(RunError, match=r"failed 31 times in a row.*the server said"):
        sender.insert([lane_range(1, 0, 30)], BATCH, 10)

    assert sender.meter.rows == 10


def test_pauses_before_repeated_sends_grow_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(delivery, "_BACKOFF_S", 0.05)
    stop = Scheduled()
    insert(Database([NOT_APPLIED] * 50), rows=10, stop=stop, retry_s=3600.0)

    assert stop.waits_s[:7] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
    assert set(stop.waits_s[7:]) == {2.0}


def test_rows_of_unknown_fate_are_not_sent_again_however_long_retries_last():
    lost = Failed(Failure.UNKNOWN, alive=False)
    refused = SetupError("connection refused")
    sender = insert(Database([None, lost], connects=[refused] * 3 + [None]), retry_s=60.0)

    assert counts(sender) == (20, 0, 10)
    assert sender.spent.send_ns >= sender.spent.disconnected_ns >= 3 * 50_000_000
    assert sender.spent.backoff_ns == 0


def test_a_lost_connection_is_tried_for_the_time_to_retry():
    """The database itself asks for no time at all."""
    lost = Failed(Failure.NOT_APPLIED, alive=False)
    refused = SetupError("connection refused")
    database = Database([lost], connects=[refused] * 3 + [None])

    assert insert(database, retry_s=60.0).meter.rows == 30
    with pytest.raises(RunError, match="not restored within 0 s: connection refused"):
        insert(Database([lost], connects=[refused] * 100), retry_s=0.2)


class Rotated(Database):
    """Refuses the login of the first connection after a batch; rotated after so many attempts."""

    def __init__(self, after):
        super().__init__()
        self.refusals, self.after = 0, after

    def explain(self, error):
        return "401; check the credentials"

    def connect(self):
        session = super().connect()
        if len(self.sessions) == 1:
            accepted = session.send
            session.send = lambda payload: self.refuse() if self.stored else accepted(payload)
        return session

    def refuse(self):
        self.refusals += 1
        if self.refusals == self.after:
            self.options = self.options.renew({})
        raise Failed(Failure.FATAL)


@pytest.mark.parametrize(("after", "retry_s"), [(1, 0.0), (1, 60.0), (20, 60.0)])
def test_a_login_that_was_rotated_is_replaced_and_the_batch_sent_again(after, retry_s):
    database = Rotated(after)
    sender = insert(database, retry_s=retry_s)

    assert [row for _, data in database.stored for row in data] == numbers(*range(30))
    assert (database.refusals, len(database.sessions)) == (after, 2)
    assert (sender.failures.retried, sender.failures.uncertain) == (after, [])


def test_a_login_that_is_refused_ends_the_run_at_once():
    with pytest.raises(RunError, match="insert failed: 401; check the credentials"):
        insert(Rotated(after=2))


def test_the_first_connection_is_tried_for_the_time_to_retry():
    class Late(Database):
        refused = 2

        def connect(self):
            self.refused -= 1
            if self.refused >= 0:
                raise SetupError("connection refused")
            return super().connect()

    assert insert(Late(), retry_s=60.0).meter.rows == 30
    with pytest.raises(SetupError, match="connection refused"):
        insert(Late())


def test_attempts_are_counted_separately_for_each_batch():
    failures = [NOT_APPLIED] * (MAX_ATTEMPTS - 1)
    database = Database([*failures, None, *failures, None])
    sender = insert(database, rows=20)

    assert (sender.failures.retried, sender.meter.rows) == (2 * (MAX_ATTEMPTS - 1), 20)


@pytest.mark.parametrize(
    ("rows", "batch", "expected"),
    [(40, 5, [1, 5, 9, 13, 17]), (6, 5, [1, 5]), (40, 1, [1])],
)
def test_uncertain_rows_of_one_of_four_tables_are_every_fourth(rows, batch, expected):
    sender = insert(Database([None, UNKNOWN]), rows=rows, batch=batch, parts=4)
    (uncertain,) = sender.failures.uncertain

    assert list(uncertain.numbers()) == numbers(*expected)
    assert sender.failures.uncertain_rows == len(expected)


def test_uncertain_sends_are_bounded():
    database = Database([UNKNOWN] * 1000)
    with pytest.raises(RunError, match=f"more than {MAX_UNCERTAIN_SENDS} batches"):
        insert(database, rows=10_000)

    assert database.attempts == MAX_UNCERTAIN_SENDS + 1


def test_a_fatal_error_ends_the_run_in_the_servers_words():
    database = Database([FATAL])
    with pytest.raises(RunError, match="insert failed: the server said: scripted fatal"):
        insert(database)

    assert database.attempts == 1


def test_a_lost_connection_is_opened_again_and_the_rows_sent_again():
    database = Database([None, Failed(Failure.NOT_APPLIED, alive=False)])
    sender = insert(database)

    assert [session.closed for session in database.sessions] == [True, False]
    assert [row for _, data in database.stored for row in data] == numbers(*range(30))
    assert sender.failures.retried == 1


def test_a_server_that_comes_back_in_time_is_waited_for(monkeypatch):
    monkeypatch.setattr(Database, "reconnect_s", 60)
    refused = SetupError("connection refused")
    database = Database(
        [Failed(Failure.NOT_APPLIED, alive=False)], connects=[refused, refused, None]
    )

    assert insert(database).meter.rows == 30


@pytest.mark.parametrize("failure", [Failure.NOT_APPLIED, Failure.UNKNOWN])
def test_a_connection_that_is_not_regained_ends_the_run(failure):
    database = Database(
        [Failed(failure, alive=False)], connects=[SetupError("connection refused")] * 1000
    )
    sender = Sender(database, reader(), threading.Event())
    with pytest.raises(RunError, match=r"lost \(the server said: .*\).*connection refused"):
        sender.insert([lane_range(1, 0, 30)], BATCH, 10)

    uncertain = 10 if failure is Failure.UNKNOWN else 0
    assert sender.failures.uncertain_rows == uncertain


def test_nothing_is_sent_after_the_end():
    stop = threading.Event()
    stop.set()
    database = Database()
    with pytest.raises(Stopped):
        insert(database, stop=stop)

    assert database.attempts == 0


def test_the_end_is_not_kept_waiting_by_a_lost_server(monkeypatch):
    monkeypatch.setattr(Database, "reconnect_s", 60)
    stop = threading.Event()
    database = Database()

    def refuse():
        stop.set()
        raise SetupError("connection refused")

    sender = Sender(database, reader(), stop)
    database.script.append(Failed(Failure.NOT_APPLIED, alive=False))
    monkeypatch.setattr(database, "connect", refuse)
    with pytest.raises(Stopped):
        sender.insert([lane_range(1, 0, 30)], BATCH, 10)

    assert database.stored == []


def test_prefill_is_in_batches_and_not_part_of_the_measurement():
    database = Database([NOT_APPLIED])
    sender = Sender(database, reader(), threading.Event())
    prefilled = sender.prefill([lane_range(1, 0, 15)], 10)
    sender.start()
    sender.insert([lane_range(1, 15, 2)], SINGLE, 1)

    assert prefilled == 15
    assert [mode for mode, _ in database.stored] == [BATCH, BATCH, SINGLE, SINGLE]
    assert (sender.meter.rows, sender.meter.sends, sender.failures.retried) == (2, 2, 0)


def test_uncertain_rows_of_the_prefill_stay_uncertain():
    sender = Sender(Database([UNKNOWN]), reader(), threading.Event())
    sender.prefill([lane_range(1, 0, 10)], 10)
    sender.start()

    assert sender.failures.uncertain == [RowRange(start=LANE_ROWS, stop=LANE_ROWS + 10)]


class Scheduled(threading.Event):
    """Notes how long it was to be waited for, and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits_s = []

    def wait(self, timeout=None):
        self.waits_s.append(timeout)
        return False


def test_a_rate_spaces_the_sends_out():
    stop = Scheduled()
    insert(Database(), rows=30, batch=10, rate=0.01, stop=stop)

    assert [round(wait_s, -2) for wait_s in stop.waits_s] == [1000, 2000]


def test_latency_is_measured_from_when_a_send_was_due():
    """At this rate every send is due at the start, so the last one waited for all before it."""
    sender = insert(Database(), rows=3000, batch=1, rate=1e12)
    histogram = merge_histogram([sender.meter.latency()])
    whole_us = (sender.meter.last_ns - sender.meter.start_ns) / 1000

    assert histogram.get_max_value() == pytest.approx(whole_us, rel=0.01)


def test_the_second_of_two_workers_sends_half_an_interval_later():
    def first_due(turn):
        sender = Sender(Database(), reader(), threading.Event())
        sender.start()
        dues = []
        sender.delivery.deliver = lambda *sent: dues.append(sent[-1])
        sender.insert([lane_range(1, 0, 20)], BATCH, 10, Pace(1e6, turn))
        return dues[0] - sender.meter.start_ns

    assert (first_due(0.0), first_due(0.5)) == (0, 5_000)


def test_batches_behind_schedule_are_not_sent_after_the_end():
    class Slow(Database):
        def connect(self):
            session = super().connect()
            send = session.send
            session.send = lambda payload: (time.sleep(0.02), send(payload))
            return session

    sender = Sender(Slow(), reader(), threading.Event())
    sender.start()
    sender.insert([lane_range(1, 0, 10_000)], BATCH, 10, Pace(10_000.0, 0.0, 0.2))

    meter = sender.meter
    assert 10 <= meter.rows <= 110
    # Of 200 due batches, those that were not sent are at least as late as the end.
    assert meter.sends + meter.unsent == 200
    histogram = merge_histogram([meter.latency()])
    assert histogram.get_total_count() == 200
    late_us = 1e6 * (0.2 - meter.sends / 1000)
    assert histogram.get_max_value() >= 0.99 * late_us
    assert meter.due_until_ns == meter.start_ns + meter.sends * 1_000_000


@pytest.mark.parametrize(
    ("batch_rows", "rate", "in_flight", "rows"),
    [
        (100, 0, 1, 8200),
        (500, 0, 1, 136_000),  # the first multiple of 8,000 rows with 2**22 bytes, 32 each
        (5000, 1e9, 1, 10_000),
        (5000, 0, 2, 10_000),
        (200_000, 0, 1, 200_000),
    ],
)
def test_long_batches_share_the_cost_of_a_block_and_others_do_not_wait_for_it(
    monkeypatch, batch_rows, rate, in_flight, rows
):
    sender = Sender(Database(), reader(), threading.Event())
    connection, encoded, before_first = sender._connection, [], []
    encode = connection.session.encode

    def counted(block, mode, batch_rows):
        encoded.append(len(block))
        return encode(block, mode, batch_rows)

    monkeypatch.setattr(connection.session, "encode", counted)
    monkeypatch.setattr(connection, "in_flight", in_flight)
    monkeypatch.setattr(sender.delivery, "deliver", lambda *_: before_first.append(sum(encoded)))
    sender.start()
    sender.insert([lane_range(0, 0, 400_000)], BATCH, batch_rows, Pace(rate))

    assert before_first[0] == rows
    assert sum(encoded) == 400_000


def test_wide_rows_are_not_made_far_ahead():
    wide = Values(np.zeros(8000, "S10000"))
    block = [Block(EVENTS, 0, np.arange(8000), {"note": wide})]
    sender = Sender(Null(NullOptions()), reader(), threading.Event())
    blocks = iter([block, block])

    assert len(sender.preparer.make(blocks, BATCH, 1000, preparing.AHEAD_BYTES)) == 8
    assert next(blocks) is block


def test_python_objects_are_not_made_far_ahead():
    sender = Sender(Null(NullOptions(encode="objects")), reader(), threading.Event())
    assert sender.preparer.ahead_bytes(1000) < preparing.AHEAD_BYTES


def warmed_up(warmup_s, **pace):
    """Send a row every 50 ms; return the sender, and what it had spent when the warm-up ended."""
    spent = []
    sender = Sender(Database(), reader(), threading.Event())
    sender.start(warmup_s, lambda: spent.append((sender.spent.idle_ns, sender.meter.rows)))
    try:
        sender.insert([lane_range(0, 0, 20)], SINGLE, 1, Pace(rate_per_s=20.0, **pace))
    finally:
        sender.close()
    return sender, spent


def test_a_warm_up_is_sent_and_left_out_of_every_measurement():
    sender, spent = warmed_up(0.5)

    assert (sender.meter.rows, sender.meter.warmup_rows, sender.meter.sends) == (20, 10, 10)
    assert spent == [(0, 10)]
    assert 0 < sender.spent.idle_ns < 0.95e9
    assert sender.measured_ns >= sender.meter.start_ns + 0.5e9


def test_the_warm_up_can_be_ended_from_another_thread():
    """The duration begins then, and what was due before is in no figure."""
    sender = Sender(Database(), reader(), threading.Event())
    sender.start(60.0)
    start_ns = sender.meter.start_ns
    threading.Timer(0.1, lambda: sender.measure_from(start_ns + int(0.5e9))).start()
    try:
        pace = Pace(rate_per_s=20.0, duration_s=0.25)
        sender.insert([lane_range(0, 0, 100)], SINGLE, 1, pace)
    finally:
        sender.close()

    assert sender.meter.warmup_rows == 10
    assert 10 < sender.meter.rows <= 15  # fewer, if the machine stands still at the end
    assert sender.measured_ns >= start_ns + 0.5e9


def test_a_warm_up_that_is_over_is_not_ended_again():
    sender = Sender(Database(), reader(), threading.Event())
    sender.start(0.0)
    before = sender.meter.measured_ns
    sender.measure_from(before - 1)
    sender.close()

    assert sender.meter.measured_ns == before


def test_a_warm_up_whose_end_was_heard_late_ends_at_once():
    sender = Sender(Database(), reader(), threading.Event())
    sender.start(60.0)
    heard_ns = time.perf_counter_ns()
    sender.measure_from(sender.meter.start_ns)
    ended_ns = sender.meter.measured_ns
    sender.measure_from(sender.meter.start_ns)
    sender.close()

    assert heard_ns <= ended_ns <= time.perf_counter_ns()
    assert sender.meter.measured_ns == ended_ns


def test_a_sender_that_is_done_within_the_warm_up_has_measured_nothing():
    sender, spent = warmed_up(60.0)

    assert (sender.measured_ns, spent) == (0, [])
    assert (sender.meter.rows, sender.meter.warmup_rows, sender.meter.sends) == (20, 20, 0)
    assert sender.spent.idle_ns == sender.spent.send_ns == sender.spent.generate_ns == 0


@pytest.mark.parametrize(("rate", "waits"), [(1e6, False), (0.0, True)])
def test_what_is_due_at_the_start_of_a_schedule_is_prepared_before(rate, waits):
    sender = Sender(Database(), reader(), threading.Event())
    session, ranges = sender._connection.session, [lane_range(1, 0, 20)]
    encode = session.encode
    session.encode = lambda *block: (time.sleep(0.2), encode(*block))[1]
    batches = sender.prepare(ranges, BATCH, 10, Pace(rate))
    sender.start()
    sender.send(batches, 10, Pace(rate))

    assert (sender.meter.last_ns - sender.meter.start_ns > 0.2e9) is waits
    assert sender.preparer.list_written(ranges) == tuple(ranges)
