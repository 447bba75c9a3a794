"""deployment/rbac*.yaml grants what the command line needs, and nothing else."""

import pytest
import yaml

from iotbench.execution.kubernetes.permissions import FOR_QUOTAS, FOR_RESOURCES, PERMISSIONS
from tests.chart.harness import CHART

FILES = ("rbac.yaml", "rbac-nodes.yaml", "rbac-resources.yaml")


def documents(name):
    return list(yaml.safe_load_all((CHART / name).read_text()))


def granted(role):
    return {
        (group, resource): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_the_role_grants_what_check_asks_for_and_the_network_policy():
    role, _ = documents("rbac.yaml")

    needed = {
        (permission.group, permission.resource): set(permission.verbs)
        for permission in (*PERMISSIONS, *FOR_QUOTAS)
    }
    policies = ("networking.k8s.io", "networkpolicies")
    assert granted(role) == {**needed, policies: needed["batch", "jobs"]}


def test_the_role_for_resources_grants_what_they_need():
    role, _ = documents("rbac-resources.yaml")

    assert role["kind"] == "ClusterRole"
    assert all(permission.everywhere for permission in FOR_RESOURCES)
    assert granted(role) == {
        (permission.group, permission.resource): set(permission.verbs)
        for permission in FOR_RESOURCES
    }


def test_every_object_of_the_chart_may_be_installed_and_removed(rendered):
    role, _ = documents("rbac.yaml")
    kinds = {each["kind"].lower() for objects in rendered.values() for each in objects}

    verbs = {resource: verbs for (_, resource), verbs in granted(role).items()}
    plural = {"networkpolicy": "networkpolicies"}
    for kind in kinds:
        assert {"get", "create", "patch", "delete"} <= verbs[plural.get(kind, f"{kind}s")]


def test_nodes_are_only_looked_at():
    for role in documents("rbac-nodes.yaml")[::2]:
        assert all(verbs <= {"get", "list"} for verbs in granted(role).values())


@pytest.mark.parametrize("name", FILES)
def test_every_binding_is_of_the_role_before_it(name):
    found = documents(name)

    for role, binding in zip(found[::2], found[1::2], strict=True):
        assert binding["roleRef"]["kind"] == role["kind"]
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        assert binding["metadata"].get("namespace") == role["metadata"].get("namespace")
