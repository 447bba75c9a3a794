"""Databases installed by the commands of their READMEs, as they stand, and measured from pods.

On the test cluster, which has no registry, only the images differ (databases.py) and where charts
come from (vendors.py).
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.e2e.databases import DATABASES, POSTGRESQL, QUESTDB, Database
from tests.e2e.harness import ClusterLine, Kubernetes, Namespace, report, waited
from tests.e2e.installing import commands_in

KINDS = "statefulsets,pods,services,configmaps,secrets,persistentvolumeclaims"
OF_THE_CLUSTER = (
    "namespaces,crds,clusterroles,clusterrolebindings,"
    "mutatingwebhookconfigurations,validatingwebhookconfigurations"
)
"""Kinds of the objects that an operator has outside of the benchmark's namespace."""
IN_EVERY_NAMESPACE = {"configmap/kube-root-ca.crt"}


def params() -> list[ParameterSet]:
    """Return the databases; `make e2e` installs PostgreSQL only."""
    rare = {each.id: () if each == POSTGRESQL else (pytest.mark.rare,) for each in DATABASES}
    return [pytest.param(each, id=each.id, marks=rare[each.id]) for each in DATABASES]


@pytest.fixture(params=params())
def database(request: pytest.FixtureRequest) -> Database:
    """A database of dbinstall."""
    found: Database = request.param
    return found


@pytest.fixture
def shell(database: Database, namespace: Namespace, tmp_path: Path) -> Callable[[str], str]:
    """Run a README's commands in the namespace, in a copy of its folder."""
    return commands_in(namespace, database, tmp_path)


def objects_of_cluster(kube: Kubernetes) -> set[str]:
    return set(kube.kubectl("get", OF_THE_CLUSTER, "--output=name").split())


def volumes(kube: Kubernetes, namespace: str) -> list[str]:
    """Return the persistent volumes of a namespace's claims."""
    items = kube.json("persistentvolumes")["items"]
    claims = {item["metadata"]["name"]: item["spec"].get("claimRef", {}) for item in items}
    return [name for name, claim in claims.items() if claim.get("namespace") == namespace]


def test_a_database_is_installed_measured_and_removed(
    database: Database,
    namespace: Namespace,
    shell: Callable[[str], str],
    line_on: Callable[[Namespace], ClusterLine],
) -> None:
    install, remove = database.commands()
    kube, operator = namespace.kube, database.operator
    before = objects_of_cluster(kube) if operator else set()
    shell(install)
    cli = line_on(namespace)
    target = f"--target={database.target}"

    size = ("--batch=1000", "--num-inserts=5000", "--workers=1,2", "--runs=1")
    inserted = cli.insert(target, *size, *database.options, within_s=150)
    assert inserted.code == 0, inserted.out + inserted.err
    queried = cli.run("query", target, "--workers=2", "--runs=1", *database.options, within_s=90)
    assert queried.code == 0, queried.out + queried.err

    insert, query = cli.results()
    for run in (*insert["runs"], *query["runs"]):
        assert run["outcome"]["verdict"]["status"] == "verified"
    assert [run["workers"] for run in insert["runs"]] == [1, 2]
    report(inserted.out + queried.out)

    shell(remove)
    left = waited_for_removal(namespace)
    assert left <= IN_EVERY_NAMESPACE
    waited("its volumes are gone", lambda: not volumes(kube, namespace.name))
    if operator:
        left = objects_of_cluster(kube) - before
        assert [each for each in left if not operator.defines(each)] == []
        # No database of somebody else needs the definitions.
        if operator.group and not any(map(operator.defines, before)):
            shell(operator.removal())
            assert objects_of_cluster(kube) <= before


@pytest.mark.rare
@pytest.mark.parametrize("database", [pytest.param(QUESTDB, id=QUESTDB.id)])
def test_aggregates_are_kept_and_asked_while_rows_arrive(
    database: Database,
    namespace: Namespace,
    shell: Callable[[str], str],
    line_on: Callable[[Namespace], ClusterLine],
) -> None:
    install, _ = database.commands()
    shell(install)
    cli = line_on(namespace)
    options = ("--target=questdb", "--extra-option=aggregate_intervals_s=1")

    inserted = cli.insert(*options, "--num-inserts=5000", "--workers=2", "--runs=1", within_s=150)
    assert inserted.code == 0, inserted.out + inserted.err
    load = ("--fresh=10s", "--align", "--duration=10s", "--insert-rate=500", "--query-rate=5")
    mixed = cli.run("mixed", *options, *load, within_s=120)
    assert mixed.code == 0, mixed.out + mixed.err
    for run in cli.results()[-1]["runs"]:
        assert run["outcome"]["verdict"]["status"] == "verified"
        assert sum(each["rows"] for each in run["outcome"]["freshness"]) > 0
    report(inserted.out + mixed.out)


def waited_for_removal(namespace: Namespace) -> set[str]:
    """Return what is left once the pods have ended."""
    waited("its pods are gone", lambda: not namespace.json("pods")["items"], 90)
    return set(namespace.kubectl("get", KINDS, "--output=name").split())
