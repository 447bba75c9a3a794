"""ClickHouse's options, error classes, durability, and its embedded engine.

The server is 18.16, in the SQL of its time (clickhouse18.py); the embedded engine is a recent one.
"""

import subprocess
import sys
import time

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Output, Selection, Statement
from simulator.data.schema import PrimaryKey, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import InUseError, SetupError, UnstorableError
from simulator.modules.clickhouse.database import Clickhouse, ClickhouseOptions
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.clickhouse.session import (
    CSV,
    ROWBINARY,
    ServerError,
    ServerSession,
    parse_rows,
)
from simulator.modules.clickhouse.tables import durability
from simulator.modules.clickhouse_embedded import ClickhouseEmbedded, EmbeddedOptions
from simulator.modules.contract import BATCH, SINGLE, Failure
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.clickhouse18 import Clickhouse18
from tests.contract.harness import Wideset, count, drop, encoded, send
from tests.contract.wide import READINGS
from tests.servers.clickhouse import READER
from tests.standins.web import Response, Web

SERVER = pytest.mark.server("clickhouse")
OF_EVENTS = "WHERE database = currentDatabase() AND table = 'events'"


@pytest.fixture
def open_server(server_options):
    return lambda **options: Clickhouse18(ClickhouseOptions(**{**server_options, **options}))


@pytest.fixture
def old(open_server):
    return open_server()


@pytest.fixture
def embedded(tmp_path):
    path = str(tmp_path / "clickhouse")
    return lambda **options: ClickhouseEmbedded(EmbeddedOptions(path=path, **options))


def asked(database, statement):
    with database.connect() as session:
        return session.execute(statement).decode().rstrip("\n")


# --- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primary_key", "id_type"),
    [
        (PrimaryKey.DB, "UInt64"),
        (PrimaryKey.CLIENT, "String"),
        (PrimaryKey.UUID, "UUID"),
        (PrimaryKey.NONE, None),
    ],
)
def test_the_events_table_has_the_documents_columns(embedded, primary_key, id_type):
    database = embedded()
    database.create([EVENTS.stored(primary_key, 1)], 1000)
    columns = asked(database, f"SELECT name, type FROM system.columns {OF_EVENTS}")
    assert [tuple(line.split("\t")) for line in columns.split("\n")] == [
        *([("id", id_type)] if id_type else []),
        ("timestamp", "Int64"),
        ("device_id", "LowCardinality(String)"),
        ("sequence_number", "Int64"),
        ("temperature", "Float32"),
    ]


def test_options_determine_how_tables_are_created(embedded):
    sorting = f"SELECT engine, sorting_key FROM system.tables {OF_EVENTS.replace('table', 'name')}"
    for options, found in (
        ({}, "MergeTree\tdevice_id, timestamp"),
        ({"order_by": "timestamp"}, "MergeTree\ttimestamp"),
        ({"engine": "ReplacingMergeTree"}, "ReplacingMergeTree\tdevice_id, timestamp"),
    ):
        database = embedded(**options)
        drop(database, [EVENTS])
        database.create([EVENTS], 1)
        assert asked(database, sorting).translate({ord("("): "", ord(")"): ""}) == found
    tag = f"SELECT type FROM system.columns {OF_EVENTS} AND name = 'device_id'"
    plain = embedded(low_cardinality=False)
    drop(plain, [EVENTS])
    plain.create([EVENTS], 1)
    assert asked(plain, tag) == "String"


def test_the_statements_for_a_cluster_are_valid_for_the_engine(embedded, monkeypatch):
    sent = []

    def execute(_, statement):
        sent.append(statement)
        return b"26.9.1\n"

    monkeypatch.setattr(ServerSession, "execute", execute)
    options = {"cluster": "bench", "engine": "ReplicatedMergeTree", "async_insert": True}
    database = Clickhouse(ClickhouseOptions(url="http://x:1", **options))
    database.create([EVENTS], 1)
    database.visible([EVENTS])
    database.compact([EVENTS])
    drop(database, [EVENTS])
    statements = [text for text in sent if "version()" not in text]

    assert statements[0].startswith("CREATE TABLE events ON CLUSTER bench (")
    assert "ENGINE = ReplicatedMergeTree ORDER BY (device_id, timestamp)" in statements[0]
    assert statements[1:6] == [
        "SYSTEM FLUSH ASYNC INSERT QUEUE ON CLUSTER bench",
        "SYSTEM SYNC REPLICA ON CLUSTER bench events",
        "OPTIMIZE TABLE events FINAL",
        "SYSTEM SYNC REPLICA ON CLUSTER bench events",
        "DROP TABLE IF EXISTS events ON CLUSTER bench SYNC",
    ]
    with embedded().connect() as session:
        text = session.dialect.text
        for statement in statements:
            session.execute(f"SELECT formatQuery({text(statement)})")
        with pytest.raises(ServerError):
            session.execute(f"SELECT formatQuery({text('SYSTEM SYNC REPLICA ON bench x')})")


def test_every_keyword_can_be_a_name(embedded):
    database, dialect = embedded(), ClickhouseDialect()
    with database.connect() as session:
        execute = session.execute
        words = execute("SELECT lower(keyword) FROM system.keywords").decode().split("\n")
        names = {dialect.name(word) for word in words if word.isidentifier()}
        assert len(names) > 300
        columns = sorted(names)
        typed = ", ".join(f"{name} Int32" for name in columns)
        execute(f"CREATE TABLE words ({typed}) ENGINE = MergeTree ORDER BY tuple()")
        ones = ", ".join("1" for _ in columns)
        execute(f"INSERT INTO words ({', '.join(columns)}) VALUES ({ones})")
        for name in columns:
            text = f"SELECT {name}, max({name}) FROM words WHERE {name} >= 1 GROUP BY {name}"
            assert execute(f"{text} FORMAT TabSeparated") == b"1\t1\n", name


def test_a_range_of_time_is_found_by_the_index(embedded):
    database, wide = embedded(order_by="time"), Wideset()
    database.create(wide.tables[:1], 100)
    with database.connect() as session:
        send(session, wide.batches[0], BATCH, 100)
    highest = (Aggregate(Function.MAX, "small"),)
    query = AggregateQuery(READINGS, highest, selection=Selection(since=10**15))
    plan = asked(database, f"EXPLAIN indexes = 1 {database.render(query).text}")
    assert "PrimaryKey" in plan
    assert "time in [" in plan


def test_compacting_merges_into_one_part_unless_optimize_is_false(embedded):
    parts = "SELECT count() FROM system.parts WHERE active AND table = 'readings'"
    for optimize in (True, False):
        database = embedded(optimize=optimize)
        asked(database, "SYSTEM STOP MERGES")
        wide = Wideset()
        drop(database, wide.tables)
        database.create(wide.tables, 100)
        with database.connect() as session:
            session.execute("SYSTEM STOP MERGES readings")
            send(session, wide.batches[0], BATCH, 100)
            before = int(session.execute(parts))
            session.execute("SYSTEM START MERGES readings")
        assert before > 1
        database.compact(wide.tables)
        if optimize:
            assert asked(database, parts) == "1"


@pytest.mark.parametrize("mode", [BATCH, ROWBINARY, CSV])
def test_a_batch_is_one_part(embedded, mode):
    database, wide = embedded(), Wideset()
    database.create(wide.tables, 1000)
    batch = wide.batches[0]
    with database.connect() as session:
        session.send(encoded(session, batch, mode, len(batch)))
        blocks = "SELECT count(), sum(rows) FROM system.parts WHERE level = 0 "
        parts = session.execute(f"{blocks} AND table = 'readings'").decode()
    assert parts == f"1	{len(batch)}\n"


def test_the_format_selects_the_mode(embedded):
    for form, mode in (("native", BATCH), ("rowbinary", ROWBINARY), ("csv", CSV)):
        assert embedded(format=form).insert_mode(BATCH) == mode
        assert embedded(format=form).insert_mode(SINGLE) == SINGLE


def test_problems_are_named_before_the_run_starts():
    reach = {"url": "http://x:1"}
    (problem,) = Clickhouse(ClickhouseOptions(**reach)).problems(PrimaryKey.DB, 1, BATCH, 2_000_000)
    assert "--batch: at most 1000000 rows" in problem
    without = ClickhouseOptions(**reach, wait_for_async_insert=False)
    (problem,) = Clickhouse(without).problems(PrimaryKey.DB, 1, BATCH, 1)
    assert "without async_insert" in problem


# --- values --------------------------------------------------------------------------------------


def test_instants_that_an_old_server_misreads_from_csv_are_refused(embedded):
    wide = Wideset()
    with embedded().connect() as session:
        session._text_years = (1900, 2299)
        batch = wide.batches[0]
        with pytest.raises(UnstorableError, match=r"column seen: .* years 1900 to 2299.*native"):
            session.encode(batch, CSV, 100)
        assert session.encode(batch, BATCH, 100)


def test_an_answer_that_ends_in_an_error_is_an_error():
    number, text = Output("n", Type.INT64, TimeUnit.SECOND), Output("t", Type.TEXT, TimeUnit.SECOND)
    assert parse_rows("1\t\\N\n2\ta\\tb\\\\c\n", [number, text]) == [(1, None), (2, "a\tb\\c")]
    assert parse_rows("", [number]) == []
    error = "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)"
    for torn in (f"1\n{error}", f"1\n{error}\n", "1\n2"):
        with pytest.raises(ServerError):
            parse_rows(torn, [number])
    assert parse_rows("1\t2\n", [number]) == [("1", "2")]  # `answer` checks the number of columns


@SERVER
def test_an_error_in_the_middle_of_an_answer_is_raised(old):
    columns = tuple(Output(name, Type.TEXT, TimeUnit.SECOND) for name in ("n", "wide"))
    failing = f"toString(throwIf(number = 300000)), concat('{'x' * 50}', toString(number))"
    text = f"SELECT {failing} FROM system.numbers LIMIT 400000"
    with old.connect() as session:
        with pytest.raises(ServerError, match=r"(?i)throwIf|non-zero"):
            session.run(Statement(text, columns))
        assert session.run(Statement("SELECT '1', ''", columns)) == [("1", "")]
    with old.connect() as session, pytest.raises(Exception, match=r"(?i)throwIf|non-zero"):
        list(session.stream(Statement(text, columns), 1000))


# --- errors --------------------------------------------------------------------------------------


def expect_unreadable(database, *damage):
    """Expect that a damaged payload is refused as a whole, and the same one undamaged is not."""
    wide = Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        payload = encoded(session, wide.batches[0], BATCH, 10)
        into, form, content = payload.data
        for each in damage:
            with pytest.raises(ServerError) as caught:
                session.insert(into, form, each(content))
            assert session.classify(caught.value) is Failure.FATAL
            assert session.alive
        assert count(database, session, wide.tables[0]) == 0
        session.send(payload)
        assert count(database, session, wide.tables[0]) == 10


def cut(content):
    return content[:-5]


@SERVER
def test_an_unreadable_payload_is_refused_as_a_whole_by_the_server(old):
    expect_unreadable(old, cut, lambda content: content.replace(b"Int16", b"Int61"))


@SERVER
def test_a_missing_table_is_fatal_with_a_remedy(old, server, server_database):
    wide = Wideset()
    old.create(wide.tables, 10)
    with old.connect() as session:
        payload = encoded(session, wide.batches[0], BATCH, 10)
        server.execute("DROP TABLE readings", database=server_database)
        with pytest.raises(ServerError) as caught:
            session.send(payload)
        assert caught.value.code == 60
        assert session.classify(caught.value) is Failure.FATAL
        assert "run an insert first" in old.explain(caught.value)


@SERVER
def test_a_read_only_user_may_not_write(open_server, old):
    wide = Wideset()
    old.create(wide.tables, 10)
    reader = open_server(user=READER)
    with reader.connect() as session:
        with pytest.raises(ServerError) as caught:
            session.send(encoded(session, wide.batches[0], BATCH, 10))
        assert session.classify(caught.value) is Failure.FATAL
        assert "GRANT" in reader.explain(caught.value)
    with pytest.raises(SetupError, match=r"(?i)readonly.*GRANT"):
        reader.create(wide.tables, 10)


@SERVER
def test_merges_are_counted(old):
    wide = Wideset()
    old.create(wide.tables, 10)
    with old.background_work() as counters, old.connect() as session:
        before = counters()
        payload = encoded(session, wide.batches[0], BATCH, 10)
        for _ in range(12):
            session.send(payload)
        deadline = time.monotonic() + 20
        while counters() == before and time.monotonic() < deadline:
            time.sleep(0.1)
        after = counters()

    assert [*after] == ["rows merged", "inserts delayed by merges", "inserts refused until merges"]
    assert after["rows merged"] > before["rows merged"]


@SERVER
def test_too_many_parts_mean_not_applied(old, server, server_database):
    wide = Wideset()
    old.create(wide.tables, 10)
    # With a limit of one part, the first INSERT succeeds and the next one is refused.
    server.execute(
        "DROP TABLE readings",
        old.define_table(wide.tables[0], "readings") + " SETTINGS parts_to_throw_insert = 1, "
        "parts_to_delay_insert = 1, max_bytes_to_merge_at_max_space_in_pool = 1",
        database=server_database,
    )
    with old.connect() as session:
        payload = encoded(session, wide.batches[0], BATCH, 10)
        with pytest.raises(ServerError) as caught:
            _send_often(session, payload)
        stored = count(old, session, wide.tables[0])
        assert caught.value.code == 252
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        assert "larger --batch" in old.explain(caught.value)
        with pytest.raises(ServerError):
            session.send(payload)
        assert count(old, session, wide.tables[0]) == stored


@pytest.mark.parametrize(
    ("message", "code", "meaning"),
    [
        ("Code: 202. DB::Exception: Too many simultaneous queries", 202, Failure.NOT_APPLIED),
        ("Code: 252, e.displayText() = DB::Exception: Too many parts", 252, Failure.NOT_APPLIED),
        ("Code: 60. DB::Exception: Table t does not exist", 60, Failure.FATAL),
        ("Code: 159. DB::Exception: Timeout exceeded", 159, Failure.UNKNOWN),
        ("Code: 241. DB::Exception: Memory limit exceeded", 241, Failure.UNKNOWN),
        ("Code: 999. DB::Exception: Something of the coordination", 999, Failure.UNKNOWN),
        ("no code at all", None, Failure.UNKNOWN),
    ],
)
def test_a_server_error_is_classified_by_its_code(embedded, message, code, meaning):
    error = ServerError(message)
    assert error.code == code
    with embedded().connect() as session:
        assert session.classify(error) is meaning


@pytest.mark.parametrize("mode", [SINGLE, BATCH, ROWBINARY, CSV])
def test_the_engine_reports_how_many_rows_it_wrote(embedded, mode):
    database, wide = embedded(), Wideset()
    database.create(wide.tables, 10)
    rows = 1 if mode == SINGLE else 10
    with database.connect() as session:
        assert session.insert(*encoded(session, wide.batches[0], mode, rows).data) == rows


def test_a_row_that_the_engine_skips_silently_is_an_error(embedded):
    """With this setting, of a server's user profile for example, unreadable rows are skipped."""
    database, wide = embedded(format="csv"), Wideset()
    database.create(wide.tables, 10)
    with database.connect() as session:
        session.execute("SET input_format_allow_errors_num = 100")
        payload = encoded(session, wide.batches[0], CSV, 10)
        into, form, content = payload.data
        with pytest.raises(ServerError) as caught:
            session.send(payload._replace(data=(into, form, b"!" + content)))
        assert str(caught.value) == "the server acknowledged 9 of 10 rows"
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert count(database, session, wide.tables[0]) == 9


@pytest.mark.parametrize(
    ("version", "options", "summary", "refused"),
    [
        ("25.8.1", {}, '{"read_rows":"3","written_rows":"3"}', False),
        ("25.8.1", {}, '{"written_rows":"6"}', False),  # three of them by a materialized view
        ("25.8.1", {}, '{"written_rows":"2"}', True),
        ("25.8.1", {}, '{"written_rows":"0"}', True),
        ("25.8.1", {"async_insert": True}, '{"written_rows":"0"}', False),  # not counted
        ("25.8.1", {"async_insert": True}, '{"written_rows":"2"}', True),
        ("22.8.1", {}, '{"written_rows":"0"}', False),  # not counted
        ("22.8.1", {}, '{"written_rows":"2"}', True),
        ("25.8.1", {}, None, False),
        ("25.8.1", {}, "", False),
    ],
)
def test_a_summary_with_fewer_rows_than_were_sent_is_an_error(version, options, summary, refused):
    """Made-up answers: 18.16, the server at hand, sends no summary."""

    def answer(request):
        inserted = "query=INSERT" in request.path
        headers = {"X-ClickHouse-Summary": summary} if inserted and summary is not None else {}
        return Response(body=b"" if inserted else f"{version}\n".encode(), headers=headers)

    with Web(answer) as web:
        database = Clickhouse(ClickhouseOptions(url=web.url, **options))
        with database.connect() as session:
            payload = encoded(session, Wideset().batches[0], BATCH, 3)
            if not refused:
                session.send(payload)
                return
            with pytest.raises(ServerError, match=r"acknowledged \d of 3 rows") as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.UNKNOWN


# --- connecting ----------------------------------------------------------------------------------


@SERVER
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"user": "nobody-known"}, "(?i)user.*check user and password"),
        ({"database": "no_such"}, r"no_such.*create it \(CREATE DATABASE\)"),
    ],
)
def test_a_refused_connection_is_reported_with_a_remedy(open_server, server, options, message):
    database = open_server(**options)
    for attempt in (database.connect, database.describe, lambda: database.create([EVENTS], 1)):
        with pytest.raises(SetupError, match=message) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert "wrong-password" not in str(caught.value)
        assert server.password not in str(caught.value)


@SERVER
def test_the_port_of_the_native_protocol_is_recognised(open_server, server):
    native = open_server(url=f"http://127.0.0.1:{server.port('native')}")
    shown = ""
    while "Connection reset" in shown or not shown:  # it may close before it has read all
        with pytest.raises(SetupError) as caught:
            native.connect()
        shown = str(caught.value)
    assert f"use port {server.port('http')} for HTTP" in shown


@SERVER
def test_a_server_that_is_too_old_is_named(server_options):
    new = Clickhouse(ClickhouseOptions(**server_options))
    with pytest.raises(SetupError, match=r"must be ClickHouse 22\.8 or newer"):
        new.connect()
    with pytest.raises(SetupError, match=r"ClickHouse 18\.16\.1, which .* must be 22\.8 or newer"):
        type("Old", (Clickhouse18,), {"capabilities": Clickhouse.capabilities})(
            new.options
        ).connect()


# --- the server ----------------------------------------------------------------------------------


@SERVER
def test_a_server_that_cannot_sync_is_not_durable(old):
    described = old.describe()
    assert described.version == "ClickHouse 18.16.1"
    assert described.durable is False
    assert "this version cannot sync" in described.durability


def test_fsync_makes_tables_durable_and_is_reported(embedded):
    assert embedded().describe().durable is False
    database = embedded(fsync=True)
    database.create([EVENTS], 1)
    assert database.describe().durable is True
    made = asked(database, "SHOW CREATE TABLE events")
    assert "fsync_after_insert = 1" in made
    assert "fsync_part_directory = 1" in made


def test_rows_that_async_insert_holds_in_memory_are_not_durable():
    synced = {"fsync_after_insert": "1", "fsync_part_directory": "1"}
    waiting = {"async_insert": "1", "wait_for_async_insert": "1"}
    assert durability(synced)[0] is True
    assert durability(synced | waiting)[0] is True
    durable, sentence = durability(synced | waiting | {"wait_for_async_insert": "0"})
    assert durable is False
    assert "in the server's memory" in sentence


# --- the embedded engine -------------------------------------------------------------------------


def test_a_folder_that_another_process_has_open_is_reported(embedded, tmp_path):
    database = embedded()
    database.create([EVENTS], 1)
    holder = (
        f"import chdb, sys; c = chdb.connect({str(tmp_path / 'clickhouse')!r}); "
        "c.query('SELECT 1'); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(InUseError, match=f"process {other.pid} has the database open; wait"):
            database.connect()
        other.stdin.close()
        other.wait(30)
    assert asked(database, "SELECT count() FROM events") == "0"


def test_the_last_connection_releases_the_folder(embedded, tmp_path):
    database = embedded()
    database.create([EVENTS], 1)
    with database.connect(), database.connect():
        pass
    look = f"import chdb; print(chdb.connect({str(tmp_path / 'clickhouse')!r}).query('SELECT 7'))"
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60
    )
    assert "7" in done.stdout


def test_an_unreadable_payload_is_refused_as_a_whole_by_the_engine(embedded):
    expect_unreadable(embedded(), cut)


def test_a_batch_that_the_engine_refuses_after_acknowledging_it_is_missing(embedded):
    """The embedded engine hides the error; a limit in the documentation says so."""
    database, wide = embedded(), Wideset()
    wide.fill(database)
    table = wide.tables[0]
    with database.connect() as session:
        session.execute(f"TRUNCATE TABLE {table.name}")
        session.execute(f"ALTER TABLE {table.name} ADD CONSTRAINT none CHECK 0")
        session.send(encoded(session, wide.batches[0], BATCH, 10))
        assert count(database, session, table) == 0
    verdict = verify(database, wide.dataset, (), VerifyMode.COUNTS)
    assert verdict.status is Status.MISMATCH
    assert any("cannot write" in limit for limit in database.capabilities.limits)


def _send_often(session, payload):
    for _ in range(5):
        session.send(payload)
