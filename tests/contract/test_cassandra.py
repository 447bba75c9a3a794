"""Cassandra's keys, options, error classes, durability and secrets."""

import re
import ssl
import time

import numpy as np
import pytest
from cassandra import (
    ConsistencyLevel,
    InvalidRequest,
    OperationTimedOut,
    Unavailable,
    WriteFailure,
    WriteTimeout,
    WriteType,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionBusy, ConnectionException, ConnectionShutdown
from cassandra.metadata import cql_keywords
from cassandra.protocol import SyntaxException

from simulator.data.block import Block, Coded, Values
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    RowsQuery,
    Selection,
    Statement,
)
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError
from simulator.modules.cassandra import query as cql
from simulator.modules.cassandra.database import Cassandra
from simulator.modules.cassandra.options import CassandraOptions
from simulator.modules.cassandra.server import durability
from simulator.modules.contract import BATCH, SINGLE, Failure
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, ask, count, refusal, rendered, send
from tests.contract.wide import STATES

pytestmark = pytest.mark.server("cassandra")

COUNT = (Aggregate(Function.COUNT),)


@pytest.fixture
def open_cassandra(server_options):
    return lambda **options: Cassandra(CassandraOptions(**{**server_options, **options}))


@pytest.fixture
def cassandra(open_cassandra):
    return open_cassandra()


def columns_of(server, keyspace, table):
    """Name, type and place in the key of each column."""
    found = server.execute(
        "SELECT column_name, type, kind, position, clustering_order FROM system_schema.columns "
        f"WHERE keyspace_name = '{keyspace}' AND table_name = '{table}'"
    )
    return {
        name: (kind, f"{place}{position if position >= 0 else ''}", order)
        for name, kind, place, position, order in found
    }


# --- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primary_key", "options", "keys"),
    [
        (PrimaryKey.NONE, {}, "device_id timestamp"),
        (PrimaryKey.NONE, {"clustering_columns": "sequence_number"}, "device_id sequence_number"),
        (
            PrimaryKey.NONE,
            {"clustering_columns": "timestamp, sequence_number"},
            "device_id timestamp sequence_number",
        ),
        (PrimaryKey.CLIENT, {}, "id"),
        (PrimaryKey.UUID, {}, "id"),
    ],
)
def test_the_events_table_has_the_keys_of_the_reference(
    server, open_cassandra, primary_key, options, keys
):
    database, keys = open_cassandra(**options), keys.split()
    database.create([EVENTS.stored(primary_key, 1)], 1000)
    found = columns_of(server, database.options.keyspace, "events")

    id_type = {PrimaryKey.CLIENT: "text", PrimaryKey.UUID: "uuid"}.get(primary_key)
    types = {name: kind for name, (kind, _, _) in found.items()}
    assert types == {
        "timestamp": "bigint",
        "device_id": "text",
        "sequence_number": "bigint",
        "temperature": "float",
        **({"id": id_type} if id_type else {}),
    }
    places = {place: name for name, (_, place, _) in found.items() if place != "regular"}
    assert places.pop("partition_key0") == keys[0]
    assert [places[f"clustering{n}"] for n in range(len(places))] == keys[1:]
    assert {order for _, place, order in found.values() if "clustering" in place} <= {"desc"}


def test_every_reserved_word_is_quoted(server):
    words = {word.lower() for word in cql_keywords} | cql.RESERVED
    assert len(words) > 100
    refused = set()
    cluster, session = server.connect()
    try:
        for word in words:
            try:
                session.execute(f"SELECT {word} FROM system.local")
            except SyntaxException:
                refused.add(word)
            except InvalidRequest:  # no such column
                pass
    finally:
        cluster.shutdown()
    assert refused <= cql.RESERVED


def test_every_name_becomes_a_different_one_that_cql_allows():
    names = ["events", "Machine States", "Machine_States", "x" * 48, "x" * 49, "x" * 50, "größe"]
    made = [cql.table_name(name) for name in names]

    assert made[0] == "events"
    assert made[3] == names[3]
    assert len(set(made)) == len(names)
    assert all(len(name) <= 48 and name.isascii() for name in made)


def table_of(*columns, key=("device", "at"), unit=TimeUnit.MILLISECOND):
    return Table("things", columns, key, unit)


AT, DEVICE = Column("at", Type.TIMESTAMP, Role.TIME), Column("device", Type.TEXT, Role.TAG)


def test_a_table_without_a_key_is_refused_unless_rows_get_an_id(open_cassandra):
    table = table_of(AT, DEVICE, key=())
    with pytest.raises(SetupError, match=r"things has no key .*--primary-key uuid"):
        open_cassandra().create([table], 1)
    nullable = Column("site", Type.TEXT, Role.TAG, nullable=True)
    table = table_of(AT, nullable, key=("site", "at"))
    with pytest.raises(SetupError, match=r"site of things may be NULL.*--primary-key uuid"):
        open_cassandra().create([table], 1)
    with pytest.raises(SetupError, match=r"clustering_columns: sequence cannot .* choose from at"):
        open_cassandra(clustering_columns="sequence").create([table_of(AT, DEVICE)], 1)


def test_without_tags_each_instant_is_a_partition(open_cassandra):
    value = Column("value", Type.INT64, Role.FIELD)
    table = table_of(AT, value, key=("at",))
    database = open_cassandra()
    database.create([table], 1)
    rows = np.arange(30)
    data = {"at": Values(rows * 10), "value": Values(rows)}
    with database.connect() as session:
        send(session, Block(table, 0, rows, data), BATCH, 10)
        assert count(database, session, table) == 30
        sums = AggregateQuery(table, (Aggregate(Function.SUM, "value"),), bucket=100)
        assert ask(session, database.render(sums)).rows == ((0, 45), (100, 145), (200, 245))


def test_instants_in_seconds_are_cql_timestamps(server, server_options):
    """test_contract.py has instants in milliseconds."""
    value = Column("value", Type.FLOAT64, Role.FIELD)
    seen = Column("seen", Type.TIMESTAMP, Role.FIELD, nullable=True)
    table = table_of(AT, DEVICE, value, seen, unit=TimeUnit.SECOND)
    database = Cassandra(CassandraOptions(**server_options))
    database.create([table], 1)
    assert columns_of(server, server_options["keyspace"], "things")["at"][0] == "timestamp"

    at = np.array([-5, 0, 3, 7, 1_700_000_000])
    data = {
        "at": Values(at),
        "device": Coded(np.array([0, 0, 0, 1, 1]), np.array([b"a", b"b"])),
        "value": Values(np.arange(5) / 4),
        "seen": Values(at + 1, np.arange(5) % 2 > 0),
    }
    newest = NewestQuery(table, ("device",), ("value", "at"))
    sums = (*COUNT, Aggregate(Function.SUM, "at"))
    early = AggregateQuery(table, sums, selection=Selection(since=0, until=7))
    extremes = (Aggregate(Function.MIN, "at"), Aggregate(Function.MAX, "seen"))
    buckets = AggregateQuery(table, extremes, by=("device",), bucket=10)
    late = 1_700_000_000
    with database.connect() as session:
        send(session, Block(table, 0, np.arange(5), data), BATCH, 5)
        found = [
            {*ask(session, database.render(query)).rows}
            for query in (RowsQuery(table), newest, early, buckets)
        ]
    assert found == [
        {
            (-5, "a", 0.0, None),
            (0, "a", 0.25, 1),
            (3, "a", 0.5, None),
            (7, "b", 0.75, 8),
            (late, "b", 1.0, None),
        },
        {("a", 0.5, 3), ("b", 1.0, late)},
        {(2, 3)},
        {("a", -10, -5, None), ("a", 0, 0, 1), ("b", 0, 7, 8), ("b", late, late, None)},
    ]


def test_table_options_are_passed_on(server, server_database, open_cassandra):
    options = "compaction = {'class': 'TimeWindowCompactionStrategy'} AND gc_grace_seconds = 60"
    open_cassandra(table_options=options).create([EVENTS], 1)
    ((compaction, grace),) = server.execute(
        "SELECT compaction, gc_grace_seconds FROM system_schema.tables WHERE "
        f"keyspace_name = '{server_database}' AND table_name = 'events'"
    )
    assert "TimeWindow" in compaction["class"]
    assert grace == 60


# --- the keyspace --------------------------------------------------------------------------------


def test_more_replicas_than_nodes_are_refused_with_the_remedy(open_cassandra):
    with pytest.raises(SetupError, match=r"has 1 node; .*--extra-option replication_factor=1"):
        open_cassandra(replication_factor=3).create([EVENTS], 1)


def test_a_keyspace_that_exists_keeps_its_replication(server, server_database, cassandra):
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 2}"
    server.execute(f"CREATE KEYSPACE {server_database} WITH replication = {replication}")
    with pytest.raises(SetupError, match=r"exists and has 2 replicas.*replication_factor=2"):
        cassandra.create([EVENTS], 1)
    assert cassandra.describe().settings["replication_factor"] == "2"


# --- queries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "primary_key", [PrimaryKey.NONE, pytest.param(PrimaryKey.UUID, marks=pytest.mark.rare)]
)
def test_the_clients_plan_gives_the_same_answers(open_cassandra, primary_key):
    database = open_cassandra(aggregation_plan="client")
    wide = Wideset(primary_key, parts=4)
    wide.fill(database)
    with database.connect() as session:
        for name, query, statement in rendered(database, wide):
            assert "GROUP BY" not in statement.text
            assert "CAST" not in statement.text
            assert ask(session, statement) == wide.answer(query), name


def test_distinct_rows_are_counted_by_any_columns(cassandra):
    wide = Wideset(parts=4)
    wide.fill(cassandra)
    with cassandra.connect() as session:
        for table in wide.tables:
            tags = tuple(tag.name for tag in table.tags)
            for columns in (tags, tags[:1], (table.columns[-1].name,), table.key):
                query = DistinctQuery(table, columns)
                assert ask(session, cassandra.render(query)) == wide.answer(query), columns


def test_a_tuned_query_runs_unchanged(cassandra, server_database):
    wide = Wideset()
    wide.fill(cassandra)
    text = f'SELECT count(*) FROM {server_database}."{cql.table_name("Machine States")}"'
    statement = cassandra.render(AggregateQuery(STATES, COUNT))
    tuned = Statement(text, statement.outputs, tuned=True)
    with cassandra.connect() as session:
        assert ask(session, tuned).rows == ((300,),)


# --- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol_version", [3, 4, 5])
@pytest.mark.parametrize("mode", [SINGLE, BATCH])
def test_every_version_of_the_protocol_carries_the_rows(open_cassandra, protocol_version, mode):
    database = open_cassandra(protocol_version=protocol_version)
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        assert session.cluster.protocol_version == protocol_version
        for batch in wide.batches:
            send(session, batch, mode, 1 if mode == SINGLE else 25)
        for table in wide.tables:
            assert ask(session, database.render(RowsQuery(table))) == wide.answer(RowsQuery(table))


def test_a_null_leaves_no_tombstone(server, server_database, cassandra):
    wide = Wideset()
    wide.fill(cassandra)
    found = server.execute(
        f"SELECT writetime(large) FROM {server_database}.readings WHERE site = 'north'"
    )
    assert {None} < {written for (written,) in found}
    ((most,),) = server.execute(
        "SELECT max FROM system_views.tombstones_per_read WHERE "
        f"keyspace_name = '{server_database}' AND table_name = 'readings'"
    )
    assert most <= 1  # partitions have a dozen NULLs each


def test_a_mixed_batch_takes_the_rows_of_a_send_as_one(open_cassandra):
    wide = Wideset()
    for batches, most in (("partition", 7), ("mixed", 1)):
        database = open_cassandra(batches=batches)
        wide.fill(database)
        with database.connect() as session:
            (payload, *_) = session.encode(wide.batches[0], BATCH, 100)
            assert len(payload.data[1]) == most
            session.send(payload)
            assert count(database, session, wide.tables[0]) == 300


# --- errors --------------------------------------------------------------------------------------


def test_a_statement_that_the_server_no_longer_has_is_prepared_again(
    server, server_database, cassandra
):
    wide = Wideset()
    cassandra.create(wide.tables, 10)
    with cassandra.connect() as session:
        first, second = session.encode(wide.batches[0].slice(0, 20), BATCH, 10)
        session.send(first)
        server.execute(f"ALTER TABLE {server_database}.readings ADD extra int")
        session.send(second)
        assert count(cassandra, session, wide.tables[0]) == 20


@pytest.mark.rare
def test_a_node_that_vanishes_is_detected(server, cassandra):
    wide = Wideset()
    cassandra.create(wide.tables, 10)
    with cassandra.connect() as session:
        first, second, *_ = session.encode(wide.batches[0], BATCH, 10)
        session.send(first)
        server.pause()
        start = time.monotonic()
        try:
            with pytest.raises(Exception, match=r"(?i)heartbeat|timed? ?out|defunct") as caught:
                session.send(second)
            assert session.classify(caught.value) is Failure.UNKNOWN
            assert time.monotonic() - start < 35
        finally:
            server.resume()


def test_a_request_that_takes_too_long_may_have_been_applied(server, open_cassandra):
    database = open_cassandra(request_timeout_s=0.5)
    wide = Wideset()
    open_cassandra().create(wide.tables, 10)
    with database.connect() as session:
        (payload, *_) = session.encode(wide.batches[0], BATCH, 10)
        server.pause()
        try:
            with pytest.raises(OperationTimedOut) as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.UNKNOWN
        finally:
            server.resume()
        assert "OperationTimedOut" in database.explain(caught.value)


def test_a_dropped_table_is_fatal(server, server_database, cassandra):
    wide = Wideset()
    cassandra.create(wide.tables, 10)
    with cassandra.connect() as session:
        (payload, *_) = session.encode(wide.batches[0], BATCH, 10)
        server.execute(f"DROP TABLE {server_database}.readings")
        with pytest.raises(Exception, match=r"readings|prepared|unconfigured") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive


def test_a_batch_that_is_too_large_is_fatal_with_the_remedy(open_cassandra):
    database = open_cassandra(batches="mixed")
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        (payload,) = session.encode(wide.batches[0], BATCH, 300)
        with pytest.raises(InvalidRequest, match="Batch too large") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        message = database.explain(caught.value)
        assert "batch_size_fail_threshold" in message
        assert "batches=mixed" in message


def test_too_few_replicas_mean_not_applied(open_cassandra):
    wide = Wideset()
    open_cassandra().create(wide.tables, 10)
    database = open_cassandra(consistency="TWO")
    with database.connect() as session:
        (payload, *_) = session.encode(wide.batches[0], BATCH, 10)
        with pytest.raises(Unavailable) as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        assert "consistency" in database.explain(caught.value)
    with open_cassandra().connect() as session:
        assert count(database, session, wide.tables[0]) == 0


def test_an_insert_that_the_server_answers_but_does_not_apply_is_an_error(cassandra, monkeypatch):
    plain = cql.insert
    monkeypatch.setattr(cql, "insert", lambda *table: f"{plain(*table)} IF NOT EXISTS")
    wide = Wideset()
    cassandra.create(wide.tables, 10)
    with cassandra.connect() as session:
        (payload, *_) = session.encode(wide.batches[0], SINGLE, 1)
        session.send(payload)
        with pytest.raises(Exception, match="did not apply an INSERT") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert count(cassandra, session, wide.tables[0]) == 1


ONE = ConsistencyLevel.ONE
NOT_ACCEPTED = [
    Unavailable("", ONE, 1, 0),
    NoHostAvailable("", {"a": ConnectionBusy("busy"), "b": ConnectionException("down")}),
]
PERHAPS_APPLIED = [
    WriteTimeout("", write_type=WriteType.UNLOGGED_BATCH),
    WriteFailure("", write_type=WriteType.SIMPLE),
    OperationTimedOut(),
    ConnectionShutdown("closed"),
    NoHostAvailable("", {"a": TypeError("ours")}),
    ValueError("ours"),
]


@pytest.mark.parametrize(
    ("key", "unsent"),
    [(PrimaryKey.NONE, Failure.NOT_APPLIED), (PrimaryKey.UUID, Failure.UNKNOWN)],
)
def test_what_an_error_means(cassandra, key, unsent):
    """Rows whose key the server generates must not be sent twice if some may be stored."""
    wide = Wideset(key)
    cassandra.create(wide.tables, 10)
    with cassandra.connect() as session:
        for mode, rows, meaning in ((BATCH, 10, unsent), (SINGLE, 1, Failure.NOT_APPLIED)):
            (payload, *_) = session.encode(wide.batches[0], mode, rows)
            session.send(payload)
            assert [*map(session.classify, NOT_ACCEPTED)] == [meaning] * len(NOT_ACCEPTED)
            assert {*map(session.classify, PERHAPS_APPLIED)} == {Failure.UNKNOWN}
            assert session.classify(InvalidRequest("no")) is Failure.FATAL


# --- refused connections -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"username": None, "password": None}, "check username and password"),
        ({"local_datacenter": "mars"}, "local_datacenter"),
        ({"tls": True}, r"CERTIFICATE_VERIFY_FAILED.*ca_file"),
        ({"tls": True, "ca_file": "/nowhere/ca.pem"}, "/nowhere/ca.pem"),
    ],
    ids=["password", "datacenter", "untrusted", "no file"],
)
def test_a_refused_connection_has_its_remedy(open_cassandra, options, named):
    assert all(re.search(named, message) for message in refusal(open_cassandra(**options)))


def test_missing_permissions_are_named_with_the_remedy(server, server_database, open_cassandra):
    guest = f"guest_{server_database}"
    server.execute(f"CREATE ROLE {guest} WITH PASSWORD = 'guest-password' AND LOGIN = true")
    try:
        database = open_cassandra(username=guest, password="guest-password")
        with pytest.raises(SetupError, match=r"(?i)no CREATE permission.*GRANT"):
            database.create([EVENTS], 1)
    finally:
        server.execute(f"DROP ROLE {guest}")


def test_a_query_before_any_insert_names_what_is_missing(cassandra):
    cassandra.create([STATES], 1)
    with cassandra.connect() as session:
        with pytest.raises(InvalidRequest) as caught:
            session.run(cassandra.render(AggregateQuery(EVENTS, COUNT)))
        assert "run an insert first" in cassandra.explain(caught.value)


def test_options_that_do_not_go_together_are_named(open_cassandra):
    def problems(key=PrimaryKey.NONE, rows=10, **options):
        return " ".join(open_cassandra(**options).problems(key, 1, BATCH, rows))

    assert problems() == ""
    assert "clustering_columns" in problems(PrimaryKey.UUID, clustering_columns="timestamp")
    assert "--batch" in problems(rows=65_536)
    assert problems(rows=65_535) == ""
    assert "tls=true" in problems(insecure=True)
    assert "choose one" in problems(tls=True, insecure=True, ca_file="x")
    assert "username and password" in problems(password=None)


# --- TLS -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("checked_by", ["ca_file", "ca", "insecure"])
def test_rows_are_sent_by_tls(server, open_cassandra, checked_by):
    path = server.authority
    value = {"ca_file": str(path), "ca": path.read_text(), "insecure": True}[checked_by]
    wide = Wideset()
    database = open_cassandra(tls=True, **{checked_by: value})
    database.create(wide.tables, 10)
    with database.connect() as session:
        send(session, wide.batches[0], BATCH, 100)
        (connection, *_) = session.cluster.get_connection_holders()[0].get_connections()
        assert isinstance(connection._socket, ssl.SSLSocket)
        assert count(database, session, wide.tables[0]) == 300


# --- the server ----------------------------------------------------------------------------------


def test_durability_follows_from_the_servers_settings(cassandra):
    server = cassandra.describe()
    assert server.version == "Cassandra 5.0.9"
    assert server.durable is False
    assert "1 of 1 replicas (LOCAL_QUORUM)" in server.durability
    assert "commitlog_sync=periodic, every 10000ms" in server.durability
    assert server.settings["commitlog_sync"] == "periodic"


PERIODIC = {"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"}


@pytest.mark.parametrize(
    ("nodes", "consistency", "replicas", "durable", "words"),
    [
        ([PERIODIC], "ONE", 1, False, "within 0.1 s, or its machine"),
        ([PERIODIC] * 3, "QUORUM", 3, False, "2 of 3 replicas"),
        ([PERIODIC] * 3, "QUORUM", 3, False, "not a power cut of all at once"),
        ([{"commitlog_sync": "batch"}] * 3, "TWO", 3, True, "already synced to disk"),
        ([{"commitlog_sync": "batch"}, PERIODIC], "ALL", 2, False, "every 10000ms"),
        ([{"commitlog_sync": "group"}], "LOCAL_ONE", 3, True, "commitlog_sync=group"),
        ([PERIODIC], "ANY", 3, False, "only as a hint"),
        ([], "ONE", 1, None, "does not report"),
    ],
)
def test_the_sentence_of_durability(nodes, consistency, replicas, durable, words):
    survives, sentence = durability(nodes, consistency, replicas)
    assert survives is durable
    assert sentence.startswith("an acknowledged row")
    assert words in sentence


@pytest.mark.rare
@pytest.mark.server("cassandra")
def test_a_log_that_is_synced_before_the_acknowledgement_keeps_all(own_server):
    with own_server(commitlog_sync="batch", commitlog_sync_period="") as server:
        database = Cassandra(CassandraOptions(**server.options("synced")))
        wide = Wideset()
        database.create(wide.tables, 10)
        with database.connect() as session:
            for batch in wide.batches:
                send(session, batch, BATCH, 10)
        server.kill()
        server.start()
        assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED
        described = database.describe()
        assert described.durable
        assert "commitlog_sync=batch" in described.durability


def test_a_users_view_on_a_table_of_ours_is_found_before_anything_is_dropped(cassandra):
    cassandra.create([EVENTS], 10)
    assert cassandra.find_attached(["events"]) == []
    cassandra.carry_out(
        "CREATE MATERIALIZED VIEW mine AS SELECT * FROM events WHERE device_id IS NOT NULL "
        "AND timestamp IS NOT NULL PRIMARY KEY (timestamp, device_id)"
    )

    assert cassandra.find_attached(["events"]) == ["materialized view mine on events"]
    assert cassandra.find_attached(["others"]) == []


@pytest.mark.parametrize(
    ("written", "read"),
    [("LOCAL_QUORUM", "LOCAL_QUORUM"), ("ALL", "ONE"), ("ONE", "ALL"), ("ANY", "ALL")],
)
def test_the_default_read_consistency_finds_every_acknowledged_row(open_cassandra, written, read):
    assert open_cassandra(consistency=written).describe().settings["read_consistency"] == read
    chosen = open_cassandra(consistency=written, read_consistency="TWO")
    assert chosen.describe().settings["read_consistency"] == "TWO"


def test_compacting_writes_the_memtables_to_disk(server, server_database, cassandra):
    def files():
        found = server.folder.glob(f"node*/data/{server_database}/readings-*/*-Data.db")
        return sum(path.stat().st_size for path in found)

    wide = Wideset()
    cassandra.create(wide.tables, 100)
    with cassandra.connect() as session:
        send(session, wide.batches[0], BATCH, 100)
    assert files() == 0
    cassandra.compact(wide.tables)
    assert files() > 1000
    assert cassandra.size_bytes(wide.tables) >= files()
    ((period,),) = server.execute(
        "SELECT memtable_flush_period_in_ms FROM system_schema.tables WHERE "
        f"keyspace_name = '{server_database}' AND table_name = 'readings'"
    )
    assert period == 0
