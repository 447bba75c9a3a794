"""What is specific to InfluxDB 3, by the vendor's documentation.

A web server answers as https://docs.influxdata.com/influxdb3/core/api/ describes it, and what the
module asks is compared with what is documented.
"""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from simulator.data.answer import answer
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import Failure
from simulator.modules.influxdb3 import Influx3Options, Influxdb3, _Lines
from simulator.modules.shared.http.client import Refused
from tests.contract import devices
from tests.contract.devices import TABLE
from tests.contract.harness import drop
from tests.standins.web import Response, Web


class Documented:
    """Answers as it is documented; remembers what it was asked."""

    def __init__(self):
        self.databases = ["_internal"]
        self.tables = []
        self.written = []
        self.asked = []
        self.rows = []
        self.write_answer = Response(204)

    def __call__(self, request):
        if request.headers.get("Authorization") != "Bearer apiv3_token":
            return Response(401, b"the request was not authenticated")
        url = urlsplit(request.path)
        parameters = {name: value for name, (value,) in parse_qs(url.query).items()}
        match request.method, url.path:
            case "GET", "/ping":
                return Response(200, b'{"version":"3.10.0","revision":"abc"}')
            case "GET", "/api/v3/configure/database":
                listed = [{"iox::database": name} for name in self.databases]
                return Response(200, json.dumps(listed).encode())
            case "POST", "/api/v3/configure/database":
                self.databases.append(json.loads(request.body)["db"])
                return Response(200)
            case "DELETE", "/api/v3/configure/database":
                self.databases.remove(parameters["db"])
                return Response(200)
            case "POST", "/api/v3/configure/table":
                self.tables.append(json.loads(request.body))
                return Response(200)
            case "POST", "/api/v3/write_lp":
                self.written.append((parameters, request.content))
                return self.write_answer
            case "POST", "/api/v3/query_sql":
                self.asked.append(json.loads(request.body))
                return Response(200, b"".join(json.dumps(r).encode() + b"\n" for r in self.rows))
        return Response(404)


@pytest.fixture
def server():
    return Documented()


@pytest.fixture
def open_influxdb3(server):
    with Web(server) as web:
        options = {"url": web.url, "token": "apiv3_token", "timeout_s": 5}
        yield lambda **more: Influxdb3(Influx3Options(**{**options, **more}))


def encoded(session):
    """Return two rows as one payload."""
    return devices.encoded(session, devices.readings(2))


def test_databases_and_tables_come_and_go(server, open_influxdb3):
    database = open_influxdb3()
    database.create([TABLE], 100)
    assert server.databases == ["_internal", "benchmark_events"]
    assert server.tables == [
        {
            "db": "benchmark_events",
            "table": "events",
            "tags": ["device_id"],
            "fields": [
                {"name": "temperature", "type": "float64"},
                {"name": "sequence_number", "type": "int64"},
            ],
        }
    ]
    with pytest.raises(SetupError, match=r"benchmark_events already exists.*--clean"):
        database.create([TABLE], 100)
    drop(database, [TABLE])
    drop(database, [TABLE])
    assert server.databases == ["_internal"]


@pytest.mark.parametrize("gzip", [False, True])
def test_a_batch_is_one_request_of_which_all_or_nothing_is_stored(server, open_influxdb3, gzip):
    with open_influxdb3(gzip=gzip).connect() as session:
        session.send(encoded(session))
    assert server.written == [
        (
            {
                "db": "benchmark_events",
                "precision": "millisecond",
                "accept_partial": "false",
                "no_sync": "false",
            },
            (
                b"events,device_id=d1 sequence_number=0i,temperature=0.0 1700000000000\n"
                b"events,device_id=d1 sequence_number=1i,temperature=0.5 1700000001000\n"
            ),
        )
    ]


def test_a_line_that_is_refused_is_named(server, open_influxdb3):
    said = {"error": "parsing failed", "data": [{"error_message": "no fields", "line_number": 2}]}
    server.write_answer = Response(400, json.dumps(said).encode())
    database = open_influxdb3()
    with database.connect() as session:
        with pytest.raises(Refused) as caught:
            session.send(encoded(session))
        assert session.classify(caught.value) is Failure.FATAL
    assert "parsing failed: no fields" in database.explain(caught.value)


ONE = Selection((OneOf("device_id", ("d1",)),))


@pytest.mark.parametrize(
    ("query", "sql", "reported"),
    [
        (
            AggregateQuery(
                TABLE,
                (Aggregate(Function.MAX, "timestamp"), Aggregate(Function.AVG, "sequence_number")),
                by=("device_id",),
                bucket=60_000,
                selection=Selection(since=1_700_000_000_001),
            ),
            (
                'SELECT * FROM (SELECT "device_id", CAST("time" AS BIGINT) / 1000000 - '
                '(CAST("time" AS BIGINT) / 1000000 % 60000 + 60000) % 60000, max("time"), '
                'CAST(sum(CAST("sequence_number" AS DECIMAL(38, 0))) AS DOUBLE PRECISION) '
                '/ count("sequence_number") '
                'FROM "events" WHERE "time" >= TIMESTAMP \'2023-11-14T22:13:20.001000000Z\' '
                'GROUP BY "device_id", 2) AS answer (c0, c1, c2, c3)'
            ),
            (
                [{"c0": "d1", "c1": 60_000, "c2": "2023-11-14T22:13:20.001", "c3": 1.5}],
                (("d1", 60_000, 1_700_000_000_001, 1.5),),
            ),
        ),
        (
            NewestQuery(TABLE, ("device_id",), ("timestamp", "temperature")),
            (
                'SELECT * FROM (SELECT "device_id", "time", "temperature" FROM (SELECT *, '
                'max("time") OVER (PARTITION BY "device_id") AS newest_time FROM "events") '
                'AS newest WHERE "time" = newest_time) AS answer (c0, c1, c2)'
            ),
            (
                [
                    {"c0": "d1", "c1": "2023-11-14T22:13:20", "c2": None},
                    {"c1": "1970-01-01T00:00:01"},
                ],
                ((None, 1000, None), ("d1", 1_700_000_000_000, None)),
            ),
        ),
        (
            AggregateQuery(
                TABLE,
                (Aggregate(Function.LAST, "temperature"), Aggregate(Function.FIRST, "timestamp")),
                by=("device_id",),
                selection=Selection(
                    (OneOf("device_id", ("d1", "d2")),),
                    (Condition("temperature", Operator.MORE, 0.5),),
                ),
            ),
            (
                'SELECT * FROM (SELECT "device_id", last_value("temperature" ORDER BY "time"), '
                'first_value("time" ORDER BY "time") FROM "events" '
                "WHERE \"device_id\" IN ('d1', 'd2') AND \"temperature\" > 0.5 "
                'GROUP BY "device_id") AS answer (c0, c1, c2)'
            ),
            (
                [{"c0": "d1", "c1": 1.5, "c2": "1970-01-01T00:00:01"}],
                (("d1", 1.5, 1000),),
            ),
        ),
        (
            RowsQuery(TABLE, ("timestamp", "temperature"), newest=2, selection=ONE),
            (
                'SELECT * FROM (SELECT "time", "temperature" FROM "events" '
                'WHERE "device_id" = \'d1\' ORDER BY "time" DESC LIMIT 2) AS answer (c0, c1)'
            ),
            ([{"c0": "1970-01-01T00:00:01", "c1": 0.5}], ((1000, 0.5),)),
        ),
        (
            DistinctQuery(TABLE, ("device_id", "timestamp", "sequence_number")),
            (
                'SELECT * FROM (SELECT count(*) FROM (SELECT DISTINCT "device_id", "time", '
                '"sequence_number" FROM "events") AS combinations) AS answer (c0)'
            ),
            ([{"c0": 2}], ((2,),)),
        ),
    ],
)
def test_queries_are_sql_about_the_table_as_it_is_stored(
    server, open_influxdb3, query, sql, reported
):
    database = open_influxdb3()
    server.rows, found = reported
    statement = database.render(query)
    with database.connect() as session:
        assert answer(statement.outputs, session.run(statement)).rows == found
    assert server.asked == [{"db": "benchmark_events", "q": sql, "format": "jsonl"}]


def test_rows_are_streamed_in_portions(server, open_influxdb3):
    database = open_influxdb3()
    server.rows = [{"c0": "1970-01-01T00:00:01", "c1": "d", "c2": n, "c3": 0.5} for n in range(5)]
    with database.connect() as session:
        portions = [*session.stream(database.render(RowsQuery(TABLE)), 2)]
    assert [len(portion) for portion in portions] == [2, 2, 1]
    assert portions[2] == [[1000, "d", 4, 0.5]]


def test_it_says_what_it_does_not_know(open_influxdb3):
    server = open_influxdb3().describe()
    assert server.version == "InfluxDB 3.10.0"
    assert server.durable is None
    assert open_influxdb3(no_sync=True).describe().durable is False
    assert open_influxdb3().size_bytes([TABLE]) is None


def test_a_wrong_token_is_reported_and_not_shown(open_influxdb3):
    with pytest.raises(SetupError, match=r"401: .*; check the credentials") as caught:
        open_influxdb3(token="swordfish").connect()
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize(("text", "limit"), [("a\tb", "a tab"), ("a\\", "a backslash at the end")])
def test_a_tag_that_the_server_cannot_read_is_refused_before_it_is_sent(text, limit):
    column = Column("rack", Type.TEXT, Role.TAG)
    with pytest.raises(UnstorableError, match=f"column rack: .* cannot have {limit}"):
        _Lines().tag(column).escape(text.encode())
    assert _Lines().tag(column).escape(b"a\\,b= c") == b"a\\\\\\,b\\=\\ c"


@pytest.mark.parametrize("name", ["with space", "_hidden", "größe"])
def test_a_name_that_no_database_can_have_is_refused(open_influxdb3, name):
    with pytest.raises(UnstorableError, match="accepts letters, digits, _ and -"):
        open_influxdb3(prefix="").create([replace(TABLE, name=name)], 1)


def test_a_tag_that_is_a_boolean_is_refused(open_influxdb3):
    columns = (*TABLE.columns, Column("rack", Type.BOOL, Role.TAG))
    with pytest.raises(SetupError, match="column rack: a tag must not be a boolean"):
        open_influxdb3().create([Table("t", columns, ())], 1)
