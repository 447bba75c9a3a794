"""Other work on this machine during a run, which lowers figures and makes them uneven."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import psutil

from simulator.frozen import Frozen

STOLEN = "other machines on the same hardware"
_KERNEL = 2
"""Process ID of kthreadd, the parent of kernel threads, some of which work for the database."""
_NAMED = 3
_LEAST_CORES = 0.02
_TICKS_S = 0.05
"""Tolerance for CPU times, which are whole ticks, so that their sum is a little too low."""


class OtherWork(Frozen):
    """CPU cores that processes other than client and server used on average during a run."""

    cores: float
    busiest: dict[str, float]
    """Name of a process, or STOLEN -> cores used, in descending order; idle processes are
    omitted."""

    def __str__(self) -> str:
        busiest = ", ".join(f"{name} {cores:.2f}" for name, cores in self.busiest.items())
        return f"{self.cores:.2f} cores: {busiest}" if busiest else f"{self.cores:.2f} cores"


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    parent: int
    began_s: float
    cpu_s: float
    """CPU time, including children that have ended."""


@dataclass(frozen=True, slots=True)
class _Reading:
    at_s: float
    stolen_s: float
    processes: Mapping[int, _Process]
    apart: AbstractSet[int] | None
    """Process IDs of the client and the server; None if the server's processes are not known."""


class Bystanders:
    """Measures the other work during each run, one run after another."""

    def __init__(self, servers: Callable[[], Sequence[psutil.Process] | None]) -> None:
        """Prepare to measure.

        `servers` returns the current processes of the server on this machine; None if they are not
        known.
        """
        self._servers = servers
        self._first: _Reading | None = None

    def begin(self) -> None:
        """Begin to measure a run."""
        self._first = self._read(children_first=True)

    def work(self) -> OtherWork | None:
        """Return the other work since `begin`; None if the server's processes are not known."""
        first, self._first = self._first, None
        last = self._read()
        if not first or first.apart is None or last.apart is None:
            return None
        return _compare(first, last, first.apart | last.apart)

    def _read(self, *, children_first: bool = False) -> _Reading:
        """Read all processes.

        With `children_first`, the reading includes children that end during the reading.
        """
        processes = dict(_list_processes(reverse=children_first))
        stolen_s = float(getattr(psutil.cpu_times(), "steal", 0.0))
        return _Reading(time.monotonic(), stolen_s, processes, self._apart(processes))

    def _apart(self, processes: Mapping[int, _Process]) -> set[int] | None:
        servers = self._servers()
        if servers is None:
            return None
        roots = {psutil.Process().pid}
        if _KERNEL in processes and processes[_KERNEL].name == "kthreadd":
            roots.add(_KERNEL)
        client = _add_descendants(processes, roots)
        return client | _find_servers(processes, {each.pid for each in servers})


def _list_processes(*, reverse: bool) -> Iterator[tuple[int, _Process]]:
    for each in sorted(psutil.process_iter(), key=lambda each: each.pid, reverse=reverse):
        with suppress(psutil.Error), each.oneshot():
            times = each.cpu_times()
            cpu_s = times.user + times.system
            if each.pid != 1:  # it waits for the children of processes that have ended
                cpu_s += times.children_user + times.children_system
            yield each.pid, _Process(each.name(), each.ppid(), each.create_time(), cpu_s)


def _add_descendants(processes: Mapping[int, _Process], roots: AbstractSet[int]) -> set[int]:
    found, new = {*roots}, {*roots}
    while new:
        new = {pid for pid, each in processes.items() if each.parent in new} - found
        found |= new
    return found


def _find_servers(processes: Mapping[int, _Process], servers: AbstractSet[int]) -> set[int]:
    """Return the processes of the servers, and of local servers to which they connect."""
    connections = []
    if servers:
        with suppress(psutil.Error):  # some systems show them to root only
            connections = psutil.net_connections("tcp")
    listeners = {each.laddr.port: each.pid for each in connections
                 if each.status == psutil.CONN_LISTEN and each.laddr and each.pid}  # fmt: skip
    found: set[int] = set()
    new = servers
    while new:
        new = _add_descendants(processes, new)
        found |= new
        ports = {each.raddr.port for each in connections if each.raddr and each.pid in new}
        new = {listeners[port] for port in ports & listeners.keys()} - found
    return found


def _compare(first: _Reading, last: _Reading, apart: AbstractSet[int]) -> OtherWork:
    duration_s, most = last.at_s - first.at_s, float(psutil.cpu_count() or 1)
    used = defaultdict[str, float](float, {STOLEN: last.stolen_s - first.stolen_s})
    for pid, cpu_s in _compute_grown_s(first, last).items():
        if pid not in apart:
            used[last.processes[pid].name] += max(cpu_s, 0.0)
    cores = {name: min(max(cpu_s, 0.0) / duration_s, most) for name, cpu_s in used.items()}
    named = {name: round(each, 2) for name, each in cores.items() if each >= _LEAST_CORES}
    busiest = sorted(named.items(), key=lambda each: -each[1])[:_NAMED]
    return OtherWork(cores=round(min(sum(cores.values()), most), 3), busiest=dict(busiest))


def _is_in(reading: _Reading, pid: int, process: _Process) -> bool:
    """Return whether a reading has this process, not an earlier process with the same ID."""
    known = reading.processes.get(pid)
    return known is not None and known.began_s == process.began_s


def _compute_grown_s(first: _Reading, last: _Reading) -> Mapping[int, float]:
    """Return the CPU time that each process used between two readings.

    The kernel adds the CPU time of an ended child to the process that waits for the child. This is
    taken to be the nearest ancestor with at least this increase. The CPU time of the child before
    the first reading is subtracted from the increase.
    """
    grown = {
        pid: each.cpu_s - (first.processes[pid].cpu_s if _is_in(first, pid, each) else 0.0)
        for pid, each in last.processes.items()
    }
    ended = [each for pid, each in first.processes.items() if not _is_in(last, pid, each)]
    for each in sorted(ended, key=lambda each: -each.cpu_s):
        alive = (pid for pid in _list_ancestors(first, each) if pid in grown)
        heirs = (pid for pid in alive if grown[pid] >= each.cpu_s - _TICKS_S)
        for heir in islice(heirs, 1):
            grown[heir] -= each.cpu_s
    return grown


def _list_ancestors(reading: _Reading, process: _Process) -> Iterator[int]:
    """Yield the process IDs of the ancestors of a process, the parent first."""
    seen = {0}
    while process.parent not in seen:
        seen.add(process.parent)
        yield process.parent
        if process.parent in reading.processes:
            process = reading.processes[process.parent]
