"""`show`: print a result file's tables again."""

import sys
from pathlib import Path

import click

from cli.archive.gathered import Gathered, gathered_of
from cli.archive.lookup import paths_of
from cli.completion.words import complete_result
from cli.host.streams import print_out
from cli.host.terminal import width_of
from cli.options.basic import BYTES, Command, option, output_option
from cli.report import tables
from cli.report.capacity import days_until_full
from cli.report.damage import expect_whole
from cli.results import result_files
from simulator.errors import ConfigError


@click.command(cls=Command)
@click.argument("name", metavar="RESULT", shell_complete=complete_result)
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
@option("--plot", is_flag=True, help="Also draw the rates or waits below the table.")
@output_option
def show(name: str, form: str, disk: int | None, output: Path, *, plot: bool) -> None:
    """Print the tables of a result again.

    RESULT is a result file, an id, the beginning of one, last, or last~1 for the one before it.
    """
    (file,) = paths_of(output, [name])
    if form != "table" and (plot or disk is not None):
        given = "--plot" if plot else "--disk"
        raise ConfigError(f"{given}: adds to the table; use --format table")
    kind = gathered_of(file)
    with expect_whole(file):
        if kind is None:
            text = _sweep(file, form, disk, plot=plot)
        else:
            text = _gathered(file, kind, form, disk, plot=plot)
    print_out(text)


def _sweep(file: Path, form: str, disk: int | None, *, plot: bool) -> str:
    result = result_files.read(file)
    days = "" if disk is None else f"{days_until_full(result, disk)}\n"
    return tables.printed(result, file, form, plotted=plot) + days


def _gathered(file: Path, kind: Gathered, form: str, disk: int | None, *, plot: bool) -> str:
    """Return what the command printed that gathered the sweeps."""
    if form == "csv" or disk is not None or plot:
        given = "--format csv" if form == "csv" else "--plot" if plot else "--disk"
        raise ConfigError(
            f"{given}: {file} is of `{kind.command}`; use a result file that it names"
        )
    record = kind.read(file)
    if form == "json":
        text: str = record.model_dump_json(indent=1)
        return text + "\n"
    return kind.text(record, str(file), width_of(sys.stdout))
