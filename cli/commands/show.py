"""`show`: print a result file's tables again."""

from pathlib import Path

import click

from cli import results
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
    click.echo(tables.printed(results.read(file), file, form), nl=False)
