"""Several connections of one worker, on every database: all rows are stored, each once."""

import threading
import time

import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange
from simulator.load.sender import Sender
from simulator.modules.base import BATCH
from simulator.protocol.spec import Several
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.comparison import verify
from tests.contract.harness import drop
from tests.contract.targets import STORING

ROWS, BATCH_ROWS = 400, 10


@pytest.mark.parametrize("several", [Several(connections=4), Several(connections=6, pool=2)])
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
    found = sender.meter.acknowledged(lambda instant_ns: instant_ns / 1e9)
    sender.close()

    assert (found.rows, found.sends) == (ROWS, ROWS // BATCH_ROWS)
    assert sender.connects
    database.visible(reader.tables)
    verdict = verify(database, dataset, (), VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict
