"""Every workload on real servers, a relational, a time-series and a document database at least.

On SQLite they are tried by test_fleet, test_trucks and test_shapes.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from simulator.data.workloads import GENERATORS
from tests.integration.conftest import CommandLine
from tests.integration.test_databases import PAIRS, edited

SERVER_OF = {target: server for server, target in reversed(PAIRS)}
"""Target -> the first server that it can be tried on."""
HOURS_25 = ("--end=2026-06-02T01:00:00Z", "--interval=120s")
RELATIONAL, TIME_SERIES, DOCUMENTS = (
    {"postgresql", "mysql_innodb", "mysql_myisam"},
    {"timescaledb", "influxdb", "questdb"},
    {"mongodb", "elasticsearch"},
)
OFTEN = {("postgresql", name) for name in ("iot", "devops", "light", "metaquery")}
"""They run in `make test`; the others in `make test-all`."""


@dataclass(frozen=True)
class Load:
    """A workload at a size for tests."""

    options: tuple[str, ...]
    targets: tuple[str, ...]
    queries: int
    rows: int | None = None


def _keyless(queries: int, *more: str) -> Load:
    targets = ("postgresql", "mysql_innodb", "mysql_myisam", "questdb", "mongodb", "elasticsearch")
    return Load(("--num-inserts=3000",), (*targets, *more), queries)


LOADS = {
    "iot": Load(("--num-inserts=3000",), ("postgresql", "influxdb", "mongodb"), 5),
    "devops": Load(
        ("--scale=4", "--end=2026-06-01T01:00:00Z"),
        ("postgresql", "timescaledb", "influxdb", "elasticsearch", "cassandra_async"),
        18,
        9 * 4 * 360,
    ),
    "dashboard": Load(
        ("--scale=12", "--end=2026-06-01T01:10:00Z", "--interval=30s"),
        ("postgresql", "timescaledb", "influxdb", "elasticsearch"),
        14 + 11,
        11 * 12 * 140,
    ),
    "metaquery": Load(
        ("--cardinality=1500",),
        ("postgresql", "influxdb", "mongodb", "elasticsearch", "cassandra_async"),
        10,
        49**2,
    ),
    "multi-measurement": Load(
        (),
        (
            "postgresql",
            "mysql_innodb",
            "timescaledb",
            "influxdb",
            "questdb",
            "mongodb",
            "elasticsearch",
        ),
        2,
        50 * 50,
    ),
    "cpu": Load(
        ("--scale=9", *HOURS_25), ("postgresql", "influxdb", "mongodb", "elasticsearch"), 16
    ),
    "homes": Load(
        ("--scale=3", "--end=2026-06-01T13:00:00Z", "--interval=30m"),
        ("postgresql", "influxdb", "mongodb", "elasticsearch"),
        46,
        166 * 26 + 9,
    ),
    "trucks": Load(
        ("--scale=8", "--initial-scale=3", *HOURS_25),
        ("postgresql", "influxdb", "mongodb", "elasticsearch"),
        6,
    ),
    "ohlcv": Load(
        ("--years=0.1", "--symbols=2"),
        ("postgresql", "mysql_innodb", "influxdb", "mongodb", "elasticsearch"),
        6,
        2 * 27 * 390,
    ),
    "slim": _keyless(2, "victoriametrics"),
    "light": _keyless(2),
    "large": _keyless(2),
}


def _tried() -> list[Any]:
    return [
        pytest.param(
            server,
            target,
            workload,
            id=f"{server}-{target}-{workload}",
            marks=[] if (target, workload) in OFTEN else [pytest.mark.rare],
        )
        for workload, load in LOADS.items()
        for target, server in SERVER_OF.items()
        if target in load.targets
    ]


def test_every_workload_is_tried_on_a_database_of_each_kind() -> None:
    assert {*LOADS} == {*GENERATORS}
    for workload, load in LOADS.items():
        for kind in (RELATIONAL, TIME_SERIES, DOCUMENTS):
            assert kind & {*load.targets}, workload


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("server_name", "target", "workload"), _tried())
def test_a_workload_is_inserted_and_queried_and_verified_in_full(
    cli: CommandLine, server_options: dict[str, Any], target: str, workload: str
) -> None:
    cli.config = edited(target, server_options, cli)
    load = LOADS[workload]
    inserted = cli.run(
        "insert", f"--target={target}", f"--workload={workload}", "--start=2026-06-01",
        *load.options, "--workers=3", "--runs=1", "--batch=100", "--verify=full", "--quiet",
    )  # fmt: skip
    asked = cli.run("query", f"--target={target}", "--workers=2", "--count=3", "--quiet")

    assert inserted.code == 0, inserted.err
    assert asked.code == 0, asked.err
    insert, query = cli.results()
    assert load.rows in (None, insert["manifest"]["rows"])
    assert [run["outcome"]["verdict"]["status"] for run in insert["runs"]] == ["verified"]
    answers = {each["name"]: each["verdict"] for each in query["runs"][0]["outcome"]["queries"]}
    assert len(answers) == load.queries
    assert {verdict["status"] for verdict in answers.values()} == {"verified"}
