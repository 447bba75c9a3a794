"""The registry: a module's name -> where its Database class is.

A dotted path "package.file:Class" in config.yaml names a user's own module.
"""

import importlib

from simulator.errors import ConfigError, nearest
from simulator.modules.base import Database

MODULES = {
    "null": "simulator.modules.null:Null",
    "sqlite": "simulator.modules.sqlite:Sqlite",
    "duckdb": "simulator.modules.duckdb:DuckDb",
    "clickhouse_embedded": "simulator.modules.clickhouse_embedded:ClickhouseEmbedded",
    "postgres": "simulator.modules.postgres:Postgres",
    "timescaledb": "simulator.modules.timescaledb:Timescaledb",
    "cockroachdb": "simulator.modules.cockroachdb:Cockroachdb",
    "yugabyte_sql": "simulator.modules.yugabyte_sql:YugabyteSql",
    "cratedb": "simulator.modules.cratedb:Cratedb",
    "cratedb_pg": "simulator.modules.cratedb_pg:CratedbPg",
    "mysql": "simulator.modules.mysql:MySql",
    "cassandra": "simulator.modules.cassandra:Cassandra",
    "mongodb": "simulator.modules.mongodb:Mongodb",
    "arangodb": "simulator.modules.arangodb:Arangodb",
    "elasticsearch": "simulator.modules.elasticsearch:Elasticsearch",
    "clickhouse": "simulator.modules.clickhouse:Clickhouse",
    "influxdb": "simulator.modules.influxdb:Influxdb",
    "influxdb1": "simulator.modules.influxdb1:Influxdb1",
    "influxdb3": "simulator.modules.influxdb3:Influxdb3",
    "opentsdb": "simulator.modules.opentsdb:OpenTsdb",
    "splunk": "simulator.modules.splunk:Splunk",
    "graphite": "simulator.modules.graphite:Graphite",
}


def database_class(module: str) -> type[Database]:
    """Import and return a module's Database class; ConfigError if there is none of that name."""
    path = MODULES.get(module, module)
    package, _, name = path.partition(":")
    if not name:
        hint = nearest(module, MODULES)
        msg = f"module {module!r} is not known ({hint}); your own is written package.file:Class"
        raise ConfigError(msg)
    try:
        found = getattr(importlib.import_module(package), name)
    except (ImportError, AttributeError) as error:
        msg = f"module {module!r} cannot be imported: {error}"
        raise ConfigError(msg) from error
    if not (isinstance(found, type) and issubclass(found, Database)):
        msg = f"module {module!r}: {name} is not a simulator.modules.base.Database"
        raise ConfigError(msg)
    return found
