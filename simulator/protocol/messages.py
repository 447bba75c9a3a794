"""What collector, workers and command line say to each other.

Workers post messages to the collector over HTTP. The collector writes events as JSON lines, each
with a number, to its standard output; the runner reads them there.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from simulator.protocol.verdict import RowSlice, Verdict

TOKEN_HEADER = "X-Run-Token"  # noqa: S105 - the header's name, not a token
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""A worker, or a collector, that has not been heard of for so long is lost."""
HOLD_S = 2.0
"""The longest that the collector holds a worker that waits; the worker then asks again."""


class Message(BaseModel):
    """Base of everything that crosses a process."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- worker -> collector, and the replies -----------------------------------------------------


class Registration(Message):
    """A worker says who it is; `go` in the reply says that the tables are ready."""

    index: int
    uid: str
    version: str


class Arrival(Message):
    """A worker waits at a barrier; `go` in the reply says that all are there."""

    index: int
    barrier: str


class Heartbeat(Message):
    """What a worker has done so far."""

    index: int
    phase: str
    rows: int = 0
    """Acknowledged in the timed part."""
    prefill_rows: int = 0
    uncertain_rows: int = 0
    retried: int = 0


class Reply(Message):
    """The collector's answer to each of them."""

    go: bool = True
    """False: there is still something to wait for, ask again."""
    stop: str | None = None
    """Why the run is over, if it is; the worker stops and reports what it has done."""
    now_s: float
    """The collector's clock, seconds since 1970."""
    boot_id: str
    """Identifies the machine's clock: workers on the same machine need no correction."""


class QueryTimes(Message):
    """One query as one worker saw it."""

    name: str
    durations_s: tuple[float, ...]
    answers: tuple[str, ...]
    """Digests of the different answers that came back; one, if all is well."""


class WorkerReport(Message):
    """Everything that one worker measured. Instants are in the collector's clock."""

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
    """From each send to its acknowledgement or failure, with the pauses before it is repeated."""
    idle_s: float = 0.0
    """Waiting for the scheduled time of a send (--rate)."""
    cpu_s: float = 0.0
    memory_peak_bytes: int = 0
    latency: str = ""
    """HdrHistogram of microseconds for each send, in its own encoded form."""
    rows_by_second: tuple[int, ...] = ()
    queries: tuple[QueryTimes, ...] = ()
    node: str = ""
    """The cluster's node that it ran on."""
    throttled_s: float = 0.0
    """How long its CPU limit stopped it, from the start of the clock to its end."""


# --- collector -> command line ----------------------------------------------------------------


class PhaseEvent(Message):
    """A phase begins."""

    event: Literal["phase"] = "phase"
    phase: str
    detail: str = ""


class ProgressEvent(Message):
    """How far the run is."""

    event: Literal["progress"] = "progress"
    phase: str
    rows: int
    of: int
    rows_per_s: float
    left_s: float | None


class CheckEvent(Message):
    """One thing was tried on the target, and it went well."""

    event: Literal["check"] = "check"
    name: str
    told: str


class ReportEvent(Message):
    """What one worker measured; all of them come right before the outcome."""

    event: Literal["report"] = "report"
    report: WorkerReport


class ServerFacts(Message):
    """What the database says of itself; see simulator.modules.base.Server."""

    version: str
    nodes: int
    durability: str
    durable: bool | None
    settings: dict[str, str]


class QueryVerdict(Message):
    """How one query was asked and whether its answers are the oracle's."""

    name: str
    statement: str
    tuned: bool
    verdict: Verdict


class Outcome(Message):
    """What came of a run; written also when it failed.

    On the wire it comes without the workers' reports: each is an event before it, so that no line
    grows with the number of workers.
    """

    event: Literal["outcome"] = "outcome"
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    exit_code: int = 0
    """The exit code that the cause stands for; 0 when done."""
    touched: bool = False
    """Whether the tables were dropped, created or written."""
    released_s: float | None = None
    phases_s: dict[str, float] = {}
    server: ServerFacts | None = None
    insert_mode: str = ""
    reports: int = 0
    """How many of the workers have reported."""
    workers: tuple[WorkerReport, ...] = ()
    verdict: Verdict | None = None
    queries: tuple[QueryVerdict, ...] = ()
    size_bytes: int | None = None


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
