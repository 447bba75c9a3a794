"""Removes a sweep from the cluster completely."""

import time
from dataclasses import dataclass

from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.release import EVERYTHING, OWNER, SWEEP
from iotbench.machine.program import command_line
from simulator.errors import SetupError

_KINDS = ("jobs", "pods", "services", "configmaps", "secrets")
_GRACE_S = 12.0
"""The grace period of a pod, and a margin."""
_EACH_S = 0.05
"""Time added for each object: a cluster ends at least this many pods a second."""
_FORCED_S = 10.0
_AT_ONCE = 50
"""Objects that are deleted between two looks; of a deleted Job, Kubernetes deletes pods itself."""
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class SweepObjects:
    """The objects of one sweep."""

    sweep: str
    owner: str
    created: str
    objects: tuple[str, ...]


def found_sweeps(cluster: Cluster) -> list[SweepObjects]:
    """Return the sweeps with objects in the namespace, oldest first."""
    by_sweep: dict[str, list[tuple[str, Object]]] = {}
    for kind in _KINDS:
        for item in cluster.metadata(kind, EVERYTHING):
            sweep = item["metadata"]["labels"].get(SWEEP)
            if sweep:
                by_sweep.setdefault(sweep, []).append((kind, item))
    found = []
    for sweep in sorted(by_sweep):
        items = by_sweep[sweep]
        owners = [item["metadata"]["labels"].get(OWNER, "") for _, item in items]
        created = min(item["metadata"]["creationTimestamp"] for _, item in items)
        names = tuple(f"{kind}/{item['metadata']['name']}" for kind, item in items)
        found.append(SweepObjects(sweep, max(owners), created, names))
    return found


def remove(cluster: Cluster, helm: Helm, sweep: str) -> None:
    """Remove the release and all objects with the sweep's label; wait until they are gone.

    SetupError that lists what is left if something cannot be removed.
    """
    selector = f"{SWEEP}={sweep}"
    helm.uninstall(f"bench-{sweep}")
    left = _left(cluster, selector)
    deadline = time.monotonic() + _GRACE_S + _EACH_S * len(left)
    asked: set[str] = set()
    forced = False
    while left:
        new = [(kind, item["metadata"]["name"]) for kind, item in left if _stays(item)]
        for kind, name in [each for each in new if "/".join(each) not in asked][:_AT_ONCE]:
            asked.add(f"{kind}/{name}")
            cluster.delete(kind, name)
        if time.monotonic() > deadline:
            if forced:
                names = ", ".join(f"{kind}/{item['metadata']['name']}" for kind, item in left)
                raise SetupError(
                    f"in namespace {cluster.namespace} these objects still exist: {names};"
                    f" remove them later with `{command_line(['cleanup', '--run', sweep])}`"
                )
            # A lost node never reports that its pods have ended.
            for kind, item in left:
                if kind == "pods":
                    cluster.delete(kind, item["metadata"]["name"], grace_s=0)
            forced, deadline = True, time.monotonic() + _FORCED_S + _EACH_S * len(left)
        time.sleep(_POLL_S)  # several kinds of objects: one look is simpler than a watch each
        left = _left(cluster, selector)


def _stays(item: Object) -> bool:
    """Return whether an existing object is not deleted."""
    return "deletionTimestamp" not in item["metadata"]


def _left(cluster: Cluster, selector: str) -> list[tuple[str, Object]]:
    return [(kind, item) for kind in _KINDS for item in cluster.metadata(kind, selector)]
