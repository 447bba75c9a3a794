"""What only ArangoDB has, by the vendor's documentation and client, on tests/standins/arango.py."""

import json
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from simulator.data.block import Block, Values
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    RowsQuery,
    Statement,
)
from simulator.data.schema import ID, Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import RunError, SetupError, UnstorableError
from simulator.modules.arangodb.database import Arangodb, ArangodbOptions
from simulator.modules.arangodb.session import DOCUMENTS
from simulator.modules.contract import BATCH, SINGLE, Failure, Unsupported
from tests.contract.harness import ask, count, drop, send
from tests.standins import aql as synthetic_aql
from tests.standins.arango import SyntheticArango
from tests.standins.web import Reset, Response, Web

POINTS = Table(
    name="points",
    columns=(
        Column("t", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("number", Type.INT64, Role.FIELD),
        Column("odd name", Type.FLOAT64, Role.FIELD, nullable=True),
    ),
    key=("site", "t"),
)
KEYED = POINTS.stored(PrimaryKey.CLIENT, 1)


def options(**given):
    return ArangodbOptions(**{"url": "http://127.0.0.1:8529", **given})


def points(numbers=(1, 2, 3), table=POINTS, keys=None, **columns):
    rows = np.arange(len(numbers))
    data = {
        "id": Values(np.array(keys or [b"k%d" % row for row in rows])),
        "t": Values(rows * 10),
        "site": Values(np.array([b"a", b"B"])[rows % 2]),
        "number": Values(np.array(numbers, np.int64)),
        "odd name": Values(rows / 4, rows > 0),
        **columns,
    }
    return Block(table, 0, rows, {c.name: data[c.name] for c in table.columns})


@pytest.fixture
def arangodb(synthetic_arango):
    return Arangodb(options(url=synthetic_arango.url, timeout_s=5))


@pytest.fixture
def filled(arangodb):
    def fill(batch):
        drop(arangodb, [batch.table])
        arangodb.create([batch.table], 10)
        with arangodb.connect() as session:
            send(session, batch, BATCH, 100)
        return arangodb

    return fill


# --- rows in -------------------------------------------------------------------------------------


IMPORT = "/_db/_system/_api/import?type=array&collection=points&complete=1&details=1"
INSERT = "/_db/_system/_api/document/points?returnNew=0&silent=1&overwrite=0&returnOld=0"


def test_a_batch_is_an_array_of_documents_and_a_single_row_a_document(arangodb):
    with arangodb.connect() as session:
        (batch,) = session.encode(points((7, -8), KEYED, [b"k0", "Zü/1%".encode()]), BATCH, 10)
        single, _ = session.encode(points((7, -8)), SINGLE, 1)
    assert (batch.data[0], single.data[0]) == (IMPORT, INSERT)
    assert json.loads(batch.data[1]) == [
        {"_key": "k0", "t": 0, "site": "a", "number": 7, "odd name": None},
        {"_key": "Z%C3%BC%2F1%25", "t": 10, "site": "B", "number": -8, "odd name": 0.25},
    ]
    assert json.loads(single.data[1]) == {"t": 0, "site": "a", "number": 7, "odd name": None}


@pytest.mark.parametrize("sync", [False, True])
def test_the_timed_send_makes_the_requests_of_the_vendors_client(synthetic_arango, sync):
    """Same method, path, parameters, credentials and documents as python-arango sends."""
    given = {"user": "ann", "password": "swordfish", "wait_for_sync": sync}
    database = Arangodb(options(url=synthetic_arango.url, **given))
    database.create([POINTS], 10)
    requests = synthetic_arango.requests
    with database.connect() as session:
        for mode, rows in ((BATCH, 3), (DOCUMENTS, 3), (SINGLE, 1)):
            payload, *_ = session.encode(points(), mode, rows)
            session.send(payload)
            ours, documents = requests[-1], json.loads(payload.data[1])
            collection, wait = session.db.collection("points"), {"sync": True} if sync else {}
            if mode == BATCH:
                collection.import_bulk(documents, **wait)
            elif mode == DOCUMENTS:
                collection.insert_many(documents, silent=True, **wait)
            else:
                collection.insert(documents, silent=True, **wait)
            theirs = requests[-1]
            assert theirs is not ours
            assert asked(ours) == asked(theirs)
        assert count(database, session, POINTS) == 14


def asked(request):
    """What a request means, however it is written."""
    url = urlsplit(request.path)
    parameters = dict(parse_qsl(url.query, strict_parsing=True))
    headers = {name.lower(): value for name, value in request.headers.items()}
    meant = {name: headers[name] for name in ("content-type", "authorization")}
    return request.method, url.path, parameters, meant, json.loads(request.body)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (points(table=KEYED, keys=[b"x" * 255, b"a", b"b"]), "id: a _key has at most 254 bytes"),
        (points(table=KEYED, keys=[b"/" * 85, b"a", b"b"]), "found one of 255"),
        (
            points(**{"odd name": Values(np.array([0, np.inf, 1]))}),
            "odd name: JSON has finite numbers only; found inf",
        ),
    ],
)
def test_a_value_that_no_document_can_hold_is_refused_before_it_is_sent(arangodb, batch, words):
    with arangodb.connect() as session, pytest.raises(UnstorableError, match=words):
        session.encode(batch, BATCH, 10)


def test_the_value_under_a_null_is_ignored(arangodb):
    absent = Values(np.array([np.nan, 1, 2]), np.array([False, True, True]))
    with arangodb.connect() as session:
        (payload,) = session.encode(points(**{"odd name": absent}), BATCH, 10)
    assert json.loads(payload.data[1])[0]["odd name"] is None


@pytest.mark.parametrize(
    ("mode", "words", "meaning", "stored"),
    [
        (BATCH, r"409: unique constraint violated", Failure.FATAL, 3),
        (DOCUMENTS, r"2 of 3 rows.*unique constraint violated", Failure.UNKNOWN, 5),
    ],
)
def test_a_duplicate_refuses_all_of_a_batch_or_only_its_document(
    filled, mode, words, meaning, stored
):
    database = filled(points(table=KEYED))
    more = points((4, 5, 6), KEYED, [b"k3", b"k1", b"k4"])
    with database.connect() as session:
        (payload,) = session.encode(more, mode, 10)
        with pytest.raises(Exception, match=words) as found:
            session.send(payload)
        assert session.classify(found.value) is meaning
        assert count(database, session, KEYED) == stored
    assert mode == DOCUMENTS or "run with --clean" in database.explain(found.value)


def test_documents_are_an_insert_mode_of_batches_only():
    database = Arangodb(options(documents=True))
    assert [database.insert_mode(mode) for mode in (SINGLE, BATCH)] == [SINGLE, DOCUMENTS]
    both = Arangodb(options(documents=True, client="driver"))
    (problem,) = both.problems(PrimaryKey.DB, 1, BATCH, 10)
    assert problem == "client=driver and documents exclude each other; choose one"


def failed(status, number):
    body = {"error": True, "code": status, "errorNum": number, "errorMessage": "..."}
    return lambda _: Response(status, json.dumps(body).encode())


def counted(**counts):
    return lambda _: Response(201, json.dumps({"error": False, **counts}).encode())


def reset(_):
    raise Reset


def sent(answer, mode=BATCH):
    """Send three rows, or a single one; return the error, and what it means for the rows."""

    def respond(request):
        found = b'{"result":{}}'
        return answer(request) if request.method == "POST" else Response(200, found)

    with Web(respond) as web, Arangodb(options(url=web.url, timeout_s=1)).connect() as session:
        payload, *_ = session.encode(points(), mode, 1 if mode == SINGLE else 3)
        with pytest.raises(Exception, match=r".") as found:
            session.send(payload)
        return found.value, session.classify(found.value)


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (failed(400, 600), Failure.FATAL),
        (failed(403, 1004), Failure.FATAL),
        (failed(404, 1203), Failure.FATAL),
        (failed(409, 1210), Failure.FATAL),
        (failed(409, 1200), Failure.UNKNOWN),  # shards of a cluster may have stored some
        (failed(500, 4), Failure.UNKNOWN),
        (failed(503, 503), Failure.NOT_APPLIED),
        (failed(503, 21003), Failure.NOT_APPLIED),
        (failed(503, 1477), Failure.UNKNOWN),  # a shard that went may have stored them
        (lambda _: Response(201, b"no JSON"), Failure.UNKNOWN),
        (lambda _: Response(201, b"[]"), Failure.UNKNOWN),
        (reset, Failure.UNKNOWN),
    ],
)
def test_the_meaning_of_each_answer_for_the_rows(answer, meaning):
    assert sent(answer)[1] is meaning


@pytest.mark.parametrize(
    ("counts", "stored"),
    [
        ({"created": 2, "errors": 1, "empty": 0, "details": ["at position 1: illegal key"]}, 2),
        ({"created": 2, "errors": 0, "empty": 1}, 2),
        ({"created": 0, "errors": 0, "updated": 3}, 0),
        ({"created": 4, "errors": 0}, 4),
        ({}, 0),
    ],
)
def test_an_import_that_did_not_create_every_row_is_an_error(counts, stored):
    error, meaning = sent(counted(**counts))
    assert f"the server acknowledged {stored} of 3 rows" in str(error)
    assert all(detail in str(error) for detail in counts.get("details", ()))
    assert meaning is Failure.UNKNOWN


def test_a_single_row_that_is_not_created_is_an_error():
    error, meaning = sent(lambda _: Response(200, b"{}"), SINGLE)
    assert "the server acknowledged 0 of 1 rows" in str(error)
    assert meaning is Failure.UNKNOWN
    assert sent(failed(409, 1200), SINGLE)[1] is Failure.NOT_APPLIED


@pytest.mark.parametrize(
    ("codes", "meaning"),
    [
        ("1210:3", Failure.FATAL),
        ("1210:2,1221:1", Failure.FATAL),
        ("1210:2", Failure.UNKNOWN),  # one is stored
        ("1210:2,1200:1", Failure.UNKNOWN),
        ("4:3", Failure.UNKNOWN),
    ],
)
def test_an_array_of_which_every_document_is_refused_for_good_is_fatal(codes, meaning):
    answer = Response(202, b"[]", {"X-Arango-Error-Codes": codes})
    assert sent(lambda _: answer, DOCUMENTS)[1] is meaning


# --- queries -------------------------------------------------------------------------------------


SUM_AND_MEAN = (Aggregate(Function.SUM, "number"), Aggregate(Function.AVG, "number"))


@pytest.mark.parametrize(
    "numbers",
    [
        (2**53 - 1, 2**53 - 1, 2**53 - 1),  # 26 of the sum's 55 bits would be lost by SUM
        (-(2**53) + 1, -(2**53) + 2, 1),
        (2**53 - 1, -(2**53) + 1, 2**52 + 3),
        (262_143, 262_144, -68_719_476_737),
        (0, 0, 0),
    ],
)
def test_integers_that_a_double_holds_are_summed_exactly(filled, numbers):
    database = filled(points(numbers))
    with database.connect() as session:
        found = ask(session, database.render(AggregateQuery(POINTS, SUM_AND_MEAN)))
    assert found.rows == ((sum(numbers), sum(numbers) / 3),)


@pytest.mark.parametrize("beyond", [2**53, -(2**53), 2**63 - 1, -(2**63)])
def test_a_sum_of_integers_beyond_2_to_the_53_is_an_error_and_an_extreme_exact(filled, beyond):
    database = filled(points((1, beyond, 3)))
    ends = (Aggregate(Function.MIN, "number"), Aggregate(Function.MAX, "number"))
    with database.connect() as session:
        found = ask(session, database.render(AggregateQuery(POINTS, ends)))
        assert found.rows == ((min(beyond, 1), max(beyond, 3)),)
        for aggregate in SUM_AND_MEAN:
            statement = database.render(AggregateQuery(POINTS, (aggregate,)))
            with pytest.raises(RunError, match=r"overflow.*cannot be summed exactly"):
                session.run(statement)


def test_a_sum_that_no_double_holds_is_an_error(filled):
    huge = Values(np.array([1.7e308, 1.7e308, 0]))
    database = filled(points(**{"odd name": huge}))
    statement = database.render(AggregateQuery(POINTS, (Aggregate(Function.SUM, "odd name"),)))
    with database.connect() as session, pytest.raises(RunError, match="overflow"):
        session.run(statement)


def test_time_buckets_are_exact_or_an_error(filled):
    instants = np.array([2**53 - 1, 2**53 + 61, -1])
    database = filled(points(t=Values(instants)))
    query = AggregateQuery(POINTS, (Aggregate(Function.COUNT),), bucket=60)
    with database.connect() as session, pytest.raises(RunError, match="beyond 2"):
        session.run(database.render(query))
    nanoseconds = Table("ns", POINTS.columns, POINTS.key, TimeUnit.NANOSECOND)
    with pytest.raises(Unsupported, match="nanoseconds"):
        database.render(AggregateQuery(nanoseconds, query.aggregates, bucket=60))


def test_queries_can_only_return_the_clients_key():
    database = Arangodb(options())
    for query in (
        AggregateQuery(KEYED, (Aggregate(Function.MIN, ID.name),)),
        NewestQuery(KEYED, ("site",), (ID.name,)),
        DistinctQuery(KEYED, (ID.name,)),
    ):
        with pytest.raises(Unsupported, match="_key"):
            database.render(query)


def test_a_users_own_query_runs_unchanged(filled):
    database = filled(points())
    outputs = database.render(AggregateQuery(POINTS, (Aggregate(Function.COUNT),))).outputs
    own = Statement("FOR doc IN `points` COLLECT WITH COUNT INTO n RETURN [n]", outputs, tuned=True)
    with database.connect() as session:
        assert session.run(own) == [[3]]
        with pytest.raises(Exception, match=r"HTTP 400.*AQL: syntax error"):
            session.run(Statement("FOR doc UN `points` RETURN 1", outputs))


def test_no_cursor_is_left_on_the_server():
    server = SyntheticArango()
    with Web(server) as web:
        database = Arangodb(options(url=web.url))
        database.create([POINTS], 10)
        statement = database.render(RowsQuery(POINTS))
        with database.connect() as session:
            send(session, points(range(30)), BATCH, 30)
            assert [len(portion) for portion in session.stream(statement, 12)] == [12, 12, 6]
            unfinished = session.stream(statement, 7)
            next(unfinished)
            assert server.open_cursors == 1
            unfinished.close()
    assert server.open_cursors == 0


# --- tables, and the server ----------------------------------------------------------------------


def test_a_collection_is_created_with_the_options(synthetic_arango):
    given = {"replication_factor": 3, "shard_count": 6, "wait_for_sync": True}
    for more, tables in ((given, [POINTS.stored(PrimaryKey.UUID, 1)]), ({}, [POINTS])):
        database = Arangodb(options(url=synthetic_arango.url, **more))
        drop(database, tables)
        database.create(tables, 10)
    first, second = (
        json.loads(r.body)
        for r in synthetic_arango.requests
        if (r.method, r.path) == ("POST", "/_db/_system/_api/collection")
    )
    plain = {"name": "points", "isSystem": False, "type": 2}
    assert first == {
        **plain,
        "waitForSync": True,
        "keyOptions": {"type": "uuid", "allowUserKeys": True},
        "numberOfShards": 6,
        "replicationFactor": 3,
    }
    key = {"type": "traditional", "allowUserKeys": True}
    assert second == {**plain, "waitForSync": False, "keyOptions": key}


def test_names_that_no_collection_can_have_get_different_collections(arangodb):
    names = ["a b", "a_b", "a-b", "1a", "ß", "_x"]
    tables = [Table(name, POINTS.columns, POINTS.key) for name in names]
    arangodb.create(tables, 10)
    assert arangodb.size_bytes(tables) > 0


def test_a_column_named_like_a_system_attribute_is_refused(arangodb):
    columns = (*POINTS.columns, Column("_rev", Type.INT64, Role.FIELD))
    with pytest.raises(SetupError, match=r"_rev is a system attribute of the server"):
        arangodb.create([Table("points", columns, POINTS.key)], 10)


@pytest.mark.parametrize(("role", "nodes"), [("SINGLE", 1), ("COORDINATOR", 3)])
@pytest.mark.parametrize("wait_for_sync", [False, True])
def test_describe_reports_version_nodes_and_durability(role, nodes, wait_for_sync):
    with Web(SyntheticArango(role=role)) as web:
        server = Arangodb(options(url=web.url, wait_for_sync=wait_for_sync)).describe()
    assert (server.version, server.nodes) == ("ArangoDB 3.12.10", nodes)
    assert server.durable is wait_for_sync
    assert f"waitForSync={str(wait_for_sync).lower()}" in server.durability


def test_a_password_is_sent_and_never_shown():
    with Web(SyntheticArango("Basic YW5uOnN3b3JkZmlzaA==")) as web:
        right = options(url=web.url, user="ann", password="swordfish")
        Arangodb(right).connect().close()
        with pytest.raises(SetupError, match=r"401: not authorized") as found:
            Arangodb(right.model_copy(update={"user": "bob"})).describe()
    assert "check the credentials" in str(found.value)
    assert "swordfish" not in str(found.value) + str(right.public())


def test_a_missing_database_or_collection_is_named(arangodb, synthetic_arango):
    with pytest.raises(SetupError, match=r"database not found.*create it, or name another"):
        Arangodb(options(url=synthetic_arango.url, database="other")).connect()
    with pytest.raises(SetupError, match=r"not found: points.*run an insert first"):
        arangodb.size_bytes([POINTS])


# --- the stand-in's AQL, against the vendor's examples --------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("23 % 7", 2),
        ("-5 % 3", -2),
        ("13 / 2", 6.5),
        ("9007199254740993 + 0", 2**53),  # doubles
        ('null < false && false < 0 && 0 < "" && "" < [0] && [0] < {a: 1}', True),
        ("[1, 2] < [1, 3] && [1] < [1, 0]", True),
        ('"B" > "a"', True),  # not the order of bytes
        ('TO_HEX("ü")', "c3bc"),
        ("1 + null", 1),
        ("null != null ? 1 : 0", 0),
    ],
)  # fmt: skip
def test_the_synthetic_aql_calculates_as_documented(expression, value):
    text = f"FOR doc IN `one` RETURN [{expression}]"
    assert synthetic_aql.run(text, {"one": {"a": {}}}) == [[value]]
