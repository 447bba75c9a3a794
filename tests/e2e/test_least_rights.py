"""The account and the namespace of the tests allow what the documentation says, and no more."""

import json

import pytest

from iotbench.execution.kubernetes.permissions import PERMISSIONS, Permission
from tests.e2e.harness import RESTRICTED, ClusterLine, Namespace

UNCONTAINED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "uncontained"},
    "spec": {"containers": [{"name": "x", "image": "localhost/x:1"}]},
}


def may(namespace: Namespace, verb: str, resource: str, where: str) -> bool:
    kubeconfig = f"--kubeconfig={namespace.kubeconfig}"
    place = f"--namespace={where}" if where else "--all-namespaces"
    words = ("kubectl", kubeconfig, "auth", "can-i", verb, resource, place)
    return namespace.kube.run(*words, check=False).stdout.strip() == "yes"


@pytest.mark.parametrize("permission", PERMISSIONS, ids=lambda permission: permission.shown)
def test_the_account_may_do_what_is_documented_in_its_namespace_only(
    bench: Namespace, permission: Permission
) -> None:
    for verb in permission.verbs:
        assert may(bench, verb, permission.shown, bench.name)
        assert not may(bench, verb, permission.shown, "default")


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("create", "pods"),
        ("create", "pods/exec"),
        ("create", "pods/portforward"),
        ("create", "serviceaccounts/token"),
        ("create", "rolebindings.rbac.authorization.k8s.io"),
        ("update", "namespaces"),
        ("patch", "nodes"),
        ("deletecollection", "secrets"),
    ],
)
def test_the_account_may_do_nothing_else(bench: Namespace, verb: str, resource: str) -> None:
    assert not may(bench, verb, resource, bench.name)


def test_the_namespace_refuses_pods_that_are_not_restricted(bench: Namespace) -> None:
    labels = bench.kube.json("namespace", bench.name)["metadata"]["labels"]
    assert labels[RESTRICTED] == "restricted"
    words = ("kubectl", f"--namespace={bench.name}", "create", "--filename=-", "--dry-run=server")
    refused = bench.kube.run(*words, given=json.dumps(UNCONTAINED), check=False)
    assert refused.returncode != 0
    assert 'violates PodSecurity "restricted:' in refused.stderr


def test_pods_of_a_run_have_no_token_of_the_cluster(cli: ClusterLine) -> None:
    process = cli.inserting()
    pods = cli.namespace.pods()
    process.terminate()
    cli.finish(process)

    assert len(pods) == 2
    for pod in pods:
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False
        volumes = [kind for volume in spec["volumes"] for kind in volume if kind != "name"]
        assert sorted(volumes) == ["configMap", "emptyDir", "projected"]
        (secrets,) = [volume["projected"] for volume in spec["volumes"] if "projected" in volume]
        assert [set(source) for source in secrets["sources"]] == [{"secret"}, {"secret"}]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["securityContext"]["runAsNonRoot"] is True
        (container,) = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
