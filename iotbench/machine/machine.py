"""The client machine: part of every result, since a number means little without it."""

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
    """Load over the last minute before the sweep; other load on the machine distorts the result."""

    @property
    def hardware(self) -> str:
        """Facts on which rates depend: machines that differ in them are not compared."""
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
