"""The specification of a run: written by the command line, read by collector and workers.

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
from simulator.protocol.records import RecordsFile, ScanTask
from simulator.protocol.verdict import VerifyMode

MOST_INSTANCES = 10_000
"""Different timed instances of a query type in a run; more runs ask them again."""
FIRST_INSTANCE = 1 << 20
"""Smallest number of an instance of first runs and of the warm-up."""
MOST_WARMUP = 300
"""Different instances of the warm-up of a worker; more runs ask them again."""


class Work(StrEnum):
    """The task of a run."""

    INSERT = "insert"
    QUERY = "query"
    MIXED = "mixed"
    """Some workers write rows, others ask about the rows that were stored before."""
    CHANGE = "change"
    """Some workers correct or delete rows that were stored before; others may write new ones."""
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
        """True if a run of this kind times queries."""
        return self in (Work.QUERY, Work.MIXED)

    @property
    def needs_rows(self) -> bool:
        """True if a run of this kind is about rows that an earlier insert has stored."""
        return self in (Work.QUERY, Work.MIXED, Work.CHANGE, Work.VERIFY)


class InsertTask(Frozen):
    """The task of a worker that writes rows: prefill before the barrier, timed rows after it."""

    task: Literal["insert"] = "insert"
    prefill: tuple[RowRange, ...] = ()
    timed: tuple[RowRange, ...] = ()
    span: tuple[int, int] = (0, 0)
    """Begin and end of the timed rows in the file of records, in bytes."""


MOST_WEIGHT = 1000
Weight = Annotated[int, Field(ge=1, le=MOST_WEIGHT)]


class Ask(Frozen):
    """The task of a worker that asks queries: its share of the instances of every type.

    Its timed runs ask instances place, place + every, ... and begin again after its share of
    `most`. The first run, which is timed apart, and the warm-up ask other instances.
    """

    task: Literal["ask"] = "ask"
    place: int = Field(ge=0)
    every: int = Field(ge=1)
    runs: int = Field(ge=0)
    """Timed runs of each query; 0: as many as are possible in the time."""
    fewest: int = Field(default=0, ge=0)
    """Timed runs that are made even after the time is over; 0: all of `runs`."""
    burn_in: int = Field(default=0, ge=0)
    """Runs of each query between the first one and the timed ones, at least."""
    most: int = Field(default=MOST_INSTANCES, ge=1, le=MOST_INSTANCES)
    """Different timed instances of a query, over all workers."""

    def multiply(self, weight: int) -> "Ask":
        """Return the task for a query that is asked `weight` times as often."""
        return self.model_copy(update={"runs": self.runs * weight})

    def warmup(self, runs: int) -> range:
        """Return the different instances of a number of warm-up runs."""
        start = self.first + self.every
        return range(start, start + self.every * min(runs, MOST_WARMUP), self.every)

    @property
    def first(self) -> int:
        """The instance of the first run."""
        return FIRST_INSTANCE + self.place

    def instances(self, runs: int) -> range:
        """Return the different instances of a number of timed runs; run k asks number k of them."""
        share = max(-(-(self.most - self.place) // self.every), 1)
        return range(self.place, self.place + self.every * min(runs, share), self.every)


class ChangeTask(Frozen):
    """The task of a worker that changes rows which were stored before."""

    task: Literal["change"] = "change"
    delete_ms: tuple[int, ...] = ()
    """Times up to which it deletes rows, one after the other."""
    correct: tuple[RowRange, ...] = ()
    """Rows with fields that it then replaces; none of them is deleted."""
    retags: tuple[Retag, ...] = ()
    """Tags that it updates after that, one series after the other."""
    by: Deleting = Deleting.STATEMENT
    at_s: float = Field(default=0.0, ge=0)
    """Start, in seconds after the barrier."""


Task: TypeAlias = Annotated[InsertTask | Ask | ChangeTask, Field(discriminator="task")]


class Ramp(Frozen):
    """Admission of workers, one after the other, until answers take too long."""

    step: int = Field(ge=1)
    """Number of workers that begin together."""
    interval_s: float = Field(gt=0)
    window_s: float = Field(gt=0)
    """Length of the moving average of the response time."""
    limit_s: float = Field(gt=0)


class LoadStage(Frozen):
    """A part of a run: workers 0 to `workers` - 1 are active, the others wait."""

    workers: int = Field(ge=1)
    duration_s: float = Field(gt=0)
    rate_per_s: float = Field(default=0.0, ge=0)
    """Rows or queries of all active workers together; 0: the rate of the run."""


class Several(Frozen):
    """The connections of each worker that writes or asks."""

    connections: int = Field(default=1, ge=1)
    """Number of connections that send batches, or ask queries, at the same time."""
    pool: int = Field(default=0, ge=0)
    """Number of connections that they share; 0: each has its own."""


class Clocking(Frozen):
    """The limits of a run's measured part, and the rates of its workers."""

    duration_s: float = 0.0
    """Longest measured part; of each query, where they are asked one after the other. 0: no limit.
    With stages, the sum of their lengths."""
    warmup_s: float = 0.0
    """Load due in this time before the measured part is not measured."""
    warmup_until_steady_s: float = 0.0
    """Longest warm-up that ends once the rate of all workers is steady; 0: `warmup_s` decides."""
    rows_per_s: float = 0.0
    """Rate of all workers that write; 0: as fast as possible."""
    queries_per_s: float = 0.0
    """Rate of all workers that ask; 0: as fast as possible."""
    stages: tuple[LoadStage, ...] = ()
    """Stages after the warm-up, repeated for each query; empty: all workers are always active."""

    @property
    def warm_s(self) -> float:
        """Longest duration of the warm-up."""
        return self.warmup_s or self.warmup_until_steady_s

    def multiply(self, weight: int) -> "Clocking":
        """Return the clocking of a query type with this weight: its rates are that much higher."""
        stages = (s.model_copy(update={"rate_per_s": s.rate_per_s * weight}) for s in self.stages)
        rate = self.queries_per_s * weight
        return self.model_copy(update={"queries_per_s": rate, "stages": tuple(stages)})


class Weather(Frozen):
    """A network's treatment of bytes in both directions."""

    is_cut: bool = False
    """Nothing passes; bytes pass afterwards, as TCP sends them again."""
    delay_s: float = Field(default=0.0, ge=0)
    bytes_per_s: float = Field(default=0.0, ge=0)
    """Limit of each connection; 0: none."""


class PlannedFault(Frozen):
    """A fault planned in a run: outages are measured, and rows accounted for."""

    name: str
    instants_s: tuple[float, ...]
    """Start times in seconds since the beginning of the measured part."""
    lasts_s: float = Field(ge=0)
    network: Weather | None = None
    """Condition of the workers' connections meanwhile; None: the network does not fail."""
    kills_workers: bool = False
    """True if the sending processes of workers that write are killed."""

    def is_on(self, elapsed_s: float) -> bool:
        """Return whether it is on, `elapsed_s` after the beginning of the measured part."""
        return any(0 <= elapsed_s - each <= self.lasts_s for each in self.instants_s)


class QueryLoad(Frozen):
    """The queries that the workers of a run ask, and which answers are kept."""

    queries: dict[str, str] = Field(default_factory=dict)
    """Query type -> the target's own text for it, or empty; own queries too, without a text."""
    own: dict[str, OwnQuery] = Field(default_factory=dict)
    """The user's own queries among them."""
    weights: dict[str, Weight] = Field(default_factory=dict)
    """Query type -> how often it is asked for each time of another; weights of 1 are left out."""
    until_ms: int | None = None
    """Only rows before this time, in ms since 1970, are asked about; None: all rows."""
    fresh_ms: int = 0
    """Queries are about rows of this length of time, up to the newest acknowledged one; 0: about
    rows stored before the run, up to `until_ms`."""
    aligned: bool = False
    """True if windows of time are aligned to the buckets of the query."""
    shown_answers: int = 0
    """Number of answers to each type in the outcome."""
    plans: bool = False
    """True if the outcome contains the query plan of each type."""
    ramp: Ramp | None = None
    """Each query is asked until its ramp is over; None: all workers begin together."""
    digests: bool = False
    """True if the outcome has the digest of every answer, and the wrong ones."""
    print_interval: int = 0
    """Number of timed runs of a query after which the collector reports them; 0: never."""


class RunSpec(Frozen):
    """One run of one sweep."""

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
    """The target's options without credentials."""
    dataset: Dataset
    """The contents of the tables before the run."""
    complete: bool = True
    """False if an insert of `dataset` did not end, as far as the command line knows."""
    workers: tuple[Task, ...]
    records: RecordsFile | None = None
    """None: workers draw and encode the rows."""
    scan: ScanTask | None = None
    """Task of a run of Work.SCAN."""
    mode: str = "single"
    """Insert mode of the timed rows."""
    batch_rows: int = Field(1, ge=1)
    scratch: str = ""
    """Folder of the files of --import; empty: the folder of temporary files."""
    clocking: Clocking = Clocking()
    several: Several = Several()
    fault: PlannedFault | None = None
    retry_s: float = 0.0
    """Time for which a worker retries a refused batch, and tries to replace a lost
    connection, at least; 0: a few times."""
    clean: bool = True
    replace_tables: tuple[str, ...] = ()
    """Names in the database of foreign objects that the user wants replaced."""
    setup: tuple[str, ...] = ()
    """The user's own statements, carried out once the tables are created."""
    teardown: tuple[str, ...] = ()
    """The user's own statements, carried out at the end, also after a failure."""
    verify: VerifyMode = VerifyMode.COUNTS
    timeout_s: float = 0.0
    appear_s: float = 120.0
    """Time that workers and collector may take to connect to each other."""
    silence_s: float = SILENCE_S
    """A worker or collector that is silent for this long is considered lost."""
    load: QueryLoad = QueryLoad()
    """Load of the workers that ask."""

    @property
    def volume_claim(self) -> str:
        """The volume claim that pods read rows from; empty: none."""
        if self.records:
            return self.records.volume_claim
        return self.scan.volume_claim if self.scan else self.dataset.volume_claim

    @property
    def barrier(self) -> str:
        """The barrier at which the clock of workers that write starts, and of all of a mixed run.

        Without rows to write, each query has a separate barrier.
        """
        together = self.work in (Work.MIXED, Work.CHANGE)
        return (self.work if together else Work.INSERT).value

    @property
    def warmup_s(self) -> float:
        """Return the time after the barrier in which nothing is measured.

        Workers that ask one query after the other warm up each before its barrier.
        """
        return 0.0 if self.work is Work.QUERY else self.clocking.warm_s

    def active_at(self, elapsed_s: float) -> int:
        """Return how many workers are active at a time after the start of the stages."""
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
        """The rows stored before the run, as they are after its changes."""
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
        """The contents of the tables once every row of the run is written."""
        return self.find_stored(())

    def query_types(self) -> dict[str, QueryType[Query | TextQuery]]:
        """Return the types that workers can ask: the workload's, and the user's own queries.

        In a run about fresh rows: the types about these, as they are asked first.
        """
        aligned, until_ms = self.load.aligned, self.load.until_ms
        if self.load.fresh_ms:
            return {name: each.make_type(until_ms or 0) for name, each in self.fresh_types.items()}
        types = DatasetReader(self.dataset).query_types(aligned=aligned, until_ms=until_ms)
        return {**types, **make_own_types(self.load.own, self.dataset, aligned=aligned)}

    @property
    def fresh_types(self) -> dict[str, FreshType]:
        """The query types about fresh rows that are asked."""
        types = fresh_types(DatasetReader(self.dataset))
        return {name: types[name] for name in self.load.queries}

    def find_stored(self, reports: Iterable[WorkerReport]) -> Dataset:
        """Return the contents of the tables by the reports of the workers of a finished run."""
        written = {r.index: r.written for r in reports if r.written is not None}
        ranges = [
            item
            for index, task in enumerate(self.workers)
            if isinstance(task, InsertTask)
            for item in (*task.prefill, *written.get(index, task.timed))
        ]
        return self.changed.with_ranges([*self.changed.ranges, *ranges])
