"""Sources of the rows of an insert: a workload, own files, prepared folders, and recorded files."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

from iotbench.config.options.choice import TargetRun
from iotbench.config.targets.config import Target
from iotbench.machine.inputs import problem_of
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.checks import generator_params, target_problems
from iotbench.measurements.insert.kind import DrawnRows, Rows
from iotbench.measurements.insert.options import InsertOptions, default_key
from iotbench.measurements.shared.plan import collector_run
from iotbench.results import result_files
from iotbench.rows.files.prepare import expect_key, prepare_file, read_folder
from iotbench.rows.files.request import FileRows, FilesRequest, conflicts
from iotbench.rows.generated_file import as_generated, as_promised
from iotbench.rows.recorded.prepare import RecordedRows, prepare, records_of
from iotbench.rows.recorded.request import (
    RecordsRequest,
    VolumeFile,
    in_volume,
    list_repeated,
    place_problems,
    read,
    record_conflicts,
    volume_file,
)
from simulator.data.dataset import Dataset
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import File, FileParams, OnError
from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest, RecordsFile, Scanned, ScanTask
from simulator.protocol.spec import RunSpec, Work
from simulator.records.prepared import is_prepared

Scan: TypeAlias = Callable[[Target, RunSpec, str], Scanned | None]
"""Scans a file in a pod, since only pods mount volume claims; returns None after a dry run.

The last argument is the name of the file in messages.
"""


@dataclass
class Source(ABC):
    """The source of the rows that the options select; `check` is called before `open`."""

    file: FileRows
    given: Mapping[str, Any]
    """Options that the user gave: name -> value."""
    run: TargetRun
    scan: Scan
    workload: ClassVar[str | None] = None
    """Workload of the rows; None: the options name it."""

    def conflicts(self) -> list[str]:
        """Return a message for each conflict among the given options."""
        return conflicts(self.given)

    def check(self, options: InsertOptions, target: Target | None) -> Iterator[str]:
        """Yield problems of the rows, and reasons why the target cannot store the rows."""
        if target:
            yield from target_problems(options, target, force=self.run.force)
            for place in self.file.data:
                yield from place_problems(
                    place, self.file.manifest, self.file.data_format, target.runner
                )
        try:
            self.find(options)
        except ConfigError as error:
            yield from error.problems

    @abstractmethod
    def find(self, options: InsertOptions) -> None:
        """Find the rows without reading them; ConfigError names everything that is wrong."""

    @abstractmethod
    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        """Return a context in which the rows are available; None after a dry run."""


@dataclass
class Generated(Source):
    """Rows of a built-in workload, or of a workload that a YAML file declares."""

    _params: Params | None = None

    def find(self, options: InsertOptions) -> None:
        self._params = generator_params(options)

    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        assert self._params
        return nullcontext(DrawnRows(self._params))


@dataclass
class OwnFile(Source):
    """Rows of the user's own files, which are read into columns."""

    workload = File.name
    _request: FilesRequest | None = None

    def conflicts(self) -> list[str]:
        alone = self.file.data if len(self.file.data) > 1 else ()
        return super().conflicts() + [
            f"--data: {place}: is prepared, and inserted alone; leave the others out"
            for place in alone
            if in_volume(place) or is_prepared(place)
        ]

    def find(self, options: InsertOptions) -> None:
        self._request = as_promised(self.file.request(self.file.data, options.key))
        self._request.check()

    @contextmanager
    def open(self, options: InsertOptions, target: Target) -> Iterator[Rows]:
        """Read the files into a folder, which is removed at the end."""
        assert self._request
        with prepare_file(self._request, quiet=self.run.quiet) as params:
            yield DrawnRows(params)


@dataclass
class PreparedRows(Generated):
    """Rows in a folder that `prepare` has written."""

    workload = File.name

    def conflicts(self) -> list[str]:
        return conflicts(self.given, prepared=True)

    def find(self, options: InsertOptions) -> None:
        self._params = read_folder(self.file.data[0], options.key)


@dataclass
class PreparedInVolume(PreparedRows):
    """Rows in a folder of `prepare` in a volume claim, which a pod scans."""

    def find(self, options: InsertOptions) -> None:
        """Check the name of the volume claim."""
        volume_file(self.file.data[0], "--data")

    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        volume = volume_file(self.file.data[0], "--data")
        task = ScanTask(prepared=volume.in_pods, volume_claim=volume.claim)
        sweep_id = result_files.new_id(result_files.now_utc())
        spec = collector_run(Work.SCAN, sweep_id, target, scan=task, timeout_s=self.run.timeout_s)
        scanned = self.scan(target, spec, str(volume))
        if scanned is None:
            return nullcontext(None)
        params = FileParams(**scanned.params)
        expect_key(params, options.key)
        return nullcontext(DrawnRows(params))


def source_of(file: FileRows, given: Mapping[str, Any], run: TargetRun, scan: Scan) -> Source:
    """Return the source that the options select, completed from a manifest next to the file."""
    file = as_generated(file)
    kind: type[Source] = OwnFile
    if file.data_format:
        kind = RecordedFile
    elif not file.data:
        kind = Generated
    elif file.place and in_volume(file.place):
        kind = PreparedInVolume
    elif file.place and is_prepared(file.place):
        kind = PreparedRows
    return kind(file, given, run, scan)


@dataclass
class RecordedFile(Source):
    """Records of a file of this machine, of standard input, or of a volume claim."""

    def conflicts(self) -> list[str]:
        problems = record_conflicts(self.given)
        if len(self.file.data) > 1:
            problems.append("--data: --data-format takes one file; join them, or insert them apart")
        return problems

    def check(self, options: InsertOptions, target: Target | None) -> Iterator[str]:
        yield from super().check(options, target)
        form = self.file.data_format
        if target and form not in (takes := target.open().capabilities.formats):
            can = ", ".join(sorted(takes)) or "none; its module encodes rows itself"
            yield (f"--data-format {form}: target {target.name} does not take it; it takes: {can}")
        if target and target.options.sends_by:
            yield "--data-format: the records are sent as they are, by no driver; use client=own"

    def find(self, options: InsertOptions) -> None:
        if not self.file.place:
            return
        here = not (self._request.is_standard_input or in_volume(self._request.file))
        if here and (problem := problem_of(self._request.file)):
            raise ConfigError(f"--data: {self._request.file}: {problem}")

    @property
    def _request(self) -> RecordsRequest:
        file = self.file
        assert file.place
        assert file.data_format
        return RecordsRequest(
            file.place,
            file.data_format,
            file.manifest,
            skip=file.on_error is OnError.SKIP,
            clean=bool(self.given.get("--clean")),
        )

    @contextmanager
    def open(self, options: InsertOptions, target: Target) -> Iterator[Rows | None]:
        """Scan the file, here or in a pod, since only pods mount volume claims."""
        with self._scan(options, target) as records:
            if records is None:
                yield None
                return
            records.expect_mixed(target.open())
            if records.scanned.skipped_rows:
                records.warn_of_skipped()
            yield records

    def _scan(
        self, options: InsertOptions, target: Target
    ) -> AbstractContextManager[RecordedRows | None]:
        request = self._request
        if request.volume:
            return nullcontext(self._scan_in_pod(request, request.volume, options, target))
        empty_of = partial(self._empty, options, target)
        counts = options.workers, options.batch_rows, options.limit
        return prepare(request, empty_of, *counts, quiet=self.run.quiet)

    def _scan_in_pod(
        self, request: RecordsRequest, volume: VolumeFile, options: InsertOptions, target: Target
    ) -> RecordedRows | None:
        manifest = read(request.manifest_file) if request.manifest_file else None
        known = None
        if manifest or "--workload" in self.given:
            known = self._empty(options, target, manifest)
        beside = request.manifest_volume
        spec = collector_run(
            Work.SCAN,
            result_files.new_id(result_files.now_utc()),
            target,
            known,
            records=RecordsFile(
                path=volume.in_pods,
                format=request.form,
                volume_claim=volume.claim,
                skip=request.skip,
            ),
            scan=ScanTask(
                workers=options.workers,
                batch_rows=options.batch_rows,
                limit=options.limit,
                manifest=manifest,
                manifest_path=beside.in_pods if beside and not manifest else "",
                needs_manifest=request.manifest is not None or known is None,
            ),
            timeout_s=self.run.timeout_s,
        )
        scanned = self.scan(target, spec, request.name)
        if scanned is None:
            return None
        manifest = manifest or scanned.manifest
        empty = self._empty(options, target, manifest)
        return records_of(request, volume.in_pods, manifest, empty, scanned, limit=options.limit)

    def _empty(
        self, options: InsertOptions, target: Target, manifest: FileManifest | None
    ) -> Dataset:
        """Return the dataset of the file's tables, without rows."""
        if manifest:
            if problems := list_repeated(self.given):
                raise ConfigError(problems)
            key = options.key
            if "--primary-key" not in self.given:
                capabilities = target.open().capabilities
                key = default_key(manifest.dataset.workload, capabilities)
            return manifest.dataset.model_copy(update={"ranges": (), "primary_key": key})
        if "--workload" not in self.given:
            raise ConfigError(
                "--manifest: the file has none, so nothing says which tables its rows are of; name"
                " it, or give --workload, and only the number of rows is verified"
            )
        return plan.empty_dataset(options, generator_params(options))
