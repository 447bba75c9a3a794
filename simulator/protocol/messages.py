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
"""Header that identifies the sender.

All workers share the token, but only one process knows the UID."""
UID_PATTERN = "^[0-9a-f]{32}$"
HEARTBEAT_S = 0.5
SILENCE_S = 15.0
"""Time of silence after which a worker or collector is considered lost."""
MOST_HEARTBEATS_PER_S = 200
"""Maximum number of heartbeats/s of all workers together.

More are sent if a worker would otherwise seem silent."""
TIMEOUT_GRACE_S = 5.0
"""Time by which the collector may exceed --timeout before other processes end the run."""
NO_COLLECTOR = "the collector cannot be reached"
"""Start of the last message of a worker that has lost the collector."""
TERMINATED = "stopped by SIGTERM: its pod was deleted or evicted, or its process terminated"
"""Error of a worker that was stopped from outside."""
HOLD_S = 2.0
"""Time for which the collector holds a waiting request; the worker then repeats the request."""
WARMUP = "warmup"
"""The phase between the barrier and the measured part."""
WATCH = "watch"
"""The phase that shows whether an insert without an end still runs."""
MOST_FAILURES = 300
"""Maximum number of failures in a report, by kind and second; the first failures are listed."""
REPORTED_SECONDS = 7 * 86_400
"""Maximum number of seconds for which a report lists the rows: a week."""
_TEXT_CHARACTERS = 10_000
_NAME_CHARACTERS = 1_000
_LATENCY_CHARACTERS = 1 << 19
"""Maximum length of an encoded histogram, in which every bucket has a count."""
BASE64 = "^[A-Za-z0-9+/=]*$"
MOST_ANSWERS = 100
"""Maximum number of answers that a message asks about, or contains."""
MOST_STAGES = 100
"""Maximum number of stages in a run (--stages)."""
MOST_SILENCES = 100
"""Maximum number of silences in a report; the longest silences are listed."""
MOST_OWN_FAULTS = 10_000
MOST_WAITS = 1 << 20
"""Maximum number of pairs of second and bucket in a report, enough for about a day."""
_MOST_CHANGES = 10
_MOST_RANGES = 5_000
"""Maximum number of ranges in a report.

It exceeds two ranges for each of a hundred uncertain batches and of the batches in flight."""


def heartbeat_s(workers: int) -> float:
    """Return the interval between the heartbeats of a worker, for a number of workers."""
    return max(HEARTBEAT_S, min(workers / MOST_HEARTBEATS_PER_S, SILENCE_S / 3))


def hold_s(workers: int) -> float:
    """Return the maximum time for which the collector holds a request, for a number of workers."""
    return max(HOLD_S, heartbeat_s(workers))


class Message(Frozen):
    """Base of all messages."""

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)


def _cut(text: str) -> str:
    """Return a driver's error, truncated if it is too long for a report."""
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[: _TEXT_CHARACTERS - 3]}..."


Text: TypeAlias = Annotated[str, AfterValidator(_cut)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=_NAME_CHARACTERS)]
Index: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 20)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63)]
Duration: TypeAlias = Annotated[float, Field(ge=0)]
Instance: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 22)]
Instant: TypeAlias = Annotated[int, Field(ge=-(1 << 62), lt=1 << 62)]
"""Instant in ms or ns, since any epoch."""
Digest: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Histogram: TypeAlias = Annotated[str, Field(max_length=_LATENCY_CHARACTERS, pattern=BASE64)]
"""Encoded HdrHistogram of microseconds; empty if there are no values."""
Bucket: TypeAlias = Annotated[int, Field(ge=0, lt=BUCKETS)]
BucketCount: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 40)]
"""Count in a bucket; the limit ensures that the sum over all workers fits into 64 bits."""
Scalar: TypeAlias = int | float | str | bool | None


# --- worker -> collector, and the replies -----------------------------------------------------


class Registration(Message):
    """The registration of a worker; `go` in the reply means that the tables are ready."""

    index: Index
    version: Name


class Arrival(Message):
    """The arrival of a worker at a barrier; `go` in the reply means that all have arrived."""

    index: Index
    barrier: Name


class Heartbeat(Message):
    """The progress of a worker."""

    index: Index
    phase: Name
    rows: Count = 0
    """Number of rows acknowledged in the timed part."""
    prefill_rows: Count = 0
    uncertain_rows: Count = 0
    retried: Count = 0
    errors: Count = 0
    """Number of failed attempts to send a batch."""
    runs: Count = 0
    """Number of timed runs of the query that is being asked; in a mixed run, of all queries."""
    waited_s: Duration = 0.0
    """Time for which the timed runs have waited for answers."""
    latency: Annotated[tuple[tuple[Bucket, BucketCount], ...], Field(max_length=BUCKETS)] = ()
    """Latencies of all timed batches or runs, as described at simulator.protocol.numbers."""
    newest_ms: Instant | None = None
    """Time of the row that was acknowledged last; None unless queries about fresh rows are
    asked."""


class Reply(Message):
    """The collector's reply to most messages."""

    go: bool = True
    """False if the worker must wait, and repeat the request."""
    begin_s: float | None = None
    """Start time of the phase after a barrier, on the collector's clock; all workers get the
    same."""
    stop: str | None = None
    """Reason why the run is over; the worker then stops and reports. None if the run continues."""
    over: str = ""
    """Name of the query whose ramp ended last; the worker stops asking this query."""
    measured_s: float | None = None
    """Start of the measured part, on the collector's clock; None until the rate is steady."""
    newest_ms: int | None = None
    """Newest time of an acknowledged row, over all workers."""
    now_s: float
    """Time of the collector's clock, in seconds since 1970."""
    now_ns: int = 0
    """Instant of `now_s` on the collector's monotonic clock, in ns."""
    boot_id: str
    """Identifier of the clock; workers on the same machine do not correct times."""


class AnswerKey(Message):
    """The key of an answer to an instance of a query."""

    instance: Instance
    digest: Digest
    """Result of `digest_of` for the rows."""


class AnswerWithRows(AnswerKey):
    """An answer, with its rows."""

    rows: Annotated[tuple[Annotated[tuple[Scalar, ...], FailFast()], ...], FailFast()]


class AnswerQuestion(Message):
    """A worker's question: which of these answers to a query does the collector have?"""

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
    """The collector's reply about answers; for each answer, True if the collector has it now."""

    known: tuple[bool, ...]


def digest_of(rows: Sequence[Sequence[Scalar]]) -> str:
    """Return the digest that identifies the rows of an answer."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class StageTimes(Message):
    """The measurements of one stage by one worker; instants are on the collector's clock."""

    stage: Annotated[int, Field(ge=0, lt=MOST_STAGES)]
    """Number of the stage, from 0."""
    started_s: float
    """Due time of the first batch, or start of the first query."""
    ended_s: float
    """End of the last batch or query that began in the stage."""
    rows: Count = 0
    """Number of rows acknowledged; 0 for queries."""
    count: Count
    """Number of batches or queries."""
    unsent: Count = 0
    """Number of further batches or queries that were due in the stage, but began after it or
    never."""
    due_until_s: float | None = None
    """Due time of the next batch or query in the schedule; None if there is no rate."""
    latency: Histogram
    """Latencies of batches or waits of queries, including unsent ones."""


ByStage: TypeAlias = Annotated[tuple[StageTimes, ...], Field(max_length=MOST_STAGES)]


class QueryTimes(Message):
    """The measurements of one query type by one worker."""

    name: Name
    first_s: Duration
    """Wait for the first answer; the caches of the query were cold."""
    runs: Count
    """Number of timed runs after the first run."""
    waits: Histogram
    """Times from each request to the last byte of the answer."""
    wait_s: Duration
    """Sum of the times in `waits`, without unsent queries."""
    client_s: Duration
    """Further time that the worker took to decode and fold the answers."""
    cpu_s: Duration = 0.0
    """CPU time of the worker during `elapsed_s`; 0 if the database is in the worker's process."""
    elapsed_s: Duration
    """Time from the first timed request to the last answer."""
    due_s: Duration | None = None
    """Length of the schedule that the runs cover, from the first timed request on.

    None if there is no rate."""
    unsent: Count = 0
    """Number of queries that were due but did not begin before the end.

    `waits` includes these queries, but `runs` does not."""
    unsent_s: Duration = 0.0
    """Sum of the times from the due instants of unsent queries to the end."""
    answers: Count
    """Number of different answers to different instances, including the first run."""
    warmup_runs: Count = 0
    """Number of runs between the first run and the timed runs."""
    stages: ByStage = ()
    """The timed runs, by the stage in which each run began (--stages)."""


CORRECTIONS, DELETION, TAGS = "corrections", "deletion", "tag updates"
"""The names of changes."""


class ChangeTimes(Message):
    """The measurements of one change by one worker; instants are on the collector's clock."""

    name: Name
    rows: Count = 0
    """Number of rows corrected; the number of deleted rows follows from the dataset."""
    count: Count
    """Number of batches or deletions."""
    waits: Histogram
    """Times from each request to its acknowledgement."""
    wait_s: Duration
    """Sum of the times in `waits`."""
    client_s: Duration
    """Further time that the worker took to draw and encode the rows."""
    cpu_s: Duration = 0.0
    """CPU time of the worker during the change; 0 if the database is in the worker's process."""
    started_s: float
    """Time of the first request."""
    ended_s: float
    """Time of the last acknowledgement."""


class Failed(StrEnum):
    """Failures of batches that do not end a worker."""

    RETRIED = "batches retried"
    """The database refused a batch, and the worker sent the batch again."""
    UNCERTAIN = "batches of unknown outcome"
    FATAL = "batches failed for good"
    LOST = "connections lost"
    RESTORED = "connections restored"


class BatchFailures(Message):
    """Failures of one worker in one second of the timed part."""

    second: Count
    """Number of the second, counted from the common start."""
    what: Failed
    count: Count


class Clocked(Message):
    """The measured period of a worker, and its use of the machine in the period."""

    started_s: float | None = None
    """Start of the measured part; None if the measured part did not begin."""
    ended_s: float | None = None
    """Time of the last acknowledgement."""
    duration_s: float = 0.0
    """Time from `started_s` to `ended_s`, without stages in which the worker was idle."""
    cpu_s: Duration = 0.0
    cpu_periods: Count = 0
    """Number of periods of the CPU limit (100 ms) in which the worker ran; 0 without a limit."""
    throttled_periods: Count = 0
    """Number of these periods in which the CPU limit stopped the worker."""
    throttled_s: Annotated[Duration, Field(exclude=True)] = 0.0
    """Throttled time in files of earlier versions; not used."""
    paused_s: Duration = 0.0
    """Time for which the worker was stopped, or for which its machine was suspended."""


class Timings(Message):
    """The use of time by a worker that writes."""

    generate_s: Duration = 0.0
    encode_s: Duration = 0.0
    send_s: Duration = 0.0
    """Time from each send to its acknowledgement or failure, including pauses before retries."""
    idle_s: Duration = 0.0
    """Time of waiting until the scheduled time of a batch (--rate)."""
    backoff_s: Duration = 0.0
    """Pauses before batches are sent again; `send_s` includes the pauses."""
    disconnected_s: Duration = 0.0
    """Time without a connection after a loss; `send_s` includes this time."""


class Span(Message):
    """A period; instants are on the collector's clock."""

    began_s: float
    ended_s: float


Waits: TypeAlias = Annotated[
    tuple[tuple[Count, Bucket, BucketCount], ...], Field(max_length=MOST_WAITS), FailFast()
]
"""Tuples of second since the common start, bucket, and number of batches.

The batches were due in the second, and their latencies are in the bucket."""


class Acknowledged(Message):
    """The batches of a worker that the database acknowledged after the barrier."""

    rows: Count = 0
    warmup_rows: Count = 0
    """Number of rows in the warm-up.

    `rows` includes these rows, but durations, batches and bytes do not."""
    sends: Count = 0
    payload_bytes: Count | None = None
    """Size of the acknowledged batches; None if the driver creates the bytes."""
    latency: Histogram = ""
    """Latencies of batches, including unsent batches."""
    due_until_s: float | None = None
    """Due time of the next batch, on the collector's clock; None if there is no rate.

    The acknowledged batches cover the schedule until this time."""
    unsent: Count = 0
    """Number of batches that were due but not sent before the end.

    `latency` includes each of them, with the time until the worker was free again."""
    rows_by_second: Annotated[
        tuple[Count, ...], Field(max_length=REPORTED_SECONDS), FailFast()
    ] = ()
    """Number of acknowledged rows in each second of the first week."""
    rows_each_s: Annotated[int, Field(ge=1, lt=1 << 20)] = 1
    """Number of seconds that each number in `rows_by_second` covers, which may exceed 1 in a
    result."""
    stages: ByStage = ()
    """The batches after the warm-up, by the stage in which each batch began (--stages)."""
    silences: Annotated[tuple[Span, ...], Field(max_length=MOST_SILENCES)] = ()
    """The longest times between two acknowledgements, in a run with faults (--fault)."""
    waits_by_second: Waits = ()
    """Latencies of batches by second, in a run with faults (--fault)."""


class Troubles(Message):
    """Failures of a worker's batches."""

    retried: Count = 0
    uncertain: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES), FailFast()] = ()
    uncertain_cause: Text = ""
    """Last error that left the outcome of a batch unknown."""
    failures: Annotated[tuple[BatchFailures, ...], Field(max_length=MOST_FAILURES)] = ()
    """The first failures in the timed part, by second."""
    more_failures: Count = 0
    """Number of failures after the failures in the list."""


class WorkerReport(Clocked, Timings, Acknowledged, Troubles):
    """All measurements of one worker; instants are on the collector's clock."""

    index: Index
    error: Text | None = None
    is_wrong: bool = False
    """True if the error is a wrong answer."""
    prefill_rows: Count = 0
    written: Annotated[tuple[RowRange, ...], Field(max_length=_MOST_RANGES)] | None = None
    """The timed rows that were sent, if they are not all planned rows; some may be uncertain."""
    memory_peak_bytes: Count = 0
    connects: Histogram = ""
    """Times to open connections, if the worker has several (--connections)."""
    queries: Annotated[tuple[QueryTimes, ...], Field(max_length=_NAME_CHARACTERS), FailFast()] = ()
    queries_again: Count = 0
    """Number of attempts to ask a query that failed and were repeated (--fault)."""
    changes: Annotated[tuple[ChangeTimes, ...], Field(max_length=_MOST_CHANGES)] = ()
    faults: Annotated[tuple[Span, ...], Field(max_length=MOST_OWN_FAULTS)] = ()
    """Periods in which the worker made its network, or its sending process, fail."""
    node: Text = ""
    """Name of the cluster node on which the worker ran."""
    is_lost: bool = False
    """True if the numbers are of its last heartbeat; rows that it sent later are uncertain."""


def dump(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON data."""
    return message.model_dump(mode="json")
