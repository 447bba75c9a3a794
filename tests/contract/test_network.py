"""The network between a worker and each database is cut for a moment, and no row is lost."""

import threading
import time
from contextlib import closing

import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange
from simulator.load.network import Network
from simulator.load.pace import paces_of
from simulator.load.sender import Sender
from simulator.modules.addresses import unrelayed
from simulator.modules.base import BATCH
from simulator.protocol.spec import Clocking, PlannedFault, Weather
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.comparison import verify
from tests.contract.harness import drop
from tests.contract.targets import STORING

ROWS, BATCH_ROWS, ROWS_PER_S = 600, 10, 400.0
CUT = PlannedFault(name="cut-network", instants_s=(0.3,), lasts_s=0.6, network=Weather(is_cut=True))


@pytest.mark.parametrize("target", [pytest.param(t, id=name) for name, t in STORING.items()])
def test_rows_pass_a_network_that_is_cut_for_a_moment(target, database):
    if target.stand_in and target.module.startswith("cratedb"):
        pytest.skip("the stand-in's times are those of another workload")
    if reason := unrelayed(database.options):
        assert ("no address" in reason) == database.capabilities.embedded
        return
    changes = {"start_ms": (int(time.time()) - 4 * 3600) * 1000, "params": {"tick_ms": 1000}}
    dataset = target.iot().model_copy(update=changes)
    dataset = dataset.with_ranges([RowRange(start=0, stop=ROWS)])
    reader = DatasetReader(dataset)
    drop(database, reader.tables)
    database.create(reader.tables, BATCH_ROWS)
    with closing(Network(database, CUT)) as network:
        sender = Sender(network.database, reader, threading.Event(), retry_s=30.0)
        sender.start(when_measured=network.begin, closely=True)
        sender.insert(dataset.ranges, BATCH, BATCH_ROWS, *paces_of(Clocking(), 0, 1, ROWS_PER_S))
        found = sender.meter.acknowledged(lambda instant_ns: instant_ns / 1e9)
        sender.close()
        (cut,) = network.faults(lambda instant_ns: instant_ns / 1e9)

    uncertain = sender.failures.troubles().uncertain
    assert 0.6 <= cut.ended_s - cut.began_s < 5
    assert max(each.ended_s - each.began_s for each in found.silences) > 0.5
    database.visible(reader.tables)
    verdict = verify(database, dataset, uncertain, VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict
    assert not uncertain
