"""A credential is rotated while a run goes on: its file is read again, and no row is lost."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.integration.conftest import CommandLine, Wait, rows
from tests.servers import Postgres
from tests.servers.influxdb import InfluxDb1

ROLE, OLD, NEW = "rotated", "old-Zx9Qw7Kp", "new-Vb3Lm5Tr"
LOAD = ("--target=t", "--runs=1", "--batch=20", "--duration=3s", "--quiet", "--verify=full")


@dataclass(frozen=True)
class User:
    """A user of the database, whose password the target reads from a file."""

    server: Postgres
    database: str
    file: Path

    def inserts(self) -> bool:
        """Return whether a worker sends batches."""
        own = f"usename = '{ROLE}' AND query LIKE 'COPY%events%'"
        return bool(rows(self.server, self.database, f"SELECT 1 FROM pg_stat_activity WHERE {own}"))

    def rotate(self) -> None:
        """Change the password, and write it to the file, as a controller of secrets does."""
        self.server.execute(f"ALTER ROLE {ROLE} PASSWORD '{NEW}'")
        new = self.file.with_suffix(".new")
        new.write_text(f"{NEW}\n")
        new.replace(self.file)

    def hang_up(self) -> None:
        """Close the user's connections."""
        own = f"usename = '{ROLE}'"
        self.server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {own}")


@pytest.fixture
def user(cli: CommandLine, server: Postgres, server_database: str) -> Iterator[User]:
    server.execute(
        f"CREATE ROLE {ROLE} LOGIN PASSWORD '{OLD}'",
        f"ALTER DATABASE {server_database} OWNER TO {ROLE}",
    )
    path = cli.folder / "password"
    path.write_text(f"{OLD}\n")
    entry = {
        "module": "postgres",
        "connection_string": server.connection_string(server_database, ROLE),
        "password_from": {"file": "password"},
    }
    cli.configure(t=entry)
    yield User(server, server_database, path)
    server.execute(f"ALTER DATABASE {server_database} OWNER TO bench")
    server.execute(f"REASSIGN OWNED BY {ROLE} TO bench", database=server_database)
    server.execute(f"DROP ROLE {ROLE}")


@pytest.mark.server("postgres")
def test_connections_stay_and_the_rows_are_verified_with_the_new_password(
    cli: CommandLine, user: User, eventually: Wait
) -> None:
    running = cli.start("insert", *LOAD, "--workers=2", "--rate=500", "--format=json")
    eventually(user.inserts)
    user.rotate()
    done = cli.finish(running)

    assert done.code == 0, done.err
    (run,) = cli.results()[-1]["runs"]
    assert run["outcome"]["verdict"]["status"] == "verified"
    everything = done.out + done.err + "".join(p.read_text() for p in cli.output.glob("*.json"))
    assert OLD not in everything
    assert NEW not in everything


@pytest.mark.server("postgres")
def test_connections_that_are_lost_are_opened_with_the_new_password(
    cli: CommandLine, user: User, eventually: Wait
) -> None:
    """A batch in flight is of unknown outcome, and stored or not: the other rows are all there."""
    running = cli.start("insert", *LOAD, "--workers=2", "--rate=500")
    eventually(user.inserts)
    user.rotate()
    user.hang_up()
    done = cli.finish(running)

    (run,) = cli.results()[-1]["runs"]
    assert not run["outcome"]["cause"], done.err
    assert run["metrics"]["rows"] + run["metrics"]["uncertain_rows"] == 1500
    assert run["metrics"]["uncertain_rows"] <= 2 * 20
    assert run["metrics"]["disconnected_s"] > 0
    assert done.code == 0 or run["outcome"]["verdict"]["uncertain_absent"] > 0


@pytest.mark.rare
@pytest.mark.server("postgres")
def test_without_its_file_a_rotated_password_ends_the_run_and_the_cause_is_named(
    cli: CommandLine, user: User, eventually: Wait
) -> None:
    running = cli.start("insert", *LOAD, "--workers=1", "--rate=500")
    eventually(user.inserts)
    user.server.execute(f"ALTER ROLE {ROLE} PASSWORD '{NEW}'")
    user.hang_up()
    done = cli.finish(running)

    assert done.code == 1
    assert "password authentication failed" in done.err
    assert "check user and password" in done.err
    assert OLD not in done.out + done.err


@pytest.mark.server("influxdb1")
@pytest.mark.parametrize("kind", ["insert", "mixed"])
def test_a_server_that_checks_each_request_is_asked_until_the_file_is_new(
    cli: CommandLine,
    server: InfluxDb1,
    server_database: str,
    eventually: Wait,
    kind: str,
) -> None:
    """It refuses the old password some seconds before the new one is in the file."""

    def asked(statement: str) -> Any:
        reply = requests.post(
            f"{server.url}/query", data={"q": statement}, auth=("bench", server.password), timeout=9
        )
        reply.raise_for_status()
        return reply.json()["results"][0]

    asked(f"CREATE USER {ROLE} WITH PASSWORD '{OLD}' WITH ALL PRIVILEGES")
    path = cli.folder / "password"
    path.write_text(OLD)
    entry = {
        "module": "influxdb1", "url": server.url, "user": ROLE,
        "password_from": {"file": "password"}, "prefix": f"{server_database}_",
    }  # fmt: skip
    cli.configure(t=entry)
    load = ["--workers=2", "--rate=500", "--runs=1"]
    if kind == "mixed":
        load = ["--insert-workers=1", "--insert-rate=500", "--query-workers=1", "--query-rate=20"]
        done = cli.run("insert", "--target=t", "--runs=1", "--workers=1", "--num-inserts=100")
        assert done.code == 0, done.err
    running = cli.start(kind, *LOAD, *load, "--retry-for=30s")
    count = f'SELECT count(*) FROM "{server_database}_events"..events'
    before = 100 if kind == "mixed" else 0
    eventually(lambda: counted(asked(count)) > before + 100)
    asked(f"SET PASSWORD FOR {ROLE} = '{NEW}'")
    time.sleep(1.0)
    path.write_text(NEW)
    done = cli.finish(running)

    asked(f"DROP USER {ROLE}")
    assert done.code == 0, done.err + done.out
    (run,) = cli.results()[-1]["runs"]
    assert run["metrics"]["retried"] > 0
    assert run["metrics"]["uncertain_rows"] == 0


def counted(result: Any) -> int:
    """Return the largest count of a field."""
    return max(result["series"][0]["values"][0][1:]) if "series" in result else 0
