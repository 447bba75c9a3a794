"""The collector's server ends connections that send no request, and takes a limited number."""

import asyncio
import socket
import threading
import time

import pytest

from simulator.control.workers import endpoints as server
from simulator.control.workers.endpoints import application, server_of
from tests.unit.control.run import TOKEN, gate_of, insert_spec

REQUEST = b"POST /register HTTP/1.1\r\nHost: c\r\nX-Run-Token: x\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def connect(monkeypatch):
    """Connect to a server of one worker that waits for a request for a moment only."""
    monkeypatch.setattr(server, "_REQUEST_S", 0.3)
    monkeypatch.setattr(server, "_SPARE_CONNECTIONS", 6)
    made = server_of(application(gate_of(insert_spec(1)), TOKEN), 1)
    opened = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        thread = threading.Thread(target=lambda: asyncio.run(made.serve(sockets=[listener])))
        thread.start()

        def connect():
            connection = socket.create_connection(address)
            connection.settimeout(10)
            opened.append(connection)
            return connection

        yield connect
        for connection in opened:
            connection.close()
        made.should_exit = made.force_exit = True
        thread.join()


def is_closed(connection):
    try:
        return connection.recv(4096) == b""
    except ConnectionResetError:
        return True


def test_a_connection_without_a_whole_request_is_closed(connect):
    idle, slow = connect(), connect()
    slow.sendall(REQUEST[:30])

    assert is_closed(idle)
    assert is_closed(slow)


def test_a_connection_that_asked_is_not_closed_by_that_limit(connect):
    asked = connect()
    asked.sendall(REQUEST[:-2])
    time.sleep(0.5)
    asked.sendall(REQUEST[-2:])

    assert asked.recv(4096).startswith(b"HTTP/1.1 403")


def test_further_connections_than_workers_need_are_closed(connect):
    kept = [connect() for _ in range(10)]
    kept[-1].sendall(REQUEST)
    assert kept[-1].recv(4096).startswith(b"HTTP/1.1 403")
    connect()

    assert is_closed(connect())
