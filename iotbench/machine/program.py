"""The program's name, files that come with the program, and folders that outlive a command."""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from iotbench.machine.cleaning import in_shell
from simulator.packages import PROGRAM as INSTALLED

SCRIPT = "run.py"


def program_name() -> str:
    """Return the name for usage lines and shell completion."""
    return INSTALLED if Path(sys.argv[0]).name == INSTALLED else SCRIPT


def command_line(words: Iterable[str]) -> str:
    """Return a command of this program, quoted for a shell."""
    return f"{program()} {in_shell(words)}"


def program() -> str:
    """Return the words that start this program, for messages that suggest a command."""
    return INSTALLED if program_name() == INSTALLED else f"python {SCRIPT}"


_PACKAGE = Path(__file__).resolve().parents[1]


def temporary_folders() -> list[Path]:
    """Return the folder for temporary files; empty if no such folder can be written."""
    try:
        return [Path(tempfile.gettempdir())]
    except OSError:
        return []


def state_folder() -> Path:
    """Return the folder for locks and rescued results, which may not exist yet.

    https://specifications.freedesktop.org/basedir-spec/latest/ (XDG_STATE_HOME)
    """
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "iotbench"


def find_shipped(name: str) -> Path:
    """Return a file or folder that comes with the program, from its package or the checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name
