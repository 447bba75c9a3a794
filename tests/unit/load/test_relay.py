"""The relay before a database: what passes it, and when."""

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from simulator.protocol.spec import Weather

CUT = Weather(is_cut=True)


@contextmanager
def echoing():
    """Yield the address of a server that sends back what it gets, until the end."""

    def echo(connection):
        with connection:
            try:
                while received := connection.recv(1 << 18):
                    connection.sendall(received)
            except ConnectionError:
                pass

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)


class Relay:
    """A relay before one server."""

    def __init__(self, server):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simulator.load.faults.relay"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.write_line(json.dumps([server]))
        ((_, self.port),) = json.loads(self.process.stdout.readline())

    def write_line(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def become(self, weather):
        """Change the weather, and wait until it has."""
        self.write_line(weather.model_dump_json())
        assert self.process.stdout.readline() == b"\n"

    def connected(self):
        client = socket.create_connection(("127.0.0.1", self.port))
        client.settimeout(10)
        return client

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        self.process.stdout.close()


@pytest.fixture
def relay():
    with echoing() as server:
        found = Relay(server)
        yield found
        found.close()


def answered(client, text=b"hello"):
    client.sendall(text)
    found = b""
    while len(found) < len(text):
        found += client.recv(1 << 18)
    return found


def test_a_narrow_network_passes_so_much_in_a_second(relay):
    with relay.connected() as client:
        relay.become(Weather(bytes_per_s=500_000))
        began_s = time.monotonic()
        assert len(answered(client, bytes(250_000))) == 250_000
        assert 0.5 <= time.monotonic() - began_s < 10


def test_what_waits_is_bounded_so_a_sender_waits_too(relay):
    with relay.connected() as client:
        relay.become(CUT)
        client.settimeout(0.5)
        with pytest.raises(TimeoutError):
            client.sendall(bytes(1 << 26))


def test_the_end_of_a_connection_passes_too(relay):
    with relay.connected() as client:
        assert answered(client) == b"hello"
        client.sendall(b"last")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(10) == b"last"
        assert client.recv(10) == b""


def test_a_server_that_refuses_breaks_the_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = listener.getsockname()
    relay = Relay(nobody)
    with relay.connected() as client:
        assert is_broken(client)
    relay.close()


def is_broken(client):
    try:
        client.sendall(b"x")
        return client.recv(10) == b""
    except ConnectionError:
        return True


def test_what_is_sent_before_the_server_answers_is_kept(relay):
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", relay.port)) as client:
            client.settimeout(10)
            client.sendall(b"at once")
            client.shutdown(socket.SHUT_WR)
            assert client.recv(10) == b"at once"
