"""The lifetime of a run without its command line.

Both Jobs have a deadline that the command line extends while it runs, so Kubernetes ends the run of
a command line that was killed. It deletes the Jobs some time after they end, and with the
collector's Job the Secret that this Job owns. No pod needs access to the Kubernetes API.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Self

from iotbench.execution.kubernetes.api import Cluster
from iotbench.execution.kubernetes.wire import NotFound
from simulator.errors import BenchError

UNATTENDED_S = 1800
"""A run survives a command line that is suspended or cut off for less than this; Kubernetes keeps
the pods and logs of a finished run for as long again."""
KEPT_S = 24 * 3600
"""Time for which --keep leaves pods and logs."""
_EXTENSIONS = 30
"""Number of extensions in `UNATTENDED_S`: a few may fail."""


class Lifetime:
    """A context that extends the deadlines of a run's Jobs."""

    def __init__(self, cluster: Cluster, jobs: Sequence[str]) -> None:
        self._cluster = cluster
        self._jobs = jobs
        self._over = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._extend_all, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _extend_all(self) -> None:
        while not self._over.wait(UNATTENDED_S / _EXTENSIONS):
            for name in self._jobs:
                # The next extension comes soon, and the runner watches the cluster.
                with suppress(BenchError):
                    self._extend(name)

    def _extend(self, name: str) -> None:
        started = self._cluster.object("jobs", name)["status"].get("startTime")
        if started:
            # Measured by the cluster's clock, which counts on while this machine is suspended.
            age = self._cluster.now - datetime.fromisoformat(started)
            deadline_s = int(age.total_seconds()) + UNATTENDED_S
            self._cluster.patch("jobs", name, {"spec": {"activeDeadlineSeconds": deadline_s}})


def explain_unattended_end(cluster: Cluster, job: str) -> str:
    """Return why Kubernetes ended a Job: its deadline was not extended; empty for other ends."""
    try:
        conditions = cluster.object("jobs", job)["status"].get("conditions", ())
    except NotFound:
        return ""
    passed = [each for each in conditions if each.get("reason") == "DeadlineExceeded"]
    if not any(each["status"] == "True" for each in passed):
        return ""
    return (
        f"Kubernetes ended the run, because this command line did not extend its deadline for"
        f" {UNATTENDED_S // 60} min: the machine was suspended, or the cluster was out of reach"
    )
