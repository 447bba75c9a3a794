"""Several connections of one worker, on every database: each row is stored once, answers right."""

import threading
import time

import pytest

from simulator.data.query_type import always
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.load.ask.asker import asker_of
from simulator.load.ask.callers import callers_of
from simulator.load.connecting import session_of
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH
from simulator.protocol.spec import Ask, Several
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import drop, rendered
from tests.contract.targets import STORING

ROWS, BATCH_ROWS = 400, 10
EVERY = 7
"""Every seventh query of the wide workload is asked: test_contract.py asks all of them."""
OWN, POOL = Several(connections=4), Several(connections=6, pool=2)


@pytest.mark.parametrize("several", [OWN, pytest.param(POOL, marks=pytest.mark.rare)])
@pytest.mark.parametrize("target", [pytest.param(t, id=name) for name, t in STORING.items()])
def test_rows_of_several_connections_are_stored_once(target, database, several):
    if target.stand_in and target.module.startswith("cratedb"):
        pytest.skip("the stand-in's times are those of another workload")
    changes = {"start_ms": (int(time.time()) - 4 * 3600) * 1000, "params": {"tick_ms": 1000}}
    dataset = target.iot().model_copy(update=changes)
    dataset = dataset.with_ranges([RowRange(start=0, stop=ROWS)])
    reader = DatasetReader(dataset)
    drop(database, reader.tables)
    database.create(reader.tables, BATCH_ROWS)
    sender = Sender(database, reader, threading.Event(), several=several)
    sender.start()
    sender.insert(dataset.ranges, BATCH, BATCH_ROWS)
    found = sender.meter.report_acknowledged(lambda instant_ns: instant_ns / 1e9)
    sender.close()

    assert (found.rows, found.sends) == (ROWS, ROWS // BATCH_ROWS)
    assert sender.connects
    database.visible(reader.tables)
    verdict = verify(database, dataset, (), VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict


@pytest.mark.parametrize("several", [pytest.param(OWN, marks=pytest.mark.rare), POOL])
def test_answers_over_several_connections_are_right(target, database, several):
    wide = target.wide()
    wide.fill(database)
    found = {}

    def report(name, answers):
        found.setdefault(name, []).extend(answers.values())

    embedded = database.capabilities.embedded
    with session_of(database.connect, several, {}) as session:
        callers = callers_of(session, embedded=embedded)
        for name, query, _ in [*rendered(database, wide)][::EVERY]:
            task = Ask(place=0, every=1, runs=2 * several.connections)
            asker = asker_of(
                database, callers, name, always(query), task, stop=threading.Event(), report=report
            )
            times = asker.ask(0.0)
            assert times.runs == task.runs
            assert (times.cpu_s == 0) == embedded
            is_right = [*found[name]] == [wide.answer(query).rows]  # equal ones are kept once
            assert is_right == (name not in target.wrong), name
    assert found
