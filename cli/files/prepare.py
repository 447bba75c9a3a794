"""Preparing the user's file for a sweep, and preparing it again for the queries after it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cli.files import preview
from cli.files.keys import expect_key, with_key
from cli.files.objects import here, uri_of
from cli.files.request import Request
from cli.host.scratch import scratch_folder
from cli.host.streams import say
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import PrimaryKey, Role
from simulator.data.workloads.file import File, FileParams
from simulator.errors import ConfigError, counted
from simulator.records.prepared import prepared_file


@contextmanager
def prepared(request: Request, *, quiet: bool, sha256: str = "") -> Iterator[FileParams]:
    """Read the file; the prepared rows exist inside the context, and are removed in any case.

    ConfigError if it has another digest than that which is given.
    """
    with scratch_folder("data") as folder:
        params = converted(request, folder, quiet=quiet, sha256=sha256)
        expect_key(params, request.primary_key)
        yield params


def kept(path: Path, primary_key: PrimaryKey) -> FileParams:
    """Return what is in a folder of `prepare` on this machine; ConfigError if it is damaged."""
    params = prepared_file(path, str(path)).params
    where = {"folder": str(path.resolve()), "source": str(path.resolve()), "kept": True}
    params = params.model_copy(update=where)
    expect_key(params, primary_key)
    return params


@contextmanager
def reopened(dataset: Dataset, *, quiet: bool) -> Iterator[Dataset]:
    """Make the rows of a stored dataset available again; those of a generator always are."""
    if dataset.workload != File.name:
        yield dataset
        return
    DatasetReader(dataset)  # refuses another version, whose parameters may differ
    before = FileParams(**dataset.params)
    if before.claim:  # pods read it again
        yield dataset
        return
    if before.kept:
        _expect_same(before, kept(Path(before.source), dataset.primary_key))
        yield dataset
        return
    request = Request(
        file=Path(before.source),
        time_column=next(c.name for c in before.columns if c.role is Role.TIME),
        tags=tuple(c.name for c in before.columns if c.role is Role.TAG),
        primary_key=dataset.primary_key,
        delimiter=before.delimiter,
        time_format=before.time_format,
        on_error=before.on_error,
    )
    if not uri_of(request.file) and not request.file.is_file():
        raise ConfigError(
            f"{before.source}: the inserted file is gone, and the answers cannot be checked without"
            " it; put it back, or run insert again"
        )
    with prepared(request, quiet=True, sha256=before.sha256) as params:
        _expect_same(before.model_copy(update={"folder": params.folder}), params)
        if not quiet:
            rows = counted(before.rows, "row")
            say(f"{before.source}: read again, {rows}", err=True)
        yield dataset.model_copy(update={"params": params.model_dump(mode="json")})


def _expect_same(before: FileParams, params: FileParams) -> None:
    if params != before:
        raise ConfigError(
            f"{before.source}: another version of this program or of pyarrow inserted it with"
            " other types or values; run insert again"
        )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error


def converted(request: Request, folder: Path, *, quiet: bool, sha256: str = "") -> FileParams:
    """Write the rows of a file into a folder, and show what they are unless `quiet`.

    ConfigError if it has another digest than that which is given.
    """
    from cli.files.convert import convert  # noqa: PLC0415 - pyarrow is loaded only for a file

    if not quiet:
        say(f"reading {request.name}", err=True)
    with here(request.file) as path:
        before, digest = path.stat(), _digest(path)
        if sha256 and digest != sha256:
            raise ConfigError(
                f"{request.name}: the file has changed since it was inserted, so the answers cannot"
                " be checked; restore it, or run insert again"
            )
        found = convert(replace(request, copy=path), folder, digest)
        after = path.stat()
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise ConfigError(
            f"--data: {request.name}: was written to while it was read; try again when it is done"
        )
    params = with_key(found.params)
    if not quiet:
        preview.show(params, found.file_types, found.first_rows)
    return params
