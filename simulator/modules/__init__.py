"""The registry of modules: name -> location of the Database class.

A dotted path "package.file:Class" in config.yaml loads a module of the user.
"""

import importlib
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from simulator.errors import ConfigError, nearest
from simulator.modules.contract import Database

MODULES = {
    "null": "simulator.modules.null:Null",
    "sqlite": "simulator.modules.sqlite:Sqlite",
    "duckdb": "simulator.modules.duckdb.database:DuckDb",
    "clickhouse_embedded": "simulator.modules.clickhouse_embedded:ClickhouseEmbedded",
    "postgres": "simulator.modules.postgres.database:Postgres",
    "timescaledb": "simulator.modules.timescaledb.database:Timescaledb",
    "cockroachdb": "simulator.modules.cockroachdb:Cockroachdb",
    "yugabyte_sql": "simulator.modules.yugabyte_sql:YugabyteSql",
    "cratedb": "simulator.modules.cratedb.database:Cratedb",
    "cratedb_pg": "simulator.modules.cratedb_pg:CratedbPg",
    "mysql": "simulator.modules.mysql.database:MySql",
    "cassandra": "simulator.modules.cassandra.database:Cassandra",
    "mongodb": "simulator.modules.mongodb.database:Mongodb",
    "arangodb": "simulator.modules.arangodb.database:Arangodb",
    "elasticsearch": "simulator.modules.elasticsearch.database:Elasticsearch",
    "clickhouse": "simulator.modules.clickhouse.database:Clickhouse",
    "influxdb": "simulator.modules.influxdb.database:Influxdb",
    "influxdb1": "simulator.modules.influxdb1:Influxdb1",
    "influxdb3": "simulator.modules.influxdb3:Influxdb3",
    "questdb": "simulator.modules.questdb.database:QuestDb",
    "quasardb": "simulator.modules.quasardb.database:QuasarDb",
    "iotdb": "simulator.modules.iotdb.database:IotDb",
    "opentsdb": "simulator.modules.opentsdb.database:OpenTsdb",
    "splunk": "simulator.modules.splunk.database:Splunk",
    "victoriametrics": "simulator.modules.victoriametrics.database:VictoriaMetrics",
    "graphite": "simulator.modules.graphite.database:Graphite",
}


_LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_ATTRIBUTES = ("name", "capabilities", "options_model")


def database_class(module: str) -> type[Database]:
    """Import and return a module's Database class; ConfigError if there is none of that name."""
    path = MODULES.get(module, module)
    package, _, name = path.partition(":")
    if not name:
        hint = nearest(module, MODULES)
        raise ConfigError(f"unknown module ({hint}); write your own as package.file:Class")
    if not _LOCATION.fullmatch(path):
        raise ConfigError("module: expected package.file:Class, with names of Python")
    try:
        found = getattr(importlib.import_module(package), name)
    except Exception as error:  # the user's file may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"module {module!r} cannot be imported: {reason}") from error
    if not (isinstance(found, type) and issubclass(found, Database)):
        raise ConfigError(f"module {module!r}: {name} is not a simulator.modules.contract.Database")
    missing = sorted(found.__abstractmethods__)
    missing += [each for each in _ATTRIBUTES if not hasattr(found, each)]
    if missing:
        raise ConfigError(f"module {module!r}: {name} lacks {', '.join(missing)}")
    return found


def open_database(module: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> Database:
    """Return a target's database; `secrets` are the options that are credentials. No I/O."""
    cls = database_class(module)
    try:
        return cls(cls.options_model.model_validate({**options, **secrets}))
    except ValidationError as error:  # its own text and traceback may repeat a credential
        found = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in found]
        raise ConfigError([f"module {module!r}: {problem}" for problem in problems]) from None
