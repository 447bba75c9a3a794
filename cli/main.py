"""The command line's entry: the commands, and errors as text with an exit code."""

import signal
import sys

import click

from cli.commands.check import check
from cli.commands.cleanup import cleanup
from cli.commands.insert import insert
from cli.commands.query import query
from cli.commands.show import show
from cli.commands.targets import targets
from simulator import __version__
from simulator.errors import BenchError, ConfigError

_EPILOG = """\b
Exit codes:
  0    done and verified, or verification switched off
  1    the run failed
  2    wrong usage or configuration; nothing was started
  3    stored data or answers are wrong
  4    verification was asked for and is not possible
  130  interrupted
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="run.py")
def commands() -> None:
    """Benchmark databases under IoT and time-series load, every number verified."""


for _command in (insert, query, show, targets, check, cleanup):
    commands.add_command(_command)


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = commands.main(prog_name="run.py", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except ConfigError as error:
        for problem in error.problems:
            click.echo(f"error: {problem}", err=True)
        code = error.exit_code
    except BenchError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        code = 1  # whoever read the output has gone
    sys.exit(code)
