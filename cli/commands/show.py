"""`show`: print a result file's tables again."""

from pathlib import Path

import click

from cli import results
from cli.commands.options import BYTES, Command, option
from cli.host.streams import print_out
from cli.report import tables
from cli.report.capacity import days_until_full
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
@option(
    "--disk",
    type=BYTES,
    default=None,
    help="Also print after how many days a disk of this size, such as 180GB, is full.",
)
def show(file: Path, form: str, disk: int | None) -> None:
    """Print the tables of result FILE again."""
    if disk is not None and form != "table":
        raise ConfigError("--disk: adds a line to the table; use --format table")
    result = results.read(file)
    try:
        text = tables.printed(result, file, form)
        text += "" if disk is None else f"{days_until_full(result, disk)}\n"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{file}: is damaged, so its tables cannot be printed: {reason[:_SHOWN]}"
        ) from error
    print_out(text)
