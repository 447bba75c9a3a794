"""The suite on a server that it did not start: PostgreSQL, reached as if it ran elsewhere."""

import contextlib
import os
import subprocess
import sys

import psycopg2
import pytest

from tests import ROOT
from tests.servers.postgres import ADMIN

pytestmark = [pytest.mark.server("postgres"), pytest.mark.rare]
FILES = [f"tests/contract/test_{name}.py" for name in ("contract", "kill", "refused")]
CASES = "every_query or wrong_credential or host_that_does_not_exist or acknowledged_rows"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *FILES, "-n0", "-v", "-rs", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def databases(server) -> set[str]:
    options = server.options("postgres")
    connection = psycopg2.connect(options["connection_string"], password=options["password"])
    with contextlib.closing(connection), connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.timeout(300)
def test_cases_run_there_and_leave_neither_a_database_nor_the_password(server):
    before = databases(server)
    url = f"postgres=postgresql://{ADMIN}@127.0.0.1:{server.port()}/postgres"

    done = run(f"--address={url}", "-k", CASES, POSTGRES_PASSWORD=server.password)

    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "servers: postgres_elsewhere" in output
    for case in ("every_query", "wrong_credential", "host_that_does_not_exist"):
        assert any(
            case in ln and "[postgres" in ln and "PASSED" in ln for ln in output.splitlines()
        )
    assert "postgres runs elsewhere: tests cannot kill it; --addresses FILE" in output
    assert "[mysql" not in output
    assert server.password not in output
    assert databases(server) == before
