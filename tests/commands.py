"""Commands of the program in this process, which is quick: a start of Python takes a second."""

import importlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from unittest import mock

from iotbench.commands.main import _run
from iotbench.execution.local import runner
from iotbench.execution.local.forks import Forks
from tests import forking


@dataclass(frozen=True)
class Finished:
    """The outcome of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class KeptForks(Forks):
    """Starts the processes of several commands; its own process is a fork, too."""

    _given: tuple[dict[str, str], Path] | None = None
    """Environment and folder of the process that forks, if there is one."""

    def __init__(self) -> None:
        forking.load_program()  # not yet with the environment of a command

    def __enter__(self) -> Self:
        environment = {n: v for n, v in os.environ.items() if n != "PYTEST_CURRENT_TEST"}
        given = environment, Path.cwd()
        if self._given != given or self._server.poll() is not None:
            self.close()
            super().__enter__()
            self._given = given
        return self

    def _start_server(self, stdin: int, program: Sequence[str] = ()) -> Any:
        return forking.start(stdin)

    def __exit__(self, *_: object) -> None:
        """Leave the process to the next command."""

    def close(self) -> None:
        """End the process."""
        if self._given:
            super().__exit__()
        self._given = None


def run_here(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    forks: KeptForks | None = None,
) -> Finished:
    """Run a command in a folder, as `main` does; what it changes of this process is undone."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "80", **environment}),
        mock.patch.object(sys, "argv", ["run.py", *words]),
        mock.patch.object(tempfile, "tempdir", None),
        mock.patch.object(runner, "Forks", return_value=forks or Forks()),
        _modules_in(environment.get("PYTHONPATH", "")),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        os.chdir(folder)
        try:
            code = _run()
        finally:
            os.chdir(before)
    return Finished(code, out.getvalue(), err.getvalue())


@contextmanager
def _modules_in(folder: str) -> Iterator[None]:
    """Import modules from a folder too, as PYTHONPATH would, and forget them at the end."""
    if not folder:
        yield
        return
    with mock.patch.object(sys, "path", [folder, *sys.path]):
        importlib.invalidate_caches()
        yield
    for name, module in [*sys.modules.items()]:
        if Path(getattr(module, "__file__", None) or "/").parent == Path(folder):
            del sys.modules[name]
