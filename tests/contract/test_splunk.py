"""What only Splunk has, by the vendor's documentation, on tests/standins/splunk.py."""

import json
import math

import numpy as np
import pytest

from simulator.data.block import Block, Values
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Condition,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
    Statement,
)
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, Unsupported
from simulator.modules.shared.http.client import HttpError
from simulator.modules.splunk.database import Splunk, SplunkOptions
from simulator.modules.splunk.wire import NULL, RAW
from tests.contract.harness import ask, count, drop, send
from tests.standins.splunk import SEARCH_TOKEN, TOKEN, SyntheticSplunk
from tests.standins.web import Reset, Response, Web

COLUMNS = (
    Column("site", Type.TEXT, Role.TAG),
    Column("t", Type.TIMESTAMP, Role.TIME),
    Column("number", Type.INT64, Role.FIELD),
    Column("level", Type.FLOAT64, Role.FIELD, nullable=True),
)
POINTS = Table("points", COLUMNS, key=("site", "t"))
START_MS = 1_700_000_000_007
COUNT = (Aggregate(Function.COUNT),)


def options(url="https://127.0.0.1:8088", **given):
    reach = {"url": url, "search_url": url, "token": TOKEN, "search_token": SEARCH_TOKEN}
    return SplunkOptions(**{**reach, "timeout_s": 5, "quiet_s": 0.01, **given})


def points(numbers=(1, 2, 3), table=POINTS, **columns):
    rows = np.arange(len(numbers))
    data = {
        "site": Values(np.array([b"a", b'B "']).take(rows % 2)),
        "t": Values(START_MS * 1000**(len(str(table.time_unit.per_second)) // 3 - 1) + rows * 10),
        "number": Values(np.array(numbers, np.int64)),
        "level": Values(rows / 4, rows > 0),
        **columns,
    }  # fmt: skip
    return Block(table, 0, rows, data)


@pytest.fixture
def splunk(synthetic_splunk):
    return Splunk(options(synthetic_splunk.url))


@pytest.fixture
def filled(splunk):
    def fill(batch, mode=BATCH):
        drop(splunk, [batch.table])
        splunk.create([batch.table], 10)
        with splunk.connect() as session:
            send(session, batch, mode, 100)
        return splunk

    return fill


# --- rows in -------------------------------------------------------------------------------------


def test_a_batch_is_concatenated_events_with_instants_in_seconds(splunk):
    with splunk.open() as session:
        (payload,) = session.encode(points((7, -8)), BATCH, 10)
        single, _ = session.encode(points((7, -8)), SINGLE, 1)
    path, body = payload.data
    assert path == "/services/collector/event"
    lead = '{"index":"points","sourcetype":"benchmark_ms","time":'
    first = '"event":{"r":{"t":"1700000000007","site":"a","number":"7"}}}'
    second = '"event":{"r":{"t":"1700000000017","site":"B \\"","number":"-8","level":"0.25"}}}'
    assert body.decode().split("\n") == [
        f"{lead}1700000000.007,{first}",
        f"{lead}1700000000.017,{second}",
    ]
    assert single.data[1] == body.split(b"\n")[0]


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        (TimeUnit.SECOND, "1700000000,"),
        (TimeUnit.MILLISECOND, "1700000000.005,"),
        (TimeUnit.MICROSECOND, "1700000000.000005,"),
        (TimeUnit.NANOSECOND, "1700000000.000000005,"),
    ],
)
def test_an_instant_has_as_many_decimals_as_its_unit(splunk, unit, shown):
    table = Table("points", COLUMNS, POINTS.key, unit)
    odd = 0 if unit is TimeUnit.SECOND else 5
    instants = Values(np.array([1_700_000_000 * unit.per_second + odd]))
    with splunk.open() as session:
        (payload,) = session.encode(points((1,), table, t=instants), BATCH, 1)
    assert f'"time":{shown}"event"' in payload.data[1].decode()


def test_a_raw_batch_is_lines_that_the_server_splits(filled, synthetic_splunk):
    database = filled(points(), RAW)
    path = "/services/collector/raw?index=points&sourcetype=benchmark_ms"
    (sent,) = [r for r in synthetic_splunk.requests if r.path == path]
    assert sent.body.split(b"\n")[0] == b'{"r":{"t":"1700000000007","site":"a","number":"1"}}'
    with database.connect() as session:
        assert count(database, session, POINTS) == 3
        newest = ask(session, database.render(NewestQuery(POINTS, ("site",), ("number",))))
    assert newest.rows == (('B "', 2), ("a", 3))


def test_the_option_endpoint_selects_the_mode_of_batches():
    assert Splunk(options()).insert_mode(BATCH) == BATCH
    raw = Splunk(options(endpoint="raw"))
    assert (raw.insert_mode(BATCH), raw.insert_mode(SINGLE)) == (RAW, SINGLE)


LONG = Values(np.array([b"x" * 4990, b"a", b"b"]))
NULLS = Values(np.array([NULL.encode(), b"a", b"b"]))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"site": Values(np.array([b"", b"a", b"b"]))}, "site: a text cannot be ''"),
        ({"site": NULLS}, r"site: a text cannot be '\(null\)'"),
        ({"site": LONG}, "a row has at most 5000 bytes of JSON"),
        (
            {"level": Values(np.array([0, 1, np.nan]))},
            "level: .*finite numbers only; found nan",
        ),
        ({"t": Values(np.array([0, 1, 2]))}, "t: the earliest instant .* 2000-01-01; found 0 ms"),
    ],
)
@pytest.mark.parametrize("mode", [BATCH, RAW])
def test_a_value_that_no_event_can_hold_is_refused_before_it_is_sent(splunk, mode, columns, words):
    with splunk.open() as session, pytest.raises(UnstorableError, match=words):
        session.encode(points(**columns), mode, 10)


def test_the_value_under_a_null_is_ignored(splunk):
    there = np.array([False, True, True])
    absent = {"level": Values(np.array([np.inf, 1, 2]), there)}
    with splunk.open() as session:
        (payload,) = session.encode(points(**absent), BATCH, 10)
    assert b"inf" not in payload.data[1]


def test_a_column_name_that_no_field_can_have_is_refused(splunk):
    odd = Table("points", (*COLUMNS, Column("a b", Type.INT64, Role.FIELD)), POINTS.key)
    with pytest.raises(UnstorableError, match="column 'a b'"):
        splunk.create([odd], 10)


def test_names_that_no_index_can_have_get_different_indices(splunk):
    tables = [Table(name, COLUMNS, POINTS.key) for name in ("a b", "a_b", "A_b", "_a", "ß")]
    splunk.create(tables, 10)
    with splunk.connect() as session:
        for rows, table in enumerate(tables, 1):
            send(session, points(range(rows), table), BATCH, 100)
        assert [count(splunk, session, table) for table in tables] == [1, 2, 3, 4, 5]


# --- acknowledgement -----------------------------------------------------------------------------


def test_an_acknowledged_send_asks_on_its_channel_until_the_rows_are_indexed():
    with Web(SyntheticSplunk(acknowledges=True)) as web:
        database = Splunk(options(web.url, acknowledge=True))
        database.create([POINTS], 10)
        with database.connect() as session, database.connect() as other:
            send(session, points(), BATCH, 10)
            send(other, points(), RAW, 10)
        asked = [r for r in web.requests if "/collector/ack?" in r.path]
        sent = [r for r in web.requests if r.path.endswith("/collector/event")]
    assert [json.loads(r.body) for r in asked] == [{"acks": [n]} for n in (0, 0, 1, 1)]
    channels = {r.headers["X-Splunk-Request-Channel"] for r in asked}
    assert len(channels) == 2
    assert sent[0].headers["X-Splunk-Request-Channel"] in channels


@pytest.mark.parametrize("acknowledge", [False, True])
@pytest.mark.parametrize("body", [b'{"text":"?"}', b'{"code":9}', b"[]", b"ok", b""])
def test_a_success_without_code_0_leaves_the_rows_uncertain(acknowledge, body):
    with (
        Web(lambda _: Response(200, body)) as web,
        Splunk(options(web.url, acknowledge=acknowledge)).open() as session,
    ):
        (payload,) = session.encode(points(), BATCH, 10)
        with pytest.raises(HttpError, match=r"expected (code 0|JSON)") as found:
            session.send(payload)
        assert session.classify(found.value) is Failure.UNKNOWN


def test_rows_that_are_not_indexed_in_time_are_uncertain():
    never = {"/services/collector/event": b'{"text":"Success","code":0,"ackId":3}'}

    def answer(request):
        return Response(200, never.get(request.path, b'{"acks":{"3":false}}'))

    given = {"acknowledge": True, "timeout_s": 0.2}
    with Web(answer) as web, Splunk(options(web.url, **given)).open() as session:
        (payload,) = session.encode(points(), BATCH, 10)
        with pytest.raises(Exception, match=r"not indexed within 0\.2 s") as found:
            session.send(payload)
        assert session.classify(found.value) is Failure.UNKNOWN


def test_a_token_without_acknowledgement_is_named(splunk, synthetic_splunk):
    splunk.create([POINTS], 10)
    asking = Splunk(options(synthetic_splunk.url, acknowledge=True))
    with asking.connect() as session:
        (payload,) = session.encode(points(), BATCH, 10)
        with pytest.raises(Exception, match="enable indexer acknowledgement") as found:
            session.send(payload)
        assert session.classify(found.value) is Failure.UNKNOWN


# --- errors --------------------------------------------------------------------------------------


def reply(status, **body):
    return lambda _: Response(status, json.dumps(body).encode())


def reset(_):
    raise Reset


@pytest.mark.parametrize(
    ("answer", "rows", "meaning"),
    [
        (
            reply(503, text="Server is busy", code=9, **{"invalid-event-number": 0}),
            3,
            "not_applied",
        ),
        (reply(503, text="Server is busy", code=9, **{"invalid-event-number": 2}), 3, "unknown"),
        (reply(503, text="Server is busy", code=9), 3, "unknown"),
        (reply(503, text="Server is busy", code=9), 1, "not_applied"),
        (reply(429, text="Too many requests"), 3, "unknown"),
        (lambda _: Response(503, b"proxy"), 3, "unknown"),
        (
            reply(400, text="Invalid data format", code=6, **{"invalid-event-number": 1}),
            3,
            "fatal",
        ),
        (reply(400, text="Incorrect index", code=7), 3, "fatal"),
        (reply(403, text="Invalid token", code=4), 3, "fatal"),
        (reply(500, text="Internal server error", code=8), 3, "unknown"),
        (reset, 3, "unknown"),
    ],
)
def test_the_meaning_of_each_answer_for_the_rows(answer, rows, meaning):
    with Web(answer) as web, Splunk(options(web.url)).open() as session:
        payload, *_ = session.encode(points(), BATCH, rows)
        with pytest.raises(Exception, match=r".") as found:
            session.send(payload)
        assert session.classify(found.value) == meaning


def test_the_collectors_words_come_with_a_remedy(splunk):
    with splunk.open() as session:
        (payload,) = session.encode(points(), BATCH, 10)
        with pytest.raises(Exception, match="400: Incorrect index") as found:
            session.send(payload)
    assert "let the token write to every index" in splunk.explain(found.value)


def test_credentials_are_never_shown(synthetic_splunk):
    given = {"search_token": None, "username": "ann", "password": "swordfish"}
    wrong = options(synthetic_splunk.url, **given)
    with pytest.raises(SetupError, match="401") as found:
        Splunk(wrong).connect()
    sent = synthetic_splunk.requests[-1].headers["Authorization"]
    assert sent == "Basic YW5uOnN3b3JkZmlzaA=="
    shown = str(found.value) + str(wrong.public()) + repr(wrong)
    assert "swordfish" not in shown
    assert TOKEN not in shown


def test_missing_credentials_are_a_problem_before_anything_starts():
    for wrong in ({"search_token": None}, {"username": "ann"}, {"username": "a", "password": "b"}):
        assert Splunk(options(**wrong)).problems(PrimaryKey.NONE, 1, BATCH, 10), wrong
    right = options(search_token=None, username="ann", password="swordfish")
    assert Splunk(right).problems(PrimaryKey.NONE, 1, BATCH, 10) == []


# --- searches ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "exact"), [(2**53 - 1, True), (2**53, False), (-(2**53), False)])
def test_integers_that_a_double_does_not_hold_cannot_be_compared(limit, exact):
    compared = Selection(compared=(Condition("number", Operator.LESS, limit),))
    query = AggregateQuery(POINTS, COUNT, selection=compared)
    if exact:
        assert str(limit) in Splunk(options()).render(query).text
    else:
        with pytest.raises(Unsupported, match="doubles"):
            Splunk(options()).render(query)


def test_sums_and_means_are_exact_whatever_the_size(filled):
    numbers = (2**63 - 1, 2**63 - 1, -5)
    levels = Values(np.array([1e16, 1.0, -1e16]))
    database = filled(points(numbers, level=levels))
    aggregates = [Aggregate(f, c) for c in ("number", "level") for f in Function if f not in ENDS]
    with database.connect() as session:
        found = ask(session, database.render(AggregateQuery(POINTS, tuple(aggregates))))
    total = sum(numbers)
    exact = math.fsum((1e16, 1.0, -1e16))
    assert found.rows == (
        (3, total, total / 3, -5, 2**63 - 1, 3, exact, exact / 3, -1e16, 1e16),
    )  # fmt: skip


def test_queries_that_a_table_in_nanoseconds_does_not_support():
    table = Table("points", COLUMNS, POINTS.key, TimeUnit.NANOSECOND)
    for query in (
        AggregateQuery(table, COUNT, bucket=60),
        AggregateQuery(table, COUNT, selection=Selection(since=60)),
        NewestQuery(table, ("site",), ("level",)),
        AggregateQuery(table, (Aggregate(Function.LAST, "level"),), by=("site",)),
        RowsQuery(table, selection=Selection((OneOf("site", ("a",)),)), newest=1),
    ):
        with pytest.raises(Unsupported):
            Splunk(options()).render(query)
    assert Splunk(options()).render(AggregateQuery(table, COUNT))


@pytest.mark.parametrize("kind", ["FATAL", "ERROR", "WARN"])
def test_a_search_with_missing_results_is_an_error(kind):
    row = json.dumps({"preview": False, "offset": 0, "result": {"count": "3"}})
    note = json.dumps({"messages": [{"type": kind, "text": "results may be truncated"}]})

    def answer(_):
        return Response(200, f"{row}\n{note}".encode())

    statement = Splunk(options()).render(AggregateQuery(POINTS, COUNT))
    with (
        Web(answer) as web,
        Splunk(options(web.url)).open() as session,
        pytest.raises(Exception, match="the search failed: results may be truncated"),
    ):
        session.run(statement)


def test_a_users_own_search_runs_unchanged(filled):
    database = filled(points())
    outputs = database.render(AggregateQuery(POINTS, COUNT)).outputs
    own = Statement('search index="points"\n| stats count', outputs, tuned=True)
    with database.connect() as session:
        assert session.run(own) == [(3,)]
        with pytest.raises(Exception, match="Unknown search command"):
            session.run(Statement('search index="points" | frobnicate', outputs))


def test_rows_are_visible_once_their_count_is_stable():
    server, seen = SyntheticSplunk(), []
    search = server.search

    def rising(text):
        if text.endswith("| stats count"):
            seen.append(len(seen))
            return [{"count": str(min(len(seen), 4))}]
        return search(text)

    server.search = rising
    with Web(server) as web:
        database = Splunk(options(web.url, quiet_s=0.05))
        database.create([POINTS], 10)
        database.visible([POINTS])
    assert len(seen) >= 5


@pytest.mark.parametrize(("acknowledge", "durable"), [(False, False), (True, None)])
def test_describe_reports_what_an_acknowledgement_means(synthetic_splunk, acknowledge, durable):
    server = Splunk(options(synthetic_splunk.url, acknowledge=acknowledge)).describe()
    assert (server.version, server.nodes, server.durable) == ("Splunk 10.2.0", 1, durable)
    assert server.settings == {"indexer acknowledgement": str(acknowledge).lower()}
