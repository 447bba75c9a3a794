"""A lock that allows one run at a time on a database: a ConfigMap that names its holder.

The ConfigMap has the label of the sweep, so removing the sweep also removes the lock.
"""

from collections.abc import Callable
from typing import Self

from iotbench.execution.kubernetes.api import Cluster
from iotbench.execution.kubernetes.release import (
    NAME,
    OWNER,
    PROGRAM,
    SWEEP,
    has_ended,
    suggest_cleanup,
    this_owner,
)
from iotbench.execution.kubernetes.wire import Exists, NotFound
from iotbench.machine.lock import holder_of, in_use
from iotbench.machine.streams import say

_TRIES = 3


class ClusterLock:
    """A context that holds the lock of a database; ConfigError if another sweep holds it."""

    def __init__(
        self,
        cluster: Cluster,
        key: str,
        sweep: str,
        command: str,
        remove: Callable[[str], None],
    ) -> None:
        """Prepare the lock; `remove` removes an abandoned sweep and its pods."""
        self._cluster = cluster
        self._remove = remove
        self._name = f"bench-lock-{key}"
        self._labels = {NAME: PROGRAM, SWEEP: sweep, OWNER: this_owner()}
        self._command = command

    def __enter__(self) -> Self:
        for _ in range(_TRIES):
            try:
                self._cluster.create_config_map(self._name, self._labels, holder_of(self._command))
            except Exists:
                self._remove_abandoned()
            else:
                return self
        raise in_use({}, "try again")

    def __exit__(self, *_: object) -> None:
        self._cluster.delete("configmaps", self._name)

    def _remove_abandoned(self) -> None:
        """Remove the holder's sweep if its command line has certainly ended."""
        try:
            found = self._cluster.object("configmaps", self._name)
        except NotFound:
            return
        labels = found["metadata"].get("labels", {})
        sweep = labels.get(SWEEP, "ID")
        if not has_ended(labels.get(OWNER, ""), self._cluster):
            raise in_use(
                found.get("data", {}),
                f"if it was killed: `{suggest_cleanup(self._cluster, sweep)}`",
            )
        self._remove(sweep)
        say(f"removed {sweep}, the remains of a command that has ended", err=True)
