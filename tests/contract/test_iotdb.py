"""IoTDB's queries, sums in pieces, names, precision, error classes and durability."""

import socket
import tempfile
import threading
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from iotdb.thrift.common.ttypes import TSStatus

from simulator.data.block import Block, Values
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, Unsupported
from simulator.modules.iotdb.database import DURABILITY, IotDb, wal_mode
from simulator.modules.iotdb.options import IotDbOptions
from simulator.modules.iotdb.query import Clock, plan_statements
from simulator.modules.iotdb.session import IotDbSession
from simulator.modules.iotdb.wire import ConnectError, ServerError, ServerStatus, Unanswered, check
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.devices import TABLE, encoded, readings, stored
from tests.contract.harness import ask, count, drop, send
from tests.contract.targets import STORING
from tests.servers import free_port

SERVER = pytest.mark.server("iotdb")
MS, US = TimeUnit.MILLISECOND, TimeUnit.MICROSECOND


@pytest.fixture
def open_iotdb(server_options):
    return lambda **more: IotDb(IotDbOptions(**{**server_options, **more}))


@pytest.fixture
def iotdb(open_iotdb):
    return open_iotdb()


def nowhere(**more):
    """A database on a port without a server."""
    return IotDb(IotDbOptions(**{"host": "127.0.0.1", "port": free_port(), **more}))


# --- queries -------------------------------------------------------------------------------------


def test_a_query_counts_in_the_servers_precision():
    query = AggregateQuery(
        TABLE,
        (Aggregate(Function.COUNT),),
        bucket=60_000,
        selection=Selection(since=-5, until=1001),
    )
    (same,) = plan_statements(query, Clock(MS, MS)).fetches
    (finer,) = plan_statements(query, Clock(MS, US)).fetches
    (coarser,) = plan_statements(
        replace(query, table=replace(TABLE, time_unit=US)), Clock(US, MS)
    ).fetches
    assert '"time" >= -5 AND "time" < 1001' in same.text
    assert '"time" >= -5000 AND "time" < 1001000' in finer.text
    # The first whole millisecond after 1001 us is 2 ms.
    assert '"time" >= 0 AND "time" < 2' in coarser.text
    assert 'date_bin(60000ms, "time")' in same.text
    assert 'date_bin(60000000us, "time")' in finer.text
    assert 'date_bin(60ms, "time")' in coarser.text
    keys = [row[0] for each in (same, finer, coarser) for row in each.read([(5000, 1)])]
    assert keys == [5000, 5, 5_000_000]


def test_a_bucket_that_the_server_cannot_count_is_refused():
    query = AggregateQuery(replace(TABLE, time_unit=US), (Aggregate(Function.COUNT),), bucket=1_500)
    with pytest.raises(Unsupported, match="buckets of 1500 us: expected whole ms"):
        plan_statements(query, Clock(US, MS))


@SERVER
def test_distinct_counts_by_columns_outside_the_key(iotdb):
    iotdb.create([TABLE], 100)
    with iotdb.connect() as session:
        for place, (device, degrees) in enumerate(product((b"a", b"b", b"c"), (0.5, 1.5))):
            rows = readings(2000, 2000 * place, device=device, temperature=degrees)
            session.send(encoded(session, rows))
        for columns, expected in (
            (("temperature",), 2),
            (("device_id", "temperature"), 6),
            (("sequence_number",), 12_000),
            (("device_id", "timestamp"), 12_000),
        ):
            found = ask(session, iotdb.render(DistinctQuery(TABLE, columns)))
            assert found.rows == ((expected,),), columns


@SERVER
def test_a_tuned_statement_runs_unchanged(iotdb):
    iotdb.create([TABLE], 100)
    with iotdb.connect() as session:
        session.send(encoded(session, readings()))
        wanted = outputs(AggregateQuery(TABLE, (Aggregate(Function.COUNT),)))
        own = Statement("SELECT count(sequence_number) FROM events", wanted, tuned=True)
        assert ask(session, own).rows == ((5,),)


@SERVER
def test_rows_are_streamed_while_more_wait_on_the_server(open_iotdb):
    iotdb = open_iotdb(fetch_rows=100)
    iotdb.create([TABLE], 10_000)
    with iotdb.connect() as session:
        session.send(encoded(session, readings(rows=20_000)))
        statement = iotdb.render(RowsQuery(TABLE))
        unfinished = session.stream(statement, 100)
        next(unfinished)
        unfinished.close()
        portions = list(session.stream(statement, 3000))
    assert [len(portion) for portion in portions] == [3000] * 6 + [2000]
    assert sorted(row[2] for portion in portions for row in portion) == list(range(20_000))


# --- tables --------------------------------------------------------------------------------------


def field(name, kind=Type.INT64, role=Role.FIELD):
    return Column(name, kind, role)


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("Root", [field("a")], "root"),
        ("t", [field("Time")], "called 'time'"),
        ("t", [field("a"), field("A")], "called 'a'"),
        ("t", [field("a", Type.FLOAT32, Role.TAG)], "a is float32, but a tag must be text"),
    ],
)
def test_an_impossible_table_is_refused(name, columns, message):
    with pytest.raises(SetupError, match=message):
        nowhere().create([Table(name, (TABLE.time, *columns), ())], 100)


@SERVER
@pytest.mark.parametrize("name", ["a.b", "roots", "it's `odd`", "7", "é"])
def test_a_table_may_have_any_name(iotdb, name):
    table = replace(TABLE, name=name)
    iotdb.create([table], 100)
    with iotdb.connect() as session:
        session.send(encoded(session, readings(table=table)))
    assert stored(iotdb, table) == 5
    drop(iotdb, [table])
    iotdb.create([table], 100)
    assert stored(iotdb, table) == 0


@SERVER
def test_dropping_needs_no_database_and_creates_none(open_iotdb):
    absent = open_iotdb(database="absent")
    drop(absent, [TABLE])
    with absent.connect() as session, pytest.raises(ServerError) as caught:
        count(absent, session, TABLE)
    assert "absent" in absent.explain(caught.value)
    assert "run an insert first" in absent.explain(caught.value)


# --- precision -----------------------------------------------------------------------------------


@SERVER
def test_times_finer_than_the_servers_are_refused_with_a_remedy(iotdb):
    table = replace(TABLE, time_unit=US)
    iotdb.create([table], 100)
    rows = readings(table=table)
    with iotdb.connect() as session:
        session.send(encoded(session, rows))  # whole milliseconds
        odd = Values(rows.data["timestamp"].values() + 1)
        with pytest.raises(UnstorableError, match=r"timestamp.*=ms.*--tick-ms.*=us"):
            session.encode(Block(table, 0, rows.rows, {**rows.data, "timestamp": odd}), BATCH, 5)
        found = ask(session, iotdb.render(RowsQuery(table))).rows
    assert [row[0] for row in found] == rows.data["timestamp"].values().tolist()


@pytest.mark.server("iotdb_us")
def test_times_that_the_servers_64_bits_cannot_count_are_refused(iotdb):
    table = replace(TABLE, time_unit=TimeUnit.SECOND)
    iotdb.create([table], 100)
    rows = readings(table=table)
    far = Values(np.full(5, 2**62))
    with (
        iotdb.connect() as session,
        pytest.raises(UnstorableError, match="beyond the 64 bits"),
    ):
        session.encode(Block(table, 0, rows.rows, {**rows.data, "timestamp": far}), BATCH, 5)


# --- errors --------------------------------------------------------------------------------------


def test_the_classes_of_errors():
    def refused(*codes):
        return ServerError("", tuple(ServerStatus(code, "words") for code in codes))

    classify = IotDbSession(None, None).classify
    assert classify(ConnectError("")) is Failure.NOT_APPLIED
    assert classify(Unanswered("")) is Failure.UNKNOWN
    assert classify(refused(507)) is Failure.FATAL
    assert classify(refused(606)) is Failure.UNKNOWN  # other parts of the tablet may be stored
    assert classify(refused(507, 305)) is Failure.UNKNOWN
    assert classify(ValueError()) is Failure.UNKNOWN


def test_a_refused_part_is_found_among_accepted_ones():
    good = TSStatus(code=200)
    check(good)
    check(TSStatus(code=400))
    check(TSStatus(code=302, subStatus=[good, good]))
    with pytest.raises(ServerError, match=r"too much \(606\)") as caught:
        check(TSStatus(code=302, subStatus=[good, TSStatus(code=606, message="too much"), good]))
    assert caught.value.codes == {606}
    with pytest.raises(ServerError, match="302"):
        check(TSStatus(code=302, message="nothing said"))


def test_another_server_on_the_port_is_recognised():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            connection, _ = listening.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(SetupError, match="check that an IoTDB listens there"):
            nowhere(port=listening.getsockname()[1]).connect()
        thread.join()


def test_a_host_with_a_port_or_path_is_refused():
    with pytest.raises(ValueError, match="the port is an option of its own"):
        IotDbOptions(host="http://iotdb")


@SERVER
def test_a_tablet_of_other_types_is_refused_for_good(iotdb):
    iotdb.create([TABLE], 100)
    columns = tuple(
        replace(column, type=Type.TEXT) if column.name == "sequence_number" else column
        for column in TABLE.columns
    )
    table = replace(TABLE, columns=columns)
    rows = readings()
    words = Values(np.array([b"word"] * 5))
    batch = Block(table, 0, rows.rows, {**rows.data, "sequence_number": words})
    with iotdb.connect() as session:
        payload = encoded(session, batch)
        with pytest.raises(ServerError, match=r"(?i)sequence_number") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive


@SERVER
def test_rows_that_are_refused_among_others_of_their_tablet_are_an_error(iotdb):
    """Rows older than the table's TTL; the server stores the others and gives a status to each."""
    iotdb.create([TABLE], 100)
    now_ms = int(time.time()) * 1000
    rows = readings(rows=4)
    instants = Values(np.array([0, 1, now_ms, now_ms + 1]))
    with iotdb.connect() as session:
        session.link.execute("ALTER TABLE events SET PROPERTIES TTL=3600000")
        block = Block(TABLE, 0, rows.rows, {**rows.data, "timestamp": instants})
        with pytest.raises(ServerError, match=r"ttl .* \(607\)") as caught:
            session.send(encoded(session, block))
        assert session.classify(caught.value) is Failure.FATAL
        assert count(iotdb, session, TABLE) == 2
        assert session.alive


@SERVER
def test_a_server_that_does_not_answer_in_time(server, open_iotdb):
    iotdb = open_iotdb(timeout_s=0.5)
    iotdb.create([TABLE], 100)
    with iotdb.connect() as session:
        payload = encoded(session, readings())
        with server.paused("datanode"):
            start = time.monotonic()
            with pytest.raises(Unanswered, match=r"no answer within 0.5 s.*timeout_s") as caught:
                session.send(payload)
            assert time.monotonic() - start < 5
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert not session.alive


@SERVER
def test_a_statement_that_is_wrong_leaves_the_session_usable(iotdb):
    iotdb.create([TABLE], 100)
    with iotdb.connect() as session:
        with pytest.raises(ServerError, match="700"):
            session.run(Statement("SELEKT", ()))
        assert stored(iotdb) == 0
        for mode in (SINGLE, BATCH):
            session.send(encoded(session, readings(rows=1), mode))
        assert count(iotdb, session, TABLE) == 1


# --- acknowledgements ----------------------------------------------------------------------------


class Reporting:
    """A link to a server that reports its configuration, as later versions do."""

    def __init__(self, mode):
        self.mode = mode

    def execute(self, statement):
        assert statement == "SHOW CONFIGURATION"
        return [("cluster_name", "bench", "x"), ("wal_mode", self.mode, "ASYNC")]


@pytest.mark.parametrize(
    ("mode", "durable"), [("SYNC", True), ("ASYNC", False), ("DISABLE", False), ("odd", None)]
)
def test_durability_is_the_mode_of_the_write_ahead_log(mode, durable):
    found, sentence = DURABILITY[wal_mode(Reporting(mode))]
    assert found is durable
    assert sentence.startswith("an acknowledged row is in")


@SERVER
def test_what_this_version_reports(iotdb):
    server = iotdb.describe()
    assert server.version == "IoTDB 2.0.1-beta"
    assert server.settings["timestamp_precision"] == "ms"
    assert server.settings["data_replication_factor"] == "1"
    assert server.settings["data_region_consensus"] == "IoTConsensus"
    assert server.durable is None
    assert "does not report" in server.durability


@SERVER
def test_a_log_that_is_synced_keeps_all_that_was_acknowledged(own_server):
    """test_kill.py tests the default mode."""
    wide = STORING["iotdb"].wide()
    with own_server(wal_mode="SYNC") as server:
        database = IotDb(IotDbOptions(**server.options("kept")))
        database.create(wide.tables, 100)
        with database.connect() as session:
            for batch in wide.batches:
                send(session, batch, BATCH, 100)
        server.kill("datanode")
        server.start()
        assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED


# --- TLS -----------------------------------------------------------------------------------------


@pytest.fixture
def readable():
    """A folder that the server's user can read; each start of pytest closes its own to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@SERVER
def test_tls_verifies_the_certificate_unless_insecure(own_server, readable, tmp_path):
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    chain = [x509.load_pem_x509_certificate(pem.bytes()) for pem in issued.cert_chain_pems]
    store = pkcs12.serialize_key_and_certificates(
        b"iotdb", key, chain[0], chain[1:], BestAvailableEncryption(b"changeit")
    )
    path = readable / "store.p12"
    path.write_bytes(store)
    path.chmod(0o644)
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    settings = {"enable_thrift_ssl": "true", "key_store_path": str(path)}
    with own_server(**settings, key_store_pwd="changeit") as own:
        reach = {**own.options("secure"), "tls": True}
        trusting = IotDb(IotDbOptions(**reach, ca_file=str(ca_file)))
        trusting.create([TABLE], 100)
        with trusting.connect() as session:
            session.send(encoded(session, readings()))
        assert stored(IotDb(IotDbOptions(**reach, insecure=True))) == 5
        with pytest.raises(SetupError, match=r"ca_file.*insecure=true"):
            IotDb(IotDbOptions(**reach)).connect()
        with pytest.raises(SetupError):
            IotDb(IotDbOptions(**own.options("secure"), timeout_s=2)).connect()


@SERVER
def test_a_server_without_tls_is_recognised(open_iotdb):
    with pytest.raises(SetupError, match=r"TLS|connection"):
        open_iotdb(tls=True, insecure=True).connect()
