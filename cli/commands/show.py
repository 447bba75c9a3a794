"""`show`: print a result file's tables again."""

from pathlib import Path

import click

from cli import results
from cli.commands.options import Command, option
from cli.host.streams import print_out
from cli.report import tables
from simulator.errors import ConfigError

_SHOWN = 200


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option(
    "--format",
    "form",
    type=click.Choice(tables.FORMATS),
    default="table",
    show_default=True,
    help="What to print.",
)
def show(file: Path, form: str) -> None:
    """Print the tables of result FILE again."""
    result = results.read(file)
    try:
        text = tables.printed(result, file, form)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{file}: is damaged, so its tables cannot be printed: {reason[:_SHOWN]}"
        ) from error
    print_out(text)
