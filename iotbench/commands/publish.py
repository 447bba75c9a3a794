"""`publish`: write results to a folder that anyone can check and repeat."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import click

from iotbench.config.completion.words import complete_result
from iotbench.config.input.options import Opt, Options
from iotbench.config.options.basic import Command, OutputFolder
from iotbench.config.options.declared import options_of
from iotbench.config.options.given import divide
from iotbench.machine.streams import say
from iotbench.results.command import GivenCommand
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result import Result
from simulator.errors import ConfigError, counted

_EXAMPLES = """\b
Examples:
  python run.py publish last -o published
  python run.py publish --check published
"""


class _Options(Options):
    """The folder to write or to check."""

    folder: Annotated[Path | None, Opt("-o")] = None
    """Folder to write; it must be new or empty."""
    check: Annotated[Path | None, Opt(metavar="FOLDER")] = None
    """Check a published folder instead: every checksum, and every result file."""
    output: OutputFolder = DEFAULT_FOLDER


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("names", nargs=-1, metavar="[RESULT...]", shell_complete=complete_result)
@options_of(_Options)
def publish(*, names: tuple[str, ...], options: _Options) -> None:
    """Write a folder that anyone can check and repeat.

    RESULT is a result file, an id or its beginning, last, or last~1 for the result before it. The
    result of `run`, `reproduce` or `capacity` includes the results of its sweeps. The result of
    `query` includes the insert of the queried rows, if its file exists.

    The folder holds the result files in one archive, results.zip, which every command reads as it
    is; a site that compares the databases, site/index.html; a configuration without credentials;
    the versions of program, driver and server; the machine; checksums for `sha256sum -c`; and a
    README with the verdicts and the commands that measure the same again. Results that are not
    complete or have the verdict mismatch are refused.
    """
    from iotbench.output.published.folder import expect_empty, problems_of, write  # noqa: PLC0415

    folder, check = options.folder, options.check
    if check:
        if names or folder:
            raise ConfigError("--check: takes no results and no --folder")
        problems = list(problems_of(check))
        for problem in problems:
            say(f"error: {problem}", err=True)
        outcome = counted(len(problems), "problem") if problems else "no problems"
        say(f"{check}: {outcome}")
        click.get_current_context().exit(1 if problems else 0)
    if not names or not folder:
        raise ConfigError("expected results and --folder, or --check FOLDER")
    expect_empty(folder)
    from iotbench.output.published.build import (  # noqa: PLC0415 - pictures, which checking does without
        files_of,
    )
    from iotbench.output.published.gather import gather  # noqa: PLC0415

    found = gather(options.output, names)
    files = files_of(found, _without_what_runs(found.sweeps))
    write(folder, files)
    size = sum(map(len, files.values()))
    say(f"{folder}: {counted(len(files) + 1, 'file')}, {size / 1e6:.1f} MB")


def _without_what_runs(found: Iterable[tuple[Path, Result]]) -> dict[Path, GivenCommand]:
    """Remove options that `repeat` ignores from the commands; return the removed options."""
    left: dict[Path, GivenCommand] = {}
    for path, result in found:
        if result.command:
            result.command, left[path] = divide(result.command, str(path))
    return left
