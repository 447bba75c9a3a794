"""A server is restarted while rows are inserted, and the benchmark is not warned: what it reports.

With `--retry-for` the run goes on; every row is accounted for, and `verify` agrees later.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import CommandLine, Wait
from tests.servers import Server

MODULES = {
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "ferretdb": "mongodb",
    "cassandra": "cassandra",
    "influxdb": "influxdb",
    "elasticsearch": "elasticsearch",
}
SLOW_S = {"cassandra": 60, "elasticsearch": 60}
"""How long the timed part lasts, where a start takes long; 12 s elsewhere."""
SERVERS = [
    pytest.param(name, marks=[] if name == "postgres" else [pytest.mark.rare]) for name in MODULES
]


@pytest.fixture
def target(
    cli: CommandLine, server: Server, server_options: dict[str, Any], server_name: str
) -> Iterator[CommandLine]:
    cli.configure(mine={"module": MODULES[server_name], **server_options})
    yield cli
    server.start()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("server_name", SERVERS)
def test_a_server_that_restarts_loses_no_acknowledged_row(
    target: CommandLine,
    server: Server,
    server_name: str,
    eventually: Wait,
) -> None:
    lasts_s = SLOW_S.get(server_name, 12)
    running = target.start(
        "insert", "--target=mine", "--workers=2", "--runs=1", "--batch=20", "--rate=400",
        f"--duration={lasts_s}s", "--retry-for=2m", "--verify=full", "--quiet",
    )  # fmt: skip

    def inserts() -> bool:
        progress = target.results() and target.results()[-1].get("in_progress")
        return bool(progress and progress["phase"] == "insert" and progress["rows"])

    for _ in range(4):  # a slow server may take that long to create its tables
        try:
            eventually(inserts)
            break
        except pytest.fail.Exception:
            continue
    time.sleep(1)
    server.restart()
    done = target.finish(running, 400)

    (result,) = target.results()
    (run,) = result["runs"]
    verdict = run["outcome"]["verdict"]
    assert verdict, done.out + done.err
    again = target.run("verify", "--target=mine", f"--output={target.output}")
    assert verdict["status"] in ("verified", "incomplete"), done.out
    assert done.code == (0 if verdict["status"] == "verified" else 1), done.out + done.err
    assert again.code == done.code, again.out
    assert run["metrics"]["rows"] > 0
