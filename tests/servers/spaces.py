"""A database of a test's own, on a server that others use too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from psycopg2.extensions import make_dsn, parse_dsn

from simulator.modules.contract import Database

Act = Callable[[Database, str], None]
Given = dict[str, Any]


def _as_given(given: Given, _: str) -> Given:
    """Return the options of an address: the product has no databases."""
    return given


def _nothing(database: Database, name: str) -> None:
    """Do nothing: the module makes it, or it ends with its last table."""


@dataclass(frozen=True)
class Space:
    """How a product keeps the tables of a test apart from all others."""

    options: Callable[[Given, str], Given] = _as_given
    """The options of an address, and a name -> those that reach the database of that name."""
    create: Act = _nothing
    drop: Act = _nothing

    @property
    def is_apart(self) -> bool:
        """True if names in it are never those of others."""
        return self.options is not _as_given

    @property
    def drops_all(self) -> bool:
        """True if `drop` drops the tables too."""
        return self.drop is not _nothing


def _statements(*texts: str) -> Act:
    """Return what runs statements; {} is the name."""

    def act(database: Database, name: str) -> None:
        statements = [text.format(name) for text in texts]
        match database.name:
            case "mysql" | "clickhouse":
                cast(Any, database).change(statements)
            case _:
                with cast(Any, database).administration() as session:
                    for statement in statements:
                        session.ask(statement)

    return act


def _dbname(given: Given, name: str) -> Given:
    dsn = {**parse_dsn(given["connection_string"]), "dbname": name}
    return {**given, "connection_string": make_dsn(**dsn)}


def _option(option: str, form: str = "{}") -> Callable[[Given, str], Given]:
    return lambda given, name: {**given, option: form.format(name)}


def _drop_keyspace(database: Database, name: str) -> None:
    with cast(Any, database).administration() as session:
        session.session.execute(f'DROP KEYSPACE IF EXISTS "{name}"')


def _drop_iotdb(database: Database, name: str) -> None:
    with cast(Any, database).administration() as session:
        session.link.execute(f"DROP DATABASE IF EXISTS {name}")


def _create_arangodb(database: Database, name: str) -> None:
    with cast(Any, database).administration() as session:
        session.db.create_database(name)


def _drop_arangodb(database: Database, name: str) -> None:
    with cast(Any, database).administration() as session:
        session.db.delete_database(name, ignore_missing=True)


_CREATE = _statements("CREATE DATABASE {}")
_POSTGRES = Space(_dbname, _CREATE, _statements("DROP DATABASE IF EXISTS {} WITH (FORCE)"))
_SPACES = {
    "postgres": _POSTGRES,
    "timescaledb": _POSTGRES,
    "yugabyte_sql": Space(_dbname, _CREATE, _statements("DROP DATABASE IF EXISTS {}")),
    "cockroachdb": Space(_dbname, _CREATE, _statements("DROP DATABASE IF EXISTS {} CASCADE")),
    "cratedb": Space(_option("schema_name")),
    "cratedb_pg": Space(_dbname),
    "mysql": Space(_option("database"), _CREATE, _statements("DROP DATABASE IF EXISTS {}")),
    "clickhouse": Space(_option("database"), _CREATE, _statements("DROP DATABASE IF EXISTS {}")),
    "cassandra": Space(_option("keyspace"), drop=_drop_keyspace),
    "mongodb": Space(_option("database")),
    "iotdb": Space(_option("database"), drop=_drop_iotdb),
    "arangodb": Space(_option("database"), _create_arangodb, _drop_arangodb),
    "influxdb": Space(_option("prefix", "{}_")),
    "influxdb1": Space(_option("prefix", "{}_")),
    "influxdb3": Space(_option("prefix", "{}_")),
    "victoriametrics": Space(_option("prefix", "{}_")),
    "opentsdb": Space(_option("prefix", "{}.")),
    "graphite": Space(_option("prefix", "{}.")),
}
"""Module -> its space. The others have none: their tables have the names of the workload."""


def space_of(module: str) -> Space:
    """Return how a module's product keeps tables apart."""
    return _SPACES.get(module, Space())
