"""One of three Cassandra nodes is killed under load: what a quorum has acknowledged is kept."""

from collections.abc import Callable

import pytest

from tests.integration.conftest import CommandLine
from tests.servers.cassandra import CassandraCluster
from tests.servers.restarting import restarter

pytestmark = pytest.mark.server("cassandra_cluster")


@pytest.mark.timeout(600, func_only=True)
def test_rows_of_a_killed_node_are_accounted_for(
    cli: CommandLine, own_server: Callable[..., CassandraCluster]
) -> None:
    with own_server() as server, restarter(cli.folder, server.start) as command:
        server.create_database("bench")
        for consistency in ("QUORUM", "ONE"):
            options = {**server.options("bench"), "consistency": consistency, "max_sync_calls": 1}
            cli.configure(nodes={"module": "cassandra", **options})
            victim = server._running["node3"][1].pid
            done = cli.run(
                "insert", "--target=nodes", "--workers=2", "--runs=1", "--batch=20",
                "--rate=1000", "--duration=60s", "--fault=crash-node", "--at=10s", "--for=3s",
                f"--crash-with=kill -9 {victim}", f"--restart-with={command}",
            )  # fmt: skip

            assert done.code in (0, 1), done.err + done.out
            (run,) = cli.results()[-1]["runs"]
            accounts = run["outcome"]["verdict"]["accounts"]
            assert accounts["kept"] + accounts["lost"] == run["metrics"]["rows"]
            assert (accounts["doubled"], accounts["foreign"], accounts["torn"]) == (0, 0, 0)
            assert run["outages"][0]["silent_s"] < 30
            assert run["outages"][0]["undone_s"] > run["outages"][0]["began_s"]
            assert done.code == (1 if accounts["lost"] else 0)
            if consistency == "QUORUM":
                assert accounts["lost"] == 0, done.out
            print(f"{consistency}: {accounts}, {run['outages'][0]}")
