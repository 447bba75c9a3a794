"""Preparing the user's file for a sweep, and preparing it again for the queries after it."""

import hashlib
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from cli.files import preview
from cli.files.columns import writer
from cli.files.keys import with_key
from cli.files.request import Request
from cli.files.roles import columns_of, table_name
from cli.files.source import Source, opened
from cli.host.scratch import scratch_folder
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import Role
from simulator.data.workloads.file import File, FileParams
from simulator.errors import ConfigError, Interrupted


@contextmanager
def prepared(request: Request, *, quiet: bool) -> Iterator[FileParams]:
    """Read the file; what it became exists inside the context, and is removed in any case."""
    with _private_folder() as folder:
        if not quiet:
            click.echo(f"reading {request.file}", err=True)
        yield _prepare(request, folder, quiet=quiet)


@contextmanager
def reopened(dataset: Dataset, *, quiet: bool) -> Iterator[Dataset]:
    """Make the rows of a stored dataset available again; those of a generator always are."""
    if dataset.workload != File.name:
        yield dataset
        return
    DatasetReader(dataset)  # refuses the dataset of another version, whose parameters may be others
    before = FileParams(**dataset.params)
    request = Request(
        file=Path(before.source),
        time_column=next(c.name for c in before.columns if c.role is Role.TIME),
        tags=tuple(c.name for c in before.columns if c.role is Role.TAG),
        primary_key=dataset.primary_key,
    )
    _expect_unchanged(before)
    with prepared(request, quiet=True) as params:
        if params != before.model_copy(update={"folder": params.folder}):
            raise ConfigError(
                f"{before.source}: was read with other types when it was inserted, by another"
                " version of this program or of pyarrow; run insert again"
            )
        if not quiet:
            click.echo(f"{before.source}: read again, {before.rows:,} rows", err=True)
        yield dataset.model_copy(update={"params": params.model_dump(mode="json")})


def _expect_unchanged(before: FileParams) -> None:
    path = Path(before.source)
    if not path.is_file():
        raise ConfigError(
            f"{path}: the file that was inserted is gone, and with it the true answers; put it"
            " back, or run insert again"
        )
    if _digest(path) != before.sha256:
        raise ConfigError(
            f"{path}: the file has changed since it was inserted, so the true answers are not"
            " known; put it back, or run insert again"
        )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a folder that is removed in the end, also on SIGTERM."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with scratch_folder("data") as folder:
            yield folder
    finally:
        signal.signal(signal.SIGTERM, before)


def _prepare(request: Request, folder: Path, *, quiet: bool) -> FileParams:
    where, before = f"--data: {request.file}", request.file.stat()
    sha256 = _digest(request.file)
    with opened(request.file) as source:
        params, first_rows = _write(request, folder, sha256, source)
        file_types = [str(arrow_type) for arrow_type in source.types]
    after = request.file.stat()
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise ConfigError(f"{where}: was written to while it was read; try again when it is done")
    if not params.rows:
        raise ConfigError(f"{where}: has no rows")
    params = with_key(params, request.primary_key)
    if not quiet:
        preview.show(params, file_types, first_rows)
    return params


def _write(
    request: Request, folder: Path, sha256: str, source: Source
) -> tuple[FileParams, list[list[object]]]:
    """Write the rows into the folder; return what they are, and the first values by column."""
    where = f"--data: {request.file}"
    columns = columns_of(request, source.names, source.types)
    writers = [
        writer(f"{where}: column {column.name!r}", folder, index, column)
        for index, column in enumerate(columns)
    ]
    rows = 0
    first_rows: list[list[object]] = [[] for _ in columns]
    for portion in source.portions():
        for each, array in zip(writers, portion, strict=True):
            each.add(array, source.first_row + rows)
        if not rows:
            first_rows = [array.slice(0, preview.SHOWN_ROWS).to_pylist() for array in portion]
        rows += len(portion[0])
    params = FileParams(
        source=str(request.file.resolve()),
        sha256=sha256,
        rows=rows,
        table=table_name(request.file),
        columns=tuple(each.finish() for each in writers),
        folder=str(folder),
    )
    return params, first_rows
