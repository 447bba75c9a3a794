"""The entry: completion, which must be quick, or the command line with all that it imports."""

from collections.abc import Callable

from iotbench.config.completion.shells import answer, is_asked


def choose() -> Callable[[], None]:
    """Return what to run."""
    if is_asked():
        return answer
    from iotbench.commands.main import main as command_line  # noqa: PLC0415 - takes long

    return command_line


def main() -> None:
    """Run what a shell or a user has asked for."""
    choose()()
