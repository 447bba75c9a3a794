"""`report`: write results as one page with pictures, to read, print or pass on."""

from pathlib import Path
from typing import Annotated

import click

from iotbench.config.input.options import Opt, Options
from iotbench.config.options.basic import Command, OutputFolder
from iotbench.config.options.declared import options_of
from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result_files import expect_whole
from simulator.errors import ConfigError, format_size

_EXAMPLES = """\b
Examples:
  python run.py report
  python run.py report last~1 last -o compared.html
  python run.py report results/*-insert-*.json
"""


class _Options(Options):
    """The file of the page, and the folder of results."""

    page: Annotated[Path, Opt("-o")] = Path("report.html")
    """File of the page; an earlier page is replaced, any other file is not."""
    output: OutputFolder = DEFAULT_FOLDER


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("names", nargs=-1, metavar="[ID|FILE...]")
@options_of(_Options)
def report(*, names: tuple[str, ...], options: _Options) -> None:
    """Write results as one page with pictures.

    A name is a result file, an id or its beginning, last (the default), or last~1 for the result
    before it. Several results are shown side by side. The page is one HTML file that loads nothing
    from elsewhere, and has a table behind every picture. The result of `reproduce` may be given
    too; the result of `run` or `capacity` includes its sweeps.
    """
    from iotbench.output.page.build import OWN, page_of, render  # noqa: PLC0415 - slow to load
    from iotbench.output.page.measured import find_sources  # noqa: PLC0415

    names, page = names or ("last",), options.page
    given = find_sources(options.output, names)
    if problem := outfile.problem_with(page, OWN):
        raise ConfigError(f"--page: {problem}")
    with expect_whole(", ".join(names)):
        text = render(page_of(given))
    outfile.write(page, text, OWN)
    say(f"{page}: {format_size(len(text.encode()))}")
