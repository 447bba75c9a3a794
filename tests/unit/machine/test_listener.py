"""The server of a target is found by the address that it listens at."""

import os
import socket
import subprocess
import sys

import psutil
import pytest

from iotbench.machine.listener import addresses, elsewhere, server_of, servers_here
from simulator.modules import database_class

LISTEN = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    sys.stdin.read()
"""


def database(module, **given):
    return database_class(module)(database_class(module).options_model(**given))


@pytest.mark.parametrize(
    ("module", "given", "expected"),
    [
        ("postgres", {"connection_string": "host=a port=5433 dbname=b"}, [("a", 5433)]),
        ("postgres", {"connection_string": "dbname=b host='a'"}, [("a", 5432)]),
        ("postgres", {"connection_string": "dbname=b"}, [("localhost", 5432)]),
        (
            "postgres",
            {"connection_string": "host=a,b port=1,2 dbname=c"},
            [("a", 1), ("b", 2)],
        ),
        ("postgres", {"connection_string": "host=/run/x port=7"}, [("localhost", 7)]),
        ("postgres", {"connection_string": "postgresql://u:p@a/b"}, [("a", 5432)]),
        ("postgres", {"connection_string": "postgresql://u:p@a:x/b"}, []),
        (
            "mongodb",
            {"connection_string": "mongodb://u:p@a:1,b/c?replicaSet=d"},
            [("a", 1), ("b", 27017)],
        ),
        ("influxdb", {"url": "http://[::1]:8086"}, [("::1", 8086)]),
        ("elasticsearch", {"url": "https://a"}, [("a", 443)]),
        ("mysql", {"host": "a", "user": "u", "database": "d"}, [("a", 3306)]),
        ("cassandra", {"hosts": "a, b"}, [("a", 9042), ("b", 9042)]),
        ("quasardb", {"uri": "qdb://a:2836"}, [("a", 2836)]),
        ("sqlite", {}, []),
        ("null", {}, []),
    ],
)
def test_addresses_are_those_of_the_options(module, given, expected):
    assert addresses(database(module, **given).options) == expected


def test_the_process_that_listens_is_the_server():
    command = [sys.executable, "-c", LISTEN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        found = server_of(database("influxdb", url=f"http://localhost:{port}"))
        process.communicate(b"")

    assert isinstance(found, psutil.Process)
    assert found.pid == process.pid != os.getpid()


def test_a_process_that_only_forwards_is_not_the_server(tmp_path):
    forwarder = tmp_path / "socat"
    forwarder.symlink_to(sys.executable)
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([forwarder, "-c", LISTEN], **given) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        found = server_of(database("influxdb", url=f"http://localhost:{port}"))
        here = servers_here(database("influxdb", url=f"http://localhost:{port}"))
        process.communicate(b"")

    assert found == (
        f"socat listens at port {port}, and forwards to a server whose processes are not known"
    )
    assert here is None


def test_a_server_here_is_a_process_and_one_elsewhere_is_none():
    with subprocess.Popen(
        [sys.executable, "-c", LISTEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        (here,) = servers_here(database("influxdb", url=f"http://[::1]:{port}"))
        process.communicate(b"")

    assert here.pid == process.pid
    assert servers_here(database("influxdb", url="http://192.0.2.1:1")) == []
    assert servers_here(database("sqlite")) == []
    assert servers_here(database("null")) is None


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (database("sqlite"), "the database is part of the workers"),
        (database("influxdb", url="http://192.0.2.1:8086"), "the server is on another host"),
        (database("influxdb", url="http://no-such.invalid:8086"), "the server is on another host"),
        (database("null"), "the target's options have no address"),
    ],
)
def test_a_server_that_cannot_be_measured_has_a_reason(server, reason):
    assert server_of(server) == reason
    is_embedded = reason == "the database is part of the workers"
    assert elsewhere(server) == ("" if is_embedded else reason)


def test_a_port_without_a_visible_listener_is_named():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # it does not listen, and nothing else can
        port = bound.getsockname()[1]
        found = server_of(database("influxdb", url=f"http://127.0.0.1:{port}"))

    assert isinstance(found, str)
    assert f"no process of this machine that listens at 127.0.0.1:{port}" in found
