"""The collector's reports to the command line: numbered events, as JSON lines.

The collector writes them to its standard output, which the runner reads. The last one is the
outcome of the run.
"""

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from simulator.protocol.mark import Mark
from simulator.protocol.messages import Message, Scalar, WorkerReport
from simulator.protocol.records import Scanned
from simulator.protocol.verdict import Verdict


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
    """The present activity of workers that ask queries while others write."""

    runs: int
    """Runs of all queries in this phase."""
    queries_per_s: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    """None if no query has ended."""


class SampleEvent(Message):
    """The workers' present activity: rates of the last two seconds, latencies of the last five."""

    event: Literal["sample"] = "sample"
    at_s: float
    """Time in seconds since 1970."""
    phase: str
    query: str = ""
    """Query that is asked now."""
    rows: int = 0
    """Acknowledged in this phase."""
    rows_per_s: float = 0.0
    runs: int = 0
    """Runs of the query that is asked now."""
    queries_per_s: float = 0.0
    p50_ms: float | None = None
    p99_ms: float | None = None
    """None if no batch or query has ended."""
    active: int | None = None
    """Number of active workers; None: all of them, without stages."""
    errors: int = 0
    retried: int = 0
    uncertain_rows: int = 0
    asked: AskedSample | None = None
    """Sample of queries in a mixed run; the other figures concern the inserts."""


class AskedEvent(Message):
    """Number of times that the workers have asked a query (--print-interval)."""

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


class ServerFacts(Message):
    """The description of the database; see simulator.modules.contract.Server."""

    version: str
    nodes: int
    durability: str
    durable: bool | None
    settings: dict[str, str]
    buffer_bytes: int | None = None
    survives_failover: bool | None = None

    @property
    def keeps_rows(self) -> bool:
        """True if the server promises that no fault loses an acknowledged row."""
        return bool(self.durable) and self.survives_failover is not False


class ShownAnswer(Message):
    """One answer to a query, as the user asked to see it."""

    instance: int
    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    """The first rows; of a wrong answer, the rows from the first difference on."""
    skipped: int = 0
    """Rows before these."""
    all_rows: int
    ok: bool | None
    """None: no truth is known."""
    truth: tuple[tuple[Scalar, ...], ...] | None = None
    """The same rows of the truth, if the answer differs from it."""


class AnswerDigest(Message):
    """One of the answers to an instance of a query."""

    instance: int
    digest: str
    ok: bool | None
    rows: tuple[tuple[Scalar, ...], ...] | None = None
    """Rows of an own query, unless there are too many; they are compared instead of the truth."""


class QueryVerdict(Message):
    """A query type: the statement of its first instance, and the verdict on its answers."""

    name: str
    statement: str = ""
    tuned: bool = False
    own: bool = False
    """True if it is a query of the user's own, of which no truth is known."""
    columns: tuple[str, ...] = ()
    """Columns of the answers to an own query."""
    verdict: Verdict
    answers: int = 0
    """Number of different answers compared."""
    shown: tuple[ShownAnswer, ...] = ()
    digests: tuple[AnswerDigest, ...] = ()
    """Digests of all answers, where they are to be compared with another target's."""


class StatementPlan(Message):
    """The database's account of how it answers one statement."""

    statement: str
    text: str
    shape: str
    """The plan without figures, literals and generated names, which differ between two runs."""


class QueryPlans(Message):
    """The database's plans for the first instance of a query type (--plans)."""

    query: str
    statements: tuple[StatementPlan, ...] = ()
    more: bool = False
    """True if further statements belong to the query."""
    problem: str = ""
    """Reason why the database did not return a plan."""


class Freshness(Message):
    """Delays from the acknowledgement of a row to its first appearance in a query's answers."""

    query: str
    rows: int
    """Acknowledged in the measured part, and seen."""
    unseen_rows: int
    """Acknowledged, and in no answer until the end."""
    delays: tuple[tuple[int, int], ...]
    """Delays of the rows that were seen: simulator.protocol.numbers."""
    unseen: tuple[tuple[int, int], ...] = ()
    """Times for which unseen rows were watched, in the same form; empty in older results."""


class RampEnd(StrEnum):
    """The reason for the end of a ramp."""

    LIMIT = "limit"
    """The response time passed the limit."""
    ABORT = "abort"
    """It passed three times the limit."""
    ALL = "all"
    """It stayed within the limit with all workers."""


class RampStep(Message):
    """Measurements with a number of workers, until more were admitted."""

    workers: int
    runs: int
    wait_ms_avg: float | None
    queries_per_s: float


class QueryRamp(Message):
    """The ramp of one query (--ramp)."""

    query: str
    workers: int
    """Number of admitted workers at its end."""
    end: RampEnd
    wait_ms_avg: float
    """The moving average when it ended."""
    steps: tuple[RampStep, ...]


class Occurrence(Message):
    """Something in the timed part that may explain a dip of the rate."""

    at_s: float
    """Seconds since the common start; the server's own work began up to a second before."""
    what: str
    """A counter of the server, such as "checkpoints", or a failure."""
    count: int = 1
    is_failure: bool = False


class Outcome(Message):
    """The outcome of a run, whether it succeeded or failed.

    On the wire it does not contain the workers' reports: each report is a separate event, so
    that no line grows with the number of workers.
    """

    event: Literal["outcome"] = "outcome"
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    exit_code: int = 0
    """The exit code for the cause; 0 when done."""
    touched: bool = False
    """True if the tables were dropped, created or written."""
    released_s: float | None = None
    phases_s: dict[str, float] = Field(default_factory=dict)
    server: ServerFacts | None = None
    insert_mode: str = ""
    reports: int = 0
    """Number of workers that have reported."""
    workers: tuple[WorkerReport, ...] = ()
    verdict: Verdict | None = None
    rows_verdict: Verdict | None = None
    """Verdict on the rows alone, in a mixed run; `verdict` is on rows and answers."""
    queries: tuple[QueryVerdict, ...] = ()
    plans: tuple[QueryPlans, ...] = ()
    freshness: tuple[Freshness, ...] = ()
    """Freshness by queries that count fresh rows."""
    ramps: tuple[QueryRamp, ...] = ()
    size_bytes: int | None = None
    size_before_bytes: int | None = None
    """Size before rows were changed."""
    deleted_rows: int = 0
    """Rows that are gone according to the dataset, in a run that deletes rows."""
    complete: bool = False
    """True if every row of an insert is known to be stored, or was acknowledged."""
    marks: tuple[Mark, ...] = ()
    """Newest mark of each table, in a run that reads them."""
    no_mark: str = ""
    """Reason why the database keeps no mark, or none could be read; empty if one was."""
    paused_s: float = 0.0
    """Time for which the collector was stopped while the workers were timed."""
    steady: bool | None = None
    """True if the rate became steady in the warm-up; None: not awaited."""
    background: dict[str, int] = Field(default_factory=dict)
    """Counter of background work -> how often the server did it in the timed part."""
    occurrences: tuple[Occurrence, ...] = ()
    """Background work, and failures of the run; each worker reports its own failures."""
    scanned: Scanned | None = None
    """Result of a run that scans a file of records."""


Event: TypeAlias = Annotated[
    PhaseEvent | ProgressEvent | SampleEvent | AskedEvent | CheckEvent | ReportEvent | Outcome,
    Field(discriminator="event"),
]
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def event_line(number: int, event: Event) -> str:
    """Return an event as a numbered JSON line, without its line end."""
    return f"{number} {event.model_dump_json()}"


def parse_event(line: str) -> tuple[int, Event]:
    """Return the number and the event of a line; ValueError if it is none."""
    number, _, body = line.partition(" ")
    return int(number), _EVENTS.validate_json(body)
