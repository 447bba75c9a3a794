"""Preparation of a file of records: a single scan, and a comparison with the manifest."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from iotbench.machine.scratch import scratch_folder
from iotbench.machine.streams import say
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.kind import Rows
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.shared.plan import PlannedRun, Recorded, Wanted
from iotbench.rows.recorded.request import RecordsRequest, read
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, parts_between
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, counted
from simulator.modules.contract import Database
from simulator.protocol.records import FileManifest, RecordsFile, Scanned
from simulator.protocol.spec import InsertTask, RunSpec
from simulator.protocol.verdict import VerifyMode
from simulator.records.compression import compression_in
from simulator.records.cutting import layout_of, tables_in
from simulator.records.scan import scan

_COPIED_BYTES = 1 << 20
_SHOWN_DIGITS = 12


_NOT_SHOWN = {
    "num_inserts", "split", "prefill", "steps", "tables", "tables_by", "seed", "start_ms", "clean",
}  # fmt: skip
"""Options that do not apply to records."""


@dataclass(frozen=True, slots=True)
class RecordedRows(Rows):
    """Records of a scanned file."""

    request: RecordsRequest
    file: RecordsFile
    dataset: Dataset
    """Rows of the file, or as many rows of the workload if the rows are not `known`."""
    scanned: Scanned
    known: bool
    """True if the file has the rows of the dataset, so that values can be verified."""
    promised: int | None
    """Number of rows according to the manifest; None without a manifest."""

    @property
    def recorded(self) -> Recorded:
        return Recorded(self.file, self.share, self.request.clean)

    def empty(self, options: InsertOptions) -> Dataset:
        return self.dataset.model_copy(update={"ranges": ()})

    def level(self, options: InsertOptions, database: Database) -> VerifyMode:
        """Return the verification level; without a manifest, rows can only be counted."""
        level = plan.verification(options, database)
        if self.known or level is VerifyMode.NONE:
            return level
        if level is VerifyMode.FULL:
            raise ConfigError(
                "--verify full: the rows of the file are not known: it has no manifest, or some are"
                " left out; only their number can be verified"
            )
        return VerifyMode.ROWS

    def expect(self, planned: Sequence[PlannedRun], wanted: Wanted[InsertOptions]) -> None:
        options, target = wanted.options, wanted.target
        plan.expect_needed(options.replace_tables, self.dataset, target.open())
        if self.known:
            plan.expect_storable(planned, target, to_end=not options.timed_s)

    def describe(self, spec: RunSpec, wanted: Wanted[InsertOptions]) -> dict[str, Any]:
        described = {
            "data": str(self.request.file),
            "data_format": self.request.form.value,
            "rows": self.dataset.rows,
            "sha256": self.scanned.sha256,
            "skipped": self.scanned.skipped_rows or None,
            **wanted.options.describe(has_end=True),
            "workload": self.dataset.workload,
            "primary_key": self.dataset.primary_key.value,
            "runs": wanted.options.repeats,
            "verify": spec.verify.value,
        }
        return {
            name: value
            for name, value in described.items()
            if value is not None and name not in _NOT_SHOWN
        }

    def expect_mixed(self, database: Database) -> None:
        """Raise ConfigError if the file mixes tables but the database takes one per request."""
        can = database.capabilities
        is_mixed = len({item.table for item in self.dataset.ranges}) > 1
        mixes = can.mixes_tables and DatasetReader(self.dataset).one_group
        if is_mixed and can.stores and not mixes:
            raise ConfigError(
                f"--data: has rows of several tables, and a request to {database.name} is for one;"
                " generate a file of each with --table"
            )

    def warn_of_skipped(self) -> None:
        """Print the number of damaged records, and the first few damaged records."""
        left_out = f"{counted(self.scanned.skipped_rows, 'record')} left out"
        if self.promised is not None:
            left_out += f"; {self.dataset.rows:,} of {self.promised:,} rows are sent"
        say(f"warning: {self.request.name}: {left_out}", err=True)
        for problem in self.scanned.skipped:
            say(f"  {problem}", err=True)

    def share(self, workers: int) -> tuple[InsertTask, ...]:
        """Return each worker's part of the file, and the rows in this part."""
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
) -> Iterator[RecordedRows]:
    """Scan a file of this machine; the copy of standard input exists inside the context.

    `empty_of` returns the dataset of a manifest, without rows.
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
) -> RecordedRows:
    """Return a scanned file with the rows of its manifest; ConfigError if they do not match."""
    if not sum(scanned.rows):
        raise ConfigError(f"--data: {request.name}: has no records")
    rows = dict(zip(scanned.tables, scanned.rows, strict=True))
    if manifest and not scanned.skipped_rows:
        _expect_fitting(request, manifest, scanned, rows, limit)
    known = manifest if not scanned.skipped_rows else None
    ranges: list[RowRange] = []
    for place, count in rows.items():
        drawn = [RowRange(start=0, stop=count, table=place)]
        if known:
            drawn = [item for item in known.dataset.ranges if item.table == place]
        ranges += parts_between(drawn, 0, count)
    file = RecordsFile(
        path=path,
        format=request.form,
        volume_claim=request.volume.claim if request.volume else "",
        tables=scanned.tables,
        skip=request.skip,
    )
    promised = manifest.rows if manifest else None
    dataset = empty.with_ranges(ranges)
    return RecordedRows(request, file, dataset, scanned, known is not None, promised)


def _keep(request: RecordsRequest, folder: Path) -> Path:
    """Return the path to read; standard input and compressed content are copied to a file first.

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
    """Raise ConfigError if the manifest describes another file."""
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
