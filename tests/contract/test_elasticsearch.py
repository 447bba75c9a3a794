"""What only Elasticsearch and OpenSearch have: indices, exactness, and what errors mean."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.own_query import TextQuery
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    Output,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import ID, Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError, SetupError, UnstorableError
from simulator.modules.contract import BATCH, CORRECT, Existing, Failure, Unsupported
from simulator.modules.elasticsearch import query as elasticsearch_query
from simulator.modules.elasticsearch.database import Elasticsearch, ElasticsearchOptions
from simulator.modules.elasticsearch.session import BulkError, in_requests
from simulator.modules.shared.http.client import HttpReply, Refused
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests import ROOT
from tests.contract.harness import Wideset, ask, count, drop, rendered, send
from tests.contract.reference import answer_of, rows_of
from tests.contract.wide import READINGS
from tests.servers.search import GUEST
from tests.standins.web import Request, Response, Web

BOTH = pytest.mark.server("elasticsearch", "opensearch", "opensearch3")
ONE = pytest.mark.server("elasticsearch")
SECURE = pytest.mark.server("elasticsearch_secure")
EVERY = tuple(function for function in Function if function not in ENDS)


@pytest.fixture
def open_search(server_options):
    return lambda **options: Elasticsearch(ElasticsearchOptions(**{**server_options, **options}))


@pytest.fixture
def search(open_search):
    return open_search()


def call(database, method, path, body=None):
    with database.connect() as session:
        return session.call(method, path, body)


def stored(database, table, data):
    """Store rows, given as arrays or columns, in a new index; return them as a block."""
    columns = {n: d if isinstance(d, Values | Coded) else Values(d) for n, d in data.items()}
    batch = Block(table, 0, np.arange(len(next(iter(columns.values())))), columns)
    drop(database, [table])
    database.create([table], 100)
    with database.connect() as session:
        send(session, batch, BATCH, 1000)
    database.visible([table])
    return batch


def agrees(database, query, batch):
    with database.connect() as session:
        return ask(session, database.render(query)) == answer_of(query, rows_of([batch]))


# --- indices --------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("signed", [True, False])
def test_an_index_that_was_closed_is_ours_by_its_signature(search, signed):
    search.create([replace(EVENTS, signed=signed)], 1000)
    call(search, "POST", "/events/_close")
    found = search.find_existing(["events"])
    assert found == {"events": Existing("closed index", alike=signed)}
    assert search.find_signed(["events"]) == {"events": signed}
    drop(search, [EVENTS])
    assert search.find_existing(["events"]) == {}


@BOTH
@pytest.mark.parametrize("durability", ["request", "async"])
def test_an_index_has_the_settings_of_the_options(open_search, durability):
    options = {"shards": 2, "replicas": 1, "refresh_interval": "7s"}
    database = open_search(**options, translog_durability=durability)
    database.create([EVENTS], 1000)
    found = call(database, "GET", "/events?flat_settings=true")["events"]
    assert (
        found["settings"].items()
        >= {
            "index.number_of_shards": "2",
            "index.number_of_replicas": "1",
            "index.refresh_interval": "7s",
            "index.translog.durability": durability,
        }.items()
    )
    described = database.describe()
    assert described.settings == {"index.translog.durability": durability}
    assert described.durable == (durability == "request")
    assert found["mappings"] == {
        "dynamic": "strict",
        "properties": {
            "device_id": {"type": "keyword"},
            "sequence_number": {"type": "long"},
            "temperature": {"type": "float"},
            "timestamp": {"type": "long"},
        },
    }


@BOTH
def test_the_template_aggregation_keeps_no_document_and_loses_nothing(open_search):
    sizes = {}
    for template in ("default", "aggregation"):
        database, wide = open_search(template=template, shards=1), Wideset(PrimaryKey.DB)
        wide.fill(database)
        assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED
        hits = call(database, "GET", "/readings/_search?size=1")["hits"]["hits"]
        assert ("_source" in hits[0]) == (template == "default")
        sizes[template] = database.size_bytes(wide.tables)
        with database.connect() as session:
            for name, query, statement in rendered(database, wide):
                assert ask(session, statement) == wide.answer(query), name
        drop(database, wide.tables)
    assert sizes["aggregation"] < sizes["default"]


@BOTH
def test_compressed_requests_store_the_same(open_search):
    database, wide = open_search(gzip=True), Wideset(PrimaryKey.CLIENT, 4)
    wide.fill(database)
    assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED


@BOTH
def test_rows_are_visible_at_once_with_refresh(open_search):
    wide = Wideset(PrimaryKey.DB)
    for refresh, visible in (("false", 0), ("true", 10)):
        database = open_search(refresh=refresh, refresh_interval="-1")
        drop(database, wide.tables)
        database.create(wide.tables, 10)
        with database.connect() as session:
            send(session, wide.batches[0].slice(0, 10), BATCH, 10)
            assert count(database, session, wide.tables[0]) == visible


@BOTH
def test_compacting_merges_each_shard_into_one_segment_unless_disabled(open_search):
    segments = {}
    for force_merge in (False, True):
        wide, database = Wideset(PrimaryKey.DB), open_search(shards=1, force_merge=force_merge)
        drop(database, wide.tables)
        database.create(wide.tables, 100)
        with database.connect() as session:
            for start in range(0, 60, 10):
                send(session, wide.batches[0].slice(start, start + 10), BATCH, 10)
                session.call("POST", "/readings/_refresh")
        database.compact(wide.tables)
        stats = call(database, "GET", "/readings/_stats/segments")
        segments[force_merge] = stats["_all"]["primaries"]["segments"]["count"]
    assert segments[True] == 1 < segments[False]


@ONE
def test_names_that_an_index_cannot_have_get_different_indices(search):
    tables = [Table(name, EVENTS.columns, EVENTS.key) for name in ("A b", "a_b", "a b", "-x", "é")]
    search.create(tables, 1)
    names = {elasticsearch_query.index_name(table.name) for table in tables}
    assert len(names) == 5
    assert "a_b" in names
    assert {*call(search, "GET", "/_all")} == names
    drop(search, tables)
    assert call(search, "GET", "/_all") == {}


# --- queries --------------------------------------------------------------------------------------


@BOTH
def test_groups_of_many_pages_are_complete(search, monkeypatch):
    monkeypatch.setattr(elasticsearch_query, "PAGE", 2)
    wide = Wideset(PrimaryKey.DB)
    wide.fill(search)
    with search.connect() as session:
        for name, query, statement in rendered(search, wide):
            if name != "distinct":  # 300 pages
                assert ask(session, statement) == wide.answer(query), name


@BOTH
def test_the_newest_of_many_pages_are_the_latest(search, monkeypatch):
    monkeypatch.setattr(elasticsearch_query, "PAGE", 2)
    wide = Wideset(PrimaryKey.CLIENT, parts=4)
    wide.fill(search)
    _, states = wide.tables
    press, counted = Selection((OneOf("machine", ("press",)),)), (Aggregate(Function.COUNT),)
    with search.connect() as session:
        for query in (
            RowsQuery(states, ("id", "level"), press, newest=1),
            RowsQuery(states, ("id", "level"), press, newest=5),
            AggregateQuery(states, counted, bucket=600_000, selection=press, newest=5),
        ):
            assert ask(session, search.render(query)) == wide.answer(query)
        statement = search.render(RowsQuery(states, (), press, newest=5))
        assert [len(portion) for portion in session.stream(statement, 3)] == [2, 2, 1]


SERIES = Table(
    "series",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("tag", Type.TEXT, Role.TAG),
        Column("value", Type.INT64, Role.FIELD, nullable=True),
    ),
    ("tag", "time"),
)
TAGS = np.array([b"a", b"b", b"c"])
SUMS = AggregateQuery(SERIES, tuple(Aggregate(f, "value") for f in EVERY), by=("tag",))
ALL_SUMS = AggregateQuery(SERIES, tuple(Aggregate(f, "value") for f in EVERY))

BEYOND_DOUBLES = {
    "a sum that no double holds, of values that one does": np.arange(300) * 3 + 2**52,
    "positive and negative ones that cancel out": (np.arange(300) * 2 - 299) * (2**45 + 1),
    "values that no double holds": np.arange(300) - 2**62 - 1,
    "a negative sum": -(2**53) + np.arange(300) % 7,
    "equal values": np.full(300, 2**53 - 1),
    "a sum that no int64 holds": np.full(300, 2**63 - 1),
    "a sum that a double just holds": np.where(np.arange(300) == 5, 2**53 - 1 - 299, 1),
    "one more": np.where(np.arange(300) == 5, 2**53 - 299, 1),
}


@BOTH
@pytest.mark.parametrize("values", BEYOND_DOUBLES.values(), ids=list(BEYOND_DOUBLES))
def test_integers_are_exact_beyond_what_doubles_hold(open_search, values):
    database = open_search(shards=2, force_merge=False)
    number = np.arange(len(values))
    data = {"time": number, "tag": Coded(number % 3, TAGS), "value": Values(values, number % 7 > 0)}
    batch = stored(database, SERIES, data)
    kept = [row["value"] for row in rows_of([batch]) if row["value"] is not None]
    averages = (Aggregate(Function.AVG, "value"),)  # as the oracle has them: of the rounded sum
    with database.connect() as session:
        for query in (SUMS, ALL_SUMS):
            found = ask(session, database.render(query)).rows
            expected = answer_of(query, rows_of([batch])).rows
            at = len(query.by) + EVERY.index(Function.AVG)
            assert [r[:at] + r[at + 1 :] for r in found] == [r[:at] + r[at + 1 :] for r in expected]
        ((mean,),) = ask(session, database.render(AggregateQuery(SERIES, averages))).rows
    assert mean == float(sum(kept)) / len(kept)


@BOTH
def test_sums_fall_back_from_parts_to_values_where_parts_are_too_large(search, monkeypatch):
    monkeypatch.setattr(elasticsearch_query, "_PARTS", 1)
    number = np.arange(300)
    values = 2**52 + number % 5
    batch = stored(
        search, SERIES, {"time": number, "tag": Coded(number % 3, TAGS), "value": values}
    )
    query = AggregateQuery(SERIES, (Aggregate(Function.SUM, "value"),), by=("tag",), bucket=100)
    assert agrees(search, query, batch)


@BOTH
@pytest.mark.parametrize("unit", TimeUnit, ids=lambda unit: unit.name)
def test_instants_of_every_unit_are_exact(search, unit):
    table = Table("series", SERIES.columns, SERIES.key, unit)
    now = 1_795_232_700 * unit.per_second
    times = np.array([now, now + 1, now - 1, -1, 0, 1, -now, now + 7 * unit.per_second])
    data = {
        "time": times,
        "tag": Coded(np.arange(8) % 3, TAGS),
        "value": np.arange(8),
    }
    batch = stored(search, table, data)
    kind = {"type": "date", "format": "epoch_millis"} if unit == "ms" else {"type": "long"}
    assert call(search, "GET", "/series")["series"]["mappings"]["properties"]["time"] == kind
    wanted = (Aggregate(Function.MIN, "time"), Aggregate(Function.MAX, "time"))
    some = (Aggregate(Function.COUNT), Aggregate(Function.SUM, "value"))
    for query in (
        RowsQuery(table),
        DistinctQuery(table, ("tag", "time")),
        NewestQuery(table, ("tag",), ("time", "value")),
        AggregateQuery(table, wanted),
        AggregateQuery(table, wanted, by=("tag",)),
        AggregateQuery(table, some, selection=Selection(since=-1, until=now)),
        AggregateQuery(table, some, selection=Selection(since=now, until=now + 1)),
        AggregateQuery(table, some, by=("tag",), selection=Selection(since=-now + 1)),
    ):
        assert agrees(search, query, batch), query
    buckets = AggregateQuery(table, (*wanted, *some), by=("tag",), bucket=7)
    if unit is TimeUnit.NANOSECOND:
        with pytest.raises(Unsupported, match="nanoseconds"):
            search.render(buckets)
    else:
        assert agrees(search, buckets, batch)


@BOTH
def test_a_column_named_id_is_an_ordinary_column(search):
    columns = (SERIES.columns[0], Column("id", Type.TEXT, Role.TAG), SERIES.columns[2])
    table = Table("series", columns, ("id", "time"))
    number = np.arange(9)
    data = {"time": number, "id": Coded(number % 3, TAGS), "value": number}
    batch = stored(search, table, data)
    most = (Aggregate(Function.MAX, "id"), Aggregate(Function.MAX, "value"))
    for query in (
        RowsQuery(table),
        DistinctQuery(table, ("id", "time")),
        NewestQuery(table, ("id",), ("value",)),
        AggregateQuery(table, most, by=("id",)),
        AggregateQuery(table, most, selection=Selection((OneOf("id", ("b",)),))),
    ):
        assert agrees(search, query, batch), query


@ONE
def test_buckets_of_instants_beyond_doubles_are_refused(search):
    table = Table("series", (Column("time", Type.INT64, Role.TIME), *SERIES.columns[1:]), ())
    times = 2**60 + np.arange(3)
    stored(search, table, {"time": times, "tag": Coded(np.arange(3), TAGS), "value": times})
    query = AggregateQuery(table, (Aggregate(Function.COUNT),), bucket=2)
    with search.connect() as session, pytest.raises(RunError, match="beyond"):
        session.run(search.render(query))


@BOTH
def test_a_users_own_search_is_answered(search):
    wide = Wideset(PrimaryKey.DB)
    wide.fill(search)
    query = AggregateQuery(
        wide.tables[0],
        (Aggregate(Function.COUNT), Aggregate(Function.AVG, "single")),
        by=("site",),
    )
    body = {"aggs": {"site": {"terms": {"field": "site", "size": 100}, "aggs": {
        "avg_single": {"avg": {"field": "single"}}}}}}  # fmt: skip
    text = f"GET /readings/_search?size=0\n{json.dumps(body)}"
    newest = NewestQuery(wide.tables[1], ("machine",), ("level",))
    collapsed = (
        f"POST /{elasticsearch_query.index_name('Machine States')}/_search\n"
        '{"collapse": {"field": "machine"}, "sort": [{"timestamp": "desc"}], "size": 100}'
    )
    with search.connect() as session:
        for logical, own in ((query, text), (newest, collapsed)):
            found = ask(session, Statement(own, outputs(logical), tuned=True))
            assert found == wide.answer(logical)


@BOTH
def test_the_buckets_and_values_of_a_users_body_are_rows(search):
    wide = Wideset(PrimaryKey.DB)
    wide.fill(search)
    table = wide.tables[0]
    columns = ("count", "few", "min_s", "0.0_p", "max_s", "100.0_p")
    wanted = (
        Output("half", Type.TEXT, table.time_unit),
        *(Output(name, Type.FLOAT64, table.time_unit) for name in columns),
    )
    field = {"field": "single"}
    named = {"all": {"match_all": {}}, "none": {"bool": {"must_not": {"match_all": {}}}}}
    inside = {
        "few": {"filter": {"range": {"single": {"gt": 0}}}},
        "p": {"percentiles": {**field, "percents": [0, 100]}},
        "s": {"stats": field},
    }
    body = {"aggregations": {"half": {"filters": {"filters": named}, "aggs": inside}}}
    language = search.texts(table)
    texts = {"elasticsearch": json.dumps(body)}
    more = Aggregate(Function.COUNT)
    above = Selection(compared=(Condition("single", Operator.MORE, 0),))
    with search.connect() as session:
        assert language.problem(texts["elasticsearch"], ["half", *columns]) == ""
        whole, empty = ask(session, language.statement(TextQuery(table, texts, {}, wanted))).rows
        total = {"elasticsearch": '{"size": 0}'}
        ((rows,),) = ask(session, language.statement(TextQuery(table, total, {}, wanted[1:2]))).rows
        ((few,),) = ask(
            session, search.render(AggregateQuery(table, (more,), selection=above))
        ).rows

    assert rows == 300
    assert (*whole[:3], *empty[:3]) == ("all", 300, few, "none", 0, 0)
    assert (whole[3], whole[5]) == (whole[4], whole[6])
    assert whole[3] < 0 < whole[5]
    assert empty[3:] == (None,) * 4


@ONE
@pytest.mark.parametrize(
    "text", ["SELECT 1", "POST /readings/_search\n{", "POST /readings/_search\n{}x"]
)
def test_a_malformed_search_is_an_error(search, text):
    with search.connect() as session, pytest.raises(RunError, match="expected POST"):
        session.run(Statement(text, ()))


def test_searches_can_only_return_the_clients_key():
    database = Elasticsearch(ElasticsearchOptions(url="http://localhost:9200"))
    table = EVENTS.stored(PrimaryKey.CLIENT, 1)
    for query in (
        AggregateQuery(table, (Aggregate(Function.MIN, "id"),)),
        AggregateQuery(table, (Aggregate(Function.COUNT),), by=("id",)),
        DistinctQuery(table, ("id",)),
        NewestQuery(table, ("id",), ("temperature",)),
    ):
        with pytest.raises(Unsupported, match="_id"):
            database.render(query)


# --- values that cannot be stored -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (Column("x", Type.FLOAT64, Role.FIELD), np.array([1, np.inf]), "x: .*finite.*found inf"),
        (Column("x", Type.FLOAT32, Role.FIELD), np.array([np.nan], np.float32), "x: .*found nan"),
        (Column("x", Type.TEXT, Role.FIELD), np.array([b"y" * 32_767]), "x: .*32766 bytes.*32767"),
        (ID, np.array([b"y" * 513]), "id: .*512 bytes.*513"),
    ],
)
def test_a_value_that_no_document_can_hold_is_refused_before_it_is_sent(column, value, words):
    database = Elasticsearch(ElasticsearchOptions(url="http://localhost:9200"))
    table = Table("t", (column, Column("n", Type.INT64, Role.FIELD)), ())
    numbers = Values(np.arange(len(value)))
    session = database.open()
    for data in (Values(value), Coded(np.arange(len(value)), value)):
        batch = Block(table, 0, np.arange(len(value)), {column.name: data, "n": numbers})
        with pytest.raises(UnstorableError, match=words):
            session.encode(batch, BATCH, 10)
    nothing = np.zeros(len(value), bool)
    for data in (Values(value, nothing), Coded(np.arange(len(value)), value, nothing)):
        batch = Block(table, 0, np.arange(len(value)), {column.name: data, "n": numbers})
        if column is not ID:
            assert session.encode(batch, BATCH, 10)


@BOTH
def test_the_longest_text_and_key_are_stored(search):
    table = Table("t", (ID, SERIES.columns[0], Column("x", Type.TEXT, Role.FIELD)), ())
    data = {"id": np.array([b"k" * 512]), "time": np.arange(1), "x": np.array([b"y" * 32_766])}
    batch = stored(search, table, data)
    assert agrees(search, RowsQuery(table), batch)


# --- what an error means for the rows -------------------------------------------------------------


def one_payload(session, rows=10):
    (payload,) = session.encode(Wideset(PrimaryKey.DB).batches[0].slice(0, rows), BATCH, rows)
    return payload


@BOTH
def test_a_duplicate_among_new_rows_is_an_error(search):
    wide = Wideset(PrimaryKey.CLIENT)
    search.create(wide.tables, 10)
    with search.connect() as session:
        send(session, wide.batches[0].slice(5, 6), BATCH, 1)
        (payload,) = session.encode(wide.batches[0].slice(0, 10), BATCH, 10)
        with pytest.raises(Exception, match=r"duplicate.*one of 1 rows refused") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert "--clean" in search.explain(caught.value)
        search.visible(wide.tables)
        assert count(search, session, wide.tables[0]) == 10


@BOTH
def test_a_mapping_conflict_names_the_field(search):
    other = Table(READINGS.name, (*READINGS.columns[:3], *SERIES.columns[2:]), ())
    search.create([other], 10)
    with search.connect() as session:
        with pytest.raises(Exception, match=r"mapping .*dynamic.*small") as caught:
            session.send(one_payload(session))
        assert session.classify(caught.value) is Failure.FATAL
        assert session.alive


@BOTH
def test_a_blocked_index_is_not_blamed_on_permissions(search):
    search.create([READINGS], 10)
    blocks = {
        "index.blocks.write": "index write",
        "index.blocks.read_only": "index read-only",
        "index.blocks.read_only_allow_delete": "flood-stage",
    }
    for block, words in blocks.items():
        call(search, "PUT", "/readings/_settings", {block: True})
        with search.connect() as session:
            with pytest.raises(BulkError, match=words) as caught:
                session.send(one_payload(session))
            assert session.classify(caught.value) in (Failure.FATAL, Failure.NOT_APPLIED)
        explained = search.explain(caught.value)
        assert "permission" not in explained
        assert "let the user" not in explained
        assert re.search(r"; (remove the block|free disk space)", explained)
        call(search, "PUT", "/readings/_settings", {block: None})
    with search.connect() as session:
        session.send(one_payload(session))


def drop_some_rows(search):
    """Let an ingest pipeline drop rows of the index."""
    drop = {"drop": {"if": "ctx.small != null && ctx.small % 2 == 0"}}
    call(search, "PUT", "/_ingest/pipeline/some", {"processors": [drop]})
    call(search, "PUT", "/readings/_settings", {"index.default_pipeline": "some"})


@pytest.mark.server("opensearch3")  # the others are built without the processor
@pytest.mark.parametrize("gzip", [False, True])
def test_rows_that_an_ingest_pipeline_drops_are_an_error(open_search, gzip):
    search = open_search(gzip=gzip)
    search.create([READINGS], 10)
    drop_some_rows(search)
    with search.connect() as session:
        with pytest.raises(BulkError, match=r"an ingest pipeline .*one of \d+ rows") as caught:
            session.send(one_payload(session))
        assert session.classify(caught.value) is Failure.FATAL
        search.visible([READINGS])
        assert count(search, session, READINGS) < 10


@pytest.mark.server("opensearch3")  # as above
@pytest.mark.parametrize("setting", ["default_pipeline", "final_pipeline"])
def test_a_pipeline_of_a_users_template_moves_no_row_into_an_index_of_the_users(search, setting):
    moves = {"set": {"field": "_index", "value": "of-others"}}
    template = {"settings": {f"index.{setting}": "moves"}}
    call(search, "PUT", "/_ingest/pipeline/moves", {"processors": [moves]})
    asked = {"index_patterns": ["readings*"], "priority": 9, "template": template}
    call(search, "PUT", "/_index_template/of-others", asked)
    call(search, "PUT", "/of-others", {})
    try:
        search.create([READINGS], 10)
        with search.connect() as session:
            session.send(one_payload(session))
            search.visible([READINGS])
            assert count(search, session, READINGS) == 10
    finally:
        call(search, "DELETE", "/_index_template/of-others")
        call(search, "DELETE", "/_ingest/pipeline/moves")


@pytest.mark.server("opensearch3")  # as above
def test_corrections_that_an_ingest_pipeline_drops_are_an_error(search):
    wide = Wideset(PrimaryKey.CLIENT)
    search.create(wide.tables, 10)
    block = wide.batches[0].slice(0, 10)
    with search.connect() as session:
        session.send(session.encode(block, BATCH, 10)[0])
        (corrected,) = session.encode(block, CORRECT, 10)
        session.send(corrected)
        drop_some_rows(search)
        with pytest.raises(BulkError, match=r"an ingest pipeline .*one of \d+ rows"):
            session.send(corrected)


# Answers of a busy cluster, by the documentation of the bulk API: an idle server of one node
# refuses either all rows of a request or none.

JSON = {"Content-Type": "application/json"}
STORED, BUSY = {"status": 201}, {
    "status": 429,
    "error": {"type": "es_rejected_execution_exception", "reason": "rejected execution"},
}  # fmt: skip
LOST = {
    "status": 503,
    "error": {"type": "unavailable_shards_exception", "reason": "primary shard is not active"},
}


class Shards:
    """Answers bulk requests from a script, and keeps the rows that it acknowledges."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.kept = []

    def __call__(self, request: Request) -> Response:
        if "_bulk" not in request.path:
            return Response(body=b'{"version": {"number": "8.6.2"}}', headers=JSON)
        rows = [json.loads(line) for line in request.content.splitlines()[1::2]]
        reply = self.replies.pop(0)
        if isinstance(reply, int):
            return Response(reply, b'{"error": {"type": "x", "reason": "busy"}, "status": 429}')
        assert len(reply) == len(rows)
        self.kept += [r for r, item in zip(rows, reply, strict=True) if item["status"] < 300]
        errors = any("error" in item for item in reply)
        items = [{"create": item} for item in reply]
        reply = json.dumps({"errors": errors, "items": items}, separators=(",", ":"))
        return Response(body=reply.encode(), headers=JSON)


@pytest.mark.parametrize("zipped", [False, True])
def test_only_the_rows_that_a_busy_shard_refused_are_sent_again(zipped):
    block = Wideset(PrimaryKey.DB).batches[0].slice(0, 4)
    shards = Shards([STORED, BUSY, BUSY, STORED], [BUSY, STORED], [STORED])
    with Web(shards) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url, gzip=zipped))
        with database.connect() as session:
            send(session, block, BATCH, 4)
    sent = [row["time"] for row in rows_of([block])]
    assert [row["time"] for row in shards.kept] == [sent[place] for place in (0, 3, 2, 1)]
    assert shards.replies == []


@pytest.mark.parametrize(
    ("replies", "failure", "words"),
    [
        ([[BUSY, BUSY]] * 6, Failure.NOT_APPLIED, "use fewer workers"),
        ([[STORED, BUSY], *[[BUSY]] * 5], Failure.UNKNOWN, "use fewer workers"),
        ([429], Failure.NOT_APPLIED, "use fewer workers"),
        ([[STORED, BUSY], 429], Failure.UNKNOWN, "use fewer workers"),
        ([503], Failure.NOT_APPLIED, "busy"),
        ([500], Failure.UNKNOWN, "busy"),
        ([413], Failure.FATAL, "smaller --batch"),
        ([[STORED, LOST]], Failure.UNKNOWN, "primary shard is not active"),
        ([[LOST, LOST]], Failure.UNKNOWN, "primary shard is not active"),
    ],
)
def test_the_meaning_of_a_busy_clusters_answers(monkeypatch, replies, failure, words):
    monkeypatch.setattr("simulator.modules.elasticsearch.session._BACKOFF_S", 0.001)
    with Web(Shards(*replies)) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(Exception, match=r".") as caught:
                session.send(one_payload(session, 2))
            assert session.classify(caught.value) is failure
            assert words in database.explain(caught.value)
            assert session.alive


def test_a_server_that_hangs_is_given_up_after_timeout_s():
    def answer(request):
        return Response(200, b"{}", JSON, pause_s=1.5 if "_bulk" in request.path else 0)

    with Web(answer) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url, timeout_s=0.5))
        with database.connect() as session:
            with pytest.raises(Exception, match="timeout_s") as caught:
                session.send(one_payload(session))
            assert session.classify(caught.value) is Failure.UNKNOWN


DROPPED = {"status": 200}


@pytest.mark.parametrize(
    ("items", "failure", "words"),
    [
        ([STORED], Failure.UNKNOWN, "acknowledged 1 of 2 rows"),
        ([STORED] * 3, Failure.UNKNOWN, "acknowledged 3 of 2 rows"),
        ([], Failure.UNKNOWN, "acknowledged 0 of 2 rows"),
        (None, Failure.UNKNOWN, "acknowledged 0 of 2 rows"),
        ([DROPPED, STORED], Failure.FATAL, "an ingest pipeline of the index drops rows"),
    ],
)
def test_an_answer_that_does_not_acknowledge_every_row_is_an_error(items, failure, words):
    found = {"errors": False}
    if items is not None:
        found["items"] = [{"create": item} for item in items]

    def answer(request):
        body = found if "_bulk" in request.path else {"version": {"number": "8.6.2"}}
        return Response(200, json.dumps(body).encode(), JSON)

    with Web(answer) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(Exception, match=words) as caught:
                session.send(one_payload(session, 2))
            assert session.classify(caught.value) is failure


# --- credentials and TLS --------------------------------------------------------------------------


@SECURE
@pytest.mark.parametrize("options", [{}, {"ca_file": None, "insecure": True}])
def test_rows_go_in_by_tls_and_password(open_search, options):
    search = open_search(**options)
    search.create([READINGS], 10)
    with search.connect() as session:
        session.send(one_payload(session))
        search.visible([READINGS])
        assert count(search, session, READINGS) == 10


@SECURE
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"password": "wrong-one"}, "unable to authenticate.*check username and password"),
        ({"username": None, "password": None}, "missing authentication.*check username"),
        (
            {"username": None, "password": None, "api_key": "bm90LWE6a2V5LWF0LWFsbA=="},
            "check username and password, or api_key",
        ),
        ({"ca_file": None}, "certificate.*ca_file, or set insecure=true"),
        ({"ca_file": "/no/such/file"}, "ca_file /no/such/file"),
    ],
)
def test_refused_credentials_and_certificates_are_named(open_search, options, words):
    database = open_search(**options)
    for attempt in (database.connect, lambda: database.create([READINGS], 1)):
        with pytest.raises(SetupError, match=words) as caught:
            attempt()
        assert "wrong-one" not in str(caught.value)


@SECURE
def test_missing_permissions_are_named(open_search):
    database = open_search(username=GUEST)
    with pytest.raises(SetupError, match=r"unauthorized.*let the user"):
        database.create([READINGS], 1)


@pytest.mark.parametrize(
    ("given", "header"),
    [
        ({"api_key": "abc"}, "ApiKey abc"),
        ({"username": "ann", "password": "swordfish"}, "Basic YW5uOnN3b3JkZmlzaA=="),
    ],
)
def test_both_connections_send_the_same_credentials(given, header):
    with Web(Shards([STORED])) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url, **given))
        with database.connect() as session:
            session.send(one_payload(session, 1))
        ours, clients, bulk = web.requests
    assert ours.client == bulk.client != clients.client
    for request in (ours, clients, bulk):
        headers = {name.lower(): value for name, value in request.headers.items()}
        assert headers["authorization"] == header


CREATES = """
import sys
import time
from simulator.data.workloads.iot import EVENTS
from simulator.modules.elasticsearch.database import Elasticsearch, ElasticsearchOptions
try:
    Elasticsearch(ElasticsearchOptions(url=sys.argv[1])).create([EVENTS], 1)
except Exception as error:
    print(error)
"""


def test_the_clients_warnings_do_not_reach_stderr():
    def answer(request):
        return Response(503 if request.method == "PUT" else 200, b'{"error": "starting"}', JSON)

    with Web(answer) as web:
        done = subprocess.run(
            [sys.executable, "-c", CREATES, web.url],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
    assert (done.stdout, done.stderr) == ("elasticsearch: starting\n", "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"api_key": "x", "username": "u", "password": "p"}, "exclude each other"),
        ({"username": "u"}, "go together"),
        ({"password": "p"}, "go together"),
    ],
)
def test_contradictory_credentials_are_a_problem(options, words):
    database = Elasticsearch(ElasticsearchOptions(url="http://localhost:9200", **options))
    (problem,) = database.problems(PrimaryKey.DB, 1, BATCH, 10)
    assert words in problem


def test_a_server_that_is_not_elasticsearch_is_named():
    with Web(lambda _: Response(404, b"<html>nothing</html>")) as web:
        database = Elasticsearch(ElasticsearchOptions(url=web.url))
        with pytest.raises(SetupError, match="check that the URL is that of Elasticsearch"):
            database.connect()
    at_a_port_like_a_status = Refused("http://127.0.0.1:40115", HttpReply(404, {}, b"nothing"))
    assert "check that the URL is that" in database.explain(at_a_port_like_a_status)


@BOTH
def test_a_missing_index_is_an_error_with_a_remedy(search):
    with search.connect() as session:
        with pytest.raises(Exception, match=r".") as caught:
            session.run(search.render(RowsQuery(EVENTS)))
        assert "run an insert first" in search.explain(caught.value)


def test_many_indices_are_named_in_several_paths_that_a_server_takes():
    names = [f"measurement_{number:04}" for number in range(500)]
    found = [*in_requests(names)]

    assert [name for some in found for name in some] == names
    assert max(len(quote(",".join(some))) for some in found) <= 3500
    assert len(found) == 3
    assert [*in_requests(["one", "x" * 4000])] == [["one"], ["x" * 4000]]
    assert [*in_requests([])] == []
