import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.chart.harness import mappings

DBINSTALL = ROOT / "dbinstall"
FILES = sorted(DBINSTALL.glob("*/*.yaml"))
POSTGRESQL = DBINSTALL / "postgresql"
STATEFULSET = POSTGRESQL / "statefulset.yaml"
PROFILED = [
    (path, path.with_name(path.name.replace("-lab", "-bench")))
    for path in FILES
    if path.name.replace("-lab", "-bench") in {f.name for f in path.parent.glob("*-bench.yaml")}
    and "-lab" in path.name
]
"""The files of both profiles of a way to install a database."""
CLASSES = {"storageClass", "storageClassName", "className"}
ONE_CLASS = r"(?:storageClass|storageClassName|className): (?:(?:&class )?null|fast) #"
SIZES = ("accessModes", "requestedSize", "size")
CLAIMED = {list, str}
"""Keys of a mapping that asks for a volume, and the types of their values."""
CHARTED = [
    *((name, "{}", ()) for name in ("influxdb", "questdb", "victoriametrics", "mariadb")),
    *((name, "{}", ()) for name in ("mysql_innodb", "mysql_myisam", "opensearch")),
    ("clickhouse", "clickhouse-{}", ()),
    ("postgresql", "{}-rw", ("{}-app",)),
    ("elasticsearch", "{}-es-http", ("{}-es-elastic-user", "{}-es-http-certs-public")),
]
"""Targets, with the Service and the Secrets that a chart or its operator makes."""
TARGETS = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
IMAGES = {"image", "imageName", "serverImage", "Image"}
HAS_EXACT_TAG = re.compile(r"^[^/]+\.[^/]+/.+:v?\d+\.\d+[^:/]*$")


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def one(path: Path, kind: str) -> dict[str, Any]:
    [found] = [document for document in documents(path) if document.get("kind") == kind]
    return found


def values(node: Any, *keys: str) -> list[Any]:
    """All values of these keys, at any depth."""
    if isinstance(node, dict):
        found = [value for key, value in node.items() if key in keys]
        return found + [each for value in node.values() for each in values(value, *keys)]
    if isinstance(node, list):
        return [each for value in node for each in values(value, *keys)]
    return []


def images(path: Path) -> list[str]:
    """Images of manifests, and of charts' values, which split them into several keys."""
    found = []
    for _, node in mappings(documents(path)):
        for key in IMAGES & node.keys():
            image = node[key] if isinstance(node[key], dict) else {**node, "repository": node[key]}
            parts = [image.get("registry"), image["repository"]]
            tag = [str(image["tag"])] if "tag" in image else []
            found.append(":".join(["/".join(filter(None, parts)), *tag]))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_image_has_its_registry_and_an_exact_tag_that_the_readme_names(path):
    readme = (path.parent / "README.md").read_text()

    assert images(path)
    assert [image for image in images(path) if not HAS_EXACT_TAG.match(image)] == []
    assert [image for image in images(path) if image not in readme] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_manifest_holds_a_credential(path):
    assert [one for one in documents(path) if one.get("kind") == "Secret"] == []
    assert [value for value in values(documents(path), "value") if "pass" in str(value)] == []


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name != "own-volume.yaml"],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_databases_select_nodes_of_their_own(path):
    selectors = values(documents(path), "nodeSelector")
    assert selectors
    assert all(selector == {"workload": "db"} for selector in selectors)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_tolerations_and_storage_class_are_one_value_of_every_file(path):
    text, given = path.read_text(), documents(path)
    tolerations, classes = values(given, "tolerations"), values(given, *CLASSES)
    claims = [node for _, node in mappings(given) if CLAIMED & {*map(type, map(node.get, SIZES))}]

    assert len(tolerations) >= len(values(given, "nodeSelector"))
    assert [each for each in tolerations if each != [{"key": "workload", "value": "db"}]] == []
    assert text.count("{key: workload, value: db}") == bool(tolerations)
    assert len(re.findall(ONE_CLASS, text)) == bool(claims)
    assert classes == [None] * (0 if "# storageClassName: fast" in text else len(claims))


@pytest.mark.parametrize("profile", ["lab", "bench"])
@pytest.mark.parametrize(("name", "service", "made"), CHARTED, ids=str)
def test_a_target_fits_the_service_and_the_secrets_of_a_chart(name, service, made, profile):
    given = documents(DBINSTALL / name.split("_")[0] / f"values-{profile}.yaml")
    (release,) = values(given, "fullnameOverride")
    assert {*values(given, "masterService")} <= {release}  # of OpenSearch
    target = TARGETS[name]
    (address,) = (target[key] for key in ("url", "host", "connection_string") if key in target)
    taken = {value["secret"] for key, value in target.items() if key.endswith("_from")}

    assert ADDRESS.search(address)[1] == service.format(release)
    named = {each for _, node in mappings(given) for each in node.values() if isinstance(each, str)}
    assert taken - {each.format(release) for each in made} <= named


def test_an_instance_of_postgresql_has_a_node_for_itself():
    (cluster,) = values(documents(POSTGRESQL / "values-bench.yaml"), "cluster")

    assert cluster["instances"] == 1
    assert cluster["affinity"]["podAntiAffinityType"] == "required"


def test_durability_settings_of_postgresql_are_its_defaults():
    weaker = {"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method"}

    for profile in ("lab", "bench"):
        (parameters,) = values(documents(POSTGRESQL / f"values-{profile}.yaml"), "parameters")
        assert not weaker & set(parameters)
    [arguments] = values(documents(STATEFULSET), "args")
    assert not [word for word in arguments if word.split("=")[0] in weaker]


@pytest.mark.parametrize(
    ("lab", "bench"), PROFILED, ids=[f"{lab.parent.name}-{lab.name}" for lab, _ in PROFILED]
)
def test_a_lab_and_a_bench_profile_have_the_same_images_and_the_documents_size(lab, bench):
    assert {*images(lab)} <= {*images(bench)}
    limits = values(documents(bench), "limits")
    requests = values(documents(bench), "requests")
    assert {"cpu": "8", "memory": "10Gi"} in limits
    assert limits == [each for each in requests if "storage" not in each]


STATEFULSETS = [path for path in FILES if path.name.startswith("statefulset")]
ADDRESS = re.compile(r"(?:://|\bhost=|^)([a-z][a-z0-9-]*)(?::(\d+)|\s|$)")
"""The service in an option of a target, and its port if it has one."""


@pytest.mark.parametrize("path", STATEFULSETS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_services_select_the_pods_of_the_statefulset(path):
    statefulset = one(path, "StatefulSet")
    services = [document for document in documents(path) if document["kind"] == "Service"]
    labels = statefulset["spec"]["template"]["metadata"]["labels"]

    assert [service["spec"]["selector"] for service in services] == [labels] * len(services)
    assert statefulset["spec"]["serviceName"] in [s["metadata"]["name"] for s in services]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param(name, path, id=f"{name}-{path.stem}")
        for name in ("timescaledb", "cratedb", "questdb", "victoriametrics", "quasardb", "mariadb",
                     "splunk", "iotdb", "mysql_innodb", "mysql_myisam", "influxdb")
        for path in (DBINSTALL / name.split("_")[0]).glob("statefulset*.yaml")
    ],
)  # fmt: skip
def test_a_target_fits_the_services_and_secrets_of_a_statefulset(name, path):
    services = {
        document["metadata"]["name"]: values(document, "port")
        for document in documents(path)
        if document["kind"] == "Service"
    }
    secrets = {(each["name"], each["key"]) for each in values(documents(path), "secretKeyRef")}
    target = TARGETS[name]
    reach = [target[key] for key in ("url", "uri", "host", "connection_string", "search_url")
             if key in target]  # fmt: skip
    addresses = [ADDRESS.search(text).groups() for text in reach]

    assert addresses
    for service, port in addresses:
        assert service in services
        assert port is None or int(port) in services[service]
    taken = [value for key, value in target.items() if key.endswith("_from")]
    assert {each["secret"] for each in taken} == {secret for secret, _ in secrets}
    assert [each for each in taken if (each["secret"], each["key"]) not in secrets] == []


@pytest.mark.parametrize("file", ["statefulset", "values-lab", "values-bench"])
@pytest.mark.parametrize("folder", ["mysql", "mariadb"])
def test_a_target_has_the_user_of_mysql_and_durability_is_its_default(folder, file):
    path = DBINSTALL / folder / f"{file}.yaml"
    made = re.search(r"username=(\w+) .*dbname=(\w+)", (path.parent / "README.md").read_text())

    for target in (TARGETS[name] for name in TARGETS if name.startswith(folder)):
        assert (target["user"], target["database"]) == made.groups()
    weaker = ("flush", "sync", "doublewrite", "log-bin")
    [arguments] = values(documents(path), "args", "arguments")
    assert [word for word in arguments if any(each in word for each in weaker)] == []


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_the_user_and_the_cluster_of_clickhouse_are_those_of_its_target_and_readme(profile):
    folder = DBINSTALL / "clickhouse"
    (given,) = values(documents(folder / f"values-{profile}.yaml"), "clickhouse")
    readme = (folder / "README.md").read_text()
    target = TARGETS["clickhouse"]

    [user] = given["users"]
    assert user["name"] == target["user"]
    assert target["password_from"] == {"secret": user["password_secret_name"], "key": "password"}
    release = re.search(r"--install (\w+) clickhouse ", readme)[1]
    assert f"--extra-option cluster={release}" in readme


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_a_target_fits_service_and_secret_of_mongodb(profile):
    cluster = one(DBINSTALL / "mongodb" / f"replicaset-{profile}.yaml", "MongoDBCommunity")
    target = TARGETS["mongodb"]
    [user] = cluster["spec"]["users"]
    [database] = [role["db"] for role in user["roles"] if role["name"] == "readWrite"]

    service = f"{cluster['metadata']['name']}-svc"
    reach = f"mongodb://{user['name']}@{service}:27017/{database}?authSource={user['db']}"
    assert target["connection_string"] == reach
    secret = {"secret": user["passwordSecretRef"]["name"], "key": "password"}
    assert target["password_from"] == secret
    [server] = [image for image in values(cluster, "image") if "community-server" in image]
    assert f":{cluster['spec']['version']}-" in server


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_targets_fit_service_and_secret_of_cass_operator(profile):
    datacenter = one(DBINSTALL / "cassandra" / f"datacenter-{profile}.yaml", "CassandraDatacenter")
    name, spec = datacenter["metadata"]["name"], datacenter["spec"]
    for target in (TARGETS["cassandra_sync"], TARGETS["cassandra_async"]):
        assert target["hosts"] == f"{spec['clusterName']}-{name}-service"
        secret = f"{spec['clusterName']}-superuser"
        assert target["password_from"] == {"secret": secret, "key": "password"}
        assert spec["size"] == {"lab": 1, "bench": target["replication_factor"]}[profile]
    assert f":{spec['serverVersion']}-" in spec["serverImage"]
    assert "commitlog_sync" not in spec["config"]["cassandra-yaml"]


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_a_target_fits_service_and_secret_of_arangodb(profile):
    deployment = one(
        DBINSTALL / "arangodb" / f"arangodeployment-{profile}.yaml", "ArangoDeployment"
    )
    target = TARGETS["arangodb"]
    [secrets] = values(deployment, "passwordSecretNames")

    assert target["url"] == f"http://{deployment['metadata']['name']}:8529"
    assert values(deployment, "caSecretName") == ["None"]
    assert target["password_from"] == {"secret": secrets[target["user"]], "key": "password"}


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_no_file_accepts_the_terms_of_splunk(profile):
    assert "accept" not in (DBINSTALL / "splunk" / f"statefulset-{profile}.yaml").read_text()


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_the_nodes_of_iotdb_find_each_other_and_durability_is_its_default(profile):
    path = DBINSTALL / "iotdb" / f"statefulset-{profile}.yaml"
    statefulset = one(path, "StatefulSet")
    given = one(path, "ConfigMap")["data"]["iotdb-system.properties"]
    settings = dict(line.split("=", 1) for line in given.splitlines())

    assert settings["dn_rpc_port"] == "6667"
    pod = f"{statefulset['metadata']['name']}-0.{statefulset['spec']['serviceName']}"
    first = f"{pod}:{settings['cn_internal_port']}"
    assert {settings["cn_seed_config_node"], settings["dn_seed_config_node"]} == {first}
    assert settings["data_replication_factor"] == str(statefulset["spec"]["replicas"])
    assert not {"wal_mode", "timestamp_precision"} & set(settings)


def test_the_patch_prepares_the_volume_of_the_pod():
    template = one(STATEFULSET, "StatefulSet")["spec"]["template"]
    [patch] = values(documents(POSTGRESQL / "own-volume.yaml"), "initContainers")
    [container] = template["spec"]["containers"]

    assert patch[0]["image"] == container["image"]
    assert patch[0]["volumeMounts"][0] in container["volumeMounts"]
    owner = "{runAsUser}:{fsGroup}".format(**template["spec"]["securityContext"])
    assert patch[0]["command"][1] == owner


def test_the_pod_meets_the_restricted_standard():
    template = one(STATEFULSET, "StatefulSet")["spec"]["template"]["spec"]
    [container] = template["containers"]

    assert template["securityContext"]["runAsNonRoot"] is True
    assert template["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_every_folder_has_a_readme_and_a_row_in_the_table():
    table = (DBINSTALL / "README.md").read_text()

    for folder in [path for path in DBINSTALL.iterdir() if path.is_dir()]:
        assert (folder / "README.md").is_file()
        assert f"[{folder.name}]({folder.name})" in table
