"""The counters of pods and nodes, as the kubelets read them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from time import monotonic

from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.database import DatabasePod, pod_names
from iotbench.execution.kubernetes.diagnosis import phase_of
from iotbench.machine.resources import CounterOwner, CounterReading, Name, Resources
from simulator.errors import BenchError

_NANO = 1e9
_EVERY_S = 2.0
_PIECE_S = 10.0
_MARGIN_S = 2.0
"""Times of readings and of a node's clock are whole seconds; phases are heard of with a delay."""
_TWICE_S = 50.0
"""Time in which a kubelet has read everything twice."""
_SHORT_PHASES = (
    "a kubelet reads each pod every 10 to 20 s, and two readings in a phase give its use; let the"
    " run take a minute or more"
)


class KubeletSource:
    """The client is the pods of a sweep, the machine the nodes of the database's pods."""

    every_s = _EVERY_S
    piece_s = _PIECE_S
    margin_s = _MARGIN_S

    def __init__(
        self, cluster: Cluster, selector: str, database: Sequence[DatabasePod] | str
    ) -> None:
        """Store the selector of the sweep's pods, and the database's pods or why there are none.

        The clock of `cluster` follows the nodes': nothing else may use it.
        """
        self._cluster = cluster
        self._selector = selector
        self._database = () if isinstance(database, str) else tuple(database)
        self._nodes = sorted({pod.node for pod in self._database})
        self.longest_rest_s = _TWICE_S if self._database else 0.0
        self._ahead_s: dict[str, float] = {}
        """Node -> what its clock is ahead of `monotonic`."""
        self._stamps: dict[Name, str] = {}
        self.described = Resources(
            server=database if isinstance(database, str) else pod_names(self._database),
            client="the pods of the run",
            machine=f"node {', '.join(self._nodes)}" if self._nodes else "",
            short_phases=_SHORT_PHASES,
            samples=(),
        )

    def read(self) -> Mapping[Name, CounterReading | None]:
        """Read what the kubelets know; nothing of a node that does not answer."""
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
                found |= self._of_node(node, wanted)
        return found

    def _of_node(
        self, node: str, wanted: Mapping[tuple[str, str], CounterOwner]
    ) -> Iterator[tuple[Name, CounterReading | None]]:
        statistics = self._cluster.statistics(node)
        self._ahead_s.setdefault(node, self._cluster.now.timestamp() - monotonic())
        if node in self._nodes:
            name = (CounterOwner.MACHINE, node)
            yield name, self._reading(name, node, statistics["node"])
        for pod in statistics.get("pods") or ():
            place = pod["podRef"]["namespace"], pod["podRef"]["name"]
            if part := wanted.get(place):
                name = (part, "/".join(place))
                yield name, self._reading(name, node, pod)

    def _reading(self, name: Name, node: str, statistics: Object) -> CounterReading | None:
        cpu, memory = statistics.get("cpu") or {}, statistics.get("memory") or {}
        used_ns, memory_bytes = cpu.get("usageCoreNanoSeconds"), memory.get("workingSetBytes")
        if used_ns is None or memory_bytes is None or cpu["time"] == self._stamps.get(name):
            return None
        self._stamps[name] = cpu["time"]
        at_s = datetime.fromisoformat(cpu["time"]).timestamp() - self._ahead_s[node]
        return CounterReading(at_s, used_ns / _NANO, memory_bytes)
