"""`check`: check that a target can be reached and used, before a long sweep."""

import click

from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, target_options
from iotbench.execution.collector import target_facts
from iotbench.machine.streams import say


@click.command(cls=Command)
@target_options()
def check(*, choice: Choice) -> None:
    """Check that a target can be reached and used.

    The check shows the server's version and whether it is among those that the module was tried
    with, what an acknowledgement means, and your permissions. It connects from where a run would
    connect: on a cluster from a pod, after it has checked your permissions there. It creates a
    scratch table, writes to it, reads it and drops it.
    """
    for name, text in target_facts(choice.expect(), choice.reach.cluster):
        say(f"{name:13} {text}")
