"""`show`: print a result file's tables again."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click

from iotbench.config.completion.words import complete_result
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Bytes
from iotbench.config.options.basic import FORMATS, Command, Format, OutputFolder
from iotbench.config.options.declared import options_of
from iotbench.machine.streams import print_out, width_of
from iotbench.output.terminal import tables
from iotbench.output.terminal.notes import days_until_full
from iotbench.results import result_files
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result_files import expect_whole
from iotbench.store.gathered import Gathered, find_gathered
from iotbench.store.lookup import path_of
from simulator.errors import ConfigError


class _Options(Options):
    """The parts of a result to print."""

    form: Annotated[Format, Opt(choices=FORMATS)] = FORMATS[0]
    disk: Annotated[Bytes | None, Opt(metavar="BYTES")] = None
    """Add the number of days it takes to fill a disk of this size, such as 180GB."""
    plot: bool = False
    """Draw the rates or waits below the table."""
    timings: bool = False
    """Add where the time of the sweep went, by phase."""
    output: OutputFolder = DEFAULT_FOLDER


@click.command(cls=Command)
@click.argument("name", metavar="[RESULT]", default="last", shell_complete=complete_result)
@options_of(_Options)
def show(*, name: str, options: _Options) -> None:
    """Print the tables and all facts of a result.

    RESULT is a result file, an id or its beginning, last (the default), or last~1 for the result
    before it.
    """
    file, form, disk = path_of(options.output, name), options.form, options.disk
    added = [each for each in ("--plot", "--disk", "--timings") if each in options.given]
    if form != "table" and added:
        raise ConfigError(f"{added[0]}: adds to the table; use --format table")
    kind = find_gathered(file)
    with expect_whole(file):
        if kind:
            print_out(_format_gathered(file, kind, form, added))
            return
        result = result_files.read(file)
        text = tables.format_record(
            result, file, form, plotted=options.plot, timings=options.timings
        )
        days = "" if disk is None else f"{days_until_full(result, disk)}\n"
    print_out(text + days)


def _format_gathered(file: Path, kind: Gathered, form: str, added: Sequence[str]) -> str:
    """Return the text that a command with several sweeps, such as `run`, has printed."""
    if form == "csv" or added:
        given = "--format csv" if form == "csv" else added[0]
        raise ConfigError(
            f"{given}: {file} is of `{kind.command}`; use a result file that it names"
        )
    record = kind.read(file)
    if form == "json":
        text: str = record.model_dump_json(indent=1)
        return text + "\n"
    return kind.text(record, str(file), width_of(sys.stdout))
