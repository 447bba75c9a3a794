"""The commands that install a database: of a plan, or of a README in dbinstall."""

import re
from pathlib import Path

import pytest

from iotbench.config.targets.config import Target
from iotbench.machine.program import find_shipped
from iotbench.plans.installing import Installation, format_shown, groups_of, installations_of
from iotbench.plans.items import items_of
from iotbench.plans.plan import read_plan
from simulator.errors import ConfigError
from simulator.modules.postgres.database import PostgresOptions
from tests.unit.plans.made import pairs_of, plan_of, target

UNATTENDED = ["arangodb", "cassandra/StatefulSet", "cassandra/cass-operator", "cockroachdb",
              "cratedb", "elasticsearch",
              "influxdb/InfluxDB 1.8", "influxdb/InfluxDB 3 Core", "mariadb/Chart",
              "mariadb/StatefulSet", "mongodb", "mysql/Chart", "mysql/StatefulSet",
              "postgresql/CloudNativePG", "postgresql/StatefulSet",
              "quasardb", "questdb/Chart", "questdb/StatefulSet", "timescaledb",
              "victoriametrics/Chart", "victoriametrics/StatefulSet", "yugabytedb"]  # fmt: skip


def plan_on(*targets):
    return plan_of("bulk", "more", targets=targets, repeats=2)


def installed(**fields):
    (found,) = installations_of(plan_on({"name": "db", **fields})).values()
    return found


def refused(**fields):
    with pytest.raises(ConfigError) as error:
        installed(**fields)
    return str(error.value)


def test_commands_of_a_readme_are_run_in_its_folder():
    found = installed(install="postgresql/StatefulSet")

    assert found.folder == find_shipped("dbinstall") / "postgresql"
    assert found.install[0] == (
        r"openssl rand -hex 24 | tr -d '\n' | kubectl create secret generic postgres-app"
        " --type=kubernetes.io/basic-auth --from-literal=username=app --from-literal=dbname=app"
        " --from-file=password=/dev/stdin"
    )
    assert found.install[1:] == (
        "kubectl apply -f statefulset.yaml",
        "kubectl rollout status statefulset/postgres --timeout=5m",
        "kubectl exec postgres-0 -- psql -U app -d app -c 'SELECT version()'",
    )
    assert found.remove == (
        "kubectl delete -f statefulset.yaml",
        "kubectl delete pvc -l app.kubernetes.io/instance=postgres",
        "kubectl delete secret postgres-app",
    )
    assert "or statefulset-bench.yaml" not in format_shown([installed(install="timescaledb")])


def test_what_would_be_removed_can_be_listed_first():
    assert installed(install="postgresql/StatefulSet").looks == (
        "kubectl get -f statefulset.yaml --ignore-not-found --output=name",
        "kubectl get pvc -l app.kubernetes.io/instance=postgres --ignore-not-found --output=name",
        "kubectl get secret postgres-app --ignore-not-found --output=name",
    )
    assert installed(install="postgresql/CloudNativePG").looks[1:] == (
        "helm list --all --short '--filter=^cnpg$' --namespace cnpg-system",
        "kubectl get namespace cnpg-system --ignore-not-found --output=name",
    )
    own = ["kubectl delete pod a --wait=false --timeout=9s", "rm -r data", "kubectl delete $WHAT",
           "helm uninstall b --wait --timeout=9s"]  # fmt: skip
    assert installed(install=["true"], remove=own).looks == (
        "kubectl get pod a --ignore-not-found --output=name",
        "helm list --all --short '--filter=^b$'",
    )


@pytest.mark.parametrize("name", UNATTENDED)
def test_every_command_that_removes_a_database_of_a_readme_can_be_looked_up(name):
    found = installed(install=name)

    assert len(found.looks) == len(found.remove)


def test_only_commands_that_can_run_unattended_are_run():
    names = []
    for path in find_shipped("dbinstall").glob("*/README.md"):
        titles = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
        names += [path.parent.name, *(f"{path.parent.name}/{title}" for title in titles)]

    def runs(name):
        try:
            return bool(installed(install=name))
        except ConfigError:
            return False

    run = {name for name in names if runs(name)}
    # A folder with one section needs no section's name.
    assert sorted(run - {name for name in run if name.split("/")[0] in run - {name}}) == UNATTENDED


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"install": "questbd"}, "did you mean 'questdb'?"),
        ({"install": "postgresql"}, "postgresql/CloudNativePG, postgresql/StatefulSet"),
        ({"install": "postgresql/Helm"}, "expected one of postgresql/CloudNativePG"),
        ({"install": "splunk"}, "--accept-license"),
        ({"install": "influxdb/Chart of InfluxDB 2"}, "`umask 077; openssl rand -hex 24"),
        ({"install": "opentsdb/Profile lab"}, "port-forward"),
        ({"install": "questdb", "remove": ["rm x"]}, "remove: the README"),
        ({"install": ["mkdir x"]}, "targets.db.remove: is missing"),
        ({"remove": ["rm x"]}, "targets.db.remove: needs `install:`"),
    ],
)
def test_what_cannot_be_installed_or_removed_is_refused(fields, text):
    assert text in refused(**fields)


def test_all_problems_are_named_at_once():
    plan = plan_on({"name": "a", "install": "x"}, {"name": "b", "remove": []}, "c")

    with pytest.raises(ConfigError) as error:
        installations_of(plan)
    assert len(error.value.problems) == 2


def test_targets_are_names_or_mappings_and_each_is_named_once(tmp_path):
    file = tmp_path / "plan.yaml"
    text = "{name: p, targets: [%s], settings: [{name: s, insert: {workload: iot}}]}"
    file.write_text(text % "one, {name: two, install: [a], remove: []}")
    assert read_plan(file).target_names == ("one", "two")

    for targets, problem in (("one, one", "targets.one: is named 2 times"),
                             ("{name: one, instal: x}", "unknown key (did you mean 'install'?)"),
                             ("{install: x}", "name: ")):  # fmt: skip
        file.write_text(text % targets)
        with pytest.raises(ConfigError) as error:
            read_plan(file)
        assert problem in str(error.value)


def test_a_target_that_is_installed_is_measured_alone_with_all_its_repeats():
    plan = plan_on(*"abcde")
    pairs = pairs_of(plan, *map(target, "abcde"))
    one = Installation("c", ("x",), (), Path())
    groups = groups_of(pairs, {"c": one, "d": one})

    assert ["".join(dict.fromkeys(pair.target.name for pair in group)) for group in groups] == [
        "ab", "c", "d", "e"
    ]  # fmt: skip
    order = [(item.target.name, item.repeat) for group in groups for item in items_of(plan, group)]
    assert [each for each in order if each[0] == "c"] == [("c", 1)] * 2 + [("c", 2)] * 2
    places = [number for number, (name, _) in enumerate(order) if name == "c"]
    assert places == list(range(places[0], places[0] + 4))
    assert groups_of(pairs, {}) == [pairs]


def test_credentials_of_the_target_are_not_shown():
    options = PostgresOptions(connection_string="host=h password=s3cret-word")
    pg = Target("pg", "postgres", "local", options, {})
    found = Installation("pg", ("createuser s3cret-word",), ("drop s3cret-word",), Path())

    assert "s3cret-word" not in format_shown([found.redact([pg])])
    assert format_shown([found.redact([pg])]).count("***") == 2
