"""A password that has expired: one clear line within seconds, with what to do about it."""

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from simulator.modules.base import Database
from simulator.modules.mysql.database import MySql
from simulator.modules.mysql.options import MySqlOptions
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


MAKERS: dict[str, Callable[..., Database]] = {
    "postgres": of_postgres,
    "mysql": of_mysql,
    "mariadb": of_mysql,
}
CAUSES = {
    "postgres": "password authentication failed .*; check user and password.* VALID UNTIL",
    "mysql": "Your password has expired.*; check the user's password, which has expired: ALTER",
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
