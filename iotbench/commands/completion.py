"""`completion`: print the script with which a shell completes words."""

import click

from iotbench.config.completion.shells import SHELLS, script
from iotbench.config.options.basic import Command
from iotbench.machine.streams import print_out


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script with which bash, zsh or fish completes words.

    Its first line shows what to add to the startup file of the shell. Commands, options, targets,
    results, queries and workloads are completed; in bash also after `python run.py`.
    """
    print_out(script(shell))
