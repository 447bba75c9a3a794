"""Threads that watch the cluster and put changes into one queue."""

import queue
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.wire import Expired, NotFound, NotYet, Unreachable
from simulator.errors import BenchError

_OF_PODS: Mapping[str, Iterable[str]] = {
    "metadata": ("name", "labels", "deletionTimestamp"),
    "spec": ("nodeName", "initContainers", "containers"),
    "status": (
        "phase", "reason", "message", "conditions", "initContainerStatuses", "containerStatuses",
    ),
}  # fmt: skip
_OF_CONTAINERS = ("name", "image", "resources", "restartPolicy")


def trim_pod(pod: Object) -> Object:
    """Return a pod without the fields that are never read."""
    found = {part: _choose(pod.get(part, {}), names) for part, names in _OF_PODS.items()}
    for part in found["spec"].keys() & {"initContainers", "containers"}:
        found["spec"][part] = [_choose(each, _OF_CONTAINERS) for each in found["spec"][part]]
    return found


def trim_event(event: Object) -> Object:
    """Return an event without the fields that are never read."""
    about = event.get("involvedObject", {})
    return {"involvedObject": _choose(about, ("name",)), **_choose(event, ("reason", "message"))}


def _choose(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


_AGAIN_S = 0.25
_PING_S = 5.0


@dataclass(frozen=True, slots=True)
class PodChanged:
    """A pod was added or has changed."""

    pod: Object


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod is gone."""

    pod: Object


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the cluster."""

    event: Object


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """The collector wrote a line."""

    pod: str
    text: str
    stamp: str = ""
    """Time on the clock of the node, at which reading the log can resume."""


@dataclass(frozen=True, slots=True)
class LogEnded:
    """The log of the collector has ended, because its container or pod has ended."""

    pod: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A source that cannot be read: the whole server, pods, events or the log."""

    source: str
    cause: str


@dataclass(frozen=True, slots=True)
class SourceReached:
    """A source can be read."""

    source: str


Heard = PodChanged | PodGone | Happened | WrittenLine | LogEnded | Trouble | SourceReached


class Watcher:
    """Watches the pods of one sweep, the events of its objects, and collectors' logs.

    The threads are daemons: they end with the process, or soon after `close`.
    """

    def __init__(self, cluster: Cluster, selector: str, prefix: str) -> None:
        self._cluster = cluster
        self._selector = selector
        self._prefix = prefix
        self._closed = threading.Event()
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._followed: set[str] = set()

    def start(self) -> None:
        """Start watching for changes from now on."""
        version = self._cluster.present("events")
        for work in (self._watch_pods, lambda: self._watch_events(version), self._ping):
            threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()

    def next(self, limit_s: float) -> Heard | None:
        """Return the next change; None if no change arrives within `limit_s`."""
        try:
            return self._heard.get(timeout=limit_s)
        except queue.Empty:
            return None

    def follow_log(self, pod: str) -> None:
        """Start to follow the log of a pod; do nothing if the log is already followed."""
        if pod not in self._followed:
            self._followed.add(pod)
            threading.Thread(target=self._read_log, args=(pod,), daemon=True).start()

    def forget_logs(self) -> None:
        """Stop following logs."""
        self._followed.clear()

    def _watch_pods(self) -> None:
        known: dict[str, Object] = {}
        while not self._closed.is_set():
            try:
                pods, version = self._cluster.objects("pods", self._selector)
                self._heard.put(SourceReached("pods"))
                pods = [*map(trim_pod, pods)]
                present = {pod["metadata"]["name"]: pod for pod in pods}
                for name in known.keys() - present.keys():
                    self._heard.put(PodGone(known.pop(name)))
                for pod in pods:
                    self._heard.put(PodChanged(pod))
                known = present
                while not self._closed.is_set():
                    for kind, pod in self._cluster.watch("pods", self._selector, version):
                        version = pod["metadata"]["resourceVersion"]
                        if kind == "BOOKMARK":
                            continue
                        seen = trim_pod(pod)
                        if kind == "DELETED":
                            known.pop(seen["metadata"]["name"], None)
                            self._heard.put(PodGone(seen))
                        else:
                            known[seen["metadata"]["name"]] = seen
                            self._heard.put(PodChanged(seen))
            except Expired:
                pass
            except BenchError as error:
                self._report("pods", error)

    def _watch_events(self, since: str) -> None:
        version = since
        while not self._closed.is_set():
            try:
                now = self._cluster.present("events")
                self._heard.put(SourceReached("events"))
                version = version or now
                while not self._closed.is_set():
                    for _, event in self._cluster.watch("events", "", version):
                        version = event["metadata"]["resourceVersion"]
                        about = event.get("involvedObject", {}).get("name", "")
                        # A queue's Workload has the name of its Job, after the kind.
                        if about.removeprefix("job-").startswith(self._prefix):
                            self._heard.put(Happened(trim_event(event)))
            except Expired:
                version = ""
            except BenchError as error:
                self._report("events", error)

    def _ping(self) -> None:
        """Report whether the server answers, since watches are silent while nothing changes."""
        while not self._closed.is_set():
            try:
                self._cluster.version()
                self._heard.put(SourceReached("server"))
                self._closed.wait(_PING_S)
            except BenchError as error:
                self._report("server", error)

    def _report(self, source: str, error: BenchError) -> None:
        self._heard.put(Trouble(source, str(error)))
        self._closed.wait(1.0)

    def _read_log(self, pod: str) -> None:
        """Follow a log; after a broken stream, read again from the last line."""
        last = ""
        while pod in self._followed and not self._closed.is_set():
            try:
                for stamp, text in self._cluster.log(pod, last):
                    last = stamp or last
                    self._heard.put(WrittenLine(pod, text, stamp))
                # The container or the connection ended: the pods show which.
                self._heard.put(LogEnded(pod))
            except NotFound:
                self._heard.put(LogEnded(pod))
                return
            except (NotYet, Unreachable):
                pass  # without the server, nothing can be read, and that is reported
            except BenchError as error:
                self._report("log", error)
            self._closed.wait(_AGAIN_S)
