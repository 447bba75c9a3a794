"""The command line, driven from outside as a user drives it."""

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import pytest
import yaml

from tests import ROOT
from tests.browser import Tab, browser, chromium
from tests.commands import Finished, KeptForks, run_here
from tests.processes import living_in, living_with, part_of
from tests.servers import NotInstalled, Postgres, Server

Wait = Callable[[Callable[[], Any]], Any]
POSTGRES = (
    "--target=postgresql", "--runner=local", "--extra-option=connection_string=${BENCH_POSTGRES}",
)  # fmt: skip
"""The words of a command on the server that `reach_postgres` names."""


def combined(*choices: Collection[str], often: Collection[tuple[str, ...]]) -> list[Any]:
    """Return every combination for `parametrize`; all but those in `often` are rare."""
    found = list(itertools.product(*choices))
    assert {*often} < {*found}, "not a combination of these choices"
    return [
        pytest.param(*each, marks=[] if each in often else [pytest.mark.rare]) for each in found
    ]


OF_FILES = (
    "show", "generate", "prepare", "init", "results", "compare", "history", "publish", "report",
)  # fmt: skip
"""Commands that read no configuration."""
_LONGEST_S = 240


@dataclass
class CommandLine:
    """Runs `run.py` with results, temporary files and the SQLite file in a folder of its own."""

    folder: Path
    config: Path = ROOT / "config.yaml"
    program: Path = ROOT / "run.py"
    environment: dict[str, str] = field(default_factory=dict)
    is_alone: bool = False
    """Every command is a process: it is timed, and the process of the tests has other work."""
    forks: KeptForks | None = None
    """Starts the processes of all commands that run in the process of the tests."""

    @property
    def output(self) -> Path:
        return self.folder / "results"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def state(self) -> Path:
        return self.folder / "state" / "iotbench"

    def start(
        self,
        command: str,
        *arguments: str,
        stdin: Any = subprocess.DEVNULL,
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """Start a process of a command."""
        return subprocess.Popen(
            [sys.executable, str(self.program), *self._words(command, arguments)],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            cwd=self.folder,
            env={**os.environ, **self._variables()},
        )

    def finish(self, process: subprocess.Popen[str], within_s: float = 60) -> Finished:
        out, err = process.communicate(timeout=within_s)
        assert "Traceback" not in (err or ""), err
        return Finished(process.returncode, out or "", err or "")

    def run(self, command: str, *arguments: str) -> Finished:
        """Run a command, if possible in the process of the tests: a start takes a second."""
        if self._needs_process(command, arguments):
            return self.finish(self.start(command, *arguments), _LONGEST_S)
        return self._run_here(command, arguments)

    def _needs_process(self, command: str, arguments: Sequence[str]) -> bool:
        """Return whether a command needs a process of its own."""
        is_another = self.is_alone or self.program != ROOT / "run.py"
        spawns = command == "generate" and any("--workers" in str(word) for word in arguments)
        return is_another or spawns or "--resources" in arguments

    def refuse(self, command: str, *arguments: str) -> str:
        """Run a command that is refused before anything starts; return what it says."""
        done = self._run_here(command, arguments)
        assert (done.code, done.out) == (2, ""), done
        assert self.leftovers() == []
        return done.err

    def _run_here(self, command: str, arguments: Sequence[str]) -> Finished:
        return run_here(self._words(command, arguments), self.folder, self._variables(), self.forks)

    def _words(self, command: str, arguments: Sequence[str]) -> list[str]:
        """Return the words of a command; those that run something have their own output folder."""
        own = [] if command in OF_FILES else [f"--config={self.config}"]
        own += [f"--output={self.output}"] if command in ("insert", "query", "mixed") else []
        given = {str(word).partition("=")[0] for word in arguments}  # "--config x" as well
        own = [word for word in own if word.partition("=")[0] not in given]
        return [command, *own, *map(str, arguments)]

    def _variables(self) -> dict[str, str]:
        self.temporary.mkdir(exist_ok=True)
        own = {"TMPDIR": str(self.temporary), "XDG_STATE_HOME": str(self.state.parent)}
        return {**own, **self.environment}

    def configure(self, **targets: dict[str, Any]) -> None:
        """Write a configuration of local targets, which the commands use from then on."""
        self.config = self.folder / "config.yaml"
        local = {name: {"runner": "local", **options} for name, options in targets.items()}
        self.config.write_text(yaml.safe_dump({"targets": local}))

    def add_modules(self, name: str, text: str) -> None:
        """Write a file of modules that targets may name as `NAME:Class`."""
        (self.folder / f"{name}.py").write_text(text)
        self.environment["PYTHONPATH"] = str(self.folder)

    def sql(self, statement: str, file: str = "bench.db") -> list[Any]:
        """Execute a statement in an SQLite file, committed at once; return its rows."""
        where = self.folder / file
        with closing(sqlite3.connect(where, isolation_level=None, timeout=10)) as connection:
            return connection.execute(statement).fetchall()

    def reach_postgres(self, server: Server, database: str) -> None:
        """Let commands with the words of POSTGRES reach a database."""
        reach = f"{server.connection_string(database)} password={server.password}"
        self.environment["BENCH_POSTGRES"] = reach

    def results(self) -> list[Any]:
        """The result files' contents, oldest first."""
        return [json.loads(path.read_text()) for path in sorted(self.output.glob("*.json"))]

    def processes(self, role: str = "") -> list[psutil.Process]:
        """The collectors and workers of this command line that are alive."""
        found = []
        started = living_with("TMPDIR", str(self.temporary))
        for process in {*started, *living_in(self.folder)}:
            part = part_of(process)
            if part and role in ("", part, part.partition("-")[0]):
                found.append(process)
        return found

    def kill_collectors(self, running: subprocess.Popen[str]) -> int:
        """Kill the collector, and those in its place, until the command ends; return how many."""
        killed: set[int] = set()
        while running.poll() is None:
            for victim in self.processes("collector"):
                victim.kill()
                killed.add(victim.pid)
            time.sleep(0.1)
        return len(killed)

    def await_both_writing(self, wait: Wait) -> None:
        """Wait until two workers have written to bench.db, and could say so."""
        wait(lambda: len(self.processes("worker")) == 2)
        wait(self._devices_differ)
        time.sleep(1)  # two heartbeats

    def _devices_differ(self) -> bool:
        with suppress(sqlite3.Error):
            ((differ,),) = self.sql("SELECT min(device_id) <> max(device_id) FROM events")
            return bool(differ)
        return False

    def leftovers(self) -> list[str]:
        """Processes and temporary files that should not be there any more."""
        files = [str(path) for path in self.temporary.rglob("*")]
        files += [str(path) for path in self.output.glob(".*")]
        files += [str(path) for path in self.state.rglob("*") if path.is_file()]
        return [str(process) for process in self.processes()] + files


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[CommandLine]:
    with closing(KeptForks()) as forks:
        line = CommandLine(tmp_path, forks=forks)
        yield line
    left = line.processes()
    for process in left:
        process.kill()
    assert not left


@pytest.fixture
def pg(cli: CommandLine, server: Postgres, server_database: str) -> CommandLine:
    """The command line, with a database of its own on the tests' PostgreSQL."""
    cli.reach_postgres(server, server_database)
    return cli


def rows(server: Postgres, database: str, statement: str) -> list[tuple[Any, ...]]:
    """Execute a statement on PostgreSQL, committed at once; return its rows."""
    where = server.connection_string(database)
    with closing(psycopg2.connect(where, password=server.password)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def chrome() -> Iterator[Tab]:
    """A browser; tests are skipped where there is none."""
    try:
        chromium()
    except NotInstalled as error:
        pytest.skip(str(error))
    with browser() as tab:
        yield tab


@pytest.fixture
def eventually() -> Wait:
    """Wait until something is true, 30 s at most."""

    def wait(condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        pytest.fail("it did not become true within 30 s")

    return wait


@pytest.fixture
def interrupt() -> Callable[[subprocess.Popen[str]], None]:
    """Do what Ctrl-C does to the command line."""
    return lambda process: process.send_signal(signal.SIGINT)
