import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT

DBINSTALL = ROOT / "dbinstall"
FILES = sorted(DBINSTALL.glob("*/*.yaml"))
POSTGRESQL = DBINSTALL / "postgresql"
STATEFULSET = POSTGRESQL / "statefulset.yaml"
CLUSTERS = [POSTGRESQL / "cluster-lab.yaml", POSTGRESQL / "cluster-bench.yaml"]
PROFILED = [
    folder.name
    for folder in sorted(path for path in DBINSTALL.iterdir() if path.is_dir())
    if all(len([*folder.glob(f"*-{profile}.yaml")]) == 1 for profile in ("lab", "bench"))
]
"""Databases with one file for each profile."""
TARGETS = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
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
    """Images of manifests, and of charts' values, which split them into two keys."""
    found = values(documents(path), "image", "imageName", "serverImage", "Image")
    return ["{repository}:{tag}".format(**i) if isinstance(i, dict) else i for i in found]


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


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.name)
def test_one_target_fits_every_way_to_install_postgresql(path):
    cluster = one(path, "Cluster")
    owner = cluster["spec"]["bootstrap"]["initdb"]
    target = TARGETS["postgresql"]
    secrets = {reference["name"] for reference in values(documents(STATEFULSET), "secretKeyRef")}

    service = one(STATEFULSET, "Service")["metadata"]["name"]
    assert service == f"{cluster['metadata']['name']}-rw"
    assert secrets == {f"{cluster['metadata']['name']}-app"}
    assert f"host={service} " in target["connection_string"]
    assert f"dbname={owner['database']} user={owner['owner']}" in target["connection_string"]


def test_the_bench_profile_gives_each_instance_a_node_and_guaranteed_resources():
    spec = one(POSTGRESQL / "cluster-bench.yaml", "Cluster")["spec"]

    assert spec["instances"] == 3
    assert spec["resources"]["requests"] == spec["resources"]["limits"]
    assert spec["resources"]["limits"] == {"cpu": "8", "memory": "10Gi"}
    assert spec["affinity"]["podAntiAffinityType"] == "required"


def test_durability_settings_of_postgresql_are_its_defaults():
    weaker = {"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method"}

    for path in CLUSTERS:
        assert not weaker & set(one(path, "Cluster")["spec"]["postgresql"]["parameters"])
    [arguments] = values(documents(STATEFULSET), "args")
    assert not [word for word in arguments if word.split("=")[0] in weaker]


@pytest.mark.parametrize("folder", PROFILED)
def test_a_lab_and_a_bench_profile_have_the_same_images_and_the_documents_size(folder):
    (lab,), (bench,) = ((DBINSTALL / folder).glob(f"*-{p}.yaml") for p in ("lab", "bench"))

    assert {*images(lab)} == {*images(bench)}
    limits = values(documents(bench), "limits")
    requests = values(documents(bench), "requests")
    assert {"cpu": "8", "memory": "10Gi"} in limits
    assert limits == [each for each in requests if "storage" not in each]


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_the_target_elasticsearch_names_the_operators_service_and_secrets(profile):
    name = one(DBINSTALL / f"elasticsearch/cluster-{profile}.yaml", "Elasticsearch")["metadata"][
        "name"
    ]
    target = TARGETS["elasticsearch"]

    assert target["url"] == f"https://{name}-es-http:9200"
    assert target["password_from"]["secret"] == f"{name}-es-elastic-user"
    assert target["ca_from"]["secret"] == f"{name}-es-http-certs-public"


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_the_target_opensearch_names_the_charts_service_and_secret(profile):
    (given,) = documents(DBINSTALL / f"opensearch/values-{profile}.yaml")
    target = TARGETS["opensearch"]

    assert target["url"] == f"https://{given['fullnameOverride']}:9200"
    assert given["masterService"] == given["fullnameOverride"]
    (secret,) = values(given, "secretKeyRef")
    assert secret == {"name": target["password_from"]["secret"], "key": "password"}


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


@pytest.mark.parametrize("profile", ["lab", "bench"])
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        *((name, name) for name in ("timescaledb", "cratedb", "questdb", "victoriametrics")),
        *((name, name) for name in ("quasardb", "mariadb", "splunk", "iotdb")),
        *(("mysql_innodb", "mysql"), ("mysql_myisam", "mysql")),
    ],
)
def test_a_target_fits_the_services_and_secrets_of_a_statefulset(name, folder, profile):
    path = DBINSTALL / folder / f"statefulset-{profile}.yaml"
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


@pytest.mark.parametrize("profile", ["lab", "bench"])
@pytest.mark.parametrize("folder", ["mysql", "mariadb"])
def test_a_target_has_the_user_of_mysql_and_durability_is_its_default(folder, profile):
    path = DBINSTALL / folder / f"statefulset-{profile}.yaml"
    made = re.search(r"username=(\w+) .*dbname=(\w+)", (path.parent / "README.md").read_text())

    for target in (TARGETS[name] for name in TARGETS if name.startswith(folder)):
        assert (target["user"], target["database"]) == made.groups()
    weaker = ("flush", "sync", "doublewrite", "log-bin")
    [arguments] = values(documents(path), "args")
    assert [word for word in arguments if any(each in word for each in weaker)] == []


@pytest.mark.parametrize("profile", ["lab", "bench"])
def test_a_target_fits_service_and_secret_of_clickhouse(profile):
    path = DBINSTALL / "clickhouse" / f"installation-{profile}.yaml"
    installation = one(path, "ClickHouseInstallation")
    target = TARGETS["clickhouse"]
    user = installation["spec"]["configuration"]["users"][f"{target['user']}/password"]
    secret = user["valueFrom"]["secretKeyRef"]

    assert target["url"] == f"http://clickhouse-{installation['metadata']['name']}:8123"
    assert target["password_from"] == {"secret": secret["name"], "key": secret["key"]}


def test_clickhouses_replicas_reach_their_keeper():
    folder = DBINSTALL / "clickhouse"
    keeper = one(folder / "keeper.yaml", "ClickHouseKeeperInstallation")
    bench = one(folder / "installation-bench.yaml", "ClickHouseInstallation")

    [node] = bench["spec"]["configuration"]["zookeeper"]["nodes"]
    assert node["host"] == f"keeper-{keeper['metadata']['name']}"
    [cluster] = bench["spec"]["configuration"]["clusters"]
    assert f"--extra-option cluster={cluster['name']}" in (folder / "README.md").read_text()


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
