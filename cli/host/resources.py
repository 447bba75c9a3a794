"""CPU, load and memory of this machine, of the client and of the server while a run goes on.

A sample is taken every two seconds and whenever a phase begins. The server is the process that
listens at the target's address, with its children; the client is this command line with its own.
Time of children that have ended counts as their parent's.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Self

import psutil
from pydantic import BaseModel, ConfigDict

from simulator.protocol.messages import Event, PhaseEvent

EVERY_S = 2.0
BASELINE_S = 5.0
BEFORE, AFTER = "before", "after"
"""The phases of the baseline, in which nothing runs."""
_START = "start"
_SHORTEST_S = 0.05
"""CPU time is counted in hundredths of a second."""


class Used(BaseModel):
    """What some processes used while a sample was taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cores: float
    """CPU time over time."""
    memory_bytes: int
    """Resident at the end; pages that processes share count once."""


class Sample(BaseModel):
    """The time from the previous sample to this one, within one phase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    phase: str
    ended_s: float
    """Since the first sample began."""
    duration_s: float
    machine_cores: float
    """Busy, of all cores of the machine."""
    machine_load: float
    """The load average of the last minute, at the end."""
    machine_memory_bytes: int
    """In use at the end."""
    client: Used
    server: Used | None
    """None if it was not measured."""


class Resources(BaseModel):
    """The samples of one run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: str
    """Which process was measured as the server, or why none was."""
    samples: tuple[Sample, ...]


class Group:
    """A process and its descendants."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._cpu_s = self._total_s()

    def used(self, elapsed_s: float) -> Used:
        """Return what it has used since the previous call, which is so long ago."""
        before_s, self._cpu_s = self._cpu_s, max(self._total_s(), self._cpu_s)
        private = shared = 0
        for process in self._members():
            with suppress(psutil.Error):
                memory = process.memory_info()
                common = getattr(memory, "shared", 0)
                private, shared = private + memory.rss - common, max(shared, common)
        return Used(cores=(self._cpu_s - before_s) / elapsed_s, memory_bytes=private + shared)

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


class ResourceMeter:
    """Measures one run after another; `follow` gets the events of a run."""

    def __init__(self, server: psutil.Process | str, every_s: float = EVERY_S) -> None:
        """Take the server's process, or why it is not measured."""
        self._server = server if isinstance(server, psutil.Process) else None
        self._described = server if isinstance(server, str) else _described(server)
        self._every_s = every_s
        self._lock = threading.Lock()
        self._samples: list[Sample] = []
        self._phase = ""
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._groups = Group(psutil.Process()), self._server and Group(self._server)
        self._began_s = self._sampled_s = time.monotonic()
        self._busy_s = _busy_s()
        self._thread = threading.Thread(target=self._sample_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def rest(self, phase: str, over: Callable[[], bool]) -> None:
        """Measure the baseline: wait, unless the user has asked to stop."""
        self._enter(phase)
        end_s = time.monotonic() + BASELINE_S
        while time.monotonic() < end_s and not over():
            time.sleep(_SHORTEST_S)
        self._enter(_START)

    def follow(self, event: Event) -> None:
        """Note the phase that the run is in."""
        if isinstance(event, PhaseEvent):
            self._enter(event.phase)

    def taken(self) -> Resources:
        """Return the samples since the last call."""
        self._enter(self._phase)
        with self._lock:
            samples, self._samples = tuple(self._samples), []
        return Resources(server=self._described, samples=samples)

    def _enter(self, phase: str) -> None:
        with self._lock:
            self._sample()
            self._phase = phase

    def _sample_on(self) -> None:
        while not self._ended.wait(self._every_s):
            with self._lock:
                if time.monotonic() - self._sampled_s >= self._every_s / 2:
                    self._sample()

    def _sample(self) -> None:
        now_s = time.monotonic()
        elapsed_s = now_s - self._sampled_s
        if not self._phase or elapsed_s < _SHORTEST_S:
            return
        self._sampled_s = now_s
        busy_before_s, self._busy_s = self._busy_s, _busy_s()
        client, server = self._groups
        self._samples.append(
            Sample(
                phase=self._phase,
                ended_s=now_s - self._began_s,
                duration_s=elapsed_s,
                machine_cores=(self._busy_s - busy_before_s) / elapsed_s,
                machine_load=os.getloadavg()[0],
                machine_memory_bytes=psutil.virtual_memory().used,
                client=client.used(elapsed_s),
                server=server and server.used(elapsed_s),
            )
        )


def _busy_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def _described(server: psutil.Process) -> str:
    return f"{server.name()}, process {server.pid}"


def mean_of(timed: Iterable[tuple[float, float]]) -> float:
    """Return the mean of (value, duration), at least one, over their time."""
    pairs = [*timed]
    return sum(value * s for value, s in pairs) / sum(s for _, s in pairs)
