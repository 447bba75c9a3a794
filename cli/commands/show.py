"""`show`: print a result file's tables again."""

from pathlib import Path

import click

from cli import results
from cli.host.streams import print_out
from cli.report import tables


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(tables.FORMATS),
    default="table",
    show_default=True,
    help="What to print.",
)
def show(file: Path, form: str) -> None:
    """Print the tables of result FILE again."""
    print_out(tables.printed(results.read(file), file, form))
