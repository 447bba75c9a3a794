"""`--resources`: what the machine, the workers and the server used, from the outside."""

from typing import Any

import pytest

from tests.integration.conftest import CommandLine
from tests.integration.test_databases import edited

LOAD = ("--workload=slim", "--workers=1", "--batch=100", "--duration=3s")


def expect_series(result: dict[str, Any], server: str) -> list[dict[str, Any]]:
    """Return the samples of the timed phases; every run has a baseline before and after it."""
    timed = []
    for run in result["runs"]:
        found = run["resources"]
        assert found["server"].startswith(server)
        seconds = dict[str, float]()
        for sample in found["samples"]:
            phase = sample["phase"]
            seconds[phase] = seconds.get(phase, 0.0) + sample["duration_s"]
            timed += [sample] if phase == result["kind"] else []
        assert 4.9 < seconds["before"] < 20
        assert 4.9 < seconds["after"] < 20
        assert seconds[result["kind"]] > 2.5
    assert sum(sample["client"]["cores"] for sample in timed) > 0
    return timed


@pytest.mark.parametrize(("server_name", "target"), [("postgres", "postgresql")])
def test_a_local_server_is_measured_with_its_children(
    cli: CommandLine, server_options: dict[str, Any], target: str
) -> None:
    cli.config = edited(target, server_options, cli)
    done = cli.run("insert", f"--target={target}", *LOAD, "--runs=1", "--resources")

    assert done.code == 0, done.err
    timed = expect_series(cli.results()[-1], "postgres, process ")
    assert max(sample["server"]["cores"] for sample in timed) > 0.02
    assert max(sample["server"]["memory_bytes"] for sample in timed) > 10 << 20
    (line,) = [line for line in done.out.splitlines() if line.startswith("resources: ")]
    assert line.startswith("resources: server postgres, process ")
    assert " at rest before; " in line
