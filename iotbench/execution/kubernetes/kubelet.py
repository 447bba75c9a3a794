"""The pods of the database, and the kubelets' counters of pods and nodes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.diagnosis import phase_of
from iotbench.machine.resources import CounterOwner, CounterReading, Name, Resources
from simulator.errors import BenchError
from simulator.modules.contract import addresses

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAMED = 3
"""Maximum number of pods that a description names."""


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
        found = tuple(
            DatabasePod(pod["metadata"]["namespace"], pod["metadata"]["name"],
                        pod["spec"]["nodeName"])
            for pod in cluster.pods_anywhere(selector)
            if phase_of(pod) == "Running"
        )  # fmt: skip
        return found or f"no running pod has the labels {selector} (database_pods)"
    hosts = [host for host, _ in addresses(target.options)]
    if not hosts:
        return (
            "the target's options have no address; name the labels of the database's"
            " pods with database_pods in config.yaml"
        )
    behind = {pod for host in dict.fromkeys(hosts) for pod in _find_behind(cluster, host)}
    if not behind:
        return (
            f"outside of the cluster: no Service with pods is named"
            f" {', '.join(dict.fromkeys(hosts))}"
        )
    return tuple(sorted(behind, key=lambda pod: (pod.namespace, pod.name)))


def may_be_inside(target: Target, namespace: str) -> bool:
    """Return whether the database may be in the cluster, by the names of its hosts.

    They are not known if a Secret of the user has the address.
    """
    hosts = [host for host, _ in addresses(target.options)]
    if not hosts:
        return bool(target.secret_refs)
    return any(True for host in hosts for _ in _list_services(host, namespace))


def pod_names(pods: tuple[DatabasePod, ...]) -> str:
    """Return the names of the pods; if there are many, return only the first of these names."""
    names = ", ".join(pod.name for pod in pods[:_NAMED])
    more = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return f"{'pod' if len(pods) == 1 else 'pods'} {names}{more}"


def _find_behind(cluster: Cluster, host: str) -> set[DatabasePod]:
    """Return the pods behind a host name, which the cluster's DNS resolves for the run."""
    for service, namespace, pod in _list_services(host, cluster.namespace):
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


def _list_services(host: str, namespace: str) -> Iterator[tuple[str, str, str]]:
    """Yield (Service, namespace, pod) for each meaning of a host name; pod is empty for all pods.

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


_NANO = 1e9
_MARGIN_S = 2.0
"""Tolerance: readings and the clocks of nodes have whole seconds, and phases are reported late."""
_TWICE_S = 50.0
"""Time within which a kubelet reads every counter twice."""
_SHORT_PHASES = (
    "a kubelet reads each pod every 10 to 20 s, and two readings in a phase give its use; let the"
    " run take a minute or more"
)


class KubeletSource:
    """Reads counters: the client is the sweep's pods, and the machine is the database's nodes."""

    every_s = 2.0
    piece_s = 10.0
    margin_s = _MARGIN_S

    def __init__(
        self, cluster: Cluster, selector: str, database: Sequence[DatabasePod] | str
    ) -> None:
        """Prepare to read the pods of the sweep, which `selector` selects, and of the database.

        `database` contains the pods of the database, or the reason why they are not known. The
        clock of `cluster` follows the clocks of nodes, so `cluster` must not be used elsewhere.
        """
        self._cluster = cluster
        self._selector = selector
        self._database = () if isinstance(database, str) else tuple(database)
        self._nodes = sorted({pod.node for pod in self._database})
        self.longest_rest_s = _TWICE_S if self._database else 0.0
        self._ahead_s: dict[str, float] = {}
        """Node -> seconds by which the clock of the node is ahead of `monotonic`."""
        self._stamps: dict[Name, str] = {}
        self.described = Resources(
            server=f"not measured: {database}"
            if isinstance(database, str)
            else pod_names(self._database),
            client="the pods of the run",
            machine=f"node {', '.join(self._nodes)}" if self._nodes else "",
            short_phases=_SHORT_PHASES,
            samples=(),
        )

    def read(self) -> Mapping[Name, CounterReading | None]:
        """Return the kubelets' latest readings; a node that does not answer has no readings."""
        found: dict[Name, CounterReading | None] = {}
        wanted = {(pod.namespace, pod.name): CounterOwner.SERVER for pod in self._database}
        nodes = dict.fromkeys(self._nodes)
        with suppress(BenchError):
            for pod in self._cluster.objects("pods", self._selector)[0]:
                if phase_of(pod) == "Running":
                    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
                    wanted[self._cluster.namespace, name] = CounterOwner.CLIENT
                    found[CounterOwner.CLIENT, f"{self._cluster.namespace}/{name}"] = None
                    nodes[node] = None
        for node in nodes:
            with suppress(BenchError):
                found |= self._read_node(node, wanted)
        return found

    def _read_node(
        self, node: str, wanted: Mapping[tuple[str, str], CounterOwner]
    ) -> Iterator[tuple[Name, CounterReading | None]]:
        statistics = self._cluster.statistics(node)
        self._ahead_s.setdefault(node, self._cluster.now.timestamp() - monotonic())
        if node in self._nodes:
            name = (CounterOwner.MACHINE, node)
            yield name, self._parse(name, node, statistics["node"])
        for pod in statistics.get("pods") or ():
            place = pod["podRef"]["namespace"], pod["podRef"]["name"]
            if part := wanted.get(place):
                name = (part, "/".join(place))
                yield name, self._parse(name, node, pod)

    def _parse(self, name: Name, node: str, statistics: Object) -> CounterReading | None:
        cpu, memory = statistics.get("cpu") or {}, statistics.get("memory") or {}
        used_ns, memory_bytes = cpu.get("usageCoreNanoSeconds"), memory.get("workingSetBytes")
        if used_ns is None or memory_bytes is None or cpu["time"] == self._stamps.get(name):
            return None
        self._stamps[name] = cpu["time"]
        at_s = datetime.fromisoformat(cpu["time"]).timestamp() - self._ahead_s[node]
        return CounterReading(at_s, used_ns / _NANO, memory_bytes)
