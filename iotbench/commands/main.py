"""The command line's entry point: the commands, and errors as text with an exit code."""

import io
import os
import sys
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module

import click

from iotbench.config.completion.known import HELP_OPTIONS, asks_for_help, commands_with, find_known
from iotbench.machine.interrupts import end_by_signals, end_on_signals, stop_on_signals
from iotbench.machine.program import INSTALLED, command_line, program_name
from iotbench.machine.streams import OutputError, expect_printed, guard_streams, say
from iotbench.results.kinds import NAMES as KINDS
from simulator import __version__
from simulator.errors import BenchError, ConfigError, Interrupted
from simulator.packages import describe

_OWN = (
    "insert", "capacity", "validate", "run", "reproduce", "generate", "prepare", "show", "results",
    "report", "compare", "history", "calibrate", "repeat", "publish", "init", "doctor", "targets",
    "check", "contract", "cleanup", "completion",
)  # fmt: skip
"""Names of commands with a file in iotbench/commands/; the command of a kind needs no file."""
_NAMES = tuple(dict.fromkeys((*KINDS, *_OWN)))
_EPILOG = """\b
Exit codes:
  0    done and verified, or verification switched off
  1    the run failed, or its pods could not be removed
  2    wrong usage or configuration; nothing was started
  3    stored data or answers are wrong
  4    verification was asked for and is not possible, as with --queries
  99   all is verified, and a threshold failed (--fail-if, --slo)
  130  interrupted
"""


class _Commands(UserDict[str, click.Command]):
    """The commands by name. Each is imported on first use, since importing all takes long."""

    shows_help = False
    """True if the user only asks for help, which is shown without importing the command."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in self:
            raise KeyError(name)
        if name not in self.data:
            with end_by_signals():  # pydantic replaces exceptions that are raised during its import
                self.data[name] = (self.shows_help and find_known(name)) or _import(name)
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return name in _NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


def _import(name: str) -> click.Command:
    if name in _OWN:
        command: click.Command = getattr(import_module(f"iotbench.commands.{name}"), name)
        return command
    from iotbench.commands.of_kind import command_of  # noqa: PLC0415 - slow to load
    from iotbench.measurements import kind_named  # noqa: PLC0415

    return command_of(kind_named(name))


_COMMANDS = _Commands()


@click.group(
    commands=_COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": HELP_OPTIONS},
)
@click.version_option(__version__, prog_name=INSTALLED)
def commands() -> None:
    """Benchmark databases under IoT and time-series load, every number verified."""


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    guard_streams()
    end_on_signals()  # before and after a command nothing is left to tidy up
    code = _run()
    with suppress(OutputError):  # after an error, which counts
        sys.stdout.flush()
    sys.exit(code)


def _run() -> int:
    """Run the command and return the exit code; errors are printed as text."""
    try:
        with stop_on_signals():
            _check_arguments(sys.argv)
            _COMMANDS.shows_help = asks_for_help(sys.argv[1:])
            code = _call()
            if not code:  # any other code matters more than lost output
                expect_printed()
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        say(text.getvalue().rstrip("\n"), err=True)
        return error.exit_code
    except ConfigError as error:
        for problem in error.problems:
            say(f"error: {problem}", err=True)
        return error.exit_code
    except OutputError as error:
        if not isinstance(error.__cause__, BrokenPipeError):  # `| head` has read enough
            say(f"error: {error}", err=True)
        return error.exit_code
    except BenchError as error:
        say(f"error: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return Interrupted.exit_code
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        say(f"error: {place}{error.strerror or error}", err=True)
        return 1
    return code


def _call() -> int:
    """Call the command; ConfigError if a package or the name of the command is missing."""
    try:
        return int(commands.main(prog_name=program_name(), standalone_mode=False) or 0)
    except ModuleNotFoundError as error:
        if not (problem := describe(error)):
            raise
        raise ConfigError(problem) from error
    except click.NoSuchOption as error:
        found = commands_with(sys.argv[1:]) if error.ctx and error.ctx.command is commands else []
        if not found:
            raise
        others = f"; the option is also one of {', '.join(found[1:])}" if found[1:] else ""
        meant = command_line([found[0], error.option_name, "..."])
        raise ConfigError(
            f"{error.option_name}: no command is given; did you mean `{meant}`?{others}"
        ) from error


def _check_arguments(arguments: Sequence[str]) -> None:
    """Raise ConfigError for arguments in invalid UTF-8, which no result or database can hold."""
    for number, word in enumerate(arguments):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"argument {number}: expected text in UTF-8, got {os.fsencode(word)[:40]!r}; rename"
                " the file"
            ) from error
