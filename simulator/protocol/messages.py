"""The messages between workers, collector and command line.

Workers post messages to the collector over HTTP. The collector writes numbered events as JSON lines
to its standard output, which the runner reads. Every list, number and text from a worker has a
limit that no correct worker reaches.
"""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, ConfigDict, FailFast, Field

from simulator.data.ranges import RowRange
from simulator.frozen import Frozen
from simulator.protocol.numbers import BUCKETS

TOKEN_HEADER = "X-Run-Token"  # noqa: S105 - the header's name, not a token
UID_HEADER = "X-Worker-Uid"
"""Header with the sender: the token is common to all workers, the uid known to one process only."""
UID_PATTERN = "^[0-9a-f]{32}$"
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""A worker or collector that is silent for this long is considered lost."""
MOST_HEARTBEATS_PER_S = 200
"""Heartbeats/s of all workers together, unless a worker would then seem silent."""
TIMEOUT_GRACE_S = 5.0
"""Time by which the collector may exceed --timeout before the others end the run."""
NO_COLLECTOR = "the collector cannot be reached"
"""Start of the last message of a worker that has lost the collector."""
HOLD_S = 2.0
"""Time for which the collector holds a waiting request, which the worker then repeats."""
WARMUP = "warmup"
"""The phase between the barrier and the measured part."""
MOST_FAILURES = 300
"""Failures in a report, by kind and second; it lists the first ones."""
REPORTED_SECONDS = 7 * 86_400
"""A report lists the rows of each second for a week at most."""
_TEXT_CHARACTERS = 10_000
_NAME_CHARACTERS = 1_000
_LATENCY_CHARACTERS = 1 << 19
"""A histogram of `simulator.protocol.histogram` with a count in every bucket."""
BASE64 = "^[A-Za-z0-9+/=]*$"
MOST_ANSWERS = 100
"""Answers that a worker asks about, or sends, in one message."""
MOST_STAGES = 100
"""Stages of a run (--stages)."""
MOST_SILENCES = 100
"""A report lists the longest ones."""
MOST_OWN_FAULTS = 10_000
MOST_WAITS = 1 << 20
"""Pairs of second and bucket in a report, enough for about a day."""
_MOST_CHANGES = 10
_MOST_RANGES = 5_000
"""More than a sender leaves: two for each of a hundred uncertain batches and those in flight."""


def heartbeat_s(workers: int) -> float:
    """Return the interval of signs of life for a number of workers."""
    return max(HEARTBEAT_S, min(workers / MOST_HEARTBEATS_PER_S, SILENCE_S / 3))


def hold_s(workers: int) -> float:
    """Return the longest time for which the collector holds a request, for a number of workers."""
    return max(HOLD_S, heartbeat_s(workers))


class Message(Frozen):
    """Base of all messages."""

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)


def _cut(text: str) -> str:
    """Shorten a driver's error rather than refuse the report that it belongs to."""
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[: _TEXT_CHARACTERS - 3]}..."


Text: TypeAlias = Annotated[str, AfterValidator(_cut)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=_NAME_CHARACTERS)]
Index: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 20)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63)]
Duration: TypeAlias = Annotated[float, Field(ge=0)]
Instance: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 22)]
Instant: TypeAlias = Annotated[int, Field(ge=-(1 << 62), lt=1 << 62)]
"""Instant in ms or ns since any epoch."""
Digest: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Histogram: TypeAlias = Annotated[str, Field(max_length=_LATENCY_CHARACTERS, pattern=BASE64)]
"""Encoded HdrHistogram of microseconds; empty without values."""
Bucket: TypeAlias = Annotated[int, Field(ge=0, lt=BUCKETS)]
BucketCount: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 40)]
"""Limit for a heartbeat; the sum over all workers fits into 64 bits."""
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
    errors: Count = 0
    """Failed attempts to send a batch."""
    runs: Count = 0
    """Timed runs of the query that it asks now; in a mixed run, of all queries."""
    waited_s: Duration = 0.0
    """Time for which these runs have waited for their answers."""
    latency: Annotated[tuple[tuple[Bucket, BucketCount], ...], Field(max_length=BUCKETS)] = ()
    """Latencies of all timed batches or runs: simulator.protocol.numbers."""
    newest_ms: Instant | None = None
    """The time of a row that was acknowledged last, where queries about fresh rows are asked."""


class Reply(Message):
    """The collector's reply to most messages."""

    go: bool = True
    """False: wait, and repeat the request."""
    begin_s: float | None = None
    """Start time of the phase after a barrier, on the collector's clock: the same for all."""
    stop: str | None = None
    """Reason why the run is over, if it is; the worker stops and reports."""
    over: str = ""
    """Query of the ramp that ended last; the worker stops asking it."""
    measured_s: float | None = None
    """Start of the measured part, on the collector's clock, once the rate is steady."""
    newest_ms: int | None = None
    """Newest time of an acknowledged row of any worker."""
    now_s: float
    """The collector's clock, seconds since 1970."""
    now_ns: int = 0
    """The same instant on the collector's monotonic clock."""
    boot_id: str
    """Identifies the clock: workers on the same machine need no correction."""


class AnswerKey(Message):
    """Identifies one answer to one instance of a query."""

    instance: Instance
    digest: Digest
    """`digest_of` the rows."""


class AnswerWithRows(AnswerKey):
    """An answer and its rows."""

    rows: Annotated[tuple[Annotated[tuple[Scalar, ...], FailFast()], ...], FailFast()]


class AnswerQuestion(Message):
    """A worker asks which of these answers to a query the collector already has."""

    index: Index
    query: Name
    answers: Annotated[tuple[AnswerKey, ...], Field(min_length=1, max_length=MOST_ANSWERS)]


class AnswerRows(Message):
    """Answers to a query that the collector does not have yet."""

    index: Index
    query: Name
    answers: Annotated[
        tuple[AnswerWithRows, ...], Field(min_length=1, max_length=MOST_ANSWERS), FailFast()
    ]


class Known(Message):
    """The collector's reply about answers: for each, whether it has it now."""

    known: tuple[bool, ...]


def digest_of(rows: Sequence[Sequence[Scalar]]) -> str:
    """Return the digest that identifies the rows of an answer."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class StageTimes(Message):
    """The measurements of one stage by one worker. Instants are in the collector's clock."""

    stage: Annotated[int, Field(ge=0, lt=MOST_STAGES)]
    """Number, from 0."""
    started_s: float
    """Due time of the first batch, or start of the first query."""
    ended_s: float
    """End of the last batch or query that began in the stage."""
    rows: Count = 0
    """Acknowledged; 0 for queries."""
    count: Count
    """Batches or queries."""
    unsent: Count = 0
    """Further batches or queries that fell due in the stage and did not begin before its end."""
    due_until_s: float | None = None
    """Due time of the next one in the schedule; None: there is no rate."""
    latency: Histogram
    """Latencies of batches, or waits of queries, unsent ones included."""


ByStage: TypeAlias = Annotated[tuple[StageTimes, ...], Field(max_length=MOST_STAGES)]


class QueryTimes(Message):
    """The measurements of one query type by one worker."""

    name: Name
    first_s: Duration
    """Wait for the first answer, which found the caches of this query cold."""
    runs: Count
    """Timed runs after the first one."""
    waits: Histogram
    """Times from each request to the last byte of its answer."""
    wait_s: Duration
    """Sum of these times."""
    client_s: Duration
    """Further time for decoding and folding the answers."""
    cpu_s: Duration = 0.0
    """CPU time of the worker meanwhile; 0: the database is in its process."""
    elapsed_s: Duration
    """Time from the first timed request to the last answer."""
    due_s: Duration | None = None
    """Time, from the first timed request on, that the runs cover of the schedule; None: there is
    no rate."""
    unsent: Count = 0
    """Queries that fell due and did not begin before the end: in `waits`, not in `runs`."""
    unsent_s: Duration = 0.0
    """Sum of the times from their due instants to the end."""
    answers: Count
    """Different answers to different instances, first run included."""
    warmup_runs: Count = 0
    """Between the first run and the timed ones."""
    stages: ByStage = ()
    """The timed runs by the stage in which they began (--stages)."""


CORRECTIONS, DELETION, TAGS = "corrections", "deletion", "tag updates"
"""The names of changes."""


class ChangeTimes(Message):
    """The measurements of one change by one worker. Instants are in the collector's clock."""

    name: Name
    rows: Count = 0
    """Rows corrected. The number deleted follows from the dataset."""
    count: Count
    """Batches or deletions."""
    waits: Histogram
    """Times from each request to its acknowledgement."""
    wait_s: Duration
    """Sum of these times."""
    client_s: Duration
    """Further time for drawing and encoding the rows."""
    cpu_s: Duration = 0.0
    """CPU time of the worker meanwhile; 0: the database is in its process."""
    started_s: float
    """Time of the first request."""
    ended_s: float
    """Time of the last acknowledgement."""


class Failed(StrEnum):
    """Failures of batches that a worker survives."""

    RETRIED = "batches retried"
    """The database refused a batch, which was sent again."""
    UNCERTAIN = "batches of unknown outcome"
    FATAL = "batches failed for good"
    LOST = "connections lost"
    RESTORED = "connections restored"


class BatchFailures(Message):
    """Failures of one worker in one second of the timed part."""

    second: Count
    """Since the common start."""
    what: Failed
    count: Count


class Clocked(Message):
    """The measured period of a worker, and the use of its machine meanwhile."""

    started_s: float | None = None
    """Start of the measured part; None if it did not begin."""
    ended_s: float | None = None
    """Time of the last acknowledgement."""
    duration_s: float = 0.0
    """Time between them, without stages in which the worker was idle."""
    cpu_s: Duration = 0.0
    throttled_s: Duration = 0.0
    """Time for which a CPU limit throttled the worker while the clock ran."""
    paused_s: Duration = 0.0
    """Time for which the worker was stopped, or its machine suspended."""


class Timings(Message):
    """The use of a writing worker's time."""

    generate_s: Duration = 0.0
    encode_s: Duration = 0.0
    send_s: Duration = 0.0
    """Time from each send to its acknowledgement or failure, including pauses before retries."""
    idle_s: Duration = 0.0
    """Waiting for the scheduled time of a batch (--rate)."""
    backoff_s: Duration = 0.0
    """Pauses before repeated sends, which `send_s` includes."""
    disconnected_s: Duration = 0.0
    """Time without a connection, after one was lost; `send_s` includes it."""


class Span(Message):
    """A time. Instants are in the collector's clock."""

    began_s: float
    ended_s: float


Waits: TypeAlias = Annotated[
    tuple[tuple[Count, Bucket, BucketCount], ...], Field(max_length=MOST_WAITS), FailFast()
]
"""Second since the common start, bucket, and number of batches due then with this latency."""


class Acknowledged(Message):
    """The batches of a worker that the database has acknowledged after the barrier."""

    rows: Count = 0
    warmup_rows: Count = 0
    """Rows of the warm-up, included above; durations, batches and bytes exclude them."""
    sends: Count = 0
    payload_bytes: Count | None = None
    """Size of acknowledged batches; None where the driver makes the bytes."""
    latency: Histogram = ""
    """Latencies of batches, unsent ones included."""
    due_until_s: float | None = None
    """Due time of the next batch, on the collector's clock: the acknowledged ones cover the
    schedule until then. None: there is no rate."""
    unsent: Count = 0
    """Batches that fell due and were not sent before the end; `latency` has each with the time
    until the worker was free again."""
    rows_by_second: Annotated[
        tuple[Count, ...], Field(max_length=REPORTED_SECONDS), FailFast()
    ] = ()
    """Acknowledged rows of each second, for the first week."""
    rows_each_s: Annotated[int, Field(ge=1, lt=1 << 20)] = 1
    """Seconds that each of these numbers covers, in a result."""
    stages: ByStage = ()
    """The batches after the warm-up by the stage in which they began (--stages)."""
    silences: Annotated[tuple[Span, ...], Field(max_length=MOST_SILENCES)] = ()
    """The longest times from one acknowledgement to the next, of a run with faults (--fault)."""
    waits_by_second: Waits = ()
    """Waits of such a run."""


class Troubles(Message):
    """Failures of a worker's batches."""

    retried: Count = 0
    uncertain: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES), FailFast()] = ()
    uncertain_cause: Text = ""
    """The last error that left the outcome of a batch unknown."""
    failures: Annotated[tuple[BatchFailures, ...], Field(max_length=MOST_FAILURES)] = ()
    """Failures in the timed part, by second; the first ones."""
    more_failures: Count = 0
    """Number of failures after the listed ones."""


class WorkerReport(Clocked, Timings, Acknowledged, Troubles):
    """All measurements of one worker. Instants are in the collector's clock."""

    index: Index
    error: Text | None = None
    is_wrong: bool = False
    """True if the error is a wrong answer."""
    prefill_rows: Count = 0
    written: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES)] | None = None
    """The timed rows that were sent, if not all of its plan; some may be uncertain."""
    memory_peak_bytes: Count = 0
    connects: Histogram = ""
    """Times to open each of several connections (--connections)."""
    queries: Annotated[tuple[QueryTimes, ...], Field(max_length=_NAME_CHARACTERS), FailFast()] = ()
    queries_again: Count = 0
    """Attempts to ask a query that failed, and were made again (--fault)."""
    changes: Annotated[tuple[ChangeTimes, ...], Field(max_length=_MOST_CHANGES)] = ()
    faults: Annotated[tuple[Span, ...], Field(max_length=MOST_OWN_FAULTS)] = ()
    """Times at which it made its network, or its sending process, fail."""
    node: Text = ""
    """The cluster node of the worker."""


def dump(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON data."""
    return message.model_dump(mode="json")
