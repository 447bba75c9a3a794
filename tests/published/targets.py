"""Which targets are measured here, and what their servers have of this machine."""

import psutil

from iotbench.config.targets.advice import ServerSize, SettingsChoice
from tests.published import LEFT_OUT
from tests.settings import Place, places

EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")
OTHERS = ("postgres17", "postgres18", "timescaledb15", "elasticsearch_secure", "opensearch3")
OTHERS += ("cassandra_cluster", "iotdb_us")
"""Servers of a database that another one stands for."""


def targets() -> dict[str, Place]:
    """Return target -> where it is measured; no server for an embedded database."""
    found = {name: Place("", name, SettingsChoice.INSTALLED) for name in EMBEDDED} | dict(
        places(*OTHERS)
    )
    return {
        target: place
        for target, place in found.items()
        if not {target, place.base} & LEFT_OUT.keys()
    }


def size() -> ServerSize:
    """Return what a server has of this machine: half of its memory, beside the client."""
    memory_mib = psutil.virtual_memory().total // 2**20
    return ServerSize(memory_mib // 2, psutil.cpu_count() or 1)
