"""`check`: whether a target can be reached and used, before a long sweep."""

from pathlib import Path

import click

from cli.commands.common import Command, extra_options, resolve, target_options
from simulator.errors import ConfigError, SetupError
from simulator.probe import probe


@click.command(cls=Command)
@target_options
def check(*, target: str, config: Path, runner: str | None, extra_option: tuple[str, ...]) -> None:
    """Connect to a target, tell its version and rights, and what it can do.

    The rights are tried, not read: a scratch table is created, written, read and dropped.
    """
    problems: list[str] = []
    found = resolve(config, target, extra_options(extra_option, problems), runner, problems)
    if problems or not found:
        raise ConfigError(problems)
    database = found.open()
    shown = " ".join(f"{k}={v}" for k, v in found.options.public().items())
    click.echo(f"target        {target}: module {found.module}, runner {found.runner}, {shown}")
    for step in probe(database):
        click.echo(f"{step.name:13} {step.told}")
        if not step.ok:
            raise SetupError(f"{target}: {step.name}: {step.told}")
    can = database.capabilities
    click.echo(f"insert modes  {', '.join(can.modes)}")
    click.echo(f"primary keys  {', '.join(can.primary_keys)}")
    tables = "single, multiple" if can.multiple_tables else "single"
    click.echo(f"tables        {tables}")
    click.echo(f"verification  {'counts, full' if can.stores else 'none: nothing is stored'}")
