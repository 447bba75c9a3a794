"""The victims of pauses and kills: the server's local processes, or the database's pods."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

import psutil

from iotbench.config.options.cluster import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.machine.listener import server_of
from simulator.errors import SetupError


class Victims(Protocol):
    """The database, as something that can be made to fail."""

    def find(self) -> str:
        """Find them; return the command that continues them if they are paused."""

    def pause(self) -> None:
        """Stop those that were found."""

    def kill(self) -> None:
        """Kill those that were found."""


class ServerProcesses:
    """The processes of a server on this machine."""

    def __init__(self, found: Callable[[], Sequence[psutil.Process]]) -> None:
        """`found` returns them, or raises a SetupError."""
        self._find = found
        self._found: Sequence[psutil.Process] = ()

    def find(self) -> str:
        """Find them, which other processes may have replaced since the last time."""
        self._found = self._find()
        return f"kill -CONT {' '.join(str(each.pid) for each in self._found)} || true"

    def pause(self) -> None:
        """Stop them (SIGSTOP)."""
        self._each(psutil.Process.suspend)

    def kill(self) -> None:
        """Kill them (SIGKILL)."""
        self._each(psutil.Process.kill)

    def _each(self, act: Callable[[psutil.Process], object]) -> None:
        for each in self._found:
            with suppress(psutil.NoSuchProcess):
                act(each)


class Pods:
    """The pods of a database, which their controller replaces."""

    def __init__(self, target: Target, options: ClusterOptions) -> None:
        """SetupError if they are not known."""
        from iotbench.execution.kubernetes.api import (  # noqa: PLC0415 - the Kubernetes client
            Cluster,
        )

        self._target = target
        self._cluster = Cluster(options, options.namespace or target.namespace)
        self.find()

    def find(self) -> str:
        """Find those that run now."""
        from iotbench.execution.kubernetes.database import database_pods  # noqa: PLC0415

        found = database_pods(self._cluster, self._target)
        if isinstance(found, str):
            raise SetupError(found.removeprefix("not measured: "))
        self._found = found
        return ""

    def pause(self) -> None:
        """Do nothing: the processes of a pod cannot be stopped from outside."""

    def kill(self) -> None:
        """Delete them without a grace period."""
        for pod in self._found:
            self._cluster.delete_pod(pod.namespace, pod.name)


def victims_of(target: Target, options: ClusterOptions) -> Victims:
    """Return who is killed or paused on a target; SetupError if it is not known."""
    if target.runner == "kubernetes":
        return Pods(target, options)
    return ServerProcesses(lambda: _processes_of(target))


def _processes_of(target: Target) -> list[psutil.Process]:
    """Return the server's processes, the first of which has started the others."""
    first = server_of(target.options, embedded=target.open().capabilities.embedded)
    if isinstance(first, str):
        raise SetupError(first.removeprefix("not measured: "))
    return [first, *first.children(recursive=True)]
