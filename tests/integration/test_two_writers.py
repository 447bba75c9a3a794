"""Two command lines that share nothing but the database, as on two machines, write its tables."""

import signal
import time
from dataclasses import dataclass
from typing import Any

import pytest

from simulator.control.database.marks import MarkTable
from simulator.modules import open_database
from simulator.modules.contract import Database
from tests.integration.conftest import POSTGRES, CommandLine, Wait, rows
from tests.servers import Postgres

pytestmark = pytest.mark.server("postgres")

LOAD = ("--workers=1", "--runs=1", "--quiet")
SHORT = (*LOAD, "--batch=100", "--num-inserts=500")
LONG = (*LOAD, "--batch=10", "--rate=500", "--duration=60s")


@dataclass
class Pair:
    """Two command lines with one database."""

    one: CommandLine
    other: CommandLine
    target: tuple[str, ...]
    server: Postgres | None
    database: str

    def execute(self, statement: str) -> list[Any]:
        if self.server:
            return rows(self.server, self.database, statement)
        return self.one.sql(statement)

    def reach(self) -> Database:
        if self.server:
            return open_database("postgres", self.server.options(self.database), {})
        return open_database("sqlite", {"path": str(self.one.folder / "bench.db")}, {})

    def stored(self) -> int:
        try:
            ((found,),) = self.execute("SELECT count(*) FROM events")
        except Exception:  # noqa: BLE001 - before the table exists
            return 0
        return int(found)

    def begin(self, eventually: Wait) -> Any:
        """Start a long insert, and wait until it has stored rows."""
        running = self.one.start("insert", *self.target, *LONG)
        eventually(self.stored)
        return running


@pytest.fixture
def pair(
    cli: CommandLine, request: pytest.FixtureRequest, server: Postgres, server_database: str
) -> Pair:
    folder = cli.folder / "other"
    folder.mkdir()
    other = CommandLine(folder, forks=cli.forks)
    if request.param == "sqlite":
        path = f"--extra-option=path={cli.folder / 'bench.db'}"
        return Pair(cli, other, ("--target=sqlite", path), None, "")
    for line in (cli, other):
        line.reach_postgres(server, server_database)
    return Pair(cli, other, POSTGRES, server, server_database)


def on(*often: str) -> pytest.MarkDecorator:
    """Run a test on both databases, on some of them often."""
    marks = {name: [] if name in often else [pytest.mark.rare] for name in ("sqlite", "postgres")}
    params = [pytest.param(name, marks=each) for name, each in marks.items()]
    return pytest.mark.parametrize("pair", params, indirect=True)


@on("postgres")
def test_an_insert_is_refused_while_another_one_writes_and_not_after_it(
    pair: Pair, eventually: Wait
) -> None:
    running = pair.begin(eventually)
    refused = pair.other.run("insert", *pair.target, *SHORT)
    before = pair.stored()

    assert refused.code == 2, refused.err
    (result,) = pair.one.results()
    assert f"another insert writes the same tables now (insert {result['sweep_id']} by " in (
        refused.err
    )
    assert "nothing was changed" in refused.err
    eventually(lambda: pair.stored() > before)

    running.send_signal(signal.SIGINT)
    assert pair.one.finish(running).code == 130
    done = pair.other.run("insert", *pair.target, *SHORT)
    assert done.code == 0, done.err
    assert "watch" not in pair.other.results()[-1]["runs"][0]["outcome"]["phases_s"]


@pytest.mark.parametrize("module", ["duckdb", pytest.param("chdb", marks=pytest.mark.rare)])
def test_an_insert_into_a_file_of_one_process_names_the_sweep_that_has_it(
    cli: CommandLine, eventually: Wait, module: str
) -> None:
    (folder := cli.folder / "other").mkdir()
    target = f"--target={module}:{cli.folder / 'bench.db'}"
    running = cli.start("insert", target, *LONG)
    eventually(lambda: any((each["in_progress"] or {}).get("rows") for each in cli.results()))
    refused = CommandLine(folder, forks=cli.forks).run("insert", target, *SHORT)
    running.send_signal(signal.SIGINT)

    assert cli.finish(running).code == 130
    (result,) = cli.results()
    assert refused.code == 2, refused.err
    assert f"sweep {result['sweep_id']} (process " in refused.err
    assert "has the database open; wait until it ends, or stop it; nothing was changed" in (
        refused.err
    )


@on()
def test_an_insert_that_was_killed_does_not_block_the_next_one(
    pair: Pair, eventually: Wait
) -> None:
    running = pair.begin(eventually)
    time.sleep(6)  # its mark is renewed
    for process in (*pair.one.processes(), running):
        process.kill()
    running.communicate()
    eventually(lambda: not pair.one.processes())
    done = pair.other.run("insert", *pair.target, *SHORT)

    assert done.code == 0, done.err
    assert pair.other.results()[-1]["runs"][0]["outcome"]["phases_s"]["watch"] > 10


@on("postgres")
def test_a_failure_names_the_insert_that_came_in_between(pair: Pair, eventually: Wait) -> None:
    running = pair.begin(eventually)
    book = MarkTable(pair.reach())  # the other one takes it for one that has ended
    book.renew(book.read().newest(["events"]), ended=True)
    pair.other.run("insert", *pair.target, *SHORT)
    failed = pair.one.finish(running, within_s=90)

    assert failed.code == 3, failed.err
    (result,) = pair.other.results()
    assert f"another insert, {result['sweep_id']} by " in failed.out + failed.err
    assert "wrote the same tables meanwhile" in failed.out + failed.err
