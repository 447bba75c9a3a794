"""`prepare`: convert the user's file once, for pods and for later inserts."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, ClassVar

import click

from iotbench.config.input.options import Opt
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.machine.cleaning import in_shell
from iotbench.machine.objects import uri_of
from iotbench.machine.streams import print_out
from iotbench.rows.files.prepare import convert_file
from iotbench.rows.files.request import FilesRequest, ReadingOptions
from iotbench.rows.generated_file import as_prepared, as_promised
from simulator.data.schema import PrimaryKey
from simulator.errors import ConfigError, counted
from simulator.records.prepared import NAME, describe

_EXAMPLES = """\b
Examples:
  python run.py prepare sensors.csv --tags rack --output sensors.rows
  python run.py insert --target sqlite --data sensors.rows
  kubectl cp sensors.rows copier:/data/sensors.rows
  python run.py insert -t postgresql --data claim:fleet/sensors.rows
"""


class _Options(ReadingOptions):
    """The options of `prepare`."""

    GROUP: ClassVar[str] = "Rows from a file"

    output: Annotated[Path | None, Opt(metavar="FOLDER")] = None
    """Folder to write; it must not exist.  [default: FILE.rows]"""
    quiet: Annotated[bool, Opt("-q")] = False
    """Do not show columns and rows."""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@options_of(_Options)
def prepare(*, files: tuple[Path, ...], options: _Options) -> None:
    """Convert a CSV or Parquet file once, for `insert --data`.

    The folder holds the columns as plain arrays, so the file is parsed once for any number of
    inserts, and pods can read the folder from a volume claim.
    """
    request = as_promised(as_prepared(options, files).request(files, PrimaryKey.NONE))
    output = options.output or _name_beside(request)
    if output.exists() or output.is_symlink():
        raise ConfigError(f"--output: {output}: exists; remove it, or name another folder")
    request.check()
    with _make_beside(output) as folder:
        params = convert_file(request, folder, quiet=options.quiet)
        known = describe(folder, params.model_copy(update={"folder": ""}))
        (folder / NAME).write_text(known.model_dump_json(indent=1) + "\n")
        folder.chmod(0o755)  # pods run as another user
        folder.rename(output)
    print_out(
        f"{output}: {counted(params.rows, 'row')}, {known.size_bytes / 1e6:,.1f} MB of arrays;"
        f" insert it with --data {in_shell([str(output)])}"
    )


def _name_beside(request: FilesRequest) -> Path:
    """Return the default folder: FILE.rows for a single file, otherwise TABLE.rows."""
    first, *others = request.named
    if not others and uri_of(first):
        return Path(f"{first.name}.rows")
    is_one = not others and first.is_file()
    return first.with_name(f"{first.name}.rows") if is_one else Path(f"{request.table}.rows")


@contextmanager
def _make_beside(output: Path) -> Iterator[Path]:
    """Make a temporary folder next to `output`; remove it at the end."""
    try:
        folder = Path(tempfile.mkdtemp(dir=output.absolute().parent, prefix=f".{output.name}."))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--output: {output}: cannot be written: {reason}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
