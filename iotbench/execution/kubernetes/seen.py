"""The part of the cluster's pods and events that the diagnosis reads, a tenth of each."""

from collections.abc import Iterable, Mapping
from typing import Any

from iotbench.execution.kubernetes.api import Object

_OF_PODS: Mapping[str, Iterable[str]] = {
    "metadata": ("name", "labels", "deletionTimestamp"),
    "spec": ("nodeName", "containers"),
    "status": ("phase", "reason", "message", "conditions", "containerStatuses"),
}
_OF_CONTAINERS = ("name", "image", "resources")


def seen_pod(pod: Object) -> Object:
    """Return a pod without the fields that are never read."""
    found = {part: _chosen(pod.get(part, {}), names) for part, names in _OF_PODS.items()}
    containers = found["spec"].get("containers", ())
    found["spec"]["containers"] = [_chosen(each, _OF_CONTAINERS) for each in containers]
    return found


def seen_event(event: Object) -> Object:
    """Return what an event is about, its reason and its message."""
    about = event.get("involvedObject", {})
    return {"involvedObject": _chosen(about, ("name",)), **_chosen(event, ("reason", "message"))}


def _chosen(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}
