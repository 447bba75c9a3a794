"""Detects whether the node of a silent pod is lost.

A node renews its lease four times within the duration of the lease, by default every 10 s. The
control plane marks a node as NotReady only after most of a minute, so the lease shows a crash
earlier.
https://kubernetes.io/docs/concepts/architecture/nodes/#heartbeats
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.wire import NotFound

_RENEWALS = 4
_DURATION_S = 40.0
_MISSED = 2
"""Number of missed renewals after which a node counts as lost; a busy node may renew late."""
_SKEW_S = 5.0
"""Tolerance between the clocks of the nodes and the API server."""
_AGAIN_S = 1.0
_FORGET_S = 60.0


@dataclass(frozen=True, slots=True)
class _Seen:
    """A lease as it was when its last renewal was first seen."""

    renewed: datetime
    at_s: float


class SilentNodes:
    """The nodes of silent pods."""

    def __init__(self, cluster: Cluster, clock: Callable[[], float]) -> None:
        """Prepare to read nodes; `clock` stops while this process cannot see renewals."""
        self._cluster = cluster
        self._clock = clock
        self._first: dict[str, _Seen] = {}
        self._last: dict[str, tuple[float, str | None]] = {}

    def trouble(self, name: str) -> str | None:
        """Return the problem of a node: empty if the node is alive, None while this is not known.

        A node that cannot be read counts as alive.
        """
        now_s = self._clock()
        looked_s, known = self._last.get(name, (-_FORGET_S, None))
        if now_s - looked_s < _AGAIN_S:
            return known
        if now_s - looked_s > _FORGET_S:
            self._first.pop(name, None)
        found = self._look(name, now_s)
        self._last[name] = now_s, found
        return found

    def _look(self, name: str, now_s: float) -> str | None:
        if not name:
            return ""
        try:
            node = self._cluster.node(name)
        except NotFound:
            return "is gone"
        if node is None:
            return ""
        for condition in node["status"].get("conditions", ()):
            if condition["type"] == "Ready" and condition["status"] != "True":
                return f"is not ready ({condition.get('message', condition['status'])})"
        lease = self._cluster.lease(name)
        if lease is None or not lease["spec"].get("renewTime"):
            return ""
        renewed = datetime.fromisoformat(lease["spec"]["renewTime"])
        first = self._first.get(name)
        if first is None or first.renewed != renewed:
            first = self._first[name] = _Seen(renewed, now_s)
        return self._judge(lease, first, now_s)

    def _judge(self, lease: Object, first: _Seen, now_s: float) -> str | None:
        interval_s = (lease["spec"].get("leaseDurationSeconds") or _DURATION_S) / _RENEWALS
        age = self._cluster.now - first.renewed
        if age < timedelta(seconds=interval_s):
            return ""
        # Two missed renewals may also mean that the whole cluster was suspended, so the node must
        # miss one more while we watch.
        if age < timedelta(seconds=_MISSED * interval_s + _SKEW_S) or (
            now_s - first.at_s < interval_s + 1
        ):
            return None
        return f"has been silent for {age.total_seconds():.0f} s"


def describe_place(pod: Object) -> str:
    """Return the name and node of a pod, as an addition to a cause."""
    return f" (pod {pod['metadata']['name']} on {pod['spec'].get('nodeName', 'no node')})"


def describe_node(pod: Object, trouble: str | None) -> str:
    """Return the problem of a pod's node, as an addition to a cause; empty without a problem."""
    return f": its node {pod['spec']['nodeName']} {trouble}" if trouble else ""
