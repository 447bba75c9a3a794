"""Workloads: tables, their rows, and queries."""

from simulator.data.workloads.base import Workload
from simulator.data.workloads.cpu import Cpu
from simulator.data.workloads.dashboard import Dashboard
from simulator.data.workloads.declared import Declared
from simulator.data.workloads.devops import Devops
from simulator.data.workloads.file import File
from simulator.data.workloads.homes.workload import Homes
from simulator.data.workloads.iot import Iot
from simulator.data.workloads.metaquery import Metaquery
from simulator.data.workloads.multi_measurement import MultiMeasurement
from simulator.data.workloads.nosql import Large, Light, Slim
from simulator.data.workloads.ohlcv import Ohlcv
from simulator.data.workloads.trucks.workload import Trucks
from simulator.errors import ConfigError, nearest

_GENERATORS: tuple[type[Workload], ...] = (
    Iot, Devops, Dashboard, Metaquery, MultiMeasurement, Cpu, Homes, Trucks, Ohlcv,
    Slim, Light, Large,
)  # fmt: skip
GENERATORS: dict[str, type[Workload]] = {cls.name: cls for cls in _GENERATORS}
"""The choices of `--workload`."""
WORKLOADS: dict[str, type[Workload]] = {
    **GENERATORS,
    File.name: File,
    Declared.name: Declared,
}


def workload_class(name: str) -> type[Workload]:
    """Return a workload's class; ConfigError if no workload has the name."""
    if name not in WORKLOADS:
        raise ConfigError(f"workload {name!r} is not known ({nearest(name, WORKLOADS)})")
    return WORKLOADS[name]
