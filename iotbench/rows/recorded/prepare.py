"""Preparing a file of records for a sweep: scanned once, compared with its manifest."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

from iotbench.machine.scratch import scratch_folder
from iotbench.machine.streams import say
from iotbench.rows.recorded.request import RecordsRequest, read
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, parts_between
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, counted
from simulator.protocol.records import FileManifest, RecordsFile, Scanned
from simulator.protocol.spec import InsertTask
from simulator.records.compression import compression_in
from simulator.records.cutting import layout_of, tables_in
from simulator.records.scan import scan

_COPIED_BYTES = 1 << 20
_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class PreparedRecords:
    """A file that is ready to be inserted."""

    file: RecordsFile
    dataset: Dataset
    """Its rows; as many of the workload where they are not `known`."""
    scanned: Scanned
    known: bool
    """True if the rows are the dataset's, so that values can be verified."""
    promised: int | None
    """The rows that the manifest has; None without one."""

    def share(self, workers: int) -> tuple[InsertTask, ...]:
        """Return the part of the file of each worker, and the rows in it."""
        tasks = []
        for (start, *before), (stop, *after) in pairwise(self.scanned.edges[workers]):
            rows = [
                part
                for place, low, high in zip(self.scanned.tables, before, after, strict=True)
                for part in parts_between(
                    [item for item in self.dataset.ranges if item.table == place], low, high
                )
            ]
            tasks.append(InsertTask(timed=tuple(rows), span=(start, stop)))
        return tuple(tasks)


@contextmanager
def prepare(  # noqa: PLR0913
    request: RecordsRequest,
    empty_of: Callable[[FileManifest | None], Dataset],
    workers: Sequence[int],
    batch_rows: int,
    limit: int | None,
    *,
    quiet: bool,
) -> Iterator[PreparedRecords]:
    """Scan a file of this machine; the copy of standard input exists inside the context.

    `empty_of` returns the dataset, without rows, of a file with this manifest; `workers` are the
    numbers of workers that are to share the file.
    """
    with scratch_folder("data") as folder:
        if not quiet:
            say(f"reading {request.name}", err=True)
        path = _keep(request, folder)
        manifest = read(request.manifest_file) if request.manifest_file else None
        empty = empty_of(manifest)
        reader = DatasetReader(empty)
        tables = tables_in(reader, request.form, request.name, manifest)
        found = scan(
            str(path),
            request.name,
            layout_of(request.form, [reader.tables[place] for place in tables]),
            batch_rows=batch_rows,
            limit=limit,
            skip=request.skip,
        )
        scanned = found.summarize(workers, tables)
        yield records_of(request, str(path), manifest, empty, scanned, limit=limit)


def records_of(  # noqa: PLR0913
    request: RecordsRequest,
    path: str,
    manifest: FileManifest | None,
    empty: Dataset,
    scanned: Scanned,
    *,
    limit: int | None,
) -> PreparedRecords:
    """Return a scanned file, with the rows of its manifest; ConfigError if that is another's."""
    if not sum(scanned.rows):
        raise ConfigError(f"--data: {request.name}: has no records")
    rows = dict(zip(scanned.tables, scanned.rows, strict=True))
    if manifest and not scanned.skipped_rows:
        _expect_fitting(request, manifest, scanned, rows, limit)
    known = manifest if not scanned.skipped_rows else None
    file = RecordsFile(
        path=path,
        format=request.form,
        volume_claim=request.volume.claim if request.volume else "",
        tables=scanned.tables,
        skip=request.skip,
    )
    ranges, promised = _ranges(rows, known), manifest.rows if manifest else None
    return PreparedRecords(file, empty.with_ranges(ranges), scanned, known is not None, promised)


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


def _keep(request: RecordsRequest, folder: Path) -> Path:
    """Return the file; standard input, and the content of a compressed file, are copied first.

    Copying standard input also waits for its manifest.
    """
    from iotbench.rows.files.content import open_content  # noqa: PLC0415 - loads pyarrow

    read = request.file.absolute()
    if request.is_standard_input:
        read = folder / "input"
        _copy(request.name, nullcontext(sys.stdin.buffer), read)
    if not compression_in(read):
        return read
    content = folder / "content"
    _copy(request.name, open_content(read, f"--data: {request.name}"), content)
    return content


def _copy(name: str, source: AbstractContextManager[IO[bytes]], path: Path) -> None:
    try:
        with source as content, path.open("wb") as copy:
            for piece in _pieces(name, content):
                copy.write(piece)
    except OSError as error:
        raise ConfigError(
            f"--data: {name} cannot be copied to {path}: {error.strerror or error}; set"
            " TMPDIR to a folder with more space, or use a file"
        ) from error


def _pieces(name: str, content: IO[bytes]) -> Iterator[bytes]:
    from iotbench.rows.files.source import readable  # noqa: PLC0415 - loads pyarrow

    with readable(name):
        while piece := content.read(_COPIED_BYTES):
            yield piece


def _expect_fitting(
    request: RecordsRequest,
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
