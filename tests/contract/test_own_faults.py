"""What workers make fail themselves: no acknowledged row is lost, and none is stored twice."""

import threading
import time
from contextlib import closing

import pytest

from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.load.faults.network import Network
from simulator.load.faults.outages import FaultSpells
from simulator.load.write.sender import Sender
from simulator.load.write.sending_process import SendingProcess
from simulator.modules.contract import BATCH, explain_unrelayed
from simulator.protocol.messages import Acknowledged
from simulator.protocol.pace import Clocking, paces_of
from simulator.protocol.spec import PlannedFault, Several, Weather
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import created
from tests.contract.targets import STORING

ROWS, BATCH_ROWS, ROWS_PER_S = 600, 10, 400.0
CUT = PlannedFault(name="cut-network", instants_s=(0.3,), lasts_s=0.6, network=Weather(is_cut=True))
KILL = PlannedFault(name="kill-worker", instants_s=(0.3,), lasts_s=0.6, kills_workers=True)
on_every_database = pytest.mark.parametrize(
    "target", [pytest.param(t, id=name) for name, t in STORING.items()]
)


def inserted(
    sender: Sender, spells: FaultSpells, dataset: Dataset, *, is_silent: bool = True
) -> Acknowledged:
    """Insert the rows while something fails for 0.6 s; return what was acknowledged."""
    with closing(sender):
        sender.start(when_measured=spells.begin, closely=True)
        sender.insert(dataset.ranges, BATCH, BATCH_ROWS, *paces_of(Clocking(), 0, 1, ROWS_PER_S))
        found = sender.meter.report_acknowledged(lambda instant_ns: instant_ns / 1e9)
    (span,) = spells.spans(lambda instant_ns: instant_ns / 1e9)
    assert 0.6 <= span.ended_s - span.began_s < 5
    # A busy machine takes a while to see what arrived just before.
    assert not is_silent or max(each.ended_s - each.began_s for each in found.silences) > 0.3
    return found


@on_every_database
def test_rows_pass_a_network_that_is_cut_for_a_moment(target, database):
    if reason := explain_unrelayed(database.options):
        assert ("no address" in reason) == database.capabilities.embedded
        return
    dataset = created(target, database, ROWS, BATCH_ROWS)
    reader = DatasetReader(dataset)
    with closing(Network(database, CUT)) as network:
        sender = Sender(network.database, reader, threading.Event(), retry_s=30.0)
        inserted(sender, network.spells, dataset, is_silent=not target.unanswered)

    uncertain = sender.failures.troubles().uncertain
    database.visible(reader.tables)
    verdict = verify(database, dataset, uncertain, VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict
    assert not uncertain


@on_every_database
@pytest.mark.parametrize("connections", [1, pytest.param(3, marks=pytest.mark.rare)])
def test_a_killed_worker_leaves_what_was_acknowledged(target, database, connections):
    """The process with its connections is killed, and another one goes on."""
    most = database.capabilities.max_workers
    if connections > 1 and (database.capabilities.embedded or most):
        return
    dataset = created(target, database, ROWS, BATCH_ROWS)
    reader, stop = DatasetReader(dataset), threading.Event()
    several = Several(connections=connections)
    with closing(SendingProcess(database, several, KILL, stop)) as process:
        sender = Sender(database, reader, stop, retry_s=30.0, elsewhere=process.session)
        found = inserted(sender, process.spells, dataset)
        assert process.cpu_s() > time.process_time()

    uncertain = sender.failures.troubles().uncertain
    assert found.rows + sender.failures.uncertain_rows == ROWS
    assert sender.failures.errors
    database.visible(reader.tables)
    verdict = verify(database, dataset, uncertain, VerifyMode.FULL)
    assert all(each.ok for each in verdict.checks), verdict
    unknown = (verdict.uncertain_present or 0) + (verdict.uncertain_absent or 0)
    assert unknown == sender.failures.uncertain_rows
    assert verdict.status is (Status.INCOMPLETE if verdict.uncertain_absent else Status.VERIFIED)
