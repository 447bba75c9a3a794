"""A database node is lost, and a replica with all acknowledged rows, or fewer, takes its place."""

import pytest

from tests.integration.conftest import POSTGRES, CommandLine, Wait, rows
from tests.servers import Postgres
from tests.servers.postgres import Standby
from tests.servers.restarting import restarter

pytestmark = pytest.mark.server("postgres")

STEADY = (*POSTGRES, "--workers=2", "--runs=1", "--batch=20", "--rate=2000", "--duration=7s")


@pytest.mark.parametrize(
    "replica", ["asynchronous", pytest.param("synchronous", marks=pytest.mark.rare)]
)
def test_what_a_replica_did_not_receive_is_lost_in_a_failover(
    cli: CommandLine, replica: str, eventually: Wait
) -> None:
    """The server says whether commits wait for a replica, and the rows show whether it is so."""
    waits = replica == "synchronous"
    with Postgres(**({"synchronous_standby_names": "*"} if waits else {})) as primary:
        primary.execute("SET synchronous_commit = local", "CREATE DATABASE bench")
        with Standby(primary) as standby:
            ports = f"{primary.port()},{standby.port()}"
            cli.environment["BENCH_POSTGRES"] = (
                f"host=127.0.0.1,127.0.0.1 port={ports} dbname=bench user=bench"
                f" password={primary.password} target_session_attrs=read-write"
            )
            (crashing := cli.folder / "crashing").mkdir()
            with (
                restarter(crashing, primary.kill) as crash,
                restarter(cli.folder, standby.promote) as promote,
            ):
                running = cli.start(
                    "insert", *STEADY, "--fault=crash-node", "--at=3s", "--for=500ms",
                    f"--crash-with={crash}", f"--restart-with={promote}",
                )  # fmt: skip
                if not waits:
                    exists = "SELECT to_regclass('events') IS NOT NULL"
                    eventually(lambda: rows(standby, "bench", exists)[0][0])
                    standby.fall_behind()
                done = cli.finish(running)
                stored = rows(standby, "bench", "SELECT count(*) FROM events")[0][0]

    (run,) = cli.results()[-1]["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] + accounts["lost"] == run["metrics"]["rows"]
    assert accounts["kept"] + accounts["present"] == stored
    assert (accounts["doubled"], accounts["foreign"]) == (0, 0)
    server = run["outcome"]["server"]
    assert (server["nodes"], server["durable"]) == (2, True)
    assert server["survives_failover"] is waits
    assert run["outages"][0]["silent_s"] > 0.4
    if waits:
        assert (done.code, accounts["lost"]) == (0, 0), done.err + done.out
    else:
        assert done.code == 1, done.err + done.out
        assert accounts["lost"] > 500
        assert "a failover loses what its 1 asynchronous replica did not receive" in done.out
        assert f"{accounts['lost']:,} rows acknowledged, and lost as the server" in done.out
