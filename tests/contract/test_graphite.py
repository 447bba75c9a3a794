"""What is Graphite's own: texts of queries, times, sends without answers, refusals."""

import socket
import threading
import time

import numpy as np
import pytest

from simulator.data.block import Block, Coded
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    OneOf,
    Selection,
    Statement,
    outputs,
)
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, SINGLE, Failure
from simulator.modules.evidence import Kill
from simulator.modules.graphite.database import Graphite, GraphiteOptions
from simulator.modules.graphite.session import PICKLE
from simulator.modules.graphite.wire import Carbon, CarbonError, NothingSent
from simulator.modules.shared.metrics.rollups import COUNT_ROWS
from tests.contract import devices
from tests.contract.devices import QUERIES, TABLE, encoded, stored
from tests.contract.harness import ask
from tests.contract.targets import TARGETS
from tests.servers import free_port
from tests.standins.web import Response, Web

SERVER = pytest.mark.server("graphite")


@pytest.fixture
def open_graphite(server_options):
    return lambda **more: Graphite(GraphiteOptions(**{**server_options, **more}))


@pytest.fixture
def graphite(open_graphite):
    return open_graphite()


def readings(rows=5, first=0, device=b"d1"):
    """Rows of one device, a second apart, the first of them an hour ago."""
    start_ms = (int(time.time()) - 3600) * 1000
    return devices.readings(rows, first, device=device, start_ms=start_ms)


# --- queries -------------------------------------------------------------------------------------


@SERVER
@pytest.mark.parametrize("parts", [1, 4])
def test_ends_of_one_series_and_of_several(graphite, parts):
    wide = TARGETS["graphite"].wide(parts=parts)
    wide.fill(graphite)
    readings, states = wide.tables
    last = tuple(Aggregate(Function.LAST, name) for name in ("level", "starts", "running"))
    first = (Aggregate(Function.FIRST, "level"),)
    with graphite.connect() as session:
        for query in (
            AggregateQuery(states, last, by=("machine", "rack")),
            AggregateQuery(states, last, by=("machine",)),
            AggregateQuery(states, first, by=("machine",)),
            AggregateQuery(states, last, by=("machine", "rack"), bucket=700_000),
            AggregateQuery(readings, (Aggregate(Function.LAST, "double"),), by=("site",)),
        ):
            assert ask(session, graphite.render(query)) == wide.answer(query)


@SERVER
def test_a_text_of_the_users_own_fills_columns_by_its_targets(graphite):
    graphite.create([TABLE], 10)
    with graphite.connect() as session:
        session.send(encoded(session, readings()))
        session.send(encoded(session, readings(3, device=b"d2")))
    graphite.visible([TABLE])
    path = f"{graphite.options.prefix}events.GENERATION.*.temperature"
    node = graphite.options.prefix.count(".") + 2
    text = f'from=-6h until=now\naliasByNode(summarize({path},"12h","last",true),{node})'
    with graphite.connect() as session:
        columns = outputs(QUERIES["newest-per-device"])
        found = session.run(Statement(text, columns, tuned=True))
    assert sorted(found) == [("d1", 2.0), ("d2", 1.0)]


# --- rows ----------------------------------------------------------------------------------------


@SERVER
def test_pickles_and_lines_say_the_same_of_a_tag_with_a_dot_and_a_slash(graphite, open_graphite):
    assert graphite.insert_mode(BATCH) == BATCH
    assert open_graphite(pickle=True).insert_mode(BATCH) == PICKLE
    assert open_graphite(pickle=True).insert_mode(SINGLE) == SINGLE
    graphite.create([TABLE], 10)
    batch = readings(3000)
    named = {BATCH: "v1.5/lines", PICKLE: "v1.5/pickles"}
    for mode, device in named.items():
        block = Block(TABLE, 0, batch.rows, {
            **batch.data, "device_id": Coded(np.zeros(3000, np.int64), np.array([device.encode()]))
        })  # fmt: skip
        with graphite.connect() as session:
            session.send(encoded(session, block, mode))
    graphite.visible([TABLE])
    with graphite.connect() as session:
        found = session.run(graphite.render(QUERIES["temperature-stats-per-device"]))
        chosen = Selection(one_of=(OneOf("device_id", (named[PICKLE],)),))
        (counted,) = session.run(
            graphite.render(AggregateQuery(TABLE, COUNT_ROWS, selection=chosen))
        )
    assert sorted(found) == [(device, 1499.5, 2999 / 4, 0.0) for device in named.values()]
    assert counted == (3000,)


@SERVER
def test_what_carbon_had_not_written_is_lost_when_it_is_killed(server, graphite, record_property):
    graphite.create([TABLE], 10)
    with graphite.connect() as session:
        for first in range(0, 3000, 100):
            session.send(encoded(session, readings(100, first)))
        server.kill("carbon")
        payload = encoded(session, readings(100))
        time.sleep(0.1)
        with pytest.raises(CarbonError) as caught:
            session.send(payload)
        assert session.classify(caught.value) in (Failure.UNKNOWN, Failure.NOT_APPLIED)
        assert not session.alive
    server.start()
    graphite.visible([TABLE])
    assert stored(graphite) < 3000
    record_property("target", "graphite")
    record_property("kill", Kill.SOME_LOST.value)


# --- without answers -----------------------------------------------------------------------------


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_closing_waits_until_everything_was_read(listener):
    came = []

    def read_slowly():
        connection, _ = listener.accept()
        with connection:
            time.sleep(0.3)
            while piece := connection.recv(1000):
                came.append(len(piece))

    reading = threading.Thread(target=read_slowly)
    reading.start()
    carbon = Carbon("127.0.0.1", listener.getsockname()[1], 10)
    carbon.send(b"x" * 50_000)
    carbon.close()
    assert sum(came) == 50_000
    reading.join()


def test_a_connection_that_the_server_has_closed_takes_nothing_more(listener):
    carbon = Carbon("127.0.0.1", listener.getsockname()[1], 10)
    connection, _ = listener.accept()
    connection.close()
    time.sleep(0.05)
    with pytest.raises(NothingSent, match="carbon has closed the connection"):
        carbon.send(b"x")
    assert not carbon.alive
    carbon.close()


def test_a_server_that_reads_nothing_is_given_up(listener):
    carbon = Carbon("127.0.0.1", listener.getsockname()[1], 0.2)
    with pytest.raises(CarbonError, match="the connection was lost: timed out") as caught:
        carbon.send(b"x" * (1 << 25))
    assert not isinstance(caught.value, NothingSent)
    carbon.close()


# --- being refused -------------------------------------------------------------------------------


@SERVER
def test_a_carbon_that_is_not_there(open_graphite):
    database = open_graphite(line_port=free_port())
    with pytest.raises(SetupError, match=r"Connection refused; check that carbon runs, and carbon"):
        database.create([TABLE], 10)


def test_a_server_that_is_something_else():
    with Web(lambda _: Response(404, b"no such page")) as web:
        database = Graphite(GraphiteOptions(url=web.url))
        with pytest.raises(SetupError, match="answered 404: no such page"):
            database.connect()


@SERVER
def test_a_table_that_is_not_there(graphite):
    with pytest.raises(SetupError, match="table events does not exist; run an insert first"):
        stored(graphite)
