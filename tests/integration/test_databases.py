"""`check`, `insert` and `query` on the real server of every target that there is one of."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import ROOT, CommandLine
from tests.servers import SERVERS

WRITTEN = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
ALIKE = {"timescaledb", "mariadb", "mysql_myisam", "cassandra_async"}
"""What runs the code of another target here."""
SLOW = {"cassandra_sync", "elasticsearch"}
"""What takes a quarter of a minute to start; `make test` has it in the contract suite alone."""
PAIRS = [(server, target) for server, cls in SERVERS.items() for target in cls.targets]


def arguments(target: str) -> list[str]:
    """What insert has to be reported because of the database."""
    if target == "graphite":  # whole seconds of the past; the tests' server keeps those of 6 hours
        start = datetime.now(UTC) - timedelta(hours=2)
        return ["--tick-ms=1000", f"--start-time={start:%Y-%m-%dT%H:%M:%S}", "--num-inserts=500"]
    return ["--num-inserts=5000"] if target == "opentsdb" else ["--num-inserts=20000"]


def edited(target: str, options: dict[str, Any], cli: CommandLine) -> Path:
    """Write a config.yaml as a user would edit it for another server, with its secrets outside."""
    own = {key: value for key, value in WRITTEN[target].items() if not key.endswith("_from")}
    if not {"password", "token"} & options.keys():
        own.pop("username", None)
    for name, value in options.items():
        own[name] = f"${{BENCH_{name.upper()}}}"
        cli.environment[f"BENCH_{name.upper()}"] = str(value)
    path = cli.folder / "config.yaml"
    path.write_text(yaml.safe_dump({"targets": {target: {**own, "runner": "local"}}}))
    return path


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("server_name", "target"),
    [
        pytest.param(
            server, target, id=f"{server}-{target}",
            marks=[pytest.mark.rare] if target in ALIKE | SLOW else [],
        )
        for server, target in PAIRS
    ],
)  # fmt: skip
def test_insert_and_query_are_verified(
    cli: CommandLine, server_options: dict[str, Any], target: str
) -> None:
    cli.config = edited(target, server_options, cli)
    checked = cli.run("check", f"--target={target}")
    inserted = cli.run(
        "insert", f"--target={target}", "--workers=1,2", "--runs=1", "--batch=100", "--quiet",
        *arguments(target),
    )  # fmt: skip
    asked = cli.run("query", f"--target={target}", "--runs=1", "--quiet")

    assert checked.code == 0, checked.err
    assert inserted.code == 0, inserted.err
    assert asked.code == 0, asked.err
    insert, query = cli.results()
    (version,) = {run["outcome"]["server"]["version"] for run in insert["runs"] + query["runs"]}
    assert f"reached       {version}, " in checked.out
    assert [run["outcome"]["verdict"]["status"] for run in insert["runs"]] == ["verified"] * 2
    (run,) = query["runs"]
    answered = {answer["name"]: answer["verdict"]["status"] for answer in run["outcome"]["queries"]}
    assert set(answered.values()) == {"verified"}
    for secret in ("password", "token"):
        if value := server_options.get(secret):
            assert value not in "".join(path.read_text() for path in cli.output.glob("*.json"))
            assert value not in checked.out + inserted.err + asked.err
