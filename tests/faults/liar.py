"""A liar between the benchmark and a database: it understands the wire, and cheats both ends.

A wire (tests/faults/wires) cuts what one connection says into frames, and names those that carry
rows, acknowledgements and answers. A lie says what becomes of one batch, or of every answer. The
plot keeps an account of all of it, by its own clock.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, TypeAlias

from tests.faults.proxy import Passed

Rows: TypeAlias = Sequence[bytes]


@dataclass(frozen=True, eq=False)
class Send:
    """The rows of a request that stores them, encoded for the wire; or a commit, without rows."""

    rows: Rows
    build: Callable[[Rows], bytes]
    """Makes the request of such rows."""
    acknowledge: Callable[[], bytes]
    """Makes the acknowledgement of all of them."""
    try_again: Callable[[], bytes]
    """Makes an error after which nothing is stored, and a client sends the rows again."""
    alter: Callable[[bytes], bytes] = bytes
    """Changes a value of a row."""
    swap: Callable[[bytes, bytes], tuple[bytes, bytes]] = lambda one, other: (one, other)
    """Exchanges the last values of two rows."""
    commits: bool = False
    size_bytes: int = 0
    """Of the rows as they came, without the protocol around them."""


@dataclass(frozen=True, eq=False)
class Reply:
    """The answer to a batch."""

    send: Send
    content: bytes


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of an answer to a query."""

    rows: Rows
    build: Callable[[Rows], bytes]
    alter: Callable[[bytes], bytes]
    counts: bool
    """True if the query only counts rows, as one does before the others are asked."""


@dataclass(frozen=True)
class Ask:
    """A query about the table, or a change of it, which passes as it is."""

    content: bytes


@dataclass(frozen=True)
class Answered:
    """The whole answer to it, which passes as it is."""

    content: bytes


@dataclass(frozen=True)
class ToServer:
    """What passes as it is."""

    content: bytes


@dataclass(frozen=True)
class ToClient:
    """What passes as it is."""

    content: bytes


Heard: TypeAlias = ToServer | ToClient | Send | Reply | Ask | Answered | Answer


class Wire(ABC):
    """One connection of a protocol."""

    head_bytes: ClassVar[int] = 4

    def __init__(self, shared: dict[Any, Any]) -> None:
        """Take what all connections know, such as prepared statements."""
        self.shared = shared
        self._from_client = self._from_server = b""
        self._expected: list[Any] = []

    @abstractmethod
    def forth(self, piece: bytes) -> Iterator[Heard]:
        """Yield what a piece from the client completes."""

    @abstractmethod
    def back(self, piece: bytes) -> Iterator[Heard]:
        """Yield what a piece from the server completes."""

    def expect(self, send: Send) -> None:
        """Expect an answer to a batch that has been forwarded."""
        self._expected.append(send)

    def frame_bytes(self, content: bytes) -> int:
        """Return the size of the first frame by its head."""
        raise NotImplementedError

    def _cut(self, name: str) -> Iterator[bytes]:
        """Yield the complete frames of `_from_client` or `_from_server`, and remove them."""
        while len(content := getattr(self, name)) >= self.head_bytes:
            size = self.frame_bytes(content)
            if len(content) < size:
                return
            setattr(self, name, content[size:])
            yield content[:size]


class Says(Enum):
    """What the client hears instead of an answer."""

    TRUTH = "the answer"
    NOTHING = "nothing"
    DONE = "an acknowledgement of all rows"
    TRY_AGAIN = "an error after which nothing is stored"
    TWICE = "the answer, twice"
    END = "nothing, and the connection ends"


@dataclass(frozen=True)
class Fate:
    """What becomes of a batch."""

    forwarded: Sequence[Rows] = ()
    """The rows of each request that the server gets."""
    says: Sequence[Says] = ()
    """What the client hears as each of them is answered."""
    at_once: bool = False
    """True if the client hears at once that all rows are stored."""
    ends: bool = False
    """True if the connection ends then."""
    later: Rows = ()
    """Rows that the server gets after those of the next batch."""


def _swapped(send: Send) -> Rows:
    """Return the rows with the last values of two of them exchanged."""
    for place in range(len(send.rows) - 1):
        one, other = send.swap(*send.rows[place : place + 2])
        if one != send.rows[place]:
            return [*send.rows[:place], one, other, *send.rows[place + 2 :]]
    raise AssertionError("all values are equal")


LIES: dict[str, Callable[[Send], Fate]] = {
    "acknowledged, not stored": lambda _: Fate(at_once=True),
    "acknowledged, stored after the next": lambda send: Fate(at_once=True, later=send.rows),
    "acknowledged, and closed": lambda _: Fate(at_once=True, ends=True),
    "closed": lambda _: Fate(ends=True),
    "stored, and closed": lambda send: Fate([send.rows], [Says.END]),
    "stored twice": lambda send: Fate([send.rows] * 2, [Says.TRUTH, Says.NOTHING]),
    "stored, and refused": lambda send: Fate([send.rows], [Says.TRY_AGAIN]),
    "stored, and acknowledged twice": lambda send: Fate([send.rows], [Says.TWICE]),
    "last row cut": lambda send: Fate([send.rows[:-1]], [Says.DONE]),
    "last row cut, and said so": lambda send: Fate([send.rows[:-1]], [Says.TRUTH]),
    "a value altered": lambda send: Fate(
        [[send.alter(send.rows[0]), *send.rows[1:]]], [Says.TRUTH]
    ),
    "two values swapped": lambda send: Fate([_swapped(send)], [Says.TRUTH]),
}
"""What becomes of the rows of one batch."""

OF_COMMIT: dict[str, Callable[[Send], Fate]] = {
    "commit acknowledged, not done": lambda _: Fate(at_once=True),
    "commit done, and refused": lambda send: Fate([send.rows], [Says.TRY_AGAIN]),
    "commit done, and closed": lambda send: Fate([send.rows], [Says.END]),
}
"""What becomes of one commit, where it is a request of its own."""

OF_ANSWERS: dict[str, Callable[[Answer], Rows]] = {
    "answered without its last row": lambda answer: answer.rows[:-1],
    "answered with a row twice": lambda answer: [*answer.rows, answer.rows[-1]],
    "answered with a value altered": lambda answer: [
        *answer.rows[:-1],
        answer.alter(answer.rows[-1]),
    ],
    "answered without rows": lambda _: [],
}
"""What becomes of every answer that has rows of the table."""


@dataclass(eq=False)
class Entry:
    """A request about the table; instants are those of `time.perf_counter`."""

    port: int
    """Of the client's connection."""
    rows: int
    """0: a query, or a change."""
    size_bytes: int
    began_s: float
    """When its first byte came."""
    stored: int = 0
    """Rows that were forwarded."""
    answered_s: float = 0.0
    """When the whole answer was sent on; 0: never."""
    refused: bool = False
    """True if the client heard an error, or nothing."""
    is_answered: bool = True
    """False: the connection ended before."""
    answer: bytes = b""
    """The answer to a query, as the client received it."""

    @property
    def took_s(self) -> float:
        """How long the client waited."""
        return self.answered_s - self.began_s


@dataclass(eq=False)
class Opening:
    """A connection, from when it was taken to the last answer before the first request."""

    port: int
    began_s: float
    ended_s: float = 0.0
    """0: nothing was exchanged."""


class Plot:
    """A lie, and when it is said; and the account: shared by all connections."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        """All requests about the table."""
        self.late_s: Callable[[Entry], float] = lambda _: 0.0
        """By how much a request is late at the server."""
        self.opening_s = 0.0
        """Delay of the first exchange of a connection."""
        self.openings: list[Opening] = []
        """All connections."""
        self.wall_s = time.time() - time.perf_counter()
        """What is added to an instant for the time of day."""
        self.failed: list[Exception] = []
        """Errors of the liar itself."""
        self.shared: dict[Any, Any] = {}
        """What all connections know."""
        self.lies = 0
        """How often it lied."""
        self._lock = threading.Lock()
        self.begin("")

    def begin(self, lie: str, at: int = 1, *, about_counts: bool = False) -> None:
        """Lie about the batch, or the commit, of this number; or about every answer.

        Those to queries that only count rows are all, or none, of these.
        """
        self.plan({at: lie}, about_counts=about_counts)

    def plan(self, lies: Mapping[int, str], *, about_counts: bool = False) -> None:
        """Lie about the batches, or commits, of these numbers."""
        with self._lock:
            self.lies, self._lies, self._about_counts = 0, lies, about_counts
            self._sends = {True: 0, False: 0}
            self._later: list[Rows] = []

    def fate(self, send: Send) -> Fate:
        """Return what becomes of a batch."""
        lies = OF_COMMIT if send.commits else LIES
        with self._lock:
            self._sends[send.commits] += 1
            later = [self._later.pop()] if self._later and not send.commits else []
            lie = self._lies.get(self._sends[send.commits], "")
            if lie in lies:
                self.lies += 1
                found = lies[lie](send)
                if found.later:
                    self._later.append(found.later)
                return found
        says = [Says.TRUTH, *[Says.NOTHING for _ in later]]
        return Fate([send.rows, *later], says)

    def rows(self, answer: Answer) -> Rows:
        """Return the rows of an answer."""
        about_it = self._about_counts == answer.counts
        lie = next(iter(self._lies.values()), "")
        if lie not in OF_ANSWERS or not answer.rows or not about_it:
            return answer.rows
        with self._lock:
            self.lies += 1
        return OF_ANSWERS[lie](answer)


class Liar:
    """One connection."""

    def __init__(self, wire: type[Wire], plot: Plot, port: int) -> None:
        self._wire, self._plot, self._port = wire(plot.shared), plot, port
        self._says: list[tuple[Send, Says]] = []
        """What the client hears about each batch that is not answered yet."""
        self._began_s = 0.0
        """When the request that is not answered yet began; 0: there is none."""
        self._entry: Entry | None = None
        """The same, if it is about the table."""
        self._opening: Opening | None = Opening(port, time.perf_counter())
        """Until the first request about the table."""
        plot.openings.append(self._opening)
        time.sleep(plot.opening_s)

    def forth(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the client."""
        self._began_s = self._began_s or time.perf_counter()
        return self._passed(self._wire.forth, piece)

    def back(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the server."""
        if self._opening:
            self._opening.ended_s = time.perf_counter()
        return self._passed(self._wire.back, piece)

    def _passed(self, hear: Callable[[bytes], Iterator[Heard]], piece: bytes) -> Passed:
        try:
            found = [self._become(heard) for heard in hear(piece)]
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self._plot.failed.append(error)
            return Passed(ends=True)
        to_server = b"".join(each.to_server for each in found)
        to_client = b"".join(each.to_client for each in found)
        return Passed(to_server, to_client, any(each.ends for each in found))

    def _become(self, heard: Heard) -> Passed:
        match heard:
            case ToServer(content):
                return Passed(to_server=content)
            case Ask(content):
                self._enter(0, 0)
                return Passed(to_server=content)
            case ToClient(content):
                if not self._entry:
                    self._began_s = 0.0
                return Passed(to_client=content)
            case Answered(content):
                self._leave(answer=content)
                return Passed(to_client=content)
            case Answer():
                self._leave(answer=b"".join(heard.rows))
                return Passed(to_client=heard.build(self._plot.rows(heard)))
            case Send():
                return self._decide(heard)
            case Reply():
                return self._reply(heard)

    def _enter(self, rows: int, size_bytes: int) -> Entry:
        """Enter a request into the account, and hold it as long as wanted."""
        self._opening = None
        self._entry = Entry(self._port, rows, size_bytes, self._began_s)
        self._plot.entries.append(self._entry)
        time.sleep(self._plot.late_s(self._entry))
        return self._entry

    def _leave(self, says: Says = Says.TRUTH, answer: bytes = b"") -> None:
        """Enter its answer."""
        if self._entry:
            self._entry.answer = answer
            self._entry.answered_s = time.perf_counter()
            self._entry.refused = says in (Says.TRY_AGAIN, Says.END)
            self._entry.is_answered = says is not Says.END
        self._entry, self._began_s = None, 0.0

    def _decide(self, send: Send) -> Passed:
        fate = self._plot.fate(send)
        entry = self._enter(0 if send.commits else len(send.rows), send.size_bytes)
        entry.stored = 0 if send.commits else sum(map(len, fate.forwarded))
        if fate.at_once or fate.ends:
            self._leave(Says.DONE if fate.at_once else Says.END)
        for says in fate.says:
            self._wire.expect(send)
            self._says.append((send, says))
        now = send.acknowledge() if fate.at_once else b""
        return Passed(b"".join(map(send.build, fate.forwarded)), now, fate.ends)

    def _reply(self, reply: Reply) -> Passed:
        place = next(n for n, (send, _) in enumerate(self._says) if send is reply.send)
        _, says = self._says.pop(place)
        if says is not Says.NOTHING:
            self._leave(says)
        match says:
            case Says.TRUTH:
                return Passed(to_client=reply.content)
            case Says.DONE:
                return Passed(to_client=reply.send.acknowledge())
            case Says.TRY_AGAIN:
                return Passed(to_client=reply.send.try_again())
            case Says.TWICE:
                return Passed(to_client=reply.content * 2)
            case Says.NOTHING | Says.END:
                return Passed(ends=says is Says.END)
