"""The time of a query is the database's or the client's, also where an answer is read lazily."""

import json
import time
from contextlib import ExitStack
from itertools import count
from types import SimpleNamespace

import pytest

from simulator.data.query import EVERYTHING, Output, Statement
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.modules.clickhouse import session as clickhouse
from simulator.modules.clickhouse.database import Clickhouse, ClickhouseOptions
from simulator.modules.contract import Waits
from simulator.modules.contract import session as contract_session
from simulator.modules.cratedb.database import Cratedb, CratedbOptions
from simulator.modules.graphite.database import Graphite, GraphiteOptions
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.database import Influxdb, InfluxOptions
from simulator.modules.influxdb.session import InfluxSession
from simulator.modules.influxdb1 import Influx1Options, Influxdb1
from simulator.modules.influxdb3 import Influx3Options, Influxdb3
from simulator.modules.opentsdb.database import OpenTsdb, OpenTsdbOptions
from simulator.modules.questdb.database import QuestDb, QuestDbOptions
from simulator.modules.splunk.database import Splunk, SplunkOptions
from simulator.modules.victoriametrics.database import VictoriaMetrics, VictoriaMetricsOptions
from tests.standins.web import Response, Web

PAUSE_S = 0.1
COUNTED = (Output("count", Type.INT64, TimeUnit.SECOND),)
TABLE = Table(
    "events",
    (Column("time", Type.TIMESTAMP, Role.TIME), Column("value", Type.FLOAT64, Role.FIELD)),
    key=("time",),
)


@pytest.fixture
def waited(monkeypatch):
    """Waits with a clock that goes on by a second with each reading."""
    seconds = count()
    monkeypatch.setattr(
        contract_session, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds)))
    )
    return Waits()


@pytest.mark.parametrize(
    ("entered", "client_s"),
    [
        ([Waits.waiting], 0),
        ([Waits.in_client], 1),
        ([Waits.in_client, Waits.waiting], 2),  # before and after it, not the second in between
        ([Waits.in_client, Waits.in_client], 3),
    ],
)
def test_only_what_happens_in_the_client_is_counted_and_once(waited, entered, client_s):
    with ExitStack() as stack:
        for enter in entered:
            stack.enter_context(enter(waited))
    assert waited.client_s == client_s


def test_an_error_ends_what_it_leaves(waited):
    with pytest.raises(OSError, match="lost"), waited.in_client(), waited.waiting():
        raise OSError("lost")
    before = waited.client_s
    with waited.waiting():
        pass
    assert waited.client_s == before


def test_the_time_until_a_part_arrives_is_waiting_and_what_follows_is_not():
    def arriving():
        for part in range(3):
            time.sleep(0.1)
            yield part

    waited = Waits()
    began_s = time.perf_counter()
    with waited.in_client():
        for _ in waited.await_parts(arriving()):
            time.sleep(0.01)
    assert 0.03 <= waited.client_s <= time.perf_counter() - began_s - 0.3


def test_an_error_of_the_reader_passes_and_leaves_the_client_in_its_place():
    def broken():
        yield 1
        raise OSError("lost")

    waited = Waits()
    with pytest.raises(OSError, match="lost"), waited.in_client():
        list(waited.await_parts(broken()))
    ended_s = waited.client_s
    time.sleep(0.01)
    with waited.waiting():
        pass
    assert waited.client_s == ended_s


# --- sessions ------------------------------------------------------------------------------------


def _tuned(database, text, *parameters):
    """Return a session, and what asks it a question of config.yaml."""
    session = database.open()
    if isinstance(session, InfluxSession) and not isinstance(database, Influxdb3):
        assert session.client  # importing the vendor's client takes time; `connect` does it
    return session, lambda: session.run(Statement(text, COUNTED, parameters))


def _points(database):
    session = database.open()

    def read():
        with session.in_client():
            found = session.points(TABLE, TABLE.columns[1:], EVERYTHING)
            return [[value] for series in found for _, value in series.points]

    return session, read


def _json(found):
    return json.dumps(found).encode() + b"\n"


CASES = {
    "clickhouse": (
        lambda url: _tuned(Clickhouse(ClickhouseOptions(url=url)), "SELECT 7"),
        b"7\n",
    ),
    "questdb": (
        lambda url: _tuned(QuestDb(QuestDbOptions(url=url)), "SELECT 7"),
        _json({"columns": [{"name": "count", "type": "LONG"}], "dataset": [[7]]}),
    ),
    "cratedb": (
        lambda url: _tuned(Cratedb(CratedbOptions(url=url)), "SELECT 7"),
        _json({"rows": [[7]]}),
    ),
    "influxdb": (
        lambda url: _tuned(Influxdb(InfluxOptions(url=url, token="t0k3n")), "from(bucket: 0)"),
        b"#datatype,string,long,long\r\n,result,table,_value\r\n,count,0,7\r\n",
    ),
    "influxdb1": (
        lambda url: _tuned(Influxdb1(Influx1Options(url=url)), "SELECT count(x) FROM y"),
        _json(
            {
                "results": [
                    {
                        "statement_id": 0,
                        "series": [{"name": "y", "columns": ["time", "count"], "values": [[0, 7]]}],
                    }
                ]
            }
        ),
    ),
    "influxdb3": (
        lambda url: _tuned(Influxdb3(Influx3Options(url=url)), "SELECT 7 AS c0", "events"),
        b'{"c0": 7}\n',
    ),
    "victoriametrics": (
        lambda url: _tuned(VictoriaMetrics(VictoriaMetricsOptions(url=url)), "count(x)"),
        _json({"data": {"result": [{"metric": {}, "value": [0, "7"]}]}}),
    ),
    "victoriametrics-points": (
        lambda url: _points(VictoriaMetrics(VictoriaMetricsOptions(url=url))),
        _json({"metric": {"__name__": "events_value"}, "values": [7], "timestamps": [0]}),
    ),
    "opentsdb": (
        lambda url: _tuned(OpenTsdb(OpenTsdbOptions(url=url)), '{"queries": [{"metric": "x"}]}'),
        _json([{"tags": {}, "query": {"index": 0}, "dps": [[0, 7]]}]),
    ),
    "graphite": (
        lambda url: _tuned(Graphite(GraphiteOptions(url=url)), "from=-1h\nx"),
        _json([{"target": "x", "datapoints": [[7, 0]]}]),
    ),
    "splunk": (
        lambda url: _tuned(
            Splunk(SplunkOptions(url=url, search_url=url, token="t", search_token="s")),
            "search x | stats count",
        ),
        _json({"result": {"count": "7"}}),
    ),
}


def slow(function):
    def slowed(*arguments, **options):
        time.sleep(PAUSE_S)
        return function(*arguments, **options)

    return slowed


@pytest.mark.parametrize(("connect", "body"), CASES.values(), ids=CASES)
def test_slow_decoding_is_the_clients_time_and_a_slow_answer_is_not(monkeypatch, connect, body):
    with Web(lambda _: Response(200, body, pause_s=PAUSE_S)) as web:
        session, run = connect(web.url)
        monkeypatch.setattr(json, "loads", slow(json.loads))
        monkeypatch.setattr(clickhouse, "parse_rows", slow(clickhouse.parse_rows))
        monkeypatch.setattr(flux, "_type", slow(flux._type))
        began_s = time.perf_counter()
        ((found,),) = run()
        elapsed_s = time.perf_counter() - began_s
        session.close()
    assert found == 7
    assert PAUSE_S <= session.client_s <= elapsed_s - PAUSE_S
