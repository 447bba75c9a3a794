"""The command line before a liar, which is before a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml

from tests.faults import network
from tests.faults.liar import Liar, Plot, Wire
from tests.faults.proxy import Proxy
from tests.faults.wires.cql import CqlWire
from tests.faults.wires.http import BulkWire, InfluxWire, LinesWire
from tests.faults.wires.mongodb import MongoDbWire
from tests.faults.wires.mysql import MySqlWire
from tests.faults.wires.postgres import PostgresWire
from tests.integration.conftest import CommandLine
from tests.servers import Server

PRODUCTS: dict[str, tuple[str, type[Wire]]] = {
    "postgres": ("postgres", PostgresWire),
    "mysql": ("mysql", MySqlWire),
    "mariadb": ("mysql", MySqlWire),
    "ferretdb": ("mongodb", MongoDbWire),
    "cassandra": ("cassandra", CqlWire),
    "influxdb": ("influxdb", InfluxWire),
    "elasticsearch": ("elasticsearch", BulkWire),
    "questdb": ("questdb", LinesWire),
    "victoriametrics": ("victoriametrics", LinesWire),
}
"""Server -> module and wire."""


@dataclass
class Behind:
    """The command line, and the liar before its database, the target `lied`."""

    cli: CommandLine
    plot: Plot
    proxy: Proxy


@contextmanager
def behind(cli: CommandLine, server: Server, database: str, **more: Any) -> Iterator[Behind]:
    """Yield a command line that reaches an empty database of a server through a liar only."""
    (module, wire), plot = PRODUCTS[server.name], Plot()
    proxy = Proxy(server.port(), network.listen, between=partial(Liar, wire, plot))
    own, found = str(server.port()), str(proxy.port)
    options = {
        name: value.replace(own, found) if isinstance(value, str) else value
        for name, value in server.options(database).items()
    }
    options |= {"port": proxy.port} if "port" in options else {}
    target = {"module": module, "runner": "local", **options, **more}
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text(yaml.safe_dump({"targets": {"lied": target}}))
    try:
        yield Behind(cli, plot, proxy)
    finally:
        proxy.close()
    assert not plot.failed, plot.failed
