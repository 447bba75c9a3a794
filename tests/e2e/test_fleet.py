"""Workload `devops` from pods: workers share the rows of a fleet, and ask about random hosts.

A database is installed in the cluster, or runs on the machine of the test cluster, which to the
pods is outside of the cluster. One that is a file is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.e2e.databases import DATABASES, POSTGRESQL
from tests.e2e.harness import ClusterLine, Kubernetes, Namespace, report
from tests.e2e.installing import commands_in, outside

HOSTS, MINUTES, TABLES = 10, 25 * 60, 9
FLEET = (
    "--workload=devops",
    f"--scale={HOSTS}",
    "--start=2026-06-01",
    "--end=2026-06-02T01:00:00Z",
    "--interval=60s",
)
TYPES = ("1-host-1-hr", "2-host-1-hr", "4-host-1-hr", "8-host-1-hr", "1-host-12-hr", "groupby")
"""Those of which ten hosts and a day have instances."""
INSIDE = {each.name: each for each in DATABASES if each.name in ("postgresql", "cassandra")}
OUTSIDE = ("timescaledb", "influxdb", "elasticsearch")
"""Names of modules, and of servers in tests.servers."""
Reached = tuple[ClusterLine, Sequence[str]]


def params() -> list[ParameterSet]:
    """Return the databases; `make e2e` uses PostgreSQL only."""
    rare = (name for name in (*INSIDE, *OUTSIDE) if name != POSTGRESQL.name)
    return [
        pytest.param(POSTGRESQL.name),
        *(pytest.param(name, marks=pytest.mark.rare) for name in rare),
    ]


@pytest.fixture(params=params())
def reached(
    request: pytest.FixtureRequest,
    kube: Kubernetes,
    line_on: Callable[[Namespace], ClusterLine],
    tmp_path: Path,
) -> Iterator[Reached]:
    """A command line, and the words that name a database which its pods reach."""
    name: str = request.param
    if name == POSTGRESQL.name:
        yield line_on(request.getfixturevalue("bench")), (f"--target={POSTGRESQL.target}",)
        return
    line = line_on(request.getfixturevalue("namespace"))
    if name in INSIDE:
        install, _ = INSIDE[name].commands()
        commands_in(line.namespace, INSIDE[name], tmp_path)(install)
        yield line, (f"--target={INSIDE[name].target}", *INSIDE[name].options)
        return
    if not kube.own:
        pytest.skip("only on the test cluster, whose pods reach this machine")
    with outside(kube, name) as options:
        line.write_config({name: {"module": name, "runner": "kubernetes", **options}})
        yield line, (f"--target={name}",)


@pytest.mark.timeout(800, func_only=True)
def test_a_fleet_of_hosts_is_shared_by_the_workers(reached: Reached) -> None:
    cli, target = reached
    words = ("--workers=2", "--runs=1", "--batch=1000", "--verify=full")
    done = cli.insert(*target, *FLEET, *words, within_s=350)
    assert done.code == 0, done.out + done.err
    asked = cli.run("query", *target, "--workers=1,2", "--count=10", within_s=390)
    assert asked.code == 0, asked.out + asked.err
    report(done.out + asked.out)

    inserted, queried = cli.results()
    runs = [*inserted["runs"], *queried["runs"]]
    assert [run["outcome"]["verdict"]["status"] for run in runs] == ["verified"] * 3
    assert inserted["manifest"]["rows"] == TABLES * HOSTS * MINUTES
    assert all(report["rows"] for report in inserted["runs"][0]["outcome"]["workers"])
    for run, workers in zip(queried["runs"], (1, 2), strict=True):
        answers = {each["name"]: each["answers"] for each in run["outcome"]["queries"]}
        assert {name: answers[name] for name in TYPES} == dict.fromkeys(TYPES, 10 + workers)


@pytest.mark.parametrize("target", ["sqlite", "clickhouse_embedded"])
def test_a_database_that_is_a_file_is_refused(empty: ClusterLine, target: str) -> None:
    done = empty.insert(f"--target={target}", "--runner=kubernetes", *FLEET)
    refused = "stores its data in a file on one machine, which pods do not share"
    assert done.code == 2
    assert done.err.endswith(f"targets.{target}: module {target} {refused}: use --runner local\n")
