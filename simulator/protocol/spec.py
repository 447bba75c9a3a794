"""The specification of a run, written by the command line and read by collector and workers.

Credentials are passed separately; see run_input.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from simulator import __version__
from simulator.data.changes import Deleting, correct, since, update_tags
from simulator.data.dataset import Dataset, Retag
from simulator.data.fresh import FreshType, fresh_types
from simulator.data.own_query import OwnQuery, TextQuery, make_own_types
from simulator.data.query import Query
from simulator.data.query_type import QueryType
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.frozen import Frozen
from simulator.protocol.messages import SILENCE_S, WorkerReport
from simulator.protocol.pace import Clocking
from simulator.protocol.records import RecordsFile, ScanTask
from simulator.protocol.verdict import VerifyMode

MOST_INSTANCES = 10_000
"""Maximum number of different timed instances of a query type in a run; further runs repeat
them."""
FIRST_INSTANCE = 1 << 20
"""Smallest number of the instances of first runs and of the warm-up."""
MOST_WARMUP = 300
"""Maximum number of different instances in a worker's warm-up; further runs repeat them."""


class Work(StrEnum):
    """The task of a run."""

    INSERT = "insert"
    QUERY = "query"
    MIXED = "mixed"
    """Some workers write rows, and other workers ask about the rows stored before."""
    CHANGE = "change"
    """Some workers correct or delete rows stored before; other workers may write new rows."""
    CHECK = "check"
    """No workers: the collector checks whether the target can be used."""
    VERIFY = "verify"
    """No workers: the collector compares the stored rows with the dataset."""
    MARKS = "marks"
    """No workers: the collector reads the marks of the database."""
    SCAN = "scan"
    """No workers: the collector scans a file of records in a volume claim."""

    @property
    def writes(self) -> bool:
        """True if a run of this kind leaves rows in the tables."""
        return self in (Work.INSERT, Work.MIXED, Work.CHANGE)

    @property
    def asks(self) -> bool:
        """True if a run of this kind measures queries."""
        return self in (Work.QUERY, Work.MIXED)

    @property
    def needs_rows(self) -> bool:
        """True if a run of this kind needs rows that an earlier insert has stored."""
        return self in (Work.QUERY, Work.MIXED, Work.CHANGE, Work.VERIFY)


class InsertTask(Frozen):
    """The task of a worker that writes rows: prefill before the barrier, timed rows after it."""

    task: Literal["insert"] = "insert"
    prefill: tuple[RowRange, ...] = ()
    timed: tuple[RowRange, ...] = ()
    span: tuple[int, int] = (0, 0)
    """Start and end of the timed rows in the file of records, in bytes."""


MOST_WEIGHT = 1000
Weight = Annotated[int, Field(ge=1, le=MOST_WEIGHT)]


class Ask(Frozen):
    """The task of a worker that asks queries: its share of the instances of each query type.

    The timed runs ask instances place, place + every, ..., and begin again after the worker's share
    of `most`. The first run, which is timed separately, and the warm-up ask other instances.
    """

    task: Literal["ask"] = "ask"
    place: int = Field(ge=0)
    every: int = Field(ge=1)
    runs: int = Field(ge=0)
    """Number of timed runs of each query; 0: as many as the time allows."""
    fewest: int = Field(default=0, ge=0)
    """Minimum number of timed runs, even if the time is over; 0: all of `runs`."""
    burn_in: int = Field(default=0, ge=0)
    """Minimum number of runs of each query between the first run and the timed runs."""
    most: int = Field(default=MOST_INSTANCES, ge=1, le=MOST_INSTANCES)
    """Number of different timed instances of a query, over all workers."""

    def multiply(self, weight: int) -> "Ask":
        """Return the task for a query that is asked `weight` times as often."""
        return self.model_copy(update={"runs": self.runs * weight})

    def warmup(self, runs: int) -> range:
        """Return the different instances of a number of warm-up runs."""
        start = self.first + self.every
        return range(start, start + self.every * min(runs, MOST_WARMUP), self.every)

    @property
    def first(self) -> int:
        """Number of the first run's instance."""
        return FIRST_INSTANCE + self.place

    def instances(self, runs: int) -> range:
        """Return the different instances for a number of timed runs, in the order of the runs."""
        share = max(-(-(self.most - self.place) // self.every), 1)
        return range(self.place, self.place + self.every * min(runs, share), self.every)


class ChangeTask(Frozen):
    """The task of a worker that changes rows stored before."""

    task: Literal["change"] = "change"
    delete_ms: tuple[int, ...] = ()
    """Times up to which the worker deletes rows, in the order of the deletions."""
    correct: tuple[RowRange, ...] = ()
    """Rows with fields that the worker replaces after the deletions; none of the rows is
    deleted."""
    retags: tuple[Retag, ...] = ()
    """Tags that the worker updates after the corrections, one series after the other."""
    by: Deleting = Deleting.STATEMENT
    at_s: float = Field(default=0.0, ge=0)
    """Start time, in seconds after the barrier."""


Task: TypeAlias = Annotated[InsertTask | Ask | ChangeTask, Field(discriminator="task")]


class Ramp(Frozen):
    """Admission of workers, one step after the other, until answers take too long."""

    step: int = Field(ge=1)
    """Number of workers that are admitted together."""
    interval_s: float = Field(gt=0)
    window_s: float = Field(gt=0)
    """Length of the moving average of the response time, in seconds."""
    limit_s: float = Field(gt=0)


class Several(Frozen):
    """The connections of each worker that writes rows or asks queries."""

    connections: int = Field(default=1, ge=1)
    """Number of callers in each worker, which send batches or ask queries at the same time."""
    pool: int = Field(default=0, ge=0)
    """Number of connections that the callers of a worker share; 0: each caller has its own."""


class Weather(Frozen):
    """The treatment of bytes by a network, in both directions."""

    is_cut: bool = False
    """True if no bytes pass; TCP sends them again once the network is back."""
    delay_s: float = Field(default=0.0, ge=0)
    bytes_per_s: float = Field(default=0.0, ge=0)
    """Limit of each connection, in bytes/s; 0: no limit."""


class PlannedFault(Frozen):
    """A fault that is planned in a run; outages are measured, and rows are accounted for."""

    name: str
    instants_s: tuple[float, ...]
    """Start times of the fault, in seconds since the beginning of the measured part."""
    lasts_s: float = Field(ge=0)
    network: Weather | None = None
    """Condition of the workers' connections during the fault; None: the network does not fail."""
    kills_workers: bool = False
    """True if the processes with which workers write are killed."""

    def is_on(self, elapsed_s: float) -> bool:
        """Return whether the fault is on, `elapsed_s` after the beginning of the measured part."""
        return any(0 <= elapsed_s - each <= self.lasts_s for each in self.instants_s)


class QueryLoad(Frozen):
    """The queries that the workers of a run ask, and the answers to keep."""

    queries: dict[str, str] = Field(default_factory=dict)
    """Query type -> the target's own statement for the type; empty if there is none.

    The user's own queries are included, with an empty statement."""
    own: dict[str, OwnQuery] = Field(default_factory=dict)
    """The user's own queries, which are also in `queries`."""
    weights: dict[str, Weight] = Field(default_factory=dict)
    """Query type -> number of times it is asked for each time that a type with weight 1 is asked.

    Weights of 1 are left out."""
    until_ms: int | None = None
    """Time in ms since 1970; queries are only about rows before this time. None: all rows."""
    fresh_ms: int = 0
    """Length of time of the rows that queries are about, up to the newest acknowledged row.

    0: queries are about rows stored before the run, up to `until_ms`."""
    aligned: bool = False
    """True if windows of time are aligned to the buckets of the query."""
    shown_answers: int = 0
    """Number of answers to each query type that the outcome contains."""
    plans: bool = False
    """True if the outcome contains the query plan of each type."""
    ramp: Ramp | None = None
    """Ramp of each query, which ends the query; None if all workers begin together."""
    digests: bool = False
    """True if the outcome contains the digest of each answer, and the wrong answers."""
    print_interval: int = 0
    """Number of timed runs of a query between two reports of the collector; 0: no reports."""


class RunSpec(Frozen):
    """The specification of one run of a sweep."""

    version: str = __version__
    """Version of the command line."""
    sweep_id: str = ""
    run_id: str
    by: str = ""
    """User and machine of the command line."""
    work: Work
    target: str
    module: str
    options: dict[str, Any]
    """Options of the target, without credentials."""
    dataset: Dataset
    """The contents of the tables before the run."""
    complete: bool = True
    """False if an insert of `dataset` did not end, as far as the command line knows."""
    workers: tuple[Task, ...]
    records: RecordsFile | None = None
    """File of records to send; None if workers draw and encode the rows."""
    scan: ScanTask | None = None
    """Task of a run with Work.SCAN."""
    mode: str = "single"
    """Insert mode of the timed rows."""
    batch_rows: int = Field(1, ge=1)
    scratch: str = ""
    """Folder for the files of --import; empty: the folder for temporary files."""
    clocking: Clocking = Clocking()
    several: Several = Several()
    fault: PlannedFault | None = None
    retry_s: float = 0.0
    """Minimum time in which a worker retries a refused batch or replaces a lost connection.

    0: a fixed number of attempts."""
    clean: bool = True
    replace_tables: tuple[str, ...] = ()
    """Names in the database of foreign objects that the user wants to replace."""
    setup: tuple[str, ...] = ()
    """Statements of the user, executed once the tables are created."""
    teardown: tuple[str, ...] = ()
    """Statements of the user, executed at the end of the run, even after a failure."""
    verify: VerifyMode = VerifyMode.COUNTS
    timeout_s: float = 0.0
    appear_s: float = 120.0
    """Maximum time in which workers and collector must connect to each other."""
    silence_s: float = SILENCE_S
    """Time of silence after which a worker or collector is considered lost."""
    load: QueryLoad = QueryLoad()
    """Load of the workers that ask queries."""

    @property
    def volume_claim(self) -> str:
        """The volume claim from which pods read rows; empty if there is none."""
        if self.records:
            return self.records.volume_claim
        return self.scan.volume_claim if self.scan else self.dataset.volume_claim

    @property
    def barrier(self) -> str:
        """The barrier at which the clock of the workers that write starts.

        In a mixed run or a run of changes, the clock of all workers starts at this barrier. In a
        run of queries only, each query has a separate barrier.
        """
        together = self.work in (Work.MIXED, Work.CHANGE)
        return (self.work if together else Work.INSERT).value

    @property
    def warmup_s(self) -> float:
        """Length of the time after the barrier in which nothing is measured.

        Workers that ask one query after the other have a warm-up before the barrier of each query.
        """
        return 0.0 if self.work is Work.QUERY else self.clocking.warm_s

    def active_at(self, elapsed_s: float) -> int:
        """Return the number of active workers at a time after the start of the stages."""
        stages = self.clocking.stages
        for stage in stages:
            elapsed_s -= stage.duration_s
            if elapsed_s < 0:
                return stage.workers
        return stages[-1].workers if stages else len(self.workers)

    @property
    def inserts(self) -> tuple[InsertTask, ...]:
        """The tasks of the workers that write rows."""
        return tuple(task for task in self.workers if isinstance(task, InsertTask))

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The tasks of the workers that ask queries."""
        return tuple(task for task in self.workers if isinstance(task, Ask))

    @property
    def changes(self) -> tuple[ChangeTask, ...]:
        """The tasks of the workers that change rows."""
        return tuple(task for task in self.workers if isinstance(task, ChangeTask))

    @cached_property
    def changed(self) -> Dataset:
        """The rows that were stored before the run, as they are after the changes of the run."""
        found = self.dataset
        if ranges := [item for task in self.changes for item in task.correct]:
            found = correct(found, ranges)
        if retags := [each for task in self.changes for each in task.retags]:
            found = update_tags(found, retags)
        if until_ms := [each for task in self.changes for each in task.delete_ms]:
            found = since(found, max(until_ms))
        return found

    @property
    def after(self) -> Dataset:
        """The contents of the tables once all rows of the run are written."""
        return self.find_stored(())

    def query_types(self) -> dict[str, QueryType[Query | TextQuery]]:
        """Return the types that workers can ask: the workload's types and the user's own queries.

        In a run about fresh rows, return only the types about fresh rows, as workers ask them
        first.
        """
        aligned, until_ms = self.load.aligned, self.load.until_ms
        if self.load.fresh_ms:
            return {name: each.make_type(until_ms or 0) for name, each in self.fresh_types.items()}
        types = DatasetReader(self.dataset).query_types(aligned=aligned, until_ms=until_ms)
        return {**types, **make_own_types(self.load.own, self.dataset, aligned=aligned)}

    @property
    def fresh_types(self) -> dict[str, FreshType]:
        """The query types about fresh rows that workers ask."""
        types = fresh_types(DatasetReader(self.dataset))
        return {name: types[name] for name in self.load.queries}

    def find_stored(self, reports: Iterable[WorkerReport]) -> Dataset:
        """Return the contents of the tables after a run, according to the workers' reports."""
        written = {r.index: r.written for r in reports if r.written is not None}
        ranges = [
            item
            for index, task in enumerate(self.workers)
            if isinstance(task, InsertTask)
            for item in (*task.prefill, *written.get(index, task.timed))
        ]
        return self.changed.with_ranges([*self.changed.ranges, *ranges])
