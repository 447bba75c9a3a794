"""`insert` and `query` from pods on servers that run elsewhere: `--address TARGET=URL`."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.harness import ClusterLine, Kubernetes, Namespace, report
from tests.e2e.installing import forwarded, on_loopback
from tests.servers import SERVERS
from tests.servers.elsewhere import Elsewhere

NAMES = [name for name, server in SERVERS.items() if issubclass(server, Elsewhere)]
NONE = pytest.param("", marks=pytest.mark.skip(reason="needs --address TARGET=URL"))


@pytest.fixture
def options(kube: Kubernetes, server_options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The options by which pods reach the server."""
    if not on_loopback(server_options):
        yield server_options
    elif not kube.own:
        pytest.fail("to a pod 127.0.0.1 is the pod itself: give an address that pods reach")
    else:
        with forwarded(kube, server_options) as found:
            yield found


@pytest.mark.parametrize("server_name", NAMES or [NONE])
def test_pods_insert_and_query_on_a_server_that_runs_elsewhere(
    server_name: str,
    options: dict[str, Any],
    namespace: Namespace,
    line_on: Callable[[Namespace], ClusterLine],
) -> None:
    server = SERVERS[server_name]
    assert issubclass(server, Elsewhere)
    cli, target = line_on(namespace), server.address.target
    hidden = {f"BENCH_{name.upper()}": str(value) for name, value in options.items()}
    cli.environment.update(hidden)
    kept = {name: f"${{BENCH_{name.upper()}}}" for name in options}
    cli.write_config({target: {"module": server.address.module, "runner": "kubernetes", **kept}})

    size = ("--batch=1000", "--num-inserts=5000", "--workers=1,2", "--runs=1", "--verify=full")
    inserted = cli.insert(f"--target={target}", *size, within_s=150)
    assert inserted.code == 0, inserted.out + inserted.err
    queried = cli.run("query", f"--target={target}", "--workers=2", "--runs=1", within_s=120)
    assert queried.code == 0, queried.out + queried.err
    report(inserted.out + queried.out)

    insert, query = cli.results()
    for run in (*insert["runs"], *query["runs"]):
        assert run["outcome"]["verdict"]["status"] == "verified"
