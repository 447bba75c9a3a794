"""The sources of rows: workloads, own files, and prepared and recorded ones, here or in volumes."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from iotbench.config.options.choice import TargetRun
from iotbench.config.targets.config import Target
from iotbench.measurements.insert.checks import generator_params
from iotbench.measurements.insert.kind import DrawnRows, Rows
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.shared import plan
from iotbench.results import result_files
from iotbench.rows.files.prepare import expect_key, prepare_file, read_folder
from iotbench.rows.files.request import FileRows, FilesRequest, conflicts
from iotbench.rows.generated_file import as_generated, as_promised
from iotbench.rows.recorded.request import in_volume, volume_file
from iotbench.rows.recorded_file import RecordedFile
from iotbench.rows.source import Scan, Source
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import File, FileParams
from simulator.protocol.records import ScanTask
from simulator.protocol.spec import Work
from simulator.records.prepared import is_prepared


@dataclass
class Generated(Source):
    """Rows of a workload of this program, or of one that a YAML file declares."""

    _params: Params | None = None

    def find(self, options: InsertOptions) -> None:
        """Check the parameters of the workload."""
        self._params = generator_params(options)

    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        """Return the rows, which the workers draw."""
        assert self._params
        return nullcontext(DrawnRows(self._params))


@dataclass
class OwnFile(Source):
    """Rows of the user's files, which are read into columns."""

    workload = File.name
    _request: FilesRequest | None = None

    def conflicts(self) -> list[str]:
        """Return a message for each conflict among the given options."""
        return [*super().conflicts(), *_list_joined(self.file)]

    def find(self, options: InsertOptions) -> None:
        """Check the files, and the options for reading them."""
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
        """Return a message for each conflict among the given options."""
        return conflicts(self.given, prepared=True)

    def find(self, options: InsertOptions) -> None:
        """Read the description in the folder."""
        self._params = read_folder(self.file.data[0], options.key)


@dataclass
class PreparedInVolume(PreparedRows):
    """Rows in such a folder in a volume claim, which a pod scans."""

    def find(self, options: InsertOptions) -> None:
        """Check the name of the volume claim."""
        volume_file(self.file.data[0], "--data")

    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        """Return the rows that a pod found."""
        volume = volume_file(self.file.data[0], "--data")
        task = ScanTask(prepared=volume.in_pods, volume_claim=volume.claim)
        sweep_id = result_files.new_id(result_files.now_utc())
        spec = plan.collector_run(
            Work.SCAN, sweep_id, target, scan=task, timeout_s=options.timeout_s
        )
        scanned = self.scan(target, spec, str(volume))
        if scanned is None:
            return nullcontext(None)
        params = FileParams(**scanned.params)
        expect_key(params, options.key)
        return nullcontext(DrawnRows(params))


def source_of(file: FileRows, given: Mapping[str, Any], run: TargetRun, scan: Scan) -> Source:
    """Return the source that the options name; a manifest next to a file completes them."""
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


def _list_joined(file: FileRows) -> Iterator[str]:
    """Yield why several files cannot be inserted together."""
    for place in file.data if len(file.data) > 1 else ():
        if in_volume(place) or is_prepared(place):
            yield f"--data: {place}: is prepared, and inserted alone; leave the others out"
