"""Commands in this process, with hostile input; nothing of them may reach a server.

What always holds: a documented exit code, no traceback, one printable line per problem, bounded
time, and nothing left in the folder of temporary files.
"""

import io
import os
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from iotbench.commands.main import _run

DOCUMENTED = {0, 1, 2, 3, 4, 130}
LONGEST_S = 10.0
"""CPU time of one command."""
CHILDREN = Path("/proc/thread-self/children")
SECRET = "S3cr3t+P/a%ss"
SHOWN_SECRET = "S3cr3t"


def commands_in(text: str) -> list[str]:
    """Return the characters that a terminal would obey, or that no stream can encode."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    """The current folder; its folder of temporary files is watched."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TMPDIR", str(folder / "tmp"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setenv("PG", SECRET)  # so that it is removed at the end
        patch.setenv("COLUMNS", "200")
        patch.setattr(tempfile, "tempdir", None)
        yield folder


@pytest.fixture(scope="module")
def run(folder) -> Callable[..., Done]:
    """Runs a command and checks what always holds."""

    def run(*arguments: str) -> Done:
        out, err = io.StringIO(), io.StringIO()
        argv, sys.argv = sys.argv, ["run.py", *arguments]
        os.environ["PG"] = SECRET  # a command takes it out of the environment
        begun = time.process_time()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = _run()
        finally:
            sys.argv = argv
        done = Done(code, out.getvalue(), err.getvalue())
        assert time.process_time() - begun < LONGEST_S
        assert code in DOCUMENTED
        assert "Traceback" not in done.out + done.err
        assert commands_in(done.out + done.err) == []
        if code:
            lines = done.err.splitlines()
            assert lines, "an exit code without a reason"
            assert any(line.lower().startswith("error") for line in lines), done.err
        assert list((folder / "tmp").iterdir()) == []
        assert CHILDREN.read_text() == ""
        return done

    return run
