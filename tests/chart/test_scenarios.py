"""Rules for every rendering of the chart: each file in deployment/ci."""

import re

import pytest
from kubernetes import client

from tests.chart.harness import RELEASE, SCENARIOS, container, pods

LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
OF_EVERY_OBJECT = {
    "app.kubernetes.io/name": "iot-bench",
    "app.kubernetes.io/instance": RELEASE,
    "app.kubernetes.io/managed-by": "Helm",
    "iot-bench/run": "20261121-071516-ab12-3-1",
    "iot-bench/sweep": "20261121-071516-ab12",
    "iot-bench/owner": "ada-at-laptop",
    "iot-bench/target": "postgresql",
}
KEYS_OF_LISTS = {
    "env": "name",
    "ports": "containerPort",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
}
"""The keys that identify items of a list in server-side apply, which helm 4 uses."""


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_helm_lint_reports_nothing(helm, path):
    done = helm.lint(path)

    assert done.returncode == 0, done.stdout


def test_kubernetes_knows_every_field_and_misses_none(objects):
    for each in objects:
        known = getattr(client, f"V1{each['kind']}").model_validate(each)
        assert known.metadata.name == each["metadata"]["name"]


def test_every_object_and_every_pod_names_its_run(objects):
    metadata = [each["metadata"] for each in [*objects, *pods(objects).values()]]

    for labels in [each["labels"] for each in metadata]:
        assert OF_EVERY_OBJECT.items() <= labels.items()
        assert labels["app.kubernetes.io/component"] in {"collector", "worker"}
        assert [value for value in labels.values() if not LABEL_VALUE.fullmatch(value)] == []


def test_no_credential_is_in_a_manifest(objects):
    assert {each["kind"] for each in objects} <= {"ConfigMap", "Service", "Job", "NetworkPolicy"}
    [config] = [each for each in objects if each["kind"] == "ConfigMap"]
    assert set(config["data"]) == {"spec.json"}


def test_every_pod_meets_the_restricted_standard(objects):
    for pod in pods(objects).values():
        assert (
            pod["spec"]["securityContext"].items()
            >= {
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            }.items()
        )
        assert pod["spec"]["securityContext"].get("runAsUser", 65532) == 65532
        assert container(pod)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_no_pod_knows_the_cluster_it_runs_in(objects):
    for pod in pods(objects).values():
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert pod["spec"]["enableServiceLinks"] is False


def test_server_side_apply_can_distinguish_the_items_of_every_list(objects):
    for pod in pods(objects).values():
        lists = {**pod["spec"], **container(pod)}
        for name, key in KEYS_OF_LISTS.items():
            keys = [item[key] for item in lists.get(name, [])]
            assert len(keys) == len(set(keys))


def test_a_container_is_never_started_again(objects):
    for job in [each["spec"] for each in objects if each["kind"] == "Job"]:
        assert job["template"]["spec"]["restartPolicy"] == "Never"
        assert job["podReplacementPolicy"] == "Failed"
        assert job.get("backoffLimitPerIndex", job.get("backoffLimit")) == 0
