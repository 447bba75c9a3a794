"""The journal of a run, from which a new collector continues the run of a lost one.

The journal keeps messages of the workers and decisions of the collector, each with its time.
Heartbeats are left out, because workers repeat them. The parent of the collector keeps the file.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from simulator.clock import now_s
from simulator.errors import RunError
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.events import QueryRamp, RampStep, Server
from simulator.protocol.messages import (
    AnswerQuestion,
    AnswerRows,
    Arrival,
    Message,
    Registration,
    WorkerReport,
)

MOST_BYTES = 1 << 30
"""Maximum size of a journal; answers and batches of a run take at most half of it."""
_NOBODY = "-"
_GIVEN_UP = b"given up\n"


class Began(Message):
    """A collector has begun: the first one, or a replacement."""

    boot_id: str
    ahead_s: float
    """Lead of the collector's time of day over the machine's monotonic clock."""


class TablesPrepared(Message):
    """The tables are ready, and workers may have begun."""

    server: Server | None
    touched: bool
    is_set_up: bool
    size_before_bytes: int | None
    known_marks: frozenset[int] | None = None
    """Times of the marks that were stored before the first mark of this run."""


class Entered(Message):
    """A phase has begun."""

    phase: str
    began_at_s: float
    seconds: dict[str, float]
    """Durations of the earlier phases."""


class Steadied(Message):
    """The start of the measured part is known."""

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
        """Store a file that is open for reading and writing; without a file, nothing is kept."""
        self._file = file
        self._bytes = 0
        self._replayed_s: float | None = None

    def now_s(self) -> float:
        """Return the time; during a replay, the time of the present entry."""
        return now_s() if self._replayed_s is None else self._replayed_s

    def note(self, what: Message, uid: str = _NOBODY) -> None:
        """Keep an event that happens now, unless entries are being replayed."""
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
        """Yield the entries to replay; new entries follow the last whole one.

        RunError if the journal was given up, since the progress of the run is unknown.
        """
        if self._file is None:
            return
        self._file.seek(0)
        try:
            while (line := self._file.readline()).endswith(b"\n"):
                try:
                    kind, at_s, uid, body = line.split(b" ", 3)
                    what = _KINDS[kind.decode()].model_validate_json(body)
                    self._replayed_s = float(at_s)
                except (ValueError, KeyError) as error:
                    raise RunError(
                        "the collector was lost, and another one cannot take its place: the journal"
                        " of the run took too much space in the folder of temporary files; free"
                        " some there, or set TMPDIR to a folder with more"
                    ) from error
                yield JournalEntry(self._replayed_s, uid.decode(), what)
                self._bytes += len(line)
        finally:
            self._replayed_s = None
        self._file.seek(self._bytes)
        self._file.truncate()

    def _give_up(self, file: BinaryIO) -> None:
        """Keep nothing more: a part of the run must not look like the whole run."""
        self._file = None
        with suppress(OSError):
            file.truncate(0)
            file.seek(0)
            file.write(_GIVEN_UP)
            file.flush()
