"""The entry: completion, which must be quick, or the command line with all that it imports."""

import sys
from collections.abc import Callable

from iotbench.config.completion.shells import answer, is_asked


def choose() -> Callable[[], None]:
    """Return what to run; exit with 2 on Windows."""
    if sys.platform == "win32":
        sys.stderr.write("error: expected Linux, got Windows; use WSL 2: docs/README.md#systems\n")
        sys.exit(2)
    if is_asked():
        return answer
    from iotbench.commands.main import main as command_line  # noqa: PLC0415 - takes long

    return command_line


def main() -> None:
    """Run what a shell or a user has asked for."""
    choose()()
