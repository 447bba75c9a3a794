"""A server's certificate that is expired, not yet valid, or of another host or authority.

It is refused within seconds, with the true cause and what to do about it; the right one is taken.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trustme

from simulator.modules.cassandra.database import Cassandra
from simulator.modules.cassandra.options import CassandraOptions
from simulator.modules.contract import Database
from simulator.modules.mongodb.database import Mongodb, MongodbOptions
from simulator.modules.mysql.database import MySql, MySqlOptions
from simulator.modules.postgres.database import Postgres, PostgresOptions
from tests.contract.harness import refusal
from tests.faults import network
from tests.faults.proxy import Proxy
from tests.servers import Server

HOST = "127.0.0.1"
NOW, DAY = datetime.now(UTC), timedelta(days=1)
RENEW, CLOCK = "; renew the server's certificate, or", "; correct the clock of this machine"
NAME, AUTHORITY = "; connect by a name in the server's", "; name its authority's certificate in"
OF_LIBPQ = {"expired": AUTHORITY, "not yet valid": AUTHORITY}
"""libpq says no more than that the certificate is refused."""
REFUSED = {"expired": RENEW, "not yet valid": CLOCK, "another host": NAME, "unknown": AUTHORITY}


@cache
def authority(_: str) -> trustme.CA:
    """Return an authority; the client trusts the known one."""
    return trustme.CA()


def issued(kind: str) -> trustme.LeafCert:
    """Return a certificate of a kind."""
    known = authority("known")
    match kind:
        case "expired":
            return known.issue_cert(HOST, not_before=NOW - 2 * DAY, not_after=NOW - DAY)
        case "not yet valid":
            return known.issue_cert(HOST, not_before=NOW + DAY, not_after=NOW + 2 * DAY)
        case "another host":
            return known.issue_cert("db.example.org")
        case "unknown":
            return authority("unknown").issue_cert(HOST)
    return known.issue_cert(HOST)


def files(server: Server, kind: str) -> tuple[Path, Path]:
    """Write a certificate and its key for a server; return where."""
    leaf = issued(kind)
    chain = leaf.cert_chain_pems[0].bytes().decode()
    key = leaf.private_key_pem.bytes().decode()
    name = kind.replace(" ", "-")
    return server.write(f"tls/{name}.pem", chain), server.write(f"tls/{name}.key", key)


@contextmanager
def postgres(server: Any, options: dict[str, Any], kind: str, ca: Path) -> Iterator[Database]:
    chain, key = files(server, kind)
    server.execute(
        f"ALTER SYSTEM SET ssl_cert_file = '{chain}'", f"ALTER SYSTEM SET ssl_key_file = '{key}'",
        "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()",
    )  # fmt: skip
    time.sleep(0.5)  # the server reads them after it has answered
    try:
        where = f"{options['connection_string']} sslmode=verify-full sslrootcert={ca}"
        yield Postgres(PostgresOptions(**{**options, "connection_string": where}))
    finally:
        server.execute("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")


@contextmanager
def mysql(server: Any, options: dict[str, Any], kind: str, ca: Path) -> Iterator[Database]:
    """MySQL loads no expired certificate, so a front has it, up to the handshake."""
    if kind == "right":
        chain, key = files(server, kind)
        change = "SET GLOBAL ssl_cert = '{}', ssl_key = '{}', ssl_ca = '{}'"
        known = server.write("tls/ca.pem", ca.read_text())
        server.execute(change.format(chain, key, known), "ALTER INSTANCE RELOAD TLS")
        yield MySql(MySqlOptions(**options, ca_file=str(ca)))
        own = (server.data / name for name in ("server-cert.pem", "server-key.pem", "ca.pem"))
        server.execute(change.format(*own), "ALTER INSTANCE RELOAD TLS")
        return
    listener = network.listen(0)
    threading.Thread(target=_shake_hands, args=(listener, server.port(), kind), daemon=True).start()
    with listener:
        port = listener.getsockname()[1]
        yield MySql(MySqlOptions(**{**options, "port": port, "ca_file": str(ca)}))
        listener.shutdown(socket.SHUT_RDWR)


def _shake_hands(listener: socket.socket, port: int, kind: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued(kind).configure_cert(context)
    with suppress(OSError):  # the listener is closed
        while True:
            client, _ = listener.accept()
            with closing(client), socket.create_connection((HOST, port)) as real, suppress(OSError):
                client.sendall(real.recv(4096))  # the greeting, which offers TLS
                client.recv(36)  # the request for TLS
                context.wrap_socket(client, server_side=True)


@contextmanager
def behind_tls(server: Server, kind: str) -> Iterator[int]:
    """Yield a port where TLS ends, in front of the server's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued(kind).configure_cert(context)

    def listen(port: int) -> Any:
        return context.wrap_socket(network.listen(port), server_side=True)

    with closing(Proxy(server.port(), listen)) as proxy:
        yield proxy.port


@contextmanager
def mongodb(server: Any, options: dict[str, Any], kind: str, ca: Path) -> Iterator[Database]:
    with behind_tls(server, kind) as port:
        where = options["connection_string"].replace(str(server.port()), str(port))
        more = {"connection_string": f"{where}&tls=true", "ca_file": str(ca)}
        yield Mongodb(MongodbOptions(**{**options, **more, "connect_timeout_s": 2}))


@contextmanager
def cassandra(server: Any, options: dict[str, Any], kind: str, ca: Path) -> Iterator[Database]:
    with behind_tls(server, kind) as port:
        more = {"port": port, "tls": True, "ca_file": str(ca)}
        yield Cassandra(CassandraOptions(**{**options, **more}))


PRODUCTS: dict[str, Callable[..., Any]] = {
    "postgres": postgres,
    "mysql": mysql,
    "ferretdb": mongodb,
    "cassandra": cassandra,
}


CELLS = [
    pytest.param(
        server, kind, marks=[] if server == "postgres" or kind == "expired" else [pytest.mark.rare]
    )
    for server in PRODUCTS
    for kind in (*REFUSED, "right")
]


@pytest.mark.parametrize(("server_name", "kind"), CELLS)
def test_a_certificate_is_refused_for_its_reason(
    server: Server, server_name: str, server_options: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority("known").cert_pem.bytes())
    with PRODUCTS[server_name](server, server_options, kind, ca) as database:
        if kind == "right":
            assert database.describe().nodes == 1
            return
        found = (OF_LIBPQ if server_name == "postgres" else {}).get(kind, REFUSED[kind])
        for text in refusal(database):
            assert found in text
