"""A server, or the process of an embedded engine, is killed: are the acknowledged rows stored?

The outcome goes into the evidence. Rows may be lost only where `Target.may_lose` declares it.
"""

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.modules.contract import BATCH, Failure, Payload, Session
from simulator.modules.evidence import Kill
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests import ROOT
from tests.contract.targets import STORING

WRITERS = 3
ROWS_PER_BATCH = 100
BATCHES_BEFORE = 30
"""Batches that are acknowledged, over all writers, before the server is killed."""
NOTICED_S = 30
"""Time in which a driver notices that its server is gone."""

BY_SERVERS = [
    pytest.param(t, id=n)
    for n, t in STORING.items()
    if t.server and not (t.stand_in or t.unanswered or t.redundant)
]

EMBEDDED = [pytest.param(t, id=n) for n, t in STORING.items() if t.database.capabilities.embedded]
DIES = """
import json, os, signal, sys
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.ranges import lane_range
from simulator.modules import database_class
from simulator.modules.contract import BATCH

module, options, dataset = json.loads(sys.argv[1])
cls = database_class(module)
session = cls(cls.options_model(**options)).connect()
for (batch,) in DatasetReader(Dataset.model_validate(dataset)).blocks([lane_range(0, 0, 1000)]):
    for payload in session.encode(batch, BATCH, 100):
        session.send(payload)
os.kill(os.getpid(), signal.SIGKILL)
"""


class Writer(threading.Thread):
    """Sends the rows of one lane until it fails; counts acknowledged and uncertain rows."""

    def __init__(self, session: Session, dataset: Dataset, lane: int) -> None:
        super().__init__(daemon=True)
        self.session = session
        self.acknowledged = lane_range(lane, 0, 0)
        self.uncertain: list[RowRange] = []
        self.error: Exception | None = None
        self.last: Payload | None = None
        rows = lane_range(lane, 0, 10**6)
        blocks = DatasetReader(dataset).blocks([rows])
        self._batches = (batch for block in blocks for batch in block)

    def run(self) -> None:
        for batch in self._batches:
            for payload in self.session.encode(batch, BATCH, ROWS_PER_BATCH):
                self.last, stop = payload, self.acknowledged.stop + payload.rows
                try:
                    self.session.send(payload)
                except Exception as error:  # noqa: BLE001  # classified by the module
                    self.error = error
                    if self.session.classify(error) is Failure.UNKNOWN:
                        self.uncertain = [RowRange(start=self.acknowledged.stop, stop=stop)]
                    return
                self.acknowledged = self.acknowledged.model_copy(update={"stop": stop})


def assert_of_no_use(writer: Writer) -> None:
    """Check that nothing can be sent any more; in the end, that is certainly not applied."""
    assert writer.last is not None
    deadline_s = time.monotonic() + NOTICED_S
    while time.monotonic() < deadline_s:  # a dying server may have answered, so that it is new
        with pytest.raises(Exception, match=r".") as caught:
            writer.session.send(writer.last)
        if writer.session.classify(caught.value) is Failure.NOT_APPLIED:
            if not writer.session.alive:
                return
            time.sleep(0.1)
    pytest.fail(f"the session seems to be of use after {caught.value!r}")


@pytest.mark.controls("kill")
@pytest.mark.parametrize("target", BY_SERVERS)
def test_acknowledged_rows_are_stored_after_a_kill(target, server, database, record_property):
    dataset = target.iot()
    tables = DatasetReader(dataset).tables
    database.create(tables, ROWS_PER_BATCH)
    writers = [Writer(database.connect(), dataset, lane) for lane in range(WRITERS)]
    for writer in writers:
        writer.start()
    while sum(len(w.acknowledged) for w in writers) < BATCHES_BEFORE * ROWS_PER_BATCH:
        assert any(writer.is_alive() for writer in writers), writers[0].error
        time.sleep(0.01)
    server.kill()
    for writer in writers:
        writer.join(60)
        assert writer.error, "a killed server acknowledges nothing"
    assert_of_no_use(writers[0])
    for writer in writers:
        writer.session.close()
    server.start()
    database.visible(tables)

    uncertain = [item for writer in writers for item in writer.uncertain]
    ranges = [writer.acknowledged for writer in writers]
    ranges += [RowRange(start=item.start, stop=item.stop) for item in uncertain]
    verdict = verify(database, dataset.with_ranges(ranges), uncertain, VerifyMode.FULL)

    kept = verdict.status in (Status.VERIFIED, Status.INCOMPLETE)
    record_property("kill", (Kill.ALL_KEPT if kept else Kill.SOME_LOST).value)
    assert kept or target.may_lose, verdict.reason
    if not kept:
        assert verdict.status is Status.MISMATCH, verdict.reason
        assert not re.search("not expected [1-9]|stored twice", verdict.reason), verdict.reason


@pytest.mark.parametrize("target", EMBEDDED)
def test_acknowledged_rows_are_stored_after_the_process_is_killed(
    target, database, record_property
):
    dataset = target.iot()
    tables = DatasetReader(dataset).tables
    database.create(tables, ROWS_PER_BATCH)
    options = database.options.model_dump(mode="json")
    given = json.dumps([target.module, options, dataset.model_dump(mode="json")])

    done = subprocess.run([sys.executable, "-c", DIES, given], check=False, cwd=ROOT)

    assert done.returncode == -signal.SIGKILL
    verdict = verify(database, dataset.with_ranges([lane_range(0, 0, 1000)]), [], VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict.reason
    record_property("kill", Kill.ALL_KEPT.value)
