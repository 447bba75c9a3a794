"""Limits the lifetime of a run that has lost its command line.

Both Jobs have a deadline. The command line extends the deadline while it runs, so Kubernetes ends a
run after its command line was killed. Kubernetes deletes the Jobs some time after they end,
together with the Secret that the collector's Job owns. No pod needs access to the Kubernetes API.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from iotbench.execution.kubernetes.api import Cluster
from simulator.errors import BenchError

UNATTENDED_S = 1800
"""Time for which a run survives while its command line is suspended or cut off. Kubernetes keeps
the pods and logs of a finished run for the same time."""
KEPT_S = 24 * 3600
"""Time for which --keep keeps pods and logs."""
_EXTENSIONS = 30
"""Number of extensions in `UNATTENDED_S`, a few of which may fail."""


@contextmanager
def extend_lifetime(cluster: Cluster, jobs: Sequence[str]) -> Iterator[None]:
    """Extend the deadlines of a run's Jobs during the context."""
    over = threading.Event()

    def extend_all() -> None:
        while not over.wait(UNATTENDED_S / _EXTENSIONS):
            for name in jobs:
                # The next extension comes soon, and the runner watches the cluster.
                with suppress(BenchError):
                    _extend(cluster, name)

    threading.Thread(target=extend_all, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _extend(cluster: Cluster, job: str) -> None:
    started = cluster.object("jobs", job)["status"].get("startTime")
    if started:
        # By the cluster's clock, which does not stop while this machine is suspended.
        age = cluster.now - datetime.fromisoformat(started)
        deadline_s = int(age.total_seconds()) + UNATTENDED_S
        cluster.patch("jobs", job, {"spec": {"activeDeadlineSeconds": deadline_s}})


def explain_unattended_end(cluster: Cluster, job: str) -> str:
    """Return an explanation if Kubernetes ended a Job at its deadline.

    Return an empty text if it did not, or if the Job cannot be read.
    """
    try:
        conditions = cluster.object("jobs", job)["status"].get("conditions", ())
    except BenchError:
        return ""
    passed = [each for each in conditions if each.get("reason") == "DeadlineExceeded"]
    if not any(each["status"] == "True" for each in passed):
        return ""
    return (
        f"Kubernetes ended the run, because this command line did not extend its deadline for"
        f" {UNATTENDED_S // 60} min: the machine was suspended, or the cluster was out of reach"
    )
