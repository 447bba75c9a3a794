"""The database's pods: those with the target's labels, or behind the Service in its address."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.api import Cluster, Object
from simulator.modules.contract import addresses

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAMED = 3
"""Pods that a description names."""


@dataclass(frozen=True, slots=True)
class DatabasePod:
    """A pod of the database, and its node."""

    namespace: str
    name: str
    node: str


def database_pods(cluster: Cluster, target: Target) -> tuple[DatabasePod, ...] | str:
    """Return the database's pods, or why they are not known."""
    if target.database_pods:
        selector = ",".join(f"{key}={value}" for key, value in target.database_pods.items())
        found = tuple(_running(cluster.pods_anywhere(selector)))
        return found or f"not measured: no pod that runs has the labels {selector} (database_pods)"
    hosts = [host for host, _ in addresses(target.options)]
    if not hosts:
        return (
            "not measured: the target's options have no address; name the labels of the database's"
            " pods with database_pods in config.yaml"
        )
    behind = {pod for host in dict.fromkeys(hosts) for pod in _behind(cluster, host)}
    if not behind:
        return (
            f"not measured: outside of the cluster, where no Service with pods is named"
            f" {', '.join(dict.fromkeys(hosts))}"
        )
    return tuple(sorted(behind, key=lambda pod: (pod.namespace, pod.name)))


def pod_names(pods: tuple[DatabasePod, ...]) -> str:
    """Return the names of the pods, or of the first of many."""
    names = ", ".join(pod.name for pod in pods[:_NAMED])
    more = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return f"{'pod' if len(pods) == 1 else 'pods'} {names}{more}"


def _running(pods: list[Object]) -> Iterator[DatabasePod]:
    for pod in pods:
        if pod["status"].get("phase") == "Running":
            metadata = pod["metadata"]
            yield DatabasePod(metadata["namespace"], metadata["name"], pod["spec"]["nodeName"])


def _behind(cluster: Cluster, host: str) -> set[DatabasePod]:
    """Return the pods behind a name, as the DNS of the cluster resolves it in the run's pods."""
    for service, namespace, pod in _services(host, cluster.namespace):
        found = {
            DatabasePod(target["namespace"], target["name"], endpoint["nodeName"])
            for endpoint in cluster.endpoints(service, namespace)
            if (target := endpoint.get("targetRef") or {}).get("kind") == "Pod"
            and endpoint.get("nodeName")
            and pod in ("", endpoint.get("hostname"))
        }
        if found:
            return found
    return set()


def _services(host: str, namespace: str) -> Iterator[tuple[str, str, str]]:
    """Yield Service, namespace, and pod or nothing, that a name may mean.

    https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/
    """
    match host.split("."):
        case labels if not all(map(_LABEL.fullmatch, labels)):
            return
        case [service]:
            yield service, namespace, ""
        case [first, second]:
            yield first, second, ""
            yield second, namespace, first
        case [service, namespace, "svc", *_]:
            yield service, namespace, ""
        case [pod, service, namespace] | [pod, service, namespace, "svc", *_]:
            yield service, namespace, pod
