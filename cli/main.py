"""The command line's entry point: the commands, and errors as text with an exit code."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from cli.commands.check import check
from cli.commands.cleanup import cleanup
from cli.commands.generate import generate
from cli.commands.insert import insert
from cli.commands.query import query
from cli.commands.reproduce import reproduce
from cli.commands.show import show
from cli.commands.targets import targets
from cli.commands.validate import validate
from cli.commands.verify import verify
from cli.host.interrupts import end_on_signals, stop_on_signals
from cli.host.program import program_name
from cli.host.streams import OutputError, expect_printed, guard_streams, say
from simulator import __version__
from simulator.errors import BenchError, ConfigError, Interrupted

_EPILOG = """\b
Exit codes:
  0    done and verified, or verification switched off
  1    the run failed
  2    wrong usage or configuration; nothing was started
  3    stored data or answers are wrong
  4    verification was asked for and is not possible
  130  interrupted

\b
Shell completion (bash; for zsh and fish write zsh_source or fish_source):
  eval "$(_IOTBENCH_COMPLETE=bash_source iotbench)"
  eval "$(_RUN_PY_COMPLETE=bash_source ./run.py)"
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="run.py")
def commands() -> None:
    """Benchmark databases under IoT and time-series load, every number verified."""


for _command in (
    insert, query, validate, verify, reproduce, generate, show, targets, check, cleanup,
):  # fmt: skip
    commands.add_command(_command)


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    guard_streams()
    stop_on_signals()
    code = _run()
    end_on_signals()  # nothing is left to tidy up
    with suppress(OutputError):  # after an error, which counts
        sys.stdout.flush()
    sys.exit(code)


def _run() -> int:
    """Run the command; print an error as text and return its exit code."""
    try:
        _check_arguments(sys.argv)
        code = int(commands.main(prog_name=program_name(), standalone_mode=False) or 0)
        if not code:  # another code says more than that its message could not be printed
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
        say(f"error: {_words(error)}", err=True)
        return 1
    return code


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse bytes that are not text: no result file, no table and no database could hold them."""
    for number, word in enumerate(arguments):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"argument {number}: expected text in UTF-8, got {os.fsencode(word)[:40]!r}; rename"
                " the file"
            ) from error


def _words(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"
