"""`report`: write results as one page with pictures, to read, print or pass on."""

from pathlib import Path

import click

from iotbench.config.options.basic import Command, option, output_option
from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.results.result_files import expect_whole
from simulator.errors import ConfigError, format_size

_EXAMPLES = """\b
Examples:
  python run.py report
  python run.py report last~1 last -o compared.html
  python run.py report results/*-insert-*.json
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("names", nargs=-1, metavar="[ID|FILE...]")
@option(
    "--page",
    "-o",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="File of the page; an earlier page is replaced, any other file is not.",
)
@output_option
def report(names: tuple[str, ...], page: Path, output: Path) -> None:
    """Write results as one page with pictures.

    A name is a result file, an id or its beginning, last (the default), or last~1 for the result
    before it. Several results are shown side by side. The page is one HTML file without scripts
    that loads nothing from elsewhere, and has a table behind every picture. The result of
    `reproduce` may be given too; the result of `run` or `capacity` includes its sweeps.
    """
    from iotbench.output.page.build import OWN, page_of, render  # noqa: PLC0415 - slow to load
    from iotbench.output.page.measured import find_sources  # noqa: PLC0415

    names = names or ("last",)
    given = find_sources(output, names)
    if problem := outfile.problem_with(page, OWN):
        raise ConfigError(f"--page: {problem}")
    with expect_whole(", ".join(names)):
        text = render(page_of(given))
    outfile.write(page, text, OWN)
    say(f"{page}: {format_size(len(text.encode()))}")
