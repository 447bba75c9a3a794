"""What is specific to CockroachDB: tested on PostgreSQL where the two agree.

Statements that PostgreSQL cannot parse are compared with the vendor's documentation as text.
"""

import threading
from contextlib import nullcontext

import psycopg2
import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Statement
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError
from simulator.load.write.sender import Sender
from simulator.modules.cockroachdb import Cockroachdb, CockroachdbSession
from simulator.modules.contract import BATCH, SINGLE, Failure
from simulator.modules.postgres.database import PostgresOptions
from simulator.modules.shared.sql.transactions import TRANSACTION, VALUES
from tests.contract.harness import Wideset, count
from tests.contract.wide import READINGS, SEEN_US
from tests.standins.relatives import CockroachdbOnPostgres
from tests.unit import specs

pytestmark = pytest.mark.server("postgres")


@pytest.fixture
def open_cockroachdb(server_options):
    def make(cls=CockroachdbOnPostgres, **options):
        return cls(PostgresOptions(**{**server_options, **options}))

    return make


@pytest.fixture
def cockroachdb(open_cockroachdb):
    return open_cockroachdb()


# --- COPY first, values lists on demand ----------------------------------------------------------


def test_a_batch_is_copied_by_a_statement_that_every_version_accepts(cockroachdb):
    wide = Wideset()
    cockroachdb.create(wide.tables, 10)
    with cockroachdb.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 10), BATCH, 10)
        statement, _ = payload.data
        assert statement.endswith(" FROM STDIN WITH BINARY")
        session.send(payload)
        assert count(cockroachdb, session, wide.tables[0]) == 10


def test_with_values_lists_nothing_is_copied_not_even_a_prefill(open_cockroachdb):
    database = open_cockroachdb(use_values_lists=True)
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 10), BATCH, 10)
        assert payload.mode == VALUES
        assert payload.data.startswith(b"INSERT INTO readings (")
        session.send(payload)
        assert count(database, session, wide.tables[0]) == 10
    assert database.insert_mode(BATCH) == VALUES


def test_a_server_that_refuses_copy_is_an_error_before_anything_starts(
    open_cockroachdb, monkeypatch, execute
):
    monkeypatch.setattr(CockroachdbSession, "copy_format", "WITH BINARY SOMEHOW")
    with pytest.raises(SetupError, match=r"syntax error.*; use_values_lists=true needs no COPY"):
        open_cockroachdb().create([EVENTS], 1000)
    execute("CREATE TABLE events (x int)", "DROP TABLE events")  # it does not exist
    open_cockroachdb(use_values_lists=True).create([EVENTS], 1000)


class Older(CockroachdbOnPostgres):
    """A server before 22.1."""

    release = (21, 1)


def test_a_server_that_copies_in_pieces_gets_values_lists(open_cockroachdb):
    wide = Wideset()
    database = open_cockroachdb(Older)
    database.create(wide.tables, 10)
    with database.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 10), BATCH, 10)
        assert payload.mode == VALUES
        session.send(payload)
        assert count(database, session, wide.tables[0]) == 10
    with pytest.raises(SetupError, match=r"COPY of servers before 22\.2 .*; use client=driver"):
        open_cockroachdb(Older, client="driver-copy").connect()


def test_a_server_without_cursors_returns_the_same_portions(open_cockroachdb):
    numbers = Statement("SELECT number FROM generate_series(1, 5) AS number", ())
    found = []
    for cls in (CockroachdbOnPostgres, Older):
        with open_cockroachdb(cls).connect() as session:
            found.append([list(map(tuple, rows)) for rows in session.stream(numbers, 2)])
    assert found == [[[(1,), (2,)], [(3,), (4,)], [(5,)]]] * 2


# --- types and queries ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primary_key", "key"),
    [
        (PrimaryKey.DB, "id bigserial, "),
        (PrimaryKey.SQL, "id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000), "),
        (PrimaryKey.UUID, "id uuid DEFAULT gen_random_uuid(), "),
        (PrimaryKey.CLIENT, "id varchar, "),
        (PrimaryKey.NONE, ""),
    ],
)
def test_columns_are_as_wide_as_binary_copy_has_them(cockroachdb, primary_key, key):
    (statement,) = cockroachdb.create_table(EVENTS.stored(primary_key, 1), "events", 1000)
    columns = "timestamp int8, device_id varchar, sequence_number int8, temperature real"
    constraint = ", PRIMARY KEY (id)" if key else ""
    assert statement == f"CREATE TABLE events ({key}{columns}{constraint})"
    types = {c.name: cockroachdb.dialect.types[c.type] for c in READINGS.columns}
    assert (types["small"], types["order"], types["large"]) == ("int2", "int4", "int8")


def test_an_instant_is_an_exact_number_in_all_years(cockroachdb):
    # extract() gives a double, which is not exact to the microsecond in the year 9999.
    seen = Column("seen", Type.TIMESTAMP, Role.FIELD)
    number = cockroachdb.dialect.number(seen, READINGS.time_unit)
    with cockroachdb.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("CREATE TABLE instants (number int8, seen timestamptz)")
        for value in map(int, SEEN_US):
            instant = cockroachdb.dialect.instant(value, READINGS.time_unit)
            cursor.execute(f"INSERT INTO instants VALUES ({value}, {instant})")
        cursor.execute(f"SELECT count(*) FROM instants WHERE number <> {number}")
        assert cursor.fetchall() == [(0,)]


def test_a_mean_is_a_quotient_of_doubles(cockroachdb):
    query = AggregateQuery(EVENTS, (Aggregate(Function.AVG, "sequence_number"),))
    assert cockroachdb.render(query).text == (
        "SELECT CAST(sum(sequence_number) AS DOUBLE PRECISION) / "
        "CAST(count(sequence_number) AS DOUBLE PRECISION) FROM events"
    )


# --- errors --------------------------------------------------------------------------------------


ABORTED = (
    "restart transaction: TransactionRetryWithProtoRefreshError: "
    "TransactionAbortedError(ABORT_REASON_NEW_LEASE_PREVENTS_TXN)"
)


@pytest.fixture
def aborts(execute):
    """Let the first inserts into a table fail as CockroachDB aborts a transaction."""

    def make(table, times):
        execute(
            "CREATE SEQUENCE attempts",
            "CREATE FUNCTION abort() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF nextval('attempts') <= {times} THEN "
            f"RAISE EXCEPTION '{ABORTED}' USING ERRCODE = '40001'; END IF; RETURN NULL; END $$",
            f"CREATE TRIGGER abort BEFORE INSERT ON {table} FOR EACH STATEMENT "
            "EXECUTE FUNCTION abort()",
        )

    return make


@pytest.mark.parametrize("mode", [SINGLE, BATCH, VALUES, TRANSACTION])
def test_an_aborted_transaction_is_sent_again_and_stored_once(cockroachdb, aborts, mode):
    rows = RowRange(start=0, stop=50)
    dataset = specs.dataset(primary_key=PrimaryKey.CLIENT, ranges=(rows,))
    reader = DatasetReader(dataset)
    cockroachdb.create(reader.tables, 10)
    aborts("events", 2)
    sender = Sender(cockroachdb, reader, threading.Event())
    sender.start()
    sender.insert([rows], mode, 1 if mode == SINGLE else 10)
    sender.close()

    assert sender.failures.retried == 2
    assert sender.failures.uncertain_rows == 0
    with cockroachdb.connect() as session:
        assert count(cockroachdb, session, reader.tables[0]) == 50


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("40001", Failure.NOT_APPLIED),
        ("40003", Failure.UNKNOWN),  # result is ambiguous
        ("57P01", Failure.UNKNOWN),  # the node is drained
        ("58C00", Failure.UNKNOWN),  # replica unavailable
        ("58C01", Failure.UNKNOWN),  # a connection between nodes
        ("22003", Failure.FATAL),
    ],
)
def test_what_a_code_means_once_a_commit_was_asked_for(cockroachdb, code, meaning):
    class Reported(psycopg2.Error):
        pgcode = code

    cockroachdb.create([EVENTS], 1)
    wide = Wideset()
    cockroachdb.create(wide.tables, 1)
    with cockroachdb.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 1), SINGLE, 1)
        session.send(payload)
        assert session.classify(Reported()) is meaning


# --- by the vendor's documentation, not run ------------------------------------------------------


class Documented:
    """A session that answers as documented."""

    def __init__(self, answers):
        self.answers = answers
        self.statements = []

    def ask(self, text):
        self.statements.append(text)
        return [(self.answers[text],)]

    def run(self, statement):
        self.statements.append(statement.text)
        return self.answers[statement.text]


def answering(monkeypatch, answers):
    session = Documented(answers)
    monkeypatch.setattr(Cockroachdb, "administration", lambda _: nullcontext(session))
    return session


@pytest.mark.parametrize(
    ("release", "ranges"),
    [((23, 2), "[SHOW CLUSTER RANGES]"), ((21, 1), "crdb_internal.ranges_no_leases")],
)
@pytest.mark.parametrize("unsynced", ["false", "true"])
def test_describe_asks_in_documented_statements(
    open_cockroachdb, monkeypatch, unsynced, release, ranges
):
    database = open_cockroachdb(Cockroachdb)
    database.release = release
    answering(monkeypatch, {
        "SELECT version()": "CockroachDB CCL v26.2.1 (x86_64-pc-linux-gnu, built x, y)",
        "SELECT count(DISTINCT replica) FROM (SELECT unnest(replicas) AS replica "
        f"FROM {ranges}) AS replicas": 3,
        "SHOW CLUSTER SETTING kv.raft_log.disable_synchronization_unsafe": unsynced,
        "SELECT raw_config_sql FROM [SHOW ZONE CONFIGURATION FROM RANGE default]":
            "ALTER RANGE default CONFIGURE ZONE USING\n\trange_min_bytes = 134217728,\n"
            "\tgc.ttlseconds = 14400,\n\tnum_replicas = 3,\n\tconstraints = '[]'",
    })  # fmt: skip
    server = database.describe()
    assert (server.version, server.nodes) == ("CockroachDB 26.2.1", 3)
    assert server.durable == (unsynced == "false")
    assert server.settings["num_replicas"] == "3"
    assert server.durability.startswith("an acknowledged row is in the log of a majority")


def test_the_size_is_that_of_the_ranges_of_all_parts_each_once(open_cockroachdb, monkeypatch):
    statements = [
        "SELECT range_id, CAST(span_stats->>'approximate_disk_bytes' AS INT8) "
        f"FROM [SHOW RANGES FROM TABLE events{part} WITH DETAILS]"
        for part in range(4)
    ]
    session = answering(monkeypatch, {
        text: [(part // 2, 100 + part // 2), (7 + part, 1)] for part, text in enumerate(statements)
    })  # fmt: skip
    database = open_cockroachdb(Cockroachdb)
    database.release = (23, 2)
    assert database.size_bytes([EVENTS.stored(PrimaryKey.NONE, 4)]) == 205
    assert session.statements == statements
