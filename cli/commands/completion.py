"""`completion`: print the script with which a shell completes words."""

import click

from cli.completion.shells import SHELLS, script
from cli.host.streams import print_out
from cli.options.basic import Command


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script with which bash, zsh or fish completes words.

    Its first line shows what to add to the startup file of the shell. Commands, options, targets,
    results, queries and workloads are completed; in bash also after `python run.py`.
    """
    print_out(script(shell))
