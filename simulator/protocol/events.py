"""The collector's reports to the command line: numbered events, as JSON lines.

The collector writes them to its standard output, which the runner reads. The last event is the
outcome of the run.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from simulator.protocol.mark import Mark
from simulator.protocol.messages import Message, Scalar, WorkerReport
from simulator.protocol.records import Scanned
from simulator.protocol.verdict import Verdict

_OF_MODULES = ConfigDict(extra="forbid", defer_build=True)
"""Configuration of the records that modules return."""


class PhaseEvent(Message):
    """A phase has begun."""

    event: Literal["phase"] = "phase"
    phase: str
    detail: str = ""


class ProgressEvent(Message):
    """The progress of the run."""

    event: Literal["progress"] = "progress"
    phase: str
    rows: int
    of: int
    rows_per_s: float
    left_s: float | None


class AskedSample(Message):
    """The current activity of the workers that ask queries while other workers write."""

    runs: int
    """Number of runs of all queries in this phase."""
    queries_per_s: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    """99th percentile of the wait; None if no query has ended."""


class SampleEvent(Message):
    """The current activity of workers: rates over two seconds, latencies over five seconds."""

    event: Literal["sample"] = "sample"
    at_s: float
    """Time in seconds since 1970."""
    phase: str
    query: str = ""
    """Name of the query that is being asked."""
    rows: int = 0
    """Number of rows acknowledged in this phase."""
    rows_per_s: float = 0.0
    runs: int = 0
    """Number of runs of the query that is being asked."""
    queries_per_s: float = 0.0
    p50_ms: float | None = None
    p99_ms: float | None = None
    """99th percentile of the latency; None if no batch or query has ended."""
    active: int | None = None
    """Number of active workers; None if there are no stages, and all workers are active."""
    errors: int = 0
    retried: int = 0
    uncertain_rows: int = 0
    asked: AskedSample | None = None
    """Sample of the queries in a mixed run; the other figures are about the inserts."""


class AskedEvent(Message):
    """The number of times that the workers have asked a query (--print-interval)."""

    event: Literal["asked"] = "asked"
    query: str
    runs: int
    wait_ms_avg: float
    queries_per_s: float


class CheckEvent(Message):
    """One step of `check` has succeeded."""

    event: Literal["check"] = "check"
    name: str
    detail: str


class ReportEvent(Message):
    """The report of one worker; all reports precede the outcome."""

    event: Literal["report"] = "report"
    report: WorkerReport


@dataclass(frozen=True, slots=True, config=_OF_MODULES)
class Server:
    """The description of a server."""

    version: str
    nodes: int
    durability: str
    """The meaning of an acknowledgement with the server's settings, in a sentence."""
    durable: bool | None
    """True if an acknowledged row survives a power cut; None if unknown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    buffer_bytes: int | None = None
    """Memory in which the server caches pages of tables; None if the server does not report it."""
    survives_failover: bool | None = None
    """True if the replica that replaces a lost node has each acknowledged row; None: unknown."""

    @property
    def keeps_rows(self) -> bool:
        """True if the server guarantees that no fault loses an acknowledged row."""
        return bool(self.durable) and self.survives_failover is not False


class ShownAnswer(Message):
    """One answer to a query, which the user asked to see."""

    instance: int
    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    """First rows of the answer; if the answer is wrong, the rows from the first difference on."""
    skipped: int = 0
    """Number of rows of the answer before the shown rows."""
    all_rows: int
    ok: bool | None
    """True if the answer is right; None if no truth is known."""
    truth: tuple[tuple[Scalar, ...], ...] | None = None
    """The same rows of the truth; None unless the answer differs."""


class AnswerDigest(Message):
    """One of the answers to an instance of a query."""

    instance: int
    digest: str
    ok: bool | None
    rows: tuple[tuple[Scalar, ...], ...] | None = None
    """Rows of the answer to a user's own query; None if they are too many.

    They are compared with the rows of another target, because there is no truth."""


class QueryVerdict(Message):
    """A query type: the statement of its first instance, and the verdict on its answers."""

    name: str
    statement: str = ""
    tuned: bool = False
    own: bool = False
    """True if the query is the user's own, so that no truth is known."""
    columns: tuple[str, ...] = ()
    """Columns of the answers to a user's own query."""
    verdict: Verdict
    answers: int = 0
    """Number of different answers that were compared."""
    shown: tuple[ShownAnswer, ...] = ()
    digests: tuple[AnswerDigest, ...] = ()
    """Digests of all answers; empty unless they are to be compared with another target's
    answers."""


@dataclass(frozen=True, slots=True, config=_OF_MODULES)
class QueryPlan:
    """The database's plan for one statement."""

    statement: str
    text: str
    """The plan as the database returns it."""
    shape: str
    """The plan without the parts that differ between runs: figures, literals, generated names."""


class QueryPlans(Message):
    """The database's plans for the first instance of a query type (--plans)."""

    query: str
    statements: tuple[QueryPlan, ...] = ()
    more: bool = False
    """True if the query has further statements."""
    problem: str = ""
    """Reason why the database did not return a plan."""


class Freshness(Message):
    """Delays from the acknowledgement of a row to the first answer of a query that has the row."""

    query: str
    rows: int
    """Number of rows that were acknowledged in the measured part, and seen."""
    unseen_rows: int
    """Number of rows that were acknowledged, but are in no answer."""
    delays: tuple[tuple[int, int], ...]
    """Delays of the rows that were seen, as bucket and count (see simulator.protocol.numbers)."""
    unseen: tuple[tuple[int, int], ...] = ()
    """Times for which unseen rows were watched, as bucket and count; empty in older results."""


class RampEnd(StrEnum):
    """The reason for the end of a ramp."""

    LIMIT = "limit"
    """The response time passed the limit."""
    ABORT = "abort"
    """The response time passed three times the limit."""
    ALL = "all"
    """The response time stayed within the limit with all workers."""


class RampStep(Message):
    """The measurements with a number of workers, until more workers were admitted."""

    workers: int
    runs: int
    wait_ms_avg: float | None
    queries_per_s: float


class QueryRamp(Message):
    """The ramp of one query (--ramp)."""

    query: str
    workers: int
    """Number of admitted workers at the end of the ramp."""
    end: RampEnd
    wait_ms_avg: float
    """Moving average of the wait at the end of the ramp."""
    steps: tuple[RampStep, ...]


class Occurrence(Message):
    """An occurrence in the timed part that may explain a dip of the rate."""

    at_s: float
    """Time in seconds since the common start; work of the server began up to a second earlier."""
    what: str
    """Name of a counter of the server, such as "checkpoints", or of a failure."""
    count: int = 1
    is_failure: bool = False


class Outcome(Message):
    """The outcome of a run, whether the run succeeded or failed.

    An outcome that is sent does not contain the workers' reports. Each report is sent as a separate
    event, so that no line grows with the number of workers.
    """

    event: Literal["outcome"] = "outcome"
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    exit_code: int = 0
    """Exit code for the cause; 0 if the run is done."""
    touched: bool = False
    """True if the tables were dropped, created or written."""
    released_s: float | None = None
    phases_s: dict[str, float] = Field(default_factory=dict)
    server: Server | None = None
    insert_mode: str = ""
    reports: int = 0
    """Number of workers that have reported."""
    workers: tuple[WorkerReport, ...] = ()
    verdict: Verdict | None = None
    rows_verdict: Verdict | None = None
    """Verdict on only the rows of a mixed run; `verdict` includes the answers."""
    queries: tuple[QueryVerdict, ...] = ()
    plans: tuple[QueryPlans, ...] = ()
    freshness: tuple[Freshness, ...] = ()
    """Freshness of rows, for each query that counts fresh rows."""
    ramps: tuple[QueryRamp, ...] = ()
    size_bytes: int | None = None
    size_before_bytes: int | None = None
    """Size of the tables before rows were changed."""
    deleted_rows: int = 0
    """Number of rows that should be gone according to the dataset, in a run that deletes rows."""
    complete: bool = False
    """True if every row of an insert is known to be stored, or was acknowledged."""
    marks: tuple[Mark, ...] = ()
    """Newest mark of each table, in a run that reads marks."""
    no_mark: str = ""
    """Reason why the database keeps no mark, or why none could be read; empty if one was read."""
    paused_s: float = 0.0
    """Time for which the collector was stopped while the workers were timed."""
    steady: bool | None = None
    """True if the rate became steady in the warm-up; None if this was not awaited."""
    background: dict[str, int] = Field(default_factory=dict)
    """Counter of background work -> number of times the server did the work in the timed part."""
    occurrences: tuple[Occurrence, ...] = ()
    """Background work and failures of the run; workers report their own failures."""
    scanned: Scanned | None = None
    """Result of a run that scans a file of records."""


Event: TypeAlias = Annotated[
    PhaseEvent | ProgressEvent | SampleEvent | AskedEvent | CheckEvent | ReportEvent | Outcome,
    Field(discriminator="event"),
]
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def event_line(number: int, event: Event) -> str:
    """Return an event as a numbered JSON line, without the line end."""
    return f"{number} {event.model_dump_json()}"


def parse_event(line: str) -> tuple[int, Event]:
    """Return the number and the event in a line; ValueError if the line contains no event."""
    number, _, body = line.partition(" ")
    return int(number), _EVENTS.validate_json(body)
