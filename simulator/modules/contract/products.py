"""The products that servers may be, recognised by their answers, and the modules for them."""

import re
from typing import NamedTuple

from simulator.errors import ConfigError


class Product(NamedTuple):
    """A product, recognised by the answer of `Database.identify`."""

    name: str
    pattern: str
    """Pattern of the answer; its group, if any, is the version."""
    modules: tuple[str, ...] = ()
    """Modules for the product."""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


_NUMBER = r'"number"\s*:\s*"(\d[^"]*)'
_PRODUCTS = (
    # PostgreSQL's protocol: version()
    Product("CockroachDB", r"^CockroachDB .*?\bv(\d\S*)", ("cockroachdb",)),
    Product("YugabyteDB", r"^PostgreSQL \S+?-YB-(\S+)", ("yugabyte_sql",)),
    Product("QuestDB", r"^PostgreSQL .*\bQuestDB\b", ("questdb",)),
    Product("CrateDB", r"^CrateDB (\d\S*)", ("cratedb_pg",)),
    Product("PostgreSQL", r"^PostgreSQL (\d\S*)", ("postgres", "timescaledb")),
    # MySQL's protocol: the version in the greeting; MariaDB before 11 prefixes 5.5.5-
    Product("TiDB", r"^MySQL .*-TiDB-v?(\d[\d.]*)"),
    Product("MariaDB", r"^MySQL (?:5\.5\.5-)?(\d+\.\d+\.\d+).*MariaDB", ("mysql",)),
    Product("MySQL", r"^MySQL (\d+\.\d+\.\d+)", ("mysql",)),
    # CQL: the release in system.local, or ScyllaDB's version
    Product("ScyllaDB", r"^ScyllaDB (\d\S*)", ("cassandra",)),
    Product("YugabyteDB YCQL", r"^CQL 3\.9-SNAPSHOT", ("cassandra",)),
    Product("Cassandra", r"^CQL (\d\S*)", ("cassandra",)),
    # HTTP: headers and bodies of /ping and /; QuestDB also sends InfluxDB's header
    Product("QuestDB", r"^server: questDB", ("questdb",)),
    Product("InfluxDB", r"^x-influxdb-version: v?(1\.\S+)", ("influxdb1",)),
    Product("InfluxDB", r"^x-influxdb-version: v?(2\.\S+)", ("influxdb",)),
    Product("InfluxDB", r"^x-influxdb-version: v?(3\.\S+)", ("influxdb3",)),
    Product("VictoriaMetrics", r"^<h2>Single-node VictoriaMetrics", ("victoriametrics",)),
    Product("OpenSearch", rf"{_NUMBER}[^}}]*}}[^}}]*The OpenSearch Project", ("elasticsearch",)),
    Product("Elasticsearch", rf"{_NUMBER}[^}}]*}}[^}}]*You Know, for Search", ("elasticsearch",)),
    Product("Elasticsearch", r"^x-elastic-product: Elasticsearch", ("elasticsearch",)),
    Product("CrateDB", rf'"ok"\s*:\s*true[^}}]*{_NUMBER}', ("cratedb",)),
    Product("ClickHouse", r"^\r?\nOk\.\n\Z", ("clickhouse",)),
    Product("ArangoDB", r"^server: ArangoDB", ("arangodb",)),
    Product("Graphite", r"<title>Graphite Browser", ("graphite",)),
    Product("OpenTSDB", r"<title>OpenTSDB", ("opentsdb",)),
    Product("Splunk", r"^server: Splunkd", ("splunk",)),
)
KNOWN = frozenset(module for product in _PRODUCTS for module in product.modules)
"""Modules that check the server's product; a user's own module has another name."""


def list_products(module: str) -> list[str]:
    """Return the names of the products that a module is for, as far as answers name them."""
    return [product.name for product in _PRODUCTS if module in product.modules]


def recognize(answer: str) -> Product:
    """Return the product that an answer names; an unknown product is named by the answer."""
    for product in _PRODUCTS:
        if found := re.search(product.pattern, answer, re.IGNORECASE | re.MULTILINE):
            return product._replace(version=found[1].rstrip(",") if found.groups() else "")
    return Product(answer, "", tuple(KNOWN))  # any module may be for it


def expect_own(module: str, answer: str) -> None:
    """Raise ConfigError, with the right modules, if the answer names another module's product."""
    found = recognize(answer)
    if module not in found.modules:
        right = " or ".join(found.modules)
        remedy = f"use a target with module: {right}" if right else "there is no module for it"
        raise ConfigError(f"{module}: the server is {found}; {remedy}")
