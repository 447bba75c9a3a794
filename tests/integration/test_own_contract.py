"""`contract`: the shared cases on a user's own database, and the evidence that is sent back."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psycopg2
import pytest

from simulator.modules.evidence import evidence
from tests import ROOT
from tests.contract.evidence import Trial

BROKEN = """
import sys
from iotbench.commands.main import main
from simulator.modules.sqlite import Sqlite
Sqlite.size_bytes = lambda self, tables: 0
main()
"""


def contract(folder: Path, *words: str, program: tuple[str, ...] = (), **environment: str):
    """Run the command in a folder, in a process of its own: it changes the rows of targets.py."""
    command = [sys.executable, *(program or (str(ROOT / "run.py"),)), "contract", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read(path: Path) -> Trial:
    return Trial.model_validate_json(path.read_text())


@pytest.fixture
def database(server, server_database):
    """A connection to the user's database."""
    reach = server.connection_string(server_database)
    with contextlib.closing(psycopg2.connect(reach, password=server.password)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor


@pytest.mark.server("postgres")
def test_the_cases_leave_nothing_in_a_users_database_and_end_a_draft(
    server, server_database, database, tmp_path
):
    url = f"postgresql://bench@127.0.0.1:{server.port()}/{server_database}"
    secret = {"POSTGRESQL_PASSWORD": server.password}
    database.execute("CREATE TABLE readings (theirs int)")
    foreign = contract(tmp_path, "--target", url, "--yes", **secret)
    database.execute("DROP TABLE readings")
    asked = contract(tmp_path, "--target", url, **secret)

    assert (foreign.returncode, asked.returncode) == (1, 2)
    assert "holds readings, which the cases would drop; remove it" in foreign.stderr
    assert "--yes is needed to run the cases on postgresql-" in asked.stderr
    assert not [*tmp_path.iterdir()]

    done = contract(tmp_path, "--target", url, "--yes", **secret)

    (file,) = tmp_path.iterdir()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "create and drop tables, and parts of tables: Machine States, events, " in done.stdout
    assert "every value comes back as it was sent (batch uuid)" in done.stdout
    assert "skipped" in done.stdout
    assert f"{file.name}: PostgreSQL 15." in done.stdout
    for text in (server.password, "127.0.0.1", server_database):
        assert text not in file.read_text()
    database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    assert database.fetchone() == (0,)

    found = read(file)
    assert found.record(tmp_path).startswith(f"postgres: {found.server}, ")
    (record,) = evidence("postgres", tmp_path).real
    assert (record.server, record.remark) == (found.server, "reached by its address")


def test_a_broken_module_is_reported_by_its_case(tmp_path):
    done = contract(tmp_path, "--target", "sqlite:rooms.db", program=("-c", BROKEN))

    (file,) = tmp_path.iterdir()
    failed, _ = (case for case in read(file).cases if case.outcome == "failed")
    assert done.returncode == 1, done.stderr
    assert failed.name.endswith("::test_size_grows_with_rows_and_indices[sqlite]")
    assert failed.reason.startswith("test_contract.py:")
    assert "[0, 0, 0]" in failed.reason
    assert "size grows with rows and indices: test_contract.py:" in done.stdout
    assert done.stdout.endswith(": 21 passed, 2 failed\n")
    assert read(file).record(tmp_path) == "sqlite: not written, 2 cases failed"
