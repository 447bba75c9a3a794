"""A result: the configuration of a sweep, and the measurements of its runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from iotbench.machine.bystanders import OtherWork
from iotbench.machine.machine import Machine
from iotbench.machine.resources import Resources
from iotbench.results import kinds
from iotbench.results.command import GivenCommand
from iotbench.results.faults import Outage
from iotbench.results.metrics import InsertMetrics
from simulator.data.dataset import Dataset
from simulator.errors import Interrupted, MismatchError, RunError, UnverifiableError
from simulator.frozen import Frozen
from simulator.protocol.events import Outcome, QueryPlans, QueryVerdict, Server
from simulator.protocol.pace import LoadStage
from simulator.protocol.verdict import Status

FORMAT_VERSION: Literal[2] = 2
TAG = r"[A-Za-z0-9][A-Za-z0-9._:+-]{0,39}"
"""Pattern of a tag, which must fit into tables, file names and labels of metrics."""
_NAMED = 4
"""Maximum number of targets that a title names; if there are more, the title has their number."""
_MUCH_WORK = 0.1
"""Share of the cores; a warning is given if other work uses at least this share."""

Kind = Annotated[
    str, AfterValidator(kinds.check_known), Field(json_schema_extra={"enum": [*kinds.NAMES]})
]


def _check_beside(name: str) -> str:
    if name in ("", ".", "..") or {*"/\\\0"} & {*name}:
        raise ValueError("expected the name of a file in the same folder")
    return name


FileBeside = Annotated[str, AfterValidator(_check_beside)]
"""Name of a file in the folder of the result; a stranger's result cannot refer to other places."""


class Manifest(Frozen):
    """The contents of the target's tables after an insert, which later measurements read."""

    dataset: Dataset
    rows: int
    complete: bool
    """True if the insert has ended, and every row is known to be stored or acknowledged."""

    @classmethod
    def of(cls, dataset: Dataset, *, complete: bool) -> Self:
        """Return the manifest of tables that hold a dataset."""
        return cls(dataset=dataset, rows=dataset.rows, complete=complete)


class Progress(Frozen):
    """The last known progress of a run."""

    run_id: str
    workers: int
    run: int
    level: int
    phase: str = "start"
    prefill_rows: int = 0
    rows: int = 0
    """Minimum number of rows that were acknowledged in the timed part."""
    at: datetime


class RunRecord(Frozen):
    """One run of a sweep."""

    run_id: str
    workers: int
    run: int
    """Number of the run among the runs with the same number of workers, from 1."""
    level: int
    """Number of rows in the tables before the timed part."""
    stages: tuple[LoadStage, ...] = ()
    """Parts of the run; each part has a number of active workers (--stages)."""
    outcome: Outcome
    metrics: InsertMetrics | None = None
    progress: Progress | None = None
    """Last progress; present only in a run without reports of its workers."""
    logs: dict[str, str] = Field(default_factory=dict)
    """Name of a process -> the last lines that the process wrote."""
    outages: tuple[Outage, ...] = ()
    """Faults of the run and their effects (--fault)."""
    resources: Resources | None = None
    """Resources that the machine, the client and the server used (--resources)."""
    other_work: OtherWork | None = None
    """Other work on the client's machine during the run; None if not measured, as on a cluster."""
    took_s: float | None = None
    """Duration, including start and end of processes or pods; None if not measured."""


class Result(BaseModel):
    """A sweep: its configuration and the measurements of its runs."""

    model_config = ConfigDict(extra="forbid")

    format_version: Literal[2] = FORMAT_VERSION
    program_version: str
    sweep_id: str
    created: datetime
    kind: Kind
    """Kind of the measurement; see iotbench.measurements."""
    target: str
    module: str
    runner: str
    configuration: dict[str, Any]
    """Options of the command; in files of version 0.1.0, also the options of the target."""
    target_options: dict[str, Any] = {}
    """The options of the target, without credentials."""
    command: GivenCommand | tuple[str, ...] = ()
    """The command that `repeat` runs, without credentials and options about output.

    Files of earlier versions store words. Empty if `capacity` made the measurement."""
    packages: dict[str, str] = {}
    """Package that the module imports, such as the driver -> version of the package.

    Empty on Kubernetes, where the image contains the packages."""
    machine: Machine
    ran_on: dict[str, str] = {}
    """Cluster, version, namespace and image; empty for the local runner."""
    cluster_warnings: list[str] = []
    """Warnings about the cluster, found before the first run; `warnings` has them, too."""
    dataset: Dataset
    """Workload, seed and parameters; for queries, also the queried rows."""
    manifest: Manifest | None = None
    """Contents of the tables; None until the tables are changed."""
    status: Literal["running", "done", "failed", "interrupted"] = "running"
    cause: str = ""
    in_progress: Progress | None = None
    """The run in progress when the file was written."""
    runs: list[RunRecord] = []
    caches: str = ""
    """State of the system's file caches before each run.

    "dropped", or the reason why they were not dropped; empty if this was not requested."""
    warnings: list[str] = []
    tags: list[Annotated[str, Field(pattern=f"^{TAG}$")]] = []
    """The user's tags."""

    @property
    def exit_code(self) -> int:
        """Exit code of the sweep, as described in the README."""
        if self.status == "interrupted":
            return Interrupted.exit_code
        verdicts = [run.outcome.verdict for run in self.runs]
        if any(v and v.status is Status.MISMATCH for v in verdicts):
            return MismatchError.exit_code
        if self.status != "done":
            return self.runs[-1].outcome.exit_code or 1 if self.runs else 1
        if not verdicts or any(v and v.status is Status.INCOMPLETE for v in verdicts):
            return RunError.exit_code
        if any(v is None or v.status in (Status.UNKNOWN, Status.UNCHECKED) for v in verdicts):
            return UnverifiableError.exit_code
        return 0

    @property
    def server(self) -> Server | None:
        """The server as the last run found it; None if unknown."""
        found = (run.outcome.server for run in reversed(self.runs))
        return next(filter(None, found), None)

    @property
    def queries(self) -> list[QueryVerdict]:
        """The queries of all runs, each with the verdict on the query's answers."""
        return [query for run in self.runs for query in run.outcome.queries]

    @property
    def query_plans(self) -> dict[str, QueryPlans]:
        """Name of a query -> plans of the query."""
        return {plans.query: plans for run in self.runs for plans in run.outcome.plans}

    @property
    def is_unchecked(self) -> bool:
        """True if everything was verified except for the user's own queries."""
        statuses = {run.outcome.verdict.status for run in self.runs if run.outcome.verdict}
        known = statuses <= {Status.UNCHECKED, Status.VERIFIED}
        return self.status == "done" and Status.UNCHECKED in statuses and known


def title_of(results: Sequence[Result]) -> str:
    """Return a title with the kinds and the targets of results."""
    kinds = [*dict.fromkeys(result.kind for result in results)]
    targets = [*dict.fromkeys(result.target for result in results)]
    named = ", ".join(targets) if len(targets) <= _NAMED else f"{len(targets)} targets"
    what = " and ".join(filter(None, (", ".join(kinds[:-1]), *kinds[-1:])))
    return f"{what} on {named}"


def much_other_work(*results: Result, workers: int | None = None) -> OtherWork | None:
    """Return the most other work during any run; None if it was little or not measured.

    `workers` selects the runs with this number of workers; None: all runs.
    """
    found = [
        run.other_work
        for result in results
        for run in result.runs
        if run.other_work and run.other_work.cores >= _MUCH_WORK * result.machine.cores
        if workers is None or run.workers == workers
    ]
    return max(found, key=lambda each: each.cores, default=None)
