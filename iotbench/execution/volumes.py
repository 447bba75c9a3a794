"""Rows in volume claims: a pod scans them before a sweep, since only pods can."""

from collections.abc import Callable

from iotbench.config.targets.config import Target
from iotbench.execution.runners import manifests, runner_for
from iotbench.execution.source import Source
from iotbench.machine.interrupts import caught_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.shared import plan
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.output.terminal.course import Course
from iotbench.output.terminal.progress import ProgressDisplay
from iotbench.results import result_files
from iotbench.rows.files.keys import expect_key
from iotbench.rows.recorded.manifest import read
from iotbench.rows.recorded.prepare import PreparedRecords, records_of
from iotbench.rows.recorded.request import RecordsRequest
from iotbench.rows.recorded.volume import VolumeFile
from simulator.data.dataset import Dataset
from simulator.data.workloads.file import FileParams
from simulator.errors import ConfigError, Interrupted, SetupError
from simulator.protocol.events import Outcome
from simulator.protocol.records import FileManifest, RecordsFile, Scanned, ScanTask
from simulator.protocol.spec import RunSpec, Work


def records_in_volume(  # noqa: PLR0913, PLR0917
    source: Source,
    request: RecordsRequest,
    volume: VolumeFile,
    empty_of: Callable[[FileManifest | None], Dataset],
    options: InsertOptions,
    target: Target,
) -> PreparedRecords | None:
    """Return the file as a pod has scanned it; None: a dry run printed what would start.

    `empty_of` returns the dataset, without rows, of a file with this manifest.
    """
    manifest = read(request.manifest_file) if request.manifest_file else None
    known = empty_of(manifest) if manifest or "--workload" in source.given else None
    beside = request.manifest_volume
    sweep_id = result_files.new_id(result_files.now_utc())
    spec = plan.collector_run(
        Work.SCAN,
        sweep_id,
        target,
        known,
        records=RecordsFile(
            path=volume.in_pods, format=request.form, volume_claim=volume.claim, skip=request.skip
        ),
        scan=ScanTask(
            workers=options.workers,
            batch_rows=options.batch_rows,
            limit=options.limit,
            manifest=manifest,
            manifest_path=beside.in_pods if beside and not manifest else "",
            needs_manifest=request.manifest is not None or known is None,
        ),
        timeout_s=options.timeout_s,
    )
    scanned = _scan(source, spec, target, request.name)
    if scanned is None:
        return None
    manifest = manifest or scanned.manifest
    return records_of(
        request, volume.in_pods, manifest, empty_of(manifest), scanned, limit=options.limit
    )


def find_prepared_in_volume(
    source: Source, volume: VolumeFile, options: InsertOptions, target: Target
) -> FileParams | None:
    """Return a prepared file as a pod has found it; None: a dry run printed what would start."""
    sweep_id = result_files.new_id(result_files.now_utc())
    spec = plan.collector_run(
        Work.SCAN,
        sweep_id,
        target,
        scan=ScanTask(prepared=volume.in_pods, volume_claim=volume.claim),
        timeout_s=options.timeout_s,
    )
    scanned = _scan(source, spec, target, str(volume))
    if scanned is None:
        return None
    params = FileParams(**scanned.params)
    expect_key(params, options.key)
    return params


def _scan(source: Source, spec: RunSpec, target: Target, name: str) -> Scanned | None:
    """Return what a pod finds in a file; None: a dry run printed what would start."""
    cluster, quiet = source.choice.cluster, source.run.quiet
    if source.run.dry_run:
        print_out(manifests(target, spec.sweep_id, cluster, spec))
        return None
    if not quiet:
        say(f"reading {name} in a pod", err=True)
    outcome = Outcome(status="failed", cause="the scan ended without an outcome")
    planned = PlannedRun(spec, 1, 0)
    with (
        caught_interrupts() as interrupts,
        runner_for(target, spec.sweep_id, cluster, interrupts, spec) as runner,
        ProgressDisplay(quiet=quiet) as follower,
    ):
        course = Course([planned])
        for event in runner.run(spec):
            if isinstance(event, Outcome):
                outcome = event
            else:
                follower.take(course.follow(planned, event))
    if outcome.status == "done" and outcome.scanned:
        return outcome.scanned
    cause = target.options.redact(outcome.cause)
    if outcome.status == "interrupted":
        raise Interrupted(cause)
    if outcome.exit_code == ConfigError.exit_code:
        raise ConfigError(cause)
    file = spec.records.name if spec.records else f"claim:{spec.volume_claim}"
    raise SetupError(f"--data: {file}: {cause}")
