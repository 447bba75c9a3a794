"""The twelve commands of document 1, in its words, with the targets of its config.yaml.

Ten inserts are the rows of its table of best results, with fewer workers and rows; a reader of the
document changes only the addresses and credentials in config.yaml. Where the database is not here,
a stand-in takes its place. `tests/unit/config/targets/test_names.py` has the keys that cannot be
taken, and their answers.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.integration.conftest import CommandLine
from tests.standins.arango import SyntheticArango
from tests.standins.relatives import YB_SERVERS
from tests.standins.web import Web

WRITTEN = yaml.safe_load((ROOT / "tests/files/original-config.yaml").read_text())["targets"]
THERE = {"url": "endpoint", "hosts": "contact_points"}
"""Our option with an address -> the original's."""
RELATIVES = {
    "cockroachdb": "tests.standins.relatives:CockroachdbOnPostgres",
    "yugabyte_sql": "tests.standins.relatives:YugabyteSqlOnPostgres",
}
SMALL = ("-w", "2", "-r", "1", "--num-inserts", "2000")
VALUES = ("--extra-option", "use_values_lists=true")
INSERTS = {  # target -> the server here, and the mode in the table of best results
    "postgresql": ("postgres", "--batch", "1000", "--primary-key", "sql"),
    "cockroachdb": ("postgres", "--batch", "1000", "--primary-key", "db", *VALUES),
    "yugabyte_sql": ("postgres", "--batch", "1000", "--primary-key", "sql"),
    "yugabyte_cql": ("cassandra", "--batch", "1000"),
    "cassandra_sync": ("cassandra", "--batch", "1000"),
    "cassandra_async": ("cassandra", "--batch", "1000"),
    "influxdb": ("influxdb", "--batch", "1000"),
    "timescaledb": ("timescaledb", "--batch", "1000", "--primary-key", "none"),
    "elasticsearch": ("elasticsearch", "--batch", "10000", "--primary-key", "db"),
}
SLOW = ("cassandra", "elasticsearch")
"""Servers that take a quarter of a minute to start."""


def configure(cli: CommandLine, target: str, **changes: Any) -> None:
    """Write the original's entry of a target with the addresses and credentials of a server."""
    changed = {THERE.get(name, name): value for name, value in changes.items()}
    if "connection_string" in changed:
        changed["connection_string"] += f" password={changed.pop('password')}"
    entry = {**WRITTEN[target], **changed, "runner": "local"}
    if target in RELATIVES:
        entry["module"] = RELATIVES[target]
        cli.environment["PYTHONPATH"] = str(ROOT)
    cli.config = Path(cli.folder / "config.yaml")
    cli.config.write_text(yaml.safe_dump({"targets": {target: entry}, "namespace": "default"}))


def insert(cli: CommandLine, target: str, *words: str) -> None:
    done = cli.run("insert", "--target", target, *SMALL, *words)

    assert done.code == 0, done.err
    (result,) = cli.results()
    assert [run["outcome"]["verdict"]["status"] for run in result["runs"]] == ["verified"]


@pytest.mark.parametrize(
    ("server_name", "target"),
    [
        pytest.param(server, target, marks=[pytest.mark.rare] if server in SLOW else [])
        for target, (server, *_) in INSERTS.items()
    ],
)
def test_an_insert_of_the_table_of_results_is_verified(
    cli: CommandLine, server: Any, server_database: str, server_options: Any, target: str
) -> None:
    if target == "yugabyte_sql":
        server.execute(YB_SERVERS, database=server_database)
    configure(cli, target, **server_options)

    insert(cli, target, *INSERTS[target][1:])


def test_the_insert_into_arangodb_is_verified_with_its_extra_options(
    cli: CommandLine,
) -> None:
    own = ("replication_factor=3", "shard_count=3", "sync=true", "documents=true")
    options = [word for option in own for word in ("--extra-option", option)]
    with Web(SyntheticArango()) as web:
        configure(cli, "arangodb", url=web.url)

        insert(cli, "arangodb", "--batch", "1000", "--primary-key", "db", *options)
        assert sum("/_api/document/events?" in each.path for each in web.requests) == 4


EXAMPLE = (
    "--target", "postgresql", "-w", "2", "-r", "1", "--num-inserts", "1000", "--batch", "1000",
    "--steps", "3", *VALUES,
)  # fmt: skip
"""Words of the document, which name no command."""


@pytest.mark.server("postgres")
def test_the_example_of_fill_levels_prints_its_table(
    cli: CommandLine, server_options: dict[str, Any]
) -> None:
    configure(cli, "postgresql", **server_options)
    refused = cli.run(*EXAMPLE)
    done = cli.run("insert", *EXAMPLE)

    assert refused.code == 2
    assert "did you mean `python run.py insert --target ...`?" in refused.err
    assert done.code == 0, done.err
    first, *rows = done.out.splitlines()
    assert first == "Stepsize: 2000"
    levels = [row.split()[0].replace(",", "") for row in rows if row.strip()]
    assert [level for level in levels if level in ("0", "2000", "4000")] == ["0", "2000", "4000"]


@pytest.mark.server("postgres")
def test_the_queries_follow_an_insert(cli: CommandLine, server_options: dict[str, Any]) -> None:
    configure(cli, "postgresql", **server_options)
    insert(cli, "postgresql", "--batch", "1000")
    create = ("--extra-option", "create_indices=true")
    done = cli.run("query", "--target", "postgresql", "--workers", "2", "--runs", "3", *create)

    assert done.code == 0, done.err
    for name in (
        "count-events", "temperature-min-max", "temperature-stats",
        "temperature-stats-per-device", "newest-per-device",
    ):  # fmt: skip
        assert name in done.out
