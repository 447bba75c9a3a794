"""CPU and memory counters of this machine, of the client's processes and of a local server."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress

import psutil

from iotbench.machine.resources import BASELINE_S, CounterOwner, CounterReading, Name, Resources

EVERY_S = 2.0


class Group:
    """A process and its descendants.

    The CPU time of an ended child is included in the CPU time of its parent.
    """

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._cpu_s = 0.0

    def cpu_s(self) -> float:
        """Return the group's CPU time, which never decreases, even when the group has ended."""
        self._cpu_s = max(self._total_s(), self._cpu_s)
        return self._cpu_s

    def memory_bytes(self) -> int:
        """Return the resident memory of the group; pages that processes share are counted once."""
        private = shared = 0
        for process in self._members():
            with suppress(psutil.Error):
                memory = process.memory_info()
                common = getattr(memory, "shared", 0)
                private, shared = private + memory.rss - common, max(shared, common)
        return private + shared

    def _members(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return [self._process, *self._process.children(recursive=True)]
        return []

    def _total_s(self) -> float:
        total_s = 0.0
        for process in self._members():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total_s += times.user + times.system
                total_s += times.children_user + times.children_system
        return total_s


class ProcessSource:
    """Reads the counters of this machine, and of the process groups of client and server."""

    margin_s = 0.0
    longest_rest_s = BASELINE_S

    def __init__(self, server: psutil.Process | str, every_s: float = EVERY_S) -> None:
        """Prepare to read; `server` is the server's process, or the reason why it is not known."""
        self.every_s = self.piece_s = every_s
        self._groups = {(CounterOwner.CLIENT, ""): Group(psutil.Process())}
        described = f"not measured: {server}"
        if isinstance(server, psutil.Process):
            self._groups[CounterOwner.SERVER, ""] = Group(server)
            described = f"{server.name()}, process {server.pid}"
        self.described = Resources(
            server=described, client="this process", machine="machine", samples=()
        )

    def read(self) -> Mapping[Name, CounterReading]:
        """Read the counters of machine, client and server."""
        now_s, times = time.monotonic(), psutil.cpu_times()
        busy_s = float(times.user + times.nice + times.system)
        machine = CounterReading(now_s, busy_s, psutil.virtual_memory().used, os.getloadavg()[0])
        groups = {
            name: CounterReading(now_s, group.cpu_s(), group.memory_bytes())
            for name, group in self._groups.items()
        }
        return {(CounterOwner.MACHINE, ""): machine, **groups}
