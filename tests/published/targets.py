"""The targets measured on this machine, and the size of their servers."""

import psutil

from iotbench.config.targets.advice import ServerSize, SettingsChoice
from tests.published import LEFT_OUT
from tests.settings import Place, places

EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")
OTHERS = ("postgres17", "postgres18", "timescaledb15", "elasticsearch_secure", "opensearch3")
OTHERS += ("cassandra_cluster", "iotdb_us")
"""Servers that are not measured, since another server of the database is."""


def targets() -> dict[str, Place]:
    """Return target -> its place; an embedded database has no server."""
    found = {name: Place("", name, SettingsChoice.INSTALLED) for name in EMBEDDED} | dict(
        places(*OTHERS)
    )
    return {
        target: place
        for target, place in found.items()
        if not {target, place.base} & LEFT_OUT.keys()
    }


def size() -> ServerSize:
    """Return the size of a server: half of this machine's memory, as the client needs the rest."""
    memory_mib = psutil.virtual_memory().total // 2**20
    return ServerSize(memory_mib // 2, psutil.cpu_count() or 1)
