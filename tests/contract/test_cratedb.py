"""What is specific to CrateDB: on a stand-in for its HTTP endpoint (tests/standins/crate.py), and,
for its PostgreSQL protocol, on PostgreSQL."""

import json
import threading
import time
from dataclasses import replace

import numpy as np
import psycopg2
import pytest
from pydantic import ValidationError

from simulator.data.block import Block, Values
from simulator.data.query import Aggregate, AggregateQuery, Function, OneOf, RowsQuery, Selection
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, RowCountMismatch
from simulator.modules.cratedb.database import Cratedb, CratedbOptions, _sizes
from simulator.modules.cratedb_pg import CratedbPg, CratedbPgOptions
from tests.contract.harness import count, send
from tests.contract.wide import READINGS
from tests.standins.crate import FLOOD_STAGE, SETUP, WRITES_BLOCKED, SyntheticCrate
from tests.standins.relatives import CratedbPgOnPostgres, sorts_by_bytes
from tests.standins.web import Reset, Response, Web
from tests.unit import specs

pytestmark = pytest.mark.server("postgres")


@pytest.fixture
def cratedb(synthetic_crate):
    return Cratedb(CratedbOptions(url=synthetic_crate.url, timeout_s=10))


@pytest.fixture
def by_wire(server, server_options, server_database):
    server.execute(SETUP, database=server_database)
    return CratedbPgOnPostgres(CratedbPgOptions(**server_options))


def options(**given):
    return CratedbOptions(url="http://127.0.0.1:4200", **given)


TEN = RowRange(start=0, stop=10)


def events(rows=TEN, key=PrimaryKey.NONE, **params):
    dataset = specs.dataset(params=params, start_ms=1_000_000, primary_key=key, ranges=(rows,))
    reader = DatasetReader(dataset)
    ((block,),) = reader.blocks([rows], rows.stop - rows.start)
    return reader.tables, block


# --- tables --------------------------------------------------------------------------------------


def test_a_table_reads_as_documented():
    database = Cratedb(options(shards=42, replicas="1", translog_durability="async"))
    (statement,) = database.create_table(EVENTS.stored(PrimaryKey.UUID, 1), "events", 10)
    assert statement == (
        'CREATE TABLE "events" ("id" TEXT DEFAULT gen_random_text_uuid(), "timestamp" BIGINT, '
        '"device_id" TEXT, "sequence_number" BIGINT, "temperature" REAL, PRIMARY KEY ("id")) '
        "CLUSTERED INTO 42 SHARDS WITH (\"translog.durability\" = 'ASYNC', "
        "number_of_replicas = '1')"
    )
    (default,) = Cratedb(options()).create_table(EVENTS, "events", 10)
    assert default.endswith('"temperature" REAL) WITH ("translog.durability" = \'REQUEST\')')


CPU = Table(
    name="cpu",
    columns=(
        Column("ts", Type.TIMESTAMP, Role.TIME),
        Column("hostname", Type.TEXT, Role.TAG),
        Column("region", Type.TEXT, Role.TAG, nullable=True),
        Column("usage_user", Type.INT32, Role.FIELD),
    ),
    key=("hostname", "ts"),
)


def test_the_tags_may_be_members_of_one_object_as_in_the_reference_document():
    database = Cratedb(options(tags_as_object=True))
    (statement,) = database.create_table(CPU, "cpu", 10)
    assert statement.startswith(
        'CREATE TABLE "cpu" ("ts" TIMESTAMP WITH TIME ZONE, "usage_user" INTEGER, '
        '"tags" OBJECT(DYNAMIC) AS ("hostname" TEXT, "region" TEXT)) WITH ('
    )
    query = AggregateQuery(
        CPU,
        (Aggregate(Function.MAX, "usage_user"),),
        by=("hostname",),
        bucket=1000,
        selection=Selection((OneOf("region", ("it's",)),), since=5),
    )
    assert database.render(query).text == (
        'SELECT "tags"[\'hostname\'], CAST("ts" AS BIGINT) - (CAST("ts" AS BIGINT) % 1000 + '
        '1000) % 1000, max("usage_user") FROM "cpu" '
        "WHERE \"tags\"['region'] = 'it''s' AND \"ts\" >= 5 GROUP BY \"tags\"['hostname'], 2"
    )


def cpu_rows():
    data = {
        "ts": Values(np.array([1_700_000_000_000, 1_700_000_000_001])),
        "hostname": Values(np.array([b"host_1", b'a"b'])),
        "region": Values(np.array([b"eu", b""]), np.array([True, False])),
        "usage_user": Values(np.array([58, 2], np.int32)),
    }
    return Block(CPU, 0, np.arange(2), data)


def test_rows_with_an_object_are_json_by_http(synthetic_crate):
    database = Cratedb(CratedbOptions(url=synthetic_crate.url, tags_as_object=True))
    with database.connect() as session:
        (batch,) = session.encode(cpu_rows(), BATCH, 2)
        single, _ = session.encode(cpu_rows(), SINGLE, 1)
    statement = 'INSERT INTO "cpu" ("ts", "usage_user", "tags") VALUES (?, ?, ?)'
    ((rows, body),) = batch.data
    first = [1_700_000_000_000, 58, {"hostname": "host_1", "region": "eu"}]
    second = [1_700_000_000_001, 2, {"hostname": 'a"b', "region": None}]
    assert rows == 2
    assert json.loads(body) == {"stmt": statement, "bulk_args": [first, second]}
    ((_, body),) = single.data
    assert json.loads(body) == {"stmt": statement, "args": first}


def test_rows_with_an_object_are_object_literals_by_postgresqls_protocol(by_wire):
    database = CratedbPgOnPostgres(by_wire.options.model_copy(update={"tags_as_object": True}))
    with database.connect() as session:
        (payload,) = session.encode(cpu_rows(), BATCH, 2)
    assert payload.data.decode() == (
        'INSERT INTO "cpu" ("ts", "usage_user", "tags") VALUES '
        "(1700000000000,58,{\"hostname\" = 'host_1',\"region\" = 'eu'}),"
        '(1700000000001,2,{"hostname" = \'a"b\',"region" = NULL})'
    )


def test_a_column_called_tags_is_not_in_the_way_of_the_object():
    table = replace(CPU, columns=(*CPU.columns, Column("tags", Type.INT64, Role.FIELD)))
    (statement,) = Cratedb(options(tags_as_object=True)).create_table(table, "cpu", 10)
    assert '"tags_" OBJECT(DYNAMIC)' in statement


def test_rows_are_visible_after_a_refresh_and_compact_after_a_merge(synthetic_crate):
    crate = Cratedb(CratedbOptions(url=synthetic_crate.url))
    tables = [EVENTS.stored(PrimaryKey.NONE, 4)]
    crate.create(tables, 10)
    before = len(synthetic_crate.crate.statements)
    crate.visible(tables)
    between = len(synthetic_crate.crate.statements)
    crate.compact(tables)
    names = '"events0", "events1", "events2", "events3"'
    refresh, merge = f"REFRESH TABLE {names}", f"OPTIMIZE TABLE {names} WITH (max_num_segments = 1)"
    sent = synthetic_crate.crate.statements
    assert [each for each in sent[before:between] if each != "SELECT 1"] == [refresh]
    assert [each for each in sent[between:] if each != "SELECT 1"] == [merge, refresh]


@pytest.mark.parametrize("wrong", ["two", "1-", "-1", "0-some"])
def test_replicas_in_another_form_are_refused(wrong):
    with pytest.raises(ValidationError):
        options(replicas=wrong)


@pytest.mark.parametrize("protocol", ["http", "wire"])
def test_values_that_cratedb_cannot_hold_are_refused_before_they_are_sent(
    cratedb, by_wire, protocol
):
    opened = cratedb if protocol == "http" else by_wire
    _, block = events()
    temperature = Values(np.array([1.5] * 9 + [np.nan], np.float32))
    device = Values(np.array([b"x" * 32_767] * 10))
    with opened.connect() as session:
        for name, column, problem in (
            ("temperature", temperature, "temperature: expected finite numbers, found nan"),
            ("device_id", Values(np.array([b"a"] * 9 + [b"a\0b"])), "without the character NUL"),
            ("sequence_number", Values(np.array([-(2**63)] * 10)), "is an end of BIGINT"),
            ("sequence_number", Values(np.array([2**63 - 1] * 10)), "is an end of BIGINT"),
            ("device_id", device, "device_id: expected at most 32766 bytes in a text, found 32767"),
        ):
            wrong = Block(block.table, 0, block.rows, {**block.data, name: column})
            with pytest.raises(UnstorableError, match=problem):
                session.encode(wrong, BATCH, 10)
            valid = np.zeros(10, bool)
            null = Block(
                block.table, 0, block.rows, {**block.data, name: Values(column.array, valid)}
            )
            session.encode(null, BATCH, 10)  # what stands in place of a NULL does not matter


ODD = Table(
    name="a b,c/d",
    columns=(
        Column("ts", Type.INT64, Role.TIME),
        Column("_id", Type.TEXT, Role.TAG),
        Column("x.y", Type.INT32, Role.FIELD),
        Column("z[0]", Type.INT32, Role.FIELD),
        Column('_Good one, "quoted"', Type.INT32, Role.FIELD),
    ),
    key=("_id", "ts"),
)


@pytest.mark.parametrize("protocol", ["http", "wire"])
def test_all_names_that_cratedb_refuses_are_listed_in_one_error(cratedb, by_wire, protocol):
    opened = cratedb if protocol == "http" else by_wire
    with pytest.raises(UnstorableError) as caught:
        opened.create([ODD], 10)
    assert str(caught.value) == (
        "CrateDB does not allow these names: table 'a b,c/d' (because of ' '), "
        "column '_id' (because of '_id'), column 'x.y' (because of '.'), "
        "column 'z[0]' (because of '[')"
    )


def test_the_stand_in_refuses_the_same_names(synthetic_crate, monkeypatch):
    monkeypatch.setattr("simulator.modules.cratedb.database.check_names", lambda _: None)
    crate = Cratedb(CratedbOptions(url=synthetic_crate.url))
    wrong = [column for column in ODD.columns if column.name.startswith(("_id", "x", "z"))]
    names = [
        replace(EVENTS, name=name) for name in ("a b", "a,b", "_a", "a/b", 'a"b', "a|b", "a.b")
    ]
    columns = [replace(EVENTS, columns=(*EVENTS.columns, column)) for column in wrong]
    for table in (*names, *columns):
        with pytest.raises(SetupError, match=r"Invalid(RelationName|ColumnNameException)"):
            crate.create([table], 10)


def test_a_sum_that_overflows_without_numeric_is_exact(cratedb):
    tables, block = events()
    large = Block(
        block.table, 0, block.rows, {**block.data, "sequence_number": Values(np.full(10, 2**62))}
    )
    cratedb.create(tables, 10)
    query = AggregateQuery(tables[0], (Aggregate(Function.SUM, "sequence_number"),))
    with cratedb.connect() as session:
        send(session, large, BATCH, 10)
        statement = cratedb.render(query)
        assert session.run(statement) == [[10 * 2**62]]
        with pytest.raises(Exception, match="long overflow"):
            session.ask('SELECT sum("sequence_number") FROM "events"')


def test_the_size_is_that_of_merged_shards_which_stands_for_longer_than_the_cache(
    server, server_database, monkeypatch
):
    monkeypatch.setattr("simulator.modules.cratedb.database.SIZE_STANDS_S", 0.3)
    sorts_by_bytes(server, server_database)
    reach = f"{server.connection_string(server_database)} password={server.password}"
    crate = SyntheticCrate(reach, stale_s=0.5)
    with Web(crate) as web:
        database = Cratedb(CratedbOptions(url=web.url))
        database.create([EVENTS], 10)
        stale = database.ask(_sizes(["events"]))
        start = time.monotonic()
        size = database.size_bytes([EVENTS])
        waited_s = time.monotonic() - start
    crate.close()
    assert stale == [[[2 * size]], [[5]]]
    assert waited_s > 0.6


def test_a_size_that_does_not_become_final_is_unknown(synthetic_crate, monkeypatch):
    synthetic_crate.crate._stale_s = 60
    database = Cratedb(CratedbOptions(url=synthetic_crate.url))
    database.create([EVENTS], 10)
    with monkeypatch.context() as patch:
        patch.setattr("simulator.modules.cratedb.database._SIZE_TIMEOUT_S", 0.1)
        assert database.size_bytes([EVENTS]) is None
    unmerged = Cratedb(CratedbOptions(url=synthetic_crate.url, optimize=False))
    assert unmerged.size_bytes([EVENTS]) > 0


def test_a_node_that_has_just_started_is_not_believed_to_be_empty(synthetic_crate, monkeypatch):
    monkeypatch.setattr("simulator.modules.cratedb.database._RECOVERY_POLL_S", 0.01)
    database = Cratedb(CratedbOptions(url=synthetic_crate.url))
    database.create([EVENTS], 10)
    synthetic_crate.crate.without_master = 2
    assert [*database.find_existing(["events"])] == ["events"]
    assert synthetic_crate.crate.without_master == 0
    monkeypatch.setattr(Cratedb, "reconnect_s", 0.0)
    synthetic_crate.crate.without_master = 2
    with pytest.raises(SetupError, match="no master node for 0 s, so it does not know its tables"):
        database.find_existing(["events"])


def test_a_missing_permission_on_system_tables_is_named(synthetic_crate):
    synthetic_crate.crate.may_read_sys = False
    database = Cratedb(CratedbOptions(url=synthetic_crate.url))
    database.create([EVENTS], 10)
    asked = (database.describe, lambda: database.size_bytes([EVENTS]),
             lambda: database.find_existing(["events"]))  # fmt: skip
    for ask in asked:
        with pytest.raises(SetupError) as caught:
            ask()
        assert "Schema 'sys' unknown" in str(caught.value)
        assert "GRANT DQL ON TABLE sys.cluster, sys.nodes, sys.shards, sys.segments" in str(
            caught.value
        )
        assert "run an insert" not in str(caught.value)


@pytest.mark.parametrize("block", [FLOOD_STAGE, WRITES_BLOCKED])
def test_a_block_of_writes_is_fatal_and_is_not_blamed_on_credentials(synthetic_crate, block):
    database = Cratedb(CratedbOptions(url=synthetic_crate.url))
    tables, rows = events()
    database.create(tables, 10)
    synthetic_crate.crate.block = block
    with database.connect() as session:
        (payload,) = session.encode(rows, BATCH, 10)
        with pytest.raises(Exception, match=r".") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
    explained = database.explain(caught.value)
    assert f"{block[0]}: {block[2]}; CrateDB blocks writes" in explained
    assert "credentials" not in explained


def test_a_table_that_is_unknown_just_after_a_restart_is_written_to_again(synthetic_crate):
    database = Cratedb(CratedbOptions(url=synthetic_crate.url))
    tables, rows = events()
    database.create(tables, 10)
    synthetic_crate.crate.recovering = 2
    with database.connect() as session:
        (payload,) = session.encode(rows, BATCH, 10)
        for _ in range(2):
            with pytest.raises(Exception, match="RelationUnknown") as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.NOT_APPLIED
        session.send(payload)
        assert count(database, session, tables[0]) == 10


# --- what became of the rows, by HTTP ------------------------------------------------------------


def test_a_row_that_is_already_stored_is_found_among_others(cratedb):
    tables, block = events(key=PrimaryKey.CLIENT)
    cratedb.create(tables, 10)
    with cratedb.connect() as session:
        send(session, block.slice(5, 6), SINGLE, 1)
        (payload,) = session.encode(block, BATCH, 10)
        with pytest.raises(Exception, match="1 of 10 rows were refused: DuplicateKey") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert count(cratedb, session, tables[0]) == 10


@pytest.fixture
def answering():
    """A server that answers every INSERT so, and anything else with nothing."""
    servers = []

    def start(answer, **given):
        def respond(request):
            insert = b"INSERT" in request.body
            return answer(request) if insert else Response(200, b'{"cols":[],"rows":[[1]]}')

        web = Web(respond)
        servers.append(web.__enter__())
        return Cratedb(CratedbOptions(url=web.url, timeout_s=1, **given))

    yield start
    for web in servers:
        web.__exit__()


def results(*rowcounts, error=None):
    answers = [{"rowcount": n, **(error or {} if n != 1 else {})} for n in rowcounts]
    return Response(200, json.dumps({"cols": [], "results": answers}).encode())


def failing(status, code):
    body = json.dumps({"error": {"message": "Exception[...]", "code": code}}).encode()
    return lambda _: Response(status, body)


def reset(_):
    raise Reset


BUSY = {"error": {"code": 5000, "message": "EsRejectedExecutionException[rejected execution]"}}
UNKNOWN = {"error": {"code": 4041, "message": "RelationUnknown[Relation 'doc.events' unknown]"}}
INVALID = {"error": {"code": 4003, "message": "ColumnValidationException[...]"}}
OLD = {"error_message": "CircuitBreakingException[...]"}


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (lambda _: results(1, 1, -2, error=BUSY), Failure.UNKNOWN),
        (lambda _: results(-2, -2, -2, error=BUSY), Failure.NOT_APPLIED),
        (lambda _: results(1, -2, 1), Failure.UNKNOWN),
        (lambda _: results(1, -2, 1, error=OLD), Failure.UNKNOWN),
        (lambda _: results(1, 1), Failure.UNKNOWN),  # of three rows
        (failing(400, 4003), Failure.FATAL),
        (failing(401, 4010), Failure.FATAL),
        (failing(404, 4041), Failure.NOT_APPLIED),  # for some seconds after a restart
        (failing(404, 4043), Failure.FATAL),
        (failing(409, 4091), Failure.FATAL),
        (failing(403, 4030), Failure.FATAL),
        (lambda _: results(1, -2, -2, error=UNKNOWN), Failure.UNKNOWN),
        (lambda _: results(-2, -2, -2, error=UNKNOWN), Failure.NOT_APPLIED),
        (lambda _: results(1, -2, -2, error=INVALID), Failure.FATAL),
        (failing(429, 4290), Failure.NOT_APPLIED),
        (failing(500, 5000), Failure.UNKNOWN),
        (failing(503, 5002), Failure.UNKNOWN),  # a shard that went may have stored them
        (reset, Failure.UNKNOWN),
    ],
)
def test_what_an_answer_means_for_the_rows(answering, answer, meaning):
    database = answering(answer)
    _, block = events(RowRange(start=0, stop=3))
    with database.connect() as session:
        (payload,) = session.encode(block, BATCH, 3)
        with pytest.raises(Exception, match=r".") as caught:
            session.send(payload)
        assert session.classify(caught.value) is meaning


# --- several requests in flight ------------------------------------------------------------------


def test_a_batch_is_cut_into_requests_that_are_in_flight_at_once(answering):
    together = threading.Barrier(4, timeout=5)
    seen = []

    def answer(request):
        together.wait()  # none is answered before all have come
        seen.append(len(json.loads(request.body)["bulk_args"]))
        return results(*[1] * seen[-1])

    database = answering(answer, concurrent_requests=4)
    _, block = events(RowRange(start=0, stop=10))
    with database.connect() as session:
        payloads = session.encode(block, BATCH, 10)
        assert [payload.rows for payload in payloads] == [10]
        session.send(payloads[0])
    assert sorted(seen) == [1, 3, 3, 3]


def test_the_last_rows_may_be_fewer_than_the_requests(answering):
    seen = []

    def answer(request):
        seen.append(len(json.loads(request.body)["bulk_args"]))
        return results(*[1] * seen[-1])

    database = answering(answer, concurrent_requests=8)
    _, block = events(RowRange(start=0, stop=10))
    with database.connect() as session:
        for payload in session.encode(block, BATCH, 8):
            session.send(payload)
    assert seen == [1] * 10


@pytest.mark.parametrize(
    ("refused", "status", "meaning"),
    [
        ({0, 1, 2, 3}, 429, Failure.NOT_APPLIED),
        ({2}, 429, Failure.UNKNOWN),  # others are stored: not to be sent again
        ({2}, 400, Failure.FATAL),
        ({0, 1, 2, 3}, 500, Failure.UNKNOWN),
    ],
)
def test_what_some_requests_errors_mean_for_the_rows_of_all(answering, refused, status, meaning):
    def answer(request):
        (row,) = json.loads(request.body)["bulk_args"]
        sequence_number = row[2]
        return failing(status, 4000)(request) if sequence_number in refused else results(1)

    database = answering(answer, concurrent_requests=4)
    _, block = events(RowRange(start=0, stop=4))
    with database.connect() as session:
        (payload,) = session.encode(block, BATCH, 4)
        with pytest.raises(Exception, match=f"{len(refused)} of 4 requests failed") as caught:
            session.send(payload)
        assert session.classify(caught.value) is meaning


def test_more_requests_than_rows_are_a_problem_before_anything_starts():
    database = Cratedb(options(concurrent_requests=10))
    assert database.problems(PrimaryKey.NONE, 1, BATCH, 1000) == []
    (problem,) = database.problems(PrimaryKey.NONE, 1, SINGLE, 1)
    assert "use a larger --batch" in problem


def test_concurrent_requests_store_every_row(synthetic_crate):
    database = Cratedb(CratedbOptions(url=synthetic_crate.url, concurrent_requests=3))
    tables, block = events(RowRange(start=0, stop=1000), PrimaryKey.CLIENT, devices=5)
    database.create(tables, 100)
    with database.connect() as session:
        send(session, block, BATCH, 100)
        assert count(database, session, tables[0]) == 1000


# --- reading -------------------------------------------------------------------------------------


def test_rows_of_one_instant_may_be_more_than_a_portion(cratedb):
    tables, block = events(RowRange(start=0, stop=100))
    instants = np.repeat([-7, 5, 6, 9], [3, 60, 2, 35])
    same = Block(block.table, 0, block.rows, {**block.data, "timestamp": Values(instants)})
    cratedb.create(tables, 100)
    with cratedb.connect() as session:
        send(session, same, BATCH, 100)
        portions = list(session.stream(cratedb.render(RowsQuery(tables[0])), 10))
    assert all(0 < len(portion) <= 10 for portion in portions)
    numbers = [row[2] for portion in portions for row in portion]
    assert sorted(numbers) == list(range(100))


# --- who, and where ------------------------------------------------------------------------------


def test_a_user_has_a_password_that_is_nowhere_shown(server):
    reach = f"{server.connection_string()} password={server.password}"
    crate = SyntheticCrate(reach, "Basic YW5uOnN3b3JkZmlzaA==")
    with Web(crate) as web:
        right = CratedbOptions(url=web.url, username="ann", password="swordfish", schema_name="b")
        wrong = right.model_copy(update={"username": "bob"})
        Cratedb(right).connect().close()
        assert web.requests[-1].headers["Default-Schema"] == "b"
        with pytest.raises(SetupError, match="401: trust authentication failed") as caught:
            Cratedb(wrong).describe()
    crate.close()
    assert "check the credentials" in str(caught.value)
    assert "swordfish" not in str(caught.value) + str(right.public())


def test_describe_reads_version_and_nodes(cratedb):
    server = cratedb.describe()
    assert (server.version, server.nodes, server.durable) == ("CrateDB 6.3.7", 1, True)
    later = Cratedb(cratedb.options.model_copy(update={"translog_durability": "async"})).describe()
    assert later.durable is False
    assert "every few seconds" in later.durability


# --- by PostgreSQL's protocol --------------------------------------------------------------------


def test_rows_that_are_left_out_without_an_error_are_an_error(by_wire):
    tables, block = events()
    by_wire.create(tables, 10)
    skip = "BEGIN IF NEW.sequence_number = 3 THEN RETURN NULL; END IF; RETURN NEW; END"
    function = f"CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS '{skip}'"
    trigger = "CREATE TRIGGER skip BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION skip()"
    by_wire.ask([function, trigger])
    with by_wire.connect() as session:
        (payload,) = session.encode(block, BATCH, 10)
        with pytest.raises(RowCountMismatch, match="acknowledged 9 of 10 rows") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.UNKNOWN


def test_an_insert_that_stores_no_row_is_tried_again(by_wire):
    tables, block = events()
    by_wire.create(tables, 10)
    function = "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    trigger = "CREATE TRIGGER skip BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION skip()"
    by_wire.ask([function, trigger])
    with by_wire.connect() as session:
        (payload,) = session.encode(block, BATCH, 10)
        with pytest.raises(RowCountMismatch, match="acknowledged 0 of 10 rows") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.NOT_APPLIED
    assert "use the module cratedb" in by_wire.explain(caught.value)


@pytest.mark.parametrize("words", [FLOOD_STAGE[2], WRITES_BLOCKED[2]])
def test_a_block_of_writes_is_fatal_by_the_wire_too(by_wire, words):
    class Blocked(psycopg2.Error):
        pgcode = "XX000"

    tables, block = events()
    by_wire.create(tables, 10)
    with by_wire.connect() as session:
        send(session, block, BATCH, 10)
        assert session.classify(Blocked(words)) is Failure.FATAL
    assert by_wire.explain(Blocked(words)).startswith(f"{words}; CrateDB blocks writes")


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("23505", Failure.FATAL),
        ("42P01", Failure.NOT_APPLIED),  # for some seconds after a restart
        ("42703", Failure.FATAL),
        ("XX000", Failure.UNKNOWN),  # what CrateDB calls everything else
        ("40001", Failure.UNKNOWN),
        (None, Failure.UNKNOWN),
    ],
)
def test_an_insert_that_fails_may_be_stored_in_part(by_wire, code, meaning):
    class Reported(psycopg2.Error):
        pgcode = code

    tables, block = events()
    by_wire.create(tables, 10)
    with by_wire.connect() as session:
        send(session, block, BATCH, 10)
        assert session.classify(Reported()) is meaning
        session.connection.close()
        with pytest.raises(psycopg2.Error) as caught:
            send(session, block, BATCH, 10)
        assert session.classify(caught.value) is Failure.NOT_APPLIED


def test_nothing_is_set_in_a_session_that_cratedb_would_refuse(by_wire):
    assert CratedbPg(by_wire.options).session_settings() == {}


def test_the_storage_is_made_alike_by_both_protocols(by_wire):
    given = by_wire.options.model_copy(update={"shards": 6, "replicas": "0-all"})
    (statement,) = CratedbPg(given).create_table(READINGS, "readings", 10)
    assert statement.endswith(
        " CLUSTERED INTO 6 SHARDS WITH (\"translog.durability\" = 'REQUEST', "
        "number_of_replicas = '0-all')"
    )


def test_what_orders_rows_of_several_tables_is_asked_for_over_the_wire_and_left_out(by_wire):
    """CrateDB 6.3.6 sends the column that orders filtered rows of several tables in any case."""
    table = EVENTS.stored(PrimaryKey.NONE, 2)
    one_device = Selection((OneOf("device_id", ("d1",)),))
    query = RowsQuery(table, ("device_id",), newest=2, selection=one_device)
    statement = by_wire.render(query)

    assert statement.text.startswith('SELECT "device_id", "timestamp" FROM (SELECT * FROM')
    assert [output.name for output in statement.outputs] == ["device_id"]
    one = by_wire.render(replace(query, table=EVENTS.stored(PrimaryKey.NONE, 1)))
    assert one.text.startswith('SELECT "device_id" FROM "events"')
