"""The journal of a run, from which a new collector continues the run of a lost one.

It keeps messages of the workers and decisions of the run, each with its instant; heartbeats, which
are repeated, are left out. The parent of a collector keeps the file.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from simulator.clock import now_s
from simulator.errors import RunError
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.events import QueryRamp, RampStep, ServerFacts
from simulator.protocol.messages import (
    AnswerQuestion,
    AnswerRows,
    Arrival,
    Message,
    Registration,
    WorkerReport,
)

MOST_BYTES = 1 << 30
"""Size above which a journal is given up; answers and batches of a run are at most half."""
_NOBODY = "-"
_GIVEN_UP = b"given up\n"


class Began(Message):
    """A collector has begun, the first one or another in its place."""

    boot_id: str
    ahead_s: float
    """Lead of its time of day over the machine's monotonic clock."""


class TablesPrepared(Message):
    """The tables are ready, and workers may have begun."""

    server: ServerFacts | None
    touched: bool
    is_set_up: bool
    size_before_bytes: int | None


class Entered(Message):
    """A phase has begun."""

    phase: str
    began_at_s: float
    seconds: dict[str, float]
    """Durations of the phases before it."""


class Steadied(Message):
    """The begin of the measured part is known."""

    measured_s: float


class Stepped(Message):
    """A ramp has let more workers in."""

    query: str
    step: RampStep
    more: int


class Ramped(Message):
    """A ramp is over."""

    ramp: QueryRamp


_KINDS: dict[str, type[Message]] = {
    kind.__name__: kind
    for kind in (
        *(Began, TablesPrepared, Entered, Steadied, Stepped, Ramped),
        *(Registration, Arrival, WorkerReport, AnswerQuestion, AnswerRows),
        *(SentBatches, FreshAnswers),
    )
}


class JournalEntry(NamedTuple):
    """An event, its time, and the process it came from."""

    at_s: float
    uid: str
    what: Message


class Journal:
    """The entries of one run, in a file that outlives the collector."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        """Store a file that is open for reading and writing; without one, nothing is kept."""
        self._file = file
        self._bytes = 0
        self._replayed_s: float | None = None

    def now_s(self) -> float:
        """Return the time; while entries are replayed, the instant of the present one."""
        return now_s() if self._replayed_s is None else self._replayed_s

    def note(self, what: Message, uid: str = _NOBODY) -> None:
        """Keep an event of this moment, unless it is replayed."""
        if self._file is None or self._replayed_s is not None:
            return
        line = f"{type(what).__name__} {now_s()!r} {uid} {what.model_dump_json()}\n".encode()
        self._bytes += len(line)
        try:
            if self._bytes > MOST_BYTES:
                self._give_up(self._file)
                return
            self._file.write(line)
            self._file.flush()
        except OSError:  # no space
            self._give_up(self._file)

    def entries(self) -> Iterator[JournalEntry]:
        """Yield the entries to replay; new entries follow the last one that is whole.

        RunError if the journal was given up: the progress of the run is unknown then.
        """
        if self._file is None:
            return
        self._file.seek(0)
        try:
            while (line := self._file.readline()).endswith(b"\n"):
                entry = _entry_of(line)
                self._replayed_s = entry.at_s
                yield entry
                self._bytes += len(line)
        finally:
            self._replayed_s = None
        self._file.seek(self._bytes)
        self._file.truncate()

    def _give_up(self, file: BinaryIO) -> None:
        """Keep nothing more: part of a run must not look like all of it."""
        self._file = None
        with suppress(OSError):
            file.truncate(0)
            file.seek(0)
            file.write(_GIVEN_UP)
            file.flush()


def _entry_of(line: bytes) -> JournalEntry:
    try:
        kind, at_s, uid, body = line.split(b" ", 3)
        return JournalEntry(
            float(at_s), uid.decode(), _KINDS[kind.decode()].model_validate_json(body)
        )
    except (ValueError, KeyError) as error:
        raise RunError(
            "the collector was lost, and another one cannot take its place: the journal of the run"
            " took too much space in the folder of temporary files; free some there, or set TMPDIR"
            " to a folder with more"
        ) from error
