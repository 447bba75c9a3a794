"""Servers are recognised by their answers, and refused by the modules of other products.

`tests/contract/test_refused.py` points modules at the servers that are here. The answers of the
others are as their documentation or source shows them.
"""

import pytest

from simulator.errors import ConfigError
from simulator.modules import MODULES
from simulator.modules.cockroachdb import Cockroachdb
from simulator.modules.contract import Server, recognize
from simulator.modules.postgres.database import Postgres

HEAD = "content-type: application/json\n\n"
ANSWERS = {
    "CockroachDB CCL v26.2.1 (x86_64-pc-linux-gnu, built 2026/06/01 17:03:42, go1.25.5)":
        ("CockroachDB 26.2.1", ("cockroachdb",)),
    "CockroachDB OSS v22.1.3 (x86_64-pc-linux-gnu, built 2022/07/11, go1.17.11)":
        ("CockroachDB 22.1.3", ("cockroachdb",)),
    "PostgreSQL 15.12-YB-2025.2.6.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit":
        ("YugabyteDB 2025.2.6.0-b0", ("yugabyte_sql",)),
    "PostgreSQL 11.2-YB-2.15.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit":
        ("YugabyteDB 2.15.0.0-b0", ("yugabyte_sql",)),
    "PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB":
        ("QuestDB", ("questdb",)),
    "CrateDB 5.9.5 (built 1f1d2a8/2024-12-05T10:30:00Z, Linux 6.1.0 amd64, OpenJDK 22.0.2+9)":
        ("CrateDB 5.9.5", ("cratedb_pg",)),
    "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc":
        ("PostgreSQL 15.18", ("postgres", "timescaledb")),
    "MySQL 8.0.11-TiDB-v7.5.0": ("TiDB 7.5.0", ()),
    "MySQL 9.7.4": ("MySQL 9.7.4", ("mysql",)),
    "MySQL 8.0.40-0ubuntu0.24.04.1": ("MySQL 8.0.40", ("mysql",)),
    "MySQL 10.11.19-MariaDB-0+deb12u1": ("MariaDB 10.11.19", ("mysql",)),
    "MySQL 5.5.5-10.6.21-MariaDB": ("MariaDB 10.6.21", ("mysql",)),
    "ScyllaDB 5.4.0-0.20231231.5e8ce5c": ("ScyllaDB 5.4.0-0.20231231.5e8ce5c", ("cassandra",)),
    "CQL 3.9-SNAPSHOT": ("YugabyteDB YCQL", ("cassandra",)),
    "CQL 5.0.9": ("Cassandra 5.0.9", ("cassandra",)),
    "x-influxdb-build: Core\nx-influxdb-version: 3.1.0\n\n{}": ("InfluxDB 3.1.0", ("influxdb3",)),
    HEAD + '{"ok":true,"status":200,"name":"n","cluster_name":"crate","version":{"number":"5.9.5",'
    '"build_hash":"1f1d2a8","lucene_version":"9.11.1"}}': ("CrateDB 5.9.5", ("cratedb",)),
    HEAD + '{"version":{"number":"7.10.2"},"tagline":"The OpenSearch Project: https://o.org/"}':
        ("OpenSearch 7.10.2", ("elasticsearch",)),
    HEAD + '{"version":{"number":"7.17.0"},"tagline":"You Know, for Search"}':
        ("Elasticsearch 7.17.0", ("elasticsearch",)),
    "Server: ArangoDB\nLocation: /_db/_system/_admin/aardvark/index.html\n\n":
        ("ArangoDB", ("arangodb",)),
    "Server: Splunkd\n\n": ("Splunk", ("splunk",)),
}  # fmt: skip
"""Answer -> product and version, and the modules for it."""


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_product_is_recognised_by_its_answer(answer):
    found = recognize(answer)
    assert (str(found), found.modules) == ANSWERS[answer]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_module_is_refused_by_a_server_of_another_product(answer, monkeypatch):
    product, right = ANSWERS[answer]
    other = Cockroachdb if "postgres" in right else Postgres
    module = other(other.options_model(connection_string="host=h"))
    monkeypatch.setattr(other, "identify", lambda _: answer)
    remedy = " or ".join(right)
    remedy = f"use a target with module: {remedy}" if right else "there is no module for it"

    with pytest.raises(ConfigError, match=f"the server is {product}; {remedy}$"):
        module.inspect()


@pytest.mark.parametrize("answer", ["", "Content-Type: text/html\n\n<h1>Welcome</h1>"])
def test_a_server_that_names_no_product_is_not_refused(answer, monkeypatch):
    described = Server("X 1", 1, "", durable=None)
    monkeypatch.setattr(Postgres, "identify", lambda _: answer)
    monkeypatch.setattr(Postgres, "describe", lambda _: described)

    assert Postgres(Postgres.options_model(connection_string="host=h")).inspect() == described


def test_every_module_of_a_product_exists():
    assert {*MODULES} >= {module for _, right in ANSWERS.values() for module in right}
