"""The messages between workers, collector and command line.

Workers post messages to the collector over HTTP. The collector writes numbered events as JSON lines
to its standard output, which the runner reads.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from simulator.protocol.mark import Mark
from simulator.protocol.verdict import RowSlice, Verdict

TOKEN_HEADER = "X-Run-Token"  # noqa: S105 - the header's name, not a token
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""A worker or collector that is silent for this long is considered lost."""
TIMEOUT_GRACE_S = 5.0
"""For how long the collector may exceed --timeout before the others end the run."""
HOLD_S = 2.0
"""The longest time for which the collector holds a waiting request; the worker then repeats it."""


class Message(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- worker -> collector, and the replies -----------------------------------------------------


class Registration(Message):
    """A worker registers; `go` in the reply means that the tables are ready."""

    index: int
    uid: str
    version: str


class Arrival(Message):
    """A worker waits at a barrier; `go` in the reply means that all workers have arrived."""

    index: int
    barrier: str


class Heartbeat(Message):
    """The progress of a worker."""

    index: int
    phase: str
    rows: int = 0
    """Acknowledged in the timed part."""
    prefill_rows: int = 0
    uncertain_rows: int = 0
    retried: int = 0


class Reply(Message):
    """The collector's reply to each of them."""

    go: bool = True
    """False: wait, and repeat the request."""
    stop: str | None = None
    """Why the run is over, if it is; the worker stops and reports."""
    now_s: float
    """The collector's clock, seconds since 1970."""
    boot_id: str
    """Identifies the clock: workers on the same machine need no correction."""


class QueryTimes(Message):
    """The measurements of one query by one worker."""

    name: str
    durations_s: tuple[float, ...]
    answers: tuple[str, ...]
    """Digests of the distinct answers; one, unless answers differ."""


class WorkerReport(Message):
    """All measurements of one worker. Instants are in the collector's clock."""

    index: int
    error: str | None = None
    started_s: float | None = None
    ended_s: float | None = None
    """When the last send was acknowledged."""
    duration_s: float = 0.0
    rows: int = 0
    """Acknowledged in the timed part."""
    prefill_rows: int = 0
    sends: int = 0
    retried: int = 0
    uncertain: tuple[RowSlice, ...] = ()
    uncertain_cause: str = ""
    """The last error that left the outcome of a batch unknown."""
    generate_s: float = 0.0
    encode_s: float = 0.0
    send_s: float = 0.0
    """From each send to its acknowledgement or failure, including pauses before retries."""
    idle_s: float = 0.0
    """Waiting for the scheduled time of a batch (--rate)."""
    cpu_s: float = 0.0
    memory_peak_bytes: int = 0
    latency: str = ""
    """Encoded HdrHistogram of the latency of each send, in microseconds."""
    rows_by_second: tuple[int, ...] = ()
    queries: tuple[QueryTimes, ...] = ()
    node: str = ""
    """The cluster node of the worker."""
    throttled_s: float = 0.0
    """For how long a CPU limit throttled the worker while the clock ran."""
    paused_s: float = 0.0
    """For how long the worker stood still meanwhile: it was stopped, or its machine suspended."""


# --- collector -> command line ----------------------------------------------------------------


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
    """The description of the database; see simulator.modules.base.Server."""

    version: str
    nodes: int
    durability: str
    durable: bool | None
    settings: dict[str, str]


class QueryVerdict(Message):
    """The statement of a query, and the verdict on its answers."""

    name: str
    statement: str
    tuned: bool
    verdict: Verdict


class Outcome(Message):
    """The outcome of a run, whether it succeeded or failed.

    On the wire it does not contain the workers' reports: each report is an event of its own, so
    that no line grows with the number of workers.
    """

    event: Literal["outcome"] = "outcome"
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    exit_code: int = 0
    """The exit code for the cause; 0 when done."""
    touched: bool = False
    """Whether the tables were dropped, created or written."""
    released_s: float | None = None
    phases_s: dict[str, float] = {}
    server: ServerFacts | None = None
    insert_mode: str = ""
    reports: int = 0
    """Number of workers that have reported."""
    workers: tuple[WorkerReport, ...] = ()
    verdict: Verdict | None = None
    queries: tuple[QueryVerdict, ...] = ()
    size_bytes: int | None = None
    complete: bool = False
    """Whether every row of an insert is known to be stored, or was acknowledged."""
    marks: tuple[Mark, ...] = ()
    """Of a run that reads them: the newest mark of each table."""
    no_mark: str = ""
    """Why the database keeps no mark of the insert; empty if it does."""
    paused_s: float = 0.0
    """For how long the collector stood still while the workers were timed."""


Event: TypeAlias = Annotated[
    PhaseEvent | ProgressEvent | CheckEvent | ReportEvent | Outcome, Field(discriminator="event")
]
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def event_line(number: int, event: Event) -> str:
    """Return an event as a numbered JSON line, without its line end."""
    return f"{number} {event.model_dump_json()}"


def parse_event(line: str) -> tuple[int, Event]:
    """Return the number and the event of a line; ValueError if it is none."""
    number, _, body = line.partition(" ")
    return int(number), _EVENTS.validate_json(body)


def dump(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON data."""
    return message.model_dump(mode="json")
