"""Plans: from a command's options to the runs of a sweep. Pure; reports all problems at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.config import Target
from cli.distribution import Load, worker_plans
from cli.insert_options import (
    DEFAULT_RUNS,
    PARTS,
    InsertOptions,
    outside,
)
from cli.quantities import LONGEST_S
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import Params
from simulator.errors import ConfigError, UnverifiableError
from simulator.modules.base import Database
from simulator.protocol.spec import Kind, RunSpec
from simulator.protocol.verdict import VerifyMode


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a sweep, ready to be started."""

    spec: RunSpec
    run: int
    level: int


def empty_dataset(options: InsertOptions, params: Params) -> Dataset:
    """Return the dataset of an insert, still without rows."""
    cls = workload_class(options.workload)
    return Dataset(
        workload=cls.name,
        workload_version=cls.version,
        params=params.model_dump(mode="json"),
        seed=options.seed,
        start_ms=options.start_ms,
        primary_key=options.primary_key,
        parts=PARTS[options.tables],
    )


def continued(found: Dataset, wanted: Dataset) -> Dataset:
    """Return the stored dataset, to be continued (--no-clean); ConfigError where options differ."""
    kept = found.model_copy(update={"ranges": ()})
    starts = workload_class(wanted.workload).has_end  # otherwise it continues where it ended
    asked = wanted if starts else wanted.model_copy(update={"start_ms": found.start_ms})
    if kept == asked:
        return found
    problems = [
        f"--no-clean: the tables were made with {name} = {getattr(kept, name)}, and now it is"
        f" {getattr(asked, name)}; use the same, or --clean"
        for name in Dataset.model_fields
        if getattr(kept, name) != getattr(asked, name)
    ]
    raise ConfigError(problems)


def verification(options: InsertOptions, database: Database) -> VerifyMode:
    """Return the level to verify at; UnverifiableError if asked of what stores nothing."""
    if database.capabilities.stores:
        return options.verify or VerifyMode.COUNTS
    if options.verify in (None, VerifyMode.NONE):
        return VerifyMode.NONE
    raise UnverifiableError(
        f"--verify {options.verify}: {database.name} stores nothing; use --verify none"
    )


def insert_runs(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    options: InsertOptions,
    stored: Dataset,
    level: VerifyMode,
    *,
    complete: bool = True,
    by: str = "",
) -> Iterator[PlannedRun]:
    """Yield the runs of a sweep in order; each knows what the ones before it leave behind.

    `complete` is False if the insert of `stored` did not end; `by` names user and machine.
    """
    empty = stored.model_copy(update={"ranges": ()})
    reader = DatasetReader(empty)
    before = stored
    repeats = options.steps or options.runs or DEFAULT_RUNS
    for workers in options.workers:
        for run in range(1, repeats + 1):
            keeps = not options.clean or (options.steps and run > 1)
            before = before if keeps else empty
            load = Load(
                workers=workers,
                prefill=options.prefill,
                rows_each=options.rows_each,
                limit=options.limit,
                batch_rows=options.batch,
                split=options.split,
                steps_left=options.steps - run + 1 if options.steps else 1,
            )
            spec = RunSpec(
                sweep_id=sweep_id,
                run_id=f"{sweep_id}-{workers}-{run}",
                by=by,
                kind=Kind.INSERT,
                target=target.name,
                module=target.module,
                options=options_of(target),
                dataset=before,
                complete=complete or before is not stored,
                workers=worker_plans(reader, before, load),
                batch_rows=options.batch,
                rate_rows_per_s=options.rate,
                duration_s=options.duration_s,
                clean=not keeps,
                verify=level,
                timeout_s=options.timeout_s,
            )
            yield PlannedRun(spec, run, before.rows + options.prefill)
            before = spec.after


def options_of(target: Target) -> dict[str, Any]:
    """Return the target's options as they travel in the specification: without credentials."""
    secret = target.options.secrets()
    plain = target.options.model_dump(mode="json")
    return {key: value for key, value in plain.items() if key not in secret}


def collector_run(kind: Kind, sweep_id: str, target: Target) -> RunSpec:
    """Return a run of the collector alone, on no rows: of Kind.CHECK or Kind.MARKS."""
    cls = workload_class("iot")
    nothing = Dataset(
        workload=cls.name,
        workload_version=cls.version,
        params={},
        seed=0,
        start_ms=0,
        primary_key=PrimaryKey.NONE,
        parts=1,
    )
    return RunSpec(
        sweep_id=sweep_id,
        run_id=f"{sweep_id}-0-1",
        kind=kind,
        target=target.name,
        module=target.module,
        options=options_of(target),
        dataset=nothing,
        workers=(),
    )


def expect_stored(target: Target, mode: str) -> None:
    """Raise UnverifiableError for a target that stores nothing."""
    if not target.open().capabilities.stores:
        raise UnverifiableError(f"--verify {mode}: {target.module} stores nothing to verify")


def verify_run(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    dataset: Dataset,
    *,
    complete: bool = True,
    mode: VerifyMode,
    timeout_s: float,
) -> PlannedRun:
    """Return the run that compares what is stored with a dataset: no workers."""
    if problems := outside(("--timeout", timeout_s, 0, LONGEST_S)):
        raise ConfigError(problems)
    spec = RunSpec(
        sweep_id=sweep_id,
        run_id=f"{sweep_id}-v",
        kind=Kind.VERIFY,
        target=target.name,
        module=target.module,
        options=options_of(target),
        dataset=dataset,
        complete=complete,
        workers=(),
        clean=False,
        verify=mode,
        timeout_s=timeout_s,
    )
    return PlannedRun(spec, 1, dataset.rows)
