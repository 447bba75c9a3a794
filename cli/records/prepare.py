"""Preparing a file of records for a sweep: scanned once, compared with its manifest."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cli.files.prepare import private_folder
from cli.host.streams import say
from cli.records.cutting import cutter
from cli.records.formats import FORMATS
from cli.records.manifest import FileManifest, read
from cli.records.request import Request
from cli.records.scan import Layout, Scanned, scan
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.ranges import RowRange, parts_between
from simulator.data.schema import Table
from simulator.errors import ConfigError, counted
from simulator.protocol.spec import RecordsFile

_INDEX = "index.npy"
_COPIED_BYTES = 1 << 20
_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Records:
    """A file that is ready to be inserted."""

    file: RecordsFile
    dataset: Dataset
    """Its rows; as many of the workload where they are not `known`."""
    scanned: Scanned
    known: bool
    """Whether the rows are those of the dataset, so that values can be verified."""


@contextmanager
def prepared(
    request: Request,
    empty_of: Callable[[FileManifest | None], Dataset],
    batch_rows: int,
    limit: int | None,
    *,
    quiet: bool,
) -> Iterator[Records]:
    """Scan the file; the index, and a copy if one is needed, exist inside the context.

    `empty_of` returns the dataset, without rows, of a file with this manifest.
    """
    with private_folder() as folder:
        if not quiet:
            say(f"reading {request.name}", err=True)
        path = _kept(request, folder)
        manifest = read(request.manifest_file) if request.manifest_file else None
        if manifest and manifest.format != request.form:
            raise ConfigError(
                f"--data-format {request.form}: {request.name} has format {manifest.format}, as its"
                " manifest says"
            )
        empty = empty_of(manifest)
        reader = DatasetReader(empty)
        places = _places(reader, request, manifest)
        copy = folder / "records" if request.skip else None
        with _readable(request), ExitStack() as stack:
            source = stack.enter_context(path.open("rb"))
            scanned = scan(
                source,
                request.name,
                _layout(request, [reader.tables[place] for place in places]),
                batch_rows=max(batch_rows, 1),
                limit=limit,
                spool=stack.enter_context(copy.open("wb")) if copy else None,
            )
        if not sum(scanned.rows):
            raise ConfigError(f"--data: {request.name}: has no records")
        rows = dict(zip(places, scanned.rows, strict=True))
        if manifest and not scanned.skipped_rows:
            _expect_fitting(request, manifest, scanned, rows, limit)
        index = np.zeros((len(scanned.index), 1 + len(reader.tables)), np.int64)
        index[:, [0, *(1 + place for place in places)]] = scanned.index
        np.save(folder / _INDEX, index)
        known = manifest if not scanned.skipped_rows else None
        file = RecordsFile(path=str(copy or path), format=request.form, index=str(folder / _INDEX))
        yield Records(file, empty.with_ranges(_ranges(rows, known)), scanned, known is not None)


def _ranges(rows: Mapping[int, int], manifest: FileManifest | None) -> list[RowRange]:
    """Return the rows of a file: the first ones of its manifest, or as many of each table."""
    if manifest is None:
        return [RowRange(start=0, stop=count, table=place) for place, count in rows.items()]
    return [
        part
        for place, count in rows.items()
        for part in parts_between(
            [item for item in manifest.dataset.ranges if item.table == place], 0, count
        )
    ]


def _kept(request: Request, folder: Path) -> Path:
    """Return the file; standard input is copied first, which also waits for its manifest."""
    if not request.is_standard_input:
        return request.file.absolute()
    path = folder / "input"
    try:
        with path.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, _COPIED_BYTES)
    except OSError as error:
        raise ConfigError(
            f"--data: standard input cannot be copied to {path}: {error.strerror or error}; set"
            " TMPDIR to a folder with more space, or use a file"
        ) from error
    return path


@contextmanager
def _readable(request: Request) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {request.name}: cannot be read: {reason}") from error


def _places(reader: DatasetReader, request: Request, manifest: FileManifest | None) -> list[int]:
    """Return the places of the tables whose rows are in the file."""
    places = list(range(len(reader.tables)))
    if manifest:
        places = sorted({item.table for item in manifest.dataset.ranges})
    if len(places) > 1 and not FORMATS[request.form].names_tables:
        raise ConfigError(
            f"--manifest: {request.name}: a file of format {request.form} has the rows of one"
            " table, and only its manifest says of which; name it"
        )
    return places


def _layout(request: Request, tables: Sequence[Table]) -> Layout:
    """Return what a file of rows of these tables is made of."""
    form, cut = FORMATS[request.form], cutter(request.form, tables)
    return Layout(cut, len(tables), form.header(tables[0]), form.trailer)


def _expect_fitting(
    request: Request,
    manifest: FileManifest,
    scanned: Scanned,
    rows: Mapping[int, int],
    limit: int | None,
) -> None:
    """Raise ConfigError if it is the manifest of another file."""
    held: Counter[int] = Counter()
    for item in manifest.dataset.ranges:
        held[item.table] += len(item)
    same = (scanned.size_bytes, scanned.sha256) == (manifest.size_bytes, manifest.sha256)
    if same and (limit is not None or rows == held):
        return
    found = f"{counted(scanned.size_bytes, 'byte')}, SHA-256 {scanned.sha256[:_SHOWN_DIGITS]}..."
    expected = f"{counted(manifest.size_bytes, 'byte')}, {manifest.sha256[:_SHOWN_DIGITS]}..."
    raise ConfigError(
        f"--manifest: does not fit {request.name}, which has {found}; expected {expected}; generate"
        " the file again, or name its own manifest"
    )
