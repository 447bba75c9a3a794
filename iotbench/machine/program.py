"""The user's name for this program: `python run.py` in a checkout, `iotbench` once installed."""

import sys
from collections.abc import Iterable
from pathlib import Path

from iotbench.machine.cleaning import in_shell

INSTALLED = "iotbench"
SCRIPT = "run.py"


def program_name() -> str:
    """Return the name for usage lines and shell completion."""
    return INSTALLED if Path(sys.argv[0]).name == INSTALLED else SCRIPT


def command_line(words: Iterable[str]) -> str:
    """Return a command of this program as it is typed in a shell."""
    return f"{program()} {in_shell(words)}"


def program() -> str:
    """Return the words that start a command, for messages that suggest one."""
    return INSTALLED if program_name() == INSTALLED else f"python {SCRIPT}"
