"""What is VictoriaMetrics' own: expressions, numbers it holds, retention, duplicates, refusals."""

import time
from functools import partial

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    OneOf,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, Failure, Payload
from simulator.modules.shared.http.client import NoAnswer, Refused
from simulator.modules.victoriametrics.database import VictoriaMetrics, VictoriaMetricsOptions
from simulator.modules.victoriametrics.query import identifier
from simulator.modules.victoriametrics.server import MetricsPage, seconds
from simulator.modules.victoriametrics.wire import Bodies, Inexact
from tests.contract import devices
from tests.contract.devices import QUERIES, TABLE, encoded, stored
from tests.contract.harness import ask, count, drop
from tests.standins.web import Response, Web

SERVER = pytest.mark.server("victoriametrics")
START_MS = 1_795_232_700_000
readings = partial(devices.readings, start_ms=START_MS)
PAGE = b"""vm_app_version{version="victoria-metrics-x", short_version="v1.145.0"} 1
flag{name="retentionPeriod", value="%s", is_set="false"} 1
flag{name="futureRetention", value="2d", is_set="false"} 1
"""


@pytest.fixture
def open_victoria(server_options):
    return lambda **more: VictoriaMetrics(VictoriaMetricsOptions(**{**server_options, **more}))


@pytest.fixture
def victoria(open_victoria):
    return open_victoria()


def fill(database, *batches):
    database.create([TABLE], 10)
    with database.connect() as session:
        for batch in batches:
            session.send(encoded(session, batch))
    database.visible([TABLE])
    database.compact([TABLE])


# --- queries -------------------------------------------------------------------------------------


def test_buckets_that_a_range_cuts_are_asked_apart():
    database = VictoriaMetrics(VictoriaMetricsOptions(url="http://h"))
    count = (Aggregate(Function.COUNT),)
    cut = Selection(since=START_MS + 1, until=START_MS + 200_000)
    text = database.render(AggregateQuery(TABLE, count, bucket=60_000, selection=cut)).text
    heads = [each.splitlines()[0] for each in text.split("\n\n")]

    assert START_MS % 60_000 == 0
    assert [head.partition("?")[0] for head in heads] == [
        "/api/v1/query_range", "/api/v1/query", "/api/v1/query",
    ]  # fmt: skip
    assert text.count("[59999ms]") == 1
    assert text.count("[20000ms]") == 1


@SERVER
def test_a_text_of_the_users_own_fills_columns_by_its_expressions(victoria):
    fill(victoria, readings(), readings(3, device=b"d2"))
    metric = f"{victoria.options.prefix}events_temperature"
    columns = outputs(QUERIES["newest-per-device"])
    newest = f"max(last_over_time({metric}[%s])) by (device_id)"
    for text in (
        newest % "300y",
        f"/api/v1/query?time={START_MS // 1000 + 100}\n{newest % '1h'}",
    ):
        with victoria.connect() as session:
            found = session.run(Statement(text, columns, tuned=True))
        assert sorted(found) == [("d1", 2.0), ("d2", 1.0)]
    with victoria.connect() as session, pytest.raises(Refused) as caught:
        session.run(Statement("sum(", columns, tuned=True))
    assert "unparsed data" in str(caught.value) or "cannot parse" in str(caught.value)


@SERVER
def test_windows_take_the_rows_from_since_until_just_before_until(victoria):
    fill(victoria, readings(10))
    with victoria.connect() as session:
        for since, until, rows in ((2000, 5000, 3), (2001, 5000, 2), (2000, 5001, 4), (0, 1, 1)):
            query = AggregateQuery(
                TABLE,
                (Aggregate(Function.COUNT),),
                selection=Selection(since=START_MS + since, until=START_MS + until),
            )
            assert ask(session, victoria.render(query)).rows == ((rows,),)


@SERVER
def test_more_buckets_than_the_server_gives_at_once(victoria):
    far = readings(1)
    far.data["timestamp"].array[:] += 40_000 * 1000
    fill(victoria, readings(3), far)
    query = AggregateQuery(TABLE, (Aggregate(Function.COUNT),), bucket=1000)
    with victoria.connect() as session:
        found = ask(session, victoria.render(query)).rows
    assert found == tuple((START_MS + s * 1000, 1) for s in (0, 1, 2, 40_000))


@SERVER
@pytest.mark.parametrize(
    "tag", ["by", "on", "without", "limit", "1st", "a-b", 'a"b', "a b", "é à", "a\\b", "sum"]
)
def test_a_tag_may_be_called_as_it_likes(victoria, tag):
    columns = (
        Column("time", Type.INT64, Role.TIME),
        Column(tag, Type.TEXT, Role.TAG),
        Column("n", Type.INT64, Role.FIELD),
    )
    table = Table("odd table", columns, (tag, "time"))
    data = {
        "time": Values(START_MS + np.arange(4)),
        tag: Coded(np.array([0, 0, 1, 1]), np.array([b"x", b"y"])),
        "n": Values(np.arange(4)),
    }
    victoria.create([table], 10)
    with victoria.connect() as session:
        session.send(encoded(session, Block(table, 0, np.arange(4), data)))
    victoria.visible([table])
    total = (Aggregate(Function.SUM, "n"),)
    with victoria.connect() as session:
        grouped = victoria.render(AggregateQuery(table, total, by=(tag,)))
        assert sorted(session.run(grouped)) == [("x", 1), ("y", 5)], identifier(tag)
        selection = Selection((OneOf(tag, ("y",)),))
        chosen = victoria.render(AggregateQuery(table, total, selection=selection))
        assert session.run(chosen) == [(5,)], identifier(tag)


# --- rows ----------------------------------------------------------------------------------------

NUMBERS = Table(
    "numbers",
    (
        Column("time", Type.INT64, Role.TIME),
        Column("n", Type.INT64, Role.FIELD),
        Column("x", Type.FLOAT64, Role.FIELD),
    ),
    ("time",),
)


def numbers(floats, integers=None):
    rows = len(floats)
    data = {
        "time": Values(START_MS + np.arange(rows)),
        "n": Values(np.array(integers if integers is not None else [0] * rows)),
        "x": Values(np.array(floats, np.float64)),
    }
    return Block(NUMBERS, 0, np.arange(rows), data)


@SERVER
@pytest.mark.parametrize("decimals", range(0, 11, 2))
def test_all_numbers_that_are_taken_come_back_whatever_is_beside_them(open_victoria, decimals):
    """The server packs up to 8,192 numbers of a series with one power of ten."""
    database = open_victoria(decimals=decimals)
    source, rows = np.random.default_rng(decimals), 40_000
    sizes = 10.0 ** source.uniform(0, 11, rows)
    sizes[rows // 2 :] = source.uniform(0.9, 1, rows // 2) * Inexact.LIMIT
    scaled = np.rint(sizes) * source.choice([-1, 1], rows)
    scaled[:4] = (Inexact.LIMIT, -Inexact.LIMIT, 1, 0)
    floats = source.permutation(scaled) / 10**decimals
    bits = source.integers(1, 54, rows)
    integers = [int(source.integers(-(2**size), 2**size)) for size in bits]
    database.create([NUMBERS], 10)
    with database.connect() as session:
        for start in range(0, rows, 1000):
            part = numbers(floats, integers).slice(start, start + 1000)
            session.send(encoded(session, part))
    database.visible([NUMBERS])
    with database.connect() as session:
        found = sorted(session.run(database.render(RowsQuery(NUMBERS))))
    assert [row[1] for row in found] == integers
    assert [row[2] for row in found] == floats.tolist()


@pytest.mark.parametrize(
    ("decimals", "value"),
    [
        (6, 0.1 + 0.2), (6, 1e-7), (6, 9e5 + 1), (2, 0.125), (2, 1e10), (0, 0.5), (10, 90.5),
        (6, 5e-324), (6, 1.7976931348623157e308),
    ],
)  # fmt: skip
def test_a_float_that_might_be_rounded_is_refused(decimals, value):
    with Web(lambda _: Response(200, PAGE % b"100y")) as web:
        database = VictoriaMetrics(VictoriaMetricsOptions(url=web.url, decimals=decimals))
        with (
            database.connect() as session,
            pytest.raises(UnstorableError, match=r"column x: .* see the option decimals"),
        ):
            encoded(session, numbers([1.0, value]))


@pytest.mark.parametrize(
    ("instant", "reported"),
    [
        (START_MS - 80 * 365 * 86_400_000, "-retentionPeriod"),
        (-1, "-retentionPeriod"),
        (2**53, "-futureRetention"),
    ],
)
def test_a_row_that_the_server_would_drop_without_a_word_is_refused(instant, reported):
    with Web(lambda _: Response(200, PAGE % b"1M")) as web:
        database = VictoriaMetrics(VictoriaMetricsOptions(url=web.url))
        batch = readings(1)
        batch.data["timestamp"].array[:] = instant
        with database.connect() as session, pytest.raises(UnstorableError, match=reported):
            encoded(session, batch)


def test_a_server_as_it_comes_keeps_a_month_and_two_days():
    page = MetricsPage.parse((PAGE % b"1").decode())
    first, last = page.span_ms()
    now = time.time()
    assert 30 < (now - first / 1000) / 86_400 < 31
    assert 1.9 < (last / 1000 - now) / 86_400 < 2
    assert page.version == "VictoriaMetrics 1.145.0"
    assert seconds("1h30m") == 5400
    assert seconds("0s") == 0


@SERVER
@pytest.mark.parametrize("unit", TimeUnit)
def test_both_formats_say_the_same_and_the_shorter_is_taken(victoria, unit):
    columns = (
        Column("time", Type.INT64, Role.TIME),
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        Column("rack", Type.INT16, Role.TAG),
        Column("n", Type.INT64, Role.FIELD),
        Column("x", Type.FLOAT32, Role.FIELD, nullable=True),
        Column("on", Type.BOOL, Role.FIELD),
        Column("seen", Type.TIMESTAMP, Role.FIELD, nullable=True),
    )
    table = Table("both", columns, ("site", "rack", "time"), unit)
    rows = np.arange(40)
    data = {
        "time": Values((START_MS // 1000 + rows) * unit.per_second),
        "site": Coded(rows % 3, np.array([b"a", b"b-2", b"c.3"]), rows % 5 > 0),
        "rack": Values((rows % 4 - 1).astype(np.int16)),
        "n": Values(2**53 - rows),
        "x": Values((rows / 4 - 3).astype(np.float32), rows % 7 > 0),
        "on": Values(rows % 2 == 0),
        "seen": Values(rows * 10**12, rows % 2 > 0),
    }
    batch = Block(table, 0, rows, data)
    found = []
    for batch_rows, path in ((1, "/write"), (10, "/write"), (1000, "/api/v1/import")):
        drop(victoria, [table])
        victoria.create([table], 10)
        with victoria.connect() as session:
            payloads = session.encode(batch, BATCH, batch_rows)
            assert {p.data[0].partition("?")[0] for p in payloads} == {path}
            for payload in payloads:
                session.send(payload)
        victoria.visible([table])
        with victoria.connect() as session:
            found.append(ask(session, victoria.render(RowsQuery(table))))
    assert found[0] == found[1] == found[2]
    assert len(found[0].rows) == 40


@SERVER
@pytest.mark.parametrize(("rows", "path"), [(3, "/write"), (40, "/api/v1/import")])
def test_a_payload_of_several_tables_is_in_one_format(victoria, rows, path):
    one, other = (Table(name, TABLE.columns, TABLE.key) for name in ("one", "other"))
    blocks = [
        Block(table, 0, np.arange(rows), readings(rows, device=device).data)
        for table, device in ((one, b"d1"), (other, b"d2"))
    ]
    edges = [np.array([0, rows - 1, rows]), np.array([0, rows - 1, rows])]
    drop(victoria, [one, other])
    victoria.create([one, other], 10)
    with victoria.connect() as session:
        data = session.make_mixed_encoder([one, other])(blocks, edges)
        assert {where.partition("?")[0] for where, _ in data} == {path}
        for (where, body), own in zip(data, (2 * rows - 2, 2), strict=True):
            session.send(Payload(own, BATCH, (where, body)))
    victoria.visible([one, other])
    with victoria.connect() as session:
        for table, device in ((one, "d1"), (other, "d2")):
            found = ask(session, victoria.render(RowsQuery(table))).rows
            assert len(found) == rows
            assert {device} == {value for row in found for value in row if isinstance(value, str)}


@pytest.mark.parametrize("odd", ["name", "tag", "time"])
def test_what_line_protocol_may_not_be_able_to_say_is_said_in_json(odd):
    name = "odd name" if odd == "name" else "events"
    table = Table(name, TABLE.columns, TABLE.key)
    data = readings(3, device=b"a b" if odd == "tag" else b"d1").data
    if odd == "time":
        data["timestamp"].array[0] = 0
    path, _ = Bodies("", table, name).encode(
        Block(table, 0, np.arange(3), data), 1, data["timestamp"].values()
    )
    assert path == "/api/v1/import"


@SERVER
def test_a_row_sent_twice_is_two_rows_of_which_one_is_distinct(victoria):
    fill(victoria, readings(), readings(2))
    assert stored(victoria) == 7
    with victoria.connect() as session:
        assert session.run(victoria.render(DistinctQuery(TABLE, TABLE.key))) == [(5,)]
        assert len(session.run(victoria.render(RowsQuery(TABLE)))) == 7


@SERVER
def test_durability_and_settings_are_those_of_the_server(victoria):
    reported = victoria.describe()
    assert reported.durable is False
    assert "within 5s (-inmemoryDataFlushInterval)" in reported.durability
    assert reported.settings["retentionPeriod"] == "100y"


@SERVER
def test_rows_that_the_server_acknowledges_and_drops_are_named(own_server):
    """The limit of series is the one drop that the real server can be made to do silently."""
    with own_server(storage__maxHourlySeries="3") as other:
        database = VictoriaMetrics(VictoriaMetricsOptions(**other.options("t")))
        database.create([TABLE], 10)
        with database.connect() as session:
            session.send(encoded(session, lately(b"d1")))  # two series, one a field
            database.compact([TABLE])
            session.send(encoded(session, lately(b"d2")))
        with pytest.raises(SetupError, match=r"dropped acknowledged rows \(.*hourly_limit_exceed"):
            database.compact([TABLE])


def lately(device):
    """Rows of this hour: the limit of series is for those."""
    batch = readings(5, device=device)
    batch.data["timestamp"].array[:] = int(time.time()) * 1000 - np.arange(5)
    return batch


def test_an_answer_other_than_that_rows_are_stored_is_no_success():
    with Web(lambda _: Response(200, PAGE % b"100y")) as web:
        database = VictoriaMetrics(VictoriaMetricsOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(NoAnswer, match="expected status 204, got 200") as caught:
                session.send(encoded(session, readings()))
            assert session.classify(caught.value) is Failure.UNKNOWN


@pytest.mark.parametrize(
    ("status", "message", "gave_up"),
    [
        (422, ("cannot process more than 9 samples per series; either increase"
               " -search.maxSamplesPerSeries or reduce time range for the query"), True),
        (422, "cannot select more than -search.maxSamplesPerQuery=9 samples", True),
        (422, "unknown function", False),
        (503, "increase -search.maxSamplesPerSeries", False),
    ],
)  # fmt: skip
def test_what_is_too_much_for_the_server_is_known_by_the_limit(status, message, gave_up):
    def answered(request):
        is_page = request.path == "/metrics"
        return Response(200, PAGE % b"100y") if is_page else Response(status, message.encode())

    with Web(answered) as web:
        database = VictoriaMetrics(VictoriaMetricsOptions(url=web.url))
        with database.connect() as session:
            with pytest.raises(Refused) as caught:
                count(database, session, TABLE)
            assert session.gave_up(caught.value) is gave_up


# --- tables --------------------------------------------------------------------------------------


@SERVER
def test_dropping_leaves_alone_what_only_begins_alike(victoria):
    other = Table("events_of", TABLE.columns, TABLE.key, primary_key=PrimaryKey.DB)
    fill(victoria, readings(10))
    victoria.create([other], 10)
    with victoria.connect() as session:
        session.send(encoded(session, Block(other, 0, np.arange(3), readings(3).data)))
    drop(victoria, [TABLE])
    victoria.visible([other])
    assert stored(victoria, other) == 3
    victoria.create([TABLE], 10)
    assert stored(victoria) == 0


@SERVER
def test_rows_just_sent_are_dropped_too(victoria):
    for rows in (100, 50, 10):
        victoria.create([TABLE], 10)
        with victoria.connect() as session:
            session.send(encoded(session, readings(rows)))
        drop(victoria, [TABLE])
    victoria.create([TABLE], 10)
    victoria.visible([TABLE])
    assert stored(victoria) == 0


# --- being refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 404])
def test_a_server_that_is_something_else(status):
    with Web(lambda _: Response(status, b"up 1\n")) as web:
        database = VictoriaMetrics(VictoriaMetricsOptions(url=web.url))
        with pytest.raises(SetupError, match="a single-node VictoriaMetrics"):
            database.connect()


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"precisionBits": "20"}, "-precisionBits=20"),
        ({"dedup__minScrapeInterval": "1ms"}, "-dedup.minScrapeInterval=1ms"),
    ],
)
@SERVER
def test_a_server_that_changes_rows_is_refused(own_server, settings, reported):
    with own_server(**settings) as other:
        database = VictoriaMetrics(VictoriaMetricsOptions(**other.options("t")))
        with pytest.raises(SetupError, match=reported):
            database.create([TABLE], 10)


@SERVER
def test_a_password_is_asked_for_and_never_shown(own_server):
    settings = {"httpAuth__username": "bench", "httpAuth__password": "right-one"}
    with own_server(**settings, deleteAuthKey="key") as other:
        reach = other.options("t")
        for wrong in ({}, {"username": "bench", "password": "wrong-one"}):
            with pytest.raises(SetupError, match=r"401.*check the credentials") as caught:
                VictoriaMetrics(VictoriaMetricsOptions(**reach, **wrong)).connect()
            assert "wrong-one" not in str(caught.value)
        options = VictoriaMetricsOptions(**reach, username="bench", password="right-one")
        database = VictoriaMetrics(options)
        fill(database, readings())
        assert stored(database) == 5
        with pytest.raises(SetupError, match="-deleteAuthKey"):
            drop(database, [TABLE])
        assert "right-one" not in repr(options)
