"""Held bytes stay in the proxy."""

import os
import socket

from tests.faults.processes import owner_of
from tests.faults.proxy import Proxy


def test_what_a_closed_connection_has_sent_is_held_as_it_has_no_other_owner() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        proxy = Proxy(server.getsockname()[1], lambda port: socket.create_server(("", port)))
        try:
            client = socket.create_connection(("127.0.0.1", proxy.port))
            port = client.getsockname()[1]
            assert owner_of(port, proxy.port) == os.getpid()
            with server.accept()[0] as passed:
                client.close()
                assert owner_of(port, proxy.port) is None
                assert passed.recv(1) == b""
            proxy.hold(lambda each: owner_of(each, proxy.port) in (0, None))
            with (
                socket.create_connection(("127.0.0.1", proxy.port)) as client,
                server.accept()[0] as passed,
            ):
                client.sendall(b"of another process")
                passed.settimeout(10)
                assert passed.recv(1) == b"o"
        finally:
            proxy.close()
