"""The process that sends a worker's batches: killed, started again, and ended with its worker."""

import sqlite3
import threading
from contextlib import closing
from queue import SimpleQueue

import psutil
import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.errors import SetupError
from simulator.load.connecting import FailedElsewhere, Stopped
from simulator.load.write.sender import Sender
from simulator.load.write.sending_process import SendingProcess
from simulator.modules import open_database
from simulator.modules.contract import BATCH, Failure
from simulator.protocol.spec import PlannedFault, Several
from tests.unit.specs import dataset

ROWS, BATCH_ROWS = 100, 10
IOT = dataset(primary_key=PrimaryKey.DB)
NEVER = PlannedFault(name="kill-worker", instants_s=(1000.0,), lasts_s=1.0, kills_workers=True)
SOON = NEVER.model_copy(update={"instants_s": (0.5,), "lasts_s": 0.3})


@pytest.fixture
def database(tmp_path):
    found = open_database("sqlite", {"path": str(tmp_path / "bench.db")}, {})
    found.create(DatasetReader(IOT).tables, BATCH_ROWS)
    return found


def sender_of(database, process):
    return Sender(
        database, DatasetReader(IOT), threading.Event(), retry_s=20, elsewhere=process.session
    )


def stored(database):
    with closing(sqlite3.connect(database.options.path)) as connection:
        return connection.execute("SELECT count(*) FROM events").fetchone()[0]


def opened_until_stopped(process):
    while True:
        process.session(0.0).close()


def children():
    return [each for each in psutil.Process().children() if "sending" in " ".join(each.cmdline())]


def test_a_batch_in_flight_is_of_unknown_outcome_and_the_rest_is_sent_by_the_next_process(database):
    """The table is locked, so that the first batch is in flight when the process is killed."""
    lock = sqlite3.connect(database.options.path, isolation_level=None, check_same_thread=False)
    with (
        closing(SendingProcess(database, Several(), SOON, threading.Event())) as process,
        closing(lock),
    ):
        with closing(sender_of(database, process)) as sender:
            lock.execute("BEGIN IMMEDIATE")
            unlocked = threading.Timer(1.0, lock.execute, ["ROLLBACK"])
            unlocked.start()
            sender.start(when_measured=process.spells.begin)
            sender.insert([RowRange(start=0, stop=ROWS)], BATCH, BATCH_ROWS)
            unlocked.join()

        assert sender.failures.uncertain_rows == BATCH_ROWS
        assert sender.meter.rows == stored(database) == ROWS - BATCH_ROWS
        assert "killed" in sender.failures.uncertain_cause
        ((began_s, ended_s),) = [
            (span.began_s, span.ended_s) for span in process.spells.spans(lambda ns: ns / 1e9)
        ]
        assert ended_s - began_s >= SOON.lasts_s
    assert children() == []


def test_what_a_killed_process_had_encoded_is_encoded_again(database):
    reader, stop = DatasetReader(IOT), threading.Event()
    (block,) = next(iter(reader.blocks([RowRange(start=0, stop=ROWS)])))
    with closing(SendingProcess(database, Several(), NEVER, stop)) as process:
        first = process.session(1.0)
        payloads = first.encode(block, BATCH, BATCH_ROWS)
        first.send(payloads[0])
        (child,) = children()
        child.kill()
        child.wait()
        with pytest.raises(FailedElsewhere) as failed:
            first.send(payloads[1])
        first.close()
        second = process.session(1.0)
        for payload in payloads[1:]:
            second.send(payload)
        second.close()

    assert first.classify(failed.value) in (Failure.NOT_APPLIED, Failure.UNKNOWN)
    assert not first.alive
    assert [each.rows for each in payloads] == [BATCH_ROWS] * (ROWS // BATCH_ROWS)
    assert {each.size_bytes for each in payloads} == {
        each.size_bytes for each in payloads_here(database, block)
    }
    assert stored(database) == ROWS


def test_batches_of_many_connections_end_at_once(database):
    reader, stop = DatasetReader(IOT), threading.Event()
    (block,) = next(iter(reader.blocks([RowRange(start=0, stop=ROWS)])))
    ended = SimpleQueue()
    with closing(SendingProcess(database, Several(connections=8), NEVER, stop)) as process:
        session = process.session(1.0)
        for payload in session.encode(block, BATCH, 1):
            session.begin(payload, ended.put)
        errors = [ended.get(timeout=20) for _ in range(ROWS)]
        session.close()

    assert errors == [None] * ROWS
    assert stored(database) == ROWS


def payloads_here(database, block):
    with database.connect() as session:
        return session.encode(block, BATCH, BATCH_ROWS)


def test_a_database_that_cannot_be_reached_is_named(tmp_path):
    database = open_database("sqlite", {"path": str(tmp_path / "none" / "bench.db")}, {})
    (tmp_path / "none").write_text("")

    never = SendingProcess(database, Several(), NEVER, threading.Event())
    with closing(never) as process, pytest.raises(SetupError, match=r"^sqlite: .*none"):
        process.session(0.0)

    assert children() == []


def test_the_end_of_the_run_is_noticed_while_no_process_may_run(database):
    stop = threading.Event()
    lasting = NEVER.model_copy(update={"instants_s": (0.0,), "lasts_s": 1000.0})
    with closing(SendingProcess(database, Several(), lasting, stop)) as process:
        process.spells.begin()
        threading.Timer(0.3, stop.set).start()
        with pytest.raises(Stopped):
            opened_until_stopped(process)

    assert process.spells.over.is_set()
