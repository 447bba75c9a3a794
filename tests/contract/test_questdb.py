"""What is specific to QuestDB: lines, tables, its log, and what errors mean."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import yaml

from simulator.data.block import Block, Coded, Values
from simulator.data.query import AggregateQuery, RowsQuery, Statement
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.encode.lineprotocol import LineProtocol
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, DRIVER, Failure
from simulator.modules.questdb import database as module
from simulator.modules.questdb import driver
from simulator.modules.questdb.database import QuestDb, QuestDbOptions
from simulator.modules.questdb.query import LINES, adapt, check_names
from simulator.modules.shared.http.client import NoAnswer, NotConnected, Refused
from tests import ROOT
from tests.contract import devices
from tests.contract.devices import TABLE, encoded
from tests.contract.harness import ask, count, drop
from tests.contract.targets import TARGETS

SERVER = pytest.mark.server("questdb")
readings = partial(devices.readings, temperature=0.5)
QUERIES = Iot(Iot.params_model(), 1, 0).queries([EVENTS])


@pytest.fixture
def open_questdb(server_options):
    return lambda **more: QuestDb(QuestDbOptions(**{**server_options, **more}))


@pytest.fixture
def database(open_questdb):
    return open_questdb()


def batch(table, **columns):
    """Make a batch of columns, given by name as items, None where NULL."""
    data = {}
    for column in table.columns:
        items = columns[column.name]
        valid = np.array([item is not None for item in items])
        if column.type is Type.TEXT:
            texts = np.array([("?" if item is None else item).encode() for item in items])
            data[column.name] = Coded(np.arange(len(items)), texts, valid)
        else:
            numbers = np.array([0 if item is None else item for item in items])
            kind = {Type.BOOL: np.bool_, Type.INT16: np.int16, Type.INT32: np.int32}
            kind |= {Type.FLOAT32: np.float32, Type.FLOAT64: np.float64}
            data[column.name] = Values(numbers.astype(kind.get(column.type, np.int64)), valid)
    return Block(table, 0, np.arange(len(items)), data)


def put(database, block):
    with database.connect() as session:
        session.send(encoded(session, block))
    database.visible([block.table])
    database.compact([block.table])


def all_of(database, table):
    with database.connect() as session:
        return [list(row) for row in ask(session, database.render(RowsQuery(table))).rows]


def stored_rows(database):
    database.visible([TABLE])
    with database.connect() as session:
        return count(database, session, TABLE)


def table_of(*columns, unit=TimeUnit.MILLISECOND, key=()):
    return Table("things", (Column("time", Type.TIMESTAMP, Role.TIME), *columns), key, unit)


def field(name, kind, *, nullable=True):
    return Column(name, kind, Role.FIELD, nullable=nullable)


# --- lines ---------------------------------------------------------------------------------------


def test_the_lines_are_those_of_the_format():
    table = table_of(
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        Column("rack", Type.INT16, Role.TAG),
        field("small", Type.INT16),
        field("flag", Type.BOOL),
        field("on", Type.BOOL, nullable=False),
        field("note", Type.TEXT),
        field("seen", Type.TIMESTAMP),
    )
    block = batch(
        table,
        time=[5, 6, 7],
        site=["a b", None, "x\\,=\ny"],
        rack=[-1, 0, 12],
        small=[1, None, 3],
        flag=[True, None, False],
        on=[True, False, True],
        note=['a "b" \\n', None, "two\nlines"],
        seen=[7, None, -9],
    )
    last = b'rack=12i,on=t,small=3i,flag=0i,note="two\\\nlines",seen=-9000t 7\n'
    lines = [
        b'things,site=a\\ b rack=-1i,on=t,small=1i,flag=1i,note="a \\"b\\" \\\\n",seen=7000t 5\n',
        b"things rack=0i,on=f 6\n",
        b"things,site=x\\\\\\,\\=\\\ny " + last,
    ]
    encoder = LineProtocol(adapt(table), "things", LINES)
    assert b"".join(encoder.encode(block, 10)) == b"".join(lines)
    assert encoder.encode(block, 1) == lines


@pytest.mark.parametrize(
    ("kind", "item", "message"),
    [
        (Type.INT32, -(2**31), "means NULL"),
        (Type.INT64, -(2**63), "means NULL"),
        (Type.TIMESTAMP, 2**63 // 1000 + 1, "64 bits"),
        (Type.FLOAT64, float("inf"), "infinite or NaN"),
    ],
)
def test_a_value_that_questdb_cannot_hold_is_refused_with_column_and_limit(kind, item, message):
    table = table_of(field("thing", kind))
    encoder = LineProtocol(adapt(table), "things", LINES)
    with pytest.raises(UnstorableError, match=f"column thing.*{message}"):
        encoder.encode(batch(table, time=[1], thing=[item]), 1)


@pytest.mark.parametrize(
    ("unit", "instant"),
    [
        (TimeUnit.SECOND, -1),
        (TimeUnit.MILLISECOND, 253_402_300_800_000),
        (TimeUnit.MICROSECOND, 2**62),
        (TimeUnit.NANOSECOND, 9_214_646_400 * 10**9),
    ],
)
def test_a_row_before_1970_or_too_late_is_refused(unit, instant):
    table = table_of(field("thing", Type.INT64), unit=unit)
    encoder = LineProtocol(adapt(table), "things", LINES)
    with pytest.raises(UnstorableError, match=f"column time: {instant} is outside of 0"):
        encoder.encode(batch(table, time=[instant], thing=[1]), 1)


@SERVER
def test_the_last_values_that_it_can_hold(database):
    table = table_of(field("i", Type.INT32), field("l", Type.INT64), field("seen", Type.TIMESTAMP))
    limit = 2**63 // 1000
    columns = {
        "time": [0, 253_402_300_799_999],
        "i": [-(2**31) + 1, 2**31 - 1],
        "l": [-(2**63) + 1, 2**63 - 1],
        "seen": [-limit + 1, limit - 1],
    }
    database.create([table], 1)
    put(database, batch(table, **columns))
    assert all_of(database, table) == [list(row) for row in zip(*columns.values(), strict=True)]


@SERVER
@pytest.mark.parametrize(
    ("unit", "times"),
    [
        (TimeUnit.SECOND, [0, 1_700_000_000]),
        (TimeUnit.MICROSECOND, [1, 253_402_300_799_999_999]),
        (TimeUnit.NANOSECOND, [1, 9_214_646_399_999_999_999]),
    ],
)
def test_instants_of_every_unit(database, unit, times):
    table = table_of(field("seen", Type.TIMESTAMP), unit=unit)
    database.create([table], 1)
    put(database, batch(table, time=times, seen=[-5, 1_700_000_000]))
    assert all_of(database, table) == [[times[0], -5], [times[1], 1_700_000_000]]


@SERVER
def test_every_text_may_be_a_tag_and_a_field(database):
    table = table_of(Column("tag", Type.TEXT, Role.TAG), field("note", Type.TEXT))
    texts = [
        "", "\\", "\\\\", "a\\", "\\ ", "a b", "a,b=c", "two\nlines", "\r\n", '"', '\\"', "'",
        "\t", "#", "\x01", "Zürich", "𝄞", "x" * 3000, "NULL", "1i", " ", "=", ",",
    ]  # fmt: skip
    database.create([table], 1)
    put(database, batch(table, time=range(len(texts)), tag=texts, note=texts))
    assert all_of(database, table) == [[n, text, text] for n, text in enumerate(texts)]


@SERVER
def test_a_row_of_nothing_but_its_time(database):
    kinds = (Type.TEXT, Type.BOOL, Type.INT16, Type.INT64, Type.FLOAT32, Type.TIMESTAMP)
    table = table_of(
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        *(field(kind.value, kind) for kind in kinds),
    )
    database.create([table], 1)
    nothing = {column.name: [None] for column in table.columns}
    put(database, batch(table, **{**nothing, "time": [7]}))
    assert all_of(database, table) == [[7, *[None] * 7]]


# --- tables --------------------------------------------------------------------------------------


@SERVER
@pytest.mark.parametrize(("primary_key", "more"), [("db", []), ("none", []), ("client", ["id"])])
def test_the_events_table(database, server, primary_key, more):
    table = EVENTS.stored(PrimaryKey(primary_key), 1)
    database.create([table], 1000)
    columns = server.execute("SELECT \"column\", type FROM table_columns('events')")
    assert columns == [
        *([name, "VARCHAR"] for name in more),
        ["timestamp", "TIMESTAMP"],
        ["device_id", "SYMBOL"],
        ["sequence_number", "LONG"],
        ["temperature", "FLOAT"],
    ]
    rows = server.execute(
        "SELECT designatedTimestamp, partitionBy, walEnabled, dedup FROM tables() "
        "WHERE table_name = 'events'"
    )
    assert rows == [["timestamp", "DAY", True, False]]


@SERVER
def test_options_of_tables_reach_the_server(open_questdb, server):
    database = open_questdb(partition_by="HOUR", dedup=True)
    database.create([TABLE], 1000)
    put(database, readings(rows=7200))
    rows = server.execute("SELECT partitionBy, dedup FROM tables() WHERE table_name = 'events'")
    assert rows == [["HOUR", True]]
    assert len(server.execute("table_partitions('events')")) == 3
    keys = server.execute("SELECT \"column\" FROM table_columns('events') WHERE upsertKey")
    assert keys == [["timestamp"], ["device_id"], ["sequence_number"]]


@SERVER
@pytest.mark.parametrize(("dedup", "left"), [(False, [0.5] * 5 + [1.5] * 5), (True, [1.5] * 5)])
def test_a_row_that_is_sent_again_replaces_the_other_if_wanted(open_questdb, dedup, left):
    database = open_questdb(dedup=dedup)
    database.create([TABLE], 10)
    for temperature in (0.5, 1.5):
        put(database, readings(temperature=temperature))
    assert sorted(row[3] for row in all_of(database, TABLE)) == left


@SERVER
def test_dedup_needs_a_natural_key(open_questdb):
    with pytest.raises(SetupError, match="table events has no natural key; leave out dedup"):
        open_questdb(dedup=True).create([replace(TABLE, key=())], 10)


@SERVER
@pytest.mark.parametrize("character", "?.,'\"\\/:()+-*%~\t\n\x01\x7f\ufeff =;&|<>[]{}!@#$^`é")
def test_a_name_is_refused_when_the_server_would(server, character):
    name = f"a{character}b"
    quoted = name.replace('"', '""')
    for what, table, statement in (
        ("table", replace(TABLE, name=name), f'CREATE TABLE "{quoted}" (t TIMESTAMP)'),
        (
            "column",
            replace(TABLE, columns=(*TABLE.columns, field(name, Type.INT64))),
            f'CREATE TABLE c{ord(character)} (t TIMESTAMP, "{quoted}" INT)',
        ),
    ):
        try:
            server.execute(statement + " TIMESTAMP(t) PARTITION BY DAY WAL")
        except OSError:
            with pytest.raises(UnstorableError, match=f"does not allow these names: {what} "):
                check_names([table])
        else:
            check_names([table])


@SERVER
def test_words_of_sql_and_spaces_may_be_names(database):
    table = replace(
        table_of(Column("select", Type.TEXT, Role.TAG), field("group by", Type.INT64)),
        name="order by",
    )
    database.create([table], 1)
    put(database, batch(table, time=[5], select=["from"], **{"group by": [1]}))
    assert all_of(database, table) == [[5, "from", 1]]


@SERVER
def test_a_table_that_differs_in_case_alone_is_in_the_way(database):
    database.create([replace(TABLE, name="Events")], 10)
    with pytest.raises(SetupError, match="table events already exists"):
        database.create([TABLE], 10)
    drop(database, [replace(TABLE, name="Events")])


# --- queries -------------------------------------------------------------------------------------


@SERVER
def test_the_tuned_queries_of_the_configuration_are_true(database):
    lines = (ROOT / "config.yaml").read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line == "  questdb:")
    end = lines.index("", start)
    tuned = [line.replace("    # ", "    ", 1) for line in lines[start:end]]
    queries = yaml.safe_load("\n".join(tuned))["questdb"]["queries"]
    assert queries
    database.create([TABLE], 100)
    put(database, readings(rows=50))
    put(database, readings(50, 50, temperature=2.25))
    with database.connect() as session:
        for name, text in queries.items():
            given = database.render(QUERIES[name])
            own = Statement(text, given.outputs, tuned=True)
            assert ask(session, own) == ask(session, given)
            assert list(session.stream(own, 10)) == [[["d1", 2.25]]]


@SERVER
def test_answers_do_not_depend_on_how_threads_share_the_work(database):
    """The sum of INT did, in 9.3.4."""
    wide = TARGETS["questdb"].wide()
    wide.fill(database)
    with database.connect() as session:
        for name, query in wide.queries.items():
            given, expected = database.render(query), wide.answer(query)
            wrong = [found for _ in range(50) if (found := ask(session, given)) != expected]
            assert not wrong, name


@SERVER
def test_sampling_agrees_with_the_buckets(database):
    database.create([TABLE], 100)
    put(database, readings(rows=9000))
    aggregates = QUERIES["temperature-stats"].aggregates
    query = AggregateQuery(TABLE, aggregates, bucket=3_600_000)
    sampled = (
        "SELECT CAST(timestamp AS LONG) / 1000, max(temperature), avg(temperature), "
        "min(temperature) FROM events SAMPLE BY 1h ALIGN TO CALENDAR"
    )
    with database.connect() as session:
        given = database.render(query)
        answer = ask(session, given)
        assert len(answer.rows) == 3
        assert ask(session, Statement(sampled, given.outputs, tuned=True)) == answer


@SERVER
def test_a_query_that_the_server_refuses_fails_with_its_message(database):
    with database.connect() as session:
        with pytest.raises(Refused, match="400: table does not exist") as caught:
            session.run(Statement("SELECT * FROM nowhere", ()))
        assert session.alive
    assert database.explain(caught.value).endswith("; run an insert first")


# --- the log -------------------------------------------------------------------------------------


@SERVER
def test_rows_are_visible_once_the_log_is_applied_and_it_names_a_table_that_makes_no_progress(
    monkeypatch, own_server
):
    with own_server(cairo_commit_mode="sync", dev_mode_enabled="true") as server:
        database = QuestDb(QuestDbOptions(**server.options("")))
        described = database.describe()
        assert described.durable
        assert "on disk (cairo.commit.mode=sync)" in described.durability

        database.create([TABLE], 10)
        server.execute("ALTER TABLE events SUSPEND WAL")
        with database.connect() as session:
            session.send(encoded(session, readings()))
            assert count(database, session, TABLE) == 0
        with pytest.raises(SetupError, match=r'events is suspended: .*"events" RESUME WAL'):
            database.visible([TABLE])
        server.execute("ALTER TABLE events RESUME WAL")
        assert stored_rows(database) == 5

    with own_server(cairo_wal_apply_enabled="false") as server:
        database = QuestDb(QuestDbOptions(**server.options("")))
        database.create([TABLE], 10)
        with database.connect() as session:
            session.send(encoded(session, readings()))
        monkeypatch.setattr(module, "_STUCK_S", 0.5)
        with pytest.raises(SetupError, match=r"no progress in applying the log for 0.5 s; look at"):
            database.visible([TABLE])


# --- what an error means for the rows ------------------------------------------------------------


@SERVER
@pytest.mark.parametrize("rows", [5, 600_000])
def test_a_line_that_is_refused_takes_its_whole_request_with_it(database, rows):
    database.create([TABLE], 10)
    with database.connect() as session:
        payload = encoded(session, readings(rows=rows))
        path, body = payload.data
        bad = b'events,device_id=d1 temperature="warm" 1700000000000\n'
        broken = type(payload)(payload.rows, payload.mode, (path, bytes(body) + bad))
        with pytest.raises(Refused, match=f"error in line {rows + 1}: .*STRING") as caught:
            session.send(broken)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive
        assert "run with --clean" in database.explain(caught.value)
        session.send(payload)
    assert stored_rows(database) == rows


@SERVER
def test_a_table_without_a_log_is_refused(database, server):
    server.execute("CREATE TABLE events (timestamp TIMESTAMP) TIMESTAMP(timestamp)")
    with database.connect() as session:
        with pytest.raises(Refused, match="cannot insert in non-WAL table") as caught:
            session.send(encoded(session, readings()))
        assert session.classify(caught.value) is Failure.FATAL
    assert "run with --clean" in database.explain(caught.value)


@SERVER
def test_lines_may_be_compressed(open_questdb):
    database = open_questdb(gzip=True)
    database.create([TABLE], 1000)
    block = readings(rows=1000)
    with database.connect() as session:
        _, body = encoded(session, block).data
    assert len(body) < 20_000
    put(database, block)
    assert stored_rows(database) == 1000


# --- the vendor's client -------------------------------------------------------------------------


@SERVER
def test_a_row_that_is_refused_takes_the_clients_whole_transaction_with_it(database):
    database.create([TABLE], 10)
    with database.connect() as session:
        payload = encoded(session, readings(), DRIVER)
        rows = [*payload.data.rows]
        warm = rows[-1]._replace(columns={**rows[-1].columns, "temperature": "warm"})
        broken = type(payload)(6, DRIVER, replace(payload.data, rows=[*rows, warm]))
        with pytest.raises(driver.Refused, match=r"error in line 6: .*STRING") as caught:
            session.send(broken)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive
        assert "run with --clean" in database.explain(caught.value)
        session.send(payload)
    assert stored_rows(database) == 5


@pytest.mark.server("questdb")
@pytest.mark.controls("kill")
def test_a_server_that_is_killed_under_its_client(database, server):
    database.create([TABLE], 10)
    with database.connect() as session:
        session.send(encoded(session, readings(), DRIVER))
        database.visible([TABLE])
        server.kill()
        try:
            with pytest.raises(NotConnected) as caught:
                session.send(encoded(session, readings(first=5), DRIVER))
        finally:
            server.start()
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        assert not session.alive
        assert "Connection refused" in database.explain(caught.value)
    assert stored_rows(database) == 5


@pytest.mark.server("questdb")
@pytest.mark.controls("pause")
def test_a_server_that_does_not_answer_its_client_in_time(database, open_questdb, server):
    database.create([TABLE], 10)
    with open_questdb(timeout_s=1).connect() as session:
        session.send(encoded(session, readings(), DRIVER))
        payload = encoded(session, readings(first=5), DRIVER)
        with server.paused(server.name), pytest.raises(NoAnswer, match="timeout") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert not session.alive


@SERVER
def test_its_client_cannot_connect_with_a_wrong_password(open_questdb):
    database = open_questdb(password="swordfish")
    with database.open() as session, pytest.raises(driver.Refused, match="401") as caught:
        session.send(encoded(session, readings(), DRIVER))
    assert session.classify(caught.value) is Failure.FATAL
    assert "swordfish" not in database.explain(caught.value)


def test_its_client_takes_no_path_and_no_certificate_as_text():
    options = {"url": "http://db:9000/bench", "client": "driver", "ca": "text"}
    found = QuestDb(QuestDbOptions(**options)).problems(PrimaryKey.DB, 1, BATCH, 1000)
    assert found == [
        "client=driver and ca exclude each other; choose one",
        "client=driver: questdb's client takes no path in url, got /bench",
    ]


@SERVER
def test_its_client_takes_no_nanoseconds_before_1970(database):
    seen = Column("seen", Type.TIMESTAMP, Role.FIELD)
    time = Column("time", Type.TIMESTAMP, Role.TIME)
    table = Table("fine", (time, seen), ("time",), time_unit=TimeUnit.NANOSECOND)
    with database.open() as session, pytest.raises(UnstorableError, match="use client=own"):
        encoded(session, batch(table, time=[1], seen=[-1]), DRIVER)
