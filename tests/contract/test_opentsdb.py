"""What is OpenTSDB's own: texts of queries, requests and their limits, and what errors mean."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.query import OneOf, RowsQuery, Selection, Statement, outputs
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, Payload, RowCountMismatch
from simulator.modules.opentsdb.database import OpenTsdb, OpenTsdbOptions
from simulator.modules.opentsdb.query import largest_request
from simulator.modules.opentsdb.session import PutError
from tests.contract.devices import QUERIES, TABLE, encoded, readings, stored
from tests.contract.harness import ask, count
from tests.standins.web import Response, Web

SERVER = pytest.mark.server("opentsdb")


@pytest.fixture
def open_opentsdb(server_options):
    return lambda **more: OpenTsdb(OpenTsdbOptions(**{**server_options, **more}))


@pytest.fixture
def opentsdb(open_opentsdb):
    return open_opentsdb()


# --- queries -------------------------------------------------------------------------------------


@SERVER
def test_more_tags_than_the_server_allows_are_refused_before_anything_is_written(opentsdb):
    tags = [Column(f"tag_{number}", Type.TEXT, Role.TAG) for number in range(17)]
    time, field = Column("time", Type.TIMESTAMP, Role.TIME), Column("n", Type.INT64, Role.FIELD)
    table = Table("many", (time, *tags, field), key=("time",))
    with pytest.raises(UnstorableError, match="a row has 17 tags, and this server allows 16"):
        opentsdb.create([table], 10)
    with opentsdb.connect() as session:
        assert session.list_metrics(f"{opentsdb.options.prefix}many", 10) == []


@SERVER
def test_rows_of_one_instant_and_of_devices_of_which_some_are_unknown(opentsdb):
    opentsdb.create([TABLE], 10)
    names = ("device_id", "timestamp")
    some = OneOf("device_id", ("d0", "d2", "d9"))
    with opentsdb.connect() as session:
        for device in (b"d1", b"d2"):
            session.send(encoded(session, readings(device=device)))
        third = 1_700_000_002_000
        for selection, found in (
            (Selection(since=third, until=third + 1), ["d1", "d2"]),
            (Selection((some,), until=1_700_000_001_000), ["d2"]),
            (Selection((OneOf("device_id", ("d8", "d9")),)), []),
        ):
            rows = ask(session, opentsdb.render(RowsQuery(TABLE, names, selection))).rows
            assert [device for device, _ in rows] == found


@SERVER
def test_a_text_of_the_users_own_fills_columns_by_its_sub_queries(opentsdb):
    opentsdb.create([TABLE], 10)
    prefix = opentsdb.options.prefix
    body = (
        f'{{"start": 1600000000, "queries": [{{"metric": "{prefix}events.temperature", '
        '"aggregator": "max", "downsample": "0all-max", "filters": [{"type": "wildcard", '
        '"tagk": "device_id", "filter": "*", "groupBy": true}]}]}'
    )
    with opentsdb.connect() as session:
        session.send(encoded(session, readings()))
        session.send(encoded(session, readings(3, device=b"d2")))
        found = session.run(
            Statement(
                f"POST /api/query?arrays\n{body}", outputs(QUERIES["newest-per-device"]), tuned=True
            )
        )
    assert sorted(found) == [("d1", 2.0), ("d2", 1.0)]


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ({}, 8192),
        ({"tsd.http.request.enable_chunked": "false"}, 8192),
        ({"tsd.http.request.enable_chunked": "true", "tsd.http.request.max_chunk": "4096"}, 8192),
        ({"tsd.http.request.enable_chunked": "true", "tsd.http.request.max_chunk": "99999"}, 99999),
    ],
)
def test_how_long_a_request_may_be_is_read_from_the_server(config, limit):
    assert largest_request(config) == limit


@SERVER
def test_a_long_send_is_as_many_requests_as_the_server_asks_for(opentsdb, open_opentsdb):
    with opentsdb.connect() as session:
        (whole,) = session.encode(readings(200), BATCH, 200)
        session.limit_bytes = 8192
        (parts,) = session.encode(readings(200), BATCH, 200)
    assert len(whole.data) == 1
    assert len(parts.data) > 3
    assert all(len(body) <= 8192 for body in parts.data)
    assert b",".join(body[1:-1] for body in parts.data) == whole.data[0][1:-1]
    with open_opentsdb(request_points=50).connect() as session:
        (asked,) = session.encode(readings(200), BATCH, 200)
    assert [body.count(b'"metric"') for body in asked.data] == [50] * 8


@SERVER
@pytest.mark.parametrize("mode", [SINGLE, BATCH])
def test_a_refused_point_is_no_stored_row(opentsdb, mode):
    opentsdb.create([TABLE], 10)
    with opentsdb.connect() as session:
        good = encoded(session, readings(1), mode)
        (body,) = good.data
        bad = Payload(1, mode, [body.replace(b'"d1"', b'"not a tag"')])
        with pytest.raises(PutError, match="2 points were not stored: Invalid tag value") as caught:
            session.send(bad)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive
        session.send(good)


def of_two_tables(rows):
    """Two tables, the block of each, and edges of one batch with all their rows."""
    tables = [replace(TABLE, name=name) for name in ("one", "other")]
    blocks = [
        Block(table, 0, np.arange(rows), readings(rows, device=device).data)
        for table, device in zip(tables, (b"d1", b"d2"), strict=True)
    ]
    return tables, blocks, [np.array([0, rows])] * 2


@SERVER
def test_requests_with_rows_of_several_tables_are_as_long_as_the_server_asks_for(open_opentsdb):
    tables, blocks, edges = of_two_tables(30)
    with open_opentsdb(request_points=50).connect() as session:
        ((first, second, third),) = session.make_mixed_encoder(tables)(blocks, edges)
    assert [body.count(b'"metric"') for body in (first, second, third)] == [50, 50, 20]
    assert [body.count(b'"d2"') for body in (first, second, third)] == [0, 40, 20]


@SERVER
def test_a_table_whose_points_are_refused_beside_others_is_no_success(opentsdb):
    tables, blocks, edges = of_two_tables(3)
    opentsdb.create(tables, 10)
    with opentsdb.connect() as session:
        ((body,),) = session.make_mixed_encoder(tables)(blocks, edges)
        bad = Payload(6, BATCH, [body.replace(b'"d2"', b'"not a tag"')])
        with pytest.raises(PutError, match="6 points were not stored") as caught:
            session.send(bad)
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert [count(opentsdb, session, table) for table in tables] == [3, 0]


def test_an_answer_that_counts_fewer_points_than_were_sent_is_no_success():
    """By the vendor's documentation: a real server either counts every point or reports errors."""
    reply = b'{"success": 9, "failed": 0, "errors": []}'

    def answer(request):
        return Response(200, reply if request.path.startswith("/api/put") else b"{}")

    with Web(answer) as web:
        database = OpenTsdb(OpenTsdbOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(RowCountMismatch, match="acknowledged 9 of 10 points") as caught:
                session.send(encoded(session, readings(5)))
            assert session.classify(caught.value) is Failure.UNKNOWN


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("Storage exception: RemoteException", Failure.UNKNOWN),
        ("Write timedout", Failure.UNKNOWN),
        ("Please throttle", Failure.NOT_APPLIED),
        (
            "Storage exception: 1000 RPCs waiting on 'tsdb,,1.f6d3.' to come back online",
            Failure.NOT_APPLIED,
        ),
        ("Unable to parse value to a number", Failure.FATAL),
        ("Unknown metric", Failure.FATAL),
    ],
)
def test_what_the_servers_words_about_a_point_mean(words, meaning):
    """By the vendor's documentation, and one of a real server whose region was split under load."""
    reply = f'{{"success": 0, "failed": 1, "errors": [{{"error": "{words}"}}]}}'.encode()

    def answer(request):
        return Response(400, reply) if request.path.startswith("/api/put") else Response(200, b"{}")

    with Web(answer) as web:
        database = OpenTsdb(OpenTsdbOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(PutError, match=words) as caught:
                session.send(Payload(1, BATCH, [b"[]"]))
            assert session.classify(caught.value) is meaning


@pytest.mark.parametrize("instant", [0, 9_999_999_999, 4_294_000_000_001])
def test_times_that_it_would_take_for_others_are_refused(instant):
    with Web(lambda _: Response(200, b"{}")) as web:
        database = OpenTsdb(OpenTsdbOptions(url=web.url))
        batch = readings(1)
        batch.data["timestamp"].array[:] = instant
        with database.connect() as session, pytest.raises(UnstorableError, match="timestamp"):
            session.encode(batch, BATCH, 1)


# --- tables --------------------------------------------------------------------------------------


@SERVER
def test_a_send_that_is_not_synchronous_is_there_once_visible(open_opentsdb):
    database = open_opentsdb(sync=False)
    database.create([TABLE], 10)
    with database.connect() as session:
        session.send(encoded(session, readings(1000)))
    database.visible([TABLE])
    assert stored(database) == 1000
    assert database.describe().durable is False


# --- being refused -------------------------------------------------------------------------------


def test_a_server_that_is_something_else():
    with Web(lambda _: Response(404, b"no such page")) as web:
        database = OpenTsdb(OpenTsdbOptions(url=web.url))
        with pytest.raises(SetupError, match=r"answered 404.*check that the URL is that of a TSD"):
            database.connect()
