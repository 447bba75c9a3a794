"""Three CrateDB nodes, one of which is killed while rows are written, and while queries are asked.

They run elsewhere: `--addresses FILE` with the target cratedb_cluster or cratedb_pg_cluster, whose
commands kill and start a node that the address does not name.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from simulator.data.query import RowsQuery
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.load.write.sender import Sender
from simulator.modules.contract import Database
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import ask, writing
from tests.contract.targets import STORING
from tests.servers import Server
from tests.unit import specs

CLUSTERS = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if target.redundant and name.startswith("cratedb")
]
pytestmark = [pytest.mark.controls("kill"), pytest.mark.parametrize("target", CLUSTERS)]

ROWS, BATCH_ROWS = 300_000, 1000
NODES = 3
COMPLETE_S = 120
"""Until the node is back and has its shards again."""
ANSWER_S = 20
"""An answer, or an error, comes within this time, although a node is gone."""
ASKED_S = 15
DATASET = specs.dataset(params={"devices": 20}, start_ms=1_795_232_700_000)


@contextmanager
def without_a_node(server: Server, database: Database) -> Iterator[None]:
    """Kill a node; at the end it is back."""
    server.kill()
    try:
        yield
    finally:
        server.start()
        deadline = time.monotonic() + COMPLETE_S
        while database.describe().nodes < NODES:
            assert time.monotonic() < deadline, "the node did not come back"
            time.sleep(1)


@pytest.mark.usefixtures("target")
def test_what_is_counted_is_stored_although_a_node_is_killed_meanwhile(server, database):
    reader = DatasetReader(DATASET)
    database.create(reader.tables, BATCH_ROWS)
    sender = Sender(database, reader, threading.Event())
    writer, errors = writing(sender, ROWS, BATCH_ROWS)
    with without_a_node(server, database):
        writer.join(200)
    assert not writer.is_alive()
    sender.close()

    assert not errors
    assert sender.meter.rows + sender.failures.uncertain_rows == ROWS
    database.visible(reader.tables)
    dataset = DATASET.with_ranges([lane_range(0, 0, ROWS)])
    verdict = verify(database, dataset, sender.failures.uncertain, VerifyMode.FULL)
    assert verdict.status in (Status.VERIFIED, Status.INCOMPLETE), verdict.reason


def test_every_answer_is_right_or_an_error_although_a_node_is_killed_meanwhile(
    target, server, database
):
    wide = target.wide()
    wide.fill(database)
    query = RowsQuery(wide.tables[0])
    statement, truth = database.render(query), wide.answer(query)
    answered, reasons = 0, []
    with without_a_node(server, database), database.connect() as session:
        deadline = time.monotonic() + ASKED_S
        while time.monotonic() < deadline:
            began_s = time.monotonic()
            try:
                found = ask(session, statement)
            except Exception as error:  # noqa: BLE001  # of the driver
                reasons.append(database.explain(error))
                time.sleep(0.1)
            else:
                assert found == truth
                answered += 1
            assert time.monotonic() - began_s < ANSWER_S
    assert answered > len(reasons), reasons
