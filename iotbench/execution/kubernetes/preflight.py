"""Finds problems of a cluster before the first run.

Pure functions turn objects, as the API returns them, into sentences.
"""

from iotbench.execution.kubernetes.api import Cluster, Object
from simulator.errors import SetupError


def expect_namespace(cluster: Cluster) -> None:
    """Raise SetupError if no run can start in the namespace."""
    if problem := explain_namespace(cluster.namespace, cluster.own_namespace()):
        raise SetupError(problem)


def explain_namespace(name: str, namespace: Object | None) -> str:
    """Return why no run can start in a namespace; empty if it can, or if this is not known.

    `namespace` is empty if it does not exist, and None if it cannot be read.
    """
    if namespace is None:
        return ""
    if not namespace:
        return (
            f"namespace {name} does not exist: choose another with --namespace, or create it with"
            f" `kubectl create namespace {name}`"
        )
    if namespace.get("status", {}).get("phase") == "Terminating":
        return f"namespace {name} is being deleted: choose another with --namespace"
    return ""
