"""What is PostgreSQL's own: its options, its errors and what they mean, and its secrets."""

import re
import threading
import time
from dataclasses import replace

import psycopg2
import pytest

from simulator.control.database.checks import probe
from simulator.control.database.work import DatabaseWork
from simulator.data.query import Aggregate, AggregateQuery, Function, Selection, Statement
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, SINGLE, Failure, RowCountMismatch
from simulator.modules.evidence import find_versions
from simulator.modules.postgres.database import Postgres, PostgresOptions
from simulator.modules.postgres.session import PostgresSession
from simulator.modules.shared.sql.database import indices_of
from simulator.modules.shared.sql.transactions import PREPARED, TRANSACTION, VALUES
from simulator.modules.sqlite import SqliteDialect
from simulator.protocol.mark import State
from simulator.protocol.messages import WorkerReport
from simulator.protocol.spec import InsertTask
from simulator.protocol.verdict import Status
from tests.contract.harness import Wideset, drop, encoded, refusal, send
from tests.contract.wide import READINGS
from tests.unit.specs import run_spec

pytestmark = pytest.mark.server("postgres")

COUNT = (Aggregate(Function.COUNT),)
MODES = [SINGLE, BATCH, VALUES, TRANSACTION, PREPARED]


@pytest.fixture
def open_postgres(server_options):
    return lambda **options: Postgres(PostgresOptions(**{**server_options, **options}))


@pytest.fixture
def postgres(open_postgres):
    return open_postgres()


def columns_of(database, table):
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = %s ORDER BY ordinal_position",
            (table,),
        )
        return cursor.fetchall()


def primary_key_of(database, table):
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE contype = 'p' AND conrelid = %s::regclass",
            (table,),
        )
        return [definition for (definition,) in cursor.fetchall()]


M62 = [
    ("timestamp", "bigint"),
    ("device_id", "character varying"),
    ("sequence_number", "bigint"),
    ("temperature", "real"),
]


@pytest.mark.parametrize(
    ("primary_key", "id_type"),
    [
        (PrimaryKey.DB, "bigint"),
        (PrimaryKey.SQL, "bigint"),
        (PrimaryKey.CLIENT, "character varying"),
        (PrimaryKey.UUID, "uuid"),
        (PrimaryKey.NONE, None),
    ],
)
def test_the_events_table_is_that_of_the_reference_document(postgres, primary_key, id_type):
    postgres.create([EVENTS.stored(primary_key, 1)], 1000)
    expected = [("id", id_type), *M62] if id_type else M62
    assert columns_of(postgres, "events") == expected
    assert primary_key_of(postgres, "events") == (["PRIMARY KEY (id)"] if id_type else [])


@pytest.mark.parametrize(("batch_rows", "cache"), [(1, 100), (1000, 1000)])
def test_an_identity_caches_as_many_numbers_as_a_batch_has_rows(postgres, batch_rows, cache):
    postgres.create([EVENTS.stored(PrimaryKey.SQL, 1)], batch_rows)
    with postgres.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SELECT cache_size FROM pg_sequences WHERE sequencename = 'events_id_seq'")
        assert cursor.fetchall() == [(cache,)]


def test_the_primary_key_constraint_may_be_another(open_postgres):
    constraint = "PRIMARY KEY (device_id, timestamp, sequence_number)"
    database = open_postgres(primary_key_constraint=constraint)
    database.create([EVENTS.stored(PrimaryKey.DB, 1)], 1000)
    found = ['PRIMARY KEY (device_id, "timestamp", sequence_number)']
    assert primary_key_of(database, "events") == found
    (problem,) = database.problems(PrimaryKey.NONE, 1, BATCH, 1)
    assert "primary_key_constraint" in problem


def test_extensions_are_installed_on_request(open_postgres):
    database = open_postgres(install_extensions=True)
    database.create([EVENTS], 1)
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension WHERE extname = 'pgcrypto'")
        assert cursor.fetchall() == [("pgcrypto",)]


def test_indices_are_those_of_the_reference_document(open_postgres):
    database = open_postgres(create_indices=True)
    database.create([EVENTS], 1)
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'events' ORDER BY 1")
        definitions = [definition.split(" USING ")[1] for (definition,) in cursor.fetchall()]
    assert definitions == [
        "btree (temperature)",
        'btree (device_id, "timestamp", temperature)',
    ]


def test_names_of_indices_of_a_table_with_the_longest_name_differ(open_postgres):
    """PostgreSQL cuts names after 63 bytes, of a longer index to that of its table."""
    database = open_postgres(create_indices=True)
    table = replace(EVENTS, name="\u00e9" * 31 + "x")
    names = [name for name, _, _ in indices_of([table])]
    try:
        database.create([table], 100)
        database.create_indices([table])
        with database.administration() as session:
            asked = "SELECT indexname FROM pg_indexes WHERE tablename = %s"
            rows = session.run(Statement(asked, (), (table.name,)))
        assert {name for (name,) in rows} == {*names}
        assert len({*names}) == len(table.indices) > 1
        assert database.obstacles([table]) == {}
    finally:
        drop(database, [table])


def test_an_index_serves_the_published_minimum(open_postgres):
    database = open_postgres(create_indices=True)
    database.create([EVENTS], 1)
    query = Iot(Iot.params_model(), 1, 0).queries([EVENTS])["temperature-min-max"]
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute(f"EXPLAIN {database.render(query).text}")
        assert "Index Only Scan" in str(cursor.fetchall())


def test_every_reserved_word_is_quoted(postgres):
    with postgres.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
        reserved = {word for (word,) in cursor.fetchall()}
    assert [word for word in reserved if SqliteDialect().name(word) == word] == []


def test_a_statement_is_prepared_once_for_each_connection_and_table(postgres):
    wide = Wideset(parts=2)
    postgres.create(wide.tables, 10)
    with postgres.connect() as session, postgres.connect() as other:
        for block in wide.batches:
            for payload in session.encode(block, PREPARED, 50):
                session.send(payload)
        (payload,) = session.encode(wide.batches[0].slice(0, 1), PREPARED, 1)
        other.send(payload)  # a batch that the connection before it has encoded
        prepared = "SELECT name, calls FROM pg_prepared_statements, LATERAL (SELECT generic_plans"
        prepared += " + custom_plans AS calls) AS used ORDER BY name"
        names = sorted({block.name for block in wide.batches})
        rows = {b.name: sum(len(x) for x in wide.batches if x.name == b.name) for b in wide.batches}
        assert session.run(Statement(prepared, ())) == [(name, rows[name]) for name in names]
        assert other.run(Statement(prepared, ())) == [(wide.batches[0].name, 1)]


@pytest.mark.parametrize("mode", [TRANSACTION, PREPARED])
def test_a_transaction_may_end_whenever_some_time_has_passed(open_postgres, execute, mode):
    wide = Wideset()
    database = open_postgres(transaction=True, commit_every_s=1e-6)
    database.create(wide.tables, 10)
    execute("CREATE UNIQUE INDEX once ON readings (time)")
    first = wide.batches[0]
    with database.connect() as session:
        (payload,) = session.encode(first.slice(5, 6), mode, 1)
        session.send(payload)
        with pytest.raises(psycopg2.IntegrityError) as caught:
            session.send(encoded(session, first, mode, 10))  # the sixth is already stored
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert session.alive
        assert session.run(database.render(AggregateQuery(wide.tables[0], COUNT))) == [(6,)]
    with open_postgres(transaction=True, commit_every_s=60).connect() as session:
        with pytest.raises(psycopg2.IntegrityError) as caught:
            session.send(encoded(session, first.slice(1, 9), mode, 8))
        assert session.classify(caught.value) is Failure.FATAL  # nothing was committed


# --- what an error means for the rows ------------------------------------------------------------


def wait_until_waiting(cursor, backend):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s", (backend,))
        if cursor.fetchall() == [(1,)]:
            return
        time.sleep(0.01)
    pytest.fail("the backend did not come to wait for a lock")


def send_and_terminate(database, session, payload):
    """Send into a locked table, terminate the waiting backend, and return the error."""
    caught = []

    def sending():
        try:
            session.send(payload)
        except psycopg2.Error as error:
            caught.append(error)

    thread = threading.Thread(target=sending)
    with database.connect() as blocker, blocker.connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE readings")
        backend = session.connection.info.backend_pid
        thread.start()
        try:
            wait_until_waiting(cursor, backend)
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", (backend,))
        finally:
            cursor.execute("ROLLBACK")
            thread.join()
    (error,) = caught
    return error


@pytest.mark.parametrize(
    ("mode", "meaning"),
    [
        (SINGLE, Failure.UNKNOWN),
        (BATCH, Failure.UNKNOWN),
        (VALUES, Failure.UNKNOWN),
        (TRANSACTION, Failure.NOT_APPLIED),  # COMMIT was not sent
        (PREPARED, Failure.NOT_APPLIED),
    ],
)
def test_a_backend_that_is_terminated(postgres, mode, meaning):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    with postgres.connect() as session:
        rows = 1 if mode == SINGLE else 10
        payload = encoded(session, wide.batches[0], mode, rows)
        error = send_and_terminate(postgres, session, payload)
        assert session.classify(error) is meaning
        assert not session.alive

        with pytest.raises(psycopg2.Error) as again:
            session.send(payload)
        assert session.classify(again.value) is Failure.NOT_APPLIED  # it was never sent


@pytest.mark.parametrize(
    ("mode", "stored", "meaning"),
    [
        (SINGLE, 0, Failure.FATAL),
        (BATCH, 7, Failure.UNKNOWN),
        (VALUES, 7, Failure.UNKNOWN),
        (TRANSACTION, 0, Failure.FATAL),  # rolled back
        (PREPARED, 0, Failure.FATAL),
    ],
)
def test_rows_that_a_trigger_drops_are_an_error(postgres, execute, mode, stored, meaning):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    skip = "BEGIN IF NEW.small = 0 THEN RETURN NULL; END IF; RETURN NEW; END"
    execute(
        f"CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS '{skip}'",
        "CREATE TRIGGER skip BEFORE INSERT ON readings FOR EACH ROW EXECUTE FUNCTION skip()",
    )
    first, rows = (2, 1) if mode == SINGLE else (0, 8)  # `small` is 0 in the third row
    sent = wide.batches[0].slice(first, first + rows)
    with postgres.connect() as session:
        (payload,) = session.encode(sent, mode, rows)
        with pytest.raises(RowCountMismatch, match="server acknowledged") as caught:
            session.send(payload)
        assert session.classify(caught.value) is meaning
        assert session.run(postgres.render(AggregateQuery(wide.tables[0], COUNT))) == [(stored,)]
    assert "look for triggers" in postgres.explain(caught.value)


def test_an_error_that_a_trigger_raises_names_triggers(postgres, execute):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    no = "BEGIN RAISE EXCEPTION $$not today$$; END"
    execute(
        f"CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS '{no}'",
        "CREATE TRIGGER no BEFORE INSERT ON readings FOR EACH ROW EXECUTE FUNCTION no()",
    )
    with postgres.connect() as session, pytest.raises(psycopg2.Error) as caught:
        session.send(encoded(session, wide.batches[0], BATCH, 10))
    assert postgres.explain(caught.value).startswith("not today; look for triggers")


def test_rows_that_a_rule_drops_are_an_error(postgres, execute):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    execute("CREATE RULE skip AS ON INSERT TO readings DO INSTEAD NOTHING")
    with postgres.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 5), VALUES, 5)
        with pytest.raises(RowCountMismatch, match="acknowledged 0 of 5 rows") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL


@pytest.mark.parametrize("mode", MODES)
def test_a_lock_that_is_not_granted_in_time_means_not_applied(postgres, mode):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    with postgres.connect() as session, postgres.connect() as blocker:
        payload = encoded(session, wide.batches[0], mode, 1)
        with session.connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 10")
        with blocker.connection.cursor() as cursor:
            cursor.execute("BEGIN; LOCK TABLE readings IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(psycopg2.Error) as caught:
                session.send(payload)
            cursor.execute("ROLLBACK")
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        session.send(payload)
        assert session.run(postgres.render(AggregateQuery(READINGS, COUNT))) == [(1,)]


def test_a_deadlock_means_not_applied(postgres):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    with postgres.connect() as session, postgres.connect() as blocker, postgres.connect() as third:
        payload = encoded(session, wide.batches[0], BATCH, 10)
        mine, others = session.connection.cursor(), blocker.connection.cursor()
        mine.execute("SET deadlock_timeout = '50ms'; SELECT pg_advisory_lock(1)")
        others.execute("SET deadlock_timeout = '1min'; BEGIN; LOCK TABLE readings")
        waiter = threading.Thread(target=others.execute, args=("SELECT pg_advisory_lock(1)",))
        waiter.start()
        wait_until_waiting(third.connection.cursor(), blocker.connection.info.backend_pid)
        with pytest.raises(psycopg2.Error) as caught:
            session.send(payload)
        mine.execute("SELECT pg_advisory_unlock(1)")
        waiter.join()
        others.execute("ROLLBACK")

        assert caught.value.pgcode == "40P01"
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        session.send(payload)


def test_a_serialization_failure_means_not_applied(postgres, execute):
    wide = Wideset()
    postgres.create(wide.tables, 10)
    # A trigger of the user's own can make inserts depend on each other; here it always does.
    execute(
        "CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001'; END $$",
        "CREATE TRIGGER conflict BEFORE INSERT ON readings FOR EACH STATEMENT "
        "EXECUTE FUNCTION conflict()",
    )
    with postgres.connect() as session:
        for mode in MODES:
            with pytest.raises(psycopg2.Error) as caught:
                session.send(encoded(session, wide.batches[0], mode, 1))
            assert session.classify(caught.value) is Failure.NOT_APPLIED
            assert session.alive


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("40001", Failure.NOT_APPLIED),
        ("40003", Failure.UNKNOWN),
        ("53300", Failure.NOT_APPLIED),
        ("57P02", Failure.UNKNOWN),
        ("57P03", Failure.NOT_APPLIED),
        ("08006", Failure.UNKNOWN),
        ("22003", Failure.FATAL),
        ("53100", Failure.FATAL),
        (None, Failure.UNKNOWN),
    ],
)
def test_what_an_sqlstate_means_once_a_commit_was_asked_for(postgres, code, meaning):
    class Reported(psycopg2.Error):
        pgcode = code

    wide = Wideset()
    postgres.create(wide.tables, 1)
    with postgres.connect() as session:
        session.send(encoded(session, wide.batches[0], SINGLE, 1))
        assert session.classify(Reported()) is meaning


@pytest.mark.controls("kill")
@pytest.mark.parametrize("is_stored", [False, True])
def test_the_last_mark_of_an_insert_is_written_again_if_the_server_is_killed_meanwhile(
    server, postgres, monkeypatch, is_stored
):
    wide, sends = Wideset(), []
    spec = run_spec(
        workers=(InsertTask(timed=wide.dataset.ranges),), dataset=wide.dataset.with_ranges([])
    )
    work = DatabaseWork(spec, postgres, lambda _: None)
    work.prepare()
    with postgres.connect() as session:
        for batch in wide.batches:
            send(session, batch, BATCH, 100)
    store = PostgresSession.send

    def store_and_kill(session, payload):
        sends.append(payload)
        if is_stored:
            store(session, payload)
        if len(sends) == 1:
            server.kill()
            server.start()
        if not is_stored:
            store(session, payload)

    monkeypatch.setattr(PostgresSession, "send", store_and_kill)
    work.finish_insert([WorkerReport(index=0, rows=wide.dataset.rows)])

    assert (work.verdict.status, work.complete, len(sends)) == (Status.VERIFIED, True, 2)
    assert work.ownership.read().newest([wide.tables[0].name]).state is State.COMPLETE


# --- being refused -------------------------------------------------------------------------------


def test_an_unknown_database_is_named(server, open_postgres):
    reach = server.connection_string("nowhere")
    for message in refusal(open_postgres(connection_string=reach)):
        assert 'database "nowhere" does not exist; create it' in message


def test_missing_permissions_are_named_with_the_remedy(
    server, server_database, open_postgres, execute
):
    execute("CREATE ROLE guest LOGIN PASSWORD 'guest-password'")
    try:
        reach = server.connection_string(server_database, "guest")
        guest = open_postgres(connection_string=reach, password="guest-password")
        with pytest.raises(SetupError, match=r"permission denied for schema public; .*GRANT"):
            guest.create([EVENTS], 1)
        open_postgres().create([EVENTS], 1)
        with pytest.raises(
            SetupError, match=r"must be owner of table events; .*owner of the tables"
        ):
            drop(guest, [EVENTS])
    finally:
        execute("DROP ROLE guest")


SECRET = "s3cret"
UNREADABLE = [
    f"host=127.0.0.1 password={SECRET} with spaces dbname=x",
    f"host=127.0.0.1 password='{SECRET} unterminated",
    f"hots=127.0.0.1 password={SECRET}",
    f"postgresql://ann:pa/{SECRET}/ss@127.0.0.1/x",
    f"postgresql://ann:p@{SECRET}@127.0.0.1/x",
    f"postgresql://ann:%zz{SECRET}@127.0.0.1/x",
    f"postgresql://ann@127.0.0.1:1/x?password={SECRET}",
    f"postgres://ann:{SECRET}@127.0.0.1:1/x?connect_timeout=2",
    f"host=127.0.0.1 port=1 PASSWORD = 'it\\'s {SECRET}' dbname=x",
    f"host=127.0.0.1 port=1 sslpassword={SECRET}",
    f"host=127.0.0.1 port=1 user=u passwd={SECRET}",
    f"PWD={SECRET};host=127.0.0.1",
    f"postgresql://u:{SECRET}",
    f"host=127.0.0.1 port=1 {SECRET}",
    SECRET,
    f"postgresql://u:{SECRET}@127.0.0.1:1,127.0.0.1:2/d",
]


@pytest.mark.parametrize("reach", UNREADABLE)
@pytest.mark.parametrize("own", [{}, {"password": SECRET}])
def test_no_password_is_ever_shown(open_postgres, reach, own):
    database = open_postgres(connection_string=reach, **own)
    message = [*refusal(database), str(database.options.public()), repr(database.options)]
    assert [words for words in message if SECRET in words] == []


def test_the_password_of_libpqs_environment_is_not_shown_either(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "4-bears-in-a-wood")
    options = PostgresOptions(connection_string="host=h")

    assert options.redact("FATAL: no 4-bears-in-a-wood here") == "FATAL: no *** here"


# --- statements to the server --------------------------------------------------------------------


def test_durability_follows_from_the_servers_settings(postgres, server_database, execute):
    server = postgres.describe()
    assert server.version.startswith("PostgreSQL ")
    assert server.durable
    assert server.settings["synchronous_commit"] == "on"

    execute(f"ALTER DATABASE {server_database} SET synchronous_commit = off")
    server = postgres.describe()
    assert server.durable is False
    assert "synchronous_commit=off" in server.durability


def test_the_size_of_the_buffers_is_the_servers(postgres):
    with postgres.connect() as session:
        statement = Statement("SELECT pg_size_bytes(current_setting('shared_buffers'))", ())
        ((expected,),) = session.run(statement)

    assert postgres.describe().buffer_bytes == expected >= 1 << 17


def test_compacting_leaves_statistics_and_a_visibility_map(postgres):
    wide = Wideset(parts=4)
    wide.fill(postgres)
    with postgres.connect() as session, session.connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples, relallvisible > 0 FROM pg_class WHERE relname='readings2'"
        )
        assert cursor.fetchall() == [(75, True)]


def test_a_session_names_its_program(postgres):
    with postgres.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('application_name'), current_setting('TimeZone')")
        ((application, zone),) = cursor.fetchall()
    assert application.startswith("benchmark ")
    assert zone == "UTC"


def test_a_query_that_reads_an_instant_is_served_by_an_index(postgres):
    wide = Wideset()
    wide.fill(postgres)
    query = AggregateQuery(READINGS, COUNT, selection=Selection(since=0, until=1_000_000))
    with postgres.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("CREATE INDEX ON readings (time); SET enable_seqscan = off")
        cursor.execute(f"EXPLAIN {postgres.render(query).text}")
        assert "Index Cond" in str(cursor.fetchall())


def test_checkpoints_are_counted(postgres, execute):
    with postgres.background_work() as counters:
        before = counters()
        execute("CHECKPOINT")
        deadline = time.monotonic() + 10
        while counters() == before and time.monotonic() < deadline:
            time.sleep(0.1)

        assert counters()["checkpoints"] > before["checkpoints"]


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("postgres", "tried|newer than any that was tried|older than any"),
        ("mysql", "never tried with this module"),
        ("yugabyte_sql", "draft, never tried on a server"),
    ],
)
def test_a_check_compares_the_server_with_those_that_were_tried(postgres, module, place):
    steps = {step.name: step.detail for step in probe(postgres, module)}

    ((product, version), *_) = find_versions(steps["reached"])
    assert product == "PostgreSQL"
    assert re.match(rf"PostgreSQL {re.escape(version)}( \(.*\))?: ({place})", steps["evidence"])


def test_a_check_of_a_users_module_knows_no_evidence(postgres):
    assert "evidence" not in {step.name for step in probe(postgres, "package.file:Class")}
