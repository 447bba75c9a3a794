"""The messages between workers, collector and command line.

Workers post messages to the collector over HTTP. The collector writes numbered events as JSON lines
to its standard output, which the runner reads. Every list, number and text from a worker has a
limit that no correct worker reaches.
"""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, TypeAdapter

from simulator.data.ranges import RowRange
from simulator.protocol.mark import Mark
from simulator.protocol.verdict import Verdict

TOKEN_HEADER = "X-Run-Token"  # noqa: S105 - the header's name, not a token
UID_HEADER = "X-Worker-Uid"
"""Who sends: the token is common to all workers, the uid known to one process only."""
UID_PATTERN = "^[0-9a-f]{32}$"
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""A worker or collector that is silent for this long is considered lost."""
TIMEOUT_GRACE_S = 5.0
"""For how long the collector may exceed --timeout before the others end the run."""
NO_COLLECTOR = "the collector cannot be reached"
"""How a worker that has lost the collector begins its last message."""
HOLD_S = 2.0
"""The longest time for which the collector holds a waiting request; the worker then repeats it."""
REPORTED_SECONDS = 7 * 86_400
"""A report lists the rows of each second for a week at most."""
_TEXT_CHARACTERS = 10_000
_NAME_CHARACTERS = 1_000
_LATENCY_CHARACTERS = 1 << 19
"""A histogram of `simulator.load.meter` with a count in every bucket."""
FOLD_BYTES = 4 << 20
"""The most that the collector takes of one portion."""
_FOLD_CHARACTERS = (FOLD_BYTES + 2) // 3 * 4
_BASE64 = "^[A-Za-z0-9+/=]*$"
_MOST_RANGES = 5_000
"""More than a sender leaves: two for each of a hundred uncertain batches and those in flight."""


class Message(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _cut(text: str) -> str:
    """Shorten a driver's error rather than refuse the report that it belongs to."""
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[: _TEXT_CHARACTERS - 3]}..."


Text: TypeAlias = Annotated[str, AfterValidator(_cut)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=_NAME_CHARACTERS)]
Index: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 20)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63)]
Duration: TypeAlias = Annotated[float, Field(ge=0)]
Instance: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 22)]
Digest: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Histogram: TypeAlias = Annotated[str, Field(max_length=_LATENCY_CHARACTERS, pattern=_BASE64)]
"""Encoded HdrHistogram of microseconds; empty without values."""
Scalar: TypeAlias = int | float | str | bool | None


# --- worker -> collector, and the replies -----------------------------------------------------


class Registration(Message):
    """A worker registers; `go` in the reply means that the tables are ready."""

    index: Index
    version: Name


class Arrival(Message):
    """A worker waits at a barrier; `go` in the reply means that all workers have arrived."""

    index: Index
    barrier: Name


class Heartbeat(Message):
    """The progress of a worker."""

    index: Index
    phase: Name
    rows: Count = 0
    """Acknowledged in the timed part."""
    prefill_rows: Count = 0
    uncertain_rows: Count = 0
    retried: Count = 0
    runs: Count = 0
    """Timed ones, of the query that it asks now."""
    waited_s: Duration = 0.0
    """How long these runs have waited for their answers."""


class Reply(Message):
    """The collector's reply to each of them, and to a report."""

    go: bool = True
    """False: wait, and repeat the request."""
    stop: str | None = None
    """Why the run is over, if it is; the worker stops and reports."""
    over: str = ""
    """The query whose ramp ended last: the worker asks it no more."""
    now_s: float
    """The collector's clock, seconds since 1970."""
    boot_id: str
    """Identifies the clock: workers on the same machine need no correction."""


class AnswerQuestion(Message):
    """A worker asks whether the collector already has this answer to an instance of a query."""

    index: Index
    query: Name
    instance: Instance
    digest: Digest


class AnswerRows(Message):
    """The rows of an answer that the collector does not have yet."""

    index: Index
    query: Name
    instance: Instance
    digest: Digest
    """`digest_of` the rows."""
    rows: Annotated[tuple[Annotated[tuple[Scalar, ...], FailFast()], ...], FailFast()]


class Known(Message):
    """The collector's reply to both."""

    known: bool


def digest_of(rows: Sequence[Sequence[Scalar]]) -> str:
    """Return the digest that identifies the rows of an answer."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class QueryTimes(Message):
    """The measurements of one query type by one worker."""

    name: Name
    first_s: Duration
    """Wait for the first answer, which found the caches of this query cold."""
    runs: Count
    """Timed runs after the first one."""
    waits: Histogram
    """Of the time from each request to the last byte of its answer."""
    wait_s: Duration
    """Sum of these times."""
    client_s: Duration
    """What decoding and folding the answers took besides."""
    elapsed_s: Duration
    """From the first timed request to the last answer."""
    answers: Count
    """Different answers to different instances, those of the first run included."""


class WorkerReport(Message):
    """All measurements of one worker. Instants are in the collector's clock."""

    index: Index
    error: Text | None = None
    started_s: float | None = None
    ended_s: float | None = None
    """When the last send was acknowledged."""
    duration_s: float = 0.0
    rows: Count = 0
    """Acknowledged in the timed part."""
    prefill_rows: Count = 0
    sends: Count = 0
    payload_bytes: Count | None = None
    """Size of what was acknowledged in the timed part; None where the driver makes the bytes."""
    retried: Count = 0
    written: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES)] | None = None
    """The timed rows that were sent, if not all of its plan; some may be uncertain."""
    uncertain: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES), FailFast()] = ()
    uncertain_cause: Text = ""
    """The last error that left the outcome of a batch unknown."""
    generate_s: Duration = 0.0
    encode_s: Duration = 0.0
    send_s: Duration = 0.0
    """From each send to its acknowledgement or failure, including pauses before retries."""
    idle_s: Duration = 0.0
    """Waiting for the scheduled time of a batch (--rate)."""
    cpu_s: Duration = 0.0
    memory_peak_bytes: Count = 0
    latency: Histogram = ""
    """Of the latency of each send."""
    rows_by_second: Annotated[
        tuple[Count, ...], Field(max_length=REPORTED_SECONDS), FailFast()
    ] = ()
    """Acknowledged rows of each second, for the first week."""
    queries: Annotated[tuple[QueryTimes, ...], Field(max_length=_NAME_CHARACTERS), FailFast()] = ()
    node: Text = ""
    """The cluster node of the worker."""
    throttled_s: Duration = 0.0
    """For how long a CPU limit throttled the worker while the clock ran."""
    paused_s: Duration = 0.0
    """For how long the worker stood still meanwhile: it was stopped, or its machine suspended."""


class Folded(Message):
    """What a worker has folded of a portion."""

    number: Count
    """The portion's."""
    content: Annotated[str, Field(max_length=_FOLD_CHARACTERS, pattern=_BASE64)] | None
    """`Oracle.to_bytes`; None if that is larger than FOLD_BYTES."""


class PortionRequest(Message):
    """A worker that has reported brings back what it has folded, and asks for more."""

    index: Index
    folded: Folded | None = None


QueryName: TypeAlias = tuple[str, int]
"""See simulator.verify.needed."""


class PortionReply(Message):
    """A portion of the dataset to fold; without one, the worker asks again."""

    number: int | None = None
    queries: tuple[QueryName, ...] = ()
    ranges: tuple[RowRange, ...] = ()
    over: bool = False
    """The worker may end."""


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


class AskedEvent(Message):
    """How often the workers have asked a query (--print-interval)."""

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
    """The description of the database; see simulator.modules.base.Server."""

    version: str
    nodes: int
    durability: str
    durable: bool | None
    settings: dict[str, str]


class ShownAnswer(Message):
    """One answer to a query, as the user asked to see it."""

    instance: int
    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    """The first ones, of a wrong answer from the first difference on."""
    skipped: int = 0
    """Rows before these."""
    all_rows: int
    ok: bool
    truth: tuple[tuple[Scalar, ...], ...] | None = None
    """The same rows of the true answer, if it is another one."""


class AnswerDigest(Message):
    """One of the answers to an instance of a query."""

    instance: int
    digest: str
    ok: bool


class QueryVerdict(Message):
    """A query type: the statement of its first instance, and the verdict on its answers."""

    name: str
    statement: str
    tuned: bool
    verdict: Verdict
    answers: int = 0
    """How many different answers were compared."""
    shown: tuple[ShownAnswer, ...] = ()
    digests: tuple[AnswerDigest, ...] = ()
    """Of all answers, where they are to be compared with those of another target."""


class RampEnd(StrEnum):
    """Why a ramp is over."""

    LIMIT = "limit"
    """The response time passed the limit."""
    ABORT = "abort"
    """It passed three times the limit."""
    ALL = "all"
    """It stayed within the limit with all workers."""


class RampStep(Message):
    """What a number of workers measured until more were let in."""

    workers: int
    runs: int
    wait_ms_avg: float | None
    queries_per_s: float


class QueryRamp(Message):
    """The ramp of one query (--ramp)."""

    query: str
    workers: int
    """How many were let in when it ended."""
    end: RampEnd
    wait_ms_avg: float
    """The moving average when it ended."""
    steps: tuple[RampStep, ...]


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
    ramps: tuple[QueryRamp, ...] = ()
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
    PhaseEvent | ProgressEvent | AskedEvent | CheckEvent | ReportEvent | Outcome,
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


def dump(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON data."""
    return message.model_dump(mode="json")
