"""Commands in this process, with hostile input; nothing of them may reach a server.

What always holds: a documented exit code, no traceback, one printable line per problem, bounded
time, and nothing left in the folder of temporary files.
"""

import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import Finished, run_here

DOCUMENTED = {0, 1, 2, 3, 4, 130}
LONGEST_S = 10.0
"""CPU time of one command."""
CHILDREN = Path("/proc/thread-self/children")
SECRET = "S3cr3t+P/a%ss"
SHOWN_SECRET = "S3cr3t"


def commands_in(text: str) -> list[str]:
    """Return the characters that a terminal would obey, or that no stream can encode."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    """The current folder; its folder of temporary files is watched."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder / "tmp"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield folder


@pytest.fixture(scope="module")
def run(folder) -> Callable[..., Finished]:
    """Runs a command and checks what always holds."""

    def run(*arguments: str) -> Finished:
        begun = time.process_time()
        done = run_here(arguments, folder, {"PG": SECRET, "COLUMNS": "200"})
        assert time.process_time() - begun < LONGEST_S
        assert done.code in DOCUMENTED
        assert "Traceback" not in done.out + done.err
        assert commands_in(done.out + done.err) == []
        if done.code:
            lines = done.err.splitlines()
            assert lines, "an exit code without a reason"
            assert any(line.lower().startswith("error") for line in lines), done.err
        assert list((folder / "tmp").iterdir()) == []
        assert CHILDREN.read_text() == ""
        return done

    return run
