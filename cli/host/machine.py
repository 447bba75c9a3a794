"""What the client machine is: part of every result, since no number means much without it."""

import os
import platform
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict


class Machine(BaseModel):
    """The client's hardware and software."""

    model_config = ConfigDict(frozen=True)

    system: str
    processor: str
    cores: int
    memory_bytes: int
    python: str
    load_average: float
    """Over the last minute, before the sweep: a busy machine measures itself."""


def this_machine() -> Machine:
    """Return what this machine is."""
    return Machine(
        system=platform.platform(),
        processor=_processor(),
        cores=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
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
