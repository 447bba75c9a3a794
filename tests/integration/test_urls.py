"""URLs as targets, from the outside: files, and servers with the documented role."""

import json
import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.integration.conftest import CommandLine

FEW = ("--workers=1", "--runs=1", "--batch=1000", "--num-inserts=2000", "--quiet")
_SQL = re.compile(r"^```sql ([^\n]+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (server, text)
    for page in sorted((ROOT / "docs/databases").glob("*.md"))
    for servers, text in _SQL.findall(page.read_text())
    for server in servers.split()
]


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_is_inserted_queried_and_verified(
    cli: CommandLine, tmp_path: Path, scheme: str
) -> None:
    target = f"--target={scheme}:{tmp_path / 'rooms.db'}"
    for command, options in (("insert", FEW), ("query", ("--count=2",)), ("verify", ())):
        done = cli.run(command, target, *options)
        assert done.code == 0, done.err

    inserted = next(each for each in cli.results() if each["kind"] == "insert")
    assert inserted["target"].startswith(f"{scheme}-")
    assert inserted["target"].endswith("rooms.db")


def test_repeat_takes_no_url_from_a_file(cli: CommandLine, tmp_path: Path) -> None:
    target = f"--target=sqlite:{tmp_path / 'rooms.db'}"
    cli.run("insert", target, *FEW)
    last = ("last", f"--output={cli.output}")

    assert f"-- --target sqlite:{tmp_path / 'rooms.db'}" in cli.refuse("repeat", *last)
    assert cli.run("repeat", *last, "--dry-run", "--", target).code == 0


def test_several_targets_are_counted_and_not_repeated(cli: CommandLine) -> None:
    refused = cli.refuse("verify", "--target=postgresql://a@one,b:Zx9Qw7Kp@two/db")

    assert "--target: expected one, got 2; `insert` and `query` take several" in refused
    assert "Zx9Qw7Kp" not in refused


def test_doctor_knows_modules_and_urls(cli: CommandLine, tmp_path: Path) -> None:
    found = cli.run("doctor", "sqlite", f"sqlite:{tmp_path / 'rooms.db'}", "--format=json")
    names = {each["name"] for each in json.loads(found.out)}
    assert any(name.startswith("sqlite-") and name.endswith(": reached") for name in names)

    (tmp_path / "own.yaml").write_text("targets: {mine: {module: sqlite, runner: local, path: x}}")
    found = cli.run("doctor", "sqlite", f"--config={tmp_path / 'own.yaml'}")
    assert "mine: reached" in found.out


@pytest.mark.server("postgres")
def test_a_refused_url_names_its_variables_and_no_key_of_the_configuration(
    cli: CommandLine, server, server_database
) -> None:
    there = f"postgresql://bench@127.0.0.1:{server.port()}/{server_database}"
    cli.environment |= {"POSTGRESQL_PASSWORD": "Zx9Qw7Kp", "HOME": str(cli.folder)}
    results = ("results", "list", f"--output={there}")
    for words in (("insert", f"--target={there}", *FEW), ("check", f"--target={there}"), results):
        done = cli.run(*words)
        said = done.out + done.err
        assert done.code == 1
        assert re.search("come from POSTGRESQL_PASSWORD or PGPASSWORD or .* or ~/.pgpass", said)
        assert not re.search("; .*(connection_string|--extra-option)|Zx9Qw7Kp", said)

    nowhere = cli.run("insert", "--target=postgresql://bench@127.0.0.1:1/bench", *FEW)
    assert "; check that the server runs, and host and port\n" in nowhere.out + nowhere.err
    refused = cli.refuse("insert", "--target=influxdb2://127.0.0.1:1/home", *FEW)
    assert "come from INFLUXDB2_TOKEN\n" in refused


@pytest.mark.parametrize(("server_name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_the_documented_role_can_run(cli: CommandLine, server, server_name, text) -> None:
    place = server.options("bench")
    port = place.get("port") or re.search(r"port=(\d+)", place["connection_string"])[1]
    scheme = {"postgres": "postgresql"}.get(server_name, server_name)
    cli.environment[f"{scheme.upper()}_PASSWORD"] = "secret"
    more = "?replication_factor=1" * (server_name == "cassandra")
    target = f"--target={scheme}://anna@127.0.0.1:{port}/bench{more}"
    server.execute(*(line.rstrip(";") for line in text.strip().splitlines()))
    try:
        done = cli.run("insert", target, *FEW)
        assert done.code == 0, done.err
        assert "secret" not in (done.out + done.err + json.dumps(cli.results()))
        assert cli.run("query", target, "--count=2").code == 0
    finally:
        drops = re.findall(r"CREATE (DATABASE|KEYSPACE|ROLE|USER) (\w+)", text)
        server.execute(*(f"DROP {kind} {name}" for kind, name in sorted(drops)))
