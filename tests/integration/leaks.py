"""What a run shows: its output and files, and its processes as others of this machine see them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from tests.integration.conftest import ROOT, CommandLine, Finished
from tests.pods import mount
from tests.secret_forms import forms_in

_LOOK_S = 0.05
_LONGEST_S = 120


class Watch:
    """Looks at the processes that a process starts: their command lines and environments."""

    def __init__(self, pid: int) -> None:
        self._parent = psutil.Process(pid)
        self._seen: set[str] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def seen(self) -> str:
        """What was seen of all processes."""
        return "\n".join(self._seen)

    def _watch(self) -> None:
        while not self._done.wait(_LOOK_S):
            with suppress(psutil.Error):
                for child in self._parent.children(recursive=True):
                    with suppress(psutil.Error):
                        self._look(child)

    def _look(self, child: psutil.Process) -> None:
        words = child.cmdline()
        # Until it runs its program, a child looks like its parent, or like nothing.
        if words and words != self._parent.cmdline():
            environment = [f"{name}={value}" for name, value in child.environ().items()]
            self._seen.add("\n".join([" ".join(words), *environment]))


@dataclass(frozen=True)
class Shown:
    """What a run has shown."""

    written: str
    """Output, logs and files."""
    listed: str
    """Command lines and environments of the processes that it started."""

    def assert_without(self, secrets: Iterable[str]) -> None:
        """Fail if a secret stands anywhere, in any form."""
        for secret in secrets:
            assert len(secret) >= 8, "too short to be searched for"
            for place, text in (("written", self.written), ("processes", self.listed)):
                found = forms_in(text, secret)
                assert not found, f"{place}: {secret!r} is shown, {', '.join(found)}"


def watched(cli: CommandLine, command: str, *words: str) -> tuple[Finished, Shown]:
    """Run a command; return its outcome, and all that it has shown."""
    process = cli.start(command, *words)
    with Watch(process.pid) as watch:
        finished = cli.finish(process, _LONGEST_S)
    assert "simulator" in watch.seen, "no process of the run was seen"
    return finished, Shown(finished.out + finished.err + files_of(cli), watch.seen)


def files_of(cli: CommandLine) -> str:
    """Return names and contents of all files that commands have written."""
    found = ""
    for folder in (cli.output, cli.temporary, cli.state):
        for path in folder.rglob("*"):
            found += f"\n{path}\n"
            found += path.read_bytes().decode(errors="replace") if path.is_file() else ""
    return found


class Pod:
    """A collector or a worker as it runs in a pod, with the run's secrets in a mounted folder."""

    def __init__(self, folder: Path, spec: str, credentials: Mapping[str, str], *role: str) -> None:
        folder.mkdir()
        options = mount(folder, spec, credentials)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "simulator", *role, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        )

    def log(self) -> str:
        """Return what it has written until its end."""
        try:
            return self._process.communicate(timeout=_LONGEST_S)[0]
        finally:
            self._process.kill()
