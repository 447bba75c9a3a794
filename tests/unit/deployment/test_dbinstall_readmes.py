"""What the READMEs of dbinstall claim and command, and the settings that they depend on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.databases import DATABASES
from tests.unit.deployment.test_dbinstall import DBINSTALL, documents, one, values

FOLDERS = sorted(path for path in DBINSTALL.iterdir() if path.is_dir())
FOLDER = re.compile(r"\[([\w-]+)\]\(\1\)")
PROFILES = ("lab", "bench")
COMMAND = re.compile(r"^ {4}(.*)$", re.MULTILINE)
NOT_RUN = {("elasticsearch", "values-lab.yaml")}
"""Those that a test can install, but has not yet."""
MANIFEST = re.compile(r"(?:-f|--values|--patch-file) ([\w-]+\.yaml)")


def readme(folder: str) -> str:
    return (DBINSTALL / folder / "README.md").read_text()


def commands(folder: str) -> str:
    """Return the README's commands, one a line."""
    text = re.sub(r"\\\n\s*", "", readme(folder))
    return "\n".join(COMMAND.findall(text))


def ways() -> Iterator[tuple[str, str, list[Path], str, str]]:
    """Yield folder, way, files, profiles and check of the rows of dbinstall's table."""
    folder = ""
    table = (DBINSTALL / "README.md").read_text().partition("## Ways")[2].partition("## Rules")[0]
    for row in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)[1:]:
        database, way, files, profiles, checked = re.split(r" ?\| ", f" | {row}")[1:]
        folder = FOLDER.search(database)[1] if database else folder
        named = [{*(DBINSTALL / folder).glob(name)} for name in re.findall(r"`(.*?)`", files)]
        assert all(named), row
        yield folder, way, sorted(set.union(*named)), profiles, checked


def test_the_table_has_every_file_once_in_its_profile():
    rows = [*ways()]
    patches = {DBINSTALL / "postgresql/own-volume.yaml"}

    listed = [file for _, _, files, _, _ in rows for file in files]
    assert sorted(listed) == sorted({*DBINSTALL.glob("*/*.yaml")} - patches)
    for _, _, files, profiles, _ in rows:
        has = {"bench" if file.stem.endswith("-bench") else "lab" for file in files}
        assert {*profiles.split(", ")} == has


def test_the_table_claims_an_installation_only_where_a_test_does_it():
    claimed = set()
    for folder, _, files, _, checked in ways():
        how, _, _ = re.fullmatch(
            r"(installed|rendered|schema)( of [\d.]+)? (\d{4}-\d\d-\d\d)", checked
        ).groups()
        assert how == "installed" or (how == "rendered") == files[0].name.startswith("values-")
        claimed |= {(folder, file.name) for file in files if how == "installed"}

    installed = {(database.name, database.manifest) for database in DATABASES}
    assert claimed == installed - NOT_RUN


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_manifest_in_a_command_exists_and_every_manifest_is_used(folder):
    named = set(MANIFEST.findall(commands(folder.name)))
    named |= set(re.findall(r"# or ([\w-]+\.yaml)", commands(folder.name)))

    assert named == {path.name for path in folder.glob("*.yaml")}


@pytest.mark.parametrize("database", DATABASES, ids=lambda database: database.id)
def test_the_commands_of_an_installed_database_can_be_taken_from_its_readme(database):
    install, remove = database.commands()

    if database.has_chart:
        assert f"--values {database.manifest}" in install
        assert "helm uninstall" in remove
    else:
        assert f"kubectl apply -f {database.manifest}" in install
        assert f"kubectl delete -f {database.manifest}" in remove
    assert re.search("--wait|kubectl (rollout status|wait)", install)
    for command in re.sub(r"\\\n\s*", "", f"{install}\n{remove}").splitlines():
        assert re.match(r"(kubectl|helm|\(?openssl|umask|rm) ", command)
    assert "kubectl delete pvc" in remove or database.operator
    assert (DBINSTALL.parent / "tests/cluster/images" / database.name / "Dockerfile").is_file()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_namespace_that_an_installation_creates_is_removed(folder):
    created = re.findall(r"--namespace (\S+) --create-namespace", commands(folder.name))
    removed = re.findall(r"kubectl delete namespace (\S+)", commands(folder.name))

    assert removed == created


def test_cockroachdb_is_not_waited_for_before_its_init_job_runs():
    (install,) = (line for line in commands("cockroachdb").splitlines() if "helm upgrade" in line)

    assert "--wait" not in install
    for profile in PROFILES:
        (given,) = documents(DBINSTALL / f"cockroachdb/values-{profile}.yaml")
        assert given["tls"] == {"enabled": False, "certs": {"selfSigner": {"enabled": False}}}


def test_influxdb_3_can_write_where_it_makes_its_python_environment():
    pod = one(DBINSTALL / "influxdb/influxdb3-lab.yaml", "StatefulSet")["spec"]["template"]["spec"]
    mounts = {mount["mountPath"]: mount["name"] for mount in pod["containers"][0]["volumeMounts"]}

    assert {"name": mounts["/plugins"], "emptyDir": {}} in pod["volumes"]


@pytest.mark.parametrize("profile", PROFILES)
def test_splunk_does_not_change_the_owner_of_its_files(profile):
    path = DBINSTALL / f"splunk/statefulset-{profile}.yaml"
    (environment,) = values(documents(path), "env")

    assert {"name": "SPLUNK_HOME_OWNERSHIP_ENFORCEMENT", "value": "false"} in environment


@pytest.mark.parametrize("profile", PROFILES)
def test_carbon_creates_and_updates_files_without_a_limit(profile):
    path = DBINSTALL / f"graphite/statefulset-{profile}.yaml"
    settings = one(path, "ConfigMap")["data"]["carbon.conf"].splitlines()
    (mounts,) = values(documents(path), "volumeMounts")

    assert settings[0] == "[cache]"
    assert {"MAX_CREATES_PER_MINUTE = inf", "MAX_UPDATES_PER_SECOND = inf"} <= set(settings)
    mounted = {mount["mountPath"]: mount.get("subPath") for mount in mounts}
    assert mounted["/opt/graphite/conf/carbon.conf"] == "carbon.conf"
    assert "GRAPHITE_MAX" not in path.read_text()


def test_the_image_of_opentsdb_starts_from_exact_bases_that_the_readme_names():
    bases = re.findall(
        r"^FROM (\S+)", (DBINSTALL / "opentsdb/Dockerfile").read_text(), re.MULTILINE
    )

    assert len(bases) == 2
    for base in bases:
        assert re.search(r":\d+\.\d+\.\d+", base)
        assert f"`{base}`" in readme("opentsdb")


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("clickhouse", "--set crdHook.enabled=false"),
        ("yugabytedb", "-- /home/yugabyte/bin/ysqlsh"),
        ("cassandra", "commitlog_sync: batch\ncommitlog_sync_period: 0ms"),
    ],
)
def test_a_readme_has_what_its_database_needs(folder, text):
    assert text in commands(folder)


@pytest.mark.parametrize("profile", PROFILES)
def test_quasardbs_memory_limits_are_below_the_containers(profile):
    path = DBINSTALL / f"quasardb/statefulset-{profile}.yaml"
    (environment,) = values(documents(path), "env")
    given = {variable["name"]: variable.get("value") for variable in environment}
    (limits,) = values(documents(path), "limits")

    limit_bytes = int(limits["memory"].removesuffix("Gi")) * 2**30
    soft_bytes, hard_bytes = (int(given[f"QDB_MEMORY_LIMIT_{name}"]) for name in ("SOFT", "HARD"))
    assert soft_bytes < hard_bytes < 0.9 * limit_bytes


def test_arangodb_is_waited_for_until_its_password_is_set():
    waits = re.findall(r"--for=condition=(\w+) arangodeployment/arangodb", commands("arangodb"))

    assert waits == ["Ready", "BootstrapCompleted"]


def test_the_plain_cassandra_has_the_names_that_the_operator_gives():
    path = DBINSTALL / "cassandra/statefulset.yaml"
    targets = yaml.safe_load((DBINSTALL.parent / "config.yaml").read_text())["targets"]
    service, statefulset = one(path, "Service"), one(path, "StatefulSet")
    given = yaml.safe_load(one(path, "ConfigMap")["data"]["cassandra.yaml"])

    assert service["metadata"]["name"] == targets["cassandra_sync"]["hosts"]
    assert service["spec"]["selector"] == statefulset["spec"]["template"]["metadata"]["labels"]
    secret = targets["cassandra_sync"]["password_from"]["secret"]
    assert f"create secret generic {secret} " in commands("cassandra")
    assert (given["commitlog_sync"], given["commitlog_sync_period"]) == ("periodic", "10000ms")
