"""Answers about rows that arrive, on every database: none lacks a row that was promised."""

import threading
import time

import pytest

from simulator.data import workloads
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.fresh import fresh_types
from simulator.data.ranges import RowRange
from simulator.data.workloads.devops.workload import Devops
from simulator.load.asker import Asker
from simulator.load.fresh import EveryAnswer, Moving
from simulator.load.send_log import SendLog
from simulator.load.sender import Sender
from simulator.modules.base import BATCH, Unsupported
from simulator.protocol.arrivals import Ticks
from simulator.protocol.spec import Ask
from simulator.verify.arriving import Answers, ArrivingRows, Sent, stored_since
from simulator.verify.fresh import check
from tests.contract.harness import drop
from tests.contract.targets import STORING
from tests.contract.test_mixed import PlainTags

SCALE, TICKS, BATCH_ROWS, BETWEEN_S = 4, 30, 10, 0.02
START_MS = (int(time.time()) - 3600) * 1000
TASK = Ask(place=0, every=1, runs=0)
SHARED = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if target.database.capabilities.max_workers != 1
    and not (target.stand_in and name.startswith("cratedb"))  # its times are wide's only
]


def nobody(*_):
    raise AssertionError("answers about fresh rows are reported in parts")


@pytest.mark.parametrize("target", SHARED)
def test_answers_have_what_was_acknowledged_and_nothing_that_was_not_sent(
    target, database, monkeypatch
):
    monkeypatch.setitem(workloads.WORKLOADS, PlainTags.name, PlainTags)
    fleet = PlainTags if target.module == "graphite" else Devops
    dataset = Dataset(
        workload=fleet.name, workload_version=fleet.version, seed=1, start_ms=START_MS,
        params={"scale": SCALE, "duration_ms": TICKS * 10_000}, parts=1,
        primary_key=database.capabilities.default_key,
    )  # fmt: skip
    reader = DatasetReader(dataset)
    types = {name: each for name, each in fresh_types(reader).items() if name.endswith("-cpu")}
    drop(database, reader.tables)
    database.create(reader.tables, BATCH_ROWS)
    log = SendLog(reader)

    def write():
        sender = Sender(database, reader, threading.Event())
        sender.start()
        sender.delivery.log = log
        for batch in sender.preparer.batches([RowRange(start=0, stop=SCALE * TICKS)], BATCH, 10):
            sender.delivery.deliver(batch, time.perf_counter_ns())
            time.sleep(BETWEEN_S)
        sender.delivery.end_all()
        sender.close()

    writer, stop = threading.Thread(target=write), threading.Event()
    since_ms = START_MS
    with database.connect() as session:
        answers, askers = {}, []
        for name, each in types.items():
            try:
                database.statement(each.since(START_MS))
            except Unsupported:
                continue
            answers[name] = EveryAnswer(name, each)
            moving = Moving(database, each, lambda: since_ms)
            askers.append(Asker(database, session, name, moving, answers[name], task=TASK))
        writer.start()
        while writer.is_alive():
            for asker in askers:
                asker.once(stop, nobody)
            since_ms = max(START_MS, (log.newest_ms() or 0) - 60_000)
        writer.join()
        database.visible(reader.tables)
        last = {name: EveryAnswer(name, types[name]) for name in answers}
        for name, kept in last.items():
            moving = Moving(database, types[name], lambda: START_MS)
            Asker(database, session, name, moving, kept, task=TASK).once(stop, nobody)
    stored = stored_since(reader, dataset, START_MS)
    rows = ArrivingRows(reader, Sent.of(log.parts(0, Ticks(), 0), stored))

    assert askers
    for name, all_of in answers.items():
        for kept, promised in ((all_of, not database.late), (last[name], True)):
            parts = [Answers.of(part, types[name]) for part in kept.parts(0, Ticks())]
            found = check(rows, types[name], parts, promised=promised)
            assert (found.wrong, found.right) == ([], found.answers), name
            assert found.answers == kept.count
    assert answers["fresh-count-cpu"].count > 2
    drop(database, reader.tables)
