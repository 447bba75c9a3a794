"""Three Cassandra nodes, one of which is killed while rows are written."""

import threading

import pytest

from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.load.write.sender import Sender
from simulator.modules.cassandra.database import Cassandra
from simulator.modules.cassandra.options import CassandraOptions
from simulator.modules.contract import BATCH
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, send, writing
from tests.unit import specs

pytestmark = pytest.mark.server("cassandra_cluster")

ROWS = 60_000
DATASET = specs.dataset(params={"devices": 20}, start_ms=1_795_232_700_000)


@pytest.fixture
def open_cassandra(server_options):
    return lambda **options: Cassandra(CassandraOptions(**{**server_options, **options}))


def killed_in_mid_run(server, database):
    """Write rows while a node is killed; return the sender, and the error that ended it."""
    tables = DatasetReader(DATASET).tables
    database.create(tables, 100)
    sender = Sender(database, DatasetReader(DATASET), threading.Event())
    writer, errors = writing(sender, ROWS, 100)
    server.kill("node3")
    writer.join(200)
    assert not writer.is_alive()
    sender.close()
    return sender, (errors or [None])[0]


@pytest.mark.parametrize("max_sync_calls", [1, 20])
def test_a_quorum_continues_without_one_of_three_nodes(server, open_cassandra, max_sync_calls):
    database = open_cassandra(max_sync_calls=max_sync_calls)
    sender, error = killed_in_mid_run(server, database)
    assert error is None
    assert sender.meter.rows + sender.failures.uncertain_rows == ROWS
    assert sender.meter.rows >= ROWS - 100 * (max_sync_calls + 20)

    dataset = DATASET.with_ranges([lane_range(0, 0, ROWS)])
    for back in (False, True):
        if back:
            server.start()
            database.visible(DatasetReader(DATASET).tables)
        verdict = verify(database, dataset, sender.failures.uncertain, VerifyMode.FULL)
        whole = Status.INCOMPLETE if verdict.uncertain_absent else Status.VERIFIED
        assert verdict.status is whole, verdict.reason


def test_consistency_all_fails_without_one_of_three_nodes_and_names_the_cause(
    server, open_cassandra
):
    database = open_cassandra(consistency="ALL")
    sender, error = killed_in_mid_run(server, database)
    server.start()

    assert "times in a row" in str(error) or "no known outcome" in str(error)
    assert "Unavailable" in str(error)
    assert "start the missing nodes, or lower consistency or replication_factor" in str(error)
    assert sender.meter.rows > 0


def test_rows_of_one_replica_are_found_by_reading_all(open_cassandra):
    database = open_cassandra(consistency="ONE")
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        for batch in wide.batches:
            send(session, batch, BATCH, 10)
    assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED


def test_the_cluster_is_described(open_cassandra):
    described = open_cassandra().describe()
    assert described.nodes == 3
    assert "2 of 3 replicas (LOCAL_QUORUM)" in described.durability
    assert "survives the loss of one machine" in described.durability
    assert open_cassandra(consistency="ALL").describe().settings["read_consistency"] == "ONE"


def test_sizes_are_those_of_all_nodes(open_cassandra):
    database, wide = open_cassandra(), Wideset()
    wide.fill(database)
    # Two small tables on three nodes, which each round up to a MiB.
    assert database.size_bytes(wide.tables) == 6 << 20


def test_a_row_is_sent_to_a_node_that_has_it(open_cassandra):
    database = open_cassandra(replication_factor=1)
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        metadata = session.cluster.metadata
        for payload in session.encode(wide.batches[0], BATCH, 300):
            table, requests = payload.data
            assert len(requests) == 7
            for request in requests:
                future = session._request(table, request, BATCH)
                future.result()
                owners = metadata.get_replicas(database.options.keyspace, request.routing_key)
                assert future.attempted_hosts == list(owners)
