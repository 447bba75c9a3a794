"""The time of a query is the database's or the client's, also where an answer is read lazily."""

import json
import time
from itertools import count
from types import SimpleNamespace

import pytest

from simulator.data.query import EVERYTHING, Output, Statement
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.modules import waits
from simulator.modules.clickhouse import session as clickhouse
from simulator.modules.clickhouse.database import Clickhouse, ClickhouseOptions
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.database import Influxdb, InfluxOptions
from simulator.modules.influxdb1 import Influx1Options, Influxdb1
from simulator.modules.influxdb3 import Influx3Options, Influxdb3
from simulator.modules.victoriametrics.database import VictoriaMetrics, VictoriaMetricsOptions
from simulator.modules.waits import Waits
from tests.standins.web import Response, Web

PAUSE_S = 0.3
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
    monkeypatch.setattr(waits, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    return Waits()


def test_only_what_happens_in_the_client_is_counted(waited):
    with waited.waiting():
        pass
    assert waited.client_s == 0
    with waited.in_client():
        pass
    assert waited.client_s == 1


def test_waiting_within_the_client_is_not_counted(waited):
    with waited.in_client(), waited.waiting():
        pass
    assert waited.client_s == 2  # before and after it, not the second in between


def test_time_in_the_client_is_counted_once_however_often_it_is_entered(waited):
    with waited.in_client(), waited.in_client():
        pass
    assert waited.client_s == 3


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
    with waited.in_client():
        for _ in waited.awaited(arriving()):
            time.sleep(0.01)
    assert 0.03 <= waited.client_s < 0.1


def test_an_error_of_the_reader_passes_and_leaves_the_client_in_its_place():
    def broken():
        yield 1
        raise OSError("lost")

    waited = Waits()
    with pytest.raises(OSError, match="lost"), waited.in_client():
        list(waited.awaited(broken()))
    ended_s = waited.client_s
    time.sleep(0.01)
    with waited.waiting():
        pass
    assert waited.client_s == ended_s


# --- sessions ------------------------------------------------------------------------------------


def _clickhouse(web):
    session = Clickhouse(ClickhouseOptions(url=web.url)).open()
    return session, lambda: session.run(Statement("SELECT 7", COUNTED))


def _with_client(session):
    """Import and open the vendor's client, as `connect` does."""
    assert session.client
    return session


def _influxdb(web):
    session = _with_client(Influxdb(InfluxOptions(url=web.url, token="t0k3n")).open())
    return session, lambda: session.run(Statement("from(bucket: 0)", COUNTED))


def _influxdb1(web):
    session = _with_client(Influxdb1(Influx1Options(url=web.url)).open())
    return session, lambda: session.run(Statement("SELECT count(x) FROM y", COUNTED))


def _influxdb3(web):
    session = Influxdb3(Influx3Options(url=web.url)).open()
    return session, lambda: session.run(Statement("SELECT 7 AS c0", COUNTED, ("events",)))


def _victoriametrics(web):
    session = VictoriaMetrics(VictoriaMetricsOptions(url=web.url)).open()
    return session, lambda: session.run(Statement("count(x)", COUNTED))


def _points(web):
    session = VictoriaMetrics(VictoriaMetricsOptions(url=web.url)).open()

    def read():
        with session.in_client():
            found = session.points(TABLE, TABLE.columns[1:], EVERYTHING)
            return [[value] for series in found for _, value in series.points]

    return session, read


FLUX = b"#datatype,string,long,long\r\n,result,table,_value\r\n,count,0,7\r\n"
SERIES = {"name": "y", "columns": ["time", "count"], "values": [[0, 7]]}
POINTS = {
    "metric": {"__name__": "events_value"},
    "values": [7],
    "timestamps": [0],
}
CASES = {
    "clickhouse": (_clickhouse, b"7\n"),
    "influxdb": (_influxdb, FLUX),
    "influxdb1": (
        _influxdb1,
        json.dumps({"results": [{"statement_id": 0, "series": [SERIES]}]}).encode() + b"\n",
    ),
    "influxdb3": (_influxdb3, b'{"c0": 7}\n'),
    "victoriametrics": (
        _victoriametrics,
        json.dumps({"data": {"result": [{"metric": {}, "value": [0, "7"]}]}}).encode(),
    ),
    "victoriametrics-points": (_points, json.dumps(POINTS).encode() + b"\n"),
}


@pytest.mark.parametrize(("connect", "body"), CASES.values(), ids=CASES)
def test_a_slow_answer_is_waited_for(connect, body):
    with Web(lambda _: Response(200, body, pause_s=PAUSE_S)) as web:
        session, run = connect(web)
        began_s = time.perf_counter()
        ((found,),) = run()
        elapsed_s = time.perf_counter() - began_s
        session.close()
    assert found == 7
    assert elapsed_s >= PAUSE_S
    assert 0 < session.client_s < PAUSE_S


def slow(function):
    def slowed(*arguments, **options):
        time.sleep(PAUSE_S)
        return function(*arguments, **options)

    return slowed


@pytest.mark.parametrize(("connect", "body"), CASES.values(), ids=CASES)
def test_slow_decoding_is_the_clients_time(monkeypatch, connect, body):
    with Web(lambda _: Response(200, body)) as web:
        session, run = connect(web)
        monkeypatch.setattr(json, "loads", slow(json.loads))
        monkeypatch.setattr(clickhouse, "rows_of", slow(clickhouse.rows_of))
        monkeypatch.setattr(flux, "_typed", slow(flux._typed))
        ((found,),) = run()
        session.close()
    assert found == 7
    assert session.client_s >= PAUSE_S
