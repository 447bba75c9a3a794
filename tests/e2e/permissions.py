"""The permissions of the command line in the tests: exactly those of deployment/rbac*.yaml.

Everything that a test does beside the command line is done as the administrator of the cluster.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import yaml

from tests.integration.conftest import ROOT

_NAMESPACE, _NODES, _RESOURCES = (
    ROOT / "deployment" / name for name in ("rbac.yaml", "rbac-nodes.yaml", "rbac-resources.yaml")
)


def manifests(namespace: str, account: str) -> str:
    """Return the Roles that every run uses, bound to a ServiceAccount."""
    return _bound((_NAMESPACE, _NODES), namespace, account)


def for_resources(namespace: str, account: str) -> str:
    """Return the Role that `--resources` needs in addition, bound to a ServiceAccount."""
    return _bound((_RESOURCES,), namespace, account)


def _bound(files: Iterable[Path], namespace: str, account: str) -> str:
    """Return the Roles of files; no other namespace shares them."""
    objects = []
    for file in files:
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
    nodes, resources = (_own(f"iot-bench-{name}", namespace) for name in ("nodes", "resources"))
    return [
        ("clusterrolebinding,clusterrole", nodes),
        ("rolebinding,role", nodes, "--namespace=kube-node-lease"),
        ("clusterrolebinding,clusterrole", resources),
    ]
