"""MongoDB's documents, error classes, TLS, secrets and write concern.

The server is FerretDB. Replies that only a mongod gives are made up from MongoDB's manual.
"""

import json
import re
import threading
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psycopg2
import pytest
from bson import Int64, ObjectId
from bson.codec_options import CodecOptions, DatetimeConversion
from pydantic import ValidationError
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    DocumentTooLarge,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
)

from simulator.data.block import Block, Coded, Values
from simulator.data.own_query import Instant, TextQuery
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    Output,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, DRIVER, SINGLE, Failure
from simulator.modules.mongodb import session as mongodb_session
from simulator.modules.mongodb.database import Mongodb, MongodbOptions, durability, members
from simulator.modules.mongodb.query import DocumentFormat
from simulator.modules.mongodb.session import commands
from tests.contract import harness
from tests.contract.harness import Wideset, ask, count, created, refusal, send
from tests.contract.targets import STORING
from tests.servers.ferretdb import ADMIN

pytestmark = pytest.mark.server("ferretdb")

SAMPLES = Table(
    "samples",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("number", Type.INT64, Role.KEY),
        Column("level", Type.INT32, Role.FIELD, nullable=True),
        Column("seen", Type.TIMESTAMP, Role.FIELD),
    ),
    key=("site", "time"),
)
FIRST_MS = -86_400_001  # before 1970
SEEN_MS = -62_135_596_800_000  # in the year 1
MOST_CONNECTIONS = 100  # of FerretDB to its storage
ROWS = [
    # time, site, number, level, seen
    (FIRST_MS, "north", 1, 7, 253_402_300_799_999),
    (FIRST_MS + 1000, "Ost", 2, None, SEEN_MS),
    (FIRST_MS + 3_600_000, "north", 3, -1, 0),
]


def samples(unit=TimeUnit.MILLISECOND):
    table = Table(SAMPLES.name, SAMPLES.columns, SAMPLES.key, unit)
    time_, _, number, level, seen = zip(*ROWS, strict=True)
    data = {
        "time": Values(np.array(time_)),
        "site": Coded(np.array([0, 1, 0]), np.array([b"north", b"Ost"])),
        "number": Values(np.array(number)),
        "level": Values(
            np.array([x or 0 for x in level], np.int32), np.array([x is not None for x in level])
        ),
        "seen": Values(np.array(seen)),
    }
    return Block(table, 0, np.arange(len(ROWS)), data)


@pytest.fixture
def open_mongodb(server_options):
    return lambda **options: Mongodb(MongodbOptions(**{**server_options, **options}))


@pytest.fixture
def mongodb(open_mongodb):
    return open_mongodb()


def encoded(session, batch, rows):
    return harness.encoded(session, batch, BATCH, rows)


def stored(database, name):
    plain = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)
    with database.connect() as session:
        found = list(session.database.get_collection(name, plain).find())
    for document in found:
        assert isinstance(document.pop("_id"), ObjectId)
    return found


# --- documents -----------------------------------------------------------------------------------


def pairs(**values):
    return [{"key": key, "val": value} for key, value in values.items()]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (
            DocumentFormat.FLAT,
            {"time": FIRST_MS + 1000, "site": "Ost", "number": 2, "seen": SEEN_MS},
        ),
        (
            DocumentFormat.KEY_PAIR,
            {
                "time": FIRST_MS + 1000,
                "number": 2,
                "tags": pairs(site="Ost"),
                "fields": pairs(level=None, seen=SEEN_MS),
            },
        ),
        (
            DocumentFormat.TIMESERIES,
            {"time": FIRST_MS + 1000, "tags": {"site": "Ost"}, "number": 2, "seen": SEEN_MS},
        ),
    ],
)
def test_a_document_is_as_its_format_says(open_mongodb, layout, expected):
    database, batch = open_mongodb(document_format=layout), samples()
    database.create([batch.table], 10)
    with database.connect() as session:
        session.send(encoded(session, batch, 3))
    document = next(d for d in stored(database, "samples") if d["number"] == 2)

    assert int(document["time"]) == expected["time"]
    assert not isinstance(document["time"], int), "it is a Date"
    assert isinstance(document["number"], Int64)
    plain = {name: int(v) if "Datetime" in str(type(v)) else v for name, v in document.items()}
    assert plain == expected


@pytest.mark.parametrize("unit", [TimeUnit.SECOND, TimeUnit.MICROSECOND])
def test_a_time_series_in_another_unit_has_its_instant_beside_the_date(open_mongodb, unit):
    database, batch = open_mongodb(document_format="timeseries"), samples(unit)
    database.create([batch.table], 10)
    with database.connect() as session:
        session.send(encoded(session, batch, 1))
    (document,) = stored(database, "samples")
    assert document["time"] == FIRST_MS
    assert int(document["date"]) == FIRST_MS * 1000 // unit.per_second


@pytest.mark.parametrize("unit", TimeUnit)
@pytest.mark.parametrize("layout", DocumentFormat)
def test_instants_are_asked_for_in_the_tables_unit(open_mongodb, layout, unit):
    database, batch = open_mongodb(document_format=layout), samples(unit)
    table = batch.table
    database.create([table], 10)
    counted = (Aggregate(Function.COUNT), Aggregate(Function.MAX, "seen"))
    hour = AggregateQuery(table, counted, bucket=3_600_000)
    between = Selection(since=FIRST_MS + 1, until=FIRST_MS + 3_600_000)
    late = AggregateQuery(table, counted, selection=between)
    with database.connect() as session:
        session.send(encoded(session, batch, 3))
        rows = ask(session, database.render(RowsQuery(table))).rows
        buckets = ask(session, database.render(hour)).rows
        between = ask(session, database.render(late)).rows
        newest = ask(session, database.render(NewestQuery(table, ("site",), ("time",)))).rows

    assert rows == tuple(sorted(ROWS))
    assert buckets == ((-90_000_000, 1, 253_402_300_799_999), (-86_400_000, 2, 0))
    assert between == ((1, SEEN_MS),)
    assert newest == (("Ost", FIRST_MS + 1000), ("north", FIRST_MS + 3_600_000))


def test_a_name_that_a_query_cannot_address_is_refused(mongodb):
    columns = [Column(name, Type.INT64, Role.FIELD) for name in ("a.b", "$c", "_id", "a$", "d")]
    table = Table("odd", (SAMPLES.columns[0], *columns), ())
    with pytest.raises(SetupError) as caught:
        mongodb.create([table], 1)
    assert re.findall(r"column '([^']+)'", str(caught.value)) == ["a.b", "$c", "_id"]


def test_a_time_series_collection_is_created():
    options = MongodbOptions(
        connection_string="mongodb://h", document_format="timeseries", granularity="minutes"
    )
    fields = {"timeField": "timestamp", "metaField": "tags", "granularity": "minutes"}
    assert Mongodb(options)._collection(EVENTS) == {"timeseries": fields}


# --- queries -------------------------------------------------------------------------------------


def test_a_tuned_query_is_a_command(mongodb):
    wide = Wideset(PrimaryKey.DB)
    wide.fill(mongodb)
    counted = outputs(AggregateQuery(wide.tables[0], (Aggregate(Function.COUNT),)))
    early = {"$match": {"time": {"$lt": {"$date": {"$numberLong": "-1"}}}}}
    with mongodb.connect() as session:
        for stages, rows in (([], 300), ([early], 0)):
            command = {"aggregate": "readings", "pipeline": [*stages, {"$count": "count"}]}
            tuned = Statement(json.dumps(command), counted, tuned=True)
            assert ask(session, tuned).rows == ((rows,),)
        with pytest.raises(ValueError, match="expected a command in extended JSON"):
            session.run(Statement("db.readings.count()", counted, tuned=True))


@pytest.mark.parametrize("layout", [DocumentFormat.FLAT, DocumentFormat.TIMESERIES])
def test_a_users_pipeline_reads_all_parts_and_compares_instants(open_mongodb, layout):
    database, batch = open_mongodb(document_format=layout), samples()
    table = replace(batch.table, parts=2)
    database.create([table], 10)
    window = {"time": {"$gte": "{start}", "$lt": "{end}"}}
    count = {"$group": {"_id": None, "n": {"$sum": 1}}}
    text = json.dumps([{"$match": window}, count])
    n = (Output("n", Type.INT64, TimeUnit.MILLISECOND),)
    languages = database.texts(table)

    def counted(since, until):
        values = {"start": Instant(since), "end": Instant(until)}
        statement = languages.statement(TextQuery(table, {"mongodb": text}, values, n))
        return session.run(statement)

    with database.connect() as session:
        for name in table.names:
            part = Block(table, table.names.index(name), batch.rows, batch.data)
            session.send(encoded(session, part, 3))
        assert languages.problem(text, ["n"]) == ""
        assert counted(FIRST_MS, FIRST_MS + 1001) == [(4,)]
        assert counted(FIRST_MS + 1, FIRST_MS + 1000) == []  # no documents, no group


def test_equal_names_do_not_hide_each_other(mongodb):
    columns = (*SAMPLES.columns[:1], Column("count", Type.TEXT, Role.TAG), *SAMPLES.columns[2:])
    batch = samples()
    data = {("count" if name == "site" else name): d for name, d in batch.data.items()}
    batch = Block(Table("samples", columns, ("count", "time")), 0, batch.rows, data)
    mongodb.create([batch.table], 3)
    query = AggregateQuery(batch.table, (Aggregate(Function.COUNT),), by=("count",))
    with mongodb.connect() as session:
        session.send(encoded(session, batch, 3))
        assert ask(session, mongodb.render(query)).rows == (("Ost", 1), ("north", 2))


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (DocumentFormat.FLAT, [["device_id", "timestamp", "temperature"], ["temperature"]]),
        (
            DocumentFormat.KEY_PAIR,
            [["tags.key", "tags.val", "timestamp"], ["fields.key", "fields.val"]],
        ),
        (
            DocumentFormat.TIMESERIES,
            [["tags.device_id", "timestamp", "temperature"], ["temperature"]],
        ),
    ],
)
def test_indices_are_those_of_the_reference_document(open_mongodb, layout, expected):
    database = open_mongodb(document_format=layout, create_indices=True)
    database.create([EVENTS], 1)
    with database.connect() as session:
        found = session.database["events"].index_information()
    keys = [[field for field, _ in index["key"]] for name, index in found.items() if name != "_id_"]
    assert sorted(keys) == sorted(expected)


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ordered", "kept"), [(False, 7), (True, 2)])
def test_the_stored_rows_of_a_partly_refused_batch_are_counted(open_mongodb, ordered, kept):
    database, wide = open_mongodb(ordered=ordered), Wideset(PrimaryKey.CLIENT)
    database.create(wide.tables, 10)
    first = wide.batches[0]
    with database.connect() as session:
        for place in (2, 5, 6):
            send(session, first.slice(place, place + 1), SINGLE, 1)
        with pytest.raises(BulkWriteError) as caught:
            session.send(encoded(session, first, 10))
        details = caught.value.details
        refused = [2, 5, 6] if not ordered else [2]
        assert [error["index"] for error in details["writeErrors"]] == refused
        assert details["nInserted"] == kept
        assert count(database, session, wide.tables[0]) == 3 + kept
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive
        message = database.explain(caught.value)
    assert "Duplicate key" in message
    assert "--clean" in message
    assert ordered or "7 rows were stored and 3 errors reported" in message


def test_a_storage_that_is_killed_behind_the_server(server, mongodb):
    wide = Wideset(PrimaryKey.DB)
    mongodb.create(wide.tables, 10)
    with mongodb.connect() as session:
        payload = encoded(session, wide.batches[0], 10)
        session.send(payload)
        server.kill("postgres")
        try:
            for _ in range(MOST_CONNECTIONS):
                with pytest.raises(PyMongoError) as caught:
                    session.send(payload)
                # FerretDB's connections break one after the other before it opens new ones.
                assert session.classify(caught.value) in (Failure.UNKNOWN, Failure.NOT_APPLIED)
                if "failed to connect" in str(caught.value):
                    break
            assert session.classify(caught.value) is Failure.NOT_APPLIED
            assert session.alive
        finally:
            server.start()
        session.send(payload)


def test_a_hanging_server_times_out(server, open_mongodb):
    wide, database = Wideset(PrimaryKey.DB), open_mongodb(timeout_s=1, connect_timeout_s=1)
    database.create(wide.tables, 10)
    with database.connect() as session:
        payload = encoded(session, wide.batches[0], 10)
        session.send(payload)
        with server.paused("ferretdb"):
            start = time.monotonic()
            with pytest.raises(NetworkTimeout) as caught:
                session.send(payload)
            assert time.monotonic() - start < 5
            assert session.classify(caught.value) is Failure.UNKNOWN
            assert not session.alive
            with pytest.raises(SetupError, match="check that the server runs"):
                database.connect()
            assert time.monotonic() - start < 15


def reported(code):
    return OperationFailure("reported", code, {"ok": 0, "code": code})


def bulk(*codes, concern=(), inserted=0):
    return BulkWriteError(
        {
            "writeErrors": [{"code": code} for code in codes],
            "writeConcernErrors": [{"code": code} for code in concern],
            "nInserted": inserted,
        }
    )


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (NotPrimaryError("not primary", {"code": 10107}), Failure.NOT_APPLIED),
        (NotPrimaryError("stepped down", {"code": 189}), Failure.UNKNOWN),
        (NotPrimaryError("shutting down", {"code": 11600}), Failure.UNKNOWN),
        (NotPrimaryError("no code", {}), Failure.UNKNOWN),
        (ServerSelectionTimeoutError("nobody"), Failure.NOT_APPLIED),
        (WaitQueueTimeoutError("no connection"), Failure.NOT_APPLIED),
        (AutoReconnect("connection closed"), Failure.UNKNOWN),
        (NetworkTimeout("timed out"), Failure.UNKNOWN),
        (reported(112), Failure.NOT_APPLIED),
        (reported(462), Failure.NOT_APPLIED),
        (reported(13), Failure.FATAL),
        (reported(11000), Failure.FATAL),
        (reported(50), Failure.UNKNOWN),
        (reported(1), Failure.UNKNOWN),
        (DocumentTooLarge("too large"), Failure.FATAL),
        (OSError("whatever"), Failure.UNKNOWN),
        (bulk(10107, 10107), Failure.NOT_APPLIED),
        (bulk(10107, inserted=1), Failure.UNKNOWN),
        (bulk(112), Failure.NOT_APPLIED),
        (bulk(112, 121), Failure.FATAL),
        (bulk(11600), Failure.UNKNOWN),
        (bulk(concern=[64], inserted=2), Failure.UNKNOWN),  # stored, but by too few members
        (bulk(inserted=1), Failure.UNKNOWN),  # fewer than were sent, without a reason
    ],
)
def test_what_the_drivers_errors_mean(mongodb, error, meaning):
    with mongodb.connect() as session:
        assert session.classify(error) is meaning


def test_a_batch_of_more_documents_than_a_command_takes(mongodb, monkeypatch):
    """More than FerretDB takes is sent in two commands; one command of so many is refused."""
    rows = mongodb_session.COMMAND_ROWS + 1
    dataset = created(STORING["mongodb-flat"], mongodb, rows, rows)
    reader = DatasetReader(dataset)
    ((block,),) = reader.blocks(dataset.ranges, rows)
    with mongodb.connect() as session:
        for payload in session.encode(block, BATCH, rows):
            session.send(payload)
        assert count(mongodb, session, reader.tables[0]) == rows
        monkeypatch.setattr(mongodb_session, "COMMAND_ROWS", rows)
        for mode in (BATCH, DRIVER):  # the vendor's driver cuts at MongoDB's limit
            (payload,) = session.encode(block, mode, rows)
            with pytest.raises(OperationFailure, match="Write batch size") as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.FATAL
            assert "use a smaller --batch" in mongodb.explain(caught.value)
            assert count(mongodb, session, reader.tables[0]) == rows


def test_a_collection_that_the_server_vacuums_is_compacted_later(server, server_database, mongodb):
    wide = Wideset(PrimaryKey.DB)
    mongodb.create(wide.tables, 10)
    name = wide.tables[0].names[0]
    begun = threading.Event()

    def hold() -> None:
        """Hold the lock that PostgreSQL's own vacuum takes."""
        reach = f"host=127.0.0.1 port={server.port('postgres')} dbname=postgres user={ADMIN}"
        with closing(psycopg2.connect(reach, password=server.password)) as connection:
            cursor = connection.cursor()
            cursor.execute(
                "SELECT collection_id FROM documentdb_api_catalog.collections"
                " WHERE (database_name, collection_name) = (%s, %s)", (server_database, name)
            )  # fmt: skip
            ((number,),) = cursor.fetchall()
            cursor.execute(
                f"LOCK TABLE documentdb_data.documents_{number} IN SHARE UPDATE EXCLUSIVE MODE"
            )
            begun.set()
            time.sleep(1.5)

    holding = threading.Thread(target=hold)
    holding.start()
    assert begun.wait(10)
    with mongodb.connect() as session, pytest.raises(OperationFailure, match="in progress"):
        session.database.command("compact", name, force=True)
    mongodb.compact(wide.tables)
    assert not holding.is_alive()
    holding.join()


def conflict(answers):
    """Return the next answer; after the last one, report a conflict, which stores nothing."""
    if not answers:
        raise reported(112)
    return answers.pop()


def test_a_partly_stored_batch_is_not_sent_again(mongodb, monkeypatch):
    wide = Wideset(PrimaryKey.DB)
    mongodb.create(wide.tables, 300)
    monkeypatch.setattr(mongodb_session, "COMMAND_ROWS", 100)
    with mongodb.connect() as session:
        payload = encoded(session, wide.batches[0], 300)
        replies = iter([{"n": 100}, {"n": 0, "writeErrors": [{"code": 112, "errmsg": "conflict"}]}])
        monkeypatch.setattr(session.database, "command", lambda _: next(replies))
        with pytest.raises(BulkWriteError) as caught:
            session.send(payload)
        assert caught.value.details["nInserted"] == 100
        assert session.classify(caught.value) is Failure.UNKNOWN

        answers = [{"n": 100}]
        monkeypatch.setattr(session.database, "command", lambda _: conflict(answers))
        with pytest.raises(OperationFailure) as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.UNKNOWN


def test_a_reply_that_acknowledges_fewer_documents_than_were_sent_is_an_error(mongodb, monkeypatch):
    wide = Wideset(PrimaryKey.DB)
    mongodb.create(wide.tables, 300)
    with mongodb.connect() as session:
        payload = encoded(session, wide.batches[0], 300)
        for acknowledged in (299, 0):
            reply = {"n": acknowledged, "ok": 1.0}
            monkeypatch.setattr(session.database, "command", lambda _, reply=reply: reply)
            with pytest.raises(BulkWriteError) as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.UNKNOWN
            message = mongodb.explain(caught.value)
            assert message == f"the server acknowledged {acknowledged} of 300 documents"


@pytest.mark.parametrize(
    ("limit", "rows", "sizes"),
    [(10**6, 10, [5]), (10**6, 2, [2, 2, 1]), (12, 10, [2, 2, 1]), (5, 10, [1] * 5)],
)
def test_a_command_is_cut_between_documents(monkeypatch, limit, rows, sizes):
    monkeypatch.setattr(mongodb_session, "COMMAND_BYTES", limit)
    monkeypatch.setattr(mongodb_session, "COMMAND_ROWS", rows)
    content = b"\x05\0\0\0\0" * 5
    cut = commands(content, 5)
    assert [count for count, _ in cut] == sizes
    assert b"".join(documents for _, documents in cut) == content


# --- refused connections, and secrets ------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (f"{ADMIN}@", "A password is required; check user and password"),
        ("", "requires authentication; grant the user"),
    ],
)
def test_a_missing_credential_is_named(server, open_mongodb, user, words):
    reach = f"mongodb://{user}127.0.0.1:{server.port()}/"
    for message in refusal(open_mongodb(connection_string=reach, password=None)):
        assert words in message


SECRET = "s3cret"
UNREADABLE = [
    f"mongodb://ann:{SECRET}@127.0.0.1:1/",
    f"mongodb://ann:pa/{SECRET}/ss@127.0.0.1:1/",
    f"mongodb://ann:%zz{SECRET}@127.0.0.1:1/",
    f"mongodb://ann@127.0.0.1:1/?tlsCertificateKeyFilePassword={SECRET}",
    f"mongodb://ann@127.0.0.1:1/?authMechanismProperties=AWS_SESSION_TOKEN:{SECRET}",
    f"mongo://ann:{SECRET}@127.0.0.1:1/",
]


@pytest.mark.parametrize("reach", UNREADABLE)
def test_no_password_is_ever_shown(open_mongodb, reach):
    database = open_mongodb(connection_string=reach, password=SECRET, connect_timeout_s=1)
    texts = [*refusal(database), str(database.options.public()), repr(database.options)]
    assert [words for words in texts if SECRET in words] == []


def test_a_certificate_is_verified_unless_insecure(server, open_mongodb):
    reach = server.connection_string("tls")
    authority = server.authority.read_text()
    for options in ({"ca_file": str(server.authority)}, {"ca": authority}, {"insecure": True}):
        assert open_mongodb(connection_string=reach, **options).describe().nodes == 1
    database = open_mongodb(connection_string=f"{reach}&tls=true", connect_timeout_s=1)
    for message in refusal(database):
        assert "certificate verify failed" in message
        assert "; name its authority's certificate in ca_file" in message
    with pytest.raises(SetupError, match=r"nowhere\.pem"):
        open_mongodb(connection_string=reach, ca_file="/nowhere.pem").connect()


# --- write concern -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "query", "concern"),
    [
        ({}, "", {"w": "majority", "wtimeout": 27000}),
        ({"w": "2", "j": True}, "", {"w": 2, "j": True, "wtimeout": 27000}),
        ({}, "&w=1&journal=true", {"w": 1, "j": True, "wtimeout": 27000}),
        ({"w": "east", "timeout_s": 10}, "&w=1", {"w": "east", "wtimeout": 9000}),
    ],
)
def test_the_write_concern_is_that_of_the_options_or_the_connection_string(
    server, open_mongodb, options, query, concern
):
    database = open_mongodb(connection_string=server.connection_string() + query, **options)
    wide, sent = Wideset(PrimaryKey.DB), []
    with database.connect() as session:
        session.database = SimpleNamespace(command=lambda c: sent.append(c) or {"n": 1})
        session.send(encoded(session, wide.batches[0], 1))
    assert sent[0]["writeConcern"] == concern
    assert sent[0]["ordered"] is False


def test_a_write_concern_without_acknowledgement_is_refused(server, open_mongodb):
    for w in (0, "0", -1, ""):
        with pytest.raises(ValidationError, match="acknowledges nothing"):
            MongodbOptions(connection_string="mongodb://h", w=w)
    with pytest.raises(SetupError, match="w=0 acknowledges nothing"):
        open_mongodb(connection_string=f"{server.connection_string()}&w=0").connect()


SET, ALONE, ROUTER = {"setName": "rs"}, {}, {"msg": "isdbgrid"}
JOURNALS = {"writeConcernMajorityJournalDefault": True}
NOT = {"writeConcernMajorityJournalDefault": False}


@pytest.mark.parametrize(
    ("concern", "hello", "config", "durable", "words"),
    [
        ({"w": "majority"}, SET, JOURNALS, True, "journal on disk of a majority of the members"),
        ({"w": "majority"}, SET, NOT, False, "memory of a majority .*100 ms later .*Default=false"),
        ({"w": "majority"}, SET, {}, None, "unless writeConcernMajorityJournalDefault is off"),
        ({"w": "majority"}, ROUTER, {}, None, "set j=true"),
        ({"w": "majority", "j": False}, SET, JOURNALS, False, "memory of a majority"),
        ({"w": "majority", "j": True}, SET, NOT, True, "journal on disk of a majority"),
        ({"w": 1}, SET, JOURNALS, False, "memory of the primary; .*100 ms later"),
        ({"w": 2, "j": True}, SET, {}, True, r"journal on disk of 2 members \(w=2, j=true\)"),
        ({"w": "east"}, SET, JOURNALS, False, "the members with the write concern 'east'"),
        ({"w": "majority"}, ALONE, {}, True, "journal on disk of the only server"),
        ({"w": 1}, ALONE, {}, False, "memory of the only server"),
    ],
)
def test_durability_follows_from_the_write_concern_as_in_the_manual(
    concern, hello, config, durable, words
):
    found, sentence = durability(concern, hello, config)
    assert found is durable
    assert sentence.startswith("an acknowledged row")
    assert re.search(words, sentence)


def test_ferretdb_is_recognised(open_mongodb):
    server = open_mongodb().describe()
    assert server.version == "FerretDB 2.7.0"
    assert server.settings["document_format"] == "flat"
    assert server.settings["w"] == "majority"
    version = open_mongodb(document_format="timeseries").describe().version
    assert version == "FerretDB 2.7.0, which stores a time series in a plain collection"


class MadeUp:
    """A session whose client returns made-up replies of a mongod."""

    def __init__(self, **replies):
        self.client = self.admin = self
        self.write_concern = SimpleNamespace(document={})
        self._replies = replies

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def command(self, name):
        if name not in self._replies:
            raise OperationFailure("not authorized", 13)
        return self._replies[name]


MONGOD = {"version": "8.0.32"}
MEMBERS = {"setName": "rs", "hosts": ["a", "b"], "passives": ["c"], "arbiters": ["d"]}


def test_a_mongod_is_described_and_refused_if_it_is_too_old(mongodb, monkeypatch):
    replies = {"buildInfo": MONGOD, "hello": MEMBERS, "replSetGetConfig": {"config": JOURNALS}}
    monkeypatch.setattr(mongodb, "connect", lambda: MadeUp(**replies))
    found = mongodb.describe()
    assert (found.version, found.nodes, found.durable) == ("MongoDB 8.0.32", 3, True)
    assert "journal on disk of a majority" in found.durability
    replies["buildInfo"] = {"version": "4.4.29"}
    with pytest.raises(SetupError, match=r"the server is MongoDB 4\.4\.29, .* 5\.2 or newer"):
        mongodb.inspect()


def test_members_that_store_data_are_counted():
    assert members(MadeUp(), {}) == 1
    assert members(MadeUp(), MEMBERS) == 3
    shards = [{"host": "rs0/a:1,b:1,c:1"}, {"host": "rs1/d:1,e:1,f:1"}]
    assert members(MadeUp(listShards={"shards": shards}), {"msg": "isdbgrid"}) == 6
    assert members(MadeUp(), {"msg": "isdbgrid"}) == 1
