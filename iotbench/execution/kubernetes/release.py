"""The Helm release of a sweep: names, labels and values for the chart, and removal."""

import hashlib
import os
import platform
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.api import Cluster, Object
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.lifetime import KEPT_S, UNATTENDED_S
from iotbench.machine.machine import worker_bytes
from iotbench.machine.owner import Owner, user_name
from iotbench.machine.program import command_line
from simulator.errors import SetupError
from simulator.protocol.spec import RunSpec

_HEADROOM, _LEAST_BYTES, _STEP_BYTES = 3, 1 << 30, 256 << 20
"""Memory of a pod: a multiple of the estimated memory, with a minimum, in steps."""
SWEEP = "iot-bench/sweep"
RUN = "iot-bench/run"
OWNER = "iot-bench/owner"
NAME = "app.kubernetes.io/name"
PROGRAM = "iot-bench"
EVERYTHING = f"{NAME}={PROGRAM}"
"""Label selector for every object of every sweep."""


@dataclass(frozen=True, slots=True)
class Release:
    """One sweep's Helm release."""

    sweep: str
    target: Target
    keep: bool = False
    """True if the user wants to keep the pods after the run."""

    @property
    def name(self) -> str:
        """Name of the release."""
        return f"bench-{self.sweep}"

    @property
    def selector(self) -> str:
        """Label selector for the objects of the sweep."""
        return f"{SWEEP}={self.sweep}"

    def labels(self, run_id: str) -> dict[str, str]:
        """Return the labels of objects that the command line creates."""
        return {NAME: PROGRAM, SWEEP: self.sweep, RUN: run_id, OWNER: this_owner()}

    def credentials_name(self, run_id: str) -> str:
        """Return the name of the Secret of one run."""
        return f"bench-{run_id}"

    def jobs(self, spec: RunSpec) -> list[str]:
        """Return the names of the Jobs of a run, the collector's Job first."""
        parts = ("collector", "worker") if spec.workers else ("collector",)
        return [f"bench-{spec.run_id}-{part}" for part in parts]

    def credentials(self, token: str) -> dict[str, str]:
        """Return the content of the Secret of a run."""
        options = {f"option.{name}": value for name, value in self.target.secrets().items()}
        return {"run-token": token, **options}

    def values(self, spec: RunSpec) -> dict[str, Any]:
        """Return the values of the chart for one run, without credentials."""
        references = [
            {"option": option, "secret": reference.secret, "key": reference.key}
            for option, reference in self.target.secret_refs.items()
        ]
        run = {
            "id": spec.run_id,
            "sweep": self.sweep,
            "owner": this_owner(),
            "target": self.target.name,
            "spec": spec.model_dump_json(),
            "credentials": self.credentials_name(spec.run_id),
            "options": list(self.target.secrets()),
            "secretOptions": references,
            "volumeClaim": spec.volume_claim,
            "collectorReads": bool(spec.dataset.volume_claim),
            "deadlineSeconds": UNATTENDED_S,
            "ttlSeconds": KEPT_S if self.keep else UNATTENDED_S,
        }
        values: dict[str, Any] = {"run": run, "workers": len(spec.workers)}
        if self.target.database_pods:
            values["database"] = {"podLabels": dict(self.target.database_pods)}
        return values

    def propose(self, spec: RunSpec) -> dict[str, Any]:
        """Return the memory of workers that write, as values that the user may override.

        Workers that query hold answers of unknown size, so they get the memory that the chart sets.
        """
        if not spec.inserts or spec.asks:
            return {}
        bytes_each = worker_bytes(spec.batch_rows, spec.several.connections)
        wanted = max(_HEADROOM * bytes_each, _LEAST_BYTES)
        memory = {"memory": f"{-(-wanted // _STEP_BYTES) * (_STEP_BYTES >> 20)}Mi"}
        return {"worker": {"resources": {"requests": memory, "limits": memory}}}


_POD = "pod"
_POD_UID = "IOTBENCH_POD"
"""Variable that the chart sets if the command line runs in a pod, in the namespace of the runs."""


def this_owner() -> str:
    """Return a label that identifies this process by its pod, or by user, machine and process."""
    uid = os.environ.get(_POD_UID)
    return f"{_POD}.{uid}" if uid else f"{_name_machine()}.{Owner.this()}"


def has_ended(owner: str, cluster: Cluster) -> bool:
    """Return whether a label identifies a pod or process that has certainly ended."""
    kind, _, uid = owner.partition(".")
    if kind != _POD:
        return is_abandoned(owner)
    pods, _ = cluster.objects("pods", EVERYTHING)
    ended = ("Succeeded", "Failed")
    return uid not in [
        pod["metadata"]["uid"] for pod in pods if pod["status"]["phase"] not in ended
    ]


def is_abandoned(owner: str) -> bool:
    """Return whether a label identifies a process of this user that has certainly ended."""
    machine, _, process = owner.partition(".")
    found = Owner.parse(process) if machine == _name_machine() else None
    return found is not None and found.is_visible and not found.alive


def _name_machine() -> str:
    who = re.sub(r"[^A-Za-z0-9]", "", user_name())[:12] or "user"
    where = hashlib.sha256(f"{user_name()}@{platform.node()}".encode()).hexdigest()[:10]
    return f"{who}-{where}"


def is_run_of(labels: Mapping[str, str], run_id: str) -> bool:
    """Return whether labels belong to one run."""
    return labels.get(RUN) == run_id


_KINDS = ("jobs", "pods", "services", "configmaps", "secrets")
_GRACE_S = 12.0
"""Grace period of a pod, plus a margin."""
_EACH_S = 0.05
"""Time added for each object, since a cluster ends at least 20 pods per second."""
_FORCED_S = 10.0
_AT_ONCE = 50
"""Maximum number of objects deleted between two polls; pods are deleted with their Jobs."""
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class SweepObjects:
    """The objects of one sweep."""

    sweep: str
    owner: str
    created: str
    objects: tuple[str, ...]


def find_sweeps(cluster: Cluster) -> list[SweepObjects]:
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


def suggest_cleanup(cluster: Cluster, sweep: str) -> str:
    """Return the command that removes a sweep from its cluster."""
    return command_line(["cleanup", *cluster.flags, "-n", cluster.namespace, "--run", sweep])


def remove(cluster: Cluster, helm: Helm, sweep: str) -> None:
    """Remove the release and all objects with the sweep's label; wait until they are gone.

    If objects cannot be removed, raise SetupError with a list of them.
    """
    selector = f"{SWEEP}={sweep}"
    try:
        helm.uninstall(f"bench-{sweep}")
    except SetupError:  # helm gives up if the API server goes away in the middle
        cluster.version()
        helm.uninstall(f"bench-{sweep}")
    left = _list_left(cluster, selector)
    deadline = time.monotonic() + _GRACE_S + _EACH_S * len(left)
    asked: set[str] = set()
    forced = False
    while left:
        new = [
            (kind, item["metadata"]["name"])
            for kind, item in left
            if "deletionTimestamp" not in item["metadata"]
        ]
        for kind, name in [each for each in new if "/".join(each) not in asked][:_AT_ONCE]:
            asked.add(f"{kind}/{name}")
            cluster.delete(kind, name)
        if time.monotonic() > deadline:
            if forced:
                names = ", ".join(f"{kind}/{item['metadata']['name']}" for kind, item in left)
                raise SetupError(
                    f"in namespace {cluster.namespace} these objects still exist: {names};"
                    f" remove them later with `{suggest_cleanup(cluster, sweep)}`"
                )
            # A lost node never reports that its pods have ended.
            for kind, item in left:
                if kind == "pods":
                    cluster.delete(kind, item["metadata"]["name"], grace_s=0)
            forced, deadline = True, time.monotonic() + _FORCED_S + _EACH_S * len(left)
        time.sleep(_POLL_S)  # polling is simpler than a watch for each kind of object
        left = _list_left(cluster, selector)


def _list_left(cluster: Cluster, selector: str) -> list[tuple[str, Object]]:
    return [(kind, item) for kind in _KINDS for item in cluster.metadata(kind, selector)]
