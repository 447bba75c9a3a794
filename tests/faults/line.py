"""The command line in the world of one cell: its folders, its environment, its results."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from iotbench.results import result_files
from iotbench.results.result import Result
from simulator.errors import ConfigError
from tests import ROOT
from tests.faults import processes
from tests.faults.terminal import Terminal
from tests.faults.worlds import World

TARGET = "bench"


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    command: str
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        last = (self.err.strip() or self.out.strip()).splitlines()[-1:]
        return f"{self.command}: exit code {self.code}{': ' + last[0] if last else ''}"


class Running:
    """A command that runs, and its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: Terminal, out: Path) -> None:
        self.process, self.terminal, self._out = process, terminal, out

    def ended(self, deadline: float) -> bool:
        """Wait for its end until a time of the monotonic clock."""
        try:
            self.process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait_finished(self, command: str) -> Finished:
        """Return its output; it is killed if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        self.terminal.close()
        return Finished(command, code, self._out.read_text(), self.terminal.text)


@dataclass
class Line:
    """The command line in a folder of its own."""

    folder: Path
    mark: str
    world: World
    entry: Sequence[str] = ()
    """The words before the command, for a network of its own."""

    def __post_init__(self) -> None:
        for folder in (self.temporary, self.state):
            folder.mkdir(parents=True)
        target = {"module": self.world.module, "runner": "local", **self.world.options()}
        content = yaml.safe_dump({"targets": {TARGET: target}})
        (self.folder / "config.yaml").write_text(content)

    @property
    def output(self) -> Path:
        return self.folder / "results"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def _words(self, command: str, arguments: Sequence[str]) -> list[str]:
        own = [f"--config={self.folder / 'config.yaml'}"]
        if command != "cleanup":
            own += [f"--target={TARGET}", f"--output={self.output}", "--format=json"]
        return [*self.entry, sys.executable, str(ROOT / "run.py"), command, *own, *arguments]

    def _environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(self.state),
            "KUBECONFIG": str(self.folder / "no-kubeconfig"),
            "TERM": "xterm-256color",
            "FAULTS_SECRET": self.world.secret,
            processes.VARIABLE: self.mark,
        }

    def start(self, command: str, *arguments: str) -> Running:
        """Start a command on a terminal."""
        terminal, out = Terminal(), self.folder / "stdout"
        with out.open("wb") as file:
            process = subprocess.Popen(
                self._words(command, arguments),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=terminal.slave,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
            )
        terminal.hand_over()
        return Running(process, terminal, out)

    def run(self, command: str, *arguments: str, within_s: float = 60) -> Finished:
        """Run a command to its end; one that takes too long is killed."""
        process = subprocess.Popen(
            self._words(command, arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            processes.end(processes.marked(self.mark))
            out, err = process.communicate()
            return Finished(command, -signal.SIGKILL, out, f"not done after {within_s:g} s; {err}")
        return Finished(command, process.returncode, out, err)

    def newest(self, kind: str, after: Path | None = None) -> tuple[Path, Result] | str | None:
        """Return the newest result of a command, why it cannot be read, or None."""
        files = sorted(self.output.glob(f"*-{kind}-{TARGET}-????.json"))
        if not files or files[-1] == after:
            return None
        try:
            return files[-1], result_files.read(files[-1])
        except ConfigError as error:
            return str(error)

    def left(self) -> list[str]:
        """Return processes, temporary files and locks of a command that has ended."""
        found = [f"process {p.pid} ({p.name()})" for p in self.running()]
        found += [f"{path.relative_to(self.folder)}" for path in self.temporary.rglob("*")]
        found += [f"{path.relative_to(self.folder)}" for path in self.output.glob(".*")]
        locks = self.state.rglob("*.lock")
        return found + [f"{path.relative_to(self.folder)}" for path in locks]

    def running(self) -> list[processes.psutil.Process]:
        """Return the living processes of this cell."""
        return processes.marked(self.mark)

    def exposed(self) -> list[str]:
        """Return the files in which the credential stands."""
        secret = self.world.secret.encode()
        files = [path for path in self.folder.rglob("*") if secret and path.is_file()]
        return [str(p.relative_to(self.folder)) for p in files if secret in p.read_bytes()]
