"""The client machine: its description in results, and the number of workers that it can run."""

import os
import platform
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

from simulator.errors import counted
from simulator.host import usable_cores


class Machine(BaseModel):
    """The client's hardware and software."""

    model_config = ConfigDict(frozen=True)

    system: str
    processor: str
    cores: int
    memory_bytes: int
    python: str
    load_average: float
    """Load average over the minute before the sweep; other load on the machine distorts the
    result."""

    @property
    def hardware(self) -> str:
        """Processor, cores and memory; machines with different hardware are not compared."""
        memory_gib = self.memory_bytes / 2**30
        return f"{self.processor}, {counted(self.cores, 'core')}, {memory_gib:.0f} GiB"


def this_machine() -> Machine:
    """Return this machine's hardware and software."""
    return Machine(
        system=platform.platform(),
        processor=_processor(),
        cores=usable_cores(),
        memory_bytes=psutil.virtual_memory().total,
        python=platform.python_version(),
        load_average=round(os.getloadavg()[0], 2),
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


WORKERS_PER_CORE = 8
_ALWAYS_ALLOWED = 16
"""Largest number of workers in the default sweep."""
_COLLECTOR_BYTES = 256 << 20
_WORKER_BYTES = 96 << 20
"""Memory of a worker; with its driver and small batches, a worker takes 60 to 90 MiB."""
_BATCH_ROW_BYTES = 512
_CONNECTION_BYTES = 40 << 10
"""Memory of each connection after the first; 10,000 connections to MySQL took 36 KiB each."""
_CGROUPS = (
    # (limit, usage) of cgroup v2, then v1
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def worker_bytes(batch_rows: int, connections: int = 1) -> int:
    """Return the approximate memory of a worker that writes batches of this size."""
    return _WORKER_BYTES + _BATCH_ROW_BYTES * batch_rows + _CONNECTION_BYTES * (connections - 1)


def too_many(
    workers: int, batch_rows: int, option: str = "--workers", connections: int = 1
) -> list[str]:
    """Return why this machine cannot run this number of workers, in a sentence for each limit.

    `option` is the name of the option that sets the number of workers.
    """
    problems = []
    cores = usable_cores()
    most = max(WORKERS_PER_CORE * cores, _ALWAYS_ALLOWED)
    if workers > most:
        problems.append(
            f"{option}: {workers:,} workers are too many for the {cores} cores of this machine;"
            f" use {most} or fewer, --runner kubernetes, or --force to insist"
        )
    free, each = free_memory_bytes(), worker_bytes(batch_rows, connections)
    fitting = max((free - _COLLECTOR_BYTES) // each, 0)
    if workers > fitting:
        remedy = f"use {fitting:,} or fewer, a smaller --batch" if fitting else "free some memory"
        problems.append(
            f"{option}: {workers:,} workers need about"
            f" {_gib(_COLLECTOR_BYTES + workers * each)} of memory, and {_gib(free)} are free;"
            f" {remedy}, --runner kubernetes, or --force to insist"
        )
    return problems


def free_memory_bytes() -> int:
    """Return the memory that new processes can use, within the limit of a container, if any."""
    free = psutil.virtual_memory().available
    for limit, usage in _CGROUPS:
        try:
            free = min(free, int(limit.read_text()) - int(usage.read_text()))
        except (OSError, ValueError):
            continue  # no such file, or "max": there is no limit
    return max(free, 0)


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
