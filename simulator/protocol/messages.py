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
from simulator.protocol.sketch import BUCKETS

TOKEN_HEADER = "X-Run-Token"  # noqa: S105 - the header's name, not a token
UID_HEADER = "X-Worker-Uid"
"""Who sends: the token is common to all workers, the uid known to one process only."""
UID_PATTERN = "^[0-9a-f]{32}$"
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""A worker or collector that is silent for this long is considered lost."""
MOST_HEARTBEATS_PER_S = 200
"""Of all workers together, while there are not so many that one would seem silent."""
TIMEOUT_GRACE_S = 5.0
"""For how long the collector may exceed --timeout before the others end the run."""
NO_COLLECTOR = "the collector cannot be reached"
"""How a worker that has lost the collector begins its last message."""
HOLD_S = 2.0
"""For so long the collector holds a waiting request of few workers, which then repeat it."""
WARMUP = "warmup"
"""The phase between the barrier and the measured part."""
MOST_FAILURES = 300
"""A report lists the first failures: so many different kinds and seconds."""
REPORTED_SECONDS = 7 * 86_400
"""A report lists the rows of each second for a week at most."""
_TEXT_CHARACTERS = 10_000
_NAME_CHARACTERS = 1_000
_LATENCY_CHARACTERS = 1 << 19
"""A histogram of `simulator.load.meter` with a count in every bucket."""
BASE64 = "^[A-Za-z0-9+/=]*$"
MOST_ANSWERS = 100
"""Answers that a worker asks about, or sends, in one message."""
MOST_STAGES = 100
"""Of a run (--stages)."""
MOST_SILENCES = 100
"""A report lists the longest ones."""
MOST_OWN_FAULTS = 10_000
MOST_WAITS = 1 << 20
"""Pairs of second and bucket in a report: those of about a day."""
_MOST_CHANGES = 10
_MOST_RANGES = 5_000
"""More than a sender leaves: two for each of a hundred uncertain batches and those in flight."""


def heartbeat_s(workers: int) -> float:
    """Return how often each of so many workers shows that it is alive."""
    return max(HEARTBEAT_S, min(workers / MOST_HEARTBEATS_PER_S, SILENCE_S / 3))


def hold_s(workers: int) -> float:
    """Return the longest time for which the collector holds a request of so many workers."""
    return max(HOLD_S, heartbeat_s(workers))


class Message(Frozen):
    """Base of all messages."""

    model_config = ConfigDict(allow_inf_nan=False)


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
"""In ms or ns since any beginning."""
Digest: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Histogram: TypeAlias = Annotated[str, Field(max_length=_LATENCY_CHARACTERS, pattern=BASE64)]
"""Encoded HdrHistogram of microseconds; empty without values."""
Bucket: TypeAlias = Annotated[int, Field(ge=0, lt=BUCKETS)]
BucketCount: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 40)]
"""So many fit into a heartbeat, and the sum of all workers' into 64 bits."""
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
    """Batches that failed, each as often as it did."""
    runs: Count = 0
    """Timed ones, of the query that it asks now; of all queries in a mixed run."""
    waited_s: Duration = 0.0
    """How long these runs have waited for their answers."""
    latency: Annotated[tuple[tuple[Bucket, BucketCount], ...], Field(max_length=BUCKETS)] = ()
    """Of all timed batches or runs so far: simulator.protocol.sketch."""
    newest_ms: Instant | None = None
    """The time of a row that was acknowledged last, where queries about fresh rows are asked."""


class Reply(Message):
    """The collector's reply to each of them, and to a report."""

    go: bool = True
    """False: wait, and repeat the request."""
    begin_s: float | None = None
    """When what is behind a barrier begins, on the collector's clock: for all at the same time."""
    stop: str | None = None
    """Why the run is over, if it is; the worker stops and reports."""
    over: str = ""
    """The query whose ramp ended last: the worker asks it no more."""
    measured_s: float | None = None
    """When the measured part begins, on the collector's clock, once the rate is steady."""
    newest_ms: int | None = None
    """The newest time of such a row, of any worker."""
    now_s: float
    """The collector's clock, seconds since 1970."""
    now_ns: int = 0
    """On the collector's monotonic clock."""
    boot_id: str
    """Identifies the clock: workers on the same machine need no correction."""


class AnswerKey(Message):
    """Which answer to which instance of a query."""

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
    """The collector's reply to both: for each of the answers, whether it has it now."""

    known: tuple[bool, ...]


def digest_of(rows: Sequence[Sequence[Scalar]]) -> str:
    """Return the digest that identifies the rows of an answer."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class StageTimes(Message):
    """The measurements of one stage by one worker. Instants are in the collector's clock."""

    stage: Annotated[int, Field(ge=0, lt=MOST_STAGES)]
    """Its number, from 0."""
    started_s: float
    """When the first batch was due, or the first query was asked."""
    ended_s: float
    """When the last batch or query that began in the stage was acknowledged or answered."""
    rows: Count = 0
    """Acknowledged; 0 for queries."""
    count: Count
    """Batches or queries."""
    unsent: Count = 0
    """Further ones, which fell due in the stage and did not begin before its end."""
    due_until_s: float | None = None
    """When the next one of the schedule was due; None: there is no rate."""
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
    """Of the time from each request to the last byte of its answer."""
    wait_s: Duration
    """Sum of these times."""
    client_s: Duration
    """What decoding and folding the answers took besides."""
    cpu_s: Duration = 0.0
    """CPU time of the worker meanwhile, where several connections share it; 0: it has one, or the
    database is in its process."""
    elapsed_s: Duration
    """From the first timed request to the last answer."""
    due_s: Duration | None = None
    """Time, from the first timed request on, that the runs cover of the schedule; None: there is
    no rate."""
    unsent: Count = 0
    """Queries that fell due and did not begin before the end: in `waits`, not in `runs`."""
    unsent_s: Duration = 0.0
    """Sum of the times from their due instants to the end."""
    answers: Count
    """Different answers to different instances, those of the first run included."""
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
    """Corrected ones; how many are deleted the dataset says."""
    count: Count
    """Batches or deletions."""
    waits: Histogram
    """Of the time from each request to its acknowledgement."""
    wait_s: Duration
    """Sum of these times."""
    client_s: Duration
    """What drawing and encoding the rows took besides."""
    started_s: float
    """When the first one was requested."""
    ended_s: float
    """When the last one was acknowledged."""


class Failed(StrEnum):
    """What can go wrong with the batches of a worker that goes on."""

    RETRIED = "batches retried"
    """The database refused a batch, which was sent again."""
    UNCERTAIN = "batches of unknown outcome"
    FATAL = "batches failed for good"
    LOST = "connections lost"
    RESTORED = "connections restored"


class BatchFailures(Message):
    """What went wrong in one second of the timed part of a worker."""

    second: Count
    """Since the common start."""
    what: Failed
    count: Count


class Clocked(Message):
    """When a worker was measured, and what of its machine it had meanwhile."""

    started_s: float | None = None
    """When the measured part began; None if it did not."""
    ended_s: float | None = None
    """When the last send was acknowledged."""
    duration_s: float = 0.0
    """Between them, without the time between the stages in which it was active."""
    cpu_s: Duration = 0.0
    throttled_s: Duration = 0.0
    """For how long a CPU limit throttled the worker while the clock ran."""
    paused_s: Duration = 0.0
    """For how long the worker stood still meanwhile: it was stopped, or its machine suspended."""


class Timings(Message):
    """What a worker that writes has spent its time on."""

    generate_s: Duration = 0.0
    encode_s: Duration = 0.0
    send_s: Duration = 0.0
    """From each send to its acknowledgement or failure, including pauses before retries."""
    idle_s: Duration = 0.0
    """Waiting for the scheduled time of a batch (--rate)."""
    backoff_s: Duration = 0.0
    """Pauses before repeated sends, which `send_s` includes."""
    disconnected_s: Duration = 0.0
    """Without a connection, after one was lost; `send_s` includes it."""


class Span(Message):
    """A time. Instants are in the collector's clock."""

    began_s: float
    ended_s: float


class Silence(Message):
    """A time without an acknowledgement. Instants are in the collector's clock."""

    began_s: float
    """When the last batch before it was acknowledged."""
    ended_s: float
    """When the first batch after it was."""


Waits: TypeAlias = Annotated[
    tuple[tuple[Count, Bucket, BucketCount], ...], Field(max_length=MOST_WAITS), FailFast()
]
"""Second since the common start, bucket, and batches that were due then and took so long."""


class Acknowledged(Message):
    """The batches of a worker that the database has acknowledged after the barrier."""

    rows: Count = 0
    warmup_rows: Count = 0
    """Of these, those of the warm-up; durations, batches and bytes are of what follows it."""
    sends: Count = 0
    payload_bytes: Count | None = None
    """Size of what was acknowledged; None where the driver makes the bytes."""
    latency: Histogram = ""
    """Latencies of batches, unsent ones included."""
    due_until_s: float | None = None
    """When the next batch was due, on the collector's clock: the acknowledged ones cover the
    schedule until then. None: there is no rate."""
    unsent: Count = 0
    """Batches that fell due and were not sent before the end; `latency` has each with the time
    until the worker was free again."""
    rows_by_second: Annotated[
        tuple[Count, ...], Field(max_length=REPORTED_SECONDS), FailFast()
    ] = ()
    """Acknowledged rows of each second, for the first week."""
    rows_each_s: Annotated[int, Field(ge=1, lt=1 << 20)] = 1
    """How many seconds each of these numbers is of, in a result."""
    stages: ByStage = ()
    """The batches after the warm-up by the stage in which they began (--stages)."""
    silences: Annotated[tuple[Silence, ...], Field(max_length=MOST_SILENCES)] = ()
    """The longest ones, of a run with faults (--fault)."""
    waits_by_second: Waits = ()
    """Of such a run."""


class Troubles(Message):
    """What went wrong with the batches of a worker."""

    retried: Count = 0
    uncertain: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES), FailFast()] = ()
    uncertain_cause: Text = ""
    """The last error that left the outcome of a batch unknown."""
    failures: Annotated[tuple[BatchFailures, ...], Field(max_length=MOST_FAILURES)] = ()
    """What went wrong in the timed part, by second; the first ones."""
    more_failures: Count = 0
    """Those after the listed ones."""


class WorkerReport(Clocked, Timings, Acknowledged, Troubles):
    """All measurements of one worker. Instants are in the collector's clock."""

    index: Index
    error: Text | None = None
    prefill_rows: Count = 0
    written: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES)] | None = None
    """The timed rows that were sent, if not all of its plan; some may be uncertain."""
    memory_peak_bytes: Count = 0
    connects: Histogram = ""
    """Of the time to open each of several connections (--connections)."""
    queries: Annotated[tuple[QueryTimes, ...], Field(max_length=_NAME_CHARACTERS), FailFast()] = ()
    queries_again: Count = 0
    """Attempts to ask a query that failed, and were made again (--fault)."""
    changes: Annotated[tuple[ChangeTimes, ...], Field(max_length=_MOST_CHANGES)] = ()
    faults: Annotated[tuple[Span, ...], Field(max_length=MOST_OWN_FAULTS)] = ()
    """When it made its network, or its sending process, fail."""
    node: Text = ""
    """The cluster node of the worker."""


def dump(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON data."""
    return message.model_dump(mode="json")
