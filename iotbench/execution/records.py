"""`insert --data-format`: the part of `insert` that sends the records of a file as they are."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from iotbench.config.options.choice import Choice, TargetRun
from iotbench.config.targets.config import Target
from iotbench.execution.launch import conclude, start
from iotbench.execution.volumes import records_in_volume
from iotbench.machine.inputs import problem_of
from iotbench.machine.owner import user_at_host
from iotbench.machine.streams import say
from iotbench.measurements.insert.checks import generator_params
from iotbench.measurements.shared import plan
from iotbench.measurements.shared.options import InsertOptions, default_key
from iotbench.measurements.shared.stages import format_stages
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from iotbench.rows.recorded.prepare import Records, prepare
from iotbench.rows.recorded.request import Request, list_repeated
from iotbench.rows.recorded.runs import record_runs
from iotbench.rows.recorded.volume import in_volume
from simulator.data.dataset import Dataset, DatasetReader
from simulator.errors import ConfigError, counted
from simulator.modules.contract.base import Database
from simulator.protocol.records import FileManifest
from simulator.protocol.verdict import VerifyMode

_NO_ROWS: dict[str, Any] = {"ranges": ()}


def insert_records(  # noqa: PLR0913
    request: Request,
    options: InsertOptions,
    given: Mapping[str, Any],
    problems: list[str],
    target: Target | None,
    *,
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    outputs: Outputs,
) -> None:
    """Scan the file, plan its runs and run them; ConfigError with everything that is wrong."""
    problems += _unusable(request, target)
    if problems or not target:
        raise ConfigError(problems)

    def empty_of(manifest: FileManifest | None) -> Dataset:
        return _empty(options, given, manifest, target)

    with _scan(request, empty_of, options, given, target, choice=choice, run=run) as records:
        if records is None:
            return
        database = target.open()
        reader = DatasetReader(records.dataset)
        tables = {item.table for item in records.dataset.ranges}
        if len(tables) > 1 and database.capabilities.stores:
            _expect_mixed(database, reader)
        level = _verification(options, database, records)
        sweep = start("insert", target, run.output, records.dataset.model_copy(update=_NO_ROWS))
        sweep.result.configuration = _describe(request, options, records, level)
        sweep_id = sweep.result.sweep_id
        clean = bool(given.get("--clean"))
        runs = record_runs(
            sweep_id, target, options, records, level, clean=clean, by=user_at_host()
        )
        if records.scanned.skipped_rows:
            _warn_of_skipped(request, records)
        planned = list(runs)
        plan.expect_needed(options.replace_tables, records.dataset, database)
        if records.known:
            plan.expect_storable(planned, target, to_end=not options.timed_s)
        sweep = sweep.on(options, choice.environment)
        conclude(
            sweep, planned, choice, run, measured=options.resources, gates=gates, outputs=outputs
        )


def _unusable(request: Request, target: Target | None) -> Iterator[str]:
    """Yield why the file cannot be sent to a target, before it is read."""
    if target and request.form not in (takes := target.open().capabilities.formats):
        can = ", ".join(sorted(takes)) or "none; its module encodes rows itself"
        yield (
            f"--data-format {request.form}: target {target.name} does not take it; it takes: {can}"
        )
    if target and target.options.sends_by:
        yield "--data-format: the records are sent as they are, by no driver; use client=own"
    here = not (request.is_standard_input or in_volume(request.file))
    if here and (problem := problem_of(request.file)):
        yield f"--data: {request.file}: {problem}"


def _scan(  # noqa: PLR0913
    request: Request,
    empty_of: Callable[[FileManifest | None], Dataset],
    options: InsertOptions,
    given: Mapping[str, Any],
    target: Target,
    *,
    choice: Choice,
    run: TargetRun,
) -> AbstractContextManager[Records | None]:
    """Return a context in which the scanned file is available."""
    if volume := request.volume:
        return nullcontext(
            records_in_volume(
                request, volume, empty_of, target, options=options, choice=choice,
                has_workload="--workload" in given, quiet=run.quiet, dry=run.dry_run,
            )
        )  # fmt: skip
    counts = options.workers, options.batch, options.limit
    return prepare(request, empty_of, *counts, quiet=run.quiet)


def _warn_of_skipped(request: Request, records: Records) -> None:
    left_out = f"{counted(records.scanned.skipped_rows, 'record')} left out"
    if records.promised is not None:
        left_out += f"; {records.dataset.rows:,} of {records.promised:,} rows are sent"
    say(f"warning: {request.name}: {left_out}", err=True)
    for problem in records.scanned.skipped:
        say(f"  {problem}", err=True)


def _empty(
    options: InsertOptions,
    given: Mapping[str, Any],
    manifest: FileManifest | None,
    target: Target,
) -> Dataset:
    """Return the dataset of the file's tables, without rows."""
    if manifest:
        if problems := list_repeated(given):
            raise ConfigError(problems)
        key = options.key
        if "--primary-key" not in given:
            capabilities = target.open().capabilities
            key = default_key(manifest.dataset.workload, capabilities)
        return manifest.dataset.model_copy(update={**_NO_ROWS, "primary_key": key})
    if "--workload" not in given:
        raise ConfigError(
            "--manifest: the file has none, so nothing says which tables its rows are of; name it,"
            " or give --workload, and only the number of rows is verified"
        )
    return plan.empty_dataset(options, generator_params(options))


def _expect_mixed(database: Database, reader: DatasetReader) -> None:
    """Raise ConfigError if a request of the target has rows of one table only."""
    if not (database.capabilities.mixes_tables and reader.one_group):
        raise ConfigError(
            f"--data: has rows of several tables, and a request to {database.name} is for one;"
            " generate a file of each with --table"
        )


def _verification(options: InsertOptions, database: Database, records: Records) -> VerifyMode:
    """Return the level to verify at: without a manifest only the number of rows."""
    level = plan.verification(options, database)
    if records.known or level is VerifyMode.NONE:
        return level
    if level is VerifyMode.FULL:
        raise ConfigError(
            "--verify full: the rows of the file are not known: it has no manifest, or some are"
            " left out; only their number can be verified"
        )
    return VerifyMode.ROWS


def _describe(
    request: Request, options: InsertOptions, records: Records, level: VerifyMode
) -> dict[str, Any]:
    """Return the options of the insert for display."""
    known = {
        "data": str(request.file),
        "data_format": request.form.value,
        "rows": records.dataset.rows,
        "sha256": records.scanned.sha256,
        "skipped": records.scanned.skipped_rows or None,
        "workload": records.dataset.workload,
        "workers": options.workers,
        "primary_key": records.dataset.primary_key.value,
        "batch": options.batch,
        "limit": options.limit,
        "duration_s": options.duration_s,
        "warmup_s": options.warmup_s,
        "warmup_until_steady_s": options.warmup_until_steady_s or None,
        "retry_for_s": options.retry_for_s,
        "stages": format_stages(options.stages) or None,
        "rate": options.rate,
        "runs": options.repeats,
        "verify": level.value,
    }
    return {name: value for name, value in known.items() if value is not None}
