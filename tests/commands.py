"""Commands of the program in this process, which is quick: a start of Python takes a second."""

import io
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from iotbench.commands.main import _run


@dataclass(frozen=True)
class Finished:
    """The outcome of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_here(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Finished:
    """Run a command in a folder, as `main` does; what it changes of this process is undone."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "80", **environment}),
        mock.patch.object(sys, "argv", ["run.py", *words]),
        mock.patch.object(tempfile, "tempdir", None),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        os.chdir(folder)
        try:
            code = _run()
        finally:
            os.chdir(before)
    return Finished(code, out.getvalue(), err.getvalue())
