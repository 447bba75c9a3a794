"""A password that has expired or changed: one clear line within seconds, and what to do."""

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from simulator.modules.cassandra.database import Cassandra
from simulator.modules.cassandra.options import CassandraOptions
from simulator.modules.contract import Database
from simulator.modules.mongodb.database import Mongodb, MongodbOptions
from simulator.modules.mysql.database import MySql, MySqlOptions
from simulator.modules.postgres.database import Postgres, PostgresOptions
from tests.contract.harness import refusal


def of_postgres(server: Any, options: dict[str, Any], name: str, password: str) -> Database:
    server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}' VALID UNTIL '2020-01-01'")
    where = re.sub(r"user=\w+", f"user={name}", options["connection_string"])
    return Postgres(PostgresOptions(connection_string=where, password=password))


def of_mysql(server: Any, options: dict[str, Any], name: str, password: str) -> Database:
    who = f"'{name}'@'127.0.0.1'"
    server.execute(
        f"CREATE USER {who} IDENTIFIED BY '{password}'", f"GRANT ALL ON *.* TO {who}",
        f"ALTER USER {who} PASSWORD EXPIRE",
    )  # fmt: skip
    return MySql(MySqlOptions(**{**options, "user": name, "password": password}))


def of_ferretdb(server: Any, options: dict[str, Any], name: str, password: str) -> Database:
    """Users are roles of the PostgreSQL behind it, whose passwords expire there."""
    roles = [
        {"role": "readWriteAnyDatabase", "db": "admin"},
        {"role": "clusterAdmin", "db": "admin"},
    ]
    with server.client() as client:
        client.admin.command("createUser", name, pwd=password, roles=roles)
    where = server.connection_string(user=name)
    own = {**options, "connection_string": where, "password": password}
    database = Mongodb(MongodbOptions(**own))
    with database.connect():
        pass
    server.execute(f"ALTER ROLE {name} VALID UNTIL '2020-01-01'")
    return database


def of_cassandra(server: Any, options: dict[str, Any], name: str, password: str) -> Database:
    """No password expires there; somebody else has changed it."""
    server.execute(f"CREATE ROLE {name} WITH PASSWORD = '{password}' AND LOGIN = true")
    own = {**options, "username": name, "password": password}
    database = Cassandra(CassandraOptions(**own))
    server.execute(  # a password changes every 5 s at most, so the role is made again
        f"DROP ROLE {name}",
        f"CREATE ROLE {name} WITH PASSWORD = '{secrets.token_urlsafe(12)}' AND LOGIN = true",
    )
    return database


MAKERS: dict[str, Callable[..., Database]] = {
    "postgres": of_postgres,
    "mysql": of_mysql,
    "mariadb": of_mysql,
    "ferretdb": of_ferretdb,
    "cassandra": of_cassandra,
}
CAUSES = {
    "postgres": "password authentication failed .*; check user and password.* VALID UNTIL",
    "mysql": "Your password has expired.*; check the user's password, which has expired: ALTER",
    "ferretdb": "(?i)authentication failed.*; check user and password",
    "cassandra": "(Bad credentials|AuthenticationFailed).*; check username and password",
    "mariadb": "must SET PASSWORD .*; check the user's password, which has expired: ALTER",
}


@pytest.mark.server(*MAKERS)
def test_an_expired_password_is_named(
    server: Any, server_name: str, server_options: dict[str, Any]
) -> None:
    name, password = f"late_{secrets.token_hex(4)}", secrets.token_urlsafe(12)
    database = MAKERS[server_name](server, server_options, name, password)
    for text in refusal(database):
        assert re.search(CAUSES[server_name], text), text
        assert password not in text
