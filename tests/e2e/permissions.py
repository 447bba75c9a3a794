"""The permissions of the command line in the tests: exactly those of deployment/rbac*.yaml.

Everything that a test does beside the command line is done as the administrator of the cluster.
"""

import json

import yaml

from tests.integration.conftest import ROOT

_NAMESPACE, _NODES = (ROOT / "deployment" / name for name in ("rbac.yaml", "rbac-nodes.yaml"))


def manifests(namespace: str, account: str) -> str:
    """Return the Roles of both files, bound to a ServiceAccount; no other namespace shares them."""
    objects = []
    for file in (_NAMESPACE, _NODES):
        for found in yaml.safe_load_all(file.read_text()):
            metadata = found["metadata"]
            if file == _NAMESPACE:
                metadata["namespace"] = namespace
            else:
                metadata["name"] = _own(metadata["name"], namespace)
            if "subjects" in found:
                found["roleRef"]["name"] = metadata["name"]
                subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
                found["subjects"] = [subject]
            objects.append(found)
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def _own(name: str, namespace: str) -> str:
    return f"{name}-{namespace}"


def outside(namespace: str) -> list[tuple[str, ...]]:
    """Return what `kubectl delete` gets to remove those that are not in the namespace."""
    name = _own("iot-bench-nodes", namespace)
    return [
        ("clusterrolebinding,clusterrole", name),
        ("rolebinding,role", name, "--namespace=kube-node-lease"),
    ]
