"""`insert` and `query` from pods on servers that run elsewhere: `--address TARGET=URL`."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.harness import ClusterLine, Kubernetes, Namespace, report, uses_test_cluster
from tests.e2e.installing import forwarded, on_loopback
from tests.servers import SERVERS
from tests.servers.elsewhere import Address, Elsewhere

NAMES = [name for name, server in SERVERS.items() if issubclass(server, Elsewhere)]
NONE = pytest.param("", marks=pytest.mark.skip(reason="needs --address TARGET=URL"))
PORT = {"cassandra": 9042, "iotdb": 6667, "mysql": 3306, "mongodb": 27017}
"""Module -> the port of its server, where the options name none; of the others it is 5432."""


@pytest.fixture(scope="session", autouse=True)
def reachable() -> None:
    """Fail where pods cannot reach an address, before a cluster is started."""
    for name in NAMES:
        address = address_of(name)
        if on_loopback(address.hosts) and not uses_test_cluster():
            pytest.fail(
                f"--address {address.target}: to a pod"
                f" {', '.join(sorted(address.hosts))} is the pod itself; give an address that pods"
                " of this cluster reach",
                pytrace=False,
            )


@pytest.fixture
def address(server_name: str) -> Address:
    """The address."""
    return address_of(server_name)


def address_of(server_name: str) -> Address:
    server = SERVERS[server_name]
    assert issubclass(server, Elsewhere)
    return server.address


@pytest.fixture
def options(
    address: Address, kube: Kubernetes, server_options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The options by which pods reach the server."""
    if not on_loopback(address.hosts):
        yield server_options
        return
    port = port_of(address)
    report(f"e2e: connections of pods to port {port} of this machine are forwarded")
    with forwarded(kube, server_options, port) as found:
        yield found


def port_of(address: Address) -> int:
    """Return the port that a server listens on."""
    given = address.given()
    text = " ".join(f"{key}={value}" for key, value in given.items() if isinstance(value, str))
    found = re.search(r"\bport=(\d+)|:(\d+)(?![\w:])", text)
    named = found and int(found[1] or found[2])
    return int(given.get("port") or named or PORT.get(address.module, 5432))


@pytest.mark.parametrize("server_name", NAMES or [NONE])
def test_pods_insert_and_query_on_a_server_that_runs_elsewhere(
    address: Address,
    options: dict[str, Any],
    namespace: Namespace,
    line_on: Callable[[Namespace], ClusterLine],
) -> None:
    cli, target = line_on(namespace), address.target
    hidden = {f"BENCH_{name.upper()}": str(value) for name, value in options.items()}
    cli.environment.update(hidden)
    kept = {name: f"${{BENCH_{name.upper()}}}" for name in options}
    cli.write_config({target: {"module": address.module, "runner": "kubernetes", **kept}})

    size = ("--batch=1000", "--num-inserts=5000", "--workers=1,2", "--runs=1", "--verify=full")
    inserted = cli.insert(f"--target={target}", *size, within_s=150)
    assert inserted.code == 0, inserted.out + inserted.err
    queried = cli.run("query", f"--target={target}", "--workers=2", "--runs=1", within_s=120)
    assert queried.code == 0, queried.out + queried.err
    report(inserted.out + queried.out)

    insert, query = cli.results()
    for run in (*insert["runs"], *query["runs"]):
        assert run["outcome"]["verdict"]["status"] == "verified"
