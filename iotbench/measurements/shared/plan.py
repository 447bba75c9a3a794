"""Planned runs of a sweep, their specifications and their expected duration. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from iotbench.config.input.options import Options
from iotbench.config.targets.config import Target
from iotbench.measurements.shared.faults import RETRY_FOR_S, Faults
from iotbench.measurements.shared.options import Connecting, Sending
from iotbench.results.result import Manifest, Result, RunRecord
from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.errors import ConfigError, UnverifiableError
from simulator.protocol.messages import WARMUP
from simulator.protocol.pace import Clocking
from simulator.protocol.records import RecordsFile
from simulator.protocol.spec import InsertTask, RunSpec, Work

_Options = TypeVar("_Options", bound=Options)
_FIXED_PHASES = ("init", "barrier")
"""Phases of a run that take the same time for any number of rows."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is ready to be started."""

    spec: RunSpec
    run: int
    level: int
    again: "Callable[[Manifest], PlannedRun] | None" = None
    """Function that plans the run again, after the rows of the previous run; ConfigError if no row
    is left to insert. None: the plan is final.
    """


@dataclass(frozen=True, slots=True)
class Recorded:
    """Records of a file, which the workers send without encoding."""

    file: RecordsFile
    share: Callable[[int], tuple[InsertTask, ...]]
    """Number of workers -> the records of each worker."""
    clean: bool
    """True if the first run may replace existing tables; otherwise existing tables are refused."""


def spec_of(
    work: Work, run: tuple[str, str], target: Target, dataset: Dataset, **task: Any
) -> RunSpec:
    """Return the specification of a run; `run` holds the sweep ID and the end of the run ID.

    The specification contains no credentials of the target. `task` has the fields that only some
    runs have. ConfigError if the runner cannot read the rows.
    """
    if dataset.volume_claim and target.runner == "local":
        raise ConfigError(
            f"--runner local: the rows are in {dataset.params['source']}, and only pods mount"
            " volume claims; use --runner kubernetes"
        )
    secret = target.options.secrets()
    plain = target.options.model_dump(mode="json")
    return RunSpec(
        sweep_id=run[0],
        run_id="-".join(run),
        work=work,
        target=target.name,
        module=target.module,
        options={key: value for key, value in plain.items() if key not in secret},
        dataset=dataset,
        **{"workers": (), **task},
    )


@dataclass(frozen=True, slots=True)
class Wanted(Generic[_Options]):
    """A measurement to make on one target."""

    sweep_id: str
    target: Target
    options: _Options
    stored: Manifest
    """The rows in the tables."""
    by: str = ""
    """User and machine that request the measurement."""
    force: bool = False
    timeout_s: float = 0.0
    """Time after which a run is given up; 0: never."""
    rows: object = None
    """Rows to insert, for `insert`; None for other kinds."""

    def spec(self, work: Work, run: str, dataset: Dataset, **task: Any) -> RunSpec:
        """Return the specification of a run after the rows of a dataset.

        The connections, and the settings for batches, come from the options unless `task` has them.
        """
        options = self.options
        same: dict[str, Any] = {
            "by": self.by, "complete": self.stored.complete, "timeout_s": self.timeout_s,
        }  # fmt: skip
        if isinstance(options, Connecting):
            same["several"] = options.several
        if isinstance(options, Sending):
            fails = isinstance(options, Faults) and options.fault
            same |= {
                "mode": self.target.open().insert_mode(options.mode),
                "batch_rows": options.batch_rows,
                "retry_s": options.retry_for_s or (RETRY_FOR_S if fails else 0.0),
            }
        return spec_of(work, (self.sweep_id, run), self.target, dataset, **{**same, **task})

    def clocking(self, **more: Any) -> Clocking:
        """Return the clocking of the runs, from options with the same names and from `more`."""
        names = (name for name in Clocking.model_fields if hasattr(self.options, name))
        return Clocking(**{**{name: getattr(self.options, name) for name in names}, **more})


def collector_run(
    work: Work, sweep_id: str, target: Target, dataset: Dataset | None = None, **task: Any
) -> RunSpec:
    """Return a run of the collector alone, for Work.CHECK, MARKS or SCAN."""
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
    return spec_of(work, (sweep_id, "0-1"), target, dataset or nothing, **task)


def expect_stored(target: Target, mode: str) -> None:
    """Raise UnverifiableError if the target stores nothing."""
    if not target.open().capabilities.stores:
        raise UnverifiableError(f"--verify {mode}: {target.module} stores nothing to verify")


def estimate_s(planned: Sequence[PlannedRun], last: Result | None) -> float | None:
    """Return the duration of runs at the speed of an earlier result; None without earlier runs."""
    done = [run for run in last.runs if run.metrics and run.metrics.rows] if last else []
    if not done:
        return None
    return sum(_duration_s(each.spec, done) for each in planned)


def _duration_s(spec: RunSpec, done: Sequence[RunRecord]) -> float:
    """Return the duration of a run at the speed of the run with the nearest worker count."""
    nearest = min(done, key=lambda run: abs(run.workers - len(spec.workers)))
    assert nearest.metrics
    phases = nearest.outcome.phases_s
    fixed = sum(phases.get(name, 0.0) for name in _FIXED_PHASES)
    with_rows = sum(phases.values()) - fixed
    clocking = spec.clocking
    if clocking.duration_s:
        inserted_s = phases.get(WARMUP, 0.0) + phases.get("insert", 0.0)
        return fixed + with_rows - inserted_s + clocking.warm_s + clocking.duration_s
    written = sum(each.prefill_rows + each.rows for each in nearest.outcome.workers)
    return fixed + with_rows * rows_of(spec) / written


def rows_of(spec: RunSpec) -> int:
    """Return the number of rows that a run inserts; for a run with a duration, the maximum."""
    return count_prefilled(spec) + count_timed(spec)


def count_prefilled(spec: RunSpec) -> int:
    """Return the number of rows that a run inserts before its timed part."""
    return sum(len(rows) for task in spec.inserts for rows in task.prefill)


def count_timed(spec: RunSpec) -> int:
    """Return the number of rows in the timed part of a run; with a duration, the maximum."""
    return sum(len(rows) for task in spec.inserts for rows in task.timed)
